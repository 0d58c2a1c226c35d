//! Proof obligations and their queue.
//!
//! Invariant: an obligation is in the queue at most once at its current level; entries of former
//! levels are recognised and skipped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::frame::Level;
use crate::term::TermId;

/// A cube that must be shown unreachable up to a level, or reached.
pub(super) struct Obligation {
    pub predicate: usize,
    /// Literals over the predicate's formal variables; those are what lemmas are made of.
    pub cube: Vec<TermId>,
    pub level: Level,
    /// Steps to the query.
    pub depth: usize,
    /// The obligation from whose cube this one leads there.
    pub parent: Option<usize>,
    /// Reached, or blocked for good.
    pub closed: bool,
    /// For a conjecture and what follows from it: how many more steps it may take.
    pub gas: Option<usize>,
    /// Lemmas that the conjecture's would imply.
    pub members: Vec<usize>,
}

/// Predicate, parent, and the cube in ascending order.
type Key = (usize, Option<usize>, Box<[TermId]>);

/// All obligations, those to be worked on by level, then depth, then size, then age.
#[derive(Default)]
pub(super) struct Obligations {
    all: Vec<Obligation>,
    queue: BinaryHeap<Reverse<(Level, usize, usize, usize)>>,
    by_cube: FxHashMap<Key, usize>,
}

impl Obligations {
    /// The obligation of an index.
    pub fn get(&self, index: usize) -> &Obligation {
        &self.all[index]
    }

    /// Lemmas that an obligation's would imply.
    pub fn members(&mut self, index: usize) -> &mut Vec<usize> {
        &mut self.all[index].members
    }

    /// Adds an obligation, or opens the one with the same parent and cube again.
    pub fn add(&mut self, obligation: Obligation) -> usize {
        let mut key = obligation.cube.clone();
        key.sort_unstable();
        let key = (
            obligation.predicate,
            obligation.parent,
            key.into_boxed_slice(),
        );
        let index = match self.by_cube.get(&key) {
            Some(&known) => {
                let old = &mut self.all[known];
                old.level = obligation.level;
                old.closed = false;
                old.gas = obligation.gas;
                old.members = obligation.members;
                old.depth = obligation.depth;
                known
            }
            None => {
                self.all.push(obligation);
                self.by_cube.insert(key, self.all.len() - 1);
                self.all.len() - 1
            }
        };
        self.enqueue(index);
        index
    }

    /// Puts an obligation into the queue at its level.
    pub fn enqueue(&mut self, index: usize) {
        let o = &self.all[index];
        self.queue
            .push(Reverse((o.level, o.depth, o.cube.len(), index)));
    }

    /// Puts a blocked obligation into the queue again, at a higher level.
    pub fn requeue(&mut self, index: usize, level: Level) {
        self.all[index].level = level;
        self.enqueue(index);
    }

    /// Notes a step of a conjecture; `false` when it has taken too many.
    pub fn burn(&mut self, index: usize) -> bool {
        match &mut self.all[index].gas {
            None => true,
            Some(gas) => {
                *gas = gas.saturating_sub(1);
                *gas > 0
            }
        }
    }

    /// Takes an obligation out for good.
    pub fn close(&mut self, index: usize) {
        self.all[index].closed = true;
    }

    /// The next open obligation of at most this level.
    pub fn next(&mut self, bound: Level) -> Option<usize> {
        while let Some(&Reverse((level, depth, _, index))) = self.queue.peek() {
            if level > bound {
                return None;
            }
            self.queue.pop();
            let o = &self.all[index];
            let stale = o.closed || o.level != level || o.depth != depth;
            if stale {
                continue;
            }
            // What led to a reached cube need not be reached any more.
            if o.parent.is_some_and(|p| self.all[p].closed) {
                self.all[index].closed = true;
                continue;
            }
            return Some(index);
        }
        None
    }

    /// Takes a conjecture out together with what it was to help decide, conjectures all.
    pub fn give_up(&mut self, index: usize) {
        let mut next = Some(index);
        while let Some(index) = next {
            self.all[index].closed = true;
            next = self.all[index].parent;
        }
    }

    /// Number of obligations made.
    pub fn len(&self) -> usize {
        self.all.len()
    }
}
