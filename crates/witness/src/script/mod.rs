//! The user's text as a script for Z3's parser: with predicates defined, for the check of a model,
//! or declared, for the check of a refutation. Rules and queries of the fixedpoint dialect become
//! assertions, as do the equations of recursive functions. What Z3 would read otherwise is changed
//! ([`Changes`]), for all checks alike.
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

use super::dialect::{datatypes, negative_names, with_standard_atoms};
use super::recursive;
use super::sexp::{TokenKind, Tokens, elements, expression, symbol};
use alphorn_chc::frontend::{CommandSpan, Dialect, Problem};
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
    /// The assertions' ranges in the text.
    ranges: Vec<Range<usize>>,
}

impl Script {
    /// Scripts with all commands, and each with a part of the assertions, in their order.
    pub fn blocks(&self, count: usize) -> Vec<Script> {
        let size = self.ranges.len().div_ceil(count.max(1)).max(1);
        let starts = (0..self.ranges.len()).step_by(size);
        starts.map(|start| self.block(start, size)).collect()
    }

    /// The script with the assertions from `start` on, at most `size` of them.
    fn block(&self, start: usize, size: usize) -> Script {
        let end = self.ranges.len().min(start + size);
        let mut block = Script {
            text: String::new(),
            origins: self.origins[start..end].to_vec(),
            ranges: Vec::with_capacity(size),
        };
        let mut copied = 0;
        for (at, range) in self.ranges.iter().enumerate() {
            block.text.push_str(&self.text[copied..range.start]);
            if (start..end).contains(&at) {
                let place = block.text.len();
                block.text.push_str(&self.text[range.clone()]);
                block.ranges.push(place..block.text.len());
            }
            copied = range.end;
        }
        block.text.push_str(&self.text[copied..]);
        block
    }
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
    /// Defined by these commands, and only equations of recursive functions are asserted.
    Functions(&'a str),
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

/// The commands of [`defined`] without assertions, and a term over the problem's names as it is read
/// after them.
///
/// # Errors
/// As [`defined`].
pub fn defined_for_term(
    problem: &Problem,
    definitions: &str,
    term: &str,
) -> Result<(String, String), String> {
    let changes = Changes::new(problem, &[definitions, term]);
    let pieces = pieces(problem, &changes, Predicates::Defined(definitions))?;
    let commands = pieces.into_iter().filter_map(|piece| match piece {
        Piece::Commands(commands) => Some(commands),
        Piece::Assertion { .. } => None,
    });
    Ok((commands.collect(), changes.definition(term)))
}

/// As [`defined`], with the equations of recursive functions as the only assertions.
///
/// # Errors
/// A malformed command.
pub fn with_functions(problem: &Problem, definitions: &str) -> Result<Script, String> {
    let changes = Changes::new(problem, &[definitions]);
    let pieces = pieces(problem, &changes, Predicates::Functions(definitions))?;
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
    // The changes need a look at the whole text.
    if !problem.commands.iter().any(|c| c.keyword == "declare-heap") {
        return Ok(None);
    }
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
    let more = changes.own(more).into_owned();
    let more = with_standard_atoms(more, &negative_names(&problem.text));
    Ok(script(pieces, &more))
}

/// The problem's declarations of sorts, and then the commands `more`, which alphorn wrote about them.
pub fn with_sorts(problem: &Problem, more: &str) -> String {
    let changes = Changes::new(problem, &[more]);
    let definitions: Vec<&str> = problem.sort_definitions().collect();
    let mut out = sorts(&changes, problem, &definitions.join("\n"));
    out.push_str(&changes.definitions(more));
    out
}

/// The problem's declarations and definitions of sorts, as they are.
pub fn sort_declarations(problem: &Problem) -> String {
    let definitions: Vec<&str> = problem.sort_definitions().collect();
    let definitions = definitions.join("\n");
    let text = |index: usize| Cow::Borrowed(&problem.text[problem.commands[index].range.clone()]);
    sort_commands(problem, &definitions, text, |own| own.to_owned())
}

/// The problem's declarations and definitions of sorts, changed. `definitions` of sorts take the
/// place of their declarations.
pub fn sorts(changes: &Changes<'_>, problem: &Problem, definitions: &str) -> String {
    let mut out = changes.front().to_owned();
    let text = |index: usize| {
        let older = datatypes(&problem.text, &problem.commands[index].range);
        match older {
            Some(command) if !changes.is_replaced(index) => {
                changes.changed(Cow::Owned(command), Part::Commands)
            }
            _ => changes.command(index),
        }
    };
    out.push_str(&sort_commands(problem, definitions, text, |own| {
        changes.own(own).into_owned()
    }));
    out
}

/// The commands for sorts. `text` gives the text of a command, and `own` changes a command that is
/// not the problem's. For a sort that stays without definition, the function that gives its values is
/// declared, too.
fn sort_commands<'t>(
    problem: &'t Problem,
    definitions: &str,
    text: impl Fn(usize) -> Cow<'t, str>,
    own: impl Fn(&str) -> String,
) -> String {
    let defined: FxHashMap<String, Range<usize>> = commands(definitions)
        .filter_map(|range| Some((defined_sort(definitions, &range)?, range)))
        .collect();
    let mut out = String::new();
    for (index, command) in problem.commands.iter().enumerate() {
        if !declares_sorts(&command.keyword) {
            continue;
        }
        if command.keyword != "declare-sort" {
            push_command(&mut out, &text(index));
            continue;
        }
        let parts = elements(&problem.text, &command.range).unwrap_or_default();
        let name = parts
            .get(1)
            .map_or("", |range| &problem.text[range.clone()]);
        let mut free = problem.free_sorts.iter();
        let free = free.find(|sort| sort.name == symbol(name));
        let command = match (defined.get(symbol(name)), free) {
            (Some(range), _) => own(&definitions[range.clone()]),
            (None, Some(free)) => own(&format!(
                "(declare-sort {name} 0)\n(declare-fun {} (Int) {name})",
                free.constructor
            )),
            (None, None) => String::new(),
        };
        push_command(&mut out, &command);
    }
    out
}

/// The ranges of the commands in a text.
fn commands(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut position = 0;
    std::iter::from_fn(move || {
        let range = expression(text, position)?;
        position = range.end;
        Some(range)
    })
}

/// The name, without bars, of the sort that a command of a model defines.
pub fn defined_sort(text: &str, command: &Range<usize>) -> Option<String> {
    let parts = elements(text, command)?;
    let name = match &text[parts.first()?.clone()] {
        "define-sort" | "declare-datatype" => parts.get(1)?.clone(),
        "declare-datatypes" => {
            let declared = elements(text, parts.get(1)?)?;
            elements(text, declared.first()?)?.first()?.clone()
        }
        _ => return None,
    };
    Some(symbol(&text[name]).to_owned())
}

/// The definitions of sorts among definitions, and the others.
fn split_sort_definitions(definitions: &str) -> (String, String) {
    let (mut sorts, mut others) = (String::new(), String::new());
    if !definitions.contains("sort") && !definitions.contains("declare-datatype") {
        return (sorts, definitions.to_owned());
    }
    for range in commands(definitions) {
        let out = match defined_sort(definitions, &range) {
            Some(_) => &mut sorts,
            None => &mut others,
        };
        out.push_str(&definitions[range]);
        out.push('\n');
    }
    (sorts, others)
}

/// The problem's constants that definitions define.
fn defined_constants<'p>(problem: &'p Problem, definitions: &str) -> FxHashSet<&'p str> {
    if problem.constants.is_empty() {
        return FxHashSet::default();
    }
    let names = commands(definitions).filter_map(|range| {
        let name = elements(definitions, &range)?.get(1)?.clone();
        Some(symbol(&definitions[name]).to_owned())
    });
    let names: FxHashSet<String> = names.collect();
    let constants = problem.constants.iter().filter(|c| c.declaration.is_some());
    let constants = constants.map(|constant| constant.name.as_str());
    constants.filter(|&name| names.contains(name)).collect()
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
    let mut ranges = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Commands(commands) => text.push_str(&commands),
            Piece::Assertion { command, formula } => {
                origins.push(command);
                let start = text.len();
                text.push_str("(assert ");
                text.push_str(&formula);
                text.push_str(")\n");
                ranges.push(start..text.len());
            }
        }
    }
    text.push_str(more);
    Script {
        text,
        origins,
        ranges,
    }
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
        Predicates::Defined(definitions) | Predicates::Functions(definitions) => {
            (definitions, None)
        }
        Predicates::Declared(commands) => ("", Some(commands)),
    };
    let text = &*problem.text;
    let (sort_definitions, definitions) = match asserted {
        None => split_sort_definitions(definitions),
        Some(_) => {
            let sorts: Vec<&str> = problem.sort_definitions().collect();
            (sorts.join("\n"), String::new())
        }
    };
    let mut writer = Writer {
        text,
        changes,
        predicates: problem.predicates.iter().map(|p| p.name.as_str()).collect(),
        constants: defined_constants(problem, &definitions),
        is_goal: problem.dialect == Dialect::Goal,
        declared: asserted.is_some(),
        vars: FxHashMap::default(),
        relations: FxHashMap::default(),
        out: sorts(changes, problem, &sort_definitions),
        pieces: Vec::new(),
    };
    if asserted.is_none() {
        writer.out.push_str(&changes.definitions(&definitions));
    }
    writer.out.push('\n');
    for (index, command) in problem.commands.iter().enumerate() {
        let keyword = command.keyword.as_str();
        let written = match keyword {
            _ if declares_sorts(keyword) => Some(()),
            "declare-fun" | "declare-const" | "declare-rel" => writer.declaration(index, command),
            "declare-var" => writer.variable(command),
            "define-fun-rec" | "define-funs-rec" if problem.defines_functions(index) => {
                if asserted.is_some() {
                    let declarations = recursive::declarations(text, &command.range);
                    let declarations = Cow::Owned(declarations.unwrap_or_default());
                    let declarations = changes.changed(declarations, Part::Commands);
                    writer.out.push_str(&declarations);
                }
                if asserted.is_some_and(|some| !some.contains(&index)) {
                    continue;
                }
                recursive::equations(text, &command.range).map(|formula| {
                    writer.end_commands();
                    let formula = changes.changed(Cow::Owned(formula), Part::Term);
                    writer.pieces.push(Piece::Assertion {
                        command: index,
                        formula: formula.into_owned(),
                    });
                })
            }
            "define-fun-rec" | "define-funs-rec" => {
                recursive::macros(text, &command.range).map(|definitions| {
                    let definitions = changes.changed(Cow::Owned(definitions), Part::Commands);
                    writer.out.push_str(&definitions);
                })
            }
            "assert" | "rule" | "query" => {
                if matches!(kind, Predicates::Functions(_)) {
                    continue;
                }
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
    if let Some(message) = changes.failure() {
        return Err(message);
    }
    let names = negative_names(text);
    let standard = |piece| match piece {
        Piece::Commands(text) => Piece::Commands(with_standard_atoms(text, &names)),
        Piece::Assertion { command, formula } => Piece::Assertion {
            command,
            formula: with_standard_atoms(formula, &names),
        },
    };
    Ok(writer.pieces.into_iter().map(standard).collect())
}

/// Writes commands. Its functions return `None` for a malformed command.
struct Writer<'a> {
    text: &'a str,
    changes: &'a Changes<'a>,
    predicates: FxHashSet<&'a str>,
    /// Constants that are defined, so that their declarations are left out.
    constants: FxHashSet<&'a str>,
    /// Whether the assertions are that a goal does not hold.
    is_goal: bool,
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
        if predicate && !self.declared || self.constants.contains(name) {
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
            return Some(match self.is_goal {
                true => negated(text, range),
                false => formula.to_owned(),
            });
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

/// The negation of a formula.
fn negated(text: &str, formula: &Range<usize>) -> String {
    let parts = elements(text, formula).unwrap_or_default();
    match parts.as_slice() {
        [not, inner] if &text[not.clone()] == "not" => text[inner.clone()].to_owned(),
        _ => format!("(not {})", &text[formula.clone()]),
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
