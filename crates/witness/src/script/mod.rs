//! The user's text as a script for Z3's parser: with predicates defined, for the check of a model,
//! or declared, for the check of a refutation. Rules and queries of the fixedpoint dialect become
//! assertions. What Z3 would read otherwise is changed ([`Changes`]), for all checks alike.
//!
//! # Invariant
//! Formulas, definitions and sorts are copied from the text by its tokens, without the reader's
//! terms. Of the reader only the ranges of commands and the names of predicates are used.

mod changes;
mod heaps;
mod names;
mod surgery;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::sexp::{TokenKind, Tokens, elements, symbol};
use alphorn_chc::frontend::{CommandSpan, Problem};
pub use changes::Changes;
pub use heaps::HeapGuard;
use surgery::Part;

/// A script of declarations, definitions and assertions.
#[derive(Clone, Debug)]
pub struct Script {
    /// The commands.
    pub text: String,
    /// For each assertion of the script, the index of its command in `Problem::commands`.
    pub origins: Vec<usize>,
}

/// A part of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Commands, each with a line break.
    Commands(String),
    /// The formula that a command asserts; that of a rule or query with its implicit quantifier.
    Assertion {
        /// The index of the command in `Problem::commands`.
        command: usize,
        /// The formula's text.
        formula: String,
    },
}

/// The treatment of predicates in a script.
#[derive(Clone, Copy)]
pub enum Predicates<'a> {
    /// Defined by these commands.
    Defined(&'a str),
    /// Uninterpreted, and only these commands of the problem are asserted.
    Declared(&'a BTreeSet<usize>),
}

/// A declared variable of the fixedpoint dialect: its name and sort as written.
struct DeclaredVar {
    name: Range<usize>,
    sort: Range<usize>,
}

/// Whether a command with this keyword declares or defines sorts.
fn declares_sorts(keyword: &str) -> bool {
    matches!(
        keyword,
        "declare-datatype" | "declare-datatypes" | "declare-heap" | "declare-sort" | "define-sort"
    )
}

/// The name of a variable of a query that is the name of a relation, by the argument's position.
pub fn query_variable(position: usize) -> String {
    format!("query!{position}")
}

/// The problem's declarations of sorts, then `definitions`, commands that define each predicate,
/// then its other declarations, definitions and assertions. So `definitions` may use any sort.
///
/// # Errors
/// A malformed command, which the reader would have rejected.
pub fn defined(problem: &Problem, definitions: &str) -> Result<Script, String> {
    let changes = Changes::new(problem, &[definitions]);
    let pieces = pieces(problem, &changes, Predicates::Defined(definitions))?;
    Ok(script(pieces, ""))
}

/// The same with another guard of heaps. `None` without a heap, or if nothing follows from the guard
/// of small heaps, since it is that of an inner quantifier's variable.
///
/// # Errors
/// As [`defined`].
pub fn defined_with(
    problem: &Problem,
    definitions: &str,
    guard: HeapGuard,
) -> Result<Option<Script>, String> {
    let mut changes = Changes::new(problem, &[definitions]);
    if !changes.set_heap_guard(guard) {
        return Ok(None);
    }
    let pieces = pieces(problem, &changes, Predicates::Defined(definitions))?;
    let is_inner = guard == HeapGuard::Small && changes.has_inner_guards();
    Ok((!is_inner).then(|| script(pieces, "")))
}

/// The problem's declarations and definitions, the assertions of `commands` in their order, and
/// then the commands `more`, which alphorn wrote about it.
///
/// # Errors
/// A malformed command.
pub fn declared(
    problem: &Problem,
    changes: &Changes<'_>,
    commands: &BTreeSet<usize>,
    more: &str,
) -> Result<Script, String> {
    let pieces = pieces(problem, changes, Predicates::Declared(commands))?;
    Ok(script(pieces, &changes.own(more)))
}

/// The problem's declarations of sorts, and then the commands `more`, which alphorn wrote about them.
pub fn with_sorts(problem: &Problem, more: &str) -> String {
    let changes = Changes::new(problem, &[more]);
    let mut out = sorts(&changes, problem);
    out.push_str(&changes.definitions(more));
    out
}

/// The problem's declarations and definitions of sorts, as they are.
pub fn sort_declarations(problem: &Problem) -> String {
    let mut out = String::new();
    for command in &problem.commands {
        if declares_sorts(&command.keyword) {
            out.push_str(&problem.text[command.range.clone()]);
            out.push('\n');
        }
    }
    out
}

/// The problem's declarations and definitions of sorts, changed.
pub fn sorts(changes: &Changes<'_>, problem: &Problem) -> String {
    let mut out = changes.front().to_owned();
    for (index, command) in problem.commands.iter().enumerate() {
        if declares_sorts(&command.keyword) {
            push_command(&mut out, &changes.command(index));
        }
    }
    out
}

/// Adds a command with a line break, if it is not empty.
fn push_command(out: &mut String, command: &str) {
    if !command.is_empty() {
        out.push_str(command);
        out.push('\n');
    }
}

/// A script of pieces and of the commands `more`.
fn script(pieces: Vec<Piece>, more: &str) -> Script {
    let mut text = String::new();
    let mut origins = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Commands(commands) => text.push_str(&commands),
            Piece::Assertion { command, formula } => {
                origins.push(command);
                text.push_str("(assert ");
                text.push_str(&formula);
                text.push_str(")\n");
            }
        }
    }
    text.push_str(more);
    Script { text, origins }
}

