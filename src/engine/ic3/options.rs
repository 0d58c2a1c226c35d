//! Choices of the search.
//!
//! Invariant: no choice changes what is a model or a derivation.

use crate::engine::settings::settings;

settings! {
    /// Choices of the search.
    Options {
        /// Block counterexamples to generalisation one level below.
        counterexamples: bool = true,
            source "Hassan, Bradley, Somenzi, FMCAD 2013";
    }
}
