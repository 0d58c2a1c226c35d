//! Indexes of a system: the clauses that derive or use a predicate, the least heights of derivations,
//! and the clauses that can take part in a derivation of `false`.
//!
//! Invariant: an index names clauses by their position in the system that it was made of, and each
//! list is ascending. It is not updated when the system changes.

use super::{Clause, PredicateId, System};
use alphorn_term::TermId;

/// The clauses of a system by head and by body predicate; made in time linear in the atoms.
#[derive(Clone, Debug)]
pub struct ClauseIndex {
    deriving: Lists,
    using: Lists,
    entries: Vec<usize>,
    queries: Vec<usize>,
}

impl ClauseIndex {
    /// An index of all clauses.
    pub fn new(system: &System) -> ClauseIndex {
        ClauseIndex::of(system, 0..system.clauses.len())
    }

    /// An index of some of the clauses, given by their positions in ascending order.
    pub fn of(system: &System, clauses: impl IntoIterator<Item = usize> + Clone) -> ClauseIndex {
        let chosen = || {
            let clauses = clauses.clone().into_iter();
            clauses.map(|index| (index, &system.clauses[index]))
        };
        let mut heads = Vec::new();
        let mut bodies = Vec::new();
        let (mut entries, mut queries) = (Vec::new(), Vec::new());
        // By predicate, one more than the last clause that uses it.
        let mut last = vec![0; system.predicates.len()];
        for (index, clause) in chosen() {
            match &clause.head {
                Some(head) => heads.push((head.predicate, index)),
                None => queries.push(index),
            }
            if clause.head.is_some() && clause.body.is_empty() {
                entries.push(index);
            }
            for atom in &clause.body {
                let last = &mut last[atom.predicate.index()];
                if *last != index + 1 {
                    *last = index + 1;
                    bodies.push((atom.predicate, index));
                }
            }
        }
        let count = system.predicates.len();
        ClauseIndex {
            deriving: Lists::new(count, &heads),
            using: Lists::new(count, &bodies),
            entries,
            queries,
        }
    }

    /// The clauses with the predicate in their head.
    pub fn deriving(&self, predicate: PredicateId) -> &[usize] {
        self.deriving.get(predicate)
    }

    /// The clauses with the predicate in their body, each once.
    pub fn using(&self, predicate: PredicateId) -> &[usize] {
        self.using.get(predicate)
    }

    /// The clauses without body atoms whose head is not `false`.
    pub fn entries(&self) -> &[usize] {
        &self.entries
    }

    /// The clauses with the head `false`.
    pub fn queries(&self) -> &[usize] {
        &self.queries
    }

    /// By predicate, the least height of a derivation from the clauses of this index; `None` if there
    /// is none. Constraints are ignored, and entry clauses have height 1.
    pub fn heights(&self, system: &System) -> Vec<Option<usize>> {
        let count = system.predicates.len();
        let mut heights: Vec<Option<usize>> = vec![None; count];
        // By clause, the number of different body predicates without a derivation so far.
        let mut missing = vec![0; system.clauses.len()];
        for &clause in &self.using.items {
            missing[clause] += 1;
        }
        let head = |clause: usize| system.clauses[clause].head.as_ref().map(|h| h.predicate);
        // Breadth first: a clause derives its head in the round after its last premise.
        let mut round = 0;
        let mut ready: Vec<PredicateId> = self.entries.iter().filter_map(|&c| head(c)).collect();
        while !ready.is_empty() {
            round += 1;
            let mut next = Vec::new();
            for predicate in ready {
                if heights[predicate.index()].is_some() {
                    continue;
                }
                heights[predicate.index()] = Some(round);
                for &user in self.using(predicate) {
                    missing[user] -= 1;
                    if missing[user] == 0 {
                        next.extend(head(user));
                    }
                }
            }
            ready = next;
        }
        heights
    }
}

/// A list of clauses for each predicate, in one vector.
#[derive(Clone, Debug)]
struct Lists {
    /// The start of each predicate's list, and the end of the last one.
    starts: Vec<usize>,
    items: Vec<usize>,
}

