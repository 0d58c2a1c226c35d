//! An over-approximation of all runs of a number of steps, as a conjunction.
//!
//! Invariant: each conjunct holds of all runs that the relation is about.

use rustc_hash::FxHashSet;

use super::system::{Conjunct, TransitionSystem};
use alphorn_term::TermId;

/// The conjuncts of a relation.
#[derive(Default)]
pub(super) struct Relation {
    /// The conjuncts in use.
    pub conjuncts: Vec<Conjunct>,
    /// All conjuncts that were added.
    known: FxHashSet<TermId>,
    /// Increases with each new conjunct.
    pub version: usize,
    /// The number of conjuncts after the last simplification.
    pub simplified: usize,
}

impl Relation {
    /// A relation that is exact and never refined.
    pub fn exact(conjunct: Conjunct) -> Relation {
        Relation {
            conjuncts: vec![conjunct],
            ..Relation::default()
        }
    }

    /// Adds a conjunct that holds of all runs. Returns whether it is new.
    pub fn share(&mut self, conjunct: Conjunct) -> bool {
        let new = conjunct.left != TermId::TRUE && self.known.insert(conjunct.left);
        if new {
            self.conjuncts.push(conjunct);
            self.version += 1;
        }
        new
    }

    /// Adds a formula over the first and the second copy, conjunct by conjunct.
    pub fn add(&mut self, ts: &TransitionSystem, relation: TermId) {
        for part in ts.terms().conjuncts(relation) {
            self.share(ts.conjunct(part));
        }
    }

    /// Keeps the conjuncts at some positions, which must imply the others.
    pub fn retain(&mut self, kept: impl Fn(usize) -> bool) {
        let mut position = 0;
        self.conjuncts.retain(|_| {
            position += 1;
            kept(position - 1)
        });
    }
}
