//! The limits of interpolation.
//!
//! Invariant: no other file of this folder has a constant that bounds size, steps or work.

use std::time::Duration;

/// Limits of interpolation, apart from those of
/// [`InterpolationOptions`](super::InterpolationOptions).
pub(super) struct Limits {
    /// Literals of a core that is minimized one by one; larger cores are used as they are.
    pub max_minimized_literals: usize,
    /// Cases of one pair; with more there is no certificate.
    pub max_cases: usize,
    /// Bounds that define columns, about; further columns have no definition.
    pub max_definitions: usize,
    /// Steps for a reduced pair; beyond that the next rule is used.
    pub reduced_steps: usize,
    /// Work for one resolution proof; beyond that the general procedure is used.
    pub proof_work: Duration,
    /// Index terms of a sort; further ones are left out.
    pub max_indexes: usize,
    /// Instances of axioms on one side; further ones are left out.
    pub max_instances: usize,
    /// Nesting of fields to which equal terms are decomposed.
    pub max_depth: usize,
}

pub(super) const LIMITS: Limits = Limits {
    max_minimized_literals: 40,
    max_cases: 60,
    max_definitions: 200,
    reduced_steps: 60,
    proof_work: Duration::from_secs(2),
    max_indexes: 12,
    max_instances: 2000,
    max_depth: 2,
};
