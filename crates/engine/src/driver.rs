//! What every engine does around its search.
//!
//! Invariant: a refutation leaves only when it is confirmed, and a search that is stopped gives
//! `Unknown`, whatever it was doing.

use std::rc::Rc;

use crate::{Engine, EngineError, Unsupported};
use alphorn_chc::{Shape, System};
use alphorn_proof::{Stop, confirm, with_quantifiers, without_quantifiers};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::TermId;
use alphorn_term::run::{Context, Reason};
use alphorn_transform::BackStack;
use alphorn_witness::Verdict;

/// Runs the search of an engine with a Z3 context of its own, whose queries end with the budget and
/// are counted.
///
/// # Errors
/// The engine does not support the system, or the search fails before the budget ends.
pub fn run(
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

/// An answer about the system that was given, from one about the system after passes. A way back
/// that fails is a reason why there is none.
pub fn way_back(ways: &BackStack, verdict: Verdict, cx: &mut Context) -> Verdict {
    let back = match verdict {
        Verdict::Sat(model) => ways.model(model, cx).map(Verdict::Sat),
        Verdict::Unsat(refutation) => ways.refutation(refutation, cx).map(Verdict::Unsat),
        unknown @ Verdict::Unknown(_) => Ok(unknown),
    };
    back.unwrap_or_else(|error| {
        if cx.stop().is_none() {
            log::error!("defect: {error}");
            cx.stats.add("witness.failures", 1);
        }
        Verdict::Unknown(Reason::WitnessFailed(error.to_string()))
    })
}

/// Runs an engine that has no way with quantified constraints on their instances, at these terms
/// besides those of the clauses.
///
/// # Errors
/// What the engine says.
pub fn by_instances(
    system: &System,
    others: &[TermId],
    cx: &mut Context,
    solve: impl FnOnce(&System, &mut Context) -> Result<Verdict, EngineError>,
) -> Result<Verdict, EngineError> {
    let open = without_quantifiers(system, others);
    match solve(&open, cx)? {
        Verdict::Unsat(refutation) => {
            let smt = Smt::within(&cx.budget);
            let verdict = with_quantifiers(system, &refutation, &smt, cx);
            verdict.or_else(|stop| self::verdict(stop, cx))
        }
        verdict => Ok(verdict),
    }
}

/// The verdict of a search that was stopped.
///
/// # Errors
/// The search failed, and there was budget left.
pub fn verdict(stop: Stop, cx: &Context) -> Result<Verdict, EngineError> {
    match stop {
        Stop::Reason(reason) => Ok(Verdict::Unknown(reason)),
        Stop::Failure(failure) => match cx.stop() {
            Some(reason) => Ok(Verdict::Unknown(reason)),
            None => Err(failure.into()),
        },
    }
}

/// Systems with datatypes, without arrays and quantifiers.
///
/// # Errors
/// What the system has that the engine does not support.
pub fn supports_datatypes(engine: &'static str, shape: &Shape) -> Result<(), Unsupported> {
    let what = match shape.theories {
        t if !t.datatype => "systems without datatypes",
        t if t.array => "arrays",
        t if t.quantifier => "quantifiers",
        _ => return Ok(()),
    };
    Err(Unsupported {
        engine,
        what: what.to_owned(),
    })
}

/// Linear clauses over Booleans, numbers and bit-vectors, without quantifiers.
///
/// # Errors
/// What else is in the system.
pub fn supports_linear(engine: &'static str, shape: &Shape) -> Result<(), Unsupported> {
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
