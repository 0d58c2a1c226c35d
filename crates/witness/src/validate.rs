//! The check of an answer's witness against the user's text, and the output of a checked answer.
//!
//! A model is checked as the text that is printed. A refutation is checked twice: by evaluation
//! against the clauses as they were read (`step_check`), and by Z3 against the text (`text_check`),
//! since the reader may have made a mistake.
//!
//! # Invariant
//! [`Validated`] has private fields and is made in this module only; its verdict is `sat` or
//! `unsat` only if its witness passed. A witness of an engine that fails its check is logged as a
//! defect, counted as `witness.failures`, and the verdict is `unknown`.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Instant;

use rustc_hash::FxHashSet;

use super::certificate::{About, check_certificate};
use super::derivations::{
    check_derivations, check_functions, least_model, proof_lines, read_proof,
};
use super::parse::{Claim, DerivationsText, ModelText, Witness, parse_witness};
use super::print::{PrintedModel, ProofFormat, model_text, printed_functions, printed_model};
use super::print::{refutation_json, refutation_text};
use super::recursive::{functions_of, is_graph, own_functions};
use super::script::defined_for_term;
use super::sexp::{TokenKind, Tokens, symbol};
use super::standalone::certificate;
use super::step_check::check_steps;
use super::text_check::{check_definitions, check_steps_in_text};
use super::z3_proof::refutation_z3;
use super::{FunctionModel, Model, Refutation, Verdict};
use alphorn_chc::PredicateId;
use alphorn_chc::frontend::{Dialect, Problem};
use alphorn_smt::text::value_of_term;
use alphorn_term::run::{Budget, Context, Reason};
use alphorn_term::{FunctionId, TermId};

/// A verdict whose witness passed its check, or `Unknown`.
pub struct Validated {
    verdict: Verdict,
    /// The text of the model that was checked. For a counterexample to a goal it shows that the
    /// functions exist; for other verdicts it is empty.
    model: PrintedModel,
    /// With a proof by induction on derivations: a model by functions that was checked with it.
    functions: Option<PrintedModel>,
    /// A refutation of clauses that are stronger than the text, which did not pass for the text.
    stronger_refuted: Option<Refutation>,
    /// A model that may be right, but whose check had no answer.
    undecided: Option<UndecidedModel>,
}

/// A model whose check had no answer.
#[derive(Clone, Debug)]
pub struct UndecidedModel {
    /// The model.
    pub model: Model,
    /// The position in [`Problem::commands`] of the assertion that was not decided.
    pub command: usize,
}

/// The output that is wanted besides the verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// The model, if the clauses are satisfiable.
    pub model: bool,
    /// With a proof by induction on derivations, the least model over a datatype of derivations.
    pub derivations: bool,
    /// The refutation in this format, if they are not.
    pub proof: Option<ProofFormat>,
    /// The reason of `unknown`.
    pub reason_unknown: bool,
}

/// The text for standard output.
#[derive(Clone, Debug)]
pub struct Output {
    before: String,
    word: &'static str,
    details: String,
}