impl Lists {
    /// The lists of these pairs of predicate and clause; the order within a list is kept.
    fn new(predicates: usize, pairs: &[(PredicateId, usize)]) -> Lists {
        let mut starts = vec![0; predicates + 1];
        for (predicate, _) in pairs {
            starts[predicate.index() + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut items = vec![0; pairs.len()];
        for (predicate, clause) in pairs {
            let next = &mut next[predicate.index()];
            items[*next] = *clause;
            *next += 1;
        }
        Lists { starts, items }
    }

    /// The list of a predicate; empty for predicates that were added later.
    fn get(&self, predicate: PredicateId) -> &[usize] {
        match self.starts.get(predicate.index()..predicate.index() + 2) {
            Some(&[start, end]) => &self.items[start..end],
            _ => &[],
        }
    }
}

/// Which predicates have a derivation, and which clauses can take part in one of `false`, by the
/// dependencies between predicates.
///
/// Constraints are ignored, except that a clause with the constraint `false` derives nothing. So
/// this over-approximates which predicates have facts, and heights are lower bounds.
#[derive(Clone, Debug)]
pub struct Reachability {
    heights: Vec<Option<usize>>,
    clauses: Vec<usize>,
    index: ClauseIndex,
}

impl Reachability {
    /// Searches forward from the entry clauses, then backward from the queries, in time linear in the
    /// atoms.
    pub fn new(system: &System) -> Reachability {
        let all = 0..system.clauses.len();
        let satisfiable = |&c: &usize| system.clauses[c].constraint != TermId::FALSE;
        let forward = ClauseIndex::of(system, all.filter(satisfiable));
        let heights = forward.heights(system);
        let derivable = |&clause: &usize| {
            let body = &system.clauses[clause].body;
            body.iter().all(|a| heights[a.predicate.index()].is_some())
        };

        let mut open = forward.queries.clone();
        let mut used = vec![false; system.predicates.len()];
        let mut clauses = Vec::new();
        while let Some(index) = open.pop() {
            if !derivable(&index) {
                continue;
            }
            clauses.push(index);
            for atom in &system.clauses[index].body {
                if !std::mem::replace(&mut used[atom.predicate.index()], true) {
                    open.extend(forward.deriving(atom.predicate));
                }
            }
        }
        clauses.sort_unstable();
        let index = ClauseIndex::of(system, clauses.iter().copied());
        Reachability {
            heights,
            clauses,
            index,
        }
    }

    /// The least height of a derivation of the predicate; `None` if there is none. Entry clauses have
    /// height 1.
    pub fn height(&self, predicate: PredicateId) -> Option<usize> {
        self.heights[predicate.index()]
    }

    /// The least height of a derivation whose last step is this clause; `None` if there is none.
    pub fn clause_height(&self, clause: &Clause) -> Option<usize> {
        let mut highest = 0;
        for atom in &clause.body {
            highest = highest.max(self.height(atom.predicate)?);
        }
        Some(highest + 1)
    }

    /// Whether the predicate has a derivation.
    pub fn is_derivable(&self, predicate: PredicateId) -> bool {
        self.height(predicate).is_some()
    }

    /// The clauses that can take part in a derivation of `false`, ascending: their body predicates
    /// have derivations, and a query depends on their head. Empty if no query has a derivation.
    pub fn clauses(&self) -> &[usize] {
        &self.clauses
    }

    /// An index of these clauses.
    pub fn index(&self) -> &ClauseIndex {
        &self.index
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::Atom;
    use alphorn_term::TermStore;

    /// A system of clauses over predicates without arguments, given as bodies and heads.
    fn system(predicates: usize, clauses: &[(&[usize], Option<usize>)]) -> System {
        let mut system = System::new(Rc::new(TermStore::new()));
        let ids: Vec<PredicateId> = (0..predicates)
            .map(|i| system.add_predicate(&format!("P{i}"), &[]))
            .collect();
        let atom = |&i: &usize| Atom {
            predicate: ids[i],
            args: vec![],
        };
        for (body, head) in clauses {
            let body = body.iter().map(atom).collect();
            system.add_clause(body, TermId::TRUE, head.as_ref().map(atom));
        }
        system
    }

    #[test]
    fn clauses_are_found_by_head_and_by_body() {
        let system = system(
            3,
            &[
                (&[], Some(1)),
                (&[1, 0, 1], Some(1)),
                (&[1], None),
                (&[], None),
            ],
        );
        let index = ClauseIndex::new(&system);
        assert_eq!(index.deriving(PredicateId(1)), [0, 1]);
        assert!(index.deriving(PredicateId(0)).is_empty());
        assert_eq!(index.using(PredicateId(0)), [1]);
        assert_eq!(index.using(PredicateId(1)), [1, 2]);
        assert!(index.using(PredicateId(2)).is_empty());
        assert!(index.using(PredicateId(3)).is_empty());
        assert_eq!(index.entries(), [0]);
        assert_eq!(index.queries(), [2, 3]);
        let some = ClauseIndex::of(&system, [1, 3]);
        assert_eq!(some.deriving(PredicateId(1)), [1]);
        assert_eq!(some.using(PredicateId(1)), [1]);
        assert!(some.entries().is_empty());
        assert_eq!(some.queries(), [3]);
    }

    #[test]
    fn heights_and_relevance_follow_the_dependencies() {
        let mut system = system(
            6,
            &[
                (&[], Some(0)),
                (&[0], Some(1)),
                (&[0, 1], Some(2)),
                (&[3], Some(3)),
                (&[], Some(4)),
                (&[2], Some(5)),
                (&[2, 2], None),
                (&[3], None),
            ],
        );
        system.clauses[4].constraint = TermId::FALSE;
        let reachability = Reachability::new(&system);
        let ids = || (0..6).map(PredicateId);
        let heights: Vec<Option<usize>> = ids().map(|p| reachability.height(p)).collect();
        assert_eq!(heights, [Some(1), Some(2), Some(3), None, None, Some(4)]);
        let used: Vec<usize> = ids().map(|p| reachability.index().using(p).len()).collect();
        assert_eq!(used, [2, 1, 1, 0, 0, 0]);
        assert_eq!(reachability.clauses(), [0, 1, 2, 6]);
        assert_eq!(reachability.index().queries(), [6]);
        assert_eq!(reachability.clause_height(&system.clauses[6]), Some(4));
        assert_eq!(reachability.clause_height(&system.clauses[7]), None);
        // An index ignores constraints.
        let all = ClauseIndex::new(&system).heights(&system);
        assert_eq!(all[4], Some(1));
    }

    #[test]
    fn nothing_is_relevant_when_no_query_can_be_derived() {
        let system = system(2, &[(&[], Some(0)), (&[1, 0], Some(1)), (&[0, 1], None)]);
        let reachability = Reachability::new(&system);
        assert!(reachability.clauses().is_empty());
        assert!(reachability.is_derivable(PredicateId(0)));
        assert!(!reachability.is_derivable(PredicateId(1)));
    }
}
