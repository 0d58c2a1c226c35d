//! The limits of `templates`.
//!
//! Invariant: a limit decides whether and when there is an answer, never which one.

use std::ops::Range;
use std::time::Duration;

/// What the engine may use.
pub(super) struct Limits {
    /// Facts that simulation derives; with half of them hardly a guess is inductive.
    pub states: usize,
    /// Execution and simulation get one part in this many of the remaining time, as work.
    pub simulation_parts: u32,
    /// They may take at most this many times as long by the clock, since many small queries take
    /// more time than is counted as work.
    pub time_per_work: u32,
    /// Work for a query about wide bit-vectors, whose sums are hard for the solver.
    pub bit_vector_query_work: Duration,
    /// Values of an argument; if it has at most this number in all facts, it is compared with each.
    pub values_per_argument: usize,
    /// Numbers, or bit-vectors, of a predicate that are compared with each other.
    pub compared_arguments: usize,
    /// Numbers of a predicate whose differences have bounds.
    pub subtracted_arguments: usize,
    /// Atoms about a predicate, and comparisons in a clause; further ones are ignored.
    pub atoms: usize,
    /// Conditions under which formulas are guessed.
    pub conditions: usize,
    /// Guesses of one kind about a predicate; further ones are dropped.
    pub candidates: usize,
    /// Numbers whose products are considered; with more independent ones there are no products.
    pub factors: usize,
    /// Conditions under which equations of products are guessed.
    pub product_conditions: usize,
    /// Comparisons that are conditions of equations, and equations of products whose bounds are
    /// guessed for other predicates.
    pub cases: usize,
    /// Remainders in equations.
    pub remainders: usize,
    /// Bit-vector arguments of a predicate; with more there are no equations of bit-vectors.
    pub bit_vectors: usize,
    /// Bits of the factors of an equation under a condition; those with larger ones are dropped.
    pub factor_bits: u64,
    /// Steps of the runs of a simulation, in turn: short runs give variety, long ones show how far
    /// counters get.
    pub run_steps: [usize; 4],
    /// Preferences for the values of a step's variables.
    pub preferences: usize,
    /// The numbers that preferences choose from.
    pub preferred_numbers: Range<i64>,
    /// Facts from which a premise is chosen.
    pub premise_choices: usize,
    /// Facts that are drawn to find these, and choices of premises that are executed for a step.
    pub premise_draws: usize,
    /// Steps that simulation tries per fact that it should derive.
    pub tries_per_state: usize,
    /// Variables of a query that get values together.
    pub inputs: usize,
    /// Sets of such variables for one query.
    pub input_sets: usize,
    /// Combinations of values for one set of small inputs.
    pub input_combinations: u64,
    /// Values of a single input in a sweep: enough for sums of the first numbers to wrap at 32
    /// bits. The calls of one value were mostly answered for the values before it.
    pub sweep_inputs: u64,
    /// Nested calls; a deeper call has no answer.
    pub call_depth: usize,
}

pub(super) const LIMITS: Limits = Limits {
    states: 600,
    simulation_parts: 4,
    time_per_work: 2,
    bit_vector_query_work: Duration::from_secs(1),
    values_per_argument: 6,
    compared_arguments: 12,
    subtracted_arguments: 8,
    atoms: 400,
    conditions: 40,
    candidates: 1500,
    factors: 6,
    product_conditions: 12,
    cases: 8,
    remainders: 4,
    bit_vectors: 24,
    factor_bits: 4,
    run_steps: [10, 30, 100, 300],
    preferences: 6,
    preferred_numbers: -3..13,
    premise_choices: 12,
    premise_draws: 48,
    tries_per_state: 10,
    inputs: 3,
    input_sets: 64,
    input_combinations: 64,
    sweep_inputs: 1 << 17,
    call_depth: 100,
};
