//! Choices of the search.
//!
//! Invariant: no choice changes what is a model or a derivation.

use alphorn_engine::settings::settings;

settings! {
    /// Choices of the search.
    Options {
        /// Block counterexamples to generalisation one level below.
        counterexamples: bool = true,
            source "Hassan, Bradley, Somenzi, FMCAD 2013";
        /// Block more of them the more often an obligation was tried, and the states before them.
        dynamic: bool = true,
            source "Su et al., arXiv 2501.02480";
    }
}
