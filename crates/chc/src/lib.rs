//! Constrained Horn clauses in normal form, their index, and the predicate dependency graph.
//!
//! A clause is `P1(x1) ∧ … ∧ Pn(xn) ∧ φ ⇒ H(x)` or `… ⇒ false`; the arguments of all its atoms are
//! distinct variables, so everything a clause says is in φ. Invariant: ids of predicates and
//! clauses are never reused within a run, so witnesses can name them across transformations.
//! Nothing here knows the input's syntax.

pub mod cutpoints;
pub mod frontend;
mod graph;
mod index;
mod print;
mod shape;
mod system;

pub use graph::DependencyGraph;
pub use graph::WtoElement;
pub use index::{ClauseIndex, Reachability};
pub use print::to_smtlib;
pub use shape::{Shape, Theories};
pub use system::{Atom, Clause, ClauseId, Predicate, PredicateId, System};
