//! The last word on every answer: a witness is checked against the user's own text, and what does
//! not pass is not printed.
//!
//! A model is checked as the very text that the user would get. A refutation is checked twice: by
//! evaluation, step by step, against the clauses as they were read, and against the text, since
//! they may have been read wrong (`text_check`).
//!
//! Invariant: [`Validated`] is made here only, and only it has a verdict to print. An answer that
//! fails is `unknown`, is logged as a defect and counted as `witness.failures`.

use std::cell::Cell;
use std::time::Instant;

use rustc_hash::FxHashSet;

use super::certificate::check_certificate;
use super::parse::{Claim, ModelText, Witness, parse_witness};
use super::print::{PrintedModel, ProofFormat, model_text, printed_model};
use super::print::{refutation_json, refutation_text};
use super::sexp::{TokenKind, Tokens, symbol};
use super::standalone::certificate;
use super::step_check::check_steps;
use super::text_check::{check_definitions, check_steps_in_text};
use super::z3_proof::refutation_z3;
use super::{Model, Refutation, Verdict};
use alphorn_chc::frontend::{Dialect, Problem};
use alphorn_term::run::{Budget, Context, Reason};
use alphorn_term::{TermId, TermStore};

/// A verdict whose witness has passed its check, or `Unknown`.
pub struct Validated {
    verdict: Verdict,
    /// The model as it was checked; empty for another verdict.
    model: PrintedModel,
}

/// What to print besides the verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    pub model: bool,
    pub proof: Option<ProofFormat>,
    /// Why the answer is `unknown`, on standard output.
    pub reason_unknown: bool,
}

/// What goes to standard output for a verdict.
#[derive(Clone, Debug)]
pub struct Output {
    word: &'static str,
    details: String,
}

impl Output {
    /// The verdict's line is to be printed and flushed first.
    pub fn word(&self) -> &'static str {
        self.word
    }

    /// What follows the verdict's line: nothing, or whole lines.
    pub fn details(&self) -> &str {
        &self.details
    }

    /// The output of a run that ends without an answer.
    pub fn unknown(reason: &Reason, wanted: Wanted) -> Output {
        Output {
            word: "unknown",
            details: if wanted.reason_unknown {
                format!(
                    "(:reason-unknown {})\n",
                    string_literal(&reason.to_string())
                )
            } else {
                String::new()
            },
        }
    }
}

/// A string as SMT-LIB writes it, on one line.
pub fn string_literal(text: &str) -> String {
    let line = text.replace(['\n', '\r'], " ");
    format!("\"{}\"", line.replace('"', "\"\""))
}

impl Validated {
    /// A run without an answer; there is nothing to check.
    pub fn unknown(reason: Reason) -> Validated {
        Validated {
            verdict: Verdict::Unknown(reason),
            model: PrintedModel::default(),
        }
    }

    /// The verdict about the clauses.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Whether there is a model that speaks of sizes of terms, and whether of other recursive
    /// functions.
    pub fn functions(&self, terms: &TermStore) -> (bool, bool) {
        let Verdict::Sat(model) = &self.verdict else {
            return (false, false);
        };
        let formulas: Vec<TermId> = model.definitions.values().copied().collect();
        let sizes = !terms.size_definitions(&formulas).is_empty();
        (sizes, !terms.function_groups(&formulas).is_empty())
    }

    /// Why there is no answer.
    pub fn reason(&self) -> Option<&Reason> {
        match &self.verdict {
            Verdict::Unknown(reason) => Some(reason),
            _ => None,
        }
    }

    /// A certificate that any solver can confirm, as SMT-LIB (see docs/src/certificates.md). That of a
    /// refutation is checked within the budget as it is written.
    ///
    /// # Errors
    /// Why there is none, for an answer that has one.
    pub fn certificate(&self, problem: &Problem, budget: &Budget) -> Result<String, String> {
        certificate(problem, &self.verdict, &self.model, budget)
    }

