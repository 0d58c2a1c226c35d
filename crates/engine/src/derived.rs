//! A system that an engine derives from its own: by passes, for other engines, or by what other
//! processes know of it.
//!
//! Invariant: an answer is about the derived system as it was given. An engine is known by its name
//! and its trait only.

use std::rc::Rc;
use std::time::Duration;

use crate::{EngineError, Registry, driver};
use alphorn_chc::{Shape, System};
use alphorn_proof::Stop;
use alphorn_proof::exchange::Exchange;
use alphorn_proof::facts::Lemmas;
use alphorn_term::run::{Budget, Context, Phase, Reason};
use alphorn_transform::{BackStack, Pipeline, share_lemmas};
use alphorn_witness::Verdict;

/// What is heard of others is proven by so much work at most, and by this part of the time left.
const NEWS: Duration = Duration::from_millis(500);
const PART_OF_NEWS: u32 = 20;

/// A derived system after its passes.
pub struct Derived {
    engines: Registry,
    small: System,
    ways: BackStack,
}

impl Derived {
    /// Runs the passes of a list; those that cost time only if asked for.
    pub fn new(
        engines: Registry,
        system: System,
        passes: &str,
        costly: bool,
        cx: &mut Context,
    ) -> Derived {
        let mut passes = Pipeline::parse(passes).expect("the list names passes");
        if !costly {
            passes = passes.quick().expect("there are both kinds of passes");
        }
        let (small, ways) = passes.run(system, cx);
        log::debug!("a derived system has {} clauses", small.clauses.len());
        Derived {
            engines,
            small,
            ways,
        }
    }

    /// Runs more passes.
    pub fn go_on(self, passes: &str, cx: &mut Context) -> Derived {
        let mut passes = Pipeline::parse(passes).expect("the list names passes");
        let (small, ways) = passes.go_on(self.small, self.ways, cx);
        Derived {
            engines: self.engines,
            small,
            ways,
        }
    }

    /// What an engine says about the derived system within a part of the budget. An engine that
    /// does not support it, and a way back that fails, are reasons why there is no answer.
    ///
    /// # Errors
    /// The engine fails.
    pub fn ask(&self, name: &str, part: Budget, cx: &mut Context) -> Result<Verdict, Stop> {
        let Some(entry) = self.engines.find(name) else {
            return Ok(Verdict::Unknown(Reason::Incomplete(format!(
                "no engine {name}"
            ))));
        };
        let mut engine = (entry.make)();
        if let Err(what) = engine.supports(&Shape::of(&self.small)) {
            return Ok(Verdict::Unknown(Reason::Incomplete(what.to_string())));
        }
        let solve = |cx: &mut Context| cx.within(part, |cx| engine.solve(&self.small, cx));
        match cx.phase(Phase::Engine, entry.name, solve) {
            Ok(verdict) => Ok(driver::way_back(&self.ways, verdict, cx)),
            Err(EngineError::Unsupported(what)) => {
                Ok(Verdict::Unknown(Reason::Incomplete(what.to_string())))
            }
            Err(EngineError::Failed(failure)) => Err(Stop::Failure(failure)),
        }
    }
}

/// Runs `work` on the clauses with what other processes know of their predicates, as far as a small
/// part of the budget proves it. Without others these are the clauses as they are.
///
/// # Errors
/// What `work` returns.
pub fn with_news(
    system: &System,
    cx: &mut Context,
    work: impl FnOnce(&System, &mut Context) -> Result<Verdict, EngineError>,
) -> Result<Verdict, EngineError> {
    let news = Exchange::new(system, cx).map(|mut exchange| exchange.news(system));
    let lemmas = Lemmas {
        guesses: news.unwrap_or_default().lemmas,
        ..Lemmas::default()
    };
    if lemmas.guesses.is_empty() {
        return work(system, cx);
    }
    let part = cx.remaining().map_or(NEWS, |left| left / PART_OF_NEWS);
    let mut strengthened = Rc::new(system.clone());
    let mut ways = BackStack::default();
    if !share_lemmas(lemmas, part.min(NEWS), &mut strengthened, &mut ways, cx) {
        return work(system, cx);
    }
    let verdict = work(&strengthened, cx)?;
    Ok(driver::way_back(&ways, verdict, cx))
}
