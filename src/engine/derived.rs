//! A system that an engine derives from its own, decided by other engines: passes, then turns.
//!
//! Invariant: an answer is about the derived system as it was given. An engine is known by its name
//! and its trait only.

use super::EngineError;
use super::registry::find;
use crate::chc::{Shape, System};
use crate::proof::Stop;
use crate::run::{Budget, Context, Phase, Reason};
use crate::transform::{BackStack, Pipeline};
use crate::witness::Verdict;

/// A derived system after its passes.
pub(super) struct Derived {
    small: System,
    ways: BackStack,
}

impl Derived {
    /// Runs the passes of a list; those that cost time only if asked for.
    pub fn new(system: System, passes: &str, costly: bool, cx: &mut Context) -> Derived {
        let mut passes = Pipeline::parse(passes).expect("the list names passes");
        if !costly {
            passes = passes.quick().expect("there are both kinds of passes");
        }
        let (small, ways) = passes.run(system, cx);
        log::debug!("a derived system has {} clauses", small.clauses.len());
        Derived { small, ways }
    }

    /// Runs more passes.
    pub fn go_on(self, passes: &str, cx: &mut Context) -> Derived {
        let mut passes = Pipeline::parse(passes).expect("the list names passes");
        let (small, ways) = passes.go_on(self.small, self.ways, cx);
        Derived { small, ways }
    }

    /// What an engine says about the derived system within a part of the budget. An engine that
    /// does not support it, and a way back that fails, are reasons why there is no answer.
    ///
    /// # Errors
    /// The engine fails.
    pub fn ask(&self, engine: &str, part: Budget, cx: &mut Context) -> Result<Verdict, Stop> {
        let entry = find(engine).expect("lists name engines");
        let mut engine = (entry.make)();
        if let Err(what) = engine.supports(&Shape::of(&self.small)) {
            return Ok(Verdict::Unknown(Reason::Incomplete(what.to_string())));
        }
        let solve = |cx: &mut Context| cx.within(part, |cx| engine.solve(&self.small, cx));
        let back = match cx.phase(Phase::Engine, entry.name, solve) {
            Ok(Verdict::Sat(model)) => self.ways.model(model, cx).map(Verdict::Sat),
            Ok(Verdict::Unsat(refutation)) => {
                let refutation = self.ways.refutation(refutation, cx);
                refutation.map(Verdict::Unsat)
            }
            Ok(unknown) => Ok(unknown),
            Err(EngineError::Unsupported(what)) => {
                Ok(Verdict::Unknown(Reason::Incomplete(what.to_string())))
            }
            Err(EngineError::Failed(failure)) => return Err(Stop::Failure(failure)),
        };
        Ok(back.unwrap_or_else(|error| {
            if cx.stop().is_none() {
                log::error!("defect: {error}");
                cx.stats.add("witness.failures", 1);
            }
            Verdict::Unknown(Reason::WitnessFailed(error.to_string()))
        }))
    }
}
