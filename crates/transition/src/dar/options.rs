//! The choice of the engine.
//!
//! Invariant: no choice decides whether an answer is right, only whether and when there is one.

use alphorn_engine::settings::{choices, settings};

choices! {
    /// How frames are strengthened.
    Mode {
        /// Forward and backward frames, by single steps where these are enough.
        Dar = "dar",
        /// Forward frames, by runs of the full length.
        Isb = "isb",
    }
}

settings! {
    /// How the search goes.
    Options {
        /// Frames from both ends, or interpolation sequences alone.
        mode: Mode = Mode::Dar, source "Vizel, Grumberg, Shoham, TACAS 2013; Vizel, Grumberg, FMCAD 2009";
    }
}
