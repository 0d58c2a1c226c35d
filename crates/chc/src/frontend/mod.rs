//! The reader: SMT-LIB 2 HORN and Z3's fixedpoint dialect into a [`Problem`].
//!
//! ```text
//! text ─ lexer ─> tokens ─ commands, syntax ─> lists and names over tokens
//!      ─ elaborate ─> formulas and terms ─ clauses ─> Problem
//! ```
//!
//! Invariant: input that cannot be read exactly is refused, with line, column and construct. Terms
//! are traversed iteratively, so that memory bounds their nesting; sorts and constructors of unknown
//! instances are nested at most as deep as the limits of the crate allow.

mod apply;
mod builtins;
mod clauses;
mod commands;
mod data;
mod elaborate;
mod environment;
mod error;
mod formula;
mod heaps;
mod lexer;
mod operators;
mod predeclared;
mod problem;
mod reader;
mod sorts;
mod syntax;

use std::rc::Rc;

pub use error::InputError;
use error::LexicalError;
pub use problem::{CommandSpan, Dialect, HeapSort, Problem, ProblemClause, Requests};

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_term::{FunctionId, TermStore};

/// Reads a text, in either dialect, into a problem over `terms`.
///
/// # Errors
/// The first construct that is wrong or not supported, with its position; a text without a
/// `check-sat` or `query`.
pub fn parse(text: &str, terms: Rc<TermStore>) -> Result<Problem, InputError> {
    reader::read(text, terms, &mut Functions::default())
}

/// Names that a text declares as functions, but which are neither predicates nor uninterpreted.
#[derive(Default)]
pub struct Functions {
    /// Functions that are defined by recursive equations, by name; the id is set at the declaration.
    pub names: FxHashMap<String, Option<FunctionId>>,
    /// Functions that are sizes of terms of a datatype.
    pub sizes: FxHashSet<String>,
}

/// As [`parse`], for a text with recursive functions.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_functions(
    text: &str,
    terms: Rc<TermStore>,
    functions: &mut Functions,
) -> Result<Problem, InputError> {
    reader::read(text, terms, functions)
}

/// As [`parse`], for bytes.
///
/// # Errors
/// As [`parse`], and bytes that are not UTF-8.
pub fn parse_bytes(bytes: &[u8], terms: Rc<TermStore>) -> Result<Problem, InputError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text, terms),
        Err(error) => {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            Err(InputError::at_byte(
                &valid,
                valid.len(),
                LexicalError::NotUtf8,
            ))
        }
    }
}
