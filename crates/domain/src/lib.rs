//! Abstract domains over the arguments of predicates, with one trait, and their fixpoint.
//!
//! An element describes a set of assignments. It constrains some variables and leaves all others
//! free, so the same type describes facts of a predicate (over its formal variables) and instances
//! of a clause (over all its variables). Constraints reach a domain as [`Cube`]s.
//!
//! Invariant: every operation over-approximates. No verdict relies on it: engines and passes check
//! the formulas of elements.

mod abstract_domain;
mod bits;
mod bitvec;
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
mod nothing;
mod octagon;
mod packs;
mod polyhedron;
mod product;
pub mod sparse;

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
