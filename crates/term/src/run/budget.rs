//! How much time and work a part of a run may take.
//!
//! Time is read from the wall clock. Work is counted (see [`TermStore::work`]) in nominal time,
//! which is about the time on an idle machine. A computation that is bounded by work only gives the
//! same result on every machine. In a deterministic run, limits of time are limits of work.
//!
//! Invariant: a budget that is part of another one ends no later than that one. In a deterministic
//! run no budget has an end by the wall clock.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Reason;
use crate::TermStore;
use crate::limits::LIMITS;

/// An end by time and by work; `None` for no end.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct End {
    time: Option<Instant>,
    /// The count of [`TermStore::work`] at the end.
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
    /// The end that all budgets of the run have to respect at present, see [`Budget::enforce`].
    in_force: Cell<End>,
    /// See [`Budget::threads`].
    threads: Cell<usize>,
    /// The time of the same end, for other threads.
    watched: Arc<Mutex<Option<Instant>>>,
}

/// A point of a run, by the wall clock and by its work.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    time: Instant,
    work: Duration,
}

impl Moment {
    /// The work from this point to the count `work`; zero if the count is smaller.
    pub fn work_until(&self, work: Duration) -> Duration {
        work.saturating_sub(self.work)
    }
}

/// The part of a run's time and work that a computation may use.
#[derive(Clone)]
pub struct Budget {
    clocks: Rc<Clocks>,
    end: End,
    /// See [`Budget::length`].
    length: Option<Duration>,
}

impl Budget {
    /// A budget without limits that ends only when `interrupt` is set. If the run is
    /// `deterministic`, limits of time are limits of work.
    pub fn new(terms: Rc<TermStore>, interrupt: Arc<AtomicBool>, deterministic: bool) -> Budget {
        Budget {
            clocks: Rc::new(Clocks {
                terms,
                interrupt,
                deterministic,
                in_force: Cell::default(),
                threads: Cell::new(1),
                watched: Arc::default(),
            }),
            end: End::default(),
            length: None,
        }
    }

    /// The part that ends after this work, in nominal time.
    #[must_use]
    pub fn work(&self, limit: Duration) -> Budget {
        let work = self.clocks.terms.work().checked_add(limit);
        self.part(limit, End { time: None, work })
    }

    /// The part that ends after this time; in a deterministic run, after this work.
    #[must_use]
    pub fn time(&self, limit: Duration) -> Budget {
        self.since(Instant::now(), limit)
    }

    /// The part that ends this time after `start`; in a deterministic run, as [`Budget::time`].
    #[must_use]
    pub fn since(&self, start: Instant, limit: Duration) -> Budget {
        if self.clocks.deterministic {
            return self.work(limit);
        }
        // If there is no such instant, there is no limit.
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

    /// The least of the limits that were given for this part and for those that it is a part of;
    /// `None` for no limit. It does not depend on what has passed, so that a computation bounded by
    /// a share of it gives the same result on every machine.
    pub fn length(&self) -> Option<Duration> {
        self.length
    }

    /// The end of this budget or the end that is in force, whichever is earlier.
    fn end(&self) -> End {
        self.end.min(self.clocks.in_force.get())
    }

    /// The reason to stop now: an interrupt or a reached limit; `None` to continue.
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

    /// The time or work that is left, whichever is less; `None` for no limit.
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

    /// The time or the work since then, whichever is more, since not all work is counted; in a
    /// deterministic run, the work.
    pub fn passed(&self, since: Moment) -> Duration {
        let work = since.work_until(self.clocks.terms.work());
        if self.clocks.deterministic {
            return work;
        }
        work.max(since.time.elapsed())
    }

    /// The part that ends after this work, and, since not all work is counted, also after
    /// `LIMITS.time_per_work` times as much time.
    #[must_use]
    pub fn about(&self, limit: Duration) -> Budget {
        self.work(limit)
            .time(limit.saturating_mul(LIMITS.time_per_work))
    }

    /// Puts this budget in force: all budgets of the run end with it until the result is dropped.
    #[must_use]
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

    /// The flag that stops the run when it is set.
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.clocks.interrupt)
    }

    /// Lets parts of the run work on this many threads.
    pub fn allow_threads(&self, threads: usize) {
        self.clocks.threads.set(threads.max(1));
    }

    /// The number of threads on which a part of the run may work; 1 unless more are allowed.
    pub fn threads(&self) -> usize {
        self.clocks.threads.get()
    }

    /// What is left of this budget, for a computation in another thread. The work of that
    /// computation is to be charged to this budget when it has ended.
    pub fn share(&self) -> Share {
        Share {
            interrupt: self.interrupt(),
            deterministic: self.clocks.deterministic,
            time: self.end().time,
            work: self.work_left(),
        }
    }

    /// This budget's end by time and the interrupt, for another thread.
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

/// Restores, when it is dropped, the end that was in force before [`Budget::enforce`].
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

/// What is left of a budget, for another thread.
#[derive(Clone)]
pub struct Share {
    interrupt: Arc<AtomicBool>,
    deterministic: bool,
    time: Option<Instant>,
    work: Option<Duration>,
}

impl Share {
    /// The budget of the other thread, which counts the work of its own terms.
    pub fn budget(&self, terms: Rc<TermStore>) -> Budget {
        let all = Budget::new(terms, self.interrupt.clone(), self.deterministic);
        let end = End {
            time: self.time,
            work: self.work.map(|left| all.clocks.terms.work() + left),
        };
        Budget { end, ..all }
    }
}

/// A budget's end by time and the interrupt, for another thread.
pub struct Watch {
    interrupt: Arc<AtomicBool>,
    own: Option<Instant>,
    in_force: Arc<Mutex<Option<Instant>>>,
}

impl Watch {
    /// Calls `stop` if the time is over or the interrupt is set; the end in force cannot change
    /// during the call. Returns the time that is left, `None` for no limit.
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

    /// Time without work counts as passed, but not in a deterministic run.
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

    /// Another thread may use what is left, and counts its own work.
    #[test]
    fn shares_end_with_the_budget() {
        let (terms, all) = budget(false);
        let part = all.work(2 * HOUR);
        terms.charge(HOUR);
        let share = part.share();
        let thread = std::thread::spawn(move || {
            let terms = Rc::new(TermStore::new());
            let own = share.budget(terms.clone());
            let left = own.work_left();
            terms.charge(HOUR);
            (left, own.is_spent(), terms.work())
        });
        let (left, is_spent, work) = thread.join().expect("it ends");
        assert_eq!((left, is_spent), (Some(HOUR), true));
        assert!(!part.is_spent());
        terms.charge(work);
        assert!(part.is_spent() && !all.is_spent());
        let late = all.time(Duration::ZERO).share();
        assert!(late.budget(Rc::new(TermStore::new())).is_spent());
    }

    #[test]
    fn lengths_do_not_depend_on_the_clock() {
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
