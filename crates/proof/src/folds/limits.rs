//! The limits of folds.
//!
//! Invariant: no other file of this folder has a constant that bounds work or size.

use std::time::Duration;

/// Limits of the search for folds and of the analysis of their codes.
pub(super) struct Limits {
    /// Work of the abstract interpretation of codes; if it is spent, nothing is known of codes.
    pub analysis_work: Duration,
    /// Work for proving the result of that analysis; candidates that are not proven by then are
    /// dropped.
    pub check_work: Duration,
    /// Work for finding the functions that clauses define; further ones are not found.
    pub definitions_work: Duration,
    /// Components of one datatype; a template with more has no encoder.
    pub max_components: usize,
    /// Constructors whose subsets are tried as those that count in values; with more there are no
    /// values.
    pub max_valued_constructors: usize,
    /// Recursive fields with weights of their own; with more, all have the same weight.
    pub max_weighted_fields: usize,
}

pub(super) const LIMITS: Limits = Limits {
    analysis_work: Duration::from_millis(300),
    check_work: Duration::from_millis(500),
    definitions_work: Duration::from_secs(1),
    max_components: 12,
    max_valued_constructors: 4,
    max_weighted_fields: 8,
};
