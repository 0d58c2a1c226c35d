//! Constrained Horn clauses: the reader of input files ([`frontend`]), systems of clauses in normal
//! form ([`System`]), their index, dependency graph and cutpoint graph, and printing.
//!
//! A clause of a system is `P1(x1) ∧ … ∧ Pn(xn) ∧ φ ⇒ H(x)` or `… ⇒ false`; the arguments of all
//! its atoms are distinct variables.
//!
//! Invariant: ids of predicates and clauses are never reused within a run, so witnesses can name
//! them across passes. Only `frontend` depends on the syntax of the input; [`to_smtlib`] prints the
//! HORN dialect that it reads.

pub mod cutpoints;
pub mod frontend;
mod graph;
mod index;
mod limits;
mod print;
mod shape;
mod system;

pub use graph::DependencyGraph;
pub use graph::WtoElement;
pub use index::{ClauseIndex, Reachability};
pub use print::to_smtlib;
pub use shape::{Family, Shape, Theories};
pub use system::{Atom, Clause, ClauseId, Predicate, PredicateId, System};
