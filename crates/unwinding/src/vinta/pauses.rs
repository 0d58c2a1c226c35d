//! A pause of a run, in which runs with other domains take their turns.
//!
//! A run that has used up its turn may be close to its end. It stays on the stack while the other
//! runs take theirs, and then continues.
//!
//! Invariant: a run has at most one pause, so runs are nested at most two deep.

use alphorn_proof::Stop;
use alphorn_term::run::{Budget, Context};

/// Other runs, with their own limits. An error stops the run that paused.
type Others<'a> = Box<dyn FnOnce(&mut Context) -> Result<(), Stop> + 'a>;

/// The pause of a run.
pub(super) struct Pauses<'a> {
    /// The budget after which the pause is due, and the other runs. `None` after the pause.
    pause: Option<(Budget, Others<'a>)>,
}

impl<'a> Pauses<'a> {
    /// For a run without a pause.
    pub fn none() -> Self {
        Pauses { pause: None }
    }

    /// A pause for these runs, due when the budget is spent.
    pub fn after(
        budget: Budget,
        others: impl FnOnce(&mut Context) -> Result<(), Stop> + 'a,
    ) -> Self {
        Pauses {
            pause: Some((budget, Box::new(others))),
        }
    }

    /// Runs the others if the pause is due.
    pub fn take(&mut self, cx: &mut Context) -> Result<(), Stop> {
        let due = |p: &mut (Budget, Others)| p.0.is_spent();
        match self.pause.take_if(due) {
            Some((_, others)) => others(cx),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;
    use std::time::Duration;

    use super::Pauses;
    use alphorn_proof::incomplete;
    use alphorn_term::TermStore;
    use alphorn_term::run::Context;

    #[test]
    fn a_pause_is_made_once_and_not_early() {
        let mut cx = Context::new(Rc::new(TermStore::new()));
        let runs_made = Cell::new(0);
        let others = |_: &mut Context| {
            runs_made.set(runs_made.get() + 1);
            Ok(())
        };
        let mut early = Pauses::after(cx.budget.work(Duration::from_secs(600)), others);
        assert!(early.take(&mut cx).is_ok());
        assert_eq!(runs_made.get(), 0);
        let mut due = Pauses::after(cx.budget.work(Duration::ZERO), others);
        assert!(due.take(&mut cx).is_ok() && due.take(&mut cx).is_ok());
        assert_eq!(runs_made.get(), 1);
    }

    #[test]
    fn others_may_stop_the_run() {
        let mut cx = Context::new(Rc::new(TermStore::new()));
        let others = |_: &mut Context| Err(incomplete("another has a verdict"));
        let mut pauses = Pauses::after(cx.budget.work(Duration::ZERO), others);
        assert!(pauses.take(&mut cx).is_err() && pauses.take(&mut cx).is_ok());
    }
}
