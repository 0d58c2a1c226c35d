//! The layer before smt2parser: splits tokens into commands and writes each in a form that
//! smt2parser's grammar knows.
//!
//! In what is written every symbol, numeral and other literal is replaced by the index of its
//! token, and each token has a line of its own. So names never meet smt2parser's lexer (keywords
//! as symbols, odd characters, bignums), the builder knows every symbol's place, and the line of a
//! syntax error is the number of a token. Rewritten on the way: the fixedpoint commands become
//! `declare-fun`, `declare-const` and `assert`; annotations are dropped; binders without variables
//! become applications of the binder's own token, which stand for their argument.
//!
//! Invariant: what is written is a function of the tokens only; meaning is given elsewhere.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::InputError;
use super::lexer::{Kind, Lexed, Sym};

/// What a command asks for, by its keyword.
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
    DeclareDatatypes,
    DefineFun,
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
    /// Nothing depends on it: `echo`, `set-info`, other `get-…`.
    Other,
}

/// A top-level command: its verb and the tokens of its parentheses.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawCommand {
    pub verb: Verb,
    pub open: u32,
    pub close: u32,
}

/// Splits the text's tokens into commands.
pub(super) fn split(lexed: &Lexed<'_>) -> Result<Vec<RawCommand>, InputError> {
    let mut commands = Vec::new();
    let mut at = 0;
    while at < lexed.tokens.len() as u32 {
        let Kind::Open(close) = lexed.tokens[at as usize].kind else {
            let found = shorten(lexed.source(at));
            return Err(lexed.error(at, format!("`{found}` where a command should begin")));
        };
        let Some(keyword) = lexed.symbol(at + 1) else {
            return Err(lexed.error(at, "a command without a name"));
        };
        let verb = match lexed.symbols.name(keyword) {
            "assert" => Verb::Assert,
            "rule" => Verb::Rule,
            "query" => Verb::Query,
            "check-sat" => Verb::CheckSat,
            "declare-fun" => Verb::DeclareFun,
            "declare-rel" => Verb::DeclareRel,
            "declare-var" => Verb::DeclareVar,
            "declare-const" => Verb::DeclareConst,
            "declare-sort" => Verb::DeclareSort,
            "declare-datatypes" | "declare-datatype" => Verb::DeclareDatatypes,
            "define-fun" | "define-const" => Verb::DefineFun,
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
            name => {
                let name = shorten(name);
                return Err(lexed.error(at, format!("the command `{name}` is not supported")));
            }
        };
        commands.push(RawCommand {
            verb,
            open: at,
            close,
        });
        at = close + 1;
    }
    Ok(commands)
}

/// Puts declarations of datatypes that follow each other in an order in which sorts come before
/// their uses, where they do not already. The standard wants them so, some generators do not care,
/// and since no name can be declared twice there is only one thing that they can mean.
/// Returns whether anything changed.
pub(super) fn sorts_first(lexed: &Lexed<'_>, commands: &mut [RawCommand]) -> bool {
    let mut changed = false;
    for run in commands.chunk_by_mut(|a, b| a.verb == b.verb) {
        if run[0].verb == Verb::DeclareDatatypes && run.len() > 1 {
            changed |= order(lexed, run);
        }
    }
    changed
}

fn order(lexed: &Lexed<'_>, run: &mut [RawCommand]) -> bool {
    let mut declared_by: FxHashMap<Sym, usize> = FxHashMap::default();
    for (at, command) in run.iter().enumerate() {
        let first = command.open + 2;
        if let Some(name) = lexed.symbol(first) {
            declared_by.insert(name, at);
        }
        // The sorts with their arities, or Z3's older form without.
        for list in [first, lexed.after(first)] {
            let mut element = list + 1;
            while lexed.is_open(list) && element + 1 < lexed.after(list) {
                if lexed.is_open(element)
                    && let Some(name) = lexed.symbol(element + 1)
                {
                    declared_by.entry(name).or_insert(at);
                }
                element = lexed.after(element);
            }
        }
    }
    let uses = |at: usize| {
        let command: RawCommand = run[at];
        let tokens = command.open + 2..command.close;
        let symbols = tokens.filter_map(|t| lexed.symbol(t));
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
        let ordered: Vec<RawCommand> = sequence.into_iter().map(|at| run[at]).collect();
        run.copy_from_slice(&ordered);
    }
    changed
}

/// A piece of source fit for a message.
pub(super) fn shorten(source: &str) -> String {
    const LIMIT: usize = 60;
    let shown: String = source
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(LIMIT)
        .collect();
    if shown.len() < source.len() {
        shown + "…"
    } else {
        shown
    }
}

