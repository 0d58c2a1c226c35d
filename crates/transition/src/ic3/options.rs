//! The settings of the engine.
//!
//! Invariant: no setting decides which answer there is, only whether and when there is one.

use alphorn_engine::settings::settings;

settings! {
    /// Options of `ic3`.
    Options {
        /// Block counterexamples to generalization one level below.
        counterexamples: bool = true,
            source "Hassan, Bradley, Somenzi, FMCAD 2013";
        /// Block more of them, and their predecessors, the more queries an obligation needed.
        dynamic: bool = true,
            source "Su et al., arXiv 2501.02480";
    }
}
