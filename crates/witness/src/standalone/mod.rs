//! Certificates of answers: SMT-LIB scripts that any solver can confirm without alphorn.
//! docs/src/certificates.md defines the format and its meaning.
//!
//! - Of a **model**: the problem's declarations with the predicates defined, and the negation of
//!   each assertion, for which the solver has to answer `unsat`. For a model with recursive
//!   functions the obligations of its certificate (`certificate`) come first, with the functions
//!   uninterpreted.
//! - Of a **proof by induction on derivations**: its clauses, its lemmas, and its questions
//!   (`derivations`).
//! - Of a **refutation**: the problem's declarations with the predicates uninterpreted, a ground
//!   instance of an assertion for each step (`instance`), and one check, for which the solver has
//!   to answer `unsat`.
//!
//! # Invariant
//! The problem's declarations, definitions and assertions are copied from its text. The certificate
//! of a refutation is checked before it is returned; that of a model without recursive functions
//! has the definitions that were checked.

mod instance;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use rustc_hash::FxHashMap;

use self::instance::{Instance, instance};
use super::certificate::{Standalone, standalone};
use super::derivations::{Questions, Refusal, questions, read_proof};
use super::print::{PrintedModel, model_text};
use super::script::{self, Changes, Piece, Predicates, pieces};
use super::sexp::elements;
use super::text_check::{ValueNames, names_a_relation};
use super::validate::proof_text;
use super::{Refutation, Verdict, parse_witness};
use crate::Witness;
use alphorn_chc::ClauseId;
use alphorn_chc::frontend::{Dialect, Problem};
use alphorn_smt::text::{TextCheck, valid_assertions};
use alphorn_term::run::{Budget, Reason};
use alphorn_term::{Printer, quote_symbol};

/// The version of the format, in the first line of each certificate.
pub const VERSION: u32 = 1;

/// The first line of a certificate of this kind.
fn title(what: &str) -> String {
    format!("; alphorn certificate {VERSION}: {what}\n")
}

/// The text in place of a certificate for a run without an answer; it has no commands.
pub fn none(reason: &Reason) -> String {
    let reason = reason.to_string().replace(['\n', '\r'], " ");
    format!("{}; {reason}\n", title("none"))
}

/// The certificate of an answer whose witness passed its check. That of a refutation is checked
/// within the budget.
///
/// # Errors
/// Why there is no certificate.
pub fn certificate(
    problem: &Problem,
    verdict: &Verdict,
    model: &PrintedModel,
    budget: &Budget,
) -> Result<String, String> {
    match verdict {
        Verdict::Sat(_) => of_model(problem, model),
        Verdict::Proven(_) => of_derivations(problem, model),
        Verdict::Unsat(_) if problem.dialect == Dialect::Goal => {
            Err("a counterexample to a goal has no certificate".to_owned())
        }
        Verdict::Unsat(refutation) => of_refutation(problem, refutation, budget),
        Verdict::Unknown(reason) => Ok(none(reason)),
    }
}

/// Writes a check of the negation of a formula, in a scope.
fn check(out: &mut String, what: &str, negated: &str) {
    let _ = write!(
        out,
        "; {what}\n(push 1)\n(assert (not {negated}))\n(check-sat)\n(pop 1)\n"
    );
}

