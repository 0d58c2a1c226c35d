//! The user's text as a script for Z3's parser: with predicates defined, for the check of a model,
//! or declared, for the check of a refutation. Rules and queries of the fixedpoint dialect become
//! assertions, as do the equations of recursive functions.
//!
//! # Invariant
//! Formulas, definitions and sorts are copied from the text by its tokens, without the reader's
//! terms. Of the reader only the ranges of commands and the names of predicates are used.

use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::dialect::{
    datatypes, name_definitions, negative_names, with_standard_atoms, without_annotations,
};
use super::recursive;
use super::sexp::{TokenKind, Tokens, elements, expression, symbol};
use alphorn_chc::frontend::{CommandSpan, Dialect, Problem};

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
        "declare-datatype" | "declare-datatypes" | "declare-sort" | "define-sort"
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
    script(problem, Predicates::Defined(definitions), "")
}

/// As [`defined`], with the equations of recursive functions as the only assertions.
///
/// # Errors
/// A malformed command.
pub fn with_functions(problem: &Problem, definitions: &str) -> Result<Script, String> {
    script(problem, Predicates::Functions(definitions), "")
}

/// The problem's declarations and definitions, the assertions of `commands` in their order, and
/// then the commands `more`.
///
/// # Errors
/// A malformed command.
pub fn declared(
    problem: &Problem,
    commands: &BTreeSet<usize>,
    more: &str,
) -> Result<Script, String> {
    script(problem, Predicates::Declared(commands), more)
}

/// The problem's declarations of sorts, and then the commands `more`.
pub fn with_sorts(problem: &Problem, more: &str) -> String {
    let mut out = sort_declarations(problem);
    out.push_str(more);
    without_predefined_names(out)
}

/// The problem's declarations and definitions of sorts. Sorts that are read in some way have the
/// definition of this reading.
pub fn sort_declarations(problem: &Problem) -> String {
    let definitions: Vec<&str> = problem.sort_definitions().collect();
    sort_declarations_with(problem, &definitions.join("\n"))
}

