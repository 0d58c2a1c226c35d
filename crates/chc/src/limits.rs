//! The limits of this crate. Input beyond a limit of the reader is refused with an error.

/// What bounds the reader, and what counts as a wide bit-vector.
pub(crate) struct Limits {
    /// Bytes of a text.
    pub max_text_bytes: usize,
    /// Characters of a numeric literal, since reading one takes quadratic time.
    pub max_literal_characters: usize,
    /// Bits of a bit-vector; the same number bounds the indexes of bit-vector operators.
    pub max_bits: u32,
    /// Bits of the product of numerals, as the sum of the bits of its factors.
    pub max_product_bits: u64,
    /// Arguments of `distinct`, which becomes quadratically many disequalities.
    pub max_distinct_arguments: usize,
    /// Nesting of sorts, as written and with definitions expanded.
    pub max_sort_depth: u32,
    /// Instances of datatypes.
    pub max_datatype_instances: usize,
    /// Nesting of constructors whose instance of a parametric datatype is not known yet.
    pub max_open_constructors: u32,
    /// Nesting of quantifiers within a constraint.
    pub max_quantifier_depth: u32,
    /// Nodes that the macros of a text expand to, in all.
    pub max_expanded_nodes: usize,
    /// Parts of formulas that are visited to make the clauses of one command; a body is visited for
    /// each of its heads.
    pub max_clause_parts: usize,
    /// Cases of the disjunctions in a body for each of which the clause is copied; with more cases
    /// the disjunctions get predicates of their own.
    pub max_copied_cases: u32,
    /// Boolean variables of a quantifier over predicates that is replaced by its cases.
    pub max_expanded_booleans: usize,
    /// Instances of a universal quantifier over predicates in a body.
    pub max_instances: usize,
    /// Cases into which conditions around calls of recursive functions split one clause or definition.
    pub max_call_cases: usize,
    /// Nodes that are visited and literals that are collected for these cases.
    pub max_call_work: usize,
    /// Levels of one `push` or `pop`.
    pub max_levels: usize,
    /// Formulas that say that the value of one variable has addresses where they should be.
    pub max_guards: usize,
    /// Objects of one operation on a range of addresses.
    pub max_range_objects: usize,
    /// Characters of a name or piece of source in an error; longer ones are cut.
    pub max_shown_characters: usize,
    /// Bits of an argument that counts as a flag or code; a wider one is
    /// [wide](super::System::has_wide_bit_vectors).
    pub max_flag_bits: u32,
}

pub(crate) const LIMITS: Limits = Limits {
    max_text_bytes: 1 << 30,
    max_literal_characters: 20_000,
    max_bits: 1 << 16,
    max_product_bits: 1 << 17,
    max_distinct_arguments: 2000,
    max_sort_depth: 500,
    max_datatype_instances: 4096,
    max_open_constructors: 200,
    max_quantifier_depth: 1000,
    max_expanded_nodes: 50_000_000,
    max_clause_parts: 5_000_000,
    max_copied_cases: 8,
    max_expanded_booleans: 4,
    max_instances: 40,
    max_call_cases: 4096,
    max_call_work: 5_000_000,
    max_levels: 100_000,
    max_guards: 10_000,
    max_range_objects: 64,
    max_shown_characters: 60,
    max_flag_bits: 4,
};
