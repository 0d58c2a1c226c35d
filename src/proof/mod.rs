//! What engines and passes share about proofs: clauses in solvers, inductive subsets, needed
//! lemmas, smaller models; steps of a linear system and their unrolling, reached states as models; confirmation.
//!
//! Invariant: nothing here decides a system; who calls it says `Sat` or `Unsat`. It knows neither
//! engines nor passes.

mod acyclic;
pub(crate) mod clauses;
mod confirm;
mod copy;
mod definedness;
mod derivation;
pub(crate) mod exchange;
pub(crate) mod facts;
pub(crate) mod folds;
pub(crate) mod functions;
pub(crate) mod houdini;
mod instances;
mod models;
pub(crate) mod needed_lemmas;
pub(crate) mod posts;
pub(crate) mod reach;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod shrink;
pub(crate) mod steps;
mod stop;
pub(crate) mod trace;
pub(crate) mod unfolded;
pub(crate) mod unroll;
mod weaken;
mod window;

pub(crate) use acyclic::{Formulas, core_of_all, solve_acyclic};
pub(crate) use confirm::confirm;
pub(crate) use copy::ClauseCopy;
pub(crate) use definedness::{make_total, where_defined};
pub(crate) use derivation::{Derivation, DerivationStep};
pub(crate) use instances::{open_quantifiers, with_quantifiers, without_quantifiers};
pub(crate) use models::{complete_by_reachability, negated};
pub use stop::Failure;
pub(crate) use stop::{Stop, ask, gave_up, incomplete, undefined, unreadable, values};
pub(crate) use weaken::{bounds, weaken};
pub(crate) use window::window;
