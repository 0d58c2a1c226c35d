//! The limits of the engine.
//!
//! Invariant: a limit decides whether and when there is an answer, not which one.

/// The limits of `pdkind`. Elements of a frame are processed in the order of their scores, from 0
/// to 1.
pub(super) struct Limits {
    /// The factor by which the score of an element decreases with each refinement.
    pub score_decay: f64,
    /// The part of the difference to 1 by which the score increases with each frame.
    pub score_recovery: f64,
    /// How often lemmas of an earlier search are tried at their levels, without those that failed, before
    /// all of them are taken to hold of the facts only.
    pub attempts_to_resume: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    score_decay: 0.9,
    score_recovery: 0.5,
    attempts_to_resume: 3,
};
