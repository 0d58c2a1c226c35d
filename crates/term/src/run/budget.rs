//! How much time and work a part of a run may take.
//!
//! Time is what a clock on the wall says. Work is counted (see [`TermStore::work`]), and given in
//! nominal time: about what the wall clock would say on an idle machine. What is bounded by work
//! alone comes out the same on every machine. Passes and short turns are bounded by work, whatever
//! the mode; long turns by time, unless the run is deterministic: then its clock is the work.
//!
//! Invariant: a budget that is part of another ends when that ends, at the latest. In a
//! deterministic run nothing depends on the wall clock but signals from outside.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Reason;
use crate::TermStore;

/// How many times longer than counted work may take.
const UNCOUNTED: u32 = 4;

/// When something has to end, by either clock; `None` for never.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct End {
    time: Option<Instant>,
    /// As [`TermStore::work`] counts.
    work: Option<Duration>,
}

impl End {
    fn min(self, other: End) -> End {
        fn least<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
            a.into_iter().chain(b).min()
        }
        End {
            time: least(self.time, other.time),
            work: least(self.work, other.work),
        }
    }
}

/// The clocks of a run, shared by all its budgets.
struct Clocks {
    terms: Rc<TermStore>,
    interrupt: Arc<AtomicBool>,
    deterministic: bool,
    /// What is in force for the part of the run that is under way.
    in_force: Cell<End>,
    /// The same, the time only, for threads that watch it.
    watched: Arc<Mutex<Option<Instant>>>,
}

/// A point of a run, by the clock on the wall and by its work.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    time: Instant,
    work: Duration,
}

impl Moment {
    /// From then on up to this count of work.
    pub fn work_until(&self, work: Duration) -> Duration {
        work.saturating_sub(self.work)
    }
}

/// A part of a run's time and work.
#[derive(Clone)]
pub struct Budget {
    clocks: Rc<Clocks>,
    end: End,
    /// How long this part was made to be; `None` for no limit.
    length: Option<Duration>,
}

impl Budget {
    /// No limit but `interrupt`, which is set from outside. In a deterministic run, limits of time
    /// are limits of work.
    pub fn new(terms: Rc<TermStore>, interrupt: Arc<AtomicBool>, deterministic: bool) -> Budget {
        Budget {
            clocks: Rc::new(Clocks {
                terms,
                interrupt,
                deterministic,
                in_force: Cell::default(),
                watched: Arc::default(),
            }),
            end: End::default(),
            length: None,
        }
    }

    /// The part that ends after this work, given in nominal time.
    #[must_use]
    pub fn work(&self, limit: Duration) -> Budget {
        let work = self.clocks.terms.work().checked_add(limit);
        self.part(limit, End { time: None, work })
    }

    /// The part that ends after this time; after this work in a deterministic run.
    #[must_use]
    pub fn time(&self, limit: Duration) -> Budget {
        self.since(Instant::now(), limit)
    }

    /// The part that ends this time after `start`; as [`Budget::time`] in a deterministic run.
    #[must_use]
    pub fn since(&self, start: Instant, limit: Duration) -> Budget {
        if self.clocks.deterministic {
            return self.work(limit);
        }
        // No such instant: a limit that is none.
        let time = start.checked_add(limit);
        self.part(limit, End { time, work: None })
    }

    fn part(&self, length: Duration, end: End) -> Budget {
        Budget {
            clocks: Rc::clone(&self.clocks),
            end: self.end.min(end),
            length: Some(self.length.map_or(length, |whole| whole.min(length))),
        }
    }

    /// The limit that was given for this part, or for one that it is a part of if that is less;
    /// `None` for no limit. No clock changes it: what is bounded by a share of it comes out the
    /// same on every machine.
    pub fn length(&self) -> Option<Duration> {
        self.length
    }

    /// The end of this budget or of the part of the run that is under way, whichever is first.
    fn end(&self) -> End {
        self.end.min(self.clocks.in_force.get())
    }

    /// Why to stop now, if there is a reason.
    pub fn stop(&self) -> Option<Reason> {
        if self.clocks.interrupt.load(Ordering::Relaxed) {
            return Some(Reason::Interrupted);
        }
        let end = self.end();
        let late = end.work.is_some_and(|end| self.clocks.terms.work() >= end)
            || end.time.is_some_and(|end| Instant::now() >= end);
        late.then_some(Reason::Timeout)
    }

    /// Whether there is a reason to stop now.
    pub fn is_spent(&self) -> bool {
        self.stop().is_some()
    }

    /// What is left, by the clock that ends first; `None` for no limit.
    pub fn left(&self) -> Option<Duration> {
        let time = self.end().time;
        let time = time.map(|end| end.saturating_duration_since(Instant::now()));
        time.into_iter().chain(self.work_left()).min()
    }

    /// The work that is left; `None` for no limit.
    pub fn work_left(&self) -> Option<Duration> {
        let end = self.end().work?;
        Some(end.saturating_sub(self.clocks.terms.work()))
    }

    /// Now, by both clocks.
    pub fn now(&self) -> Moment {
        Moment {
            time: Instant::now(),
            work: self.clocks.terms.work(),
        }
    }

    /// What has passed since then: time, or work if that is more, since not all work is counted; work
    /// alone in a deterministic run.
    pub fn passed(&self, since: Moment) -> Duration {
        let work = since.work_until(self.clocks.terms.work());
        if self.clocks.deterministic {
            return work;
        }
        work.max(since.time.elapsed())
    }

