//! Linear constraints over exact rationals: conversion from and to literals, elimination of columns,
//! simplex, normal forms of equations.
//!
//! A [`Constraint`] is a linear polynomial and its relation to zero. Its columns are terms or the
//! numbers that an algorithm gives them.
//!
//! Invariant: arithmetic is exact, and the crate uses no solver. The simplex returns Farkas
//! multipliers with each conflict and each optimum.

mod constraint;
mod dense;
mod diophantine;
mod fourier_motzkin;
mod howell;
mod literal;
mod simplex;
mod solved;
mod term_simplex;
#[cfg(test)]
mod tests;

pub use constraint::{Constraint, Relation, is_integral, is_over_int};
pub use dense::{Echelon, affine_hull, inverse, subtract};
pub use diophantine::insoluble;
pub use fourier_motzkin::{ColumnBounds, eliminate};
pub use howell::Howell;
pub use literal::{Comparison, lowered};
pub use simplex::{Multipliers, Simplex};
pub use solved::Solved;
pub use term_simplex::TermSimplex;
