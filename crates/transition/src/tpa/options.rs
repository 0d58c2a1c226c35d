//! The settings of the engine.
//!
//! Invariant: no setting decides whether an answer is right, only whether and when there is one.

use alphorn_engine::settings::settings;

settings! {
    /// Limits of the search.
    Options {
        /// Runs of two to the power of this are one query; in the papers this is 0.
        unroll: usize = 3;
        /// Levels, at most.
        max_level: usize = 40, from 1;
    }
}