impl Output {
    /// The verdict: `sat`, `unsat` or `unknown`. Its line is to be printed and flushed first.
    pub fn word(&self) -> &'static str {
        self.word
    }

    /// The lines after the verdict, each with its line break; may be empty.
    pub fn details(&self) -> &str {
        &self.details
    }

    /// The lines before the verdict, which reply to commands before the question; may be empty.
    pub fn before(&self) -> &str {
        &self.before
    }

    /// The same verdict among other lines.
    pub fn among(self, before: String, details: String) -> Output {
        Output {
            before,
            details,
            ..self
        }
    }

    /// The output of a run without an answer.
    pub fn unknown(reason: &Reason, wanted: Wanted) -> Output {
        Output {
            before: String::new(),
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

/// A string literal of SMT-LIB, with spaces in place of line breaks.
pub fn string_literal(text: &str) -> String {
    let line = text.replace(['\n', '\r'], " ");
    format!("\"{}\"", line.replace('"', "\"\""))
}

impl Validated {
    /// The definitions of the model; empty for another verdict.
    pub fn definitions(&self) -> String {
        self.model.definitions.join("\n")
    }

    /// The result of a run without an answer.
    pub fn unknown(reason: Reason) -> Validated {
        Validated::of(Verdict::Unknown(reason), PrintedModel::default())
    }

    fn of(verdict: Verdict, model: PrintedModel) -> Validated {
        Validated {
            verdict,
            model,
            functions: None,
            stronger_refuted: None,
            undecided: None,
        }
    }

    /// If there is no answer because clauses that are stronger than the text were refuted, the
    /// refutation.
    pub fn stronger_refuted(&self) -> Option<&Refutation> {
        self.stronger_refuted.as_ref()
    }

    /// If there is no answer because the check of a model had none, the model.
    pub fn undecided(&self) -> Option<&UndecidedModel> {
        self.undecided.as_ref()
    }

    /// Whether a proof by induction on derivations has a model by functions.
    pub fn has_functions(&self) -> bool {
        self.functions.is_some()
    }

    /// The verdict about the clauses: satisfiable in every dialect if it is `Sat`.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Whether there is a model with sizes of datatypes, and whether there is one with other
    /// recursive functions.
    /// Functions of the text do not count.
    pub fn functions(&self, problem: &Problem) -> (bool, bool) {
        let (Verdict::Sat(model), terms) = (&self.verdict, &problem.terms) else {
            return (false, false);
        };
        let formulas = model.definitions.iter();
        let formulas = formulas.filter(|(id, _)| !is_graph(problem, **id));
        let formulas: Vec<TermId> = formulas.map(|(_, &formula)| formula).collect();
        let sizes = !terms.size_definitions(&formulas).is_empty();
        let own = |id: &FunctionId| problem.functions.iter().any(|f| f.function == *id);
        let groups = terms.function_groups(&formulas);
        (sizes, groups.iter().flatten().any(|id| !own(id)))
    }

    /// The reason of `Unknown`.
    pub fn reason(&self) -> Option<&Reason> {
        match &self.verdict {
            Verdict::Unknown(reason) => Some(reason),
            _ => None,
        }
    }

    /// The numbers of the asserts, rules and queries that the refutation uses, ascending; none for
    /// another verdict.
    pub fn used_assertions(&self, problem: &Problem) -> Vec<usize> {
        let Verdict::Unsat(refutation) = &self.verdict else {
            return Vec::new();
        };
        let steps = refutation.steps.iter();
        let numbers = steps.map(|step| problem.clauses[step.clause.0 as usize].number);
        numbers.collect::<BTreeSet<usize>>().into_iter().collect()
    }

    /// A certificate of the answer, an SMT-LIB script that any solver can confirm (see
    /// docs/src/certificates.md). The text of a refutation's certificate is checked within the budget.
    ///
    /// # Errors
    /// Why there is no certificate.
    pub fn certificate(&self, problem: &Problem, budget: &Budget) -> Result<String, String> {
        certificate(problem, &self.verdict, &self.model, budget)
    }

    /// The output. In the fixedpoint dialect `sat` means that the query is reachable, so that the
    /// clauses are unsatisfiable; for a goal it means that there is a counterexample.
    pub fn output(&self, problem: &Problem, wanted: Wanted) -> Output {
        let satisfiable = match &self.verdict {
            Verdict::Unknown(reason) => return Output::unknown(reason, wanted),
            Verdict::Sat(_) | Verdict::Proven(_) => true,
            Verdict::Unsat(_) => false,
        };
        let details = match (&self.verdict, wanted.proof) {
            (Verdict::Sat(_), _) if wanted.model => model_text(&self.model),
            (Verdict::Proven(_), _) if wanted.model && wanted.derivations => {
                // Without definitions the proof stands alone.
                let definitions = least_model(problem).unwrap_or_default();
                let certificate = self.model.certificate.clone();
                model_text(&PrintedModel {
                    definitions,
                    certificate,
                })
            }
            (Verdict::Proven(_), _) if wanted.model => match &self.functions {
                Some(functions) => model_text(&with_proof(functions, &self.model)),
                None => proof_text(&self.model),
            },
            (Verdict::Unsat(refutation), Some(ProofFormat::Text)) => {
                let measures = self
                    .model
                    .certificate
                    .iter()
                    .map(|line| format!("{line}\n"));
                refutation_text(problem, refutation) + &measures.collect::<String>()
            }
            (Verdict::Unsat(refutation), Some(ProofFormat::Json)) => {
                refutation_json(problem, refutation, &self.model.certificate)
            }
            (Verdict::Unsat(refutation), Some(ProofFormat::Z3)) => {
                refutation_z3(problem, refutation)
            }
            _ => String::new(),
        };
        Output {
            before: String::new(),
            word: word(problem.dialect, satisfiable),
            details,
        }
    }
}

/// The value of a term, without variables, in a model of the problem.
///
/// # Errors
/// A message: this is no term over the problem's names, or the model does not decide its value.
pub fn value_in_model(
    problem: &Problem,
    definitions: &str,
    term: &str,
    budget: &Budget,
) -> Result<String, String> {
    let (text, read) = defined_for_term(problem, definitions, term)?;
    let value = value_of_term(&text, &read, budget).map_err(|message| {
        let message = message.trim();
        let message = message.strip_prefix("(error \"").unwrap_or(message);
        let message = message.strip_suffix("\")").unwrap_or(message);
        let message = message
            .strip_prefix("line ")
            .and_then(|rest| rest.split_once(": "))
            .map_or(message, |(_, rest)| rest);
        format!("{term} is no term over the names of the text: {message}")
    })?;
    value.ok_or_else(|| format!("the model does not decide {term}"))
}

/// The word for a verdict in a dialect.
fn word(dialect: Dialect, satisfiable: bool) -> &'static str {
    if satisfiable == (dialect == Dialect::Horn) {
        "sat"
    } else {
        "unsat"
    }
}

/// Checks an answer about `problem` within the context's limits. The result is `Unknown` if the
/// witness fails the check, or if the check is not finished. That a refutation of clauses that are
/// stronger than the text fails is no defect.
pub fn validate(problem: &Problem, verdict: Verdict, cx: &mut Context) -> Validated {
    if let Verdict::Unknown(reason) = verdict {
        return Validated::unknown(reason);
    }
    let (printed, outcome) = checked(problem, &verdict, cx);
    if let Verdict::Unsat(refutation) = &verdict
        && problem.is_stronger
        && outcome != CheckOutcome::Valid
    {
        log::debug!("the clauses are refuted, which says nothing about the text: {outcome:?}");
        let why = match problem.constants.is_empty() {
            true => {
                "a `forall` over predicates in a body, or an `exists` in a head, was replaced by \
                 instances, and they are not enough"
            }
            false => {
                "the clauses are refuted for the values of constants that were tried, and may not be \
                 for others"
            }
        };
        return Validated {
            stronger_refuted: Some(refutation.clone()),
            ..Validated::unknown(Reason::Incomplete(why.to_owned()))
        };
    }
    conclude(verdict, printed, outcome, cx)
}

/// As [`validate`] for an answer about other clauses, which may be wrong; `None` if its witness
/// does not pass. This is no defect.
pub fn validate_candidate(
    problem: &Problem,
    verdict: Verdict,
    cx: &mut Context,
) -> Option<Validated> {
    let (model, outcome) = checked(problem, &verdict, cx);
    if outcome != CheckOutcome::Valid {
        log::debug!("a candidate answer does not pass its check: {outcome:?}");
        return None;
    }
    Some(Validated::of(verdict, model))
}

/// The text of a model, and the outcome of the check of a witness.
fn checked(problem: &Problem, verdict: &Verdict, cx: &mut Context) -> (PrintedModel, CheckOutcome) {
    let start = Instant::now();
    let none = PrintedModel::default();
    let found = match verdict {
        Verdict::Unknown(reason) => (none, CheckOutcome::undecided(reason.to_string())),
        Verdict::Sat(model) if functions_of(problem, model).is_none() => {
            let why = "no definition of the text's functions is known";
            (none, CheckOutcome::undecided(why.to_owned()))
        }
        Verdict::Sat(model) => match printed_model(problem, model) {
            Ok(printed) => {
                log::trace!("checks the model\n{}", model_text(&printed));
                let outcome = check_printed(problem, &printed, &cx.budget);
                (printed, outcome)
            }
            Err(message) => (none, CheckOutcome::Invalid(message)),
        },
        Verdict::Proven(proof) => match proof_lines(problem, proof) {
            Ok(certificate) => {
                let printed = PrintedModel {
                    definitions: Vec::new(),
                    certificate,
                };
                let text = proof_text(&printed);
                log::trace!("checks the proof\n{text}");
                let outcome = check_proof_text(problem, &text, &cx.budget);
                (printed, outcome)
            }
            Err(message) => (none, CheckOutcome::Invalid(message)),
        },
        Verdict::Unsat(refutation) => {
            let outcome = check_refutation_of(problem, refutation, &cx.budget);
            match problem.dialect {
                Dialect::Goal if outcome == CheckOutcome::Valid => existence(problem, &cx.budget),
                _ => (none, outcome),
            }
        }
    };
    cx.stats.add_time("witness.check", start.elapsed());
    found
}

/// Another model of the problem, to replace one that passed; `None` if it does not pass its check
/// within the context's limits. A model that fails is logged as a defect.
pub fn validate_replacement(
    problem: &Problem,
    model: Model,
    cx: &mut Context,
) -> Option<Validated> {
    let verdict = Verdict::Sat(model);
    let (model, outcome) = checked(problem, &verdict, cx);
    match outcome {
        CheckOutcome::Valid => return Some(Validated::of(verdict, model)),
        CheckOutcome::Invalid(message) => {
            log::error!("defect: another model failed its check: {message}");
            cx.stats.add("witness.failures", 1);
        }
        CheckOutcome::Undecided { why, .. } => {
            log::debug!("another model could not be checked: {why}");
        }
    }
    None
}

/// The lines of a model by functions with those of a proof.
fn with_proof(functions: &PrintedModel, proof: &PrintedModel) -> PrintedModel {
    let lines = functions.certificate.iter().chain(&proof.certificate);
    PrintedModel {
        definitions: functions.definitions.clone(),
        certificate: lines.cloned().collect(),
    }
}

/// The answer with a model by functions, if it is a proof by induction on derivations and the model
/// passes its check within the context's limits.
pub fn with_function_model(
    problem: &Problem,
    answer: Validated,
    model: &FunctionModel,
    cx: &mut Context,
) -> Validated {
    if !matches!(answer.verdict, Verdict::Proven(_)) {
        return answer;
    }
    let start = Instant::now();
    let printed = printed_functions(problem, model);
    let outcome = match &printed {
        Ok(printed) => {
            let text = model_text(&with_proof(printed, &answer.model));
            log::trace!("checks the model by functions\n{text}");
            match parse_witness(problem, &text) {
                Ok(Claim {
                    witness: Witness::Derivations(read),
                    ..
                }) => check_proof(problem, &read, &cx.budget),
                Ok(_) => CheckOutcome::Invalid("it is not read as a proof".to_owned()),
                Err(error) => CheckOutcome::Invalid(error.to_string()),
            }
        }
        Err(message) => CheckOutcome::Invalid(message.clone()),
    };
    cx.stats.add_time("witness.check", start.elapsed());
    match (outcome, printed) {
        (CheckOutcome::Valid, Ok(functions)) => Validated {
            functions: Some(functions),
            ..answer
        },
        (outcome, _) => {
            log::debug!("a model by functions does not pass its check: {outcome:?}");
            answer
        }
    }
}

/// Checks a proof by induction on derivations, with the model by functions before it.
fn check_proof(problem: &Problem, read: &DerivationsText, budget: &Budget) -> CheckOutcome {
    match &read.functions {
        Some(functions) => check_functions(problem, &read.proof, functions, &read.text, budget),
        None => check_derivations(problem, &read.proof, &read.text, budget),
    }
}

/// The verdict after the outcome of its check.
fn conclude(
    verdict: Verdict,
    model: PrintedModel,
    outcome: CheckOutcome,
    cx: &mut Context,
) -> Validated {
    let witness = match verdict {
        Verdict::Sat(_) => "model",
        Verdict::Proven(_) => "proof by induction on derivations",
        _ => "refutation",
    };
    match outcome {
        CheckOutcome::Valid => Validated::of(verdict, model),
        CheckOutcome::Invalid(message) => {
            log::error!("defect: a {witness} failed its check: {message}");
            cx.stats.add("witness.failures", 1);
            Validated::unknown(Reason::WitnessFailed(format!("a {witness}: {message}")))
        }
        CheckOutcome::Undecided { why, command } => {
            log::warn!("the {witness} could not be checked: {why}");
            cx.stats.add("witness.undecided", 1);
            let reason = cx.stop().unwrap_or_else(|| {
                Reason::Incomplete(format!("the {witness} could not be checked: {why}"))
            });
            let undecided = match (verdict, command) {
                (Verdict::Sat(model), Some(command)) => Some(UndecidedModel { model, command }),
                _ => None,
            };
            Validated {
                undecided,
                ..Validated::unknown(reason)
            }
        }
    }
}

/// The outcome of the check of a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckOutcome {
    /// The witness passes.
    Valid,
    /// The witness fails, with the reason.
    Invalid(String),
    /// The check is not finished.
    Undecided {
        /// The reason.
        why: String,
        /// The position in [`Problem::commands`] of an assertion that was not decided, if it is known.
        command: Option<usize>,
    },
}

