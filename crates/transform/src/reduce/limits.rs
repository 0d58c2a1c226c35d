//! The limits of the reduction of constraints.

/// Limits for one constraint.
pub(super) struct Limits {
    /// Rounds; then the constraint is returned as it is. Almost all constraints need two or three.
    pub max_rounds: usize,
    /// Summands of a definition that is substituted in more than two conjuncts; a larger one is not
    /// substituted.
    pub max_substituted_summands: usize,
    /// Conjuncts with a local; a local in more is not eliminated by bounds, cases or cells.
    pub max_occurrences: usize,
    /// Nodes of the conjuncts with a Boolean local; a local in larger ones is not eliminated by
    /// cases.
    pub max_nodes_for_cases: usize,
    /// Summands of a combination of bounds; a local with a larger one is not eliminated.
    pub max_combined_summands: usize,
    /// Indexes at which an array local is read; one with more is not eliminated.
    pub max_cells: usize,
}

pub(super) const LIMITS: Limits = Limits {
    max_rounds: 12,
    max_substituted_summands: 12,
    max_occurrences: 64,
    max_nodes_for_cases: 80,
    max_combined_summands: 24,
    max_cells: 4,
};
