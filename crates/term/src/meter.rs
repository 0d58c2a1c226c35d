//! How much work was done in a run, so that limits need not depend on how fast or busy a machine
//! is.
//!
//! Work is counted in nominal time: each kind of step costs what it took when it was measured once.
//! Invariant: the count depends on what was computed alone, never on a clock, and never decreases.
//!
//! Results that failed their own check are counted here, too, for there is one store in a run.

use std::cell::Cell;
use std::time::Duration;

use super::TermStore;

/// Nominal cost of looking up or making a term.
pub(super) const TERM: Duration = Duration::from_nanos(60);

/// Counts work in nominal nanoseconds.
#[derive(Default)]
pub(super) struct Meter {
    nanoseconds: Cell<u64>,
    defects: Cell<u64>,
}

impl Meter {
    pub fn add(&self, cost: Duration) {
        let cost = u64::try_from(cost.as_nanos()).unwrap_or(u64::MAX);
        let sum = self.nanoseconds.get().saturating_add(cost);
        self.nanoseconds.set(sum);
    }
}

impl TermStore {
    /// Counts work that is not done on terms: steps of an abstract domain, of a solver.
    pub fn charge(&self, cost: Duration) {
        self.meter.add(cost);
    }

    /// Counts a result that failed its own check and was thrown away.
    pub fn count_defect(&self) {
        self.meter.defects.set(self.meter.defects.get() + 1);
    }

    /// How many results failed their own check in the run so far.
    pub fn defects(&self) -> u64 {
        self.meter.defects.get()
    }

    /// The work of the run so far, in nominal time.
    pub fn work(&self) -> Duration {
        Duration::from_nanos(self.meter.nanoseconds.get())
    }
}
