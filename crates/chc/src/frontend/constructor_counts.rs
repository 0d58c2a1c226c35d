//! Eldarica's `_size`: the number of constructors in a value of a datatype.
//!
//! `(_size t)` is one plus the sizes of those fields whose sorts are declared by the same command. A
//! text that uses the name without a declaration is read as one where each of these sorts has a
//! recursive function, which is defined behind the command that declares the sort.
//!
//! Invariant: the lines of the text stay, and the names of the functions are new.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use super::commands::Command;
use super::lexer::{Kind, Lexed, Sym, TokenId};
use super::syntax::DatatypeSyntax;
use alphorn_term::{Sort, SortId, TermStore, quote_symbol};

/// The name of the function.
pub(super) const SIZE: &str = "_size";

/// The text with a function for each sort of the places where `_size` is applied, with the sorts of
/// its arguments there; `None` if a sort is an instance of a parametric datatype.
pub(super) fn with_size_functions(
    lexed: &Lexed<'_>,
    commands: &[Command<'_, '_>],
    terms: &TermStore,
    places: &[(TokenId, SortId)],
) -> Option<String> {
    let mut stem = "_size!".to_owned();
    while lexed.text.contains(&stem) {
        stem.push('!');
    }
    let function = |sort: &str| quote_symbol(&format!("{stem}{sort}"));
    let mut changes: Vec<(usize, usize, String)> = Vec::new();
    let mut wanted: FxHashSet<Sym> = FxHashSet::default();
    let mut seen: FxHashSet<TokenId> = FxHashSet::default();
    for &(place, sort) in places {
        let Sort::Datatype(id) = terms.sort(sort) else {
            return None;
        };
        let name = &terms.datatype(id).name;
        wanted.insert(lexed.symbols.find(name)?);
        if seen.insert(place) {
            let token = lexed.token(place);
            changes.push((token.start as usize, token.end as usize, function(name)));
        }
    }
    for command in commands.iter().filter(|c| c.verb.declares_datatypes()) {
        let singular = command.keyword == "declare-datatype";
        let declared = lexed.datatypes(singular, command.parts).ok()?;
        if !declared.iter().any(|d| wanted.contains(&d.name.symbol)) {
            continue;
        }
        let Kind::Open(close) = lexed.kind(command.token) else {
            return None;
        };
        let end = lexed.token(close).end as usize;
        changes.push((end, end, definitions(lexed, &declared, function)?));
    }
    changes.sort_unstable();
    let mut text = String::with_capacity(lexed.text.len() + 200);
    let mut written = 0;
    for (start, end, by) in changes {
        text.push_str(&lexed.text[written..start]);
        text.push_str(&by);
        written = end;
    }
    text.push_str(&lexed.text[written..]);
    Some(text)
}

/// The definitions of the functions of the sorts that one command declares.
fn definitions(
    lexed: &Lexed<'_>,
    declared: &[DatatypeSyntax],
    function: impl Fn(&str) -> String,
) -> Option<String> {
    let name = |symbol: Sym| lexed.symbols.name(symbol);
    let quoted = |symbol: Sym| quote_symbol(name(symbol));
    let own: FxHashMap<Sym, String> = declared
        .iter()
        .map(|d| (d.name.symbol, function(name(d.name.symbol))))
        .collect();
    let (mut heads, mut bodies) = (String::new(), String::new());
    for datatype in declared {
        if !datatype.parameters.is_empty() {
            return None;
        }
        let sort = datatype.name.symbol;
        let _ = write!(heads, "({} ((x {})) Int)", own[&sort], quoted(sort));
        let mut cases = 0;
        for (number, constructor) in datatype.constructors.iter().enumerate() {
            let mut sum = String::new();
            for selector in &constructor.selectors {
                let (identifier, arguments) = lexed.sort(selector.meaning).ok()?;
                if let (Some(function), None) = (own.get(&identifier.name.symbol), arguments) {
                    let _ = write!(sum, " ({function} ({} x))", quoted(selector.name.symbol));
                }
            }
            if number + 1 < datatype.constructors.len() {
                let _ = write!(
                    bodies,
                    "(ite ((_ is {}) x) ",
                    quoted(constructor.name.symbol)
                );
                cases += 1;
            }
            match sum.is_empty() {
                true => bodies.push_str("1 "),
                false => drop(write!(bodies, "(+ 1{sum}) ")),
            }
        }
        bodies.push_str(&")".repeat(cases));
    }
    Some(format!("(define-funs-rec ({heads}) ({bodies}))"))
}
