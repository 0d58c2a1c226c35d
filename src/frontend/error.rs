//! What is wrong with an input, and where.
//!
//! Invariant: lines and columns count from 1, columns in characters, lines end with a line feed.

use thiserror::Error;

/// An input that cannot be read, with the place of what is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line} column {column}: {message}")]
pub struct InputError {
    pub line: u32,
    pub column: u32,
    pub message: String,
}

impl InputError {
    /// An error at a byte offset of the text.
    pub(super) fn at(text: &str, offset: usize, message: String) -> Self {
        let (line, column) = position(text, 0, (1, 1), offset);
        InputError {
            line,
            column,
            message,
        }
    }
}

/// Line and column of `offset`, counted on from those of the byte `from`.
pub(super) fn position(text: &str, from: usize, known: (u32, u32), offset: usize) -> (u32, u32) {
    let (mut line, mut column) = known;
    let end = offset.min(text.len());
    for &byte in &text.as_bytes()[from.min(end)..end] {
        if byte == b'\n' {
            line += 1;
            column = 1;
        } else if byte & 0xc0 != 0x80 {
            // Continuation bytes of UTF-8 belong to a character already counted.
            column += 1;
        }
    }
    (line, column)
}
