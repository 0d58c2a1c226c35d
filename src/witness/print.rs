//! Witnesses as text.
//!
//! A **model** is one S-expression, `( (define-fun P ((x!0 Int) …) Bool body) … )`: every declared
//! predicate in the order of declaration, under its own name, in standard operators only. Where it
//! needs sizes of values of recursive datatypes, `define-fun-rec`s of these come first.
//!
//! A **refutation** is a derivation of `false` in numbered ground steps, premises first:
//!
//! ```text
//! 1: P(0, 1) by clause 1 [x = 0, y = 1]
//! 2: P(1, (- 2)) by clause 2.1 [x = 0, y = 1, z = (- 2)] from 1
//! 3: false by clause 3 [x = 1, y = (- 2)] from 2
//! ```
//!
//! A line is the step's number, the derived fact, the clause as the number of its command among
//! all assertions (or rules and queries) of the file from 1, followed by `.k` for the k-th clause
//! of a command that has several, the values of all of the clause's variables in the order of
//! their quantifiers, and the steps that derive the body's atoms, in the body's order. Values are
//! SMT-LIB terms. A nullary predicate stands alone, without parentheses; so does a clause without
//! variables without brackets, and one without body atoms without `from`.
//!
//! As **JSON** the same is one object,
//!
//! ```text
//! {"refutation": [{"step": 2, "fact": {"predicate": "P", "arguments": ["1", "(- 2)"]},
//!   "clause": 2, "part": 1, "line": 14, "values": [{"variable": "x", "value": "0"}, …],
//!   "premises": [1]}, …]}
//! ```
//!
//! where a `fact` of `null` is `false`, and `line` is where the clause's command begins.
//!
//! Invariant: what is printed can be read back (see `parse`), and has size linear in the witness.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

use super::sexp::{TokenKind, Tokens, symbol};
use super::{Fact, Model, Refutation};
use crate::chc::PredicateId;
use crate::frontend::Problem;
use crate::term::{Op, Printer, SortId, TermId, TermStore, quote_symbol};

/// How refutations are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ProofFormat {
    #[default]
    Text,
    Json,
}

/// The definition of each declared predicate, in the order of declaration, after those of the sizes
/// of datatypes that the formulas mention.
///
/// # Errors
/// A predicate, by its name, whose formula is no formula or not over its arguments alone.
pub fn definitions(problem: &Problem, model: &Model) -> Result<Vec<String>, String> {
    let terms = &*problem.terms;
    let (argument, bound) = prefixes(terms);
    let mut result = sizes(problem, model)?;
    for (index, predicate) in problem.predicates.iter().enumerate() {
        let id = PredicateId(u32::try_from(index).expect("fewer than 2^32 predicates"));
        let body = model.definitions.get(&id).copied().unwrap_or(TermId::TRUE);
        if terms.sort_of(body) != SortId::BOOL {
            return Err(format!("{} is defined by no formula", predicate.name));
        }
        let params: FxHashSet<TermId> = predicate.params.iter().copied().collect();
        if terms.free_vars(&[body]).iter().any(|v| !params.contains(v)) {
            return Err(format!(
                "{} is defined over more than its arguments",
                predicate.name
            ));
        }
        let mut printer = Printer::new(terms);
        let mut head = format!("(define-fun {} (", quote_symbol(&predicate.name));
        for (position, &param) in predicate.params.iter().enumerate() {
            let name = format!("{argument}{position}");
            let space = if position == 0 { "" } else { " " };
            let sort = printer.sort(terms.sort_of(param));
            write!(head, "{space}({name} {sort})").expect("string");
            printer.rename(param, name);
        }
        if terms.node(body).has_quantifier {
            // Bound variables must not capture arguments.
            let mut count = 0;
            terms.post_order(&[body], |t| {
                if let Op::Forall(vars) | Op::Exists(vars) = terms.op(t) {
                    for &var in vars {
                        printer.rename(var, format!("{bound}{count}"));
                        count += 1;
                    }
                }
            });
        }
        head.push_str(") Bool ");
        printer.write_term(&mut head, body);
        head.push(')');
        result.push(head);
    }
    Ok(result)
}

/// The definitions of the sizes of datatypes that a model mentions.
fn sizes(problem: &Problem, model: &Model) -> Result<Vec<String>, String> {
    let formulas: Vec<TermId> = model.definitions.values().copied().collect();
    let found = problem.terms.size_definitions(&formulas);
    if !found.is_empty() {
        let names: FxHashSet<&str> = Tokens::new(&problem.text, 0)
            .filter(|token| token.kind == TokenKind::Atom)
            .map(|token| symbol(&problem.text[token.range]))
            .collect();
        for name in found.iter().flat_map(|(_, symbols)| symbols) {
            if names.contains(symbol(name)) {
                return Err(format!("{name} means something else in the problem"));
            }
        }
    }
    Ok(found.into_iter().map(|(command, _)| command).collect())
}

/// Stems of names for arguments and bound variables that no constructor or selector begins with.
fn prefixes(terms: &TermStore) -> (String, String) {
    let mut stems = ("x!".to_owned(), "q!".to_owned());
    for stem in [&mut stems.0, &mut stems.1] {
        let taken = |stem: &str| {
            terms.datatype_ids().any(|id| {
                terms.datatype(id).constructors.iter().any(|c| {
                    c.name.starts_with(stem)
                        || c.fields.iter().any(|f| f.selector.starts_with(stem))
                })
            })
        };
        while taken(stem) {
            stem.push('!');
        }
    }
    stems
}

