//! Why a search ends without an answer, and queries that end with the run.
//!
//! Invariant: a query without an answer ends the search; it is never taken for `sat` or `unsat`.

use thiserror::Error;

use alphorn_smt::{SatResult, SmtModel, Solver};
use alphorn_term::run::{Context, Reason};
use alphorn_term::{Assignment, TermId};

/// A defect, or an oracle whose model cannot be read.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("{step}: {message}")]
pub struct Failure {
    /// What was being done.
    pub step: &'static str,
    pub message: String,
}

/// Why a search ends without an answer of its own.
#[derive(Debug)]
pub enum Stop {
    /// A limit: the verdict is `Unknown`.
    Reason(Reason),
    Failure(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Stop::Failure(failure)
    }
}

/// A limit of the search.
pub fn incomplete(what: impl Into<String>) -> Stop {
    Stop::Reason(Reason::Incomplete(what.into()))
}

/// The reason for a query without an answer: a limit of the run, or of the oracle.
pub fn gave_up(why: &str, cx: &Context) -> Stop {
    let oracle = || Reason::Incomplete(format!("the oracle: {why}"));
    Stop::Reason(cx.stop().unwrap_or_else(oracle))
}

/// A model in which something is missing that the formulas demand.
pub fn unreadable(message: &str) -> Failure {
    Failure {
        step: "reading a run off a model",
        message: message.to_owned(),
    }
}

/// A model gives a formula no value of its own, because the standard leaves one open, such as that
/// of a division by zero: then there is no implicant to go on with.
pub fn undefined() -> Stop {
    incomplete("a model depends on a value that the standard leaves open")
}

/// A model of what the solver holds under the assumptions; `None` when there is none.
pub fn ask(
    solver: &mut Solver,
    assumptions: &[TermId],
    cx: &Context,
) -> Result<Option<SmtModel>, Stop> {
    if let Some(reason) = cx.stop() {
        return Err(Stop::Reason(reason));
    }
    match solver.check(assumptions) {
        SatResult::Sat => {
            let model = solver.model();
            Ok(Some(model.ok_or_else(|| unreadable("no model"))?))
        }
        SatResult::Unsat => Ok(None),
        SatResult::Unknown(why) => Err(gave_up(&why, cx)),
    }
}

/// Values of variables in a model.
pub fn values(model: &SmtModel, vars: &[TermId]) -> Result<Assignment, Failure> {
    let values = model.assignment(vars);
    values.map_err(|e| unreadable(&e.to_string()))
}
