//! Limits of reading, checking and writing witnesses.

/// What bounds the sizes of witnesses and of the texts made for their checks.
pub(crate) struct Limits {
    /// Depth of signs and fractions in a numeral of a value; a deeper one is an error.
    pub max_number_depth: usize,
    /// Depth of steps inside one another in a proof term; a step at this depth gets a name.
    pub max_proof_nesting: usize,
    /// Number of places, with the lengths of their paths, that the search for a function's calls
    /// visits, since it does not follow sharing; with more, the certificate is rejected.
    pub max_call_places: usize,
    /// Length of a script or term of a certificate, in bytes; a longer one makes the check
    /// undecided.
    pub max_script_bytes: usize,
    /// Length of a pattern of a lemma, in bytes; a longer one is left out.
    pub max_pattern_bytes: usize,
    /// Number of instances of the quantifiers of one assertion in the certificate of a refutation;
    /// with more, there is no certificate.
    pub max_assertion_instances: usize,
    /// Number of assertions, at least, for each thread of the check of a model, since each thread
    /// reads all definitions.
    pub min_assertions_of_thread: usize,
    /// Cells of a heap that is printed as a table.
    pub max_table_cells: usize,
}

/// The limits in use.
pub(crate) const LIMITS: Limits = Limits {
    max_number_depth: 4,
    max_proof_nesting: 16,
    max_call_places: 50_000,
    max_script_bytes: 16 << 20,
    max_pattern_bytes: 2000,
    max_assertion_instances: 64,
    min_assertions_of_thread: 250,
    max_table_cells: 1000,
};
