//! Limits of the questions about text. They decide how soon an assertion is decided, and whether it
//! is decided within the budget, never how.

use std::time::Duration;

/// What bounds or tunes the methods by which an assertion is checked.
pub(super) struct Limits {
    /// Work of a method's first turn on an assertion, in nominal time.
    pub first_turn_work: Duration,
    /// The work of a turn is this many times that of the turn in the round before. Incremental
    /// solvers continue where they stopped.
    pub turn_growth: u32,
    /// Number of rounds with limited turns; in the round after them, a turn may use the rest of the
    /// budget.
    pub max_limited_rounds: u32,
    /// The incremental solver has this many times the work of a turn, since it decides most
    /// assertions; so has each conclusion of an implication in the first round.
    pub incremental_factor: u32,
    /// From the second round on, each conclusion of an implication has this many times the work of
    /// a turn, and conclusions come first: most hard assertions have many conclusions that are
    /// easier.
    pub conclusion_factor: u32,
    /// The SAT solver has this many times the work of a turn, since it starts anew in each round.
    pub sat_factor: u32,
    /// The translation to integers has this many times the work of a turn if it is exact.
    pub exact_integers_factor: u32,
    /// Its first turn has this part of the work of a turn.
    pub first_integers_divisor: u32,
    /// The first turn of a new solver on an assertion with quantifiers has this part of the work:
    /// what it decides at all, it mostly decides at once.
    pub quantified_divisor: u32,
    /// Number of cases into which a comparison of bit-vectors is split in the translation to
    /// integers; with more, a new integer counts the overflows.
    pub max_comparison_cases: usize,
    /// Number of rounds of instances of quantified formulas, each with the terms of the round
    /// before.
    pub max_instance_rounds: usize,
    /// Number of instances in a round; with more, there are no further instances of the assertion.
    pub max_round_instances: usize,
    /// Number of tuples of terms for the variables of a quantifier; with more, only tuples of
    /// arguments of one application are used.
    pub max_tuples: usize,
    /// Depth of formulas that are instantiated; a deeper one has no instances, since the traversal
    /// is recursive and looks for quantifiers below each node.
    pub max_instance_depth: u32,
    /// Number of combinations of a clause's variables with which a quantifier of an assertion is
    /// instantiated in the check of a step; with more, the quantifier stays.
    pub max_combinations: usize,
    /// Work of a query in the check of a step, in nominal time; then the step is not decided.
    pub step_query_work: Duration,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    first_turn_work: Duration::from_millis(250),
    turn_growth: 4,
    max_limited_rounds: 10,
    incremental_factor: 4,
    conclusion_factor: 16,
    sat_factor: 8,
    exact_integers_factor: 2,
    first_integers_divisor: 4,
    quantified_divisor: 4,
    max_comparison_cases: 9,
    max_instance_rounds: 3,
    max_round_instances: 4000,
    max_tuples: 200,
    max_instance_depth: 1000,
    max_combinations: 256,
    step_query_work: Duration::from_secs(5),
};
