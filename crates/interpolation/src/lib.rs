//! Craig interpolation and model-based projection over the SMT oracle.
//!
//! Invariant: a projection holds in its model and implies the existential quantification that it
//! under-approximates. An interpolant is composed of parts that queries have confirmed; with
//! [`InterpolationOptions::check`], the default in debug builds, it is proven again as a whole. No
//! verdict relies on either.

mod interpolate;
mod project;
mod resolution;

pub use interpolate::{
    InterpolantForm, InterpolationDag, InterpolationEdge, InterpolationError, InterpolationOptions,
    InterpolationOrder, Interpolator,
};
pub use project::{project, project_formula, project_onto};
