//! The limits and thresholds of the engine that are no settings.
//!
//! Invariant: a limit decides whether and when there is an answer, not which one.

use std::time::Duration;

/// The limits of `pdr`.
pub(super) struct Limits {
    /// Other predicates with arguments of the same sorts about which a conjecture that became a
    /// lemma is conjectured, too.
    pub spread_predicates: usize,
    /// Lemmas of one predicate in a model up to which those that the others imply are removed.
    pub irredundant_lemmas: usize,
    /// A transition relation gets a new solver when the formulas that were only assumed in queries
    /// are this many more than twice the asserted ones.
    pub surplus_assumed: usize,
    /// The search for the lemmas that a proof needs may use the search's work divided by this,
    /// extrapolated from the lemmas found so far; above it, the model has all lemmas.
    pub needed_work_divisor: u32,
    /// Work that the search for the needed lemmas may use in any case.
    pub needed_least_work: Duration,
    /// Lemmas of a level up to which the needed ones are searched for.
    pub needed_lemmas: usize,
    /// Writes to an array up to which a read over them is decided; there is a literal for each.
    pub decided_writes: usize,
    /// Work for lemmas received at one time that are proven by induction; the same again for the
    /// other lemmas, and for facts.
    pub exchange_work: Duration,
    /// Nothing is received while that has used more than the search's work divided by this.
    pub exchange_work_divisor: u32,
    /// Received lemmas of a predicate that are kept to be tried again with later ones; the newest.
    pub waiting_lemmas: usize,
    /// Constants that differ between the cubes of a pattern; with more there is no conjecture.
    pub varying_constants: usize,
    /// Constraints while constants are eliminated; with more there is no conjecture.
    pub elimination_rows: usize,
    /// Cubes of one pattern from which on they are generalized together.
    pub least_cluster: usize,
    /// Times that a cluster is generalized; for cubes of obligations the same again by chains.
    pub cluster_uses: usize,
    /// Predecessors that a conjecture and what follows from it may have; then it is given up.
    pub conjecture_steps: usize,
    /// Different coefficients of the same terms from which on the terms get single bounds.
    pub least_slopes: usize,
    /// Times that this is done for the same terms.
    pub slope_uses: usize,
    /// Rounds of queries about all lemmas of an earlier search; then those that remain are checked
    /// once more at level 0.
    pub resume_rounds: usize,
    /// Work for the lemmas of an earlier search; at the limit all of them are dropped.
    pub resume_work: Duration,
    /// The same limit as a part of the remaining time, which is divided by this.
    pub resume_time_divisor: u32,
    /// Indexes of a cube that are generalized to any index.
    pub quantified_indexes: usize,
    /// Failures after which no cube is generalized to any index, without successes.
    pub quantify_failures: u64,
    /// Further failures that are allowed for each success.
    pub quantify_failures_per_success: u64,
    /// Pairs of indexes or arrays of a cube that are tested for being different.
    pub disequality_pairs: usize,
    /// Indexes of a predicate, and of a transition relation, at which lemmas about any index are
    /// instantiated.
    pub instance_indexes: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    spread_predicates: 8,
    irredundant_lemmas: 200,
    surplus_assumed: 400,
    needed_work_divisor: 4,
    needed_least_work: Duration::from_millis(200),
    needed_lemmas: 1000,
    decided_writes: 4,
    exchange_work: Duration::from_millis(200),
    exchange_work_divisor: 10,
    waiting_lemmas: 100,
    varying_constants: 10,
    elimination_rows: 60,
    least_cluster: 3,
    cluster_uses: 10,
    conjecture_steps: 10,
    least_slopes: 3,
    slope_uses: 20,
    resume_rounds: 4,
    resume_work: Duration::from_secs(60),
    resume_time_divisor: 2,
    quantified_indexes: 3,
    quantify_failures: 60,
    quantify_failures_per_success: 30,
    disequality_pairs: 12,
    instance_indexes: 24,
};
