//! The limits of the pass `reads`.

/// Limits for one system. An array argument beyond a limit is not replaced, unless it is said
/// otherwise.
pub(super) struct Limits {
    /// Nodes of an equation or term that is read as one about indexes; larger ones are ignored.
    pub max_equation_nodes: usize,
    /// Depth of nested `ite`s in indexes that are compared by cases; deeper ones are compared as a
    /// whole.
    pub max_choice_depth: usize,
    /// Nodes of an index that are searched for an `ite`.
    pub max_choice_nodes: usize,
    /// Elements of one argument.
    pub max_elements: usize,
    /// Elements of one argument whose index is not a value.
    pub max_symbolic_elements: usize,
    /// Elements of one array without definition, which are compared in pairs.
    pub max_free_elements: usize,
    /// Length of a path into arrays of arrays.
    pub max_path_length: usize,
    /// Arguments of an expanded predicate; if one would have more, and more than before, the pass
    /// does nothing.
    pub max_arity: usize,
    /// Steps of reading; at the limit the pass does nothing.
    pub max_steps: usize,
    /// Rounds of the analysis, each of which forgets the needs of arguments that are kept as
    /// arrays.
    pub max_rounds: usize,
}

pub(super) const LIMITS: Limits = Limits {
    max_equation_nodes: 40,
    max_choice_depth: 4,
    max_choice_nodes: 20,
    max_elements: 24,
    max_symbolic_elements: 6,
    max_free_elements: 12,
    max_path_length: 4,
    max_arity: 2048,
    max_steps: 4_000_000,
    max_rounds: 6,
};
