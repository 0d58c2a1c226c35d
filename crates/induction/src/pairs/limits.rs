//! The limits of `pairs`, except for the turns of engines.
//!
//! Invariant: a limit decides whether and when there is an answer, never which one.

/// What the engine may use.
pub(super) struct Limits {
    /// Predicates of the product; with more there is none.
    pub predicates: usize,
    /// Clauses of the product; with more there is none.
    pub clauses: usize,
    /// Atoms of a query that become one predicate; queries with more are not supported.
    pub components: usize,
}

pub(super) const LIMITS: Limits = Limits {
    predicates: 60,
    clauses: 600,
    components: 6,
};