/// The parts of a script in their order: declarations of sorts, definitions of predicates, and the
/// problem's other declarations, definitions and assertions.
///
/// # Errors
/// A malformed command.
pub fn pieces(
    problem: &Problem,
    changes: &Changes<'_>,
    kind: Predicates<'_>,
) -> Result<Vec<Piece>, String> {
    let (definitions, asserted) = match kind {
        Predicates::Defined(definitions) => (definitions, None),
        Predicates::Declared(commands) => ("", Some(commands)),
    };
    let mut writer = Writer {
        text: &problem.text,
        changes,
        predicates: problem.predicates.iter().map(|p| p.name.as_str()).collect(),
        declared: asserted.is_some(),
        vars: FxHashMap::default(),
        relations: FxHashMap::default(),
        out: sorts(changes, problem),
        pieces: Vec::new(),
    };
    if asserted.is_none() {
        writer.out.push_str(&changes.definitions(definitions));
    }
    writer.out.push('\n');
    for (index, command) in problem.commands.iter().enumerate() {
        let keyword = command.keyword.as_str();
        let written = match keyword {
            _ if declares_sorts(keyword) => Some(()),
            "declare-fun" | "declare-const" | "declare-rel" => writer.declaration(index, command),
            "declare-var" => writer.variable(command),
            "assert" | "rule" | "query" => {
                writer.out.push_str(changes.before(index));
                if asserted.is_some_and(|some| !some.contains(&index)) {
                    continue;
                }
                let formula = writer.formula(command);
                formula.map(|formula| {
                    writer.end_commands();
                    let formula = changes.changed(Cow::Owned(formula), Part::Term);
                    writer.pieces.push(Piece::Assertion {
                        command: index,
                        formula: formula.into_owned(),
                    });
                })
            }
            _ => {
                if keyword.starts_with("declare-") || keyword.starts_with("define-") {
                    push_command(&mut writer.out, &changes.command(index));
                }
                Some(())
            }
        };
        if written.is_none() {
            let (line, column) = (command.line, command.column);
            return Err(format!(
                "line {line} column {column}: {keyword} is malformed"
            ));
        }
    }
    writer.end_commands();
    match changes.failure() {
        Some(message) => Err(message),
        None => Ok(writer.pieces),
    }
}

/// Writes commands. Its functions return `None` for a malformed command.
struct Writer<'a> {
    text: &'a str,
    changes: &'a Changes<'a>,
    predicates: FxHashSet<&'a str>,
    /// Whether predicates keep their declarations.
    declared: bool,
    vars: FxHashMap<&'a str, DeclaredVar>,
    /// The sorts of the predicates' arguments, for queries that are the name of a predicate.
    relations: FxHashMap<&'a str, Vec<Range<usize>>>,
    /// Commands that are not in `pieces` yet.
    out: String,
    pieces: Vec<Piece>,
}

