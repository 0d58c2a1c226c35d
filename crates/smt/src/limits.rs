//! Limits of contexts and of decoding. Those of the questions about text are in `text/limits.rs`.

use std::time::Duration;

/// What bounds or tunes the use of one Z3 context.
pub(crate) struct Limits {
    /// Pause between two attempts to interrupt a query, since Z3 ignores an interrupt that comes
    /// before the query has begun.
    pub interrupt_pause: Duration,
    /// Time that the watchdog waits for an interrupted query to end, before it reads the clock
    /// again and interrupts once more.
    pub interrupt_wait: Duration,
    /// Longest time between two readings of the clock by the watchdog: the end may move, and the
    /// run may be stopped from outside.
    pub watch_interval: Duration,
    /// Number of queries after which Z3's work is read and charged to the budget, since reading it
    /// takes time; the work of the queries in between is charged then, too.
    pub queries_per_reading: u64,
    /// Largest exponent of a power that is decoded as a product; a larger one is a
    /// [`DecodeError`](crate::DecodeError).
    pub max_exponent: u32,
}

/// The limits in use.
pub(crate) const LIMITS: Limits = Limits {
    interrupt_pause: Duration::from_millis(1),
    interrupt_wait: Duration::from_millis(100),
    watch_interval: Duration::from_millis(20),
    queries_per_reading: 8,
    max_exponent: 32,
};
