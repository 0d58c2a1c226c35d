//! Bounded model checking, and engines for linear clauses as transition systems.
//!
//! Invariant: each implements [`alphorn_engine::Engine`] and sees only a system of clauses; none
//! calls another.

pub mod bmc;
pub mod dar;
pub mod ic3;
pub mod kind;
pub mod pdkind;
pub mod tpa;
pub mod trl;
