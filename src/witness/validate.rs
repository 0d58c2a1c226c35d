//! The last word on every answer: a witness is checked against the user's own text, and what does
//! not pass is not printed.
//!
//! A model is put into the user's text in the place of the declarations, as the very text that the
//! user would get, and Z3's own reader and solver have to find each assertion valid. A refutation is
//! checked by evaluation, step by step, against the clauses as they were read.
//!
//! Invariant: [`Validated`] is made here only, and only it has a verdict to print. An answer that
//! fails is `unknown`, is logged as a defect and counted as `witness.failures`.

use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use super::parse::{Claim, ModelText, Witness};
use super::print::{ProofFormat, definitions, model_text, refutation_json, refutation_text};
use super::script::{declarations, script, without_predefined_names};
use super::sexp::{TokenKind, Tokens, symbol};
use super::step_check::check_steps;
use super::{Model, Refutation, Verdict};
use crate::frontend::{Dialect, Problem};
use crate::run::Context;
use crate::run::Reason;
use crate::smt::text::{TextCheck, valid_assertions};
use crate::term::{Printer, TermId};

/// A verdict whose witness has passed its check, or `Unknown`.
pub struct Validated {
    verdict: Verdict,
    /// The model's definitions, as they were checked.
    definitions: Vec<String>,
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
#[derive(Debug)]
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
            definitions: Vec::new(),
        }
    }

    /// The verdict about the clauses.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Why there is no answer.
    pub fn reason(&self) -> Option<&Reason> {
        match &self.verdict {
            Verdict::Unknown(reason) => Some(reason),
            _ => None,
        }
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
            (Verdict::Sat(_), _) if wanted.model => model_text(&self.definitions),
            (Verdict::Unsat(refutation), Some(ProofFormat::Text)) => {
                refutation_text(problem, refutation)
            }
            (Verdict::Unsat(refutation), Some(ProofFormat::Json)) => {
                refutation_json(problem, refutation)
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
    let start = Instant::now();
    let validated = match verdict {
        Verdict::Unknown(reason) => return Validated::unknown(reason),
        Verdict::Sat(model) => validate_model(problem, model, cx),
        Verdict::Unsat(refutation) => {
            match check_refutation_of(problem, &refutation, cx.remaining()) {
                Ok(()) => Validated {
                    verdict: Verdict::Unsat(refutation),
                    definitions: Vec::new(),
                },
                Err(message) => failure("a refutation", message, cx),
            }
        }
    };
    cx.stats.add_time("witness.check", start.elapsed());
    validated
}

fn failure(what: &str, message: String, cx: &mut Context) -> Validated {
    log::error!("defect: {what} failed its check: {message}");
    cx.stats.add("witness.failures", 1);
    Validated::unknown(Reason::WitnessFailed(format!("{what}: {message}")))
}

fn validate_model(problem: &Problem, model: Model, cx: &mut Context) -> Validated {
    let definitions = match definitions(problem, &model) {
        Ok(definitions) => definitions,
        Err(message) => return failure("a model", message, cx),
    };
    let outcome = check_definitions(problem, &definitions.join("\n"), cx.remaining());
    match outcome {
        Outcome::Valid => Validated {
            verdict: Verdict::Sat(model),
            definitions,
        },
        Outcome::Invalid(message) => failure("a model", message, cx),
        Outcome::Undecided(message) => {
            log::warn!("the model could not be checked: {message}");
            cx.stats.add("witness.undecided", 1);
            let reason = cx.stop().unwrap_or_else(|| {
                Reason::Incomplete(format!("the model could not be checked: {message}"))
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
        Witness::Model(model) => match foreign_definitions(problem, model) {
            Ok(()) => check_definitions(problem, &model.definitions, cx.remaining()),
            Err(message) => Outcome::Invalid(message),
        },
        Witness::Refutation(refutation) => {
            match check_refutation_of(problem, refutation, cx.remaining()) {
                Ok(()) => Outcome::Valid,
                Err(message) => Outcome::Invalid(message),
            }
        }
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

/// Whether every assertion of the problem is valid under definitions of its predicates.
fn check_definitions(problem: &Problem, definitions: &str, limit: Option<Duration>) -> Outcome {
    let script = match script(problem, definitions) {
        Ok(script) => script,
        Err(message) => return Outcome::Undecided(message),
    };
    let place = |assertion: usize| match script.origins.get(assertion) {
        Some(&index) => {
            let command = &problem.commands[index];
            format!("the {} in line {}", command.keyword, command.line)
        }
        None => "an assertion".to_owned(),
    };
    match valid_assertions(&script.text, limit) {
        TextCheck::Valid { assertions } if assertions == script.origins.len() => Outcome::Valid,
        TextCheck::Valid { assertions } => Outcome::Undecided(format!(
            "{assertions} assertions were read where there are {}",
            script.origins.len()
        )),
        TextCheck::Invalid { assertion } => {
            Outcome::Invalid(format!("{} does not hold", place(assertion)))
        }
        TextCheck::Unknown { assertion, reason } => {
            Outcome::Undecided(format!("{}: {reason}", place(assertion)))
        }
        TextCheck::Malformed(message) => Outcome::Invalid(format!("Z3 reads it with: {message}")),
    }
}

fn check_refutation_of(
    problem: &Problem,
    refutation: &Refutation,
    limit: Option<Duration>,
) -> Result<(), String> {
    let mut preamble = None;
    // One limit for all steps together.
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let valid = |formula: TermId| {
        let limit = deadline.map(|d| d.saturating_duration_since(Instant::now()));
        let preamble = preamble.get_or_insert_with(|| declarations(problem));
        let formula = Printer::new(&problem.terms).term(formula);
        let text = without_predefined_names(format!("{preamble}(assert {formula})\n"));
        matches!(
            valid_assertions(&text, limit),
            TextCheck::Valid { assertions: 1 }
        )
    };
    check_steps(problem, refutation, valid).map_err(|e| e.to_string())
}
