//! The generators of systems: what they promise holds, and bounded search agrees with them.

mod common;

use alphorn::context::Context;
use alphorn::engine::Engine;
use alphorn::engine::bmc::{Bmc, Options};
use alphorn::witness::{Verdict, check_refutation};
use common::{
    Recipe, Theory, check_model, counter, height, planted_bug, planted_invariant, recipes,
};
use proptest::prelude::*;

fn bmc(system: &alphorn::chc::System, options: Options) -> Verdict {
    let mut cx = Context::new(system.terms.clone());
    Bmc::new(options).solve(system, &mut cx).expect("no defect")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

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
        let options = Options { max_depth: Some(buggy.height), force_tree, ..Options::default() };
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
        let options = Options { max_depth: Some(4), force_tree, ..Options::default() };
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
