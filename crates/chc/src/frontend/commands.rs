//! Splits a text into commands, and reorders declarations of datatypes if necessary.
//!
//! Invariant: commands are classified by their keywords only.

use rustc_hash::FxHashMap;

use super::error::{InputError, SyntaxError, shorten};
use super::lexer::{Lexed, Sym, TokenId};
use super::syntax::Elements;

/// The kind of a command, by its keyword.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verb {
    Assert,
    Rule,
    Query,
    CheckSat,
    DeclareFun,
    DeclareRel,
    DeclareVar,
    DeclareConst,
    DeclareSort,
    DeclareDatatype,
    DeclareDatatypes,
    DeclareHeap,
    DefineFun,
    DefineConst,
    DefineSort,
    SetLogic,
    SetOption,
    GetModel,
    GetProof,
    GetInfo,
    Push,
    Pop,
    Reset,
    ResetAssertions,
    Exit,
    /// A command without effect on the problem: `echo`, `set-info`, other `get-…`.
    Other,
}

impl Verb {
    fn of(keyword: &str) -> Option<Self> {
        Some(match keyword {
            "assert" => Verb::Assert,
            "rule" => Verb::Rule,
            "query" => Verb::Query,
            "check-sat" => Verb::CheckSat,
            "declare-fun" => Verb::DeclareFun,
            "declare-rel" => Verb::DeclareRel,
            "declare-var" => Verb::DeclareVar,
            "declare-const" => Verb::DeclareConst,
            "declare-sort" => Verb::DeclareSort,
            "declare-datatype" => Verb::DeclareDatatype,
            "declare-datatypes" => Verb::DeclareDatatypes,
            "declare-heap" => Verb::DeclareHeap,
            "define-fun" => Verb::DefineFun,
            "define-const" => Verb::DefineConst,
            "define-sort" => Verb::DefineSort,
            "set-logic" => Verb::SetLogic,
            "set-option" => Verb::SetOption,
            "get-model" => Verb::GetModel,
            "get-proof" => Verb::GetProof,
            "get-info" => Verb::GetInfo,
            "push" => Verb::Push,
            "pop" => Verb::Pop,
            "reset" => Verb::Reset,
            "reset-assertions" => Verb::ResetAssertions,
            "exit" => Verb::Exit,
            "echo"
            | "set-info"
            | "get-assertions"
            | "get-assignment"
            | "get-option"
            | "get-unsat-assumptions"
            | "get-unsat-core"
            | "get-value"
            | "get-objectives" => Verb::Other,
            _ => return None,
        })
    }

    /// Whether the command exists in the fixedpoint dialect only.
    pub fn is_fixedpoint(self) -> bool {
        matches!(
            self,
            Verb::Rule | Verb::Query | Verb::DeclareRel | Verb::DeclareVar
        )
    }

    /// Whether the command declares or defines sorts.
    pub fn declares_sorts(self) -> bool {
        self.declares_datatypes()
            || matches!(
                self,
                Verb::DeclareSort | Verb::DefineSort | Verb::DeclareHeap
            )
    }

    fn declares_datatypes(self) -> bool {
        matches!(self, Verb::DeclareDatatype | Verb::DeclareDatatypes)
    }
}

/// A top-level command.
#[derive(Clone, Copy)]
pub(super) struct Command<'l, 't> {
    pub verb: Verb,
    pub token: TokenId,
    /// The keyword in the text.
    pub keyword: &'l str,
    /// The S-expressions after the keyword.
    pub parts: Elements<'l, 't>,
}

/// Splits the text's tokens into commands.
pub(super) fn split<'l, 't>(lexed: &'l Lexed<'t>) -> Result<Vec<Command<'l, 't>>, InputError> {
    let command = |token: TokenId| {
        let fail = |kind: SyntaxError| Err(lexed.error(token, kind));
        let Some(mut parts) = lexed.elements(token) else {
            return fail(SyntaxError::NoCommand(shorten(lexed.source(token))));
        };
        let Some(symbol) = parts.next().and_then(|first| lexed.symbol(first)) else {
            return fail(SyntaxError::UnnamedCommand);
        };
        let keyword = lexed.symbols.name(symbol);
        match Verb::of(keyword) {
            Some(verb) => Ok(Command {
                verb,
                token,
                keyword,
                parts,
            }),
            None => fail(SyntaxError::UnknownCommand(shorten(keyword))),
        }
    };
    lexed.top_level().map(command).collect()
}

/// Reorders consecutive declarations of datatypes such that sorts are declared before their uses, as
/// the standard demands but some generators do not do. Since no name is declared twice, there is
/// only one meaning. Returns whether the order changed.
pub(super) fn sorts_first(lexed: &Lexed<'_>, commands: &mut [Command<'_, '_>]) -> bool {
    let declares = |command: &Command<'_, '_>| command.verb.declares_datatypes();
    let mut changed = false;
    for run in commands.chunk_by_mut(|a, b| declares(a) == declares(b)) {
        if declares(&run[0]) && run.len() > 1 {
            changed |= order(lexed, run);
        }
    }
    changed
}

fn order(lexed: &Lexed<'_>, run: &mut [Command<'_, '_>]) -> bool {
    let mut declared_by: FxHashMap<Sym, usize> = FxHashMap::default();
    for (at, command) in run.iter().enumerate() {
        if let Some(name) = { command.parts }.next().and_then(|t| lexed.symbol(t)) {
            declared_by.insert(name, at);
        }
        // The sorts with their arities, or Z3's older form without arities.
        let lists = command.parts.take(2).filter_map(|t| lexed.elements(t));
        for mut element in lists.flatten().filter_map(|t| lexed.elements(t)) {
            if let Some(name) = element.next().and_then(|t| lexed.symbol(t)) {
                declared_by.entry(name).or_insert(at);
            }
        }
    }
    let uses = |at: usize| {
        let symbols = run[at].parts.flat_map(|part| lexed.symbols_within(part));
        let users = symbols.filter_map(|s| declared_by.get(&s).copied());
        users.filter(|&d| d != at).collect::<Vec<usize>>()
    };
    let mut sequence = Vec::with_capacity(run.len());
    let mut entered = vec![false; run.len()];
    for root in 0..run.len() {
        let mut stack = vec![(root, false)];
        while let Some((at, done)) = stack.pop() {
            if done {
                sequence.push(at);
            } else if !std::mem::replace(&mut entered[at], true) {
                stack.push((at, true));
                stack.extend(uses(at).into_iter().rev().map(|d| (d, false)));
            }
        }
    }
    let changed = !sequence.is_sorted();
    if changed {
        let ordered: Vec<Command<'_, '_>> = sequence.into_iter().map(|at| run[at]).collect();
        run.copy_from_slice(&ordered);
    }
    changed
}
