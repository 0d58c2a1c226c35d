//! The limits of the engine.
//!
//! Invariant: a limit decides whether and when there is an answer, not which one.

use std::time::Duration;

use super::proof::Height;

/// The limits of `spacer`.
pub(super) struct Limits {
    /// Queries by which a core of assumptions is made smaller; after them the core is kept as it
    /// is.
    pub core_queries: usize,
    /// Work for a counterexample that is unrolled as a whole; after it, its steps are checked one
    /// by one.
    pub unrolled_work: Duration,
    /// The least height of a lemma for which a run without an answer leaves its frames to another
    /// search; frames with lower lemmas only are not left, since they hinder `pdr` more than they
    /// help.
    pub least_height_left: Height,
    /// After a counterexample without bounds, the bound of heights grows by at least the bound
    /// divided by this, so that there are few tries.
    pub height_growth_divisor: Height,
    /// With `hybrid`, the part of the work of the last proof that counterexamples and their cores may
    /// use before all of Σ is put in force, in percent.
    pub cores_percent: u32,
    /// The same, if the last proof took less than this.
    pub least_proof: Duration,
    /// Cubes into which a lemma's negation is projected to eliminate the counters; if they do not
    /// suffice, the counters stay quantified in the model.
    pub projection_cubes: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    core_queries: 10,
    unrolled_work: Duration::from_secs(2),
    least_height_left: 2,
    height_growth_divisor: 4,
    cores_percent: 100,
    least_proof: Duration::from_millis(100),
    projection_cubes: 64,
};