    /// What to print. In the fixedpoint dialect `sat` means that the query is reachable, which is
    /// the opposite of satisfiable clauses.
    pub fn output(&self, problem: &Problem, wanted: Wanted) -> Output {
        let satisfiable = match &self.verdict {
            Verdict::Unknown(reason) => return Output::unknown(reason, wanted),
            Verdict::Sat(_) => true,
            Verdict::Unsat(_) => false,
        };
        let details = match (&self.verdict, wanted.proof) {
            (Verdict::Sat(_), _) if wanted.model => model_text(&self.model),
            (Verdict::Unsat(refutation), Some(ProofFormat::Text)) => {
                refutation_text(problem, refutation)
            }
            (Verdict::Unsat(refutation), Some(ProofFormat::Json)) => {
                refutation_json(problem, refutation)
            }
            (Verdict::Unsat(refutation), Some(ProofFormat::Z3)) => {
                refutation_z3(problem, refutation)
            }
            _ => String::new(),
        };
        Output {
            word: word(problem.dialect, satisfiable),
            details,
        }
    }
}

fn word(dialect: Dialect, satisfiable: bool) -> &'static str {
    if satisfiable == (dialect == Dialect::Horn) {
        "sat"
    } else {
        "unsat"
    }
}

/// Checks an answer about `problem` within the context's limits. Nothing but an `Unknown` passes
/// without a check.
pub fn validate(problem: &Problem, verdict: Verdict, cx: &mut Context) -> Validated {
    if let Verdict::Unknown(reason) = verdict {
        return Validated::unknown(reason);
    }
    let (printed, outcome) = checked(problem, &verdict, cx);
    conclude(verdict, printed, outcome, cx)
}

/// As [`validate`] for an answer that may well be wrong, as it is about other clauses: none if it
/// does not pass.
pub fn validate_guess(problem: &Problem, verdict: Verdict, cx: &mut Context) -> Option<Validated> {
    let (model, outcome) = checked(problem, &verdict, cx);
    if outcome != Outcome::Valid {
        log::debug!("a guess does not pass: {outcome:?}");
        return None;
    }
    Some(Validated { verdict, model })
}

/// A model as it is printed, and what the check of a witness says.
fn checked(problem: &Problem, verdict: &Verdict, cx: &mut Context) -> (PrintedModel, Outcome) {
    let start = Instant::now();
    let none = PrintedModel::default();
    let found = match verdict {
        Verdict::Unknown(reason) => (none, Outcome::Undecided(reason.to_string())),
        Verdict::Sat(model) => match printed_model(problem, model) {
            Ok(printed) => {
                log::trace!("to be checked:\n{}", printed.definitions.join("\n"));
                let outcome = check_printed(problem, &printed, &cx.budget);
                (printed, outcome)
            }
            Err(message) => (none, Outcome::Invalid(message)),
        },
        Verdict::Unsat(refutation) => {
            let outcome = check_refutation_of(problem, refutation, &cx.budget);
            (none, outcome)
        }
    };
    cx.stats.add_time("witness.check", start.elapsed());
    found
}

/// Another model of the problem, if it passes its check within the context's limits. It is to
/// take the place of one that has passed, so without an answer nothing is lost.
pub fn validate_other(problem: &Problem, model: Model, cx: &mut Context) -> Option<Validated> {
    let verdict = Verdict::Sat(model);
    let (model, outcome) = checked(problem, &verdict, cx);
    match outcome {
        Outcome::Valid => return Some(Validated { verdict, model }),
        Outcome::Invalid(message) => {
            log::error!("defect: another model failed its check: {message}");
            cx.stats.add("witness.failures", 1);
        }
        Outcome::Undecided(message) => {
            log::debug!("another model could not be checked: {message}");
        }
    }
    None
}

