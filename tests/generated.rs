//! Generated systems: they have the promised status, and the engines agree with it.

mod common;

use alphorn::chc::System;
use alphorn::run::Context;
use alphorn::witness::{Verdict, check_refutation};
use alphorn_engine::Engine;
use alphorn_transition::bmc::{Bmc, Options};
use common::trials::answers_at_least;
use common::{
    Recipe, SHORT, Theory, agrees, check_model, counter, height, planted, planted_bug,
    planted_invariant, recipes, within,
};
use proptest::prelude::*;

fn bmc(system: &System, options: Options) -> Verdict {
    let mut cx = Context::new(system.terms.clone());
    Bmc::new(options).solve(system, &mut cx).expect("no defect")
}

/// Engines with settings that change much; `pdr` also without guidance, which hides mistakes in its
/// other parts.
fn variants() -> Vec<(&'static str, Vec<String>)> {
    let mut variants = vec![
        ("pdr", vec!["pdr.guidance=true".to_owned()]),
        ("pdr", vec!["pdr.guidance=false".to_owned()]),
    ];
    for bounding in ["heights", "counters"] {
        for granularity in ["conjuncts", "literals", "arguments"] {
            let settings = [
                format!("spacer.bounding={bounding}"),
                format!("spacer.granularity={granularity}"),
            ];
            variants.push(("spacer", settings.into()));
        }
    }
    variants
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn engines_agree_with_what_is_planted(
        recipe in recipes(),
        safe in any::<bool>(),
        variant in proptest::sample::select(variants()),
    ) {
        let system = planted(&recipe, safe);
        let (name, settings) = variant;
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        if let Some(verdict) = within(name, &settings, SHORT, &system) {
            // The oracle cannot decide some of the generated constraints.
            let agreed = agrees(&system, safe, &verdict);
            prop_assert!(agreed.is_ok(), "{} {:?}: {:?}", name, settings, agreed);
        }
    }
}

/// Modes of `interp`: kinds of interpolants, orders, edges, covering and labels.
fn interp_modes() -> Vec<Vec<String>> {
    let mut modes = Vec::new();
    for kinds in ["R", "S", "R,E", "R,S", "S,E", "R,S,E"] {
        for search in ["weighted", "dfs", "bfs"] {
            for (blocks, force, labels) in [
                ("action", "heads", "obligations"),
                ("clause", "none", "shared"),
                (
                    "action",
                    "all",
                    if search == "dfs" { "shared" } else { "forward" },
                ),
            ] {
                modes.push(vec![
                    format!("interp.kinds={kinds}"),
                    format!("interp.search={search}"),
                    format!("interp.blocks={blocks}"),
                    format!("interp.force={force}"),
                    format!("interp.labels={labels}"),
                    format!("interp.prune={}", blocks == "action"),
                ]);
            }
        }
    }
    modes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn modes_of_interp_agree_with_what_is_planted(
        recipe in recipes(),
        safe in any::<bool>(),
        mode in proptest::sample::select(interp_modes()),
    ) {
        let system = planted(&recipe, safe);
        let settings: Vec<&str> = mode.iter().map(String::as_str).collect();
        // Some modes do not support nonlinear clauses.
        if let Some(verdict) = within("interp", &settings, SHORT / 6, &system) {
            let agreed = agrees(&system, safe, &verdict);
            prop_assert!(agreed.is_ok(), "{:?}: {:?}", settings, agreed);
        }
    }
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
        let options = Options { max_depth: buggy.height, force_tree };
        let verdict = bmc(&buggy.system, options);
        prop_assert_eq!(agrees(&buggy.system, false, &verdict), Ok(true));
        if let Verdict::Unsat(refutation) = verdict {
            prop_assert!(height(&refutation) <= buggy.height);
        }
    }

    #[test]
    fn bounded_search_refutes_nothing_that_has_a_model(
        recipe in recipes(),
        force_tree in any::<bool>(),
    ) {
        let safe = planted_invariant(&recipe);
        let options = Options { max_depth: 4, force_tree };
        let agreed = agrees(&safe.system, true, &bmc(&safe.system, options));
        prop_assert!(agreed.is_ok(), "{:?}", agreed);
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
fn deep_chains_are_refuted() {
    let system = counter(1000);
    match bmc(&system, Options::default()) {
        Verdict::Unsat(refutation) => {
            assert_eq!(check_refutation(&system, &refutation), Ok(()));
            assert_eq!(height(&refutation), 1002);
        }
        other => panic!("{other:?}"),
    }
}

/// The least percentage of generated systems that an engine has to decide.
const FLOORS: &[(&str, usize)] = &[("bmc", 45), ("pdr", 80), ("spacer", 70)];

#[test]
fn engines_decide_most_of_what_is_generated() {
    let mut cases: Vec<(Recipe, bool)> = Vec::new();
    for theory in Theory::ALL {
        for seed in 100..106 {
            let recipe = Recipe::from_seed(theory, seed);
            cases.extend([(recipe.clone(), true), (recipe, false)]);
        }
    }
    for (name, percent) in FLOORS {
        answers_at_least(
            cases.len() * percent / 100,
            &cases,
            |(recipe, safe), limit| {
                let system = planted(recipe, *safe);
                let Some(verdict) = within(name, &[], limit, &system) else {
                    return Ok(false);
                };
                agrees(&system, *safe, &verdict).map_err(|error| format!("{name}: {error}"))
            },
        );
    }
}
