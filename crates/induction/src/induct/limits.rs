//! The limits of `induct`.
//!
//! Invariant: a limit decides whether and when there is an answer, never which one.

use std::time::Duration;

use super::prove::Effort;

/// What the engine may use.
pub(super) struct Limits {
    /// Random values on which a query is tested before its proof.
    pub query_tests: usize,
    /// Sizes of terms, in operators and variables, up to which lemmas are sought.
    pub max_term_size: usize,
    /// The size after which failed cases of the queries are generalized.
    pub generalization_size: usize,
    /// Rounds of lemmas from failed cases, each from those of the round before.
    pub generalization_rounds: usize,
    /// New lemmas after which the queries are tried again.
    pub lemmas_per_retry: usize,
    /// The effort for a query before there are lemmas.
    pub first_effort: Effort,
    /// The effort for a query with lemmas.
    pub query_effort: Effort,
    /// The effort for a lemma.
    pub lemma_effort: Effort,
    /// Candidates from failed cases in one round; further ones are dropped.
    pub generalizations: usize,
    /// Weight of such a candidate; heavier ones are dropped.
    pub generalization_weight: usize,
    /// Random values on which such a candidate is tested.
    pub generalization_tests: usize,
    /// Terms that are visited to count occurrences of a term; then the count so far is taken.
    pub occurrence_steps: usize,
    /// Random assignments by which terms are distinguished.
    pub samples: usize,
    /// Size of their values.
    pub value_size: u32,
    /// Samples on which a term needs a value; other terms are dropped.
    pub defined_samples: usize,
    /// Variables of one sort in explored terms.
    pub variables_per_sort: usize,
    /// Explored terms of one sort and size; further ones are dropped.
    pub terms_per_size: usize,
    /// Explored terms of one size with one operator at the top; further ones are not made.
    pub terms_per_operator: usize,
    /// The weight at which counting stops; heavier statements are not distinguished.
    pub max_weight: usize,
    /// Calls of a statement from which triggers are chosen.
    pub trigger_calls: usize,
    /// Calls that one normalizer unfolds; further ones stay.
    pub unfoldings: usize,
    /// Rounds of unfolding for one term.
    pub normalization_rounds: usize,
    /// Work for one query of a proof.
    pub query_work: Duration,
    /// Queries for the core of a case's proof.
    pub core_queries: usize,
    /// Instances in one case; further ones are dropped.
    pub instances: usize,
    /// Rounds in which instances are found for a case.
    pub instance_rounds: usize,
    /// Partial matches of the calls of a statement that are kept together.
    pub partial_matches: usize,
    /// Failed cases that are kept.
    pub failed_cases: usize,
    /// Cases of one proof; with more it fails.
    pub cases: usize,
    /// Variables of a statement on which induction is tried.
    pub induction_variables: usize,
}

pub(super) const LIMITS: Limits = Limits {
    query_tests: 100,
    max_term_size: 8,
    generalization_size: 5,
    generalization_rounds: 3,
    lemmas_per_retry: 4,
    first_effort: Effort {
        splits: 2,
        queries: 60,
    },
    query_effort: Effort {
        splits: 2,
        queries: 200,
    },
    lemma_effort: Effort {
        splits: 1,
        queries: 24,
    },
    generalizations: 24,
    generalization_weight: 40,
    generalization_tests: 60,
    occurrence_steps: 1000,
    samples: 40,
    value_size: 4,
    defined_samples: 12,
    variables_per_sort: 3,
    terms_per_size: 400,
    terms_per_operator: 5_000,
    max_weight: 10_000,
    trigger_calls: 200,
    unfoldings: 120,
    normalization_rounds: 40,
    query_work: Duration::from_millis(50),
    core_queries: 20,
    instances: 40,
    instance_rounds: 3,
    partial_matches: 80,
    failed_cases: 30,
    cases: 24,
    induction_variables: 3,
};
