//! The limits of this crate.
//!
//! Invariant: no limit changes the meaning of a term.

use std::time::Duration;

/// What bounds construction of terms and the record of a run.
pub(crate) struct Limits {
    /// Arguments: a child conjunction, disjunction or product with more of them is not flattened
    /// into its parent, so that deep right-nested input does not take quadratic time.
    pub max_flattened_arguments: usize,
    /// Nesting of finite sorts; a sort with deeper nesting counts as infinite.
    pub max_sort_depth: u32,
    /// Time per work: [`Budget::about`](crate::run::Budget::about) also ends after this many times
    /// its work as time, since not all work is counted.
    pub time_per_work: u32,
    /// Length of a phase: a shorter one is not recorded in the timeline.
    pub min_span: Duration,
    /// Spans of a timeline: later ones are not recorded.
    pub max_spans: usize,
    /// Bytes of the worker's stack: the first size that the system grants is used.
    pub stack_sizes: [usize; 3],
}

pub(crate) const LIMITS: Limits = Limits {
    max_flattened_arguments: 64,
    max_sort_depth: 16,
    time_per_work: 4,
    min_span: Duration::from_micros(100),
    max_spans: 20_000,
    stack_sizes: [1 << 30, 1 << 28, 1 << 26],
};
