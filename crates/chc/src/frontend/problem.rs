//! The user's problem: predicates and clauses as written, with their places in the text.
//!
//! Invariant: `clauses` says exactly what the text says; it is never simplified, because witnesses
//! are about it.

use std::ops::Range;
use std::rc::Rc;

use crate::{Atom, Predicate};
use alphorn_term::{TermId, TermStore};

/// Which of the two input languages a file is in; it decides the polarity of the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// `(check-sat)`: `sat` means that the clauses have a model (safe).
    Horn,
    /// `(query q)`: `sat` means that q is reachable (unsafe), as Z3 has it.
    Fixedpoint,
}

/// What the user asked for besides the verdict.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Requests {
    /// `(get-model)` after the check, or the option `:produce-models` has no effect of its own.
    pub model: bool,
    /// `(get-proof)`.
    pub proof: bool,
    /// `(get-info :reason-unknown)`.
    pub reason_unknown: bool,
    /// `(set-option :timeout N)`, in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// A top-level command that is in force at the check (after `push`/`pop`), as a byte range of the
/// text, its keyword (`declare-fun`, `assert`, `rule`, …) and its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandSpan {
    pub keyword: String,
    pub range: Range<usize>,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

/// A clause as the user wrote it: argument terms are arbitrary, `head` is `None` for a query.
/// An assertion with a conjunction of heads gives several clauses.
#[derive(Clone, Debug)]
pub struct ProblemClause {
    /// The universally quantified variables under the user's names.
    pub vars: Vec<(String, TermId)>,
    pub body: Vec<Atom>,
    pub constraint: TermId,
    pub head: Option<Atom>,
    /// Index into [`Problem::commands`] of the `assert`, `rule` or `query` it comes from.
    pub command: usize,
    /// Number of that command among all clauses' commands in force, from 1.
    pub number: usize,
}

/// What a file says. A clause's `ClauseId` in witnesses is its index in `clauses`; a predicate's
/// `PredicateId` is its index in `predicates`.
pub struct Problem {
    pub terms: Rc<TermStore>,
    pub text: Rc<str>,
    pub dialect: Dialect,
    /// In the order of declaration, with formal variables.
    pub predicates: Vec<Predicate>,
    pub clauses: Vec<ProblemClause>,
    /// Commands in force, in order.
    pub commands: Vec<CommandSpan>,
    pub requests: Requests,
}
