//! Numbers that are compared with each other, or belong together otherwise: classes of terms.
//!
//! Invariant: classes depend on the clauses only and are guesses about what numbers mean; a wrong one
//! costs candidates.

use rustc_hash::FxHashMap;

use alphorn_chc::System;
use alphorn_term::{Op, SortId, TermId, TermStore};

/// Sets of terms.
#[derive(Default)]
pub struct Classes {
    parent: FxHashMap<TermId, TermId>,
}

impl Classes {
    /// The term that stands for the class of a term.
    pub fn find(&mut self, term: TermId) -> TermId {
        let mut root = term;
        while let Some(&parent) = self.parent.get(&root) {
            root = parent;
        }
        let mut at = term;
        while let Some(&parent) = self.parent.get(&at) {
            if parent != root {
                self.parent.insert(at, root);
            }
            at = parent;
        }
        root
    }

    /// Makes one class of two.
    pub fn union(&mut self, a: TermId, b: TermId) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            self.parent.insert(a, b);
        }
    }

    /// Makes one class of each formal variable and the variables of atoms at its place.
    pub fn union_arguments(&mut self, system: &System) {
        for atom in system.clauses.iter().flat_map(|clause| clause.atoms()) {
            let params = &system.predicate(atom.predicate).params;
            for (&param, &arg) in params.iter().zip(&atom.args) {
                self.union(param, arg);
            }
        }
    }

    /// If a term compares two integers, makes one class of their variables, and returns these for each
    /// side.
    pub fn compare(&mut self, terms: &TermStore, term: TermId) -> Option<[Vec<TermId>; 2]> {
        let args = terms.args(term);
        let compares = matches!(terms.op(term), Op::Eq | Op::Le | Op::Ge);
        if !compares || terms.sort_of(args[0]) != SortId::INT {
            return None;
        }
        let sides = [bases(terms, args[0]), bases(terms, args[1])];
        let mut all = sides.iter().flatten();
        if let Some(&first) = all.next() {
            for &other in all {
                self.union(first, other);
            }
        }
        Some(sides)
    }
}

/// The variables of sums and cases that a number is made of.
pub(super) fn bases(terms: &TermStore, term: TermId) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut stack = vec![term];
    while let Some(t) = stack.pop() {
        match terms.op(t) {
            Op::Var(_) => found.push(t),
            Op::Add | Op::Mul => stack.extend(terms.args(t)),
            Op::Ite => stack.extend(&terms.args(t)[1..]),
            _ => {}
        }
    }
    found
}
