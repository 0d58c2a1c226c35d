//! What an answer means, in words.
//!
//! Invariant: an explanation says what the verdict and its witness say, and nothing else.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::Value;

use super::Printed;
use super::formula::{Reader, Sexp, conjuncts};
use super::names::{ArgumentNames, argument_names};
use super::pretty;
use alphorn_chc::frontend::{Dialect, Problem};
use alphorn_term::run::Reason;

/// The most steps of a derivation in an explanation, half of them from its end.
const MAX_STEPS: usize = 200;

/// A definition of a printed model.
pub struct Definition {
    /// The name as it is printed.
    pub name: String,
    /// The whole command.
    pub text: String,
    /// Whether it defines functions that the invariants use.
    pub is_recursive: bool,
}

/// The definitions of a model, one a line as it is printed.
pub fn definitions(model: &str) -> Vec<Definition> {
    let commands = model.lines().filter_map(|line| line.strip_prefix("  "));
    let read = |text: &str| {
        let (kind, rest) = text.strip_prefix('(')?.split_once(' ')?;
        Some(Definition {
            name: pretty::first(rest).to_owned(),
            text: text.to_owned(),
            is_recursive: kind != "define-fun",
        })
    };
    commands.filter_map(read).collect()
}

/// The steps of a refutation that was printed as JSON; empty for another answer.
pub fn steps(refutation: &str) -> Vec<Value> {
    let object: Value = serde_json::from_str(refutation).unwrap_or_default();
    object["refutation"].as_array().cloned().unwrap_or_default()
}

/// The invariant of a predicate, for people.
pub struct Invariant {
    /// The arguments' names.
    pub arguments: Vec<String>,
    /// The conjuncts; none for `true`.
    pub conjuncts: Vec<String>,
}

/// The invariant in a definition, with these names of arguments; `None` if it is too long to be shown
/// like this.
pub fn invariant(definition: &str, names: &ArgumentNames, reader: &Reader) -> Option<Invariant> {
    let Sexp::List(parts) = Sexp::read(definition)? else {
        return None;
    };
    let [_, name, Sexp::List(params), _, body] = &parts[..] else {
        return None;
    };
    let name = Reader::default().text(name);
    let own = names.get(&name);
    let mut local = Reader {
        names: HashMap::new(),
        fields: reader.fields.clone(),
    };
    let mut arguments = Vec::new();
    for (at, param) in params.iter().enumerate() {
        let Sexp::List(pair) = param else { return None };
        let Some(Sexp::Atom(param)) = pair.first() else {
            return None;
        };
        let shown = own.and_then(|names| names.get(at)).cloned();
        let shown = shown.unwrap_or_else(|| param.clone());
        local.names.insert(param.clone(), shown.clone());
        arguments.push(shown);
    }
    let parts = conjuncts(body);
    let shown = parts.iter().map(|part| local.text(part));
    Some(Invariant {
        arguments,
        conjuncts: shown.filter(|text| text != "true").collect(),
    })
}

/// A reader with the fields of the problem's records.
pub fn reader(problem: &Problem) -> Reader {
    let mut fields = HashMap::new();
    for id in problem.terms.datatype_ids() {
        for constructor in &problem.terms.datatype(id).constructors {
            let names = constructor
                .fields
                .iter()
                .map(|field| field.selector.clone());
            let names: Vec<String> = names.collect();
            if !names.is_empty() {
                fields.insert(constructor.name.clone(), names);
            }
        }
    }
    Reader {
        names: HashMap::new(),
        fields,
    }
}

/// The answer in a sentence.
pub fn sentence(problem: &Problem, answer: &Printed, steps: &[Value]) -> String {
    let is_goal = problem.dialect == Dialect::Goal;
    match answer.satisfiable {
        Some(true) if is_goal => "Proven: the goal holds for all values.".to_owned(),
        Some(true) => "Safe: these invariants hold. Every clause keeps them, and no query can be \
             reached."
            .to_owned(),
        Some(false) if is_goal => {
            "Refuted: these values are a counterexample to the goal.".to_owned()
        }
        Some(false) => match steps.last().and_then(|step| step["line"].as_u64()) {
            Some(line) => format!("Unsafe: this run violates the query of line {line}."),
            None => "Unsafe: false can be derived.".to_owned(),
        },
        None => {
            let reason = answer.reason.as_deref().unwrap_or("no reason");
            format!("No answer: {reason}. {}", advice(reason))
        }
    }
}

/// What to do about an `unknown`.
fn advice(reason: &str) -> &'static str {
    if reason == Reason::Timeout.to_string() {
        "A longer time limit, or several jobs, may help."
    } else if reason == Reason::Memory.to_string() {
        "A larger memory limit, or fewer jobs, may help."
    } else if reason == Reason::Interrupted.to_string() {
        "The run was stopped from outside."
    } else if reason.starts_with("defect") {
        "This is a defect of alphorn; please report it with the file."
    } else {
        "The engines gave up within their own bounds; other options may help."
    }
}

/// The answer in words, with the invariants or the run, as lines of text.
pub fn explanation(problem: &Problem, answer: &Printed) -> String {
    let (names, reader) = (argument_names(problem), reader(problem));
    let steps = steps(&answer.refutation);
    let mut out = sentence(problem, answer, &steps);
    out.push('\n');
    for definition in definitions(&answer.model) {
        if definition.is_recursive {
            let _ = writeln!(out, "  {}", definition.text);
            continue;
        }
        let name = Reader::default().text(&Sexp::Atom(definition.name.clone()));
        match invariant(&definition.text, &names, &reader) {
            Some(shown) => {
                let _ = writeln!(out, "  {name}({}):", shown.arguments.join(", "));
                match shown.conjuncts.is_empty() {
                    true => out.push_str("    true\n"),
                    false => shown.conjuncts.iter().for_each(|part| {
                        let _ = writeln!(out, "    {part}");
                    }),
                }
            }
            None => {
                let _ = writeln!(out, "  {}", definition.text);
            }
        }
    }
    let (first, last) = (MAX_STEPS / 2, steps.len().saturating_sub(MAX_STEPS / 2));
    for (at, step) in steps.iter().enumerate() {
        if at == first && at < last {
            let _ = writeln!(out, "  … {} more steps …", last - first);
        }
        if at < first || at >= last {
            let _ = writeln!(out, "  {}", step_line(step, &names, &reader));
        }
    }
    out
}

/// A step in a line.
fn step_line(step: &Value, names: &ArgumentNames, reader: &Reader) -> String {
    let (number, line) = (&step["step"], &step["line"]);
    let premises = step["premises"].as_array().into_iter().flatten();
    let premises: Vec<String> = premises.map(Value::to_string).collect();
    let from = match premises.is_empty() {
        true => String::new(),
        false => format!(", from {}", premises.join(", ")),
    };
    let fact = &step["fact"];
    let Some(predicate) = fact["predicate"].as_str() else {
        return format!("{number}. the query holds (line {line}{from})");
    };
    let own = names.get(predicate);
    let arguments = fact["arguments"].as_array().into_iter().flatten();
    let arguments = arguments.filter_map(Value::as_str).enumerate();
    let shown = arguments.map(|(at, value)| {
        let value = Sexp::read(value).map_or_else(|| value.to_owned(), |v| reader.text(&v));
        match own.and_then(|names| names.get(at)) {
            Some(name) => format!("{name} = {value}"),
            None => value,
        }
    });
    let shown: Vec<String> = shown.collect();
    let negated = if fact["negated"] == true { "not " } else { "" };
    format!(
        "{number}. {negated}{predicate}({}) (line {line}{from})",
        shown.join(", ")
    )
}
