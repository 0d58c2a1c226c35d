//! The limits of `interp`.
//!
//! Invariant: a limit decides whether and when there is an answer, never which one.

use std::time::Duration;

/// What the engine may use.
pub(super) struct Limits {
    /// Safety interpolants, certificates of single steps, and labels from elements may each use one
    /// part in this many of the run's work.
    pub parts: u32,
    /// Safety and error interpolants may each use one part in this many where they are interpolants
    /// of whole paths, which cost more than cores.
    pub path_parts: u32,
    /// Error interpolants may use one part in this many where they are cubes of obligations: much
    /// of what they exclude early, no path would ever reach.
    pub suffix_parts: u32,
    /// Work that each kind of interpolants may use in any case.
    pub min_work: Duration,
    /// Work for the certificates of one path or tree before projection replaces them.
    pub certificate_work: Duration,
    /// They get at most one part in this many of the remaining time.
    pub certificate_parts: u32,
    /// Cubes that projection excludes for one interpolant; with more the run ends with `unknown`.
    pub projection_cubes: usize,
    /// Edges at the end of a path that are added one by one to find a window; then the window is
    /// checked only when its length is a power of two.
    pub single_edges: usize,
    /// Older nodes, from the newest on, that are tried for covering a node.
    pub covering_candidates: usize,
    /// Older nodes, from the newest on, for which forced covering of a node is tried.
    pub forced_candidates: usize,
    /// Blockers of one action; further ones are dropped, since a large region is slow.
    pub blockers_per_action: usize,
    /// Suffixes of one location; a new one replaces another.
    pub suffixes_per_location: usize,
    /// Tries without success after which a suffix is no longer used.
    pub suffix_tries: u32,
    /// Actions of a suffix; a longer one is not kept, since its query is too hard for a guess.
    pub suffix_actions: usize,
    /// Nodes (of its DAG) of a formula; a larger one is no candidate for a fact.
    pub fact_nodes: usize,
    /// Candidates for facts per location, and the size of its vocabulary; the newest candidates and
    /// the oldest formulas of the vocabulary stay.
    pub candidates_per_location: usize,
    /// Refinements between two searches for facts.
    pub refinements_per_search: u64,
    /// The search for facts may use one part in this many of the run's work.
    pub fact_parts: u32,
    /// Least work for one search for facts.
    pub min_fact_work: Duration,
    /// Queries for the core of one cube.
    pub core_queries: usize,
    /// Steps of the interpolation of a single edge; with more there is none.
    pub step_certificate_steps: usize,
    /// Work for the interpolation of a single edge.
    pub step_certificate_work: Duration,
    /// Labels in one solver; for further nodes a new solver is made.
    pub labels_per_solver: usize,
    /// States of a node that are kept to show what its label does not imply; the newest stay.
    pub states_per_node: usize,
    /// Copies in one derivation tree; with more the run ends with `unknown`.
    pub tree_copies: usize,
    /// Paths of a clause that go through the domain one by one.
    pub paths: usize,
    /// Nodes of a predicate, each derived from the one before, that are not widened.
    pub widening_delay: usize,
    /// Nodes of an unwinding whose invariants debug builds check; larger ones are not checked.
    #[cfg(debug_assertions)]
    pub checked_nodes: usize,
}

pub(super) const LIMITS: Limits = Limits {
    parts: 5,
    path_parts: 12,
    suffix_parts: 16,
    min_work: Duration::from_millis(500),
    certificate_work: Duration::from_secs(1),
    certificate_parts: 8,
    projection_cubes: 400,
    single_edges: 4,
    covering_candidates: 64,
    forced_candidates: 4,
    blockers_per_action: 40,
    suffixes_per_location: 16,
    suffix_tries: 4,
    suffix_actions: 200,
    fact_nodes: 60,
    candidates_per_location: 300,
    refinements_per_search: 4,
    fact_parts: 2,
    min_fact_work: Duration::from_millis(200),
    core_queries: 100,
    step_certificate_steps: 30,
    step_certificate_work: Duration::from_millis(50),
    labels_per_solver: 256,
    states_per_node: 8,
    tree_copies: 2000,
    paths: 100,
    widening_delay: 2,
    #[cfg(debug_assertions)]
    checked_nodes: 25,
};
