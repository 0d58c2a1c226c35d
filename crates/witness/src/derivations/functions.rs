//! Models that define predicates by total functions, beside a proof by induction on derivations.
//!
//! Such a model I says of P with inputs x and outputs y that `D(x) ∧ y = f(x)`, where f is a recursive
//! function. A solver without induction cannot show that the queries hold in I. But the proof shows that
//! they hold in the least model M of the clauses. So it is enough that
//!
//! 1. *the functions exist*: in each recursive call a measure falls (`certificate`);
//! 2. *I is contained in M*: each fact of I follows by a clause from facts of I that are smaller, if
//!    they are of a mutually recursive predicate, by a measure of the predicates. By induction on that
//!    measure the fact has a derivation. The witness names the clause, and the values of its variables;
//! 3. *each clause with a head holds in I*. Here the proof's lemmas about one fact may be used for the
//!    body's facts and for the head, since by 2 the former have derivations, and so has the latter.
//!
//! By 2 a query whose body holds in I has a body that holds in M, which the proof refutes. So all clauses
//! hold in I, and by the proof's own questions they imply the assertions of the text. The functions are
//! uninterpreted, with the equations of those calls that the witness names (`questions::functions`), and
//! the questions have no quantifiers but those outside.
//!
//! # Invariant
//! The outcome is `Valid` only if the proof passed, and all questions of the three parts are valid.

use super::super::certificate::existing_functions;
use super::super::script::Changes;
use super::super::validate::{CheckOutcome, foreign_definitions};
use super::check::{answered, check_derivations};
use super::questions::function_questions;
use super::{DerivedText, ProofText};
use crate::parse::ModelText;
use crate::sexp::symbol;
use alphorn_chc::frontend::Problem;
use alphorn_term::run::Budget;

/// A model by functions as it was read.
#[derive(Clone, Debug)]
pub struct FunctionsText {
    /// The definitions, with measures of the functions.
    pub model: ModelText,
    /// Why the facts have derivations.
    pub derived: Vec<DerivedText>,
}

/// Checks a proof, and a model by functions, which were read from `text`.
pub fn check_functions(
    problem: &Problem,
    proof: &ProofText,
    functions: &FunctionsText,
    text: &str,
    budget: &Budget,
) -> CheckOutcome {
    match check_derivations(problem, proof, text, budget) {
        CheckOutcome::Valid => {}
        outcome => return outcome,
    }
    if let Err(message) = foreign_definitions(problem, &functions.model) {
        return CheckOutcome::Invalid(message);
    }
    let Some(certificate) = &functions.model.certificate else {
        return CheckOutcome::Invalid("the functions have no measures".to_owned());
    };
    let existing = match existing_functions(problem, certificate, text, budget) {
        Ok(existing) => existing,
        Err(outcome) => return outcome,
    };
    let is_function = |name: &str| existing.symbols.iter().any(|f| symbol(&f.shown) == name);
    let is_known =
        |name: &str| is_function(name) || problem.predicates.iter().any(|p| p.name == name);
    if let Some(name) = functions.model.names.iter().find(|name| !is_known(name)) {
        return CheckOutcome::Invalid(format!("{name} is neither a predicate nor recursive"));
    }
    let definitions = format!("{}{}", existing.declarations, existing.predicates);
    let changes = Changes::new(problem, &[text, &definitions]);
    let derived = &functions.derived;
    let others = format!("{text}{definitions}");
    let asked = function_questions(problem, proof, derived, &existing, &others, &changes);
    answered(asked, budget)
}
