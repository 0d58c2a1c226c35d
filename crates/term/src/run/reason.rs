//! The reason why a run ends without a verdict.
//!
//! Invariant: the text of a reason does not begin with `sat`, `unsat` or `unknown`.

use std::fmt;

/// The reason why there is no verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The time limit passed.
    Timeout,
    /// The memory limit was reached.
    Memory,
    /// A signal or the caller stopped the run.
    Interrupted,
    /// The engine reached a limit of its own or does not support the clauses; the text says which.
    Incomplete(String),
    /// A witness failed its check, which is a defect of alphorn; the text says which check.
    WitnessFailed(String),
    /// Another defect of alphorn, with a description.
    Defect(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Timeout => write!(f, "timeout"),
            Reason::Memory => write!(f, "memout"),
            Reason::Interrupted => write!(f, "interrupted"),
            Reason::Incomplete(what) => write!(f, "incomplete: {what}"),
            Reason::WitnessFailed(what) => write!(f, "defect: a witness failed its check: {what}"),
            Reason::Defect(what) => write!(f, "defect: {what}"),
        }
    }
}
