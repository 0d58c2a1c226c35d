//! The engines `pdr` and `spacer`: property directed reachability with may and must summaries, and
//! abstraction of constraints around it; and `muz`, Z3's own fixedpoint engine.
//!
//! Invariant: each implements [`alphorn_engine::Engine`] and depends on no pass and no other
//! engine's crate; `spacer` uses `pdr` or `muz` as its oracle.

pub mod muz;
pub mod pdr;
pub mod spacer;