impl CheckOutcome {
    /// The outcome of a check that is not finished, for another reason than a single assertion.
    pub(super) fn undecided(why: impl Into<String>) -> CheckOutcome {
        CheckOutcome::Undecided {
            why: why.into(),
            command: None,
        }
    }
}

/// Checks a witness that was read from text, within the context's limits.
pub fn check_claim(problem: &Problem, claim: &Claim, cx: &mut Context) -> CheckOutcome {
    let (satisfiable, what) = match claim.witness {
        Witness::Model(_) => (true, "a model"),
        Witness::Derivations(_) => (true, "a proof by induction on derivations"),
        Witness::Refutation(_) => (false, "a refutation"),
    };
    let expected = word(problem.dialect, satisfiable);
    if claim.sat.is_some_and(|sat| sat != (expected == "sat")) {
        return CheckOutcome::Invalid(format!("{what} means {expected} for this file"));
    }
    match &claim.witness {
        Witness::Model(model) => check_model(problem, model, &cx.budget),
        Witness::Derivations(read) => check_proof(problem, read, &cx.budget),
        Witness::Refutation(refutation) => {
            let outcome = check_refutation_of(problem, refutation, &cx.budget);
            match &claim.functions {
                Some(functions) if outcome == CheckOutcome::Valid => {
                    check_existence(problem, functions, &cx.budget)
                }
                None if problem.dialect == Dialect::Goal => {
                    CheckOutcome::Invalid("there are no measures".to_owned())
                }
                _ => outcome,
            }
        }
    }
}

