//! The limits of `twin`, except for the turns of engines.
//!
//! Invariant: a limit decides whether and when there is an answer, never which one.

use std::time::Duration;

/// What the engine may use.
pub(super) struct Limits {
    /// Work for the query whether a clause holds, over integers and over bit-vectors each; without
    /// an answer the clause becomes exact.
    pub clause_work: Duration,
    /// Width in bits of bit-vectors in a model; a model that needs wider ones is not translated.
    pub max_width: u64,
    /// Cases into which a comparison is split; with more, sums are reduced by a variable.
    pub comparison_cases: usize,
}

pub(super) const LIMITS: Limits = Limits {
    clause_work: Duration::from_secs(1),
    max_width: 256,
    comparison_cases: 9,
};
