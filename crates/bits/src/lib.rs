//! Formulas over bit-vectors and Booleans as circuits of gates ([`Blaster`]), gates as clauses of a
//! SAT solver ([`Encoding`]), and the SAT solver ([`sat`]).
//!
//! Invariant: the value of a gate depends only on the values of the inputs. The crate knows no Horn
//! clauses.

mod blast;
mod cnf;
mod gates;
mod limits;
pub mod sat;
#[cfg(test)]
mod tests;

pub use self::blast::{BitVector, BitVectors, Blaster, NotBits};
pub use self::cnf::{Encoding, definition};
pub use self::gates::{Bit, Gate, Gates, Values};
