//! All passes, alone, in pairs and in random order, on generated systems.

use proptest::prelude::*;

use super::decide::{agree, pass_names};
use super::generate::{Choices, system};

/// `PROPTEST_CASES` in the environment makes the run longer.
pub fn config(cases: u32) -> ProptestConfig {
    let wanted = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig {
        cases: wanted.and_then(|w| w.parse().ok()).unwrap_or(cases),
        max_shrink_iters: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(8))]

    #[test]
    fn each_pass_and_all_together(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        let mut pipelines: Vec<String> = pass_names().iter().map(|n| (*n).to_owned()).collect();
        pipelines.push("default".to_owned());
        prop_assume!(agree(&system(Choices::new(&bytes)), &pipelines).is_some());
    }
}

proptest! {
    #![proptest_config(config(3))]

    #[test]
    fn pairs(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        let mut pipelines = Vec::new();
        for a in pass_names() {
            for b in pass_names() {
                if a != b {
                    pipelines.push(format!("{a},{b}"));
                }
            }
        }
        prop_assume!(agree(&system(Choices::new(&bytes)), &pipelines).is_some());
    }
}

proptest! {
    #![proptest_config(config(8))]

    #[test]
    fn random_order(
        bytes in prop::collection::vec(any::<u8>(), 0..160),
        order in Just(pass_names()).prop_shuffle(),
    ) {
        prop_assume!(agree(&system(Choices::new(&bytes)), &[order.join(",")]).is_some());
    }
}
