//! What engines and passes share about proofs: clauses in solvers, inductive subsets, needed
//! lemmas, smaller models; steps of a linear system and their unrolling, reached states as models; confirmation.
//!
//! Invariant: nothing here decides a system; who calls it says `Sat` or `Unsat`. It knows neither
//! engines nor passes.

mod acyclic;
pub mod clauses;
mod confirm;
mod copy;
mod definedness;
mod derivation;
pub mod exchange;
pub mod facts;
pub mod folds;
pub mod functions;
pub mod houdini;
mod instances;
mod models;
pub mod needed_lemmas;
pub mod posts;
pub mod reach;
pub mod shrink;
pub mod steps;
mod stop;
pub mod trace;
pub mod unfolded;
pub mod unroll;
mod weaken;
mod window;

pub use acyclic::{Formulas, core_of_all, solve_acyclic};
pub use confirm::confirm;
pub use copy::ClauseCopy;
pub use definedness::{make_total, where_defined};
pub use derivation::{Derivation, DerivationStep};
pub use instances::{open_quantifiers, with_quantifiers, without_quantifiers};
pub use models::{complete_by_reachability, negated};
pub use stop::Failure;
pub use stop::{Stop, ask, gave_up, incomplete, undefined, unreadable, values};
pub use weaken::{bounds, weaken};
pub use window::window;
