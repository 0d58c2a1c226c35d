//! What a search counts.
//!
//! Invariant: nothing is decided by these numbers but how often [`super::quantify`] tries.

use alphorn_term::run::Statistics;

/// Counts of one search.
#[derive(Default)]
pub(super) struct Counters {
    pub lemmas: u64,
    pub facts: u64,
    /// Literals that generalisation dropped.
    pub dropped: u64,
    /// Lemmas that were tried to be pushed, and those that were.
    pub pushes: u64,
    pub pushed: u64,
    pub conjectures: u64,
    /// Literals that gave way to bounds of single terms.
    pub concretised: u64,
    /// Lemmas that a conjecture's replaced.
    pub subsumed: u64,
    /// Lemmas about all indexes, and tries that failed.
    pub quantified: u64,
    pub quantify_failures: u64,
    /// Lemmas that are equations of indexes or arrays.
    pub equated: u64,
    /// What other processes told: lemmas and facts, those lemmas that were learned, and those facts
    /// that were derived again.
    pub heard: u64,
    pub learned: u64,
    pub derived: u64,
    /// Lemmas of an earlier search, and those that this one began with.
    pub claims: u64,
    pub resumed: u64,
}

impl Counters {
    /// Adds the counts to those of the run.
    pub fn record(&self, stats: &mut Statistics) {
        for (name, value) in [
            ("pdr.lemmas", self.lemmas),
            ("pdr.facts", self.facts),
            ("pdr.literals-dropped", self.dropped),
            ("pdr.pushes-tried", self.pushes),
            ("pdr.pushes-done", self.pushed),
            ("pdr.conjectures", self.conjectures),
            ("pdr.literals-concretised", self.concretised),
            ("pdr.lemmas-subsumed", self.subsumed),
            ("pdr.quantified", self.quantified),
            ("pdr.quantified-not", self.quantify_failures),
            ("pdr.indexes-equated", self.equated),
            ("pdr.heard", self.heard),
            ("pdr.heard-lemmas-learned", self.learned),
            ("pdr.heard-facts-derived", self.derived),
            ("pdr.lemmas-of-earlier-turns", self.claims),
            ("pdr.lemmas-resumed", self.resumed),
        ] {
            stats.add(name, value);
        }
    }
}
