//! The limits of `safari`.
//!
//! Invariant: a limit decides whether and when there is an answer, never which one.

/// What the engine may use.
pub(super) struct Limits {
    /// Cases of one clause; with more the run ends with `unknown`.
    pub clause_cases: usize,
    /// Parts of a constraint that are visited to find its cases; with more the run ends with
    /// `unknown`.
    pub constraint_parts: usize,
    /// Steps of reading arrays through assignments for one instance; with more the run ends with
    /// `unknown`.
    pub read_steps: usize,
    /// Pairs of cells of the same array in one state; with more, only the axioms that models
    /// violate are asserted.
    pub axioms: usize,
    /// Tuples of index terms that are tried for one label and model.
    pub tuples: usize,
    /// Instances of one label that are made for one model.
    pub instances_per_model: usize,
    /// Instances for one covering query; with more the node is not covered.
    pub instances: usize,
    /// Cubes of an exact pre-image; a label with more is `true`.
    pub pre_image_cubes: usize,
    /// Implicants of a step that are separated from a path one by one, and cases of a step; with
    /// more, the step is not divided.
    pub implicants: usize,
    /// Numerals of one sort that comparisons use; further ones are ignored.
    pub numerals_per_sort: usize,
    /// Groups of comparisons for one interpolant; no variable is added after that number.
    pub comparisons: usize,
    /// Cubes of a formula without eliminated variables; with more these stay quantified.
    pub elimination_cubes: usize,
    /// Disjuncts that the conjuncts of a label are multiplied out to; with more the label stays as
    /// it is.
    pub label_disjuncts: usize,
}

pub(super) const LIMITS: Limits = Limits {
    clause_cases: 64,
    constraint_parts: 100_000,
    read_steps: 200_000,
    axioms: 80,
    tuples: 300,
    instances_per_model: 4,
    instances: 600,
    pre_image_cubes: 32,
    implicants: 24,
    numerals_per_sort: 6,
    comparisons: 3000,
    elimination_cubes: 16,
    label_disjuncts: 32,
};
