//! The generators of systems: what they promise holds, and the engines agree with them.

mod common;

use alphorn::engine::Engine;
use alphorn::engine::bmc::{Bmc, Options};
use alphorn::engine::pdr::{self, Pdr};
use alphorn::engine::spacer::{self, Bounding, Granularity, Spacer};
use alphorn::run::Context;
use alphorn::witness::{Verdict, check_refutation};
use common::{
    Recipe, Theory, check_model, counter, height, planted_bug, planted_invariant, recipes,
};
use proptest::prelude::*;

fn bmc(system: &alphorn::chc::System, options: Options) -> Verdict {
    let mut cx = Context::new(system.terms.clone());
    Bmc::new(options).solve(system, &mut cx).expect("no defect")
}

/// `pdr` for a few seconds; without guidance too, since that hides what the rest does.
fn property_directed(system: &alphorn::chc::System, guidance: bool) -> Verdict {
    let mut cx = Context::new(system.terms.clone());
    cx.budget = cx.budget.time(std::time::Duration::from_secs(5));
    let options = pdr::Options {
        guidance,
        ..pdr::Options::default()
    };
    Pdr { options }.solve(system, &mut cx).expect("no defect")
}

/// `spacer` for a few seconds, with either kind of bounds and each kind of assumptions.
fn by_abstraction(system: &alphorn::chc::System, choice: usize) -> Verdict {
    let mut cx = Context::new(system.terms.clone());
    cx.budget = cx.budget.time(std::time::Duration::from_secs(3));
    let granularities = [
        Granularity::Conjuncts,
        Granularity::Literals,
        Granularity::Arguments,
    ];
    let options = spacer::Options {
        bounding: [Bounding::Heights, Bounding::Counters][choice % 2],
        granularity: granularities[choice % 3],
        ..spacer::Options::default()
    };
    Spacer { options }
        .solve(system, &mut cx)
        .expect("no defect")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn spacer_agrees_with_planted_bugs(recipe in recipes(), choice in 0_usize..6) {
        let buggy = planted_bug(&recipe);
        match by_abstraction(&buggy.system, choice) {
            Verdict::Unsat(refutation) => {
                prop_assert_eq!(check_refutation(&buggy.system, &refutation), Ok(()));
            }
            Verdict::Sat(model) => prop_assert!(false, "{model:?}"),
            Verdict::Unknown(_) => {}
        }
    }

    #[test]
    fn spacer_agrees_with_planted_invariants(recipe in recipes(), choice in 0_usize..6) {
        let safe = planted_invariant(&recipe);
        match by_abstraction(&safe.system, choice) {
            Verdict::Sat(model) => prop_assert_eq!(check_model(&safe.system, &model), Ok(())),
            Verdict::Unsat(refutation) => prop_assert!(false, "{refutation:?}"),
            Verdict::Unknown(_) => {}
        }
    }

    #[test]
    fn pdr_agrees_with_planted_bugs(recipe in recipes(), guidance in any::<bool>()) {
        let buggy = planted_bug(&recipe);
        match property_directed(&buggy.system, guidance) {
            Verdict::Unsat(refutation) => {
                prop_assert_eq!(check_refutation(&buggy.system, &refutation), Ok(()));
            }
            Verdict::Sat(model) => prop_assert!(false, "{model:?}"),
            // Some generated constraints are beyond the oracle.
            Verdict::Unknown(_) => {}
        }
    }

    #[test]
    fn pdr_agrees_with_planted_invariants(recipe in recipes(), guidance in any::<bool>()) {
        let safe = planted_invariant(&recipe);
        match property_directed(&safe.system, guidance) {
            Verdict::Sat(model) => prop_assert_eq!(check_model(&safe.system, &model), Ok(())),
            Verdict::Unsat(refutation) => prop_assert!(false, "{refutation:?}"),
            Verdict::Unknown(_) => {}
        }
    }

    #[test]
    fn planted_invariants_are_models(recipe in recipes()) {
        let safe = planted_invariant(&recipe);
        prop_assert_eq!(check_model(&safe.system, &safe.model), Ok(()));
    }

    #[test]
    fn planted_bugs_are_refutations(recipe in recipes()) {
        let buggy = planted_bug(&recipe);
        prop_assert_eq!(check_refutation(&buggy.system, &buggy.refutation), Ok(()));
        prop_assert_eq!(height(&buggy.refutation), buggy.height);
    }

    #[test]
    fn bounded_search_finds_planted_bugs(recipe in recipes(), force_tree in any::<bool>()) {
        let buggy = planted_bug(&recipe);
        let options = Options { max_depth: buggy.height, force_tree };
        match bmc(&buggy.system, options) {
            Verdict::Unsat(refutation) => {
                prop_assert_eq!(check_refutation(&buggy.system, &refutation), Ok(()));
                prop_assert!(height(&refutation) <= buggy.height);
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn bounded_search_refutes_nothing_that_has_a_model(recipe in recipes(), force_tree in any::<bool>()) {
        let safe = planted_invariant(&recipe);
        let options = Options { max_depth: 4, force_tree };
        match bmc(&safe.system, options) {
            Verdict::Unsat(refutation) => prop_assert!(false, "{refutation:?}"),
            Verdict::Sat(model) => prop_assert_eq!(check_model(&safe.system, &model), Ok(())),
            Verdict::Unknown(_) => {}
        }
    }
}

#[test]
fn recipes_of_all_theories_keep_their_promise() {
    for theory in Theory::ALL {
        for seed in 0..12 {
            let recipe = Recipe::from_seed(theory, seed);
            let safe = planted_invariant(&recipe);
            assert_eq!(check_model(&safe.system, &safe.model), Ok(()), "{recipe:?}");
            let buggy = planted_bug(&recipe);
            let checked = check_refutation(&buggy.system, &buggy.refutation);
            assert_eq!(checked, Ok(()), "{recipe:?}");
        }
    }
}

#[test]
fn deep_chains_are_quick() {
    let system = counter(1000);
    let start = std::time::Instant::now();
    match bmc(&system, Options::default()) {
        Verdict::Unsat(refutation) => {
            assert_eq!(check_refutation(&system, &refutation), Ok(()));
            assert_eq!(height(&refutation), 1002);
        }
        other => panic!("{other:?}"),
    }
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

#[test]
fn pdr_decides_most_of_what_is_generated() {
    let (mut decided, mut all) = (0, 0);
    for theory in Theory::ALL {
        for seed in 100..106 {
            let recipe = Recipe::from_seed(theory, seed);
            for system in [
                planted_invariant(&recipe).system,
                planted_bug(&recipe).system,
            ] {
                all += 1;
                let verdict = property_directed(&system, true);
                decided += usize::from(!matches!(verdict, Verdict::Unknown(_)));
            }
        }
    }
    assert!(decided * 10 >= all * 8, "{decided} of {all}");
}
