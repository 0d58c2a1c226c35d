//! Craig interpolation, model-based projection and resolution proofs over the SMT oracle.
//!
//! Invariant: an interpolant is checked by the oracle before it is returned, and a projection of a
//! model implies the existential quantification that it under-approximates.

mod interpolate;
mod project;
mod resolution;

pub use interpolate::{
    InterpolantForm, InterpolationDag, InterpolationEdge, InterpolationError, InterpolationOptions,
    InterpolationOrder, Interpolator,
};
pub use project::{project, project_formula, project_onto};
