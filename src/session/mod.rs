//! Scripts with several questions: the text of each question.
//!
//! A session takes a script command by command, as it arrives. It makes a text of each question: the
//! commands in force, at the lines and columns where they stand in the script, and one check. So
//! reading and solving a text need not know `push` and `pop`, and errors have the places of the script.
//!
//! Invariant: a session interprets only the names of commands, the arguments of `push`, `pop`,
//! `set-option`, `echo`, `get-info`, `get-option` and `check-sat-assuming`, and the names of
//! assertions; everything else is copied.

mod information;
mod names;
mod output;
pub mod proof;
mod single;
#[cfg(test)]
mod tests;

use std::ops::Range;

use thiserror::Error;

use alphorn_chc::frontend::only_displays;
use alphorn_witness::sexp::{TokenKind, Tokens, elements, symbol};

use self::information::{Options, information};
pub use self::output::answers;
pub use self::single::replies;
use crate::reply::{Names, Request};

/// The most levels that one `push` or `pop` may have.
const MAX_LEVELS: usize = 100_000;

/// What a command asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Nothing.
    None,
    /// To answer a question.
    Check {
        /// A text with the commands in force and this question.
        text: String,
        /// Whether the question is a `query` of the fixedpoint dialect.
        of_rules: bool,
    },
    /// To reply to a request about the last answer.
    Request(Request),
    /// To print a line.
    Print(String),
    /// To print an error that has no effect on answers.
    Error(SessionError),
    /// To end the session.
    Exit,
}

/// An error in a command, with its place in the script.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line} column {column}: {message}")]
pub struct SessionError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// A command and its parts.
struct Command {
    /// Its place in the script.
    range: Range<usize>,
    text: String,
    /// The places of its parts in `text`.
    parts: Vec<Range<usize>>,
}

impl Command {
    /// The command at this place of a script.
    fn new(script: &str, range: Range<usize>) -> Command {
        let text = script[range.clone()].to_owned();
        let parts = elements(&text, &(0..text.len())).unwrap_or_default();
        Command { range, text, parts }
    }

    /// The part with this number; empty if there is none.
    fn part(&self, number: usize) -> &str {
        self.parts
            .get(number)
            .map_or("", |part| &self.text[part.clone()])
    }

    /// The name of the command.
    fn keyword(&self) -> &str {
        self.part(0)
    }
}

/// A command in force.
struct InForce {
    range: Range<usize>,
    kind: Kind,
}

/// The kind of a command, which says what removes it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An option or the logic: only `reset` removes it.
    Option,
    /// `reset` removes it, and unless declarations are global, also `reset-assertions` and `pop`.
    Declaration,
    /// `reset`, `reset-assertions` and `pop` remove it.
    Assertion,
}

/// The part of a script that has arrived.
#[derive(Default)]
pub struct Session {
    text: String,
    /// The offset up to which commands have been taken.
    taken: usize,
    /// The offset up to which the end of the next command has been looked for.
    searched: usize,
    /// The number of open parentheses there.
    depth: usize,
    in_force: Vec<InForce>,
    /// For each level, the number of commands in force when it was pushed.
    levels: Vec<usize>,
    global_declarations: bool,
    print_success: bool,
    options: Options,
    /// Whether commands arrive one by one from a program that waits for replies.
    interactive: bool,
    /// The assertions of the last question; `None` before the first one.
    asked: Option<Vec<Range<usize>>>,
    /// The last command that is not known, which may have changed the problem.
    unknown: Option<String>,
}

/// Whether a text has more than one question, or a `check-sat-assuming`.
pub fn is_session(text: &str) -> bool {
    let words = ["check-sat", "query"];
    let count = |word: &str| text.matches(word).take(2).count();
    if words.iter().map(|word| count(word)).sum::<usize>() < 2 && !text.contains("check-sat-") {
        return false;
    }
    let (mut depth, mut questions, mut first) = (0usize, 0, false);
    for token in Tokens::new(text, 0) {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            TokenKind::Atom if first && depth == 1 => match &text[token.range.clone()] {
                "check-sat" | "check-sat-using" | "query" => questions += 1,
                "check-sat-assuming" => questions += 2,
                _ => {}
            },
            _ => {}
        }
        first = token.kind == TokenKind::Open;
    }
    questions > 1
}