/// A model's definitions as the user gets them.
pub fn model_text(definitions: &[String]) -> String {
    let mut out = String::from("(\n");
    for definition in definitions {
        writeln!(out, "  {definition}").expect("string");
    }
    out.push_str(")\n");
    out
}

/// How clauses are named in refutations: the number of the command and, where the command has
/// several clauses, which of them.
pub struct ClauseNames {
    /// By index of the clause: number of the command, position in it from 1.
    parts: Vec<(usize, usize)>,
    /// Number of clauses by number of the command.
    counts: FxHashMap<usize, usize>,
}

impl ClauseNames {
    /// The names of a problem's clauses.
    pub fn new(problem: &Problem) -> Self {
        let mut counts: FxHashMap<usize, usize> = FxHashMap::default();
        let parts = problem
            .clauses
            .iter()
            .map(|clause| {
                let count = counts.entry(clause.number).or_default();
                *count += 1;
                (clause.number, *count)
            })
            .collect();
        ClauseNames { parts, counts }
    }

    /// The clause's name: `3`, or `3.1`.
    pub fn name(&self, clause: usize) -> String {
        match self.parts[clause] {
            (number, part) if self.counts[&number] > 1 => format!("{number}.{part}"),
            (number, _) => number.to_string(),
        }
    }

    /// Number and part of each clause, to index them by name. A part of 1 may be left out where
    /// it is the only one.
    pub fn by_name(&self) -> FxHashMap<(usize, usize), usize> {
        let names = self.parts.iter().copied();
        names.enumerate().map(|(i, name)| (name, i)).collect()
    }
}

/// Values as text, each printed once.
struct Values<'a> {
    printer: Printer<'a>,
    memo: FxHashMap<TermId, String>,
}

impl<'a> Values<'a> {
    fn new(problem: &'a Problem) -> Self {
        Values {
            printer: Printer::new(&problem.terms),
            memo: FxHashMap::default(),
        }
    }

    fn text(&mut self, value: TermId) -> &str {
        self.memo
            .entry(value)
            .or_insert_with(|| self.printer.term(value))
    }
}

/// A refutation as text. Only for one that has passed its check.
pub fn refutation_text(problem: &Problem, refutation: &Refutation) -> String {
    let names = ClauseNames::new(problem);
    let mut values = Values::new(problem);
    let mut out = String::new();
    for (index, step) in refutation.steps.iter().enumerate() {
        write!(out, "{}: ", index + 1).expect("string");
        match &step.fact {
            None => out.push_str("false"),
            Some(fact) => write_fact(&mut out, problem, &mut values, fact),
        }
        let clause = step.clause.0 as usize;
        write!(out, " by clause {}", names.name(clause)).expect("string");
        let vars = &problem.clauses[clause].vars;
        for (position, (name, var)) in vars.iter().enumerate() {
            out.push_str(if position == 0 { " [" } else { ", " });
            out.push_str(&quote_symbol(name));
            out.push_str(" = ");
            out.push_str(values.text(step.values[var]));
        }
        if !vars.is_empty() {
            out.push(']');
        }
        for (position, premise) in step.premises.iter().enumerate() {
            let before = if position == 0 { " from " } else { ", " };
            write!(out, "{before}{}", premise + 1).expect("string");
        }
        out.push('\n');
    }
    out
}

fn write_fact(out: &mut String, problem: &Problem, values: &mut Values, fact: &Fact) {
    out.push_str(&quote_symbol(
        &problem.predicates[fact.predicate.index()].name,
    ));
    for (position, &value) in fact.values.iter().enumerate() {
        out.push_str(if position == 0 { "(" } else { ", " });
        out.push_str(values.text(value));
    }
    if !fact.values.is_empty() {
        out.push(')');
    }
}

/// A refutation as JSON, on one line. Only for one that has passed its check.
pub fn refutation_json(problem: &Problem, refutation: &Refutation) -> String {
    let names = ClauseNames::new(problem);
    let mut values = Values::new(problem);
    let mut steps: Vec<Value> = Vec::with_capacity(refutation.steps.len());
    for (index, step) in refutation.steps.iter().enumerate() {
        let fact = step.fact.as_ref().map(|fact| {
            let arguments = fact.values.iter().map(|&v| Value::from(values.text(v)));
            let arguments: Vec<Value> = arguments.collect();
            let name = &problem.predicates[fact.predicate.index()].name;
            json!({ "predicate": name, "arguments": arguments })
        });
        let index_of = step.clause.0 as usize;
        let clause = &problem.clauses[index_of];
        let (number, part) = names.parts[index_of];
        let assigned: Vec<Value> = clause
            .vars
            .iter()
            .map(|(name, var)| json!({"variable": name, "value": values.text(step.values[var])}))
            .collect();
        let premises: Vec<usize> = step.premises.iter().map(|p| p + 1).collect();
        steps.push(json!({
            "step": index + 1,
            "fact": fact,
            "clause": number,
            "part": part,
            "line": problem.commands[clause.command].line,
            "values": assigned,
            "premises": premises,
        }));
    }
    let mut out = json!({ "refutation": steps }).to_string();
    out.push('\n');
    out
}
