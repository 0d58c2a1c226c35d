//! Linear constraints over exact rationals: read from literals and written as such, eliminated,
//! refuted.
//!
//! A [`Constraint`] is a polynomial with what it is to zero; its columns are terms, or whatever an
//! algorithm numbers. Kernels that need other representations (matrices of octagons, rows of
//! integers under a model) live where they are used, and read and write through this module.
//!
//! Invariant: nothing here rounds, asks a solver or looks at a model; answers of the simplex come
//! with certificates that can be checked by adding up.

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
