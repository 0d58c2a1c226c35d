//! Reading witnesses: the formats of `print`, and models of other solvers.
//!
//! A model is split into its definitions, which stay text for Z3's parser. The definitions may be
//! in a list, in a list that begins with `model`, or on the top level, after an optional line with
//! the verdict. Auxiliary functions are allowed; recursive ones only with a certificate in comments
//! after the model (`certificate`), or if they are sizes of datatypes.
//!
//! # Invariant
//! Reading checks the form only; `validate` checks that the witness is one.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;
use thiserror::Error;

use super::certificate::{Certificate, CertificateReader, has_certificate};
use super::derivations::{FunctionsText, ProofText, has_derived, has_proof, least_model};
use super::derivations::{read_derived, read_proof};
use super::print::{ClauseNames, text_functions, unique_names};
use super::script::defined_sort;
use super::sexp::{TokenKind, Tokens, ambiguity, elements, expression, symbol};
use super::tables::parse_table;
use super::value::parse_value;
use super::z3_read::{complete, is_proof_term, proof_term_steps};
use super::{Fact, Refutation, RefutationStep};
use alphorn_chc::frontend::{Dialect, Problem};
use alphorn_chc::{ClauseId, PredicateId};
use alphorn_term::{Assignment, Printer, SortId, TermId, quote_symbol};

/// The text is no witness.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum ParseError {
    /// An error at a place in the text.
    #[error("line {line} column {column}: {message}")]
    Text {
        /// From 1.
        line: usize,
        /// In characters, from 1.
        column: usize,
        /// The reason.
        message: String,
    },
    /// An error in a step of a refutation.
    #[error("step {step}: {message}")]
    Step {
        /// The step's number as it is written.
        step: usize,
        /// The reason.
        message: String,
    },
    /// The text is not JSON of the format.
    #[error("{0}")]
    Json(String),
}

/// A witness that was read.
#[derive(Debug, Clone)]
pub enum Witness {
    /// Definitions of the predicates.
    Model(Box<ModelText>),
    /// A proof by induction on derivations.
    Derivations(Box<DerivationsText>),
    /// A derivation of `false`.
    Refutation(Refutation),
}

/// A witness with the verdict before it, if there is one.
#[derive(Debug, Clone)]
pub struct Claim {
    /// `true` for `sat`, `false` for `unsat`.
    pub sat: Option<bool>,
    /// The witness.
    pub witness: Witness,
    /// With a counterexample to a goal, what shows that the functions exist.
    pub(super) functions: Option<Box<ModelText>>,
}

/// The definitions of a model, as text.
#[derive(Debug, Clone)]
pub struct ModelText {
    /// All definitions in their order, with auxiliary ones.
    pub definitions: String,
    /// The names that they define, without bars.
    pub names: Vec<String>,
    /// The definitions with their certificate, if there is one.
    pub(super) certificate: Option<Certificate>,
}

/// A proof by induction on derivations, as text.
#[derive(Debug, Clone)]
pub struct DerivationsText {
    /// The text that it was read from.
    pub(super) text: String,
    pub(super) proof: ProofText,
    /// The model by functions before it, if there is one.
    pub(super) functions: Option<FunctionsText>,
}

