//! The user's text with predicates defined: what has to be valid for a model to be one.
//!
//! Invariant: the text is cut and joined, never read into terms, so that a mistake of our reader
//! cannot hide itself: the script is for an independent one. Rules and queries of the fixedpoint
//! dialect become assertions by the same kind of surgery.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::sexp::{TokenKind, Tokens, elements, symbol};
use crate::frontend::Problem;

/// A script of declarations, definitions and assertions.
#[derive(Clone, Debug)]
pub struct Script {
    pub text: String,
    /// For each assertion in the script, the index in `Problem::commands` of what it comes from.
    pub origins: Vec<usize>,
}

/// A declared variable of the fixedpoint dialect: its name and sort as written.
struct DeclaredVar {
    name: Range<usize>,
    sort: Range<usize>,
}

/// The problem's declarations of sorts: all that values and ground formulas need.
pub fn declarations(problem: &Problem) -> String {
    let mut out = String::new();
    for command in &problem.commands {
        if declares_sorts(&command.keyword) {
            out.push_str(&problem.text[command.range.clone()]);
            out.push('\n');
        }
    }
    out
}

fn declares_sorts(keyword: &str) -> bool {
    matches!(
        keyword,
        "declare-datatype" | "declare-datatypes" | "declare-sort" | "define-sort"
    )
}

/// Declarations of sorts, then `definitions` (commands that define each predicate), then all else
/// that the problem defines and asserts. The order among assertions does not matter, and
/// definitions may so use any sort. A command that does not have its usual parts is an error; the
/// reader does not let one through.
pub fn script(problem: &Problem, definitions: &str) -> Result<Script, String> {
    let text = &*problem.text;
    let predicates: FxHashSet<&str> = problem.predicates.iter().map(|p| p.name.as_str()).collect();
    let mut vars: FxHashMap<&str, DeclaredVar> = FxHashMap::default();
    // Sorts of the relations' arguments, for queries that only name a relation.
    let mut relations: FxHashMap<&str, Vec<Range<usize>>> = FxHashMap::default();
    let mut out = declarations(problem);
    out.reserve(text.len() + definitions.len());
    out.push_str(definitions);
    out.push('\n');
    let mut origins = Vec::new();
    for (index, command) in problem.commands.iter().enumerate() {
        let malformed = || {
            format!(
                "line {} column {}: {} without its usual parts",
                command.line, command.column, command.keyword
            )
        };
        let part = |parts: &[Range<usize>], position: usize| -> Result<Range<usize>, String> {
            parts.get(position).cloned().ok_or_else(malformed)
        };
        let keyword = command.keyword.as_str();
        match keyword {
            _ if declares_sorts(keyword) => continue,
            "declare-fun" | "declare-const" | "declare-rel" => {
                let parts = elements(text, &command.range).ok_or_else(malformed)?;
                let name = symbol(&text[part(&parts, 1)?]);
                if keyword == "declare-rel" {
                    let sorts = elements(text, &part(&parts, 2)?).ok_or_else(malformed)?;
                    relations.insert(name, sorts);
                }
                if predicates.contains(name) {
                    continue;
                }
                out.push_str(&text[command.range.clone()]);
            }
            "declare-var" => {
                let parts = elements(text, &command.range).ok_or_else(malformed)?;
                let (name, sort) = (part(&parts, 1)?, part(&parts, 2)?);
                vars.insert(symbol(&text[name.clone()]), DeclaredVar { name, sort });
                continue;
            }
            "assert" => {
                out.push_str(&text[command.range.clone()]);
                origins.push(index);
            }
            "rule" | "query" => {
                let parts = elements(text, &command.range).ok_or_else(malformed)?;
                let formula = part(&parts, 1)?;
                let is_query = keyword == "query";
                out.push_str("(assert ");
                let mut closing = 1;
                match relations.get(symbol(&text[formula.clone()])) {
                    Some(sorts) if is_query && !sorts.is_empty() => {
                        out.push_str("(forall (");
                        for (position, sort) in sorts.iter().enumerate() {
                            out.push_str(&format!("(query!{position} {}) ", &text[sort.clone()]));
                        }
                        out.push_str(") (=> (");
                        out.push_str(&text[formula]);
                        for position in 0..sorts.len() {
                            out.push_str(&format!(" query!{position}"));
                        }
                        out.push_str(") false)");
                        closing += 1;
                    }
                    _ => {
                        closing += usize::from(quantify(&mut out, text, &formula, &vars));
                        if is_query {
                            out.push_str("(=> ");
                            out.push_str(&text[formula]);
                            out.push_str(" false)");
                        } else {
                            out.push_str(&text[formula]);
                        }
                    }
                }
                out.extend(std::iter::repeat_n(')', closing));
                origins.push(index);
            }
            _ if keyword.starts_with("declare-") || keyword.starts_with("define-") => {
                out.push_str(&text[command.range.clone()]);
            }
            _ => continue,
        }
        out.push('\n');
    }
    Ok(Script {
        text: without_predefined_names(out),
        origins,
    })
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
    let mut out = String::with_capacity(script.len());
    let mut copied = 0;
    for token in Tokens::new(&script, 0) {
        if token.kind == TokenKind::Atom && symbol(&script[token.range.clone()]) == TAKEN {
            out.push_str(&script[copied..token.range.start]);
            out.push_str(&name);
            copied = token.range.end;
        }
    }
    out.push_str(&script[copied..]);
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
