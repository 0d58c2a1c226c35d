//! Reading: SMT-LIB 2 HORN and Z3's fixedpoint dialect into a [`Problem`].
//!
//! ```text
//! text ─ lexer ─> tokens ─ commands ─> smt2parser ─ syntax ─> arena of nodes
//!      ─ elaborate ─> formulas and terms ─ clauses ─> Problem
//! ```
//!
//! Invariant: what cannot be read exactly is refused with line, column and construct; nothing is
//! guessed. No engine, pass or solver is known here.

mod apply;
mod clauses;
mod commands;
mod data;
mod elaborate;
mod error;
mod formula;
mod lexer;
mod operators;
mod problem;
mod reader;
mod sorts;
mod syntax;

use std::rc::Rc;

pub use error::InputError;
pub use problem::{CommandSpan, Dialect, Problem, ProblemClause, Requests};

use crate::term::TermStore;

/// Reads a file's text, in either dialect, into a problem over `terms`. Fails with the place of
/// the first thing that is wrong or not supported.
pub fn parse(text: &str, terms: Rc<TermStore>) -> Result<Problem, InputError> {
    reader::read(text, terms)
}

/// Like [`parse`], for bytes that may be no text.
pub fn parse_bytes(bytes: &[u8], terms: Rc<TermStore>) -> Result<Problem, InputError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text, terms),
        Err(error) => {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let message = "a byte that is not UTF-8: this is not a text file".to_owned();
            Err(InputError::at(&valid, valid.len(), message))
        }
    }
}