/// Reads a model, a proof by induction on derivations, or a refutation of `problem`.
///
/// # Errors
/// The text is no witness, or names clauses, variables or predicates that the problem does not
/// have.
pub fn parse_witness(problem: &Problem, text: &str) -> Result<Claim, ParseError> {
    let mut start = 0;
    let mut sat = None;
    if let Some(first) = Tokens::new(text, 0).next() {
        match &text[first.range.clone()] {
            "sat" => sat = Some(true),
            "unsat" => sat = Some(false),
            "unknown" => return Err(error_at(text, first.range.start, "the verdict is unknown")),
            _ => {}
        }
        if sat.is_some() {
            start = first.range.end;
        }
    }
    let is_proof = || has_derived(text, start) || is_alone_or_least(problem, text, start);
    if has_proof(text, start) && is_proof() {
        return Ok(Claim {
            sat,
            witness: Witness::Derivations(Box::new(parse_proof(problem, text, start)?)),
            functions: None,
        });
    }
    let Some(first) = Tokens::new(text, start).next() else {
        return Err(error_at(text, text.len(), "there is no witness"));
    };
    let mut functions = None;
    let witness = if text[first.range.start..].starts_with('{') {
        if problem.dialect == Dialect::Goal {
            functions = Some(json_measures(problem, &text[start..])?);
        }
        Witness::Refutation(resolve(problem, json_steps(&text[start..])?)?)
    } else if is_proof_term(text, first.range.start) {
        let steps = proof_term_steps(text, first.range.start);
        let steps = steps.map_err(|(place, message)| error_at(text, place, message))?;
        let mut refutation = resolve(problem, steps)?;
        complete(problem, &mut refutation.steps);
        missing_values(problem, &refutation)?;
        Witness::Refutation(refutation)
    } else if first.kind == TokenKind::Open {
        Witness::Model(Box::new(parse_model(problem, text, start)?))
    } else {
        if problem.dialect == Dialect::Goal {
            functions = Some(measures(problem, text.lines())?);
        }
        Witness::Refutation(resolve(problem, text_steps(text, start)?)?)
    };
    Ok(Claim {
        sat,
        witness,
        functions: functions.map(Box::new),
    })
}

/// Whether there are no definitions beside comments, or those of the least model. Other tools may write
/// such comments into a model.
fn is_alone_or_least(problem: &Problem, text: &str, start: usize) -> bool {
    let tokens = |text: &str, start: usize| -> Vec<String> {
        let tokens = Tokens::new(text, start);
        tokens.map(|token| text[token.range].to_owned()).collect()
    };
    if Tokens::new(text, start).next().is_none() {
        return true;
    }
    let least = least_model(problem).map(|lines| format!("({})", lines.join("\n")));
    least.is_ok_and(|least| tokens(&least, 0) == tokens(text, start))
}

/// Reads a proof by induction on derivations, with the model by functions before it.
fn parse_proof(problem: &Problem, text: &str, start: usize) -> Result<DerivationsText, ParseError> {
    let proof = read_proof(problem, text, start);
    let failed = |(place, message): (usize, String)| error_at(text, place, message);
    let proof = proof.map_err(failed)?;
    let functions = match has_derived(text, start) {
        false => None,
        true => Some(FunctionsText {
            model: parse_model(problem, text, start)?,
            derived: read_derived(problem, text, start).map_err(failed)?,
        }),
    };
    let text = text.to_owned();
    Ok(DerivationsText {
        text,
        proof,
        functions,
    })
}

/// Fails if a step has no values.
fn missing_values(problem: &Problem, refutation: &Refutation) -> Result<(), ParseError> {
    let lacks = |step: &RefutationStep| {
        let clause = &problem.clauses[step.clause.0 as usize];
        step.values.len() < clause.vars.len()
    };
    match refutation.steps.iter().position(lacks) {
        None => Ok(()),
        Some(step) => Err(ParseError::Step {
            step: step + 1,
            message: "no values of the clause's variables were found with which it follows"
                .to_owned(),
        }),
    }
}

fn error_at(text: &str, position: usize, message: impl Into<String>) -> ParseError {
    let before = &text[..position];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    ParseError::Text {
        line: before.bytes().filter(|&b| b == b'\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: message.into(),
    }
}

// ---- models ----

/// A model without definitions, with the measures in these lines.
fn measures<'a>(
    problem: &Problem,
    lines: impl Iterator<Item = &'a str>,
) -> Result<ModelText, ParseError> {
    let mut text = String::from("()\n");
    for line in lines.filter(|line| line.trim_start().starts_with("; measure ")) {
        text.push_str(line);
        text.push('\n');
    }
    parse_model(problem, &text, 0)
}

/// As [`measures`] for a counterexample in JSON.
fn json_measures(problem: &Problem, text: &str) -> Result<ModelText, ParseError> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| ParseError::Json(error.to_string()))?;
    let lines = value["measures"].as_array().into_iter().flatten();
    measures(problem, lines.filter_map(Value::as_str))
}

