//! The limits of `cata`, except for the turns of encoders.
//!
//! Invariant: a limit decides whether and when there is an answer, never which one.

use std::time::Duration;

/// What the engine may use.
pub(super) struct Limits {
    /// Bits of a state of an automaton.
    pub automaton_bits: usize,
    /// Work for automata with each number of bits: at first, and after all encoders have had a
    /// turn.
    pub automaton_work: [Duration; 2],
    /// Encoders with factors that have a turn at first.
    pub factor_encoders: usize,
    /// Work for all of these turns.
    pub factor_work: Duration,
    /// Work for the query whether a derivation by codes is one of the clauses.
    pub derivation_work: Duration,
    /// Steps of such a derivation; longer ones are not checked.
    pub derivation_steps: usize,
    /// Booleans that index a table; with more there is no automaton.
    pub table_bits: usize,
    /// Booleans of a clause that are instantiated; with more there is no automaton.
    pub clause_bits: usize,
    /// Instances of all clauses; with more there is no automaton.
    pub instances: usize,
}

pub(super) const LIMITS: Limits = Limits {
    automaton_bits: 2,
    automaton_work: [Duration::from_millis(200), Duration::from_secs(4)],
    factor_encoders: 3,
    factor_work: Duration::from_secs(4),
    derivation_work: Duration::from_secs(2),
    derivation_steps: 400,
    table_bits: 10,
    clause_bits: 14,
    instances: 80_000,
};
