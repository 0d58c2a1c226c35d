//! Lemmas and reached facts from other processes change no verdict, whether they are true or not.

use alphorn::internal::find;
use alphorn_chc::PredicateId;
use alphorn_samples::bus::context_with_bus;
use alphorn_samples::{is_inductive, is_model, random_lemmas, random_system};
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Random, TermId};
use alphorn_witness::{Verdict, check_refutation};

/// Engines that receive lemmas and facts while they run.
const ENGINES: [&str; 3] = ["pdr", "interp", "vinta"];

#[test]
fn liars_on_the_bus_change_no_verdict() {
    let (mut lies, mut told, mut decided) = (0, 0, [0, 0]);
    for seed in 1..40 {
        let mut random = Random::new(seed);
        let system = random_system(&mut random);
        let used = system.used_predicates();
        let smt = Smt::within(&Context::new(system.terms.clone()).budget);
        let mut lemmas: Vec<(PredicateId, TermId)> = Vec::new();
        for (predicate, lemma) in random_lemmas(&system, &mut random) {
            let Some(predicate) = predicate else { continue };
            lies += usize::from(!is_inductive(&system, &smt, &[(Some(predicate), lemma)]));
            lemmas.push((predicate, lemma));
        }
        lemmas.extend(used.iter().map(|&p| (p, TermId::FALSE)));
        for name in ENGINES {
            let solve = |cx: &mut Context| {
                let mut engine = (find(name).expect("it exists").make)();
                engine.solve(&system, cx).expect("no defect")
            };
            let alone = solve(&mut Context::new(system.terms.clone()));
            let (mut cx, mailbox) = context_with_bus(&system, &lemmas, &lemmas);
            let verdict = solve(&mut cx);
            told += mailbox.told.borrow().len();
            match (alone, verdict) {
                (Verdict::Sat(_), Verdict::Sat(model)) => {
                    assert!(is_model(&system, &model), "{name}, seed {seed}");
                    decided[0] += 1;
                }
                (Verdict::Unsat(_), Verdict::Unsat(refutation)) => {
                    assert_eq!(check_refutation(&system, &refutation), Ok(()), "{name}");
                    decided[1] += 1;
                }
                (Verdict::Unknown(_), _) | (_, Verdict::Unknown(_)) => {}
                (alone, verdict) => panic!("{name}, seed {seed}: {alone:?} {verdict:?}"),
            }
        }
    }
    assert!(lies > 50, "{lies}");
    assert!(told > 0, "nobody tells anything");
    assert!(decided.iter().all(|&d| d > 20), "{decided:?}");
}