fn parse_model(problem: &Problem, text: &str, start: usize) -> Result<ModelText, ParseError> {
    let mut commands: Vec<Range<usize>> = Vec::new();
    let mut position = start;
    while let Some(token) = Tokens::new(text, position).next() {
        let Some(range) = expression(text, position) else {
            return Err(error_at(text, token.range.start, "this does not end"));
        };
        position = range.end;
        let Some(parts) = elements(text, &range) else {
            return Err(error_at(text, range.start, "not a definition"));
        };
        let head = parts.first().map(|r| &text[r.clone()]);
        match head {
            Some("define-fun" | "define-fun-rec" | "define-funs-rec") => commands.push(range),
            Some("model") => commands.extend(parts.into_iter().skip(1)),
            None => {}
            Some(word) if word.starts_with('(') => commands.extend(parts),
            Some(word) => {
                let message = format!("{word} is not allowed in a model");
                return Err(error_at(text, range.start, message));
            }
        }
    }
    let mut model = ModelText {
        definitions: String::new(),
        names: Vec::new(),
        certificate: None,
    };
    let failed = |(place, message): (usize, String)| error_at(text, place, message);
    // The text's own functions are defined as there, unless the model defines them.
    let own = |range: &Range<usize>| {
        let parts = elements(text, range).unwrap_or_default();
        parts.get(1).is_some_and(|name| {
            let name = symbol(&text[name.clone()]);
            problem.functions.iter().any(|f| f.name == name)
        })
    };
    let mut defaults = Vec::new();
    if !problem.functions.is_empty() && !commands.iter().any(own) {
        let definitions = text_functions(problem);
        defaults = definitions.map_err(|message| error_at(text, position, message))?;
    }
    let extended = extended(text, &defaults);
    let has_certificate = has_certificate(text, position)
        || has_derived(text, position)
        || !problem.functions.is_empty();
    let mut certificate = has_certificate.then(|| CertificateReader::new(&extended.0));
    if let Some(reader) = &mut certificate {
        for range in &extended.1 {
            reader.add_functions(range, false).map_err(failed)?;
        }
    }
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    for range in commands {
        let parts = elements(text, &range).unwrap_or_default();
        let word = |i: usize| parts.get(i).map(|r: &Range<usize>| &text[r.clone()]);
        let other = with_other_numbers(problem, text, &parts);
        if let Some(name) = other.or_else(|| with_other_sort(problem, text, &parts)) {
            let message = format!("{name} is declared with other sorts");
            return Err(error_at(text, range.start, message));
        }
        if matches!(word(0), Some("define-fun-rec" | "define-funs-rec")) {
            let sizes = size_definition(problem, &text[range.clone()]);
            let symbols = match &mut certificate {
                Some(reader) => {
                    let is_size = sizes.is_some();
                    reader.add_functions(&range, is_size).map_err(failed)?
                }
                None => sizes.ok_or_else(|| {
                    let message = "a recursive definition that is not one of the sizes of a \
                                   datatype, without a certificate";
                    error_at(text, range.start, message)
                })?,
            };
            for symbol in symbols {
                if model.names.contains(&symbol) {
                    let message = format!("{symbol} is defined twice");
                    return Err(error_at(text, range.start, message));
                }
                model.names.push(symbol);
            }
            model.definitions.push_str(&text[range]);
            model.definitions.push('\n');
            continue;
        }
        if let Some(name) = defined_sort(text, &range) {
            check_sort_definition(problem, text, &range, &name).map_err(failed)?;
            if model.names.contains(&name) {
                let message = format!("{name} is defined twice");
                return Err(error_at(text, range.start, message));
            }
            model.names.push(name);
            if let Some(reader) = &mut certificate {
                reader.add_plain(&text[range.clone()]);
            }
            model.definitions.push_str(&text[range]);
            model.definitions.push('\n');
            continue;
        }
        if word(0) != Some("define-fun") || parts.len() != 5 {
            let message = "not of the form (define-fun name (arguments) sort term)";
            return Err(error_at(text, range.start, message));
        }
        // Z3 reads the definitions as text. If it split them into other tokens, they might contain
        // a recursive definition, from which anything follows.
        if let Some(place) = ambiguity(text, &range) {
            return Err(error_at(text, place, "solvers may read this differently"));
        }
        let name = symbol(word(1).unwrap_or_default());
        if !seen.insert(name) || model.names.iter().any(|n| n == name) {
            return Err(error_at(
                text,
                range.start,
                format!("{name} is defined twice"),
            ));
        }
        model.names.push(name.to_owned());
        if let Some(reader) = &mut certificate {
            reader.add_plain(&text[range.clone()]);
        }
        model.definitions.push_str(&text[range]);
        model.definitions.push('\n');
    }
    if let Some(reader) = certificate {
        model.certificate = Some(reader.finish(position, text.len()).map_err(failed)?);
    }
    Ok(model)
}

