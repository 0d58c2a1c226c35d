//! Sorts and hash-consed terms, the common language of every stage.
//!
//! A term is a [`TermId`], a four-byte index into a [`TermStore`]; equal terms have equal ids, so
//! comparison and hashing never look at the structure. Construction simplifies lightly (constant
//! folding, linear normal form of sums and comparisons, flattened conjunctions); anything costlier
//! is a pass of its own.
//!
//! Invariant: nothing in this module knows clauses, predicates or a solver, and every traversal is
//! iterative, so the depth of a term is bounded by memory and not by the stack.

mod arrays;
mod bitvec;
mod build;
mod datatypes;
mod evaluate;
mod finite;
mod functions;
mod linear;
mod measure;
mod meter;
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
