//! A scanner for S-expressions: tokens with their byte ranges.
//!
//! The checks of witnesses cut and join the user's text with it, apart from the reader's own
//! scanner.
//!
//! # Invariant
//! It has no notion of term, sort or command, and no recursion.

use std::ops::Range;

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// `(`
    Open,
    /// `)`
    Close,
    /// A symbol, with or without bars, a keyword or a literal other than a string.
    Atom,
    /// A string literal.
    String,
    /// A string or quoted symbol that does not end.
    Unterminated,
}

/// A token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Its bytes in the text.
    pub range: Range<usize>,
}

/// The tokens of a text from a byte offset on, without comments and white space.
pub struct Tokens<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Tokens<'a> {
    /// The tokens from `start` on, a character boundary outside of tokens.
    pub fn new(text: &'a str, start: usize) -> Self {
        Tokens {
            text,
            position: start,
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.position)? {
                b' ' | b'\t' | b'\r' | b'\n' => self.position += 1,
                b';' => {
                    let rest = &bytes[self.position..];
                    let line = rest.iter().position(|&b| b == b'\n' || b == b'\r');
                    self.position += line.unwrap_or(rest.len());
                }
                _ => break,
            }
        }
        let start = self.position;
        let (kind, end) = match bytes[start] {
            b'(' => (TokenKind::Open, start + 1),
            b')' => (TokenKind::Close, start + 1),
            b'|' => match bytes[start + 1..].iter().position(|&b| b == b'|') {
                Some(length) => (TokenKind::Atom, start + length + 2),
                None => (TokenKind::Unterminated, bytes.len()),
            },
            b'"' => string_end(bytes, start),
            _ => {
                let delimiter = |b: &u8| b" \t\r\n;()|\"".contains(b);
                let length = bytes[start..].iter().position(delimiter);
                (
                    TokenKind::Atom,
                    length.map_or(bytes.len(), |length| start + length),
                )
            }
        };
        self.position = end;
        Some(Token {
            kind,
            range: start..end,
        })
    }
}

/// The end of a string literal, in which two quotes are a quote.
fn string_end(bytes: &[u8], start: usize) -> (TokenKind, usize) {
    let mut position = start + 1;
    while let Some(length) = bytes[position..].iter().position(|&b| b == b'"') {
        position += length + 1;
        if bytes.get(position) != Some(&b'"') {
            return (TokenKind::String, position);
        }
        position += 1;
    }
    (TokenKind::Unterminated, bytes.len())
}

/// A symbol without its bars.
pub fn symbol(atom: &str) -> &str {
    atom.strip_prefix('|')
        .and_then(|rest| rest.strip_suffix('|'))
        .unwrap_or(atom)
}

/// The first byte in `range` from which on readers of SMT-LIB may split the text into other tokens:
/// a carriage return without line feed, a quoted symbol that ends with a backslash, or an atom that
/// is no token of SMT-LIB. For Z3 the first does not end a line, the second does not end the
/// symbol, `#|` is a comment, and `0f` and `f:named` are two tokens each. So Z3 may read a
/// definition that is not seen here.
pub fn ambiguity(text: &str, range: &Range<usize>) -> Option<usize> {
    let bytes = text.as_bytes();
    let lone = |&i: &usize| bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n');
    let lone_return = range.clone().find(lone);
    let atom = Tokens::new(&text[..range.end], range.start)
        .filter(|token| token.kind == TokenKind::Atom)
        .find(|token| {
            let atom = &text[token.range.clone()];
            match atom.starts_with('|') {
                true => atom.ends_with("\\|"),
                false => !is_one_token(atom),
            }
        });
    lone_return
        .into_iter()
        .chain(atom.map(|token| token.range.start))
        .min()
}

