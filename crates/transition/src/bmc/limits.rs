//! The limits of the engine that are no settings.
//!
//! Invariant: a limit decides whether and when there is an answer, not which one.

use std::time::Duration;

/// The limits of `bmc` on linear systems.
pub(super) struct Limits {
    /// The number of levels that share a query is the current level divided by this, at least one.
    pub window_divisor: usize,
    /// Queries in a row that may end without an answer; then the search ends with `unknown`.
    pub unanswered_queries: usize,
    /// A query may use the remaining time divided by this; without a limit of the run, any time.
    pub query_time_divisor: u32,
    /// Work that a query may use in any case.
    pub least_query_work: Duration,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    window_divisor: 16,
    unanswered_queries: 8,
    query_time_divisor: 8,
    least_query_work: Duration::from_secs(1),
};