/// The certificate of a model.
fn of_model(problem: &Problem, model: &PrintedModel) -> Result<String, String> {
    let recursive = recursive_functions(model);
    if recursive.is_empty() && problem.functions.is_empty() {
        let mut out = title("a model");
        out.push_str("; Each check-sat has to answer unsat.\n");
        let definitions = model.definitions.join("\n");
        let changes = Changes::new(problem, &[&definitions]);
        names(&changes, &mut out)?;
        out.push_str("(set-logic ALL)\n");
        clauses(problem, &changes, &definitions, &mut out)?;
        return Ok(out);
    }
    let mut text = model_text(model);
    if model.certificate.is_empty() {
        // The functions are sizes of datatypes, whose measure is their argument.
        for name in recursive {
            let _ = writeln!(text, "; measure {name} (0)");
        }
    }
    let claim = parse_witness(problem, &text).map_err(|e| e.to_string())?;
    let Witness::Model(read) = claim.witness else {
        return Err("the printed model is not read as a model".to_owned());
    };
    let certificate = read
        .certificate
        .ok_or("the model's certificate is not read")?;
    let Standalone {
        declarations,
        obligations,
        definitions,
    } = standalone(problem, &certificate)?;
    let mut out = title("a model with recursive functions");
    out.push_str(
        "; Each check-sat has to answer unsat. The first part shows that the functions exist and\n\
         ; that the lemmas hold, the second that the assertions do. The model is:\n",
    );
    for line in text.lines() {
        let _ = writeln!(out, ";   {line}");
    }
    let changes = Changes::new(problem, &[&declarations, &definitions]);
    names(&changes, &mut out)?;
    out.push_str("(set-logic ALL)\n");
    let sorts: Vec<&str> = problem.sort_definitions().collect();
    out.push_str(&script::sorts(&changes, problem, &sorts.join("\n")));
    out.push_str(&changes.definitions(&declarations));
    for (what, formula) in obligations {
        check(&mut out, &what, &changes.definition(&formula));
    }
    out.push_str("(reset)\n(set-logic ALL)\n");
    clauses(problem, &changes, &definitions, &mut out)?;
    Ok(out)
}

/// The certificate of a proof by induction on derivations.
fn of_derivations(problem: &Problem, model: &PrintedModel) -> Result<String, String> {
    let text = proof_text(model);
    let proof = read_proof(problem, &text, 0).map_err(|(_, message)| message)?;
    let changes = Changes::new(problem, &[&text]);
    let Questions { commands, formulas } = match questions(problem, &proof, &changes) {
        Ok(asked) => asked,
        Err(Refusal::Wrong(message) | Refusal::Unsupported(message)) => return Err(message),
    };
    let mut out = title("an induction on derivations");
    out.push_str(
        "; Each check-sat has to answer unsat. The first ones show that the clauses imply the\n\
         ; assertions, the others that the lemmas and the queries hold. The proof is:\n",
    );
    for line in text.lines() {
        let _ = writeln!(out, ";   {line}");
    }
    names(&changes, &mut out)?;
    out.push_str("(set-logic ALL)\n");
    out.push_str(&commands);
    for (what, formula) in formulas {
        check(&mut out, &what, &formula);
    }
    Ok(out)
}

/// The names of the recursive functions of a model, as they are written.
fn recursive_functions(model: &PrintedModel) -> Vec<&str> {
    let mut names = Vec::new();
    for definition in &model.definitions {
        let list = |range: &Range<usize>| elements(definition, range).unwrap_or_default();
        let parts = list(&(0..definition.len()));
        let word = |range: &Range<usize>| &definition[range.clone()];
        match parts.first().map(word) {
            Some("define-fun-rec") => names.extend(parts.get(1).map(word)),
            Some("define-funs-rec") => {
                let heads = parts.get(1).map(list).unwrap_or_default();
                let heads = heads.iter().filter_map(|head| list(head).first().map(word));
                names.extend(heads.collect::<Vec<_>>());
            }
            _ => {}
        }
    }
    names
}

/// Writes comments that say which symbols have other names than in the problem.
fn names(changes: &Changes<'_>, out: &mut String) -> Result<(), String> {
    for (old, new) in changes.names() {
        if old.contains(['\n', '\r']) {
            return Err("a symbol with a line break needs another name".to_owned());
        }
        let (old, new) = (quote_symbol(old), quote_symbol(new));
        let _ = writeln!(out, "; {new} stands for {old}");
    }
    Ok(())
}

/// Writes the problem with these definitions of its predicates, and a check of each assertion.
fn clauses(
    problem: &Problem,
    changes: &Changes<'_>,
    definitions: &str,
    out: &mut String,
) -> Result<(), String> {
    for piece in pieces(problem, changes, Predicates::Defined(definitions))? {
        match piece {
            Piece::Commands(commands) => out.push_str(&commands),
            Piece::Assertion { command, formula } => {
                let command = &problem.commands[command];
                let what = format!("the {} in line {}", command.keyword, command.line);
                check(out, &what, &formula);
            }
        }
    }
    Ok(())
}

