//! The settings of the engine.
//!
//! Invariant: no setting decides which answer there is, only whether and when there is one.

use alphorn_engine::settings::{choices, settings};

choices! {
    /// How frames are strengthened.
    Mode {
        /// Forward and backward frames, by single steps where these suffice.
        Dar = "dar",
        /// Forward frames, by runs of the full length.
        Isb = "isb",
    }
}

settings! {
    /// Options of `dar`.
    Options {
        /// Frames in both directions, or interpolation sequences only.
        mode: Mode = Mode::Dar, source "Vizel, Grumberg, Shoham, TACAS 2013; Vizel, Grumberg, FMCAD 2009";
    }
}
