//! Witnesses: models and refutations, their validation against the user's text, their printing.
//!
//! Invariant: imports neither `transform` nor an engine, so whoever checks an answer shares no
//! code with who found it, and only `validate` makes a [`Validated`] verdict.

mod step_check;
mod types;

pub use step_check::{Rule, Rules, StepError, SystemRules, check_refutation, check_steps};
pub use types::{Fact, Model, Reason, Refutation, RefutationStep, Verdict};
