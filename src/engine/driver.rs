//! What every engine does around its search.
//!
//! Invariant: a refutation leaves only when it is confirmed, and a search that is stopped gives
//! `Unknown`, whatever it was doing.

use std::rc::Rc;

use super::{Engine, EngineError, Unsupported};
use crate::chc::{Shape, System};
use crate::proof::{Stop, confirm, with_quantifiers, without_quantifiers};
use crate::run::{Context, Reason};
use crate::smt::{Arithmetic, Smt};
use crate::term::TermId;
use crate::transform::BackStack;
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

/// An answer about the system that was given, from one about the system after passes. A way back
/// that fails is a reason why there is none.
pub(super) fn way_back(ways: &BackStack, verdict: Verdict, cx: &mut Context) -> Verdict {
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
pub(super) fn by_instances(
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
pub(super) fn verdict(stop: Stop, cx: &Context) -> Result<Verdict, EngineError> {
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
pub(super) fn supports_datatypes(engine: &'static str, shape: &Shape) -> Result<(), Unsupported> {
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

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::time::Duration;

    use crate::frontend::parse;
    use crate::run::Context;
    use crate::strategy::{Config, solve};
    use crate::term::TermStore;
    use crate::witness::Wanted;

    /// The engine's verdict about clauses.
    fn answer(engine: &str, text: &str) -> &'static str {
        let terms = Rc::new(TermStore::new());
        let text = format!("(set-logic HORN)\n{text}\n(check-sat)\n");
        let problem = parse(&text, terms.clone()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut cx = Context::new(terms);
        cx.budget = cx.budget.work(Duration::from_secs(60));
        let config = Config {
            engine: engine.to_owned(),
            ..Config::default()
        };
        let answer = solve(&problem, &config, &mut cx).expect("the engine exists");
        assert_eq!(cx.stats.count("witness.failures"), 0, "{engine}: {text}");
        answer.output(&problem, Wanted::default()).word()
    }

    /// An array is zero everywhere, which a loop goes through; at the end, `BAD`.
    const ZEROS: &str = "
(declare-fun P (Int Int (Array Int Int)) Bool)
(assert (forall ((i Int) (n Int) (a (Array Int Int)))
    (=> (and (= i 0) (forall ((k Int)) (= (select a k) 0))) (P i n a))))
(assert (forall ((i Int) (n Int) (a (Array Int Int)))
    (=> (and (P i n a) (< i n)) (P (+ i 1) n a))))
(assert (forall ((i Int) (n Int) (a (Array Int Int)))
    (=> (and (P i n a) (>= i n) BAD) false)))";

    /// An array that is sorted up to `n`; at any index below, `BAD`.
    const SORTED: &str = "
(declare-fun P (Int Int (Array Int Int)) Bool)
(assert (forall ((i Int) (n Int) (a (Array Int Int)))
    (=> (and (= i 0) (forall ((k Int) (l Int))
            (=> (and (<= 0 k) (< k l) (< l n)) (<= (select a k) (select a l))))) (P i n a))))
(assert (forall ((i Int) (n Int) (a (Array Int Int)))
    (=> (and (P i n a) (< (+ i 1) n)) (P (+ i 1) n a))))
(assert (forall ((i Int) (n Int) (a (Array Int Int)))
    (=> (and (P i n a) (< (+ i 1) n) BAD) false)))";

    #[test]
    fn quantified_constraints() {
        for (text, bad, expected) in [
            (ZEROS, "(not (= (select a 3) 0))", "sat"),
            (ZEROS, "(= (select a 3) 0)", "unsat"),
            (SORTED, "(> (select a 0) (select a (+ 0 1)))", "sat"),
            (SORTED, "(< (select a i) (select a (+ i 1)))", "unsat"),
        ] {
            for engine in ["pdr", "spacer", "vinta"] {
                let text = text.replace("BAD", bad);
                assert_eq!(answer(engine, &text), expected, "{engine}: {text}");
            }
        }
        // What no instance at a numeral says.
        let last = ZEROS.replace("BAD", "(not (= (select a i) 0))");
        let any = SORTED.replace("BAD", "(> (select a i) (select a (+ i 1)))");
        for engine in ["pdr", "morph"] {
            assert_eq!(answer(engine, &last), "sat");
            assert_eq!(answer(engine, &any), "sat");
        }
    }
}
