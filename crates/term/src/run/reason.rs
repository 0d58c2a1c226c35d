//! Why a run ends without a verdict.
//!
//! Invariant: every `unknown` has one of these, and its text never reads like a verdict.

use std::fmt;

/// Why there is no verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The time limit passed.
    Timeout,
    /// The memory limit was reached.
    Memory,
    /// A signal, or a caller, stopped the run.
    Interrupted,
    /// The engine gave up within its own bounds, for instance of depth.
    Incomplete(String),
    /// A witness failed its check: a defect of alphorn.
    WitnessFailed(String),
    /// Any other defect of alphorn.
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
