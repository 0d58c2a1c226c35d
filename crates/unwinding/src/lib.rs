//! Engines that unwind the clauses into a graph or tree labelled with interpolants: VINTA,
//! InterpChecker and SAFARI.
//!
//! Invariant: each implements [`alphorn_engine::Engine`] and sees only a system of clauses; none
//! calls another.

pub mod interp;
pub mod safari;
pub mod vinta;
