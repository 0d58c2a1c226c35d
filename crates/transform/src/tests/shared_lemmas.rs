//! Lemmas from any source, true or not, change no verdict, and both witnesses are translated back.

use std::rc::Rc;
use std::time::Duration;

use super::super::pipeline::{BackTranslations, share_lemmas};
use alphorn_engine::Engine;
use alphorn_pdr::pdr::Pdr;
use alphorn_proof::facts::Lemmas;
use alphorn_samples::{is_inductive, is_model, random_lemmas, random_system};
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Random, TermId};
use alphorn_witness::{Verdict, check_refutation};

#[test]
fn lemmas_that_lie_change_no_verdict() {
    let (mut changed, mut lies) = (0, 0);
    for seed in 1..80 {
        let mut random = Random::new(seed);
        let system = random_system(&mut random);
        let mut cx = Context::new(system.terms.clone());
        let smt = Smt::within(&cx.budget);
        let mut lemmas = Lemmas::default();
        for (predicate, lemma) in random_lemmas(&system, &mut random) {
            let Some(predicate) = predicate else { continue };
            lies += usize::from(!is_inductive(&system, &smt, &[(Some(predicate), lemma)]));
            // A lemma that is called proven is proven again.
            match random.below(2) {
                0 => lemmas.proven.push((predicate, lemma)),
                _ => lemmas.candidates.push((predicate, lemma)),
            }
        }
        let used = system.used_predicates();
        lemmas
            .candidates
            .extend(used.iter().map(|&p| (p, TermId::FALSE)));
        // A formula over variables that are not the predicate's is ignored.
        let stranger = system.terms.var("stranger", alphorn_term::SortId::BOOL);
        lemmas.proven.extend(used.iter().map(|&p| (p, stranger)));
        let (mut shared, mut stack) = (Rc::new(system.clone()), BackTranslations::default());
        changed += usize::from(share_lemmas(
            lemmas,
            Duration::from_secs(10),
            &mut shared,
            &mut stack,
            &mut cx,
        ));
        let mut solve = |system| Pdr::default().solve(system, &mut cx).expect("no defect");
        match (solve(&system), solve(&shared)) {
            (Verdict::Sat(_), Verdict::Sat(model)) => {
                let model = stack.model(model, &mut cx).expect("a way back");
                assert!(is_model(&system, &model), "seed {seed}");
            }
            (Verdict::Unsat(_), Verdict::Unsat(refutation)) => {
                let refutation = stack.refutation(refutation, &mut cx).expect("a way back");
                assert_eq!(check_refutation(&system, &refutation), Ok(()));
            }
            (before, after) => panic!("seed {seed}: {before:?} {after:?}"),
        }
    }
    assert!(changed > 20 && lies > 100, "{changed} {lies}");
}
