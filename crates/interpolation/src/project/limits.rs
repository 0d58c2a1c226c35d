//! The limits of projection.
//!
//! Invariant: no other file of this folder has a constant that bounds size, steps or work.

/// Limits of projection.
pub(super) struct Limits {
    /// Pairs of different indexes for each index; with more, all indexes are ordered, which takes
    /// fewer but stronger literals.
    pub pairs_per_index: usize,
    /// Writes of a read over writes; the model does not decide a longer one unless it has to.
    pub max_writes: usize,
    /// Monomials of an equation that defines a variable. Longer ones are left to elimination by
    /// rows, which is faster, unless the variable occurs where only a term can replace it.
    pub max_monomials: usize,
    /// Arithmetic operations on rows; beyond that the remaining columns are replaced by their
    /// values.
    pub row_operations: usize,
    /// Fresh variables; beyond that the remaining variables are replaced by their values.
    pub max_fresh: u32,
    /// Nodes of the literals that are added; beyond that the remaining variables are replaced by
    /// their values. Only dense systems reach it.
    pub max_visited_nodes: usize,
}

pub(super) const LIMITS: Limits = Limits {
    pairs_per_index: 4,
    max_writes: 16,
    max_monomials: 4,
    row_operations: 300_000,
    max_fresh: 10_000,
    max_visited_nodes: 2_000_000,
};