/// What shows that the problem's functions exist as they are defined, and the outcome of its check.
fn existence(problem: &Problem, budget: &Budget) -> (PrintedModel, CheckOutcome) {
    let none = PrintedModel::default();
    let Some(model) = own_functions(problem) else {
        let why = "the recursion of the functions is not known to end";
        return (none, CheckOutcome::undecided(why.to_owned()));
    };
    let certificate = match printed_model(problem, &model) {
        Ok(printed) => printed.certificate,
        Err(message) => return (none, CheckOutcome::Invalid(message)),
    };
    let printed = PrintedModel {
        definitions: Vec::new(),
        certificate,
    };
    let outcome = match parse_witness(problem, &model_text(&printed)) {
        Ok(Claim {
            witness: Witness::Model(model),
            ..
        }) => check_existence(problem, &model, budget),
        Ok(_) => CheckOutcome::Invalid("the measures are not read as a model".to_owned()),
        Err(error) => CheckOutcome::Invalid(format!("the measures cannot be read: {error}")),
    };
    (printed, outcome)
}

/// Checks that functions that satisfy the equations of the problem exist.
fn check_existence(problem: &Problem, model: &ModelText, budget: &Budget) -> CheckOutcome {
    match &model.certificate {
        Some(certificate) => check_certificate(problem, certificate, About::Functions, budget),
        None => CheckOutcome::Invalid("there are no measures".to_owned()),
    }
}