impl Session {
    /// A session with a program that waits for replies.
    pub fn interactive() -> Session {
        Session {
            interactive: true,
            ..Session::default()
        }
    }

    /// Appends a text to the script.
    pub fn feed(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Whether the last command is incomplete.
    pub fn is_within_a_command(&self) -> bool {
        Tokens::new(&self.text, self.taken).next().is_some()
    }

    /// Takes the next command. The result says what it asks for; `None` if no complete command is left.
    pub fn next_action(&mut self) -> Option<Result<Action, SessionError>> {
        let range = match self.next_command()? {
            Ok(range) => range,
            Err(error) => return Some(Err(error)),
        };
        self.taken = range.end;
        self.searched = range.end;
        self.depth = 0;
        let action = self.take(range);
        Some(match action {
            Ok(Action::None) if self.print_success => Ok(Action::Print("success".to_owned())),
            action => action,
        })
    }

    /// The place of the next command. No part of the text is searched twice.
    fn next_command(&mut self) -> Option<Result<Range<usize>, SessionError>> {
        if self.searched == self.taken {
            let first = Tokens::new(&self.text, self.taken).next()?;
            if first.kind != TokenKind::Open {
                // An atom at the end of the text may be incomplete.
                let ended = first.range.end < self.text.len();
                if !ended && first.kind != TokenKind::Close {
                    return None;
                }
                let error = self.error(first.range.start, "this is not a command");
                self.taken = first.range.end;
                self.searched = self.taken;
                return Some(Err(error));
            }
            self.taken = first.range.start;
            self.searched = first.range.start;
        }
        let mut end = None;
        for token in Tokens::new(&self.text, self.searched) {
            match token.kind {
                TokenKind::Open => self.depth += 1,
                TokenKind::Close => self.depth -= 1,
                TokenKind::Unterminated => break,
                // A token at the end of the text may be incomplete.
                TokenKind::Atom | TokenKind::String if token.range.end == self.text.len() => break,
                TokenKind::Atom | TokenKind::String => {}
            }
            self.searched = token.range.end;
            if self.depth == 0 {
                end = Some(token.range.end);
                break;
            }
        }
        end.map(|end| Ok(self.taken..end))
    }

    /// Takes the command at this place: one that stays in force, a question, a change of what is in
    /// force, or a request about the last answer.
    fn take(&mut self, range: Range<usize>) -> Result<Action, SessionError> {
        let command = Command::new(&self.text, range);
        let kind = match command.keyword() {
            "assert" | "rule" => Kind::Assertion,
            "set-logic" => Kind::Option,
            "set-option" => match self.set_option(&command) {
                Some(kind) => kind,
                None => return Ok(Action::None),
            },
            "check-sat" | "check-sat-using" | "check-sat-assuming" | "query" => {
                return self.check(&command);
            }
            "set-info" => return Ok(Action::None),
            "exit" => return Ok(Action::Exit),
            "push" | "pop" => return self.change_level(&command),
            "reset" | "reset-assertions" => return Ok(self.reset(command.keyword())),
            "get-value" => return Ok(self.values(&command)),
            "echo" => return Ok(Action::Print(command.part(1).to_owned())),
            word if word.starts_with("declare-") || word.starts_with("define-") => {
                Kind::Declaration
            }
            word if word.starts_with("get-") => return Ok(self.get(&command)),
            _ => return self.other(&command),
        };
        let range = command.range;
        self.in_force.push(InForce { range, kind });
        Ok(Action::None)
    }

    /// Sets an option. The result is the kind of the command, if it stays in force.
    fn set_option(&mut self, command: &Command) -> Option<Kind> {
        let (name, value) = (command.part(1), command.part(2));
        self.options.set(name, value);
        match name {
            ":print-success" => {
                self.print_success = value == "true";
                return None;
            }
            ":global-declarations" => self.global_declarations = value == "true",
            _ => {}
        }
        Some(Kind::Option)
    }

    /// The question of a command.
    fn check(&mut self, command: &Command) -> Result<Action, SessionError> {
        let question = match command.keyword() {
            "check-sat-assuming" => self.assumptions(command)?,
            _ => command.text.clone(),
        };
        Ok(Action::Check {
            text: self.question(&command.range, &question)?,
            of_rules: command.keyword() == "query",
        })
    }

    /// Takes a `push` or `pop`.
    fn change_level(&mut self, command: &Command) -> Result<Action, SessionError> {
        let count = self.level_count(command)?;
        match command.keyword() {
            "push" => Ok(self.push(count)),
            _ => self.pop(count, command.range.start),
        }
    }

    /// Takes a `reset` or `reset-assertions`.
    fn reset(&mut self, keyword: &str) -> Action {
        self.levels.clear();
        if keyword == "reset-assertions" {
            self.remove_after(0);
        } else {
            self.in_force.clear();
            (self.global_declarations, self.print_success) = (false, false);
            self.options = Options::default();
            self.unknown = None;
        }
        Action::None
    }

    /// The request of a `get-value`.
    fn values(&self, command: &Command) -> Action {
        let list = command.parts.get(1);
        let list = list.and_then(|list| elements(&command.text, list));
        let Some(list) = list.filter(|list| !list.is_empty()) else {
            return Action::Error(self.error(command.range.start, "a list of terms is expected"));
        };
        let terms = list
            .into_iter()
            .map(|term| command.text[term].to_owned())
            .collect();
        Action::Request(Request::Values(terms))
    }

    /// What a command asks for that begins with `get-`, other than `get-value`.
    fn get(&self, command: &Command) -> Action {
        let part = command.part(1);
        match command.keyword() {
            "get-model" => Action::Request(Request::Model),
            "get-proof" => Action::Request(Request::Proof),
            "get-unsat-core" => Action::Request(Request::UnsatCore(self.names())),
            "get-assignment" => Action::Request(self.assignment()),
            "get-info" if part == ":reason-unknown" => Action::Request(Request::Reason),
            "get-info" => information(part, self.levels.len(), self.interactive),
            "get-option" => Action::Print(self.options.get(part)),
            "get-assertions" => Action::Print(self.assertions()),
            _ => Action::Print("unsupported".to_owned()),
        }
    }

    /// Takes a command that has no meaning here.
    fn other(&mut self, command: &Command) -> Result<Action, SessionError> {
        let keyword = command.keyword();
        let name: String = keyword.chars().take(40).collect();
        let start = command.range.start;
        if only_displays(keyword) {
            // An error before the verdict would make readers doubt it.
            if self.asked.is_none() {
                return Ok(Action::Print("unsupported".to_owned()));
            }
            let message = format!("the command `{name}` is not supported");
            return Ok(Action::Error(self.error(start, &message)));
        }
        let error = self.error(start, &format!("unknown command: {name}"));
        if self.asked.is_none() || self.interactive {
            return Err(error);
        }
        self.unknown = Some(name);
        Ok(Action::Error(error))
    }

    /// Pushes this many levels.
    fn push(&mut self, count: usize) -> Action {
        let level = self.in_force.len();
        self.levels.extend(std::iter::repeat_n(level, count));
        Action::None
    }

    /// Pops this many levels; the command is at `offset`.
    fn pop(&mut self, count: usize, offset: usize) -> Result<Action, SessionError> {
        if count > self.levels.len() {
            return Err(self.error(offset, "there is nothing to pop"));
        }
        if count > 0 {
            let level = self.levels[self.levels.len() - count];
            self.levels.truncate(self.levels.len() - count);
            self.remove_after(level);
        }
        Ok(Action::None)
    }

    /// Removes the commands in force after the first `level`, unless `pop` keeps them.
    fn remove_after(&mut self, level: usize) {
        let global = self.global_declarations;
        let later = self.in_force.split_off(level);
        self.in_force
            .extend(later.into_iter().filter(|c| match c.kind {
                Kind::Option => true,
                Kind::Declaration => global,
                Kind::Assertion => false,
            }));
    }

    /// The number of levels to push or pop.
    fn level_count(&self, command: &Command) -> Result<usize, SessionError> {
        let Some(part) = command.parts.get(1) else {
            return Ok(1);
        };
        match command.text[part.clone()].parse() {
            Ok(count @ 0..=MAX_LEVELS) => Ok(count),
            _ => {
                let message = format!("a number of levels up to {MAX_LEVELS} is expected");
                Err(self.error(command.range.start + part.start, &message))
            }
        }
    }

    /// An assertion of the literals of a `check-sat-assuming`, and a check, at their places.
    fn assumptions(&self, command: &Command) -> Result<String, SessionError> {
        let error = || {
            let message = "Boolean symbols and their negations are expected";
            self.error(command.range.start, message)
        };
        let text = &command.text;
        let [_, list] = command.parts.as_slice() else {
            return Err(error());
        };
        let literals = elements(text, list).ok_or_else(error)?;
        let is_symbol =
            |range: &Range<usize>| !text[range.clone()].starts_with(['(', '"', ':', '#']);
        for literal in literals.iter().filter(|literal| !is_symbol(literal)) {
            match elements(text, literal).ok_or_else(error)?.as_slice() {
                [not, name] if symbol(&text[not.clone()]) == "not" && is_symbol(name) => {}
                _ => return Err(error()),
            }
        }
        let mut out = String::new();
        if !literals.is_empty() {
            out.push_str("(assert (and");
            let end = out.len();
            blank(&mut out, &text[end..=list.start]);
            out.push_str(&text[list.start + 1..]);
        }
        out.push_str(" (check-sat)");
        Ok(out)
    }

    /// The ranges of the assertions in force.
    fn assertion_ranges(&self) -> Vec<Range<usize>> {
        let assertions = self.in_force.iter().filter(|c| c.kind == Kind::Assertion);
        assertions.map(|c| c.range.clone()).collect()
    }

    /// The names of the assertions of the last question.
    fn names(&self) -> Names {
        let asked = self.asked.iter().flatten();
        asked.map(|c| names::name_of(&self.text, c)).collect()
    }

    fn assignment(&self) -> Request {
        let names = self.names();
        let asked = self.asked.iter().flatten();
        let all: usize = asked.map(|c| names::count(&self.text, c)).sum();
        let complete = names.iter().flatten().count() == all;
        Request::Assignment(complete.then_some(names))
    }

    /// The formulas of the assertions in force, as a list with a line for each.
    fn assertions(&self) -> String {
        let mut out = "(".to_owned();
        for range in self.assertion_ranges() {
            let parts = elements(&self.text, &range).unwrap_or_default();
            match parts.as_slice() {
                [word, formula, ..] if &self.text[word.clone()] == "assert" => {
                    out.push('\n');
                    out.push_str(&self.text[formula.clone()]);
                }
                // A rule has variables that are not bound in it.
                _ => return "unsupported".to_owned(),
            }
        }
        out.push_str("\n)");
        out
    }

    /// A text with the commands in force and a question, all at their places in the script.
    fn question(&mut self, at: &Range<usize>, question: &str) -> Result<String, SessionError> {
        if let Some(name) = &self.unknown {
            let message = format!("there is no answer, since the command `{name}` is unknown");
            return Err(self.error(at.start, &message));
        }
        self.asked = Some(self.assertion_ranges());
        let mut out = String::new();
        let mut end = 0;
        for command in &self.in_force {
            blank(&mut out, &self.text[end..command.range.start]);
            out.push_str(&self.text[command.range.clone()]);
            end = command.range.end;
        }
        blank(&mut out, &self.text[end..at.start]);
        out.push_str(question);
        out.push('\n');
        Ok(out)
    }

    /// An error at this offset.
    fn error(&self, offset: usize, message: &str) -> SessionError {
        let before = &self.text[..offset];
        let line = before.rfind('\n').map_or(0, |newline| newline + 1);
        SessionError {
            line: before.bytes().filter(|&b| b == b'\n').count() + 1,
            column: before[line..].chars().count() + 1,
            message: message.to_owned(),
        }
    }
}

/// Appends as many lines as the text has, and as many spaces as its last line has characters.
fn blank(out: &mut String, text: &str) {
    let last = text.rfind('\n').map_or(0, |newline| newline + 1);
    out.extend(text.bytes().filter(|&b| b == b'\n').map(char::from));
    out.extend(text[last..].chars().map(|_| ' '));
}
