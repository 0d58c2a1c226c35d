//! Engines for loops: they agree with what is known of generated systems, and decide loops whatever
//! their length.

mod common;

use alphorn::chc::{Shape, System};
use alphorn::engine::registry::find;
use alphorn::run::Context;
use alphorn::witness::{Verdict, check_refutation};
use common::loops::Loops;
use common::{check_model, counter, height, planted_bug, planted_invariant, recipes};
use proptest::prelude::*;

/// Engines for linear systems of numbers, Booleans and bit-vectors.
const LINEAR: &[&str] = &["trl", "kind", "tpa"];

/// An engine for some seconds; `None` where it does not support the system.
fn within(name: &str, settings: &[&str], seconds: u64, system: &System) -> Option<Verdict> {
    let mut engine = (find(name).expect("it exists").make)();
    let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
    engine.configure(&settings).expect("settings are known");
    engine.supports(&Shape::of(system)).ok()?;
    let mut cx = Context::new(system.terms.clone());
    cx.budget = cx.budget.time(std::time::Duration::from_secs(seconds));
    Some(engine.solve(system, &mut cx).expect("no defect"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn engines_for_loops_agree_with_planted_bugs(mut recipe in recipes()) {
        recipe.nonlinear = false;
        let buggy = planted_bug(&recipe);
        for engine in LINEAR {
            match within(engine, &[], 3, &buggy.system) {
                Some(Verdict::Unsat(refutation)) => {
                    prop_assert_eq!(check_refutation(&buggy.system, &refutation), Ok(()));
                }
                Some(Verdict::Sat(model)) => prop_assert!(false, "{}: {:?}", engine, model),
                _ => {}
            }
        }
    }

    #[test]
    fn engines_for_loops_agree_with_planted_invariants(mut recipe in recipes()) {
        recipe.nonlinear = false;
        let safe = planted_invariant(&recipe);
        for engine in LINEAR {
            match within(engine, &[], 3, &safe.system) {
                Some(Verdict::Sat(model)) => {
                    prop_assert_eq!(check_model(&safe.system, &model), Ok(()));
                }
                Some(Verdict::Unsat(steps)) => prop_assert!(false, "{}: {:?}", engine, steps),
                _ => {}
            }
        }
    }
}

#[test]
fn relations_decide_loops_whatever_their_length() {
    for count in 1..=3 {
        for seed in 0..6 {
            let program = Loops::from_seed(count, 1_700, seed);
            let safe = program.safe();
            match within("trl", &[], 30, &safe) {
                Some(Verdict::Sat(model)) => assert_eq!(check_model(&safe, &model), Ok(())),
                other => panic!("{program:?}: {other:?}"),
            }
            let buggy = program.buggy();
            match within("trl", &[], 30, &buggy) {
                Some(Verdict::Unsat(refutation)) => {
                    assert_eq!(check_refutation(&buggy, &refutation), Ok(()));
                    assert_eq!(height(&refutation), program.height());
                }
                other => panic!("{program:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn relations_refute_a_counter_of_ten_thousand() {
    let system = counter(10_000);
    match within("trl", &[], 30, &system) {
        Some(Verdict::Unsat(refutation)) => {
            assert_eq!(check_refutation(&system, &refutation), Ok(()));
            assert_eq!(height(&refutation), 10_002);
        }
        other => panic!("{other:?}"),
    }
    // Without acceleration, and where the refutation is too long, there is no answer.
    let slow = within("trl", &["trl.accelerate=false"], 30, &system);
    let long = within("trl", &[], 30, &counter(2_000_000));
    for verdict in [slow, long] {
        assert!(matches!(verdict, Some(Verdict::Unknown(_))), "{verdict:?}");
    }
}

#[test]
fn induction_decides_short_loops() {
    for seed in 0..6 {
        let program = Loops::from_seed(2, 3, seed);
        let buggy = program.buggy();
        match within("kind", &[], 30, &buggy) {
            Some(Verdict::Unsat(refutation)) => {
                assert_eq!(check_refutation(&buggy, &refutation), Ok(()));
                assert_eq!(height(&refutation), program.height());
            }
            other => panic!("{program:?}: {other:?}"),
        }
        // The runs of a program that ends are exhausted forward.
        let safe = program.safe();
        match within("kind", &[], 30, &safe) {
            Some(Verdict::Sat(model)) => assert_eq!(check_model(&safe, &model), Ok(())),
            other => panic!("{program:?}: {other:?}"),
        }
        let shallow = within("kind", &["kind.max-depth=2"], 30, &buggy);
        assert!(matches!(shallow, Some(Verdict::Unknown(_))), "{shallow:?}");
    }
}

#[test]
fn powers_refute_deep_loops() {
    for (count, passes) in [(1, 700), (2, 30), (3, 8)] {
        for seed in 0..2 {
            let program = Loops::from_seed(count, passes, seed);
            let buggy = program.buggy();
            match within("tpa", &[], 60, &buggy) {
                Some(Verdict::Unsat(refutation)) => {
                    assert_eq!(check_refutation(&buggy, &refutation), Ok(()));
                    assert_eq!(height(&refutation), program.height());
                }
                other => panic!("{program:?}: {other:?}"),
            }
        }
    }
    let system = counter(5_000);
    match within("tpa", &[], 60, &system) {
        Some(Verdict::Unsat(refutation)) => {
            assert_eq!(check_refutation(&system, &refutation), Ok(()));
            assert_eq!(height(&refutation), 5_002);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn powers_prove_loops_in_phases() {
    for (count, passes) in [(1, 12), (2, 4), (3, 2)] {
        for seed in 0..2 {
            let program = Loops::from_seed(count, passes, seed);
            let safe = program.safe();
            match within("tpa", &[], 60, &safe) {
                Some(Verdict::Sat(model)) => assert_eq!(check_model(&safe, &model), Ok(())),
                other => panic!("{program:?}: {other:?}"),
            }
        }
    }
}
