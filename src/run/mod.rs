//! What a run is bounded by and what it reports: limits, cancellation, statistics, progress.
//!
//! Invariant: no global state; whoever needs a limit or counts something is handed a [`Context`].

mod budget;
mod context;
mod progress;
mod reason;
mod timeline;

pub use budget::{Budget, Watch};
pub use context::{Context, Statistics};
pub use progress::{CLEAR, PERIOD, Progress, View};
pub use reason::Reason;
pub use timeline::{Phase, Span, Timeline};
