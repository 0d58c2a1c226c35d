//! What every engine does around its search.
//!
//! Invariant: a refutation leaves only when it is confirmed, and a search that is stopped gives
//! `Unknown`, whatever it was doing.

use std::rc::Rc;

use super::{Engine, EngineError, Unsupported};
use crate::chc::{Shape, System};
use crate::proof::{Stop, confirm};
use crate::run::Context;
use crate::smt::{Arithmetic, Smt};
use crate::witness::Verdict;

/// Runs the search of an engine with a Z3 context of its own, whose queries end with the budget and
/// are counted.
///
/// # Errors
/// The engine does not support the system, or the search fails before the budget ends.
pub(super) fn run(
    engine: &impl Engine,
    system: &System,
    arithmetic: Arithmetic,
    cx: &mut Context,
    search: impl FnOnce(&Rc<Smt>, &mut Context) -> Result<Verdict, Stop>,
) -> Result<Verdict, EngineError> {
    engine.supports(&Shape::of(system))?;
    let smt = Smt::within(&cx.budget);
    smt.set_arithmetic(arithmetic);
    let result = search(&smt, cx);
    let (name, (queries, time)) = (engine.name(), smt.usage());
    cx.stats.add(&format!("{name}.queries"), queries);
    cx.stats.add_time(&format!("{name}.smt"), time);
    match result {
        Ok(Verdict::Unsat(refutation)) => Ok(confirm(system, refutation, &smt, cx)),
        Ok(verdict) => Ok(verdict),
        Err(stop) => verdict(stop, cx),
    }
}

/// The verdict of a search that was stopped.
///
/// # Errors
/// The search failed, and there was budget left.
pub(super) fn verdict(stop: Stop, cx: &Context) -> Result<Verdict, EngineError> {
    match stop {
        Stop::Reason(reason) => Ok(Verdict::Unknown(reason)),
        Stop::Failure(failure) => match cx.stop() {
            Some(reason) => Ok(Verdict::Unknown(reason)),
            None => Err(failure.into()),
        },
    }
}

/// Linear clauses over Booleans, numbers and bit-vectors, without quantifiers.
///
/// # Errors
/// What else is in the system.
pub(super) fn supports_linear(engine: &'static str, shape: &Shape) -> Result<(), Unsupported> {
    let what = match shape.theories {
        _ if !shape.linear => "clauses with several body atoms",
        t if t.array => "arrays",
        t if t.datatype => "datatypes",
        t if t.quantifier => "quantifiers",
        _ => return Ok(()),
    };
    Err(Unsupported {
        engine,
        what: what.to_owned(),
    })
}
