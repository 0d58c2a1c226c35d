//! What engines and passes share about proofs: steps of a linear system and their unrolling,
//! reached states as models, inductive subsets, needed lemmas, confirmation.
//!
//! Invariant: nothing here decides a system; who calls it says `Sat` or `Unsat`.

mod confirm;
pub(crate) mod houdini;
mod models;
pub(crate) mod reach;
pub(crate) mod steps;
mod stop;
pub(crate) mod trace;
pub(crate) mod unroll;
mod weaken;

pub(crate) use confirm::confirm;
pub(crate) use models::{complete_by_reachability, negated};
pub use stop::Failure;
pub(crate) use stop::{Stop, ask, gave_up, incomplete, undefined, unreadable, values};
pub(crate) use weaken::{bounds, weaken};
