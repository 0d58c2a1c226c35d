//! The limits of the engine.
//!
//! Invariant: a limit decides whether and when there is an answer, not which one.

/// The limits of `ic3`. The activity of an obligation is the number of queries about it.
pub(super) struct Limits {
    /// Counterexamples to generalization that are blocked for a literal.
    pub counterexamples: usize,
    /// The activity from which on more counterexamples are blocked, with the setting `dynamic`.
    pub active: usize,
    /// From there on, one more counterexample for each of this many further queries.
    pub activity_per_counterexample: usize,
    /// The activity from which on predecessors of counterexamples are blocked, too.
    pub very_active: usize,
    /// Counterexamples that are blocked for a literal from there on.
    pub very_active_counterexamples: usize,
    /// Predecessors of a counterexample that are blocked from there on.
    pub very_active_predecessors: usize,
    /// With each lemma, the weights of literals of earlier lemmas decay by this factor.
    pub weight_decay: f64,
    /// Temporary clauses after which the solver of a level is replaced by a new one.
    pub temporary_clauses: usize,
    /// Queries after which the solver that lifts states is replaced by a new one.
    pub lift_queries: usize,
    /// How often lemmas of an earlier search are tried at their levels, without those that failed, before
    /// all of them are tried at the first level.
    pub attempts_to_resume: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    counterexamples: 3,
    active: 10,
    activity_per_counterexample: 10,
    very_active: 40,
    very_active_counterexamples: 5,
    very_active_predecessors: 5,
    weight_decay: 0.95,
    temporary_clauses: 2000,
    lift_queries: 2000,
    attempts_to_resume: 3,
};
