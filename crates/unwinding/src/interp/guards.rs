//! Conditions that the printed rules lack to be sound over loops and branches.
//!
//! Invariant: outside of tests all guards are on.

/// A condition, beyond the paper's definitions, that soundness or termination needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Guard {
    /// A region is full when each leaving action has a blocker, not when each target's is closed.
    BlockerPerAction,
    /// A region is closed only by its own blockers or labels, not because its location is the last
    /// one that a path reaches.
    ClosedUnderLoops,
    /// An interpolation uses only the path and its new suffix, not all formulas of a location.
    OnlyNewPart,
    /// The error is reported with a derivation, not because a prefix implies the formula of a
    /// suffix.
    Derivation,
    /// A node is pruned only when its label is within the region, and then covers no other node.
    LabelWithinRegion,
    /// Blockers of one action are alternatives: a region has their disjunction.
    DisjunctionPerAction,
}

/// The guards that are on.
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
