//! Proof obligations and their queue.
//!
//! Invariant: an obligation is in the queue at most once at its current level; entries of former
//! levels are recognised and skipped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::ids::{LemmaId, Node, ObligationId, Table};
use super::levels::Level;
use alphorn_term::TermId;

/// A cube that must be shown unreachable up to a level, or reached.
pub(super) struct Obligation {
    pub node: Node,
    /// Literals over the predicate's formal variables; those are what lemmas are made of.
    pub cube: Vec<TermId>,
    pub level: Level,
    /// Steps to the query.
    pub depth: usize,
    /// The obligation from whose cube this one leads there.
    pub parent: Option<ObligationId>,
    /// Reached, or blocked for good.
    pub closed: bool,
    /// For a conjecture and what follows from it: how many more steps it may take.
    pub steps_left: Option<usize>,
    /// Lemmas that the conjecture's would imply.
    pub members: Vec<LemmaId>,
}

/// Node, parent, and the cube in ascending order.
type Key = (Node, Option<ObligationId>, Box<[TermId]>);

/// All obligations, those to be worked on by level, then depth, then size, then age.
#[derive(Default)]
pub(super) struct Obligations {
    all: Table<ObligationId, Obligation>,
    queue: BinaryHeap<Reverse<(Level, usize, usize, ObligationId)>>,
    by_cube: FxHashMap<Key, ObligationId>,
}

impl Obligations {
    /// The obligation of this name.
    pub fn get(&self, id: ObligationId) -> &Obligation {
        &self.all[id]
    }

    /// Lemmas that an obligation's would imply.
    pub fn members(&mut self, id: ObligationId) -> &mut Vec<LemmaId> {
        &mut self.all[id].members
    }

    /// Adds an obligation, or opens the one with the same parent and cube again.
    pub fn add(&mut self, obligation: Obligation) -> ObligationId {
        let mut key = obligation.cube.clone();
        key.sort_unstable();
        let key = (obligation.node, obligation.parent, key.into_boxed_slice());
        let id = match self.by_cube.get(&key) {
            Some(&known) => {
                let old = &mut self.all[known];
                old.level = obligation.level;
                old.closed = false;
                old.steps_left = obligation.steps_left;
                old.members = obligation.members;
                old.depth = obligation.depth;
                known
            }
            None => {
                let id = self.all.push(obligation);
                self.by_cube.insert(key, id);
                id
            }
        };
        self.enqueue(id);
        id
    }

    /// Puts an obligation into the queue at its level.
    pub fn enqueue(&mut self, id: ObligationId) {
        let o = &self.all[id];
        self.queue
            .push(Reverse((o.level, o.depth, o.cube.len(), id)));
    }

    /// Puts a blocked obligation into the queue again, at a higher level.
    pub fn requeue(&mut self, id: ObligationId, level: Level) {
        self.all[id].level = level;
        self.enqueue(id);
    }

    /// Notes a step of a conjecture; `false` when it has taken too many.
    pub fn take_step(&mut self, id: ObligationId) -> bool {
        match &mut self.all[id].steps_left {
            None => true,
            Some(steps_left) => {
                *steps_left = steps_left.saturating_sub(1);
                *steps_left > 0
            }
        }
    }

    /// Takes an obligation out for good.
    pub fn close(&mut self, id: ObligationId) {
        self.all[id].closed = true;
    }

    /// The next open obligation of at most this level.
    pub fn next(&mut self, bound: Level) -> Option<ObligationId> {
        while let Some(&Reverse((level, depth, _, id))) = self.queue.peek() {
            if level > bound {
                return None;
            }
            self.queue.pop();
            let o = &self.all[id];
            let stale = o.closed || o.level != level || o.depth != depth;
            if stale {
                continue;
            }
            // What led to a reached cube need not be reached any more.
            if o.parent.is_some_and(|p| self.all[p].closed) {
                self.all[id].closed = true;
                continue;
            }
            return Some(id);
        }
        None
    }

    /// Takes a conjecture out together with what it was to help decide, conjectures all.
    pub fn give_up(&mut self, id: ObligationId) {
        let mut next = Some(id);
        while let Some(id) = next {
            self.all[id].closed = true;
            next = self.all[id].parent;
        }
    }

    /// Number of obligations made.
    pub fn len(&self) -> usize {
        self.all.len()
    }
}
