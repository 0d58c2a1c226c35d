//! The limits of finding functions.
//!
//! Invariant: no other file of this folder has a constant that bounds work or size.

use std::time::Duration;

/// Limits of the search for functions.
pub(super) struct Limits {
    /// Work of one query; a query without an answer proves nothing.
    pub query_work: Duration,
    /// Choices of outputs that are tried in a group of mutually recursive predicates.
    pub max_choices: usize,
    /// Tuples of values on which a formula and a function are compared.
    pub samples: usize,
    /// Constructors of each of these values, about.
    pub sample_size: u32,
    /// Nested calls of an evaluation; a term that needs more has no value.
    pub max_depth: usize,
    /// Steps of an evaluation; a term that needs more has no value.
    pub max_steps: usize,
    /// Decisions of a definition; a larger one is given up.
    pub max_decisions: usize,
    /// Places in bodies, along all paths; with more, no measure is searched for.
    pub max_places: usize,
    /// Combinations of measured positions that are tried.
    pub max_combinations: usize,
    /// Rounds in which calls in unfolded calls are unfolded for a lemma about a graph.
    pub unfolding_rounds: usize,
    /// Calls that are unfolded for a case of such a lemma, and instances of other lemmas.
    pub max_unfoldings: usize,
}

pub(super) const LIMITS: Limits = Limits {
    query_work: Duration::from_millis(100),
    max_choices: 24,
    samples: 60,
    sample_size: 4,
    max_depth: 120,
    max_steps: 20_000,
    max_decisions: 200,
    max_places: 20_000,
    max_combinations: 256,
    unfolding_rounds: 2,
    max_unfoldings: 24,
};
