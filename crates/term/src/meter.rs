//! Counts the work of a run, so that limits need not depend on the speed or load of the machine,
//! and the results that failed their check.
//!
//! Work is counted in nominal time: a fixed duration for each kind of step.
//!
//! Invariant: the count depends only on what was computed, never on a clock, and never decreases.

use std::cell::Cell;
use std::time::Duration;

use super::TermStore;

/// The work of looking up or making a term.
pub(super) const TERM_WORK: Duration = Duration::from_nanos(60);

/// Counts work in nominal nanoseconds.
#[derive(Default)]
pub(super) struct Meter {
    nanoseconds: Cell<u64>,
    defects: Cell<u64>,
}

impl Meter {
    #[inline]
    pub fn add(&self, cost: Duration) {
        let cost = u64::try_from(cost.as_nanos()).unwrap_or(u64::MAX);
        let sum = self.nanoseconds.get().saturating_add(cost);
        self.nanoseconds.set(sum);
    }
}

impl TermStore {
    /// Adds work that is not done on terms, for example steps of a solver.
    #[inline]
    pub fn charge(&self, cost: Duration) {
        self.meter.add(cost);
    }

    /// Counts a result that failed its check and was discarded.
    pub fn count_defect(&self) {
        self.meter.defects.set(self.meter.defects.get() + 1);
    }

    /// The number of results that failed their check so far.
    pub fn defects(&self) -> u64 {
        self.meter.defects.get()
    }

    /// The work of the run so far, in nominal time.
    #[inline]
    pub fn work(&self) -> Duration {
        Duration::from_nanos(self.meter.nanoseconds.get())
    }
}
