//! The limits of `enum`.
//!
//! Invariant: a limit decides whether and when there is an answer, never which one.

use std::time::Duration;

/// What the engine may use.
pub(super) struct Limits {
    /// Work for the query for the values of a derivation.
    pub query_work: Duration,
    /// Bound on the number of choices up to which there are no random runs.
    pub ordered_choices: usize,
    /// Random runs may take one part in this many of the resolutions of ordered search.
    pub random_parts: u64,
    /// Rules that a random run tries before it ends.
    pub random_tries: usize,
    /// Nested choices of a random run.
    pub random_choices: usize,
    /// Resolutions between two choices, times the number of choices and one; with more, the search
    /// goes back to the last choice.
    pub resolutions: usize,
    /// Resolutions that follow from a rule that is only tried.
    pub trial_resolutions: usize,
    /// Atoms whose rules are tried before a choice.
    pub tried_atoms: usize,
    /// Atoms of one derivation; with more, the search goes back to the last choice.
    pub atoms: usize,
    /// Resolutions after which work is counted and the budget is checked.
    pub resolutions_per_check: u64,
    /// Pairs of terms that one unification or disequation visits; with more it fails.
    pub pairs: usize,
    /// Bounds that move in one propagation before constraints have to wait for values.
    pub bound_moves: usize,
    /// Rules of one clause; with more, further cases stay guards.
    pub rules_per_clause: usize,
    /// Nested constructors in a pattern; with more, the system is not supported.
    pub pattern_depth: usize,
}

pub(super) const LIMITS: Limits = Limits {
    query_work: Duration::from_millis(100),
    ordered_choices: 3,
    random_parts: 2,
    random_tries: 60,
    random_choices: 40,
    resolutions: 300,
    trial_resolutions: 60,
    tried_atoms: 4,
    atoms: 100_000,
    resolutions_per_check: 16,
    pairs: 10_000,
    bound_moves: 64,
    rules_per_clause: 64,
    pattern_depth: 200,
};
