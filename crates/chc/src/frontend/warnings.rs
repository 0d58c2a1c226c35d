//! Options of the reader, and warnings about text that is not standard but has one meaning.
//!
//! Such text is read, and each construct is reported once, at the first place where it occurs. Strict
//! reading refuses it with the same message.
//!
//! Invariant: a construct that is reported here means the same in every accepted text; where tools
//! differ, its message names the other meaning.

use std::cell::RefCell;
use std::fmt;

use thiserror::Error;

use super::error::{ErrorKind, InputError};
use super::lexer::{Lexed, TokenId};

/// How a text is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Refuse text that is not standard, instead of warning.
    pub strict: bool,
    /// Check at the end if the text has no check.
    pub check_at_end: bool,
}

/// A construct that is not standard, and the first place where it occurs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    construct: Nonstandard,
}

impl Warning {
    /// The message without the position.
    pub fn message(&self) -> String {
        self.construct.to_string()
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Warning {
            line,
            column,
            construct,
        } = self;
        write!(out, "line {line} column {column}: {construct}")
    }
}

/// A construct that is not standard.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum Nonstandard {
    #[error("bytes that are not UTF-8, in comments or strings, are read as Latin-1")]
    Latin1,
    #[error("`{0}` is read as a decimal: write `{0}0`")]
    DecimalWithoutFraction(String),
    #[error("`{0}` is read as a number: write `(- {number})`", number = .0.trim_start_matches('-'))]
    SignedNumeral(String),
    #[error(
        "`bv2int` is unsigned, as in Z3; Eldarica reads it as signed: write `ubv_to_int` or \
         `sbv_to_int`"
    )]
    Bv2Int,
    #[error("the logic {0} is read as HORN")]
    Logic(String),
    #[error("`check-sat-using` is read as `check-sat`: its tactic has no effect")]
    CheckSatUsing,
    #[error("`{0}` is no command of SMT-LIB and has no effect")]
    WithoutEffect(String),
    #[error("`{0}` without a keyword has no effect")]
    NoKeyword(String),
    #[error("`{0}` before the check is about its answer: write it after the check")]
    RequestBeforeCheck(String),
    #[error(
        "the constant `{0}` is read as in SMT-LIB: some value of it makes the clauses satisfiable; \
         for all values, make it an argument of the predicates"
    )]
    FreeConstant(String),
    #[error(
        "the function `{0}` is read as in SMT-LIB: some function makes the clauses satisfiable; for \
         all functions, make an array an argument of the predicates"
    )]
    FreeFunction(String),
    #[error(
        "the outermost `exists` is read as a constant: some value makes the clauses satisfiable"
    )]
    OutermostExists,
    #[error("`{0}` is built in: its declaration is ignored")]
    DeclaredBuiltIn(String),
    #[error("datatypes are used before their declaration; they are read in another order")]
    DatatypesInAnotherOrder,
    #[error("the sort `List` is not declared and read as Z3's own: declare it as a datatype")]
    PredeclaredList,
    #[error("`_size` is read as Eldarica's: the number of constructors in a value")]
    ConstructorCount,
}

impl Nonstandard {
    /// Whether both are one construct, for which one warning is enough.
    fn is_as(&self, other: &Nonstandard) -> bool {
        use Nonstandard as N;
        match (self, other) {
            (N::SignedNumeral(_), N::SignedNumeral(_))
            | (N::DecimalWithoutFraction(_), N::DecimalWithoutFraction(_))
            | (N::FreeConstant(_), N::FreeConstant(_)) => true,
            _ => self == other,
        }
    }
}

/// The warnings about a text so far.
#[derive(Default)]
pub(super) struct Warnings {
    strict: bool,
    found: RefCell<Vec<Warning>>,
}

impl Warnings {
    /// No warnings; `strict` refuses what would be one.
    pub fn new(strict: bool) -> Self {
        Warnings {
            strict,
            found: RefCell::default(),
        }
    }

    /// Reports a construct at a place.
    pub fn add(&self, line: u32, column: u32, construct: Nonstandard) -> Result<(), InputError> {
        if self.strict {
            return Err(InputError {
                line,
                column,
                kind: ErrorKind::Nonstandard(construct),
            });
        }
        let mut found = self.found.borrow_mut();
        match found.iter_mut().find(|w| w.construct.is_as(&construct)) {
            Some(known) if (known.line, known.column) <= (line, column) => {}
            Some(known) => {
                *known = Warning {
                    line,
                    column,
                    construct,
                }
            }
            None => found.push(Warning {
                line,
                column,
                construct,
            }),
        }
        Ok(())
    }

    /// The warnings in the order of the text.
    pub fn sorted(&self) -> Vec<Warning> {
        let mut found = self.found.borrow().clone();
        found.sort_by_key(|warning| (warning.line, warning.column));
        found
    }
}

impl Lexed<'_> {
    /// Reports a construct that is not standard but has one meaning, at a token.
    pub fn warn(&self, token: TokenId, construct: Nonstandard) -> Result<(), InputError> {
        let token = self.token(token);
        self.warnings.add(token.line, token.column, construct)
    }
}
