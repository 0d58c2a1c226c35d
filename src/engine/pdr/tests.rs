//! What frames and facts promise, on systems whose facts are known by height.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::*;
use crate::chc::Atom;
use crate::term::{Assignment, Evaluator, SortId, TermStore};

/// `P(0, 0)`; `P(x, y) ⇒ P(x + 1, y + 2)`; `P(x, y) ∧ bad(x, y) ⇒ false`. The fact of height `h` is
/// `P(h, 2h)`.
fn stairs(bad: impl Fn(&TermStore, TermId, TermId) -> TermId) -> System {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let p = system.add_predicate("P", &[SortId::INT, SortId::INT]);
    let int = |n: &str| terms.var(n, SortId::INT);
    let [x, y, x1, y1] = ["x", "y", "x1", "y1"].map(int);
    let atom = |a, b| Atom {
        predicate: p,
        args: vec![a, b],
    };
    let zero = terms.int(0);
    let start = terms.and(&[terms.eq(x, zero), terms.eq(y, zero)]);
    system.add_clause(vec![], start, Some(atom(x, y)));
    let step = terms.and(&[
        terms.eq(x1, terms.add(&[x, terms.int(1)])),
        terms.eq(y1, terms.add(&[y, terms.int(2)])),
    ]);
    system.add_clause(vec![atom(x, y)], step, Some(atom(x1, y1)));
    system.add_clause(vec![atom(x, y)], bad(&terms, x, y), None);
    system
}

fn state(system: &System, height: i64) -> Assignment {
    let params = &system.predicates[0].params;
    let values = [height, 2 * height].map(|v| system.terms.int(v));
    params.iter().copied().zip(values).collect()
}

/// Runs the engine and checks lemmas and facts against the known facts, whatever the outcome.
fn run(system: &System, options: Options) -> (Result<Outcome, Stop>, usize) {
    let mut cx = Context::new(system.terms.clone());
    cx.deadline = Some(Instant::now() + Duration::from_secs(20));
    let mut search = Search::new(system, options, &mut cx);
    let watchdog = search.watchdog();
    let outcome = search.run();
    drop(watchdog);
    let frame = &search.frames[0];
    for height in 0..60 {
        let values = state(system, height);
        let mut evaluator = Evaluator::new(&system.terms, &values);
        for lemma in &frame.lemmas {
            if lemma.level == INFINITE || i64::from(lemma.level) >= height {
                let value = evaluator.value(lemma.clause);
                assert_eq!(value, Some(TermId::TRUE), "a lemma cuts off P of {height}");
            }
        }
    }
    // A fact's formula holds of derivable states only: of no state off the stairs.
    for x in -5..40 {
        for y in -5..80 {
            let params = &system.predicates[0].params;
            let values = [x, y].map(|v| system.terms.int(v));
            let values = params.iter().copied().zip(values).collect();
            let mut evaluator = Evaluator::new(&system.terms, &values);
            let derivable = x >= 0 && y == 2 * x;
            for fact in &frame.facts {
                let holds = evaluator.value(fact.formula) == Some(TermId::TRUE);
                assert!(derivable || !holds, "a fact holds of P({x}, {y})");
            }
        }
    }
    let lemmas = frame.lemmas.len();
    (outcome, lemmas)
}

fn variants() -> Vec<Options> {
    let mut variants = Vec::new();
    for bits in 0..32 {
        variants.push(Options {
            split_equalities: bits & 1 != 0,
            drop_failures: if bits & 2 != 0 { usize::MAX } else { 0 },
            trigger_pushes: bits & 4 != 0,
            guidance: bits & 8 != 0,
            older_simplex: bits & 16 != 0,
            max_level: Some(12),
            ..Options::default()
        });
    }
    variants
}

#[test]
fn lemmas_and_facts_keep_their_promise() {
    let mut lemmas = 0;
    for options in variants() {
        // Safe; unsafe at height 7; safe only by the relation of the two.
        let safe = stairs(|t, x, _| t.lt(x, t.int(0)));
        let unsafe_ = stairs(|t, x, y| t.and(&[t.ge(x, t.int(7)), t.le(y, t.int(20))]));
        let related = stairs(|t, x, y| t.lt(t.add(&[y, t.int(3)]), x));
        let (outcome, n) = run(&safe, options.clone());
        assert!(matches!(outcome, Ok(Outcome::Safe(_))), "{options:?}");
        lemmas += n;
        let (outcome, n) = run(&unsafe_, options.clone());
        let Ok(Outcome::Refuted(refutation)) = outcome else {
            panic!("{options:?}");
        };
        assert_eq!(
            crate::witness::check_refutation(&unsafe_, &refutation),
            Ok(())
        );
        assert_eq!(refutation.steps.len(), 9);
        lemmas += n;
        let (outcome, n) = run(&related, options.clone());
        assert!(!matches!(outcome, Ok(Outcome::Refuted(_))), "{options:?}");
        lemmas += n;
    }
    assert!(lemmas > 0);
}

#[test]
fn relations_come_from_guidance() {
    // Never 2x = y + 5: that needs 2x <= y, a relation that no single obligation's cube has.
    let system = stairs(|t, x, y| t.eq(t.add(&[x, x]), t.add(&[y, t.int(5)])));
    let (outcome, _) = run(&system, Options::default());
    assert!(matches!(outcome, Ok(Outcome::Safe(_))));
}