/// Checks that a definition of a sort is one of a sort that the problem only declares, as Int or as a
/// datatype whose constructors have names that the problem does not have.
fn check_sort_definition(
    problem: &Problem,
    text: &str,
    command: &Range<usize>,
    name: &str,
) -> Result<(), (usize, String)> {
    let failed = |message: String| Err((command.start, message));
    if problem.dialect == Dialect::Goal {
        return failed(format!("a goal has to hold for all sets {name}"));
    }
    if !problem.free_sorts.iter().any(|sort| sort.name == name) {
        return failed(format!("{name} is not a sort without definition"));
    }
    if let Some(place) = ambiguity(text, command) {
        return Err((place, "solvers may read this differently".to_owned()));
    }
    let words: Vec<&str> = Tokens::new(&text[..command.end], command.start)
        .map(|token| &text[token.range])
        .collect();
    let written = quote_symbol(name);
    let constructors: &[&str] = match &words[..] {
        ["(", "define-sort", _, "(", ")", "Int", ")"] => return Ok(()),
        [
            "(",
            "declare-datatypes",
            "(",
            "(",
            sort,
            "0",
            ")",
            ")",
            "(",
            "(",
            rest @ ..,
            ")",
            ")",
            ")",
        ] if symbol(sort) == symbol(&written) => rest,
        _ => return failed(format!("{name} is defined neither as Int nor by constants")),
    };
    let taken: FxHashSet<&str> = Tokens::new(&problem.text, 0)
        .map(|token| symbol(&problem.text[token.range]))
        .collect();
    for constructor in constructors.chunks(3) {
        match constructor {
            ["(", name, ")"] if !taken.contains(symbol(name)) => {}
            _ => {
                return failed(format!(
                    "{name} is defined neither as Int nor by new constants"
                ));
            }
        }
    }
    Ok(())
}

/// The text with more commands behind it, and their ranges.
fn extended<'a>(text: &'a str, commands: &[String]) -> (Cow<'a, str>, Vec<Range<usize>>) {
    if commands.is_empty() {
        return (Cow::Borrowed(text), Vec::new());
    }
    let mut whole = format!("{text}\n");
    let mut ranges = Vec::with_capacity(commands.len());
    for command in commands {
        let start = whole.len();
        whole.push_str(command);
        ranges.push(start..whole.len());
        whole.push('\n');
    }
    (Cow::Owned(whole), ranges)
}

/// A constant or function without definition that the command with these parts defines with other
/// sorts than it is declared with.
fn with_other_sort<'a>(
    problem: &Problem,
    text: &'a str,
    parts: &[Range<usize>],
) -> Option<&'a str> {
    let [_, name, params, sort, _] = parts else {
        return None;
    };
    let name = symbol(&text[name.clone()]);
    let mut constants = problem.constants.iter();
    let constant = constants.find(|c| c.name == name && c.declaration.is_some())?;
    let words = |text: &str| -> Vec<String> {
        let tokens = Tokens::new(text, 0);
        tokens.map(|t| text[t.range].to_owned()).collect()
    };
    let terms = &problem.terms;
    let printed = match constant.parameters.is_empty() {
        true => Printer::new(terms).sort(terms.sort_of(constant.var)),
        false => String::new(),
    };
    let declared = constant.declaration.as_ref().map(|(sort, _)| sort.as_str());
    let written = words(&text[sort.clone()]);
    let mut sorts = declared.into_iter().chain([printed.as_str()]);
    let same = sorts.any(|sort| words(sort) == written);
    let params = elements(text, params)?;
    let mut pairs = params.iter().zip(&constant.parameters);
    let fits = pairs.all(|(param, declared)| {
        let parts = elements(text, param).unwrap_or_default();
        parts.len() == 2 && words(&text[parts[1].clone()]) == words(declared)
    });
    let same = same && fits && params.len() == constant.parameters.len();
    (!same).then_some(name)
}

