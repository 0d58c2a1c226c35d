//! Schedules: what has turns, in which order and for how long, as data.
//!
//! The default strategy, engines that put derived systems to other engines, and engines with
//! several domains have a schedule each.
//!
//! Invariant: the length of a turn is computed here and nowhere else; a schedule depends on nothing.

use std::time::Duration;

use alphorn_term::run::{Budget, Context};

/// A turn limited by [`Limit::LongRun`] takes place only if at least this much time is left.
pub const LONG_RUN: Duration = Duration::from_secs(90);

/// The longest that a turn may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// In work, so that what is solved in a short turn does not depend on the load of the machine.
    Work(Duration),
    /// In time.
    Time(Duration),
    /// In time, and the turn takes place only if [`LONG_RUN`] is left.
    LongRun(Duration),
    /// In time, for runs without a time limit only; in others the share decides alone.
    TimeIfUnlimited(Duration),
    /// The share alone.
    None,
}

impl Limit {
    /// The part of a budget that is this share of the time left, within the limit.
    pub fn part(self, budget: &Budget, share: f64) -> Budget {
        let left = budget.left();
        let part = match left {
            Some(left) => budget.time(left.mul_f64(share)),
            None => budget.clone(),
        };
        match self {
            Limit::Work(most) => part.about(most),
            Limit::Time(most) | Limit::LongRun(most) => part.time(most),
            Limit::TimeIfUnlimited(most) if left.is_none() => part.time(most),
            Limit::TimeIfUnlimited(_) | Limit::None => part,
        }
    }
}

/// A place in a schedule.
#[derive(Clone, Copy, Debug)]
pub struct Slot<T> {
    /// What has the turn: an engine with what is done before it, a domain, a command line.
    pub turn: T,
    /// The share of the time left when the turn begins, at most 1.
    pub share: f64,
    /// The longest that the turn may be.
    pub limit: Limit,
}

/// A place in a schedule.
pub const fn slot<T: Copy>(turn: T, share: f64, limit: Limit) -> Slot<T> {
    Slot { turn, share, limit }
}

impl<T> Slot<T> {
    /// The budget of the turn, as a part of the budget of all turns.
    pub fn budget(&self, whole: &Budget) -> Budget {
        self.limit.part(whole, self.share)
    }

    /// The length of the part if this is left; `None` for no limit.
    pub fn length(&self, left: Option<Duration>) -> Option<Duration> {
        let share = left.map(|left| left.mul_f64(self.share));
        let most = match self.limit {
            Limit::Work(most) | Limit::Time(most) | Limit::LongRun(most) => Some(most),
            Limit::TimeIfUnlimited(most) => Some(most).filter(|_| left.is_none()),
            Limit::None => None,
        };
        share.into_iter().chain(most).min()
    }

    /// The budget of the turn in a round of turns of this length.
    pub fn budget_in_round(&self, whole: &Budget, round: Duration) -> Budget {
        self.limit.part(&whole.time(round), self.share)
    }

    /// Whether enough time is left for the turn to take place.
    pub fn is_due(&self, cx: &Context) -> bool {
        match self.limit {
            Limit::LongRun(_) => cx.remaining().is_none_or(|left| left >= LONG_RUN),
            _ => true,
        }
    }
}

/// Turns in order.
pub type Schedule<T> = &'static [Slot<T>];

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::Arc;

    use alphorn_term::TermStore;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A budget of work alone, so that no test depends on a clock.
    fn budget(seconds: Option<u32>) -> Budget {
        let whole = Budget::new(Rc::new(TermStore::new()), Arc::default(), true);
        match seconds {
            Some(seconds) => whole.work(SECOND * seconds),
            None => whole,
        }
    }

    #[test]
    fn a_turn_has_its_share_within_its_limit() {
        for (seconds, share, limit, expected) in [
            (Some(100), 0.5, Limit::None, Some(50)),
            (Some(100), 0.5, Limit::Time(SECOND * 20), Some(20)),
            (Some(100), 0.5, Limit::LongRun(SECOND * 80), Some(50)),
            (Some(100), 0.5, Limit::Work(SECOND * 3), Some(3)),
            (Some(100), 0.5, Limit::TimeIfUnlimited(SECOND * 3), Some(50)),
            (None, 0.5, Limit::TimeIfUnlimited(SECOND * 3), Some(3)),
            (None, 0.5, Limit::Time(SECOND * 20), Some(20)),
            (None, 0.5, Limit::None, None),
        ] {
            let part = slot((), share, limit).budget(&budget(seconds));
            assert_eq!(part.left(), expected.map(|n| SECOND * n), "{limit:?}");
        }
    }

    #[test]
    fn turns_of_long_runs_wait_for_them() {
        for (seconds, due) in [(Some(89), false), (Some(90), true), (None, true)] {
            let terms = Rc::new(TermStore::new());
            let mut cx = Context::new(terms.clone());
            cx.budget = Budget::new(terms, Arc::default(), true);
            if let Some(seconds) = seconds {
                cx.budget = cx.budget.work(SECOND * seconds);
            }
            assert_eq!(slot((), 1.0, Limit::LongRun(SECOND)).is_due(&cx), due);
            assert!(slot((), 1.0, Limit::Time(SECOND)).is_due(&cx));
        }
    }
}