/// The text of a proof by induction on derivations, whose lines are a certificate's.
pub(super) fn proof_text(printed: &PrintedModel) -> String {
    let lines = printed.certificate.iter();
    lines.map(|line| format!("{line}\n")).collect()
}

/// Checks the text of a proof that alphorn prints, after it is read again.
fn check_proof_text(problem: &Problem, text: &str, budget: &Budget) -> CheckOutcome {
    match read_proof(problem, text, 0) {
        Ok(proof) => check_derivations(problem, &proof, text, budget),
        Err((_, message)) => {
            CheckOutcome::Invalid(format!("the printed proof cannot be read: {message}"))
        }
    }
}

/// Checks the text of a model that alphorn prints. One with a certificate is read again first.
fn check_printed(problem: &Problem, model: &PrintedModel, budget: &Budget) -> CheckOutcome {
    if model.certificate.is_empty() && problem.functions.is_empty() {
        return check_definitions(problem, &model.definitions.join("\n"), budget);
    }
    match parse_witness(problem, &model_text(model)) {
        Ok(Claim {
            witness: Witness::Model(model),
            ..
        }) => check_model(problem, &model, budget),
        Ok(_) => CheckOutcome::Invalid("the printed model is not read as a model".to_owned()),
        Err(error) => CheckOutcome::Invalid(format!("the printed model cannot be read: {error}")),
    }
}

