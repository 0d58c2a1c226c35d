//! The limits of the engine that are no settings.
//!
//! Invariant: a limit decides whether and when there is an answer, not which one.

/// The limits of `tpa`.
pub(super) struct Limits {
    /// Steps of the interpolator for an interpolant; then the negation of the excluded run is used.
    pub interpolation_steps: usize,
    /// Reached states that are remembered for a source, kind and level; the newest.
    pub remembered: usize,
    /// A relation with less than twice this many conjuncts is not simplified.
    pub unsimplified_conjuncts: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    interpolation_steps: 400,
    remembered: 4,
    unsimplified_conjuncts: 10,
};
