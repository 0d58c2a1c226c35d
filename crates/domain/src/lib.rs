//! Abstract domains over the arguments of predicates, behind one trait, and their fixpoint.
//!
//! An element describes a set of assignments. It constrains some variables and leaves all others
//! free, so one element serves for a predicate (over its formal variables), for a clause (over all
//! its variables), and for whatever an engine wants to label. Formulas reach a domain as [`Cube`]s.
//!
//! Invariant: every operation over-approximates. Nothing here is trusted for a verdict: whoever
//! uses what [`Domain::formula`] says checks it.

mod abstract_domain;
mod bits;
mod boxes;
mod cases;
pub mod catalogue;
mod closed;
mod cone;
mod congruence;
mod constant;
mod cube;
mod erased;
mod fixpoint;
mod interval;
mod modular;
mod nonempty;
mod octagon;
mod packs;
mod polyhedron;
mod product;
mod word;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_bits;
#[cfg(test)]
mod tests_octagon;

pub use abstract_domain::Domain;
pub use bits::Bits;
pub use bits::spare;
pub use cases::{Cases, Guard, guards};
pub use closed::closed_part;
pub use constant::Constants;
pub use cube::{Cube, Fact, cubes};
pub use erased::{Erased, ErasedElement};
pub use fixpoint::{Limits, analyse, analyse_cubes, clause_cubes};
pub use interval::{Bounds, Intervals};
pub use modular::Modular;
pub use product::Product;