    /// The part that ends after this work. Not all work is counted, so it also ends after a
    /// few times as much time.
    #[must_use]
    pub fn about(&self, limit: Duration) -> Budget {
        self.work(limit).time(limit.saturating_mul(UNCOUNTED))
    }

    /// Puts the budget in force for all that shares its clocks; gives what was in force before.
    pub fn enforce(&self) -> Enforced {
        let before = self.clocks.in_force.get();
        self.clocks.set(self.end());
        Enforced {
            clocks: Rc::clone(&self.clocks),
            before,
        }
    }

    /// The store that counts the work.
    pub fn terms(&self) -> &Rc<TermStore> {
        &self.clocks.terms
    }

    /// The flag that stops the run from outside.
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.clocks.interrupt)
    }

    /// For a thread that watches over the time while the budget is in use.
    pub fn watch(&self) -> Watch {
        Watch {
            interrupt: self.interrupt(),
            own: self.end.time,
            in_force: Arc::clone(&self.clocks.watched),
        }
    }
}

impl Clocks {
    fn set(&self, end: End) {
        self.in_force.set(end);
        *lock(&self.watched) = end.time;
    }
}

/// Ends what was put in force when it is dropped.
pub struct Enforced {
    clocks: Rc<Clocks>,
    before: End,
}

impl Drop for Enforced {
    fn drop(&mut self) {
        self.clocks.set(self.before);
    }
}

fn lock(time: &Mutex<Option<Instant>>) -> MutexGuard<'_, Option<Instant>> {
    time.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A budget's time, as another thread sees it.
pub struct Watch {
    interrupt: Arc<AtomicBool>,
    own: Option<Instant>,
    in_force: Arc<Mutex<Option<Instant>>>,
}

impl Watch {
    /// Calls `stop` if the time is over or the run is to be stopped; the end cannot move
    /// meanwhile. Returns how long it is until the end.
    pub fn check(&self, stop: impl FnOnce()) -> Option<Duration> {
        let in_force = lock(&self.in_force);
        let end = self.own.into_iter().chain(*in_force).min();
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) || self.interrupt.load(Ordering::Relaxed) {
            stop();
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What costs time and no work has passed, but not in a deterministic run.
    #[test]
    fn time_without_work() {
        for deterministic in [false, true] {
            let (terms, budget) = budget(deterministic);
            let start = budget.now();
            std::thread::sleep(Duration::from_millis(20));
            let passed = budget.passed(start);
            assert_eq!(passed < Duration::from_millis(20), deterministic);
            terms.charge(Duration::from_secs(7));
            assert!(budget.passed(start) >= Duration::from_secs(7));
        }
    }

    const HOUR: Duration = Duration::from_secs(3600);

    fn budget(deterministic: bool) -> (Rc<TermStore>, Budget) {
        let terms = Rc::new(TermStore::new());
        let budget = Budget::new(terms.clone(), Arc::default(), deterministic);
        (terms, budget)
    }

    #[test]
    fn work_ends_a_budget_and_its_parts() {
        let (terms, all) = budget(false);
        assert_eq!(all.left(), None);
        let part = all.work(2 * HOUR);
        let smaller = part.work(HOUR);
        let larger = smaller.work(3 * HOUR);
        assert_eq!(larger.left(), Some(HOUR));
        terms.charge(HOUR);
        assert_eq!(smaller.stop(), Some(Reason::Timeout));
        assert!(larger.is_spent() && !part.is_spent() && !all.is_spent());
        terms.charge(HOUR);
        assert!(part.is_spent() && !all.is_spent());
    }

    #[test]
    fn lengths_do_not_hang_on_the_clock() {
        let (terms, all) = budget(false);
        assert_eq!(all.length(), None);
        let part = all.time(2 * HOUR).work(HOUR);
        terms.charge(HOUR / 2);
        assert_eq!(part.length(), Some(HOUR));
        assert_eq!(part.time(2 * HOUR).length(), Some(HOUR));
    }

    #[test]
    fn time_is_work_in_a_deterministic_run() {
        let (terms, all) = budget(true);
        let part = all.time(HOUR);
        assert_eq!(part.left(), Some(HOUR));
        assert_eq!(part.watch().check(|| panic!("no time passes")), None);
        terms.charge(HOUR);
        assert!(part.is_spent());
        let (terms, all) = budget(false);
        let part = all.time(HOUR);
        terms.charge(2 * HOUR);
        assert!(!part.is_spent() && all.time(Duration::ZERO).is_spent());
    }

    #[test]
    fn what_is_in_force_bounds_all_budgets_of_the_run() {
        let (terms, all) = budget(false);
        let early = all.work(2 * HOUR);
        {
            let _guard = all.work(HOUR).enforce();
            assert_eq!(early.left(), Some(HOUR));
            terms.charge(HOUR);
            assert!(early.is_spent() && all.is_spent());
        }
        assert!(!early.is_spent() && !all.is_spent());
        {
            let _guard = all.time(Duration::ZERO).enforce();
            let mut stopped = false;
            early.watch().check(|| stopped = true);
            assert!(stopped && early.is_spent());
        }
        early.watch().check(|| panic!("there is time again"));
    }

    #[test]
    fn an_interrupt_ends_everything() {
        let (_, all) = budget(false);
        all.interrupt().store(true, Ordering::Relaxed);
        assert_eq!(all.work(HOUR).stop(), Some(Reason::Interrupted));
    }
}
