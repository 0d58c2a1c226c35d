//! Systems that an engine derives from the one that it is given: by passes, to be solved by other
//! engines, or by conjoining lemmas of other processes.
//!
//! Invariant: a verdict about a derived system is translated back before it is returned. Other
//! engines are known by their name in the [`Registry`] and by the trait [`Engine`](crate::Engine)
//! only.

use std::rc::Rc;
use std::time::Duration;

use crate::{EngineError, Registry, driver};
use alphorn_chc::{Shape, System};
use alphorn_proof::Stop;
use alphorn_proof::exchange::Exchange;
use alphorn_proof::facts::{Lemmas, Leveled};
use alphorn_term::run::{Budget, Context, Phase, Reason};
use alphorn_transform::{BackTranslations, Pipeline, share_lemmas};
use alphorn_witness::Verdict;

/// Limits of [`with_received_lemmas`].
struct Limits {
    /// Work for proving lemmas of other processes, at most; those that are not proven by then are
    /// ignored.
    lemma_work: Duration,
    /// This work is also at most the remaining time of the run divided by this number.
    lemma_part: u32,
}

const LIMITS: Limits = Limits {
    lemma_work: Duration::from_millis(500),
    lemma_part: 20,
};

/// The frames that an engine left, and its name.
type Left = (&'static str, Vec<Leveled>);

/// A system after passes, with its back-translation and the engines that may solve it.
pub struct Derived {
    engines: Registry,
    system: System,
    back: BackTranslations,
    /// What an engine left last.
    left: Option<Left>,
}

impl Derived {
    /// Runs the passes of the list `passes` on a system, without the costly ones unless `costly` is
    /// set.
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
        let (system, back) = passes.run(system, cx);
        log::debug!("a derived system has {} clauses", system.clauses.len());
        Derived {
            engines,
            system,
            back,
            left: None,
        }
    }

    /// Runs the passes of another list on the derived system.
    pub fn run_passes(self, passes: &str, cx: &mut Context) -> Derived {
        let mut passes = Pipeline::parse(passes).expect("the list names passes");
        let (system, back) = passes.continue_from(self.system, self.back, cx);
        Derived {
            engines: self.engines,
            system,
            back,
            left: None,
        }
    }

    /// Solves the derived system by the engine called `name` within the budget `part`. The verdict
    /// is about the system before the passes. It is `Unknown` if there is no such engine, if the
    /// engine does not support the derived system, or if the back-translation fails.
    ///
    /// # Errors
    /// The engine fails.
    pub fn solve_by(&self, name: &str, part: Budget, cx: &mut Context) -> Result<Verdict, Stop> {
        self.ask(name, part, cx).map(|(verdict, _)| verdict)
    }

    /// As [`Derived::solve_by`]. An engine that resumes from frames begins with those that it, or an
    /// engine of its kind, left here last.
    ///
    /// # Errors
    /// The engine fails.
    pub fn go_on_by(
        &mut self,
        name: &str,
        part: Budget,
        cx: &mut Context,
    ) -> Result<Verdict, Stop> {
        let (verdict, left) = self.ask(name, part, cx)?;
        self.left = left.or(self.left.take());
        Ok(verdict)
    }

    /// The verdict of an engine that begins with the frames left here, and the frames that it leaves.
    fn ask(
        &self,
        name: &str,
        part: Budget,
        cx: &mut Context,
    ) -> Result<(Verdict, Option<Left>), Stop> {
        let unknown = |why: String| Ok((Verdict::Unknown(Reason::Incomplete(why)), None));
        let Some(entry) = self.engines.find(name) else {
            return unknown(format!("no engine {name}"));
        };
        let mut engine = (entry.make)();
        if let Err(what) = engine.supports(&Shape::of(&self.system)) {
            return unknown(what.to_string());
        }
        if let Some((by, frames)) = &self.left
            && engine.resumes().contains(by)
        {
            engine.resume(frames.clone());
        }
        let solve = |cx: &mut Context| cx.within(part, |cx| engine.solve(&self.system, cx));
        match cx.phase(Phase::Engine, entry.name, solve) {
            Ok(verdict) => {
                let frames = Some(engine.lemmas().frames).filter(|frames| !frames.is_empty());
                let left = frames.map(|frames| (entry.name, frames));
                Ok((driver::back_translate(&self.back, verdict, cx), left))
            }
            Err(EngineError::Unsupported(what)) => unknown(what.to_string()),
            Err(EngineError::Failed(failure)) => Err(Stop::Failure(failure)),
        }
    }
}

/// Runs `work` on the clauses, to which lemmas of other processes were conjoined as far as they can
/// be proven within a small part of the budget. Without such lemmas `work` gets the clauses as they
/// are. The verdict is about `system`.
///
/// # Errors
/// Those of `work`.
pub fn with_received_lemmas(
    system: &System,
    cx: &mut Context,
    work: impl FnOnce(&System, &mut Context) -> Result<Verdict, EngineError>,
) -> Result<Verdict, EngineError> {
    let received = Exchange::new(system, cx).map(|mut exchange| exchange.receive(system));
    let lemmas = Lemmas {
        candidates: received.unwrap_or_default().lemmas,
        ..Lemmas::default()
    };
    if lemmas.candidates.is_empty() {
        return work(system, cx);
    }
    let part = cx
        .remaining()
        .map_or(LIMITS.lemma_work, |left| left / LIMITS.lemma_part);
    let mut strengthened = Rc::new(system.clone());
    let mut back = BackTranslations::default();
    if !share_lemmas(
        lemmas,
        part.min(LIMITS.lemma_work),
        &mut strengthened,
        &mut back,
        cx,
    ) {
        return work(system, cx);
    }
    let verdict = work(&strengthened, cx)?;
    Ok(driver::back_translate(&back, verdict, cx))
}
