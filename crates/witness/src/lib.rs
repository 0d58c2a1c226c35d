//! Witnesses of answers: models and refutations, their check against the user's text, certificates,
//! printing and reading.
//!
//! # The trusted base
//! An answer is printed only if its witness passes the check in this crate ([`validate()`]). The
//! crate depends on `alphorn-term`, `alphorn-chc` and `alphorn-smt` and on no engine, pass or
//! strategy; Cargo enforces this. The four crates are the trusted base. They are not disjoint from
//! what the engines use: engines have the same terms, the same reader and the same Z3 contexts
//! (`smt::context`). A verdict relies on the following parts of them.
//!
//! **Both verdicts**
//! - libz3: its parser, simplifier and solvers.
//! - The division of the text into commands (`chc::frontend`, `Problem::commands`, the dialect).
//! - `script`, `dialect` and [`sexp`], which cut, change and join the text; `smt::context` and
//!   `smt::text`, which pass it to Z3's parser and ask about it.
//! - [`validate()`] and the program that prints its result.
//!
//! **`sat`.** The definitions that are checked are the text that is printed, so neither the
//! reader's formulas nor the printing of terms are trusted.
//! - `smt::text::valid_assertions`, with its translations of assertions (uninterpreted functions,
//!   integers, instances).
//! - For a model with recursive functions, `certificate`, which shows that the functions exist and
//!   that the lemmas hold, and `smt::text::valid_in_some`.
//! - For sizes of datatypes, which are recursive functions without a certificate, `term::measure`,
//!   which writes their definitions, and the reader's datatypes. Any other recursive definition
//!   without a certificate is rejected.
//!
//! A proof by induction on derivations needs `derivations` instead: that its cases are complete and
//! that the instances in it are smaller. Its questions, and that the clauses as they are printed
//! imply the text's assertions, are put to `smt::text::valid_assertions`. A model by functions that is
//! printed with it needs part 1 of `certificate`, too, and the questions of `derivations::functions`.
//!
//! **`unsat`.** A refutation has to pass two checks, so a mistake in the reader, in terms or in
//! evaluation alone does not make a wrong `unsat`.
//! - `smt::text::implied_steps`, which shows that each step follows from the assertion that it
//!   names, and the text that `text_check` writes for it.
//! - That `step_check` rejects derivations whose premises come later, or that do not end with
//!   `false`.
//!
//! # Invariant
//! Only the functions of the module `validate` make a [`Validated`] verdict of `sat` or `unsat`,
//! and only after the check of its witness.

mod certificate;
mod comments;
mod derivations;
mod dialect;
mod forms;
mod formulas;
mod limits;
mod parse;
mod print;
mod recursive;
mod script;
pub mod sexp;
mod standalone;
mod step_check;
mod tables;
mod text_check;
mod types;
mod validate;
mod value;
mod z3_proof;
mod z3_read;

pub use derivations::{compare_derivations, supports_derivations};
pub use formulas::model_of_text;
pub use parse::{Claim, DerivationsText, ModelText, ParseError, Witness, parse_witness};
pub use print::ProofFormat;
pub use standalone::none as no_certificate;
pub use step_check::{Rule, Rules, StepError, SystemRules, check_refutation, check_steps};
pub use types::{
    Affine, Case, ClauseStep, Derivations, Derived, Existence, Fact, FunctionModel, Instance,
    Lemma, Model, ProofNode, Refutation, RefutationStep, RelationalLemma, Total, TotalCase,
    Verdict,
};
pub use validate::{
    CheckOutcome, Output, UndecidedModel, Validated, Wanted, check_claim, string_literal, validate,
    value_in_model,
};
pub use validate::{validate_candidate, validate_replacement, with_function_model};
