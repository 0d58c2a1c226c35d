//! Reasons for a search to end without an answer, and queries that end with the run.
//!
//! Invariant: a query without an answer ends the search; it is never taken for `sat` or `unsat`.

use thiserror::Error;

use alphorn_smt::{SatResult, SmtModel, Solver};
use alphorn_term::run::{Context, Reason};
use alphorn_term::{Assignment, TermId};

/// A defect, or a model of the oracle that cannot be read.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("{step}: {message}")]
pub struct Failure {
    /// The operation that failed.
    pub step: &'static str,
    /// The cause.
    pub message: String,
}

/// The reason why a search ends without an answer.
#[derive(Debug)]
pub enum Stop {
    /// A limit; the verdict is `Unknown`.
    Reason(Reason),
    /// A failure.
    Failure(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Stop::Failure(failure)
    }
}

/// The reason that the engine is incomplete or reached a limit of its own.
pub fn incomplete(what: impl Into<String>) -> Stop {
    Stop::Reason(Reason::Incomplete(what.into()))
}

/// The reason for a query without an answer: the run's limit, or else the oracle's reason `why`.
pub fn gave_up(why: &str, cx: &Context) -> Stop {
    let oracle = || Reason::Incomplete(format!("the oracle: {why}"));
    Stop::Reason(cx.stop().unwrap_or_else(oracle))
}

/// The failure that a model lacks something that the formulas demand.
pub fn unreadable(message: &str) -> Failure {
    Failure {
        step: "reading a model",
        message: message.to_owned(),
    }
}

/// The reason that a formula has no value in a model, because SMT-LIB does not fix one, as for a
/// division by zero; then there is no implicant.
pub fn undefined() -> Stop {
    incomplete("a model depends on a value that SMT-LIB does not fix")
}

/// A model of the solver's formulas under the assumptions; `None` if there is none.
///
/// # Errors
/// The query has no answer, or the model cannot be read.
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

/// The values of variables in a model.
///
/// # Errors
/// A value cannot be read.
pub fn values(model: &SmtModel, vars: &[TermId]) -> Result<Assignment, Failure> {
    let values = model.assignment(vars);
    values.map_err(|e| unreadable(&e.to_string()))
}
