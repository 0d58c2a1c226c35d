//! Limits, cancellation, statistics and progress of a run.
//!
//! Invariant: there is no global state; functions that need a limit or count something receive a
//! [`Context`] or a part of one.

mod budget;
mod bus;
mod context;
mod memory;
mod progress;
mod reason;
mod timeline;
mod worker;

pub use budget::{Budget, Moment, Share, Watch};
pub use bus::Bus;
pub use context::{Context, Statistics};
pub use memory::memory_mib;
pub use progress::{CLEAR, PERIOD, Progress, View};
pub use reason::Reason;
pub use timeline::{Phase, Span, Timeline};
pub use worker::{panic_message, spawn_worker};