/// The problem's declarations and definitions of sorts, in which `definitions` of sorts take the
/// place of their declarations. For a sort that stays without definition, the function that gives
/// its values is declared, too.
fn sort_declarations_with(problem: &Problem, definitions: &str) -> String {
    let defined: FxHashMap<String, Range<usize>> = commands(definitions)
        .filter_map(|range| Some((defined_sort(definitions, &range)?, range)))
        .collect();
    let mut out = String::new();
    for command in &problem.commands {
        if !declares_sorts(&command.keyword) {
            continue;
        }
        let text = &problem.text[command.range.clone()];
        if command.keyword != "declare-sort" {
            let declaration = datatypes(&problem.text, &command.range);
            out.push_str(declaration.as_deref().unwrap_or(text));
            out.push('\n');
            continue;
        }
        let parts = elements(&problem.text, &command.range).unwrap_or_default();
        let name = parts
            .get(1)
            .map_or("", |range| &problem.text[range.clone()]);
        let free = problem
            .free_sorts
            .iter()
            .find(|sort| sort.name == symbol(name));
        match (defined.get(symbol(name)), free) {
            (Some(range), _) => out.push_str(&definitions[range.clone()]),
            (None, Some(free)) => {
                out.push_str(&format!("(declare-sort {name} 0)\n"));
                out.push_str(&format!("(declare-fun {} (Int) {name})", free.constructor));
            }
            (None, None) => {}
        }
        out.push('\n');
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

fn script(problem: &Problem, kind: Predicates<'_>, more: &str) -> Result<Script, String> {
    let mut text = String::with_capacity(problem.text.len() + more.len());
    let mut origins = Vec::new();
    for piece in pieces(problem, kind)? {
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
    let more = with_standard_atoms(more.to_owned(), &negative_names(&problem.text));
    text.push_str(&more);
    Ok(Script {
        text: without_predefined_names(text),
        origins,
    })
}

/// The parts of a script in their order: declarations of sorts, definitions of predicates, and the
/// problem's other declarations, definitions and assertions.
///
/// # Errors
/// A malformed command.
pub fn pieces(problem: &Problem, kind: Predicates<'_>) -> Result<Vec<Piece>, String> {
    let text = &*problem.text;
    let (definitions, asserted) = match kind {
        Predicates::Defined(definitions) | Predicates::Functions(definitions) => {
            (definitions, None)
        }
        Predicates::Declared(commands) => ("", Some(commands)),
    };
    let mut writer = Writer {
        text,
        predicates: problem.predicates.iter().map(|p| p.name.as_str()).collect(),
        is_goal: problem.dialect == Dialect::Goal,
        declared: asserted.is_some(),
        vars: FxHashMap::default(),
        relations: FxHashMap::default(),
        out: String::new(),
        pieces: Vec::new(),
    };
    let (sorts, definitions) = match kind {
        Predicates::Defined(_) | Predicates::Functions(_) => split_sort_definitions(definitions),
        Predicates::Declared(_) => {
            let sorts: Vec<&str> = problem.sort_definitions().collect();
            (sorts.join("\n"), String::new())
        }
    };
    writer
        .out
        .push_str(&sort_declarations_with(problem, &sorts));
    writer.out.push_str(&definitions);
    writer.out.push('\n');
    for (index, command) in problem.commands.iter().enumerate() {
        let keyword = command.keyword.as_str();
        let written = match keyword {
            _ if declares_sorts(keyword) => Some(()),
            "declare-fun" | "declare-const" | "declare-rel" => writer.declaration(command),
            "declare-var" => writer.variable(command),
            "define-fun-rec" | "define-funs-rec" if problem.defines_functions(index) => {
                if asserted.is_some() {
                    let declarations = recursive::declarations(text, &command.range);
                    writer.out.push_str(&declarations.unwrap_or_default());
                }
                if asserted.is_some_and(|some| !some.contains(&index)) {
                    continue;
                }
                recursive::equations(text, &command.range).map(|formula| {
                    writer.end_commands();
                    writer.pieces.push(Piece::Assertion {
                        command: index,
                        formula,
                    });
                })
            }
            "define-fun-rec" | "define-funs-rec" => recursive::macros(text, &command.range)
                .map(|definitions| writer.out.push_str(&definitions)),
            "assert" | "rule" | "query" => {
                if matches!(kind, Predicates::Functions(_)) {
                    continue;
                }
                writer.out.push_str(&name_definitions(problem, index));
                if asserted.is_some_and(|some| !some.contains(&index)) {
                    continue;
                }
                let formula = writer.formula(command);
                formula.map(|formula| {
                    let annotated = formula.contains('!') && formula.contains(':');
                    let formula = match annotated {
                        true => without_annotations(&formula),
                        false => formula,
                    };
                    writer.end_commands();
                    writer.pieces.push(Piece::Assertion {
                        command: index,
                        formula,
                    });
                })
            }
            _ => {
                if keyword.starts_with("declare-") || keyword.starts_with("define-") {
                    writer.copy(&command.range);
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
    predicates: FxHashSet<&'a str>,
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

    fn copy(&mut self, command: &Range<usize>) {
        self.out.push_str(&self.text[command.clone()]);
        self.out.push('\n');
    }

    fn declaration(&mut self, command: &CommandSpan) -> Option<()> {
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
        if relation {
            let sorts = &text[parts.get(2)?.clone()];
            self.out
                .push_str(&format!("(declare-fun {written} {sorts} Bool)\n"));
        } else {
            self.copy(&command.range);
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

/// The script with another name for the user's sort `List`, since Z3's parser, as a library, has a
/// sort of this name in every logic. The new name does not occur in the text.
pub fn without_predefined_names(script: String) -> String {
    const TAKEN: &str = "List";
    if !script.contains(TAKEN) {
        return script;
    }
    let mut name = format!("{TAKEN}!");
    while script.contains(&name) {
        name.push('!');
    }
    with_names(&script, &FxHashMap::from_iter([(TAKEN, name)]))
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
