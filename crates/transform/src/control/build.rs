//! Builds the system along a control-flow graph.
//!
//! Invariant: each valuation of a predicate becomes a predicate of its own, without the arguments
//! that were split on. Each edge becomes a clause that records its old clause and the values.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::super::Step;
use super::super::replacement::{Meaning, Origin, Replacement};
use super::explore::{Edge, Graph};
use alphorn_chc::{Atom, Clause, PredicateId, System};
use alphorn_term::{SortId, TermId};

/// A predicate that was split.
struct Split {
    positions: Vec<usize>,
    /// By the number of the valuation.
    parts: Vec<Part>,
}

/// The new predicate for one valuation.
struct Part {
    values: Vec<TermId>,
    predicate: PredicateId,
}

impl Graph {
    /// The system with the edges in place of their clauses, and its back-translation.
    pub fn build(self, old: &Rc<System>) -> Step {
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        let mut splits: FxHashMap<PredicateId, Split> = FxHashMap::default();
        let mut choice: Vec<(PredicateId, Vec<usize>)> = self.choice.into_iter().collect();
        choice.sort_unstable();
        for (predicate, positions) in choice {
            // The predicate is false at valuations that were not reached.
            replacement.refute(predicate);
            let valuations = self.valuations.get(&predicate).cloned().unwrap_or_default();
            let part =
                |values| split_off(&mut system, predicate, &positions, values, &mut replacement);
            let parts = valuations.into_iter().map(part).collect();
            splits.insert(predicate, Split { positions, parts });
        }
        log::debug!(
            "{} predicates split into {}, {} edges",
            splits.len(),
            splits.values().map(|s| s.parts.len()).sum::<usize>(),
            self.edges.len()
        );
        let mut of_clause: FxHashMap<usize, Vec<Edge>> = FxHashMap::default();
        for edge in self.edges {
            of_clause.entry(edge.clause).or_default().push(edge);
        }
        system.clauses.clear();
        for (index, clause) in old.clauses.iter().enumerate() {
            if !clause.atoms().any(|a| splits.contains_key(&a.predicate)) {
                system.clauses.push(clause.clone());
                continue;
            }
            for edge in of_clause.remove(&index).unwrap_or_default() {
                let mut values = Vec::new();
                let mut atoms = clause.atoms().zip(&edge.valuations).map(|(atom, &number)| {
                    let Some(split) = splits.get(&atom.predicate) else {
                        return atom.clone();
                    };
                    let part = &split.parts[number];
                    let fixed = split.positions.iter().map(|&p| atom.args[p]);
                    values.extend(fixed.zip(part.values.iter().copied()));
                    Atom {
                        predicate: part.predicate,
                        args: rest(&atom.args, &split.positions).collect(),
                    }
                });
                let body: Vec<Atom> = atoms.by_ref().take(clause.body.len()).collect();
                let head = atoms.next();
                let id = system.fresh_clause_id();
                system.clauses.push(Clause {
                    id,
                    body,
                    constraint: edge.constraint,
                    head,
                });
                replacement.note(id, Origin::new(clause.id, values));
            }
        }
        replacement.step(system)
    }
}

/// Adds a predicate for the facts that have these values at these positions.
fn split_off(
    system: &mut System,
    predicate: PredicateId,
    positions: &[usize],
    values: Vec<TermId>,
    replacement: &mut Replacement,
) -> Part {
    let terms = system.terms.clone();
    let old = system.predicate(predicate).clone();
    let kept: Vec<TermId> = rest(&old.params, positions).collect();
    let sorts: Vec<SortId> = kept.iter().map(|&p| terms.sort_of(p)).collect();
    let new = system.add_predicate(&old.name, &sorts);
    let equations = positions.iter().zip(&values);
    let equations: Vec<TermId> = equations
        .map(|(&p, &v)| terms.eq(old.params[p], v))
        .collect();
    let params = system.predicate(new).params.iter().copied();
    let meanings = params.zip(kept.into_iter().map(Meaning::Term)).collect();
    replacement.add_case(predicate, new, meanings, terms.and(&equations));
    Part {
        values,
        predicate: new,
    }
}

/// The items that are not at one of the positions, which are ascending.
fn rest<'a>(items: &'a [TermId], positions: &'a [usize]) -> impl Iterator<Item = TermId> + 'a {
    let kept = |i: &usize| positions.binary_search(i).is_err();
    (0..items.len()).filter(kept).map(|i| items[i])
}
