//! Pauses of a run, in which others are tried.
//!
//! A run that has used up its turn may still be close to its end: it stays as it is on the stack
//! while runs with other domains take their turns, and then goes on.
//!
//! Invariant: a run has one pause at most, so that runs are never nested deeper than two.

use super::Stop;
use crate::engine::EngineError;
use crate::run::{Budget, Context};
use crate::witness::Verdict;

/// Other runs, with limits of their own.
type Others<'a> = Box<dyn FnOnce(&mut Context) -> Result<Verdict, EngineError> + 'a>;

/// The pause of a run.
pub(super) struct Pauses<'a> {
    /// It is due when this is spent; and what is done in it. Gone when it is over.
    pause: Option<(Budget, Others<'a>)>,
}

impl<'a> Pauses<'a> {
    /// For a run without pause.
    pub fn none() -> Self {
        Pauses { pause: None }
    }

    /// A pause that is due when the budget is spent, for these runs.
    pub fn after(
        budget: Budget,
        others: impl FnOnce(&mut Context) -> Result<Verdict, EngineError> + 'a,
    ) -> Self {
        Pauses {
            pause: Some((budget, Box::new(others))),
        }
    }

    /// Makes the pause if it is due. Stops the run when another has a verdict.
    pub fn take(&mut self, cx: &mut Context) -> Result<(), Stop> {
        let due = |p: &mut (Budget, Others)| p.0.is_spent();
        let Some((_, others)) = self.pause.take_if(due) else {
            return Ok(());
        };
        match others(cx).map_err(Stop::Error)? {
            Verdict::Unknown(_) => Ok(()),
            verdict => Err(Stop::Verdict(verdict)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;
    use std::time::Duration;

    use super::Pauses;
    use crate::engine::vinta::Stop;
    use crate::run::Context;
    use crate::run::Reason;
    use crate::term::TermStore;
    use crate::witness::{Model, Verdict};

    #[test]
    fn a_pause_is_made_once_and_not_early() {
        let mut cx = Context::new(Rc::new(TermStore::new()));
        let made = Cell::new(0);
        let others = |_: &mut Context| {
            made.set(made.get() + 1);
            Ok(Verdict::Unknown(Reason::Timeout))
        };
        let mut early = Pauses::after(cx.budget.work(Duration::from_secs(600)), others);
        assert!(early.take(&mut cx).is_ok());
        assert_eq!(made.get(), 0);
        let mut due = Pauses::after(cx.budget.work(Duration::ZERO), others);
        assert!(due.take(&mut cx).is_ok() && due.take(&mut cx).is_ok());
        assert_eq!(made.get(), 1);
    }

    #[test]
    fn a_verdict_in_a_pause_stops_the_run() {
        let mut cx = Context::new(Rc::new(TermStore::new()));
        let mut pauses = Pauses::after(cx.budget.work(Duration::ZERO), |_| {
            Ok(Verdict::Sat(Model::default()))
        });
        let stop = pauses.take(&mut cx);
        assert!(matches!(stop, Err(Stop::Verdict(Verdict::Sat(_)))));
    }
}
