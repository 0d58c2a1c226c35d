//! Reasoning about clauses that engines and passes share.
//!
//! - For any engine: [`Stop`], [`Failure`] and queries that end with the budget ([`ask`],
//!   [`ask_cases`]);
//!   [`confirm()`] for refutations; [`complete_by_reachability`]; [`exchange`] with other
//!   processes; lemmas between turns ([`facts`]).
//! - For linear systems (`bmc`, `kind`, `trl`, `pdkind`; in part `safari`):
//!   [`steps`], [`unroll`], [`trace`], [`reach`], [`window()`].
//! - For engines with lemmas about many clauses (`vinta`, `interp`, `spacer`) and the passes that
//!   prove invariants: [`clauses`], [`houdini`], [`needed_lemmas`] (also for `pdr`
//!   and `ic3`).
//! - For engines over abstract domains (`vinta`, `interp`): [`posts`], and [`ClauseCopy`] for paths
//!   and their derivations.
//! - For datatypes (`cata`, `induct`, `enum`, and passes): [`folds`], [`functions`], [`unfolded`].
//! - For smaller models, in back-translations and before printing: [`solve_acyclic`], [`weaken()`],
//!   [`shrink`].
//! - For engines that solve another system in place of theirs (`cata`, `morph`): [`Derivation`] and
//!   instances of quantified formulas ([`without_quantifiers`], [`with_quantifiers`]).
//!
//! Invariant: no function here returns a verdict except [`confirm()`] and [`with_quantifiers`],
//! which take a refutation. The crate knows neither engines nor passes.

mod acyclic;
mod cases;
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
mod substituted;
pub mod trace;
pub mod unfolded;
pub mod unroll;
mod weaken;
mod window;

pub use acyclic::{Formulas, core_of_all, solve_acyclic};
pub use cases::{ask_cases, cases};
pub use confirm::confirm;
pub use copy::ClauseCopy;
pub use definedness::{make_total, where_defined};
pub use derivation::{Derivation, DerivationStep};
pub use instances::{open_quantifiers, with_quantifiers, without_quantifiers};
pub use models::{complete_by_reachability, negated};
pub use stop::Failure;
pub use stop::{Stop, ask, gave_up, incomplete, undefined, unreadable, values};
pub use substituted::substituted;
pub use weaken::{bounds, weaken};
pub use window::window;
