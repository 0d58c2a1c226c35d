//! Runs in threads, and waiting for them with limits.
//!
//! Invariant: a run is stopped only by its own flag, and the caller waits for it at most [`GRACE`]
//! after that, whatever the run is doing.

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

/// How often the limits of a run are checked.
const PERIOD: Duration = Duration::from_millis(20);
/// How long the caller waits for a stopped run; then it leaves the thread alone.
const GRACE: Duration = Duration::from_secs(3);

/// The limits of a run.
pub struct Limits<'py> {
    /// The time limit.
    pub timeout: Option<Duration>,
    /// How much more memory than at the start of the run this process may use.
    pub memory_mib: Option<u64>,
    /// An object with a method `is_set`, such as an event of `threading`; the run stops when it is set.
    pub stop: Option<Bound<'py, PyAny>>,
    /// Up to which level log messages are collected.
    pub level: LevelFilter,
}

/// Why a run was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// The time limit was reached.
    Timeout,
    /// The memory limit was reached.
    Memory,
    /// The caller's object was set.
    Asked,
}

impl Stopped {
    /// The reason in the words of the program.
    pub fn reason(self) -> &'static str {
        match self {
            Stopped::Timeout => "timeout",
            Stopped::Memory => "memout",
            Stopped::Asked => "interrupted",
        }
    }
}

/// A run that has ended, or was left alone.
pub struct Ended<T> {
    /// Its result; `None` if it did not stop in time.
    pub result: Option<T>,
    /// Why it was stopped, if it was.
    pub stopped: Option<Stopped>,
    /// Its log messages.
    pub messages: Vec<Message>,
}

/// A run that may still have a thread.
struct Entry {
    /// The process that started it; a fork of this process has no thread of the run.
    process: u32,
    interrupt: Arc<AtomicBool>,
    done: Arc<AtomicBool>,
}

/// The runs of this process.
static ENTRIES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// Adds a run to the list of runs, and removes those that have ended.
fn enter(interrupt: Arc<AtomicBool>, done: Arc<AtomicBool>) {
    let mut entries = ENTRIES.lock().unwrap_or_else(PoisonError::into_inner);
    entries.retain(|entry| !entry.done.load(Ordering::SeqCst));
    entries.push(Entry {
        process: std::process::id(),
        interrupt,
        done,
    });
}

/// Stops all runs of this process, and waits for their ends, but no longer than `patience`.
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

/// Sets the flag `done` of a run when the thread drops it, also in a panic.
struct Done(Arc<AtomicBool>);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Runs `work` in a thread, and waits for its end or a limit. `work` gets the flag that stops it.
///
/// # Errors
/// The exception that a signal handler or `stop` raises; the exception `Defect` after a panic;
/// `ValueError` for a memory limit where the system has no information about memory; `MemoryError` if
/// no thread can be started.
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
        messages::collect(level);
        let result = catch_unwind(AssertUnwindSafe(|| work(flag)));
        let (messages, panic) = messages::take();
        let result = result.map_err(|error| panic.unwrap_or_else(|| panic_message(&*error)));
        // The caller may have stopped waiting.
        let _ = sender.send((result, messages));
    })
    .map_err(|error| PyMemoryError::new_err(format!("cannot start a thread for a run: {error}")))?;
    enter(interrupt.clone(), done);

    // Why the run was stopped, and when the caller stops waiting for it.
    let mut stopping: Option<(PyResult<Stopped>, Instant)> = None;
    let received = loop {
        let (received, back) = py.detach(move || (receiver.recv_timeout(PERIOD), receiver));
        receiver = back;
        match received {
            Ok(received) => break Some(received),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(defect(py, "the thread of the run has ended"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = Instant::now();
        let why = match (py.check_signals(), &stopping) {
            (Err(error), Some(_)) => return Err(error),
            (Err(error), None) => Some(Err(error)),
            (Ok(()), Some((_, end))) if now >= *end => break None,
            (Ok(()), Some(_)) => None,
            (Ok(()), None) => must_stop(limits, now - started, memory).transpose(),
        };
        if let Some(why) = why {
            interrupt.store(true, Ordering::SeqCst);
            stopping = Some((why, now + GRACE));
        }
    };
    let stopped = stopping.map(|stopping| stopping.0).transpose()?;
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

/// Why a run must stop; `None` if it may continue. `memory` is the most memory in MiB that may be in
/// use.
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
    let used = memory.and_then(|limit| Some(memory_mib()? > limit));
    Ok((used == Some(true)).then_some(Stopped::Memory))
}
