//! All passes, alone, in pairs and in random order, on generated systems.

use proptest::prelude::*;

use super::decide::{check_pipeline, decide};
use super::generate::{Choices, system};
use crate::smt::Smt;
use crate::transform::{NAMED_PASSES, PASSES};
use crate::witness::Verdict;

/// `PROPTEST_CASES` in the environment makes a longer run of it.
pub fn config(cases: u32) -> ProptestConfig {
    let wanted = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig {
        cases: wanted.and_then(|w| w.parse().ok()).unwrap_or(cases),
        max_shrink_iters: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// False when the system is too large to be decided by enumeration.
fn agree(bytes: &[u8], pipelines: &[String]) -> bool {
    let system = system(Choices::new(bytes));
    system.check().unwrap();
    let smt = Smt::new(system.terms.clone());
    let expected = match decide(&system, &smt) {
        Verdict::Unknown(_) => return false,
        verdict => matches!(verdict, Verdict::Sat(_)),
    };
    for passes in pipelines {
        let found = check_pipeline(&system, passes, &smt);
        assert_eq!(found, expected, "passes {passes} change the verdict");
    }
    true
}

fn names() -> Vec<&'static str> {
    PASSES.iter().chain(NAMED_PASSES).map(|p| p.0).collect()
}

proptest! {
    #![proptest_config(config(16))]

    #[test]
    fn each_pass_and_all_together(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        let mut pipelines: Vec<String> = names().iter().map(|n| (*n).to_owned()).collect();
        pipelines.push("default".to_owned());
        prop_assume!(agree(&bytes, &pipelines));
    }
}

proptest! {
    #![proptest_config(config(4))]

    #[test]
    fn pairs(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        let mut pipelines = Vec::new();
        for a in names() {
            for b in names() {
                if a != b {
                    pipelines.push(format!("{a},{b}"));
                }
            }
        }
        prop_assume!(agree(&bytes, &pipelines));
    }
}

proptest! {
    #![proptest_config(config(16))]

    #[test]
    fn random_order(
        bytes in prop::collection::vec(any::<u8>(), 0..160),
        order in Just(names()).prop_shuffle(),
    ) {
        prop_assume!(agree(&bytes, &[order.join(",")]));
    }
}
