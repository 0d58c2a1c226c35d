//! The user's text for Z3's own reader: with predicates defined, as a model is checked, or only
//! declared, as a refutation is.
//!
//! Invariant: the text is cut and joined, never read into terms, so that a mistake of our reader
//! cannot hide itself. Rules and queries of the fixedpoint dialect become assertions by the same
//! kind of surgery.

use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::sexp::{TokenKind, Tokens, elements, symbol};
use alphorn_chc::frontend::{CommandSpan, Problem};

/// A script of declarations, definitions and assertions.
#[derive(Clone, Debug)]
pub struct Script {
    pub text: String,
    /// For each assertion in the script, the index in `Problem::commands` of what it comes from.
    pub origins: Vec<usize>,
}

/// A part of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Whole commands, each with the end of a line.
    Commands(String),
    /// The formula that a command asserts, a rule's or query's with the quantifier that it implies.
    Assertion {
        /// Index in `Problem::commands`.
        command: usize,
        formula: String,
    },
}

/// What the predicates are in a script.
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

fn declares_sorts(keyword: &str) -> bool {
    matches!(
        keyword,
        "declare-datatype" | "declare-datatypes" | "declare-sort" | "define-sort"
    )
}

/// The name of a variable in the query that only names a relation, by its position.
pub fn query_variable(position: usize) -> String {
    format!("query!{position}")
}

/// Declarations of sorts, then `definitions` (commands that define each predicate), then all else
/// that the problem defines and asserts. The order among assertions does not matter, and
/// definitions may so use any sort. A command that does not have its usual parts is an error; the
/// reader does not let one through.
pub fn defined(problem: &Problem, definitions: &str) -> Result<Script, String> {
    script(problem, Predicates::Defined(definitions), "")
}

/// The problem's declarations and definitions, its assertions of `commands`, in their order, and
/// then the commands `more`.
pub fn declared(
    problem: &Problem,
    commands: &BTreeSet<usize>,
    more: &str,
) -> Result<Script, String> {
    script(problem, Predicates::Declared(commands), more)
}

/// Declarations of sorts, and then the commands `more`.
pub fn with_sorts(problem: &Problem, more: &str) -> String {
    let mut out = sort_declarations(problem);
    out.push_str(more);
    without_predefined_names(out)
}

/// The problem's declarations and definitions of sorts.
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
    text.push_str(more);
    Ok(Script {
        text: without_predefined_names(text),
        origins,
    })
}

/// The parts of a script, in its order: declarations of sorts, the definitions of predicates, and
/// all else that the problem declares, defines and asserts. A command that does not have its usual
/// parts is an error.
pub fn pieces(problem: &Problem, kind: Predicates<'_>) -> Result<Vec<Piece>, String> {
    let text = &*problem.text;
    let (definitions, asserted) = match kind {
        Predicates::Defined(definitions) => (definitions, None),
        Predicates::Declared(commands) => ("", Some(commands)),
    };
    let mut writer = Writer {
        text,
        predicates: problem.predicates.iter().map(|p| p.name.as_str()).collect(),
        declared: asserted.is_some(),
        vars: FxHashMap::default(),
        relations: FxHashMap::default(),
        out: String::new(),
        pieces: Vec::new(),
    };
    for command in &problem.commands {
        if declares_sorts(&command.keyword) {
            writer.copy(&command.range);
        }
    }
    writer.out.push_str(definitions);
    writer.out.push('\n');
    for (index, command) in problem.commands.iter().enumerate() {
        let keyword = command.keyword.as_str();
        let written = match keyword {
            _ if declares_sorts(keyword) => Some(()),
            "declare-fun" | "declare-const" | "declare-rel" => writer.declaration(command),
            "declare-var" => writer.variable(command),
            "assert" | "rule" | "query" => {
                if asserted.is_some_and(|some| !some.contains(&index)) {
                    continue;
                }
                let formula = writer.formula(command);
                formula.map(|formula| {
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
                "line {line} column {column}: {keyword} without its usual parts"
            ));
        }
    }
    writer.end_commands();
    Ok(writer.pieces)
}

/// Writes commands, one on a line or more. What returns an option gives `None` for a command
/// without its usual parts.
struct Writer<'a> {
    text: &'a str,
    predicates: FxHashSet<&'a str>,
    /// Whether predicates keep their declarations.
    declared: bool,
    vars: FxHashMap<&'a str, DeclaredVar>,
    /// Sorts of the predicates' arguments, for queries that only name a predicate.
    relations: FxHashMap<&'a str, Vec<Range<usize>>>,
    /// Commands that are not among the pieces yet.
    out: String,
    pieces: Vec<Piece>,
}

impl<'a> Writer<'a> {
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

    /// What a command asserts: a formula as it is, a rule, or the denial of a query.
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

/// Z3's reader, as a library, has a sort `List` of its own, whatever the logic is. Users like that
/// name too, and theirs has to give way: it gets a name that is nowhere in the text.
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

/// The text with other names in the place of some: `names` has what stands for a symbol without its
/// bars, as it is written.
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

/// Opens a quantifier over the declared variables whose names occur in the formula, in the order
/// of their first occurrence; `false` when there are none. A name bound again inside is quantified
/// in vain, which changes nothing.
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
