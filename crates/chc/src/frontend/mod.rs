//! Reading: SMT-LIB 2 HORN and Z3's fixedpoint dialect into a [`Problem`].
//!
//! ```text
//! text ─ lexer ─> tokens ─ commands, syntax ─> lists and names over tokens
//!      ─ elaborate ─> formulas and terms ─ clauses ─> Problem
//! ```
//!
//! Invariant: what cannot be read exactly is refused with line, column and construct; nothing is
//! guessed. Tokens are walked with stacks of our own, so depth costs no stack. No engine, pass or
//! solver is known here.

mod apply;
mod builtins;
mod clauses;
mod commands;
mod data;
mod elaborate;
mod environment;
mod error;
mod formula;
mod lexer;
mod operators;
mod problem;
mod reader;
mod sorts;
mod syntax;

use std::rc::Rc;

pub use error::{
    ErrorKind, InputError, LexicalError, NotHorn, ScriptError, SortError, SyntaxError, TermError,
};
pub use problem::{CommandSpan, Dialect, Problem, ProblemClause, Requests};

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_term::{FunctionId, TermStore};

/// Reads a file's text, in either dialect, into a problem over `terms`. Fails with the place of
/// the first thing that is wrong or not supported, and if the text asks nothing.
pub fn parse(text: &str, terms: Rc<TermStore>) -> Result<Problem, InputError> {
    reader::read(text, terms, &mut Functions::default())
}

/// Functions that a text declares and that are neither predicates nor uninterpreted.
#[derive(Default)]
pub struct Functions {
    /// Those that recursive equations define, by name, and what they are once they are declared.
    pub names: FxHashMap<String, Option<FunctionId>>,
    /// Sizes of terms of datatypes.
    pub sizes: FxHashSet<String>,
}

/// As [`parse`], for a text that speaks of recursive functions.
pub fn parse_with_functions(
    text: &str,
    terms: Rc<TermStore>,
    functions: &mut Functions,
) -> Result<Problem, InputError> {
    reader::read(text, terms, functions)
}

/// Like [`parse`], for bytes that may be no text.
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