/// Checks a model that was read from text.
fn check_model(problem: &Problem, model: &ModelText, budget: &Budget) -> CheckOutcome {
    match (foreign_definitions(problem, model), &model.certificate) {
        (Err(message), _) => CheckOutcome::Invalid(message),
        (Ok(()), None) => check_definitions(problem, &model.definitions, budget),
        (Ok(()), Some(certificate)) => {
            check_certificate(problem, certificate, About::Assertions, budget)
        }
    }
}

/// Checks that a model defines every predicate, and no other symbol that occurs in the problem's
/// text: a definition of `and`, for example, would change the meaning of the clauses.
pub(super) fn foreign_definitions(problem: &Problem, model: &ModelText) -> Result<(), String> {
    let defined: FxHashSet<&str> = model.names.iter().map(String::as_str).collect();
    let mut predicates: FxHashSet<&str> = FxHashSet::default();
    // The functions of the text are defined together or not at all, and then by their equations.
    let mut functions = problem.functions.iter();
    let has_functions = functions.any(|f| defined.contains(f.name.as_str()));
    for (id, predicate) in (0..).zip(&problem.predicates) {
        let is_needed = has_functions || !is_graph(problem, PredicateId(id));
        if is_needed && !defined.contains(predicate.name.as_str()) {
            return Err(format!("{} is not defined", predicate.name));
        }
        predicates.insert(&predicate.name);
    }
    let sorts = problem.free_sorts.iter().map(|sort| sort.name.as_str());
    let constants = problem.constants.iter().filter(|c| c.declaration.is_some());
    let own: FxHashSet<&str> = sorts.chain(constants.map(|c| c.name.as_str())).collect();
    let auxiliary = defined.difference(&predicates).copied();
    let auxiliary: FxHashSet<&str> = auxiliary.filter(|name| !own.contains(name)).collect();
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

/// Checks a refutation, against the clauses as they were read and against the text.
fn check_refutation_of(
    problem: &Problem,
    refutation: &Refutation,
    budget: &Budget,
) -> CheckOutcome {
    // For constraints without a value the check against the text decides, with exactly the values
    // of the refutation.
    let undefined = Cell::new(false);
    let leave = |_| {
        undefined.set(true);
        true
    };
    match check_steps(problem, refutation, leave) {
        Ok(()) => check_steps_in_text(problem, refutation, undefined.get(), budget),
        Err(error) => CheckOutcome::Invalid(error.to_string()),
    }
}
