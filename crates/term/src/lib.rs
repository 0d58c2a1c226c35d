//! Sorts and hash-consed terms, and the limits of a run ([`run`]).
//!
//! A term is a [`TermId`], a four-byte index into a [`TermStore`]. Structurally equal terms have
//! equal ids, so comparison and hashing do not look at the structure. Constructors simplify: they
//! fold constants, keep sums and comparisons in linear normal form and flatten conjunctions.
//!
//! # Invariant
//! Values are canonical: two values are equal if and only if their ids are equal, also values of
//! arrays and datatypes. Comparisons over Int have coprime coefficients and rounded bounds:
//! `2 x <= 5` is the term `x <= 2`.
//!
//! Traversals of terms are iterative, so that memory bounds the depth of a term, not the stack;
//! only printing recurses into the bodies of quantifiers. The crate knows no clauses, predicates or
//! solvers.

mod arrays;
mod bitvec;
mod build;
mod chunks;
mod datatypes;
mod evaluate;
mod finite;
mod functions;
mod limits;
mod linear;
mod measure;
mod meter;
mod names;
mod node;
mod print;
mod random;
pub mod rational;
pub mod run;
mod sort;
mod store;
mod walk;

pub use evaluate::{Assignment, Evaluator, evaluate, evaluate_with};
pub use functions::{Function, FunctionId};
pub use linear::Linear;
pub use node::{Node, Op, TermId};
pub use print::{DatatypeStyle, Printer, quote_symbol};
pub use random::Random;
pub use sort::{Constructor, Datatype, DatatypeId, Field, Sort, SortId};
pub use store::{Scope, TermStore};

pub use num_bigint::{BigInt, BigUint};
/// Exact rational numbers, the values of sort Real.
pub type Rational = num_rational::BigRational;
