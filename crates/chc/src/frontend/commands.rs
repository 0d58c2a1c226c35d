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
    DefineFunRec,
    DefineFunsRec,
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
    SetInfo,
    /// A command without effect on the problem: `echo`, other `get-…`.
    Other,
    /// A command that is not SMT-LIB and has no effect on the problem.
    Display,
    /// A command that is not supported; after the check it does not matter.
    Unknown,
}

/// Commands of Z3 that print something and do not change the problem.
const DISPLAYS: [&str; 7] = [
    "simplify",
    "eval",
    "display",
    "apply",
    "labels",
    "help",
    "help-tactic",
];

/// Commands that ask for more than one verdict about all clauses, or change the question.
const PREFERENCES: [&str; 4] = ["assert-soft", "minimize", "maximize", "assert-weighted"];

impl Verb {
    fn of(keyword: &str) -> Self {
        match keyword {
            "assert" => Verb::Assert,
            "rule" => Verb::Rule,
            "query" => Verb::Query,
            "check-sat" | "check-sat-using" => Verb::CheckSat,
            "declare-fun" => Verb::DeclareFun,
            "declare-rel" => Verb::DeclareRel,
            "declare-var" => Verb::DeclareVar,
            "declare-const" => Verb::DeclareConst,
            "declare-sort" => Verb::DeclareSort,
            "declare-datatype" => Verb::DeclareDatatype,
            "declare-datatypes" => Verb::DeclareDatatypes,
            "declare-heap" => Verb::DeclareHeap,
            "define-fun" => Verb::DefineFun,
            "define-fun-rec" => Verb::DefineFunRec,
            "define-funs-rec" => Verb::DefineFunsRec,
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
            "set-info" => Verb::SetInfo,
            "echo"
            | "get-assertions"
            | "get-assignment"
            | "get-option"
            | "get-unsat-assumptions"
            | "get-unsat-core"
            | "get-value"
            | "get-objectives" => Verb::Other,
            _ if DISPLAYS.contains(&keyword) => Verb::Display,
            _ => Verb::Unknown,
        }
    }

    /// Whether a command with this keyword is a request of Z3's that prints something and does not
    /// change the problem.
    pub fn only_displays(keyword: &str) -> bool {
        Verb::of(keyword) == Verb::Display
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

    /// Whether the command declares datatypes.
    pub fn declares_datatypes(self) -> bool {
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
        Ok(Command {
            verb: Verb::of(keyword),
            token,
            keyword,
            parts,
        })
    };
    lexed.top_level().map(command).collect()
}

/// The error of a command that is not supported.
pub(super) fn unsupported(command: &Command<'_, '_>) -> SyntaxError {
    let name = shorten(command.keyword);
    match command.keyword {
        keyword if PREFERENCES.contains(&keyword) => SyntaxError::Preferences(name),
        "check-sat-assuming" => SyntaxError::Assumptions,
        "define-fun-rec" | "define-funs-rec" => SyntaxError::RecursiveDefinition(name),
        "declare-codatatype" | "declare-codatatypes" => SyntaxError::Codatatypes,
        _ => SyntaxError::UnknownCommand(name),
    }
}

/// Reorders consecutive declarations of datatypes such that sorts are declared before their uses, as
/// the standard demands but some generators do not do. Since no name is declared twice, there is
/// only one meaning. Returns the first token of such declarations if the order changed.
pub(super) fn sorts_first(lexed: &Lexed<'_>, commands: &mut [Command<'_, '_>]) -> Option<TokenId> {
    let declares = |command: &Command<'_, '_>| command.verb.declares_datatypes();
    let mut changed = None;
    for run in commands.chunk_by_mut(|a, b| declares(a) == declares(b)) {
        let first = run[0].token;
        if declares(&run[0]) && run.len() > 1 && order(lexed, run) {
            changed = changed.or(Some(first));
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
