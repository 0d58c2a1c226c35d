//! What is logged in a run, and what a panic in it says, for who asked for the run.
//!
//! Invariant: a thread of a run keeps its own messages, and no other thread's; nothing is printed.

use std::cell::RefCell;
use std::panic::PanicHookInfo;

use log::{Level, LevelFilter, Log, Metadata, Record};

/// More than these are dropped.
const MOST: usize = 10_000;

/// A line of the log: its level as Python counts them, where it is from, what it says.
pub type Message = (u8, String, String);

/// What a thread has logged.
struct Kept {
    level: LevelFilter,
    messages: Vec<Message>,
    panic: Option<String>,
}

thread_local! {
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// Levels as Python counts them.
const LEVELS: [(u8, LevelFilter); 4] = [
    (10, LevelFilter::Debug),
    (20, LevelFilter::Info),
    (30, LevelFilter::Warn),
    (40, LevelFilter::Error),
];

fn with_kept<T>(work: impl FnOnce(&mut Kept) -> T) -> Option<T> {
    KEPT.try_with(|kept| kept.try_borrow_mut().ok()?.as_mut().map(work))
        .ok()?
}

struct Keeper;

impl Log for Keeper {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        with_kept(|kept| metadata.level() <= kept.level).unwrap_or(false)
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        // Before the messages are borrowed: what is formatted may log, too.
        let text = record.args().to_string();
        let level = match record.level() {
            Level::Error => 40,
            Level::Warn => 30,
            Level::Info => 20,
            Level::Debug | Level::Trace => 10,
        };
        with_kept(|kept| {
            if kept.messages.len() < MOST {
                kept.messages
                    .push((level, record.target().replace("::", "."), text));
            }
        });
    }

    fn flush(&self) {}
}

/// Once, when the module is imported. Panics of other threads are reported as before.
pub fn set_up() {
    // Another logger can be there only if the module is imported twice in a process.
    let _ = log::set_logger(&Keeper);
    log::set_max_level(LevelFilter::Warn);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        if with_kept(|kept| kept.panic = Some(info.to_string())).is_none() {
            before(info);
        }
    }));
}

/// The level to keep for a logger of Python that takes this one and those above it.
pub fn level(python: u8) -> LevelFilter {
    let found = LEVELS.iter().find(|(level, _)| python <= *level);
    let level = found.map_or(LevelFilter::Off, |found| found.1);
    log::set_max_level(log::max_level().max(level));
    level
}

/// From now on this thread's messages are kept.
pub fn keep(level: LevelFilter) {
    KEPT.with(|kept| {
        *kept.borrow_mut() = Some(Kept {
            level,
            messages: Vec::new(),
            panic: None,
        });
    });
}

/// This thread's messages so far, and what its last panic has said; no more are kept.
pub fn take() -> (Vec<Message>, Option<String>) {
    let kept = KEPT.with(|kept| kept.borrow_mut().take());
    kept.map_or_else(Default::default, |kept| (kept.messages, kept.panic))
}
