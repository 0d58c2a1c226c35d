//! The limits of `vinta`. The turns of the domains have theirs in `domains`.
//!
//! Invariant: a limit decides whether and when there is an answer, never which one.

use std::time::Duration;

/// What the engine may use, and when it widens.
pub(super) struct Limits {
    /// A cutpoint's label is widened at visits whose number is a multiple of this (the paper's
    /// experiments: 3).
    pub widening_period: usize,
    /// Widenings of one location in a phase; each later one starts from the last widened node.
    pub widenings_before_chain: usize,
    /// Least work for the certificates of one refinement before projection replaces them. With less
    /// time, certificates of large graphs fail that need about a second.
    pub min_certificate_work: Duration,
    /// Most work for the certificates of one refinement.
    pub max_certificate_work: Duration,
    /// Certificates of one refinement get at most one part in this many of the remaining time.
    pub certificate_parts: u32,
    /// After each failure of certificates, twice as many refinements do without them; the number
    /// stops growing at two to the power of this.
    pub max_pause_exponent: u64,
    /// Rounds in which unneeded literals are removed before interpolation, as in the paper.
    pub core_rounds: usize,
    /// Cubes into which an interpolant is split for a domain without disjunctions.
    pub label_cubes: usize,
    /// Lemmas that are remembered for new nodes of a location; further ones are dropped.
    pub lemmas_per_location: usize,
    /// Nodes of a derivation tree; a run that needs more ends with `unknown`.
    pub tree_copies: usize,
    /// Conjuncts of labels, alone and under each condition, that are candidates for a smaller
    /// model; with more there is none.
    pub model_conjuncts: usize,
    /// Work for a smaller model of conjuncts.
    pub model_work: Duration,
    /// A smaller model gets at most one part in this many of the remaining time.
    pub model_parts: u32,
    /// Products of arguments that are added to one predicate.
    pub products_per_predicate: usize,
    /// Products of arguments that are added to all predicates together.
    pub products: usize,
    /// Clauses of a system; with more, no products are sought.
    pub product_clauses: usize,
    /// Arguments of a predicate; if one has more, no products are sought.
    pub product_arity: usize,
    /// Equations of a clause that are solved; further ones are ignored.
    pub clause_equations: usize,
    /// Bounds of a variable at which its products are described exactly.
    pub bounds_per_variable: usize,
    /// Characters of a label in a picture; the rest is cut off.
    pub picture_label_chars: usize,
}

pub(super) const LIMITS: Limits = Limits {
    widening_period: 3,
    widenings_before_chain: 8,
    min_certificate_work: Duration::from_secs(2),
    max_certificate_work: Duration::from_secs(10),
    certificate_parts: 8,
    max_pause_exponent: 5,
    core_rounds: 3,
    label_cubes: 24,
    lemmas_per_location: 300,
    tree_copies: 3000,
    model_conjuncts: 2000,
    model_work: Duration::from_secs(3),
    model_parts: 4,
    products_per_predicate: 10,
    products: 60,
    product_clauses: 300,
    product_arity: 30,
    clause_equations: 200,
    bounds_per_variable: 2,
    picture_label_chars: 400,
};
