//! The state of a run: terms, budget, statistics, progress.
//!
//! Invariant: a run has no global state; functions that need a limit or count something receive a
//! [`Context`] or a part of one.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::{Budget, Bus, Phase, Progress, Reason, Timeline};
use crate::TermStore;

/// The state that all parts of one run share.
pub struct Context {
    /// The store of the run's terms.
    pub terms: Rc<TermStore>,
    /// The budget of the current part of the run.
    pub budget: Budget,
    /// Counters and times for `--stats`.
    pub stats: Statistics,
    /// The text of the progress line.
    pub progress: Progress,
    /// The phases that have ended, since the context was made.
    pub timeline: Timeline,
    /// The connection to processes that solve the same problem, if there are any.
    pub bus: Option<Rc<dyn Bus>>,
}

impl Context {
    /// A context without limits.
    pub fn new(terms: Rc<TermStore>) -> Self {
        let budget = Budget::new(terms.clone(), Arc::default(), false);
        Context::with_budget(terms, budget)
    }

    /// A context with a budget, which has to count the work of the same terms.
    pub fn with_budget(terms: Rc<TermStore>, budget: Budget) -> Self {
        Context {
            terms,
            budget,
            stats: Statistics::default(),
            progress: Progress::default(),
            timeline: Timeline::default(),
            bus: None,
        }
    }

    /// The reason to stop now, if there is one.
    pub fn stop(&self) -> Option<Reason> {
        self.budget.stop()
    }

    /// The time or work that is left, whichever is less; `None` for no limit.
    pub fn remaining(&self) -> Option<Duration> {
        self.budget.left()
    }

    /// Runs `work` as a phase with this name in the progress line and the timeline.
    pub fn phase<T>(
        &mut self,
        kind: Phase,
        name: &'static str,
        work: impl FnOnce(&mut Context) -> T,
    ) -> T {
        self.progress.enter(name);
        let start = self.timeline.enter();
        let result = work(self);
        self.timeline.leave(kind, name, start);
        self.progress.leave();
        result
    }

    /// Runs `work` with `part` as the budget: all solvers and budgets of the run end with it.
    pub fn within<T>(&mut self, part: Budget, work: impl FnOnce(&mut Context) -> T) -> T {
        let _enforced = part.enforce();
        let outer = std::mem::replace(&mut self.budget, part);
        let result = work(self);
        self.budget = outer;
        result
    }

    /// The flag that stops the run when it is set.
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        self.budget.interrupt()
    }
}

/// Named counters, times and texts, printed under `--stats`.
#[derive(Default, Debug, Clone)]
pub struct Statistics {
    counts: BTreeMap<String, u64>,
    seconds: BTreeMap<String, f64>,
    texts: BTreeMap<String, String>,
}

impl Statistics {
    /// Adds to a counter. Names are paths with dots, such as `pdr.lemmas`.
    pub fn add(&mut self, name: &str, amount: u64) {
        *self.counts.entry(name.to_owned()).or_default() += amount;
    }

    /// Sets a counter.
    pub fn set(&mut self, name: &str, value: u64) {
        self.counts.insert(name.to_owned(), value);
    }

    /// Adds to a time, in seconds.
    pub fn add_time(&mut self, name: &str, time: Duration) {
        *self.seconds.entry(name.to_owned()).or_default() += time.as_secs_f64();
    }

    /// Sets a text, such as the name of an engine.
    pub fn set_text(&mut self, name: &str, text: &str) {
        self.texts.insert(name.to_owned(), text.to_owned());
    }

    /// All texts by name.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }

    /// A counter's value, zero when it was never touched.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// All counters by name.
    pub fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counts.iter().map(|(k, v)| (k.as_str(), *v))
    }

    /// All times by name, in seconds.
    pub fn times(&self) -> impl Iterator<Item = (&str, f64)> {
        self.seconds.iter().map(|(k, v)| (k.as_str(), *v))
    }
}
