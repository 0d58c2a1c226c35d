//! The limits of this crate.

/// What bounds circuits and calls of the SAT solver.
pub(crate) struct Limits {
    /// Gates of a circuit: a term that would need more is refused ([`NotBits`](super::NotBits)).
    pub max_gates: usize,
    /// Decisions of the SAT solver between two checks of the budget.
    pub decisions_per_check: u32,
}

pub(crate) const LIMITS: Limits = Limits {
    max_gates: 6_000_000,
    decisions_per_check: 64,
};
