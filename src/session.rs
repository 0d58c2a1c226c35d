//! Scripts with several questions: which commands are in force at each.
//!
//! A script is taken command by command, as it comes. Each question becomes a text of its own: the
//! commands in force, at the lines and columns where they stand in the script, and one check. So
//! what reads and solves a text knows nothing of `push` and `pop`, and its errors name the places
//! of the script.
//!
//! Invariant: no command is understood here but by its name and, for `push`, `pop`, `set-option`,
//! `echo`, `get-info` and `check-sat-assuming`, by its words; everything else is copied.

use std::ops::Range;

use thiserror::Error;

use alphorn_witness::sexp::{TokenKind, Tokens, elements, symbol};

/// Levels that one `push` makes, at most.
const LEVELS: usize = 100_000;

/// What a command asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Nothing to say.
    None,
    /// To decide this text, which has one question; of rules if it is a `query`.
    Check {
        text: String,
        of_rules: bool,
    },
    GetModel,
    GetProof,
    /// Why the last check had no answer.
    ReasonUnknown,
    /// A line to print.
    Print(String),
    Exit,
}

/// A command that makes no sense, with its place in the script.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line} column {column}: {message}")]
pub struct SessionError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    pub message: String,
}

/// A command in force.
struct InForce {
    range: Range<usize>,
    kind: Kind,
}

/// What takes a command back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `reset` only: options and the logic.
    Option,
    /// `reset`, and `reset-assertions`, `pop` unless declarations are global.
    Declaration,
    Assertion,
}

/// A script so far.
#[derive(Default)]
pub struct Session {
    text: String,
    /// Commands before this offset have been taken.
    taken: usize,
    /// Up to here there is no end of the command that is under way.
    searched: usize,
    depth: usize,
    in_force: Vec<InForce>,
    /// For each level, how many commands were in force when it began.
    levels: Vec<usize>,
    global_declarations: bool,
    print_success: bool,
}

/// Whether a text asks more than one question, or one that only a session knows.
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
    /// Adds to the script.
    pub fn feed(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Whether a command has begun and has not ended yet.
    pub fn is_within_a_command(&self) -> bool {
        Tokens::new(&self.text, self.taken).next().is_some()
    }

    /// What the next command asks for; `None` if no whole command is left.
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

    /// The place of the next command. What was searched before is not searched again.
    fn next_command(&mut self) -> Option<Result<Range<usize>, SessionError>> {
        if self.searched == self.taken {
            let first = Tokens::new(&self.text, self.taken).next()?;
            if first.kind != TokenKind::Open {
                // Words end at a space.
                let ended = first.range.end < self.text.len();
                if !ended && first.kind != TokenKind::Close {
                    return None;
                }
                let error = self.error(first.range.start, "this is no command");
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
                // What the text ends with may go on.
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
                let assumed = self.assumed(&range, &parts)?;
                return Ok(Action::Check {
                    text: self.question(&range, &assumed),
                    of_rules: false,
                });
            }
            "get-model" => return Ok(Action::GetModel),
            "get-proof" => return Ok(Action::GetProof),
            "get-info" => {
                return Ok(match part(1) {
                    ":reason-unknown" => Action::ReasonUnknown,
                    ":name" => Action::Print("(:name \"alphorn\")".to_owned()),
                    ":version" => {
                        Action::Print(format!("(:version \"{}\")", env!("CARGO_PKG_VERSION")))
                    }
                    _ => Action::Print("unsupported".to_owned()),
                });
            }
            "echo" => return Ok(Action::Print(part(1).to_owned())),
            "set-info" => return Ok(Action::None),
            "exit" => return Ok(Action::Exit),
            "push" | "pop" => {
                let count = self.count(&range, &text, parts.get(1))?;
                if keyword == "push" {
                    let level = self.in_force.len();
                    self.levels.extend(std::iter::repeat_n(level, count));
                } else if count > self.levels.len() {
                    return Err(self.error(range.start, "there is nothing to pop"));
                } else if count > 0 {
                    let level = self.levels[self.levels.len() - count];
                    self.levels.truncate(self.levels.len() - count);
                    self.take_back(level);
                }
                return Ok(Action::None);
            }
            "reset" => {
                self.in_force.clear();
                self.levels.clear();
                (self.global_declarations, self.print_success) = (false, false);
                return Ok(Action::None);
            }
            "reset-assertions" => {
                self.levels.clear();
                self.take_back(0);
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

    /// Takes back what came into force after so many commands.
    fn take_back(&mut self, level: usize) {
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
    fn count(
        &self,
        command: &Range<usize>,
        text: &str,
        part: Option<&Range<usize>>,
    ) -> Result<usize, SessionError> {
        let Some(part) = part else {
            return Ok(1);
        };
        match text[part.clone()].parse() {
            Ok(count @ 0..=LEVELS) => Ok(count),
            _ => {
                let message = format!("a number of levels up to {LEVELS} is expected");
                Err(self.error(command.start + part.start, &message))
            }
        }
    }

    /// The literals of a list, as assertions, and a check.
    fn assumed(
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

    /// The commands in force at their places, and a question at its own.
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

/// As many lines as the text has, and as many characters in the last.
fn blank(out: &mut String, text: &str) {
    let last = text.rfind('\n').map_or(0, |newline| newline + 1);
    out.extend(text.bytes().filter(|&b| b == b'\n').map(char::from));
    out.extend(text[last..].chars().map(|_| ' '));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a script asks, fed in pieces of some size.
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

    /// The questions of a script without its blanks.
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
    fn what_is_in_force() {
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
    fn mistakes_have_places() {
        for (script, expected) in [
            (
                "(push)\n (pop 2)",
                "line 2 column 2: there is nothing to pop",
            ),
            (
                "(push -1)",
                "line 1 column 7: a number of levels up to 100000 is expected",
            ),
            ("\nhello ", "line 2 column 1: this is no command"),
            (") ", "line 1 column 1: this is no command"),
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
    fn sessions_are_told_from_single_questions() {
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
