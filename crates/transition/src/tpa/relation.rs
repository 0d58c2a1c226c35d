//! What is known of all runs of a number of steps, as a conjunction that only grows.
//!
//! Invariant: each conjunct holds of all runs that the relation is about.

use rustc_hash::FxHashSet;

use super::system::{Conjunct, TransitionSystem};
use alphorn_term::TermId;

/// See the module.
#[derive(Default)]
pub(super) struct Relation {
    pub conjuncts: Vec<Conjunct>,
    known: FxHashSet<TermId>,
    /// Changes with the conjuncts.
    pub version: usize,
    /// Conjuncts left when it was tidied last.
    pub tidied: usize,
}

impl Relation {
    /// A relation that is exact and never refined.
    pub fn exact(conjunct: Conjunct) -> Relation {
        Relation {
            conjuncts: vec![conjunct],
            ..Relation::default()
        }
    }

    /// Adds what is known already; what is new.
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

    /// Keeps some of the conjuncts, by their positions. What goes is implied by the rest.
    pub fn retain(&mut self, kept: impl Fn(usize) -> bool) {
        let mut position = 0;
        self.conjuncts.retain(|_| {
            position += 1;
            kept(position - 1)
        });
    }
}