impl<'a> Writer<'a> {
    /// Moves the commands so far to `pieces`.
    fn end_commands(&mut self) {
        if !self.out.is_empty() {
            let commands = std::mem::take(&mut self.out);
            self.pieces.push(Piece::Commands(commands));
        }
    }

    fn declaration(&mut self, index: usize, command: &CommandSpan) -> Option<()> {
        let text = self.text;
        let parts = elements(text, &command.range)?;
        let written = &text[parts.get(1)?.clone()];
        let name = symbol(written);
        let relation = command.keyword == "declare-rel";
        let predicate = self.predicates.contains(name);
        if relation || (predicate && command.keyword == "declare-fun") {
            self.relations.insert(name, elements(text, parts.get(2)?)?);
        }
        if predicate && !self.declared {
            return Some(());
        }
        if relation && !self.changes.is_replaced(index) {
            let sorts = &text[parts.get(2)?.clone()];
            let command = format!("(declare-fun {written} {sorts} Bool)");
            let command = self.changes.changed(Cow::Owned(command), Part::Commands);
            push_command(&mut self.out, &command);
        } else {
            push_command(&mut self.out, &self.changes.command(index));
        }
        Some(())
    }

    fn variable(&mut self, command: &CommandSpan) -> Option<()> {
        let parts = elements(self.text, &command.range)?;
        let (name, sort) = (parts.get(1)?.clone(), parts.get(2)?.clone());
        let var = DeclaredVar {
            name: name.clone(),
            sort,
        };
        self.vars.insert(symbol(&self.text[name]), var);
        Some(())
    }

    /// The formula that a command asserts: that of an assertion, a rule, or the negation of a
    /// query.
    fn formula(&self, command: &CommandSpan) -> Option<String> {
        let text = self.text;
        let parts = elements(text, &command.range)?;
        let range = parts.get(1)?;
        let formula = &text[range.clone()];
        if command.keyword == "assert" {
            return Some(formula.to_owned());
        }
        let is_query = command.keyword == "query";
        let mut out = String::with_capacity(formula.len() + 64);
        let mut closing = 0;
        match self.relations.get(symbol(formula)) {
            Some(sorts) if is_query && !sorts.is_empty() => {
                out.push_str("(forall (");
                let mut atom = format!("({formula}");
                for (position, sort) in sorts.iter().enumerate() {
                    let (name, sort) = (query_variable(position), &text[sort.clone()]);
                    out.push_str(&format!("({name} {sort}) "));
                    atom.push_str(&format!(" {name}"));
                }
                out.push_str(&format!(") (=> {atom}) false)"));
                closing += 1;
            }
            _ => {
                closing += usize::from(quantify(&mut out, text, range, &self.vars));
                if is_query {
                    out.push_str(&format!("(=> {formula} false)"));
                } else {
                    out.push_str(formula);
                }
            }
        }
        out.extend(std::iter::repeat_n(')', closing));
        Some(out)
    }
}

/// The text with other symbols: `names` maps a symbol without bars to the text that replaces it.
pub fn with_names(text: &str, names: &FxHashMap<&str, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for token in Tokens::new(text, 0) {
        if token.kind == TokenKind::Atom
            && let Some(name) = names.get(symbol(&text[token.range.clone()]))
        {
            out.push_str(&text[copied..token.range.start]);
            out.push_str(name);
            copied = token.range.end;
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// Writes the beginning of a quantifier over the declared variables whose names occur in the
/// formula, in the order of their first occurrences; `false` if there are none. Quantifying a name
/// that the formula binds itself does not change its meaning.
fn quantify(
    out: &mut String,
    text: &str,
    formula: &Range<usize>,
    vars: &FxHashMap<&str, DeclaredVar>,
) -> bool {
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    for token in Tokens::new(&text[..formula.end], formula.start) {
        if token.kind != TokenKind::Atom {
            continue;
        }
        let name = symbol(&text[token.range]);
        if let Some(var) = vars.get(name)
            && seen.insert(name)
        {
            out.push_str(if seen.len() == 1 { "(forall (" } else { " " });
            let (name, sort) = (&text[var.name.clone()], &text[var.sort.clone()]);
            out.push_str(&format!("({name} {sort})"));
        }
    }
    if !seen.is_empty() {
        out.push_str(") ");
    }
    !seen.is_empty()
}
