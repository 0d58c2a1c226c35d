//! The limits of the pass `control`.

use std::time::Duration;

/// Limits of one run of the pipeline, unless stated otherwise. An argument or predicate beyond
/// a limit is not split.
pub(super) struct Limits {
    /// Values that an argument may have to be split on, unless every clause equates it with a
    /// value.
    pub max_values: usize,
    /// Values of a sort whose values are all tried, instead of those found by analysis.
    pub max_enumerated_values: u64,
    /// Arguments of one predicate that are considered together.
    pub max_candidates: usize,
    /// Valuations of one predicate.
    pub max_valuations: usize,
    /// Valuations of a clause's head under one combination of its body's.
    pub max_successors: usize,
    /// The factor by which the size of the clauses of split predicates may grow, and that of all
    /// clauses in a run.
    pub max_growth_factor: usize,
    /// Clauses that may be made: the first number always, the second for each clause of split
    /// predicates.
    pub max_edges: (usize, usize),
    /// The size of the clauses under the values of an argument, on a scale from 0 (the values
    /// divide the constraints) to 1 (the constraints are as large under each value).
    pub max_waste: f64,
    /// Visits of subterms by substitution.
    pub max_subterm_visits: usize,
    /// Work of all applications (less in short runs, see `part_of_run`); beyond it nothing new is
    /// tried.
    pub total_work: Duration,
    /// All applications get at most the run's limit divided by this.
    pub part_of_run: u32,
    /// Queries of one attempt to build a graph.
    pub max_queries: usize,
}

pub(super) const LIMITS: Limits = Limits {
    max_values: 32,
    max_enumerated_values: 8,
    max_candidates: 16,
    max_valuations: 1024,
    max_successors: 32,
    max_growth_factor: 3,
    max_edges: (1024, 4),
    max_waste: 0.7,
    max_subterm_visits: 10_000_000,
    total_work: Duration::from_secs(4),
    part_of_run: 4,
    max_queries: 4_000,
};
