//! Proof obligations and their queue.
//!
//! Invariant: each open obligation that is not being answered has an entry in the queue for its
//! current level and depth; entries of closed obligations, and for former levels or depths, are
//! skipped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::ids::{LemmaId, Node, ObligationId, Table};
use super::levels::Level;
use alphorn_term::TermId;

/// A cube of a predicate that has to be shown unreachable up to a level, or reached.
pub(super) struct Obligation {
    /// The predicate, or the query.
    pub node: Node,
    /// Literals over the predicate's formal variables.
    pub cube: Vec<TermId>,
    /// The level up to which it has to be unreachable.
    pub level: Level,
    /// Steps to the query.
    pub depth: usize,
    /// The obligation of which this one is a predecessor; `None` for the query and conjectures.
    pub parent: Option<ObligationId>,
    /// Whether nothing is left to be done.
    pub closed: bool,
    /// For a conjecture and its predecessors: the number of further steps allowed.
    pub steps_left: Option<usize>,
    /// For a conjecture: the lemmas that its lemma would replace.
    pub members: Vec<LemmaId>,
}

/// The node, the parent, and the cube in ascending order.
type Key = (Node, Option<ObligationId>, Box<[TermId]>);

/// All obligations, and the queue of open ones by level, depth, size of the cube, and age.
#[derive(Default)]
pub(super) struct Obligations {
    all: Table<ObligationId, Obligation>,
    queue: BinaryHeap<Reverse<(Level, usize, usize, ObligationId)>>,
    by_cube: FxHashMap<Key, ObligationId>,
}

impl Obligations {
    /// The obligation with this id.
    pub fn get(&self, id: ObligationId) -> &Obligation {
        &self.all[id]
    }

    /// The lemmas that the lemma of a conjecture would replace.
    pub fn members(&mut self, id: ObligationId) -> &mut Vec<LemmaId> {
        &mut self.all[id].members
    }

    /// Adds an obligation, or reopens the one with the same node, parent and cube.
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

    /// Counts a step of a conjecture. Returns `false` when no step is left.
    pub fn take_step(&mut self, id: ObligationId) -> bool {
        match &mut self.all[id].steps_left {
            None => true,
            Some(steps_left) => {
                *steps_left = steps_left.saturating_sub(1);
                *steps_left > 0
            }
        }
    }

    /// Closes an obligation.
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
            // A predecessor of a closed obligation is no longer of use.
            if o.parent.is_some_and(|p| self.all[p].closed) {
                self.all[id].closed = true;
                continue;
            }
            return Some(id);
        }
        None
    }

    /// Closes an obligation and all its ancestors, which belong to the same conjecture.
    pub fn give_up(&mut self, id: ObligationId) {
        let mut next = Some(id);
        while let Some(id) = next {
            self.all[id].closed = true;
            next = self.all[id].parent;
        }
    }

    /// The number of obligations, also closed ones.
    pub fn len(&self) -> usize {
        self.all.len()
    }
}
