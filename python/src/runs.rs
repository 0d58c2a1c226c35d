//! Runs in threads of their own, and who waits for them.
//!
//! Invariant: a run is told to stop by its own flag alone, and who waits for it comes back within
//! [`GRACE`] after that, whatever the run is in.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use alphorn::run::{memory_mib, panic_message, spawn_worker};
use log::LevelFilter;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;

use crate::defect;
use crate::messages::{self, Message};

/// How often a run is looked after.
const PERIOD: Duration = Duration::from_millis(20);
/// How long a run that was told to stop may take for it. Then it is left alone.
const GRACE: Duration = Duration::from_secs(3);

/// What a run is held to.
pub struct Limits<'py> {
    /// From the beginning.
    pub timeout: Option<Duration>,
    /// How much more memory than at the beginning this process may have in use.
    pub memory_mib: Option<u64>,
    /// An object with a method `is_set`, such as an event of `threading`.
    pub stop: Option<Bound<'py, PyAny>>,
    /// What is kept of the log.
    pub level: LevelFilter,
}

/// Why a run was told to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    Timeout,
    Memory,
    Asked,
}

impl Stopped {
    /// As the program says it.
    pub fn reason(self) -> &'static str {
        match self {
            Stopped::Timeout => "timeout",
            Stopped::Memory => "memout",
            Stopped::Asked => "interrupted",
        }
    }
}

/// A run that is over.
pub struct Ended<T> {
    /// Nothing if it did not stop in time.
    pub result: Option<T>,
    pub stopped: Option<Stopped>,
    pub messages: Vec<Message>,
}

/// A run that may be under way.
struct Entry {
    /// A fork has none of its parent's threads.
    process: u32,
    interrupt: Arc<AtomicBool>,
    done: Arc<AtomicBool>,
}

static ENTRIES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

fn enter(interrupt: Arc<AtomicBool>, done: Arc<AtomicBool>) {
    let mut entries = ENTRIES.lock().unwrap_or_else(PoisonError::into_inner);
    entries.retain(|entry| !entry.done.load(Ordering::SeqCst));
    entries.push(Entry {
        process: std::process::id(),
        interrupt,
        done,
    });
}

/// Tells all runs to stop, and waits for them, but no longer than `patience`.
pub fn stop_all(patience: Duration) {
    let end = Instant::now() + patience;
    let own = std::process::id();
    loop {
        let entries = ENTRIES.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = entries
            .iter()
            .filter(|entry| entry.process == own && !entry.done.load(Ordering::SeqCst))
            .inspect(|entry| entry.interrupt.store(true, Ordering::SeqCst))
            .peekable();
        if left.peek().is_none() || Instant::now() >= end {
            return;
        }
        left.for_each(drop);
        drop(entries);
        std::thread::sleep(PERIOD);
    }
}

/// What says that a run is over, however it ends.
struct Done(Arc<AtomicBool>);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Does `work` in a thread of its own. It gets the flag that tells it to stop. Fails with what a
/// signal handler or `stop` raises, and for a panic with the package's exception for it.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    limits: &Limits<'_>,
    work: impl FnOnce(Arc<AtomicBool>) -> T + Send + 'static,
) -> PyResult<Ended<T>> {
    let started = Instant::now();
    let memory = match limits.memory_mib {
        Some(limit) => Some(
            memory_mib()
                .map(|now| now.saturating_add(limit))
                .ok_or_else(|| {
                    PyValueError::new_err("this system does not say how much memory is in use")
                })?,
        ),
        None => None,
    };
    let interrupt = Arc::new(AtomicBool::new(false));
    let done = Arc::new(AtomicBool::new(false));
    let (sender, mut receiver) = channel();
    let (flag, is_done, level) = (interrupt.clone(), Done(done.clone()), limits.level);
    spawn_worker(move || {
        let _is_done = is_done;
        messages::keep(level);
        let result = catch_unwind(AssertUnwindSafe(|| work(flag)));
        let (messages, panic) = messages::take();
        let result = result.map_err(|error| panic.unwrap_or_else(|| panic_message(&*error)));
        // Nobody may be waiting any more.
        let _ = sender.send((result, messages));
    })
    .map_err(|error| PyMemoryError::new_err(format!("no thread for a run: {error}")))?;
    enter(interrupt.clone(), done);

    // Why it was told to stop, and when it is left alone.
    let mut told: Option<(PyResult<Stopped>, Instant)> = None;
    let received = loop {
        let (received, back) = py.detach(move || (receiver.recv_timeout(PERIOD), receiver));
        receiver = back;
        match received {
            Ok(received) => break Some(received),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(defect(py, "the thread of the run is gone"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = Instant::now();
        let why = match (py.check_signals(), &told) {
            (Err(error), Some(_)) => return Err(error),
            (Err(error), None) => Some(Err(error)),
            (Ok(()), Some((_, end))) if now >= *end => break None,
            (Ok(()), Some(_)) => None,
            (Ok(()), None) => must_stop(limits, now - started, memory).transpose(),
        };
        if let Some(why) = why {
            interrupt.store(true, Ordering::SeqCst);
            told = Some((why, now + GRACE));
        }
    };
    let stopped = told.map(|told| told.0).transpose()?;
    let (result, messages) = match received {
        Some((Ok(result), messages)) => (Some(result), messages),
        Some((Err(panic), _)) => return Err(defect(py, &panic)),
        None => (None, Vec::new()),
    };
    Ok(Ended {
        result,
        stopped,
        messages,
    })
}

/// Why a run must stop, if it must. `memory` is the most that may be in use.
fn must_stop(
    limits: &Limits<'_>,
    elapsed: Duration,
    memory: Option<u64>,
) -> PyResult<Option<Stopped>> {
    if let Some(stop) = &limits.stop
        && stop.call_method0("is_set")?.is_truthy()?
    {
        return Ok(Some(Stopped::Asked));
    }
    if limits.timeout.is_some_and(|timeout| elapsed >= timeout) {
        return Ok(Some(Stopped::Timeout));
    }
    let used = memory.and_then(|most| Some(memory_mib()? > most));
    Ok((used == Some(true)).then_some(Stopped::Memory))
}
