//! Engines for loops: they agree with the known status of generated systems, and decide loops of any
//! length.

mod common;

use alphorn::chc::System;
use alphorn::witness::{Verdict, check_refutation};
use common::loops::Loops;
use common::trials::{PATIENCE, answers_at_least};
use common::{Recipe, SHORT, Theory, agrees, counter, height, planted, recipes, within};
use proptest::prelude::*;

/// Engines for loops, which support linear systems over numbers, Booleans and bit-vectors.
const LINEAR: &[&str] = &["trl", "kind", "pdkind", "templates", "interp"];

/// Checks that the engine refutes the system with a derivation of this height.
fn refutes(engine: &str, system: &System, expected: usize) {
    match within(engine, &[], PATIENCE, system) {
        Some(Verdict::Unsat(refutation)) => {
            assert_eq!(check_refutation(system, &refutation), Ok(()));
            assert_eq!(height(&refutation), expected);
        }
        other => panic!("{engine}: {other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn engines_for_loops_agree_with_what_is_planted(
        mut recipe in recipes(),
        safe in any::<bool>(),
    ) {
        recipe.nonlinear = false;
        let system = planted(&recipe, safe);
        for engine in LINEAR {
            if let Some(verdict) = within(engine, &[], SHORT, &system) {
                let agreed = agrees(&system, safe, &verdict);
                prop_assert!(agreed.is_ok(), "{}: {:?}", engine, agreed);
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
            let verdict = within("trl", &[], PATIENCE, &safe).expect("supported");
            assert_eq!(agrees(&safe, true, &verdict), Ok(true), "{program:?}");
            let buggy = program.buggy();
            refutes("trl", &buggy, program.height());
        }
    }
}

#[test]
fn relations_refute_a_counter_of_ten_thousand() {
    let system = counter(10_000);
    refutes("trl", &system, 10_002);
    // Without acceleration the refutation is too long.
    let slow = within("trl", &["trl.accelerate=false"], SHORT, &system);
    let long = within("trl", &[], PATIENCE, &counter(2_000_000));
    for verdict in [slow, long] {
        assert!(matches!(verdict, Some(Verdict::Unknown(_))), "{verdict:?}");
    }
}

#[test]
fn induction_decides_short_loops() {
    for seed in 0..6 {
        let program = Loops::from_seed(2, 3, seed);
        let buggy = program.buggy();
        refutes("kind", &buggy, program.height());
        // The program terminates, so the forward search is exhaustive.
        let safe = program.safe();
        let verdict = within("kind", &[], PATIENCE, &safe).expect("supported");
        assert_eq!(agrees(&safe, true, &verdict), Ok(true), "{program:?}");
        let shallow = within("kind", &["kind.max-depth=2"], PATIENCE, &buggy);
        assert!(matches!(shallow, Some(Verdict::Unknown(_))), "{shallow:?}");
    }
}

/// The least percentage of generated linear systems that an engine has to decide.
const FLOORS: &[(&str, usize)] = &[
    ("trl", 50),
    ("kind", 50),
    ("pdkind", 50),
    ("templates", 30),
    ("interp", 50),
];

#[test]
fn engines_for_loops_decide_most_of_what_is_generated() {
    let mut cases: Vec<(Recipe, bool)> = Vec::new();
    for theory in [Theory::Bool, Theory::Lia, Theory::Lra, Theory::Bv] {
        for seed in 100..106 {
            let mut recipe = Recipe::from_seed(theory, seed);
            recipe.nonlinear = false;
            cases.extend([(recipe.clone(), true), (recipe, false)]);
        }
    }
    for (name, percent) in FLOORS {
        answers_at_least(
            cases.len() * percent / 100,
            &cases,
            |(recipe, safe), limit| {
                let system = planted(recipe, *safe);
                let verdict = within(name, &[], limit, &system).expect("supported");
                agrees(&system, *safe, &verdict).map_err(|error| format!("{name}: {error}"))
            },
        );
    }
}