impl Verb {
    /// Whether the command goes through smt2parser.
    pub fn is_parsed(self) -> bool {
        matches!(
            self,
            Verb::Assert
                | Verb::Rule
                | Verb::Query
                | Verb::DeclareFun
                | Verb::DeclareRel
                | Verb::DeclareVar
                | Verb::DeclareConst
                | Verb::DeclareSort
                | Verb::DeclareDatatypes
                | Verb::DefineFun
                | Verb::DefineSort
        )
    }
}

/// Commands in the form that smt2parser reads.
#[derive(Default)]
pub(super) struct Rewritten {
    pub text: String,
    /// For each line of `text`, the token it stands for.
    pub tokens: Vec<u32>,
}

/// A numeral written with this offset stands for itself and not for a token.
pub(super) const LITERAL: u64 = 1 << 32;

impl Rewritten {
    /// Adds a command; only for those with [`Verb::is_parsed`].
    pub fn command(&mut self, lexed: &Lexed<'_>, command: &RawCommand) -> Result<(), InputError> {
        let RawCommand { verb, open, close } = *command;
        let first = open + 2;
        self.word(open, "(");
        match verb {
            Verb::Rule | Verb::Query => {
                self.word(open + 1, "assert");
                if first < close {
                    self.terms(lexed, first, lexed.after(first))?;
                }
            }
            Verb::DeclareRel => {
                self.word(open + 1, "declare-fun");
                let mut end = first;
                // The name and the sorts; Z3 lets the names of representations follow.
                for _ in 0..2 {
                    if end < close {
                        self.terms(lexed, end, lexed.after(end))?;
                        end = lexed.after(end);
                    }
                }
                self.symbol(open + 1);
            }
            Verb::DeclareVar | Verb::DeclareConst => {
                self.word(open + 1, "declare-const");
                self.terms(lexed, first, close)?;
            }
            Verb::DefineFun if lexed.source(open + 1) == "define-const" => {
                self.word(open + 1, "define-fun");
                if first < close {
                    self.terms(lexed, first, first + 1)?;
                    self.word(first, "(");
                    self.word(first, ")");
                    self.terms(lexed, first + 1, close)?;
                }
            }
            Verb::DeclareDatatypes => self.datatypes(lexed, command)?,
            _ => {
                self.word(open + 1, lexed.source(open + 1));
                self.terms(lexed, first, close)?;
            }
        }
        self.word(close, ")");
        Ok(())
    }

    fn word(&mut self, token: u32, word: &str) {
        self.text.push_str(word);
        self.text.push('\n');
        self.tokens.push(token);
    }

    fn symbol(&mut self, token: u32) {
        writeln!(self.text, "s{token}").expect("string");
        self.tokens.push(token);
    }

    /// The tokens from `from` to before `to`, terms and sorts rewritten.
    fn terms(&mut self, lexed: &Lexed<'_>, from: u32, to: u32) -> Result<(), InputError> {
        let tokens = &lexed.tokens;
        let kind = |i: u32| tokens.get(i as usize).map(|t| t.kind);
        let reserved = |i: u32| match kind(i) {
            Some(Kind::Reserved(symbol)) => lexed.symbols.name(symbol),
            _ => "",
        };
        // Where to jump: from the end of an annotated term to the end of its annotations.
        let mut jumps: Vec<(u32, u32)> = Vec::new();
        let mut at = from;
        while at < to {
            if let Some(&(start, end)) = jumps.last()
                && start == at
            {
                jumps.pop();
                at = end;
                continue;
            }
            match tokens[at as usize].kind {
                Kind::Open(close) => {
                    self.word(at, "(");
                    let next = at + 1;
                    match reserved(next) {
                        "!" if next + 1 < close => {
                            self.symbol(next);
                            at = next + 1;
                            jumps.push((lexed.after(at), close));
                            continue;
                        }
                        "forall" | "exists" | "let"
                            if kind(next + 1) == Some(Kind::Open(next + 2)) =>
                        {
                            self.symbol(next);
                            at = next + 3;
                            continue;
                        }
                        // (_ body) is a case of `match` and no identifier.
                        "_" if next + 1 < close && lexed.after(next + 1) == close => {
                            self.symbol(next);
                            at = next + 1;
                            continue;
                        }
                        "_" => {
                            self.word(next, "_");
                            at = next + 1;
                            // Z3's (_ is (C (S …) T)) names a constructor by its signature.
                            let signature = at < close
                                && lexed.source(at) == "is"
                                && lexed.is_open(at + 1)
                                && lexed.symbol(at + 2).is_some();
                            if signature {
                                self.symbol(at);
                                self.symbol(at + 2);
                                at = close;
                            }
                            continue;
                        }
                        _ => {}
                    }
                    if let Some(symbol) = lexed.symbol(next)
                        && matches!(lexed.symbols.name(symbol), "lambda" | "choice")
                        && lexed.is_open(next + 1)
                        && lexed.is_open(next + 2)
                    {
                        let name = lexed.symbols.name(symbol);
                        return Err(lexed.error(at, format!("`{name}` is not supported")));
                    }
                }
                Kind::Close(_) => self.word(at, ")"),
                Kind::Symbol(_) => self.symbol(at),
                Kind::Reserved(_) if reserved(at) == "_" => self.symbol(at),
                Kind::Reserved(_) => self.word(at, reserved(at)),
                Kind::Keyword => self.word(at, ":k"),
                Kind::Numeral => {
                    writeln!(self.text, "{at}").expect("string");
                    self.tokens.push(at);
                }
                Kind::Decimal | Kind::Hexadecimal | Kind::Binary | Kind::Text => {
                    writeln!(self.text, "\"{at}\"").expect("string");
                    self.tokens.push(at);
                }
            }
            at += 1;
        }
        Ok(())
    }

