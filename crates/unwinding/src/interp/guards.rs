//! What the printed rules lack to be sound over loops and branches.
//!
//! Invariant: outside of tests all guards are on.

/// A condition that soundness or strength needs beyond the paper's definitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Guard {
    /// A region is full when each leaving action has a blocker, not each location that follows.
    BlockerPerAction,
    /// A region is closed only by what was derived for it, not because it is the last one reached.
    ClosedUnderLoops,
    /// Only what is new goes into an interpolation, not what a location has gathered.
    OnlyNewPart,
    /// The error is reported with a derivation, not because a prefix implies the formula of a
    /// suffix.
    Derivation,
    /// A node is pruned when its label is within the region, and covers no other.
    LabelWithinRegion,
    /// Blockers of one action are alternatives.
    DisjunctionPerAction,
}

/// Which guards are on.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Guards {
    #[cfg(test)]
    pub off: Option<Guard>,
}

impl Guards {
    /// Whether the guard is on.
    #[cfg_attr(not(test), allow(clippy::unused_self))]
    pub fn on(self, guard: Guard) -> bool {
        #[cfg(test)]
        return self.off != Some(guard);
        #[cfg(not(test))]
        {
            let _ = guard;
            true
        }
    }
}
