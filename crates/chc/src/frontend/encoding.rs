//! From bytes to text. Old files have names of authors in Latin-1 in their comments; these are read,
//! while other bytes that are not UTF-8 are refused.
//!
//! Invariant: bytes that are UTF-8 stay as they are, and outside of comments and strings there are no
//! others.

use std::borrow::Cow;

use super::error::{InputError, LexicalError};

/// What the bytes so far end in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Plain,
    Comment,
    String,
    Symbol,
}

impl State {
    fn after(self, byte: u8) -> State {
        match (self, byte) {
            (State::Plain, b';') => State::Comment,
            (State::Plain, b'"') => State::String,
            (State::Plain, b'|') => State::Symbol,
            (State::Comment, b'\n') | (State::String, b'"') | (State::Symbol, b'|') => State::Plain,
            _ => self,
        }
    }
}

/// The text of bytes, in which comments and strings may have bytes that are not UTF-8, read as
/// Latin-1. The second result is the offset in the text of the first of these.
///
/// # Errors
/// Such a byte elsewhere.
pub fn decode(bytes: &[u8]) -> Result<(Cow<'_, str>, Option<usize>), InputError> {
    let mut rest = bytes;
    let mut text = String::new();
    let mut first = None;
    let mut state = State::Plain;
    loop {
        let valid = match std::str::from_utf8(rest) {
            Ok(whole) if text.is_empty() => return Ok((Cow::Borrowed(whole), first)),
            Ok(whole) => {
                text.push_str(whole);
                return Ok((Cow::Owned(text), first));
            }
            Err(error) => error.valid_up_to(),
        };
        let (before, after) = rest.split_at(valid);
        text.push_str(&String::from_utf8_lossy(before));
        state = before.iter().fold(state, |state, &byte| state.after(byte));
        if !matches!(state, State::Comment | State::String) {
            let place = text.len();
            return Err(InputError::at_byte(&text, place, LexicalError::NotUtf8));
        }
        first = first.or(Some(text.len()));
        text.push(char::from(after[0]));
        rest = &after[1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_bytes_are_for_comments_and_strings() {
        let text = |bytes: &'static [u8]| decode(bytes).map_err(|e| e.to_string());
        assert_eq!(text(b"(a) ; \xc3\xa9"), Ok(("(a) ; é".into(), None)));
        assert_eq!(
            text(b"; caf\xe9 \xc3\xa9\n(a \"\xfcb\")"),
            Ok(("; café é\n(a \"üb\")".into(), Some(5)))
        );
        assert!(matches!(text(b"a; b"), Ok((Cow::Borrowed(_), None))));
        for bad in [
            &b"\xe9"[..],
            b"; a\n\xe9",
            b"|\xe9|",
            b"\"a\" \xe9",
            b"|;| \xe9",
            b"\"a\"\" ; \" \xe9",
        ] {
            let error = decode(bad).expect_err("no text");
            assert!(error.message().contains("not UTF-8"), "{error}");
        }
        let error = decode(b"; \xe9\n (b \xff)").expect_err("no text");
        assert_eq!((error.line, error.column), (2, 5));
    }
}
