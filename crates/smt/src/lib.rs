//! The SMT oracle: terms to Z3 and back, incremental solvers, cores, implicants, projection,
//! interpolation.
//!
//! Invariant: only this module knows Z3. An `Unknown` of Z3 is passed on as such and never read as
//! `Sat` or `Unsat`; what Z3 returns and we cannot decode is an error, never a panic.

mod context;
mod decode;
mod encode;
mod fixedpoint;
mod implicant;
mod minimal_core;
mod model;
mod solver;
pub mod text;
mod watchdog;

pub use fixedpoint::FixedpointAnswer;
pub use implicant::{ImplicantOptions, implicant, implicant_with, is_simple_bool};
pub use minimal_core::CoreEffort;
pub use model::SmtModel;
pub use solver::{Arithmetic, QueryLimit, SatResult, Smt, Solver};

#[cfg(test)]
mod tests;