/// A verdict, if the check of its witness says so.
fn conclude(
    verdict: Verdict,
    model: PrintedModel,
    outcome: Outcome,
    cx: &mut Context,
) -> Validated {
    let witness = match verdict {
        Verdict::Sat(_) => "model",
        _ => "refutation",
    };
    match outcome {
        Outcome::Valid => Validated { verdict, model },
        Outcome::Invalid(message) => {
            log::error!("defect: a {witness} failed its check: {message}");
            cx.stats.add("witness.failures", 1);
            Validated::unknown(Reason::WitnessFailed(format!("a {witness}: {message}")))
        }
        Outcome::Undecided(message) => {
            log::warn!("the {witness} could not be checked: {message}");
            cx.stats.add("witness.undecided", 1);
            let reason = cx.stop().unwrap_or_else(|| {
                Reason::Incomplete(format!("the {witness} could not be checked: {message}"))
            });
            Validated::unknown(reason)
        }
    }
}

/// The result of checking somebody's witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    Valid,
    /// With what fails.
    Invalid(String),
    /// With why it could not be decided.
    Undecided(String),
}

/// Checks a witness from anywhere, within the context's limits.
pub fn check_claim(problem: &Problem, claim: &Claim, cx: &mut Context) -> Outcome {
    let satisfiable = matches!(claim.witness, Witness::Model(_));
    let expected = word(problem.dialect, satisfiable);
    if claim.sat.is_some_and(|sat| sat != (expected == "sat")) {
        let what = if satisfiable {
            "a model"
        } else {
            "a refutation"
        };
        return Outcome::Invalid(format!("{what} means {expected} for this file"));
    }
    match &claim.witness {
        Witness::Model(model) => check_model(problem, model, &cx.budget),
        Witness::Refutation(refutation) => check_refutation_of(problem, refutation, &cx.budget),
    }
}

/// Checks a model of ours: one with a certificate as anybody else's, from its text.
fn check_printed(problem: &Problem, model: &PrintedModel, budget: &Budget) -> Outcome {
    if model.certificate.is_empty() {
        return check_definitions(problem, &model.definitions.join("\n"), budget);
    }
    match parse_witness(problem, &model_text(model)) {
        Ok(Claim {
            witness: Witness::Model(model),
            ..
        }) => check_model(problem, &model, budget),
        Ok(_) => Outcome::Invalid("it is read as something else".to_owned()),
        Err(error) => Outcome::Invalid(format!("it is not read again: {error}")),
    }
}

/// Checks the text of a model.
fn check_model(problem: &Problem, model: &ModelText, budget: &Budget) -> Outcome {
    match (foreign_definitions(problem, model), &model.certificate) {
        (Err(message), _) => Outcome::Invalid(message),
        (Ok(()), None) => check_definitions(problem, &model.definitions, budget),
        (Ok(()), Some(certificate)) => check_certificate(problem, certificate, budget),
    }
}

/// Whether a model from elsewhere defines every predicate, and nothing else that the problem's
/// text mentions: a definition of `and`, say, would change what the clauses mean.
fn foreign_definitions(problem: &Problem, model: &ModelText) -> Result<(), String> {
    let defined: FxHashSet<&str> = model.names.iter().map(String::as_str).collect();
    let mut predicates: FxHashSet<&str> = FxHashSet::default();
    for predicate in &problem.predicates {
        if !defined.contains(predicate.name.as_str()) {
            return Err(format!("{} is not defined", predicate.name));
        }
        predicates.insert(&predicate.name);
    }
    let auxiliary: FxHashSet<&str> = defined.difference(&predicates).copied().collect();
    if !auxiliary.is_empty() {
        for token in Tokens::new(&problem.text, 0) {
            let name = symbol(&problem.text[token.range]);
            if token.kind == TokenKind::Atom && auxiliary.contains(name) {
                return Err(format!("{name} is defined, but the problem uses it"));
            }
        }
    }
    Ok(())
}

/// Whether a refutation is one, of the clauses as they were read and of the text.
fn check_refutation_of(problem: &Problem, refutation: &Refutation, budget: &Budget) -> Outcome {
    // What evaluation leaves undefined is for the text to decide, but for these values: others
    // may do, and are not what the refutation says.
    let undefined = Cell::new(false);
    let leave = |_| {
        undefined.set(true);
        true
    };
    match check_steps(problem, refutation, leave) {
        Ok(()) => check_steps_in_text(problem, refutation, undefined.get(), budget),
        Err(error) => Outcome::Invalid(error.to_string()),
    }
}
