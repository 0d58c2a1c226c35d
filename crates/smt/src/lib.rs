//! Z3 as the SMT oracle: encoding and decoding of terms, incremental solvers with models and cores,
//! implicants, Z3's fixedpoint engine, and questions about SMT-LIB text ([`text`]).
//!
//! This is the only crate that depends on `z3-sys`, and no type of `z3-sys` is in its interface. It
//! is part of the trusted base; which of it a verdict relies on is said in `alphorn_witness`.
//!
//! # Invariant
//! An `unknown` of Z3 is returned as [`SatResult::Unknown`] and never taken for `sat` or `unsat`. A
//! term of Z3 that cannot be decoded is a [`DecodeError`], and a formula that cannot be encoded
//! makes the answers of its solver `Unknown`; neither is a panic.

mod context;
mod decode;
mod encode;
mod fixedpoint;
mod implicant;
mod limits;
mod minimal_core;
mod model;
mod solver;
pub mod text;
mod watchdog;

pub use fixedpoint::FixedpointAnswer;
pub use implicant::{ImplicantOptions, implicant, implicant_with, is_simple_bool};
pub use minimal_core::CoreEffort;
pub use model::SmtModel;
pub use solver::{Arithmetic, DecodeError, QueryLimit, SatResult, Smt, Solver};

#[cfg(test)]
mod tests;
