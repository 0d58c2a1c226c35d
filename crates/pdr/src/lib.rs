//! Property directed reachability with may and must summaries (`pdr`), and abstraction from proofs
//! and counterexamples of bounded systems around it (`spacer`).
//!
//! Invariant: both implement [`alphorn_engine::Engine`] and see only a system of clauses.

pub mod muz;
pub mod pdr;
pub mod spacer;
