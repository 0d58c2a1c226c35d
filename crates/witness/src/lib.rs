//! Witnesses: models and refutations, their validation against the user's text, their printing.
//!
//! Invariant: imports neither `transform` nor an engine, so whoever checks an answer shares no
//! code with who found it, and only the module `validate` makes a [`Validated`] verdict.

mod certificate;
mod forms;
mod formulas;
mod parse;
mod print;
mod script;
pub mod sexp;
mod standalone;
mod step_check;
mod text_check;
mod types;
mod validate;
mod value;
mod z3_proof;

pub use formulas::model_of_text;
pub use parse::{Claim, ModelText, ParseError, Witness, parse_witness};
pub use print::ProofFormat;
pub use standalone::none as no_certificate;
pub use step_check::{StepError, check_refutation};
pub use step_check::{SystemRules, check_steps};
pub use types::{Case, Fact, Lemma, Model, Refutation, RefutationStep, Verdict};
pub use validate::{Outcome, Output, Validated, Wanted, check_claim, string_literal, validate};
pub use validate::{validate_guess, validate_other};
