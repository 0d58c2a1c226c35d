//! Reading: SMT-LIB 2 HORN and Z3's fixedpoint dialect into a [`Problem`].
//!
//! Invariant: what cannot be read exactly is refused with line, column and construct; nothing is
//! guessed. No engine, pass or solver is known here.

mod problem;

pub use problem::{CommandSpan, Dialect, Problem, ProblemClause, Requests};
