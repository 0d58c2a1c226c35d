//! Exact linear arithmetic over rationals, apart from terms and solvers.
//!
//! Invariant: nothing here rounds; answers come with certificates that can be checked by adding up.

mod simplex;

pub use simplex::{Multipliers, Optimum, Relation, Simplex, SparseRow};
