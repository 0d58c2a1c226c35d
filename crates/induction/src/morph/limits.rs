//! The limits of `morph`, except for the turns of engines.
//!
//! Invariant: a limit decides whether and when there is an answer, never which one.

/// What the engine may use.
pub(super) struct Limits {
    /// Translations, each with more premises or cells than the one before; then the run ends with
    /// `unknown`.
    pub rounds: usize,
    /// Cells of a predicate; if a refutation stays spurious, the run ends with `unknown`.
    pub cells: usize,
    /// The share of the remaining time in which a model is made smaller.
    pub shrinking_share: f64,
    /// Steps of a refutation that is checked with arrays; a longer one ends the run with `unknown`.
    pub derivation_steps: usize,
    /// Choices of main premises that are tried for a refutation.
    pub premise_choices: usize,
    /// Steps of reading arrays in a clause; with more there is no translation.
    pub read_steps: usize,
    /// Elements of one array in a clause, which are compared in pairs; with more there is no
    /// translation.
    pub elements: usize,
    /// Instances of a quantified formula.
    pub instances: usize,
    /// Body atoms of a clause; with more there is no translation.
    pub body_atoms: usize,
}

pub(super) const LIMITS: Limits = Limits {
    rounds: 8,
    cells: 2,
    shrinking_share: 0.1,
    derivation_steps: 400,
    premise_choices: 6,
    read_steps: 200_000,
    elements: 24,
    instances: 64,
    body_atoms: 12,
};
