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
mod interpolate;
mod minimal_core;
mod model;
mod project;
mod proof;
mod solver;
pub mod text;
mod watchdog;

pub use fixedpoint::FixedpointAnswer;
pub use implicant::{ImplicantOptions, implicant, implicant_with};
pub use interpolate::{
    InterpolantForm, InterpolationDag, InterpolationEdge, InterpolationError, InterpolationOptions,
    InterpolationOrder, Interpolator,
};
pub use minimal_core::CoreEffort;
pub use model::SmtModel;
pub use project::{project, project_formula, project_onto};
pub use solver::{Arithmetic, SatResult, Smt, Solver};

#[cfg(test)]
mod tests;