    /// `declare-datatype(s)`: constructors without parentheses get them, and Z3's older form
    /// without arities becomes the standard one.
    fn datatypes(&mut self, lexed: &Lexed<'_>, command: &RawCommand) -> Result<(), InputError> {
        let RawCommand { open, close, .. } = *command;
        let first = open + 2;
        self.word(open + 1, lexed.source(open + 1));
        if lexed.source(open + 1) == "declare-datatype" {
            self.terms(lexed, first, (first + 1).min(close))?;
            if first + 1 < close {
                self.datatype(lexed, first + 1)?;
                self.terms(lexed, lexed.after(first + 1), close)?;
            }
            return Ok(());
        }
        let second = lexed.after(first).min(close);
        let old = lexed.is_open(first) && !lexed.is_open(first + 1);
        if !old || second == close || !lexed.is_open(second) {
            self.terms(lexed, first, second)?;
            if second < close && lexed.is_open(second) {
                self.word(second, "(");
                let end = lexed.after(second) - 1;
                let mut at = second + 1;
                while at < end {
                    self.datatype(lexed, at)?;
                    at = lexed.after(at);
                }
                self.word(end, ")");
                self.terms(lexed, end + 1, close)?;
            } else {
                self.terms(lexed, second, close)?;
            }
            return Ok(());
        }
        if first + 1 != second - 1 {
            let message = "parametric datatypes in the form without arities are not supported";
            return Err(lexed.error(first, message));
        }
        let end = lexed.after(second) - 1;
        let mut declarations = Vec::new();
        let mut at = second + 1;
        while at < end {
            if lexed.is_open(at) && lexed.symbol(at + 1).is_some() {
                declarations.push(at);
            } else {
                return Err(lexed.error(at, "a datatype declaration is expected"));
            }
            at = lexed.after(at);
        }
        self.word(first, "(");
        for &at in &declarations {
            self.word(at, "(");
            self.symbol(at + 1);
            self.word(at, &LITERAL.to_string());
            self.word(at, ")");
        }
        self.word(first, ")");
        self.word(second, "(");
        for &at in &declarations {
            self.word(at, "(");
            self.constructors(lexed, at + 2, lexed.after(at) - 1)?;
            self.word(lexed.after(at) - 1, ")");
        }
        self.word(end, ")");
        self.terms(lexed, end + 1, close)
    }

    /// `( constructor … )` or `(par (T …) ( constructor … ))`.
    fn datatype(&mut self, lexed: &Lexed<'_>, at: u32) -> Result<(), InputError> {
        let Kind::Open(close) = lexed.tokens[at as usize].kind else {
            return self.terms(lexed, at, at + 1);
        };
        self.word(at, "(");
        let parametric = matches!(lexed.tokens[at as usize + 1].kind, Kind::Reserved(_));
        let no_parameters = Kind::Open(at + 3);
        if parametric
            && lexed.tokens[at as usize + 2].kind == no_parameters
            && let Kind::Open(end) = lexed.tokens[at as usize + 4].kind
            && end + 1 == close
        {
            // RustHorn writes (par () (…)).
            self.constructors(lexed, at + 5, end)?;
        } else if parametric {
            self.terms(lexed, at + 1, at + 2)?;
            let list = lexed.after(at + 2).min(close);
            if at + 2 < close {
                self.terms(lexed, at + 2, list)?;
            }
            if let Some(Kind::Open(end)) = lexed.tokens.get(list as usize).map(|t| t.kind) {
                self.word(list, "(");
                self.constructors(lexed, list + 1, end)?;
                self.word(end, ")");
                self.terms(lexed, end + 1, close)?;
            }
        } else {
            self.constructors(lexed, at + 1, close)?;
        }
        self.word(close, ")");
        Ok(())
    }

    fn constructors(&mut self, lexed: &Lexed<'_>, from: u32, to: u32) -> Result<(), InputError> {
        let mut at = from;
        while at < to {
            if lexed.symbol(at).is_some() {
                self.word(at, "(");
                self.symbol(at);
                self.word(at, ")");
            } else {
                self.terms(lexed, at, lexed.after(at))?;
            }
            at = lexed.after(at);
        }
        Ok(())
    }
}
