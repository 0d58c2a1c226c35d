//! Bounded model checking, and engines for linear clauses seen as transition systems.
//!
//! Invariant: each implements [`alphorn_engine::Engine`]; none calls another engine.

pub mod bmc;
pub mod ic3;
pub mod kind;
pub mod pdkind;
pub mod trl;
