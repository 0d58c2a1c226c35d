//! What a run carries along: terms, limits, statistics.
//!
//! Invariant: no global state; whoever needs a limit or counts something is handed a [`Context`].

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Progress, Reason};
use crate::term::TermStore;

/// Shared by the stages of one run.
pub struct Context {
    pub terms: Rc<TermStore>,
    /// When to stop; `None` for no limit.
    pub deadline: Option<Instant>,
    /// Set from outside to stop the run.
    pub interrupt: Arc<AtomicBool>,
    pub stats: Statistics,
    /// For the line that says how the run is going.
    pub progress: Progress,
}

impl Context {
    /// A context without limits.
    pub fn new(terms: Rc<TermStore>) -> Self {
        Context {
            terms,
            deadline: None,
            interrupt: Arc::new(AtomicBool::new(false)),
            stats: Statistics::default(),
            progress: Progress::default(),
        }
    }

    /// The reason to stop now, if there is one.
    pub fn stop(&self) -> Option<Reason> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Some(Reason::Interrupted);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Some(Reason::Timeout),
            _ => None,
        }
    }

    /// Time left until the deadline, `None` for no limit.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline
            .map(|d| d.saturating_duration_since(Instant::now()))
    }

    /// Runs `work` with a deadline at most `limit` from now, then restores the old one.
    pub fn with_limit<T>(&mut self, limit: Duration, work: impl FnOnce(&mut Context) -> T) -> T {
        let outer = self.deadline;
        // No such instant: a limit that is none.
        if let Some(inner) = Instant::now().checked_add(limit) {
            self.deadline = Some(outer.map_or(inner, |o| o.min(inner)));
        }
        let result = work(self);
        self.deadline = outer;
        result
    }
}

/// Named counters and times, printed under `--stats`.
#[derive(Default, Debug, Clone)]
pub struct Statistics {
    counts: BTreeMap<String, u64>,
    seconds: BTreeMap<String, f64>,
}

impl Statistics {
    /// Adds to a counter. Names are dotted paths: `pdr.lemmas`.
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
