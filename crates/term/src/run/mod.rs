//! What a run is bounded by and what it reports: limits, cancellation, statistics, progress.
//!
//! Invariant: no global state; whoever needs a limit or counts something is handed a [`Context`].

mod budget;
mod bus;
mod context;
mod memory;
mod progress;
mod reason;
mod timeline;
mod worker;

pub use budget::{Budget, Moment, Watch};
pub use bus::Bus;
pub use context::{Context, Statistics};
pub use memory::memory_mib;
pub use progress::{CLEAR, PERIOD, Progress, View};
pub use reason::Reason;
pub use timeline::{Phase, Span, Timeline};
pub use worker::{panic_message, spawn_worker};
