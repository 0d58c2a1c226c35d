//! The counters of a search.
//!
//! Invariant: the search does not depend on them, except that [`super::quantify`] stops after too
//! many failures.

use alphorn_term::run::Statistics;

/// The counters of one search.
#[derive(Default)]
pub(super) struct Counters {
    /// New lemmas.
    pub lemmas: u64,
    /// New facts.
    pub facts: u64,
    /// Literals that generalization dropped.
    pub dropped: u64,
    /// Attempts to push a lemma.
    pub pushes: u64,
    /// Attempts that succeeded.
    pub pushed: u64,
    /// Conjectures of global guidance.
    pub conjectures: u64,
    /// Literals that were replaced by bounds of single terms.
    pub concretised: u64,
    /// Lemmas that the lemma of a conjecture replaced.
    pub subsumed: u64,
    /// Cubes that were generalized to any index.
    pub quantified: u64,
    /// Attempts to do so that failed.
    pub quantify_failures: u64,
    /// Cubes that were generalized to a disequality of indexes or arrays.
    pub equated: u64,
    /// Lemmas and facts that were received from other processes.
    pub received: u64,
    /// Received lemmas that were learned.
    pub learned: u64,
    /// Received facts that were derived again.
    pub derived: u64,
    /// Lemmas of an earlier search.
    pub claims: u64,
    /// Those of them that this search began with.
    pub resumed: u64,
}

impl Counters {
    /// Adds the counters to the statistics of the run.
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
            ("pdr.received", self.received),
            ("pdr.received-lemmas-learned", self.learned),
            ("pdr.received-facts-derived", self.derived),
            ("pdr.lemmas-of-earlier-turns", self.claims),
            ("pdr.lemmas-resumed", self.resumed),
        ] {
            stats.add(name, value);
        }
    }
}
