//! The predicates that a costly pass has already considered.
//!
//! Invariant: a pass does nothing if there are no new predicates, or if it has run `LIMITS.max_runs` times.

use rustc_hash::FxHashSet;

use alphorn_chc::PredicateId;

/// The limits of costly passes.
struct Limits {
    /// Runs of a costly pass in a pipeline; after that it does nothing. A second run is useful,
    /// since other passes may simplify further after the first.
    max_runs: usize,
}

const LIMITS: Limits = Limits { max_runs: 2 };

/// The predicates that one pass has considered, and the number of its runs.
#[derive(Default)]
pub(super) struct Visits {
    seen: FxHashSet<PredicateId>,
    runs: usize,
}

impl Visits {
    /// Whether the pass should run, since some of the predicates are new. If so, all count as seen.
    pub fn begin(&mut self, predicates: &[PredicateId]) -> bool {
        let fresh = predicates.iter().any(|p| !self.seen.contains(p));
        if !fresh || self.runs >= LIMITS.max_runs {
            return false;
        }
        self.runs += 1;
        self.see(predicates.iter().copied());
        true
    }

    /// Marks predicates about which the pass would find nothing new.
    pub fn see(&mut self, predicates: impl IntoIterator<Item = PredicateId>) {
        self.seen.extend(predicates);
    }
}
