//! The limits of the search for proofs.
//!
//! Invariant: no other file of this folder has a constant that bounds rounds or atoms.

/// Limits of the search for proofs.
pub(super) struct Limits {
    /// Rounds of shortening a proof.
    pub max_shortenings: usize,
    /// Atoms for branches; beyond that there is no proof.
    pub max_branches: usize,
    /// Conflicts before the first restart.
    pub first_restart: u64,
}

pub(super) const LIMITS: Limits = Limits {
    max_shortenings: 4,
    max_branches: 400,
    first_restart: 100,
};
