//! Which predicates a costly pass has looked at.
//!
//! Invariant: a pass that finds no new predicates, or has run often enough, does nothing.

use rustc_hash::FxHashSet;

use alphorn_chc::PredicateId;

/// How often a costly pass runs in a pipeline: other passes may make more of what it found.
const RUNS: usize = 2;

/// What one pass has looked at.
#[derive(Default)]
pub(super) struct Visits {
    seen: FxHashSet<PredicateId>,
    runs: usize,
}

impl Visits {
    /// Whether to look at these predicates, because some of them are new. Then all are seen.
    pub fn begin(&mut self, predicates: &[PredicateId]) -> bool {
        let fresh = predicates.iter().any(|p| !self.seen.contains(p));
        if !fresh || self.runs >= RUNS {
            return false;
        }
        self.runs += 1;
        self.see(predicates.iter().copied());
        true
    }

    /// There is nothing new to find about these.
    pub fn see(&mut self, predicates: impl IntoIterator<Item = PredicateId>) {
        self.seen.extend(predicates);
    }
}
