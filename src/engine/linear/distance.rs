//! What the predicates' dependencies alone say about derivations.
//!
//! Invariant: constraints count only when they are literally `false`; so everything here is a
//! sound bound for the clauses with their constraints.

use crate::chc::{Clause, PredicateId, System};
use crate::term::TermId;

/// Bounds on derivations, and the clauses that can take part in one of `false`.
pub(in crate::engine) struct Distances {
    /// By predicate: least height of a derivation (an entry clause gives 1); `None` when nothing
    /// derives it.
    pub height: Vec<Option<usize>>,
    /// Indexes of the clauses all of whose body atoms are derivable and whose head can be used for
    /// a query, ascending. Empty when no query can be derived.
    pub relevant: Vec<usize>,
    /// By predicate: the relevant clauses with it as head, ascending.
    pub by_head: Vec<Vec<usize>>,
    /// The relevant queries, ascending.
    pub queries: Vec<usize>,
}

impl Distances {
    /// Two passes over the clauses, linear in their atoms.
    pub fn new(system: &System) -> Self {
        let height = heights(system);
        let derivable = |clause: &Clause| {
            clause
                .body
                .iter()
                .all(|a| height[a.predicate.index()].is_some())
        };
        let possible: Vec<bool> = system
            .clauses
            .iter()
            .map(|c| c.constraint != TermId::FALSE && derivable(c))
            .collect();

        // Backward from the queries.
        let mut by_head: Vec<Vec<usize>> = vec![Vec::new(); system.predicates.len()];
        let mut work = Vec::new();
        for (index, clause) in system.clauses.iter().enumerate() {
            match &clause.head {
                _ if !possible[index] => {}
                Some(head) => by_head[head.predicate.index()].push(index),
                None => work.push(index),
            }
        }
        let queries = work.clone();
        let mut used = vec![false; system.predicates.len()];
        let mut relevant = Vec::new();
        while let Some(index) = work.pop() {
            relevant.push(index);
            for atom in &system.clauses[index].body {
                let predicate = atom.predicate.index();
                if !std::mem::replace(&mut used[predicate], true) {
                    work.extend(&by_head[predicate]);
                }
            }
        }
        relevant.sort_unstable();
        for (clauses, used) in by_head.iter_mut().zip(used) {
            if !used {
                clauses.clear();
            }
        }
        Distances {
            height,
            relevant,
            by_head,
            queries,
        }
    }

    /// Least height of a derivation whose last step is this clause; `None` for none.
    pub fn clause_height(&self, clause: &Clause) -> Option<usize> {
        let mut highest = 0;
        for atom in &clause.body {
            highest = highest.max(self.height[atom.predicate.index()]?);
        }
        Some(highest + 1)
    }
}

/// Least heights by breadth-first search: a clause fires in the round after its last body atom.
fn heights(system: &System) -> Vec<Option<usize>> {
    let mut height: Vec<Option<usize>> = vec![None; system.predicates.len()];
    let mut uses: Vec<Vec<usize>> = vec![Vec::new(); system.predicates.len()];
    let mut missing: Vec<usize> = Vec::with_capacity(system.clauses.len());
    let mut ready: Vec<PredicateId> = Vec::new();
    for (index, clause) in system.clauses.iter().enumerate() {
        missing.push(clause.body.len());
        for atom in &clause.body {
            uses[atom.predicate.index()].push(index);
        }
        if let Some(head) = &clause.head
            && clause.body.is_empty()
            && clause.constraint != TermId::FALSE
        {
            ready.push(head.predicate);
        }
    }
    let mut round = 0;
    while !ready.is_empty() {
        round += 1;
        let mut next = Vec::new();
        for predicate in ready {
            if height[predicate.index()].is_some() {
                continue;
            }
            height[predicate.index()] = Some(round);
            for &index in &uses[predicate.index()] {
                // Once for each occurrence in the body.
                missing[index] -= 1;
                let clause = &system.clauses[index];
                if let Some(head) = &clause.head
                    && missing[index] == 0
                    && clause.constraint != TermId::FALSE
                {
                    next.push(head.predicate);
                }
            }
        }
        ready = next;
    }
    height
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::chc::Atom;
    use crate::term::TermStore;

    #[test]
    fn heights_and_relevance_follow_the_dependencies() {
        let mut system = System::new(Rc::new(TermStore::new()));
        let p: Vec<PredicateId> = (0..6)
            .map(|i| system.add_predicate(&format!("P{i}"), &[]))
            .collect();
        let atom = |i: usize| Atom {
            predicate: p[i],
            args: vec![],
        };
        let yes = TermId::TRUE;
        system.add_clause(vec![], yes, Some(atom(0)));
        system.add_clause(vec![atom(0)], yes, Some(atom(1)));
        system.add_clause(vec![atom(0), atom(1)], yes, Some(atom(2)));
        system.add_clause(vec![atom(3)], yes, Some(atom(3)));
        system.add_clause(vec![], TermId::FALSE, Some(atom(4)));
        system.add_clause(vec![atom(2)], yes, Some(atom(5)));
        system.add_clause(vec![atom(2), atom(2)], yes, None);
        system.add_clause(vec![atom(3)], yes, None);
        let d = Distances::new(&system);
        assert_eq!(d.height, [Some(1), Some(2), Some(3), None, None, Some(4)]);
        assert_eq!(d.relevant, [0, 1, 2, 6]);
        assert_eq!(d.queries, [6]);
        assert_eq!(d.clause_height(&system.clauses[6]), Some(4));
    }
}
