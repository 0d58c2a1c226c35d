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
mod complement;
mod constants;
mod constructor_counts;
mod data;
mod elaborate;
mod encoding;
mod environment;
mod error;
mod formula;
mod heaps;
mod instance;
mod lexer;
mod lifted;
mod names;
mod operators;
mod overflow;
mod polarity;
mod predeclared;
mod problem;
mod quantifiers;
mod reader;
mod recursive;
mod sorts;
mod syntax;
mod theories;
mod warnings;

use std::rc::Rc;

pub use constants::FreeConstant;
pub use encoding::decode;
pub use error::InputError;
pub use problem::{
    Alternative, CommandSpan, Dialect, Disjunction, FreeSort, HeapSort, Problem, ProblemClause,
    Requests, SortReading, TextFunction,
};
pub use warnings::{Options, Warning};

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_term::{FunctionId, TermStore};

/// Reads a text, in either dialect, into a problem over `terms`.
///
/// # Errors
/// The first construct that is wrong or not supported, with its position; a text without a
/// `check-sat` or `query`.
pub fn parse(text: &str, terms: Rc<TermStore>) -> Result<Problem, InputError> {
    parse_with_options(text, terms, Options::default())
}

/// As [`parse`], with options.
///
/// # Errors
/// As [`parse`]; with [`Options::strict`] also text that is not standard.
pub fn parse_with_options(
    text: &str,
    terms: Rc<TermStore>,
    options: Options,
) -> Result<Problem, InputError> {
    reader::read(text, None, terms, &mut Functions::default(), options)
}

/// Whether a command with this keyword is one of Z3's that print something and have no other effect.
pub fn only_displays(keyword: &str) -> bool {
    commands::Verb::only_displays(keyword)
}

/// Names that a text declares as functions, but which are neither predicates nor uninterpreted.
#[derive(Default)]
pub struct Functions {
    /// Functions that are defined by recursive equations, by name; the id is set at the declaration.
    pub names: FxHashMap<String, Option<FunctionId>>,
    /// Functions that are sizes of terms of a datatype.
    pub sizes: FxHashSet<String>,
    /// The readings of sorts without definition; `Free` for those beyond the list.
    pub sorts: Vec<SortReading>,
}

/// As [`parse`], with these readings of the sorts without definition, in the order of declaration.
///
/// # Errors
/// As [`parse`].
pub fn parse_as(
    text: &str,
    terms: Rc<TermStore>,
    sorts: &[SortReading],
) -> Result<Problem, InputError> {
    let mut functions = Functions {
        sorts: sorts.to_vec(),
        ..Functions::default()
    };
    // The text was accepted before.
    let options = Options {
        strict: false,
        check_at_end: true,
    };
    reader::read(text, None, terms, &mut functions, options)
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
    reader::read(text, None, terms, functions, Options::default())
}

/// As [`parse`], for bytes.
///
/// # Errors
/// As [`parse`], and bytes that are not UTF-8, unless they are in comments or strings.
pub fn parse_bytes(bytes: &[u8], terms: Rc<TermStore>) -> Result<Problem, InputError> {
    parse_bytes_with_options(bytes, terms, Options::default())
}

/// As [`parse_with_options`], for bytes.
///
/// # Errors
/// As [`parse_with_options`] and [`parse_bytes`].
pub fn parse_bytes_with_options(
    bytes: &[u8],
    terms: Rc<TermStore>,
    options: Options,
) -> Result<Problem, InputError> {
    let (text, latin1) = decode(bytes)?;
    reader::read(&text, latin1, terms, &mut Functions::default(), options)
}