/// The certificate of a refutation.
fn of_refutation(
    problem: &Problem,
    refutation: &Refutation,
    budget: &Budget,
) -> Result<String, String> {
    let clause = |id: ClauseId| &problem.clauses[id.0 as usize];
    let steps = refutation.steps.iter();
    let commands: BTreeSet<usize> = steps.map(|step| clause(step.clause).command).collect();
    let changes = Changes::new(problem, &[]);
    let mut declarations = String::new();
    let mut formulas: FxHashMap<usize, String> = FxHashMap::default();
    for piece in pieces(problem, &changes, Predicates::Declared(&commands))? {
        match piece {
            Piece::Commands(commands) => declarations.push_str(&commands),
            Piece::Assertion { command, formula } => {
                formulas.insert(command, formula);
            }
        }
    }
    let stem = |stem: &str| {
        let mut stem = stem.to_owned();
        while problem.text.contains(&stem) {
            stem.push('!');
        }
        stem
    };
    let (name, param, value) = (stem("instance!"), stem("v!"), stem("value!"));
    let printer = Printer::new(&problem.terms);
    let mut values = ValueNames::new(value);
    let mut instances: FxHashMap<ClauseId, (String, Instance)> = FxHashMap::default();
    let mut definitions = String::new();
    let mut asserted = Vec::with_capacity(refutation.steps.len());
    for step in &refutation.steps {
        let clause = clause(step.clause);
        if !instances.contains_key(&step.clause) {
            let command = &problem.commands[clause.command];
            let bare = names_a_relation(problem, clause.command)?;
            let variables: Vec<(String, String)> = clause
                .vars
                .iter()
                .enumerate()
                .map(|(position, (name, var))| {
                    let sort = printer.sort(problem.terms.sort_of(*var));
                    let sort = changes.sort(&sort);
                    match bare {
                        true => (script::query_variable(position), sort),
                        false => (changes.variable(name).to_owned(), sort),
                    }
                })
                .collect();
            let formula = formulas.get(&clause.command);
            let formula = formula.ok_or("a clause without an assertion")?;
            let own = instance(formula, &variables, &param)?;
            let name = format!("{name}{}", instances.len());
            let params = own.params.iter().enumerate();
            let params: Vec<String> = params
                .map(|(number, (sort, _))| format!("({param}{number} {sort})"))
                .collect();
            let _ = writeln!(
                definitions,
                "; the {} in line {}\n(define-fun {name} ({}) Bool {})",
                command.keyword,
                command.line,
                params.join(" "),
                own.formula
            );
            instances.insert(step.clause, (name, own));
        }
        let (name, own) = &instances[&step.clause];
        let mut atom = name.clone();
        for (_, position) in &own.params {
            let value = step.values[&clause.vars[*position].1];
            values.define(&problem.terms, &printer, value, &mut definitions);
            atom.push(' ');
            values.write(&printer, value, &mut atom);
        }
        asserted.push(match own.params.is_empty() {
            true => atom,
            false => changes.definition(&format!("({atom})")),
        });
    }
    declarations.push_str(&changes.own(&definitions));
    confirm(&declarations, &asserted, budget)?;
    let mut out = title("a refutation");
    out.push_str(
        "; The assertions are ground instances of the problem's: check-sat has to answer unsat.\n",
    );
    names(&changes, &mut out)?;
    out.push_str("(set-logic ALL)\n");
    out.push_str(&declarations);
    for (number, atom) in asserted.iter().enumerate() {
        let _ = writeln!(out, "; step {}\n(assert {atom})", number + 1);
    }
    out.push_str("(check-sat)\n");
    Ok(out)
}

/// Checks that the instances are unsatisfiable together, as Z3 reads the text.
fn confirm(declarations: &str, asserted: &[String], budget: &Budget) -> Result<(), String> {
    // One formula that is valid exactly if the instances are unsatisfiable.
    let all = asserted.join("\n");
    let question = format!("{declarations}(assert (not (and true {all})))\n");
    match valid_assertions(&question, budget) {
        TextCheck::Valid { assertions: 1 } => Ok(()),
        TextCheck::Unknown { reason, .. } => {
            Err(format!("the instances could not be checked: {reason}"))
        }
        TextCheck::Malformed(message) => Err(format!("Z3 rejects the instances: {message}")),
        _ => Err("the instances are satisfiable".to_owned()),
    }
}
