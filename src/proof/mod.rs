//! What engines and passes share about proofs: inductive subsets, needed lemmas, confirmation.
//!
//! Invariant: nothing here decides a system; who calls it says `Sat` or `Unsat`.

mod confirm;
pub(crate) mod houdini;
mod weaken;

pub(crate) use confirm::confirm;
pub(crate) use weaken::{bounds, weaken};