/// Whether an atom without bars is a symbol, a keyword or a literal of SMT-LIB; numbers may have a
/// sign.
fn is_one_token(atom: &str) -> bool {
    let all =
        |digits: &str, digit: fn(char) -> bool| !digits.is_empty() && digits.chars().all(digit);
    let is_number = |digits: &str| {
        let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
        all(whole, |c| c.is_ascii_digit()) && all(decimals, |c| c.is_ascii_digit())
    };
    let is_symbol = |name: &str| {
        all(name, |c| {
            c.is_ascii_alphanumeric() || "~!@$%^&*_-+=<>.?/".contains(c)
        })
    };
    if let Some(literal) = atom.strip_prefix('#') {
        return match literal.split_at_checked(1) {
            Some(("x", digits)) => all(digits, |c| c.is_ascii_hexdigit()),
            Some(("b", digits)) => all(digits, |c| matches!(c, '0' | '1')),
            _ => false,
        };
    }
    let unsigned = atom.strip_prefix('-').unwrap_or(atom);
    if unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return is_number(unsigned);
    }
    is_symbol(atom.strip_prefix(':').unwrap_or(atom))
}

/// The range of the first S-expression at or after `start`; `None` if it is not complete.
pub fn expression(text: &str, start: usize) -> Option<Range<usize>> {
    let mut depth = 0usize;
    let mut begin = None;
    for token in Tokens::new(text, start) {
        let begin = *begin.get_or_insert(token.range.start);
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.checked_sub(1)?,
            TokenKind::Atom | TokenKind::String => {}
            TokenKind::Unterminated => return None,
        }
        if depth == 0 {
            return Some(begin..token.range.end);
        }
    }
    None
}

/// The ranges of the elements of the list at `range`; `None` if there is no list.
pub fn elements(text: &str, range: &Range<usize>) -> Option<Vec<Range<usize>>> {
    let mut tokens = Tokens::new(&text[..range.end], range.start);
    let first = tokens.next()?;
    if first.kind != TokenKind::Open {
        return None;
    }
    let mut found = Vec::new();
    let mut depth = 0usize;
    let mut begin = 0;
    for token in tokens {
        if depth == 0 {
            begin = token.range.start;
        }
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close if depth == 0 => {
                return (token.range.end == range.end).then_some(found);
            }
            TokenKind::Close => depth -= 1,
            TokenKind::Atom | TokenKind::String => {}
            TokenKind::Unterminated => return None,
        }
        if depth == 0 {
            found.push(begin..token.range.end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_a_command() {
        let text = "; c (\n (rule |a )b| \"x\"\"(\" (f (g)) x|y| ) z";
        let range = expression(text, 0).unwrap();
        let parts: Vec<&str> = elements(text, &range)
            .unwrap()
            .into_iter()
            .map(|r| &text[r])
            .collect();
        assert_eq!(
            parts,
            ["rule", "|a )b|", "\"x\"\"(\"", "(f (g))", "x", "|y|"]
        );
        assert_eq!(&text[expression(text, range.end).unwrap()], "z");
        assert_eq!(symbol("|a )b|"), "a )b");
    }

    #[test]
    fn rejects_incomplete_expressions() {
        for text in ["", "(", "(a", "(|a)", "(\"a)", ")", "; only a comment"] {
            assert_eq!(expression(text, 0), None, "{text}");
        }
        assert_eq!(elements("a", &(0..1)), None);
    }

    #[test]
    fn finds_ambiguous_tokens() {
        let place = |text: &str| ambiguity(text, &(0..text.len()));
        assert_eq!(
            place("(a |b c| #x0fA #b01 \"#|\" ; #|\r\n |a\\b| |#|)"),
            None
        );
        assert_eq!(place("(a ; b\r c)"), Some(6));
        assert_eq!(place("(a |b\\| c)"), Some(3));
        assert_eq!(place("(a #|b| c)"), Some(3));
        assert_eq!(place("(a #b c #x1)"), Some(3));
        assert_eq!(place("(a #b2)"), Some(3));
        assert_eq!(place("(f! 0 -5 1.25 :pattern - <= #xF |0f| x!0)"), None);
        for word in [
            "0f", "-5f", "1.", "1.f", ".:", "f:named", ":", "f,g", "'", "\\f", "é",
        ] {
            assert_eq!(place(&format!("(a {word})")), Some(3), "{word}");
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        let text = format!("{}{}", "(".repeat(300_000), ")".repeat(300_000));
        assert_eq!(expression(&text, 0), Some(0..text.len()));
        assert_eq!(elements(&text, &(0..text.len())).unwrap().len(), 1);
    }
}