/// A predicate that the command with these parts defines over Int where it is declared over Real,
/// or the converse. Z3 would convert the arguments of its applications; for other sorts it reports
/// an error.
fn with_other_numbers<'a>(
    problem: &Problem,
    text: &'a str,
    parts: &[Range<usize>],
) -> Option<&'a str> {
    let list = |range: &Range<usize>| elements(text, range).unwrap_or_default();
    let heads = match parts {
        [word, heads, _] if &text[word.clone()] == "define-funs-rec" => {
            list(heads).iter().map(list).collect()
        }
        [_, head @ ..] => vec![head.to_vec()],
        [] => Vec::new(),
    };
    let is_other = |head: &Vec<Range<usize>>| {
        let [name, params, ..] = head.as_slice() else {
            return false;
        };
        let name = symbol(&text[name.clone()]);
        let Some(predicate) = problem.predicates.iter().find(|p| p.name == name) else {
            return false;
        };
        let mut pairs = predicate.params.iter().zip(list(params));
        pairs.any(|(&declared, written)| {
            let (expected, other) = match problem.terms.sort_of(declared) {
                SortId::INT => ("Int", "Real"),
                SortId::REAL => ("Real", "Int"),
                _ => return false,
            };
            let sort = list(&written).pop();
            // With a heap, addresses are integers, too.
            sort.is_none_or(|sort| match problem.heap.is_some() {
                true => &text[sort] == other,
                false => &text[sort] != expected,
            })
        })
    };
    let other = heads.into_iter().find(is_other)?;
    Some(symbol(&text[other[0].clone()]))
}

/// The symbols that a recursive definition defines, if its tokens are those of the definition of
/// sizes of a datatype of the problem. Any other recursive definition may be inconsistent.
pub(super) fn size_definition(problem: &Problem, text: &str) -> Option<Vec<String>> {
    let terms = &*problem.terms;
    let words = |text: &str| -> Vec<String> {
        let tokens = Tokens::new(text, 0);
        tokens.map(|t| text[t.range].to_owned()).collect()
    };
    let given = words(text);
    let sized = terms.datatype_ids().filter_map(|id| {
        let sort = terms.datatype_sort(id);
        terms
            .sized(sort)
            .map(|_| terms.size(terms.fresh_var("v", sort)))
    });
    let sizes: Vec<TermId> = sized.collect();
    let mut own = terms.size_definitions(&sizes).into_iter();
    let (_, symbols) = own.find(|(command, _)| words(command) == given)?;
    Some(symbols.iter().map(|s| symbol(s).to_owned()).collect())
}

// ---- refutations ----

/// A fact with names and values as text.
pub(super) struct RawFact {
    pub negated: bool,
    pub predicate: String,
    pub arguments: Vec<String>,
}

/// A step with names and values as text.
pub(super) struct RawStep {
    pub number: usize,
    pub fact: Option<RawFact>,
    pub clause: (usize, usize),
    /// The values of the clause's variables; `None` if the format has none.
    pub values: Option<Vec<(String, String)>>,
    pub premises: Vec<usize>,
}

/// A position in a text.
struct Cursor<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Cursor<'a> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(error_at(self.text, self.position, message))
    }

    fn skip_space(&mut self) {
        let next = Tokens::new(self.text, self.position).next();
        self.position = next.map_or(self.text.len(), |token| token.range.start);
    }

    /// Takes `text` if it comes next.
    fn take(&mut self, text: &str) -> bool {
        self.skip_space();
        let found = self.text[self.position..].starts_with(text);
        if found {
            self.position += text.len();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Result<(), ParseError> {
        if self.take(text) {
            Ok(())
        } else {
            self.error(format!("expected `{text}`"))
        }
    }

    /// A symbol, with its bars if it has any, or a numeral.
    fn atom(&mut self) -> Result<&'a str, ParseError> {
        self.skip_space();
        let rest = &self.text[self.position..];
        let end = if let Some(quoted) = rest.strip_prefix('|') {
            quoted.find('|').map_or(0, |end| end + 2)
        } else {
            rest.find(|c: char| c.is_whitespace() || "()[],:;|\"".contains(c))
                .unwrap_or(rest.len())
        };
        if end == 0 {
            return self.error("expected a name or a number");
        }
        self.position += end;
        Ok(&rest[..end])
    }

    fn number(&mut self) -> Result<usize, ParseError> {
        self.skip_space();
        let start = self.position;
        let rest = &self.text[start..];
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        self.position += digits;
        match rest[..digits].parse() {
            Ok(number) => Ok(number),
            Err(_) => Err(error_at(self.text, start, "expected a number")),
        }
    }

    /// An SMT-LIB term, as text.
    fn term(&mut self) -> Result<&'a str, ParseError> {
        self.skip_space();
        if !self.text[self.position..].starts_with('(') {
            return self.atom();
        }
        match expression(self.text, self.position) {
            Some(range) => {
                self.position = range.end;
                Ok(&self.text[range])
            }
            None => self.error("this term does not end"),
        }
    }
}

