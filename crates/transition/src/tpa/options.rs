//! The settings of the engine.
//!
//! Invariant: no setting decides which answer there is, only whether and when there is one.

use alphorn_engine::settings::settings;

settings! {
    /// Options of `tpa`.
    Options {
        /// Runs of two to the power of this many steps are one query; 0 in the papers.
        unroll: usize = 3;
        /// The largest level.
        max_level: usize = 40, from 1;
    }
}
