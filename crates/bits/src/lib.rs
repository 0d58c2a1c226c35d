//! Formulas over words and Booleans as graphs of gates, and gates as clauses for a SAT solver.
//!
//! Invariant: this module knows no clauses of Horn systems; what a gate means is given by values of
//! the inputs.

mod blast;
mod cnf;
mod gates;
pub mod sat;
#[cfg(test)]
mod tests;

pub use self::blast::{Blaster, NotBits, Word, Words};
pub use self::cnf::{Encoding, definition};
pub use self::gates::{Bit, Gate, Gates, Values};
