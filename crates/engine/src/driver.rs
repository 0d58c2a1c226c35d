//! The frame of every engine's search: its Z3 context, its statistics, and the verdict of a search
//! that was stopped.
//!
//! Invariant: [`run`] returns a refutation only if it was confirmed on the system by evaluation,
//! and a search that stops because the budget ended gives `Unknown`.

use std::rc::Rc;

use crate::{Engine, EngineError, Unsupported};
use alphorn_chc::{Shape, System};
use alphorn_proof::{Stop, confirm, with_quantifiers, without_quantifiers};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::TermId;
use alphorn_term::run::{Context, Reason};
use alphorn_transform::BackTranslations;
use alphorn_witness::Verdict;

/// Checks that the engine supports the system, then runs its search with a Z3 context of its own,
/// which ends its queries with the budget. Adds the queries and their time to the statistics
/// (`ENGINE.queries`, `ENGINE.smt`), and confirms a refutation.
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

/// The verdict about the system before some passes, from one about the system after them. If a
/// back-translation fails, the verdict is `Unknown`; unless the run's limit caused it, that is
/// logged and counted as a defect.
pub fn back_translate(back: &BackTranslations, verdict: Verdict, cx: &mut Context) -> Verdict {
    let translated = match verdict {
        Verdict::Sat(model) => back.model(model, cx).map(Verdict::Sat),
        Verdict::Unsat(refutation) => back.refutation(refutation, cx).map(Verdict::Unsat),
        // A proof is about the clauses themselves, so no pass translates it.
        Verdict::Proven(_) if !back.is_empty() => Ok(Verdict::Unknown(Reason::Incomplete(
            "a proof of other clauses".to_owned(),
        ))),
        other @ (Verdict::Unknown(_) | Verdict::Proven(_)) => Ok(other),
    };
    translated.unwrap_or_else(|error| {
        if cx.stop().is_none() {
            log::error!("defect: {error}");
            cx.stats.add("witness.failures", 1);
        }
        Verdict::Unknown(Reason::WitnessFailed(error.to_string()))
    })
}

/// Solves a system with quantified constraints by an engine that does not support them: `solve`
/// gets the clauses with instances in place of quantified formulas, at index terms of the clauses
/// and at `others`. A refutation is completed by values that satisfy the quantified formulas; if
/// none are found, the verdict is `Unknown`.
///
/// # Errors
/// Those of `solve`, and failures of the oracle before the budget ends.
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

/// The verdict of a search that was stopped: `Unknown` with the reason.
///
/// # Errors
/// The search failed, and the budget was not spent.
pub fn verdict(stop: Stop, cx: &Context) -> Result<Verdict, EngineError> {
    match stop {
        Stop::Reason(reason) => Ok(Verdict::Unknown(reason)),
        Stop::Failure(failure) => match cx.stop() {
            Some(reason) => Ok(Verdict::Unknown(reason)),
            None => Err(failure.into()),
        },
    }
}

/// Accepts systems with datatypes, but without arrays and quantifiers.
///
/// # Errors
/// The first feature of the system that the engine `engine` does not support.
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

/// Accepts linear clauses over Booleans, numbers and bit-vectors, without quantifiers.
///
/// # Errors
/// The first feature of the system that the engine `engine` does not support.
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
