//! Scripts with several questions: the text of each question.
//!
//! A session takes a script command by command, as it arrives. It makes a text of each question: the
//! commands in force, at the lines and columns where they stand in the script, and one check. So
//! reading and solving a text need not know `push` and `pop`, and errors have the places of the script.
//!
//! Invariant: a session interprets only the names of commands and the arguments of `push`, `pop`,
//! `set-option`, `echo`, `get-info` and `check-sat-assuming`; everything else is copied.

use std::ops::Range;

use thiserror::Error;

use alphorn_witness::sexp::{TokenKind, Tokens, elements, symbol};

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
    /// To print the model of the last answer.
    GetModel,
    /// To print the refutation of the last answer.
    GetProof,
    /// To print the reason of the last `unknown`.
    ReasonUnknown,
    /// To print a line.
    Print(String),
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
                "check-sat" | "query" => questions += 1,
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

    /// Takes the command at this place.
    fn take(&mut self, range: Range<usize>) -> Result<Action, SessionError> {
        let text = self.text[range.clone()].to_owned();
        let parts = elements(&text, &(0..text.len())).unwrap_or_default();
        let part = |number: usize| parts.get(number).map_or("", |part| &text[part.clone()]);
        let keyword = part(0);
        let kind = match keyword {
            "assert" | "rule" => Kind::Assertion,
            "set-logic" => Kind::Option,
            "set-option" => {
                let is_true = part(2) == "true";
                match part(1) {
                    ":print-success" => {
                        self.print_success = is_true;
                        return Ok(Action::None);
                    }
                    ":global-declarations" => self.global_declarations = is_true,
                    _ => {}
                }
                Kind::Option
            }
            "check-sat" | "query" => {
                return Ok(Action::Check {
                    text: self.question(&range, &text),
                    of_rules: keyword == "query",
                });
            }
            "check-sat-assuming" => {
                let assumptions = self.assumptions(&range, &parts)?;
                return Ok(Action::Check {
                    text: self.question(&range, &assumptions),
                    of_rules: false,
                });
            }
            "get-model" => return Ok(Action::GetModel),
            "get-proof" => return Ok(Action::GetProof),
            "get-info" => return Ok(information(part(1))),
            "echo" => return Ok(Action::Print(part(1).to_owned())),
            "set-info" => return Ok(Action::None),
            "exit" => return Ok(Action::Exit),
            "push" | "pop" => {
                let count = self.level_count(&range, &text, parts.get(1))?;
                return match keyword {
                    "push" => Ok(self.push(count)),
                    _ => self.pop(count, range.start),
                };
            }
            "reset" => {
                self.in_force.clear();
                self.levels.clear();
                (self.global_declarations, self.print_success) = (false, false);
                return Ok(Action::None);
            }
            "reset-assertions" => {
                self.levels.clear();
                self.remove_after(0);
                return Ok(Action::None);
            }
            _ if keyword.starts_with("declare-") || keyword.starts_with("define-") => {
                Kind::Declaration
            }
            _ if keyword.starts_with("get-") => {
                return Ok(Action::Print("unsupported".to_owned()));
            }
            _ => {
                let name: String = keyword.chars().take(40).collect();
                let message = format!("unknown command: {name}");
                return Err(self.error(range.start, &message));
            }
        };
        self.in_force.push(InForce { range, kind });
        Ok(Action::None)
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

    /// The number of levels to push or pop; `part` is the argument of the command.
    fn level_count(
        &self,
        command: &Range<usize>,
        text: &str,
        part: Option<&Range<usize>>,
    ) -> Result<usize, SessionError> {
        let Some(part) = part else {
            return Ok(1);
        };
        match text[part.clone()].parse() {
            Ok(count @ 0..=MAX_LEVELS) => Ok(count),
            _ => {
                let message = format!("a number of levels up to {MAX_LEVELS} is expected");
                Err(self.error(command.start + part.start, &message))
            }
        }
    }

    /// An assertion of the literals of a `check-sat-assuming`, and a check, at their places.
    fn assumptions(
        &self,
        command: &Range<usize>,
        parts: &[Range<usize>],
    ) -> Result<String, SessionError> {
        let error = || {
            let message = "Boolean symbols and their negations are expected";
            self.error(command.start, message)
        };
        let text = &self.text[command.clone()];
        let [_, list] = parts else {
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

    /// A text with the commands in force and a question, all at their places in the script.
    fn question(&self, at: &Range<usize>, question: &str) -> String {
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
        out
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

/// The answer to `get-info`.
fn information(keyword: &str) -> Action {
    match keyword {
        ":reason-unknown" => Action::ReasonUnknown,
        ":name" => Action::Print("(:name \"alphorn\")".to_owned()),
        ":version" => Action::Print(format!("(:version \"{}\")", env!("CARGO_PKG_VERSION"))),
        _ => Action::Print("unsupported".to_owned()),
    }
}

/// Appends as many lines as the text has, and as many spaces as its last line has characters.
fn blank(out: &mut String, text: &str) {
    let last = text.rfind('\n').map_or(0, |newline| newline + 1);
    out.extend(text.bytes().filter(|&b| b == b'\n').map(char::from));
    out.extend(text[last..].chars().map(|_| ' '));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The actions of a script that arrives in pieces of this size.
    fn actions(script: &str, size: usize) -> Vec<Result<Action, SessionError>> {
        let mut session = Session::default();
        let mut found = Vec::new();
        let letters: Vec<char> = script.chars().collect();
        for piece in letters.chunks(size) {
            session.feed(&piece.iter().collect::<String>());
            while let Some(action) = session.next_action() {
                found.push(action);
            }
        }
        found.retain(|action| *action != Ok(Action::None));
        found
    }

    /// The questions of a script, with single spaces.
    fn questions(script: &str) -> Vec<String> {
        let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let question = |action| match action {
            Ok(Action::Check { text, .. }) => Some(words(text)),
            _ => None,
        };
        actions(script, 1)
            .into_iter()
            .filter_map(question)
            .collect()
    }

    #[test]
    fn questions_have_the_commands_in_force() {
        let script = "(set-logic HORN) (declare-fun p () Bool)(assert p)
            (push) (assert (=> p false)) (check-sat) (pop 1) (check-sat)
            (push 2) (set-option :timeout 7) (declare-fun q () Bool) (pop) (pop)
            (check-sat-assuming (p (not p)))
            (reset-assertions) (check-sat) (reset) (check-sat)";
        let head = "(set-logic HORN) (declare-fun p () Bool)(assert p)";
        assert_eq!(
            questions(script),
            [
                format!("{head} (assert (=> p false)) (check-sat)"),
                format!("{head} (check-sat)"),
                format!("{head} (set-option :timeout 7) (assert (and p (not p))) (check-sat)"),
                "(set-logic HORN) (set-option :timeout 7) (check-sat)".to_owned(),
                "(check-sat)".to_owned(),
            ]
        );
        let global = "(set-option :global-declarations true) (push) (declare-fun p () Bool)
            (assert p) (pop) (check-sat)";
        let expected = "(set-option :global-declarations true) (declare-fun p () Bool) (check-sat)";
        assert_eq!(questions(global), [expected]);
        let rules = "(declare-rel p ()) (declare-rel q ()) (rule p) (query p) (query q)";
        let head = "(declare-rel p ()) (declare-rel q ()) (rule p)";
        assert_eq!(
            questions(rules),
            [format!("{head} (query p)"), format!("{head} (query q)")]
        );
    }

    #[test]
    fn places_stay_and_pieces_do_not_matter() {
        let script = "; häh\n(push)\n (assert |a\n)|) (pop) (assert \"(\" ) ; (\n  (check-sat)\n";
        let text = "\n\n\n          (assert \"(\" )\n  (check-sat)\n";
        for size in 1..script.len() {
            let check = Action::Check {
                text: text.to_owned(),
                of_rules: false,
            };
            assert_eq!(actions(script, size), [Ok(check)], "{size}");
        }
    }

    #[test]
    fn other_commands() {
        let print = |text: &str| Ok(Action::Print(text.to_owned()));
        let script = "(echo \"a b\") (get-info :name) (get-value (x)) (get-model) (get-proof)
            (get-info :reason-unknown) (set-option :print-success true) (assert p) (exit) ";
        let found = actions(script, 7);
        let expected = [
            print("\"a b\""),
            print("(:name \"alphorn\")"),
            print("unsupported"),
            Ok(Action::GetModel),
            Ok(Action::GetProof),
            Ok(Action::ReasonUnknown),
            print("success"),
            print("success"),
            Ok(Action::Exit),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn errors_have_places() {
        for (script, expected) in [
            (
                "(push)\n (pop 2)",
                "line 2 column 2: there is nothing to pop",
            ),
            (
                "(push -1)",
                "line 1 column 7: a number of levels up to 100000 is expected",
            ),
            ("\nhello ", "line 2 column 1: this is not a command"),
            (") ", "line 1 column 1: this is not a command"),
            (" (solve)", "line 1 column 2: unknown command: solve"),
            (
                "(check-sat-assuming ((and p q)))",
                "line 1 column 1: Boolean symbols and their negations are expected",
            ),
        ] {
            let found = actions(script, 3);
            let errors: Vec<String> = found
                .iter()
                .filter_map(|a| a.as_ref().err())
                .map(ToString::to_string)
                .collect();
            assert_eq!(errors, [expected], "{script}");
        }
    }

    #[test]
    fn single_questions_are_no_sessions() {
        for (text, expected) in [
            ("(check-sat)", false),
            ("(check-sat) ; (check-sat)", false),
            (
                "(assert |(check-sat)|) (set-info :x (check-sat)) (check-sat)",
                false,
            ),
            ("(check-sat) (check-sat)", true),
            ("(check-sat-assuming (p))", true),
            ("(query p) (query q)", true),
            ("(declare-rel query ()) (query query)", false),
        ] {
            assert_eq!(is_session(text), expected, "{text}");
        }
    }
}
