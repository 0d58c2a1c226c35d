//! The check of a proof by induction on derivations.
//!
//! # Invariant
//! The outcome is `Valid` only if `questions` accepts the proof's form and Z3 finds each of its
//! questions valid, as many as were asked.

use super::super::script::Changes;
use super::super::validate::CheckOutcome;
use super::ProofText;
use super::questions::{Questions, Refusal, questions};
use alphorn_chc::frontend::Problem;
use alphorn_smt::text::{TextCheck, valid_assertions};
use alphorn_term::run::Budget;

/// Checks a proof that was read from `text`.
pub fn check_derivations(
    problem: &Problem,
    proof: &ProofText,
    text: &str,
    budget: &Budget,
) -> CheckOutcome {
    let changes = Changes::new(problem, &[text]);
    answered(questions(problem, proof, &changes), budget)
}

/// The outcome of questions.
pub(super) fn answered(asked: Result<Questions, Refusal>, budget: &Budget) -> CheckOutcome {
    let asked = match asked {
        Ok(asked) => asked,
        Err(Refusal::Wrong(message)) => return CheckOutcome::Invalid(message),
        Err(Refusal::Unsupported(message)) => return CheckOutcome::undecided(message),
    };
    let mut script = asked.commands;
    for (_, formula) in &asked.formulas {
        script.push_str("(assert ");
        script.push_str(formula);
        script.push_str(")\n");
    }
    let what = |at: usize| asked.formulas.get(at).map_or("a question", |f| &f.0);
    match valid_assertions(&script, budget) {
        TextCheck::Valid { assertions } if assertions == asked.formulas.len() => {
            CheckOutcome::Valid
        }
        TextCheck::Valid { assertions } => CheckOutcome::undecided(format!(
            "Z3 read {assertions} questions of {}",
            asked.formulas.len()
        )),
        TextCheck::Invalid { assertion } => {
            CheckOutcome::Invalid(format!("{} does not hold", what(assertion)))
        }
        TextCheck::Unknown { assertion, reason } => {
            CheckOutcome::undecided(format!("{}: {reason}", what(assertion)))
        }
        TextCheck::Malformed(message) => {
            CheckOutcome::Invalid(format!("Z3 rejects the proof: {message}"))
        }
    }
}