/// The steps of a refutation as text.
fn text_steps(text: &str, start: usize) -> Result<Vec<RawStep>, ParseError> {
    let mut cursor = Cursor {
        text,
        position: start,
    };
    let mut steps = Vec::new();
    loop {
        cursor.skip_space();
        if cursor.position == text.len() {
            return Ok(steps);
        }
        let number = cursor.number()?;
        cursor.expect(":")?;
        let negated = cursor.take("not ");
        let name = cursor.atom()?;
        let fact = if name == "false" {
            None
        } else {
            let mut values = Vec::new();
            if cursor.take("(") {
                loop {
                    values.push(cursor.term()?.to_owned());
                    if !cursor.take(",") {
                        break;
                    }
                }
                cursor.expect(")")?;
            }
            Some(RawFact {
                negated,
                predicate: symbol(name).to_owned(),
                arguments: values,
            })
        };
        cursor.expect("by")?;
        cursor.expect("clause")?;
        let clause = cursor.number()?;
        let part = if cursor.take(".") {
            cursor.number()?
        } else {
            1
        };
        let mut values = Vec::new();
        if cursor.take("[") {
            loop {
                let name = symbol(cursor.atom()?).to_owned();
                cursor.expect("=")?;
                values.push((name, cursor.term()?.to_owned()));
                if !cursor.take(",") {
                    break;
                }
            }
            cursor.expect("]")?;
        }
        let mut premises = Vec::new();
        if cursor.take("from") {
            loop {
                premises.push(cursor.number()?);
                if !cursor.take(",") {
                    break;
                }
            }
        }
        steps.push(RawStep {
            number,
            fact,
            clause: (clause, part),
            values: Some(values),
            premises,
        });
    }
}

/// The steps of a refutation as JSON.
fn json_steps(text: &str) -> Result<Vec<RawStep>, ParseError> {
    let json: Value = serde_json::from_str(text).map_err(|e| ParseError::Json(e.to_string()))?;
    let Some(steps) = json["refutation"].as_array() else {
        return Err(ParseError::Json(
            "there is no array `refutation`".to_owned(),
        ));
    };
    let mut result = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
        let missing = |what: &str| ParseError::Step {
            step: number(&step["step"]).unwrap_or(index + 1),
            message: format!("`{what}` is missing or malformed"),
        };
        let string = |value: &Value, what: &str| {
            let text = value.as_str().map(str::to_owned);
            text.ok_or_else(|| missing(what))
        };
        let list = |what: &str| step[what].as_array().ok_or_else(|| missing(what));
        let fact = match &step["fact"] {
            Value::Null => None,
            fact => {
                let arguments = fact["arguments"].as_array();
                let arguments = arguments.ok_or_else(|| missing("arguments"))?;
                let arguments = arguments.iter().map(|a| string(a, "arguments"));
                Some(RawFact {
                    negated: fact["negated"] == Value::Bool(true),
                    predicate: string(&fact["predicate"], "predicate")?,
                    arguments: arguments.collect::<Result<_, _>>()?,
                })
            }
        };
        let part = match &step["part"] {
            Value::Null => 1,
            part => number(part).ok_or_else(|| missing("part"))?,
        };
        result.push(RawStep {
            number: number(&step["step"]).ok_or_else(|| missing("step"))?,
            fact,
            clause: (
                number(&step["clause"]).ok_or_else(|| missing("clause"))?,
                part,
            ),
            values: Some(
                list("values")?
                    .iter()
                    .map(|v| {
                        Ok((
                            string(&v["variable"], "values")?,
                            string(&v["value"], "values")?,
                        ))
                    })
                    .collect::<Result<_, ParseError>>()?,
            ),
            premises: list("premises")?
                .iter()
                .map(|p| number(p).ok_or_else(|| missing("premises")))
                .collect::<Result<_, _>>()?,
        });
    }
    Ok(result)
}

