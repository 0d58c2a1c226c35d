//! Collects the log messages of a run and the message of a panic in it, for the caller of the run.
//!
//! Invariant: messages are collected in the thread that logs them, and never printed.

use std::cell::RefCell;
use std::panic::PanicHookInfo;

use log::{Level, LevelFilter, Log, Metadata, Record};

/// The most messages that are kept of a run; later ones are dropped.
const MAX_MESSAGES: usize = 10_000;

/// A log message: its level as a number of Python's `logging`, its target, and its text.
pub type Message = (u8, String, String);

/// The messages of a thread.
struct Collected {
    level: LevelFilter,
    messages: Vec<Message>,
    panic: Option<String>,
}

thread_local! {
    static COLLECTED: RefCell<Option<Collected>> = const { RefCell::new(None) };
}

/// The levels of Python's `logging` and of the crate `log`.
const LEVELS: [(u8, LevelFilter); 4] = [
    (10, LevelFilter::Debug),
    (20, LevelFilter::Info),
    (30, LevelFilter::Warn),
    (40, LevelFilter::Error),
];

/// Does `work` with the messages of this thread; `None` if the thread collects none, or is doing this
/// already.
fn with_collected<T>(work: impl FnOnce(&mut Collected) -> T) -> Option<T> {
    COLLECTED
        .try_with(|collected| collected.try_borrow_mut().ok()?.as_mut().map(work))
        .ok()?
}

/// The logger, which collects messages.
struct Collector;

impl Log for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        with_collected(|collected| metadata.level() <= collected.level).unwrap_or(false)
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        // Before the messages are borrowed, since formatting may log, too.
        let text = record.args().to_string();
        let level = match record.level() {
            Level::Error => 40,
            Level::Warn => 30,
            Level::Info => 20,
            Level::Debug | Level::Trace => 10,
        };
        with_collected(|collected| {
            if collected.messages.len() < MAX_MESSAGES {
                collected
                    .messages
                    .push((level, record.target().replace("::", "."), text));
            }
        });
    }

    fn flush(&self) {}
}

/// Installs the logger and a panic hook, when the module is imported. Panics of threads that collect no
/// messages go to the hook from before.
pub fn set_up() {
    // This fails only if the module is imported twice in a process.
    let _ = log::set_logger(&Collector);
    log::set_max_level(LevelFilter::Warn);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        if with_collected(|collected| collected.panic = Some(info.to_string())).is_none() {
            before(info);
        }
    }));
}

/// The level to collect for a Python logger with this level. It also lets the crate `log` pass on
/// messages of this level.
pub fn level(python: u8) -> LevelFilter {
    let found = LEVELS.iter().find(|(level, _)| python <= *level);
    let level = found.map_or(LevelFilter::Off, |found| found.1);
    log::set_max_level(log::max_level().max(level));
    level
}

/// Starts collecting the messages of this thread, up to this level.
pub fn collect(level: LevelFilter) {
    COLLECTED.with(|collected| {
        *collected.borrow_mut() = Some(Collected {
            level,
            messages: Vec::new(),
            panic: None,
        });
    });
}

/// Ends collecting, and returns the messages of this thread and that of its last panic.
pub fn take() -> (Vec<Message>, Option<String>) {
    let collected = COLLECTED.with(|collected| collected.borrow_mut().take());
    collected.map_or_else(Default::default, |collected| {
        (collected.messages, collected.panic)
    })
}