/// The refutation with these steps.
fn resolve(problem: &Problem, steps: Vec<RawStep>) -> Result<Refutation, ParseError> {
    let clauses = ClauseNames::new(problem).by_name();
    let predicates: FxHashMap<&str, usize> = problem
        .predicates
        .iter()
        .enumerate()
        .map(|(index, p)| (p.name.as_str(), index))
        .collect();
    let mut values = Values::new(problem);
    let mut indexes: FxHashMap<usize, usize> = FxHashMap::default();
    let mut refutation = Refutation::default();
    for (index, raw) in steps.into_iter().enumerate() {
        let error = |message: String| ParseError::Step {
            step: raw.number,
            message,
        };
        let Some(&clause) = clauses.get(&raw.clause) else {
            let (number, part) = raw.clause;
            return Err(error(format!("there is no clause {number}.{part}")));
        };
        let vars = &problem.clauses[clause].vars;
        let given = raw.values.as_deref().unwrap_or_default();
        if raw.values.is_some() && vars.len() != given.len() {
            return Err(error(format!(
                "{} values for {} variables",
                given.len(),
                vars.len()
            )));
        }
        let mut assignment = Assignment::default();
        let unique = unique_names(vars);
        let expected = vars.iter().zip(&unique);
        for (((name, var), unique), (given, text)) in expected.zip(given) {
            // As text a refutation has the names of the clause, as JSON unique ones.
            if **given != **name && given != unique {
                return Err(error(format!("variable {given} where {name} is expected")));
            }
            let sort = problem.terms.sort_of(*var);
            assignment.insert(*var, values.read(text, sort).map_err(error)?);
        }
        let fact = match &raw.fact {
            None => None,
            Some(RawFact {
                negated,
                predicate: name,
                arguments,
            }) => {
                let Some(&predicate) = predicates.get(name.as_str()) else {
                    return Err(error(format!("there is no predicate {name}")));
                };
                let id = PredicateId(predicate as u32);
                if problem.complemented.contains(&id) != *negated {
                    return Err(error(format!("a fact of {name} with the wrong sign")));
                }
                let params = &problem.predicates[predicate].params;
                if params.len() != arguments.len() {
                    return Err(error(format!(
                        "{name} has {} arguments, not {}",
                        params.len(),
                        arguments.len()
                    )));
                }
                let read = |(text, &param): (&String, &TermId)| {
                    values.read(text, problem.terms.sort_of(param))
                };
                let found: Result<Vec<TermId>, String> =
                    arguments.iter().zip(params).map(read).collect();
                Some(Fact {
                    predicate: id,
                    values: found.map_err(error)?,
                })
            }
        };
        let premises = raw.premises.iter().map(|premise| {
            let known = indexes.get(premise).copied();
            known.ok_or_else(|| error(format!("premise {premise} does not come before it")))
        });
        let premises = premises.collect::<Result<Vec<usize>, ParseError>>()?;
        if indexes.insert(raw.number, index).is_some() {
            return Err(error("its number is not unique".to_owned()));
        }
        refutation.steps.push(RefutationStep {
            clause: ClauseId(clause as u32),
            values: assignment,
            premises,
            fact,
        });
    }
    Ok(refutation)
}

/// Reads values, each text and sort once.
struct Values<'a> {
    problem: &'a Problem,
    memo: FxHashMap<(String, SortId), TermId>,
}

impl<'a> Values<'a> {
    fn new(problem: &'a Problem) -> Self {
        Values {
            problem,
            memo: FxHashMap::default(),
        }
    }

    fn read(&mut self, text: &str, sort: SortId) -> Result<TermId, String> {
        let key = (text.to_owned(), sort);
        if let Some(&value) = self.memo.get(&key) {
            return Ok(value);
        }
        let value = match parse_table(self.problem, text, sort) {
            Some(table) => table?,
            None => parse_value(&self.problem.terms, text, sort)?,
        };
        self.memo.insert(key, value);
        Ok(value)
    }
}
