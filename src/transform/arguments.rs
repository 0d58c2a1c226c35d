//! Predicates with fewer arguments: what propagation and slicing share.
//!
//! Invariant: a predicate that loses arguments gets a new id under its old name; the variables of
//! dropped arguments become locals of their clauses.

use rustc_hash::FxHashMap;

use crate::chc::{PredicateId, System};
use crate::term::{SortId, TermId};
use crate::witness::Model;

/// Which predicate took the place of which, and which of its arguments it kept.
pub(super) struct Kept {
    predicates: Vec<Replaced>,
}

struct Replaced {
    old: PredicateId,
    new: PredicateId,
    /// Positions in the old predicate.
    kept: Vec<usize>,
    /// The new predicate's.
    params: Vec<TermId>,
}

/// Keeps only those arguments of the predicates in `keep` that are marked, everywhere.
pub(super) fn keep_arguments(system: &mut System, keep: &[(PredicateId, Vec<bool>)]) -> Kept {
    let terms = system.terms.clone();
    let mut places: FxHashMap<PredicateId, usize> = FxHashMap::default();
    let mut predicates = Vec::with_capacity(keep.len());
    for (old, marks) in keep {
        let kept: Vec<usize> = (0..marks.len()).filter(|&i| marks[i]).collect();
        let predicate = system.predicate(*old);
        let name = predicate.name.clone();
        let sorts: Vec<SortId> = kept
            .iter()
            .map(|&i| terms.sort_of(predicate.params[i]))
            .collect();
        let new = system.add_predicate(&name, &sorts);
        places.insert(*old, predicates.len());
        predicates.push(Replaced {
            old: *old,
            new,
            kept,
            params: system.predicate(new).params.clone(),
        });
    }
    for clause in &mut system.clauses {
        for atom in clause.body.iter_mut().chain(&mut clause.head) {
            if let Some(&place) = places.get(&atom.predicate) {
                let replaced = &predicates[place];
                atom.predicate = replaced.new;
                atom.args = replaced.kept.iter().map(|&i| atom.args[i]).collect();
            }
        }
    }
    Kept { predicates }
}

impl Kept {
    /// Puts the old predicates' definitions, in the old `system`, in place of the new ones', each
    /// conjoined with what `extra` says about the old predicate.
    pub(super) fn restore(
        &self,
        system: &System,
        model: &mut Model,
        extra: impl Fn(PredicateId) -> TermId,
    ) {
        let terms = &system.terms;
        for replaced in &self.predicates {
            let Some(formula) = model.definitions.remove(&replaced.new) else {
                continue;
            };
            let params = &system.predicate(replaced.old).params;
            let map: FxHashMap<TermId, TermId> = replaced
                .params
                .iter()
                .copied()
                .zip(replaced.kept.iter().map(|&i| params[i]))
                .collect();
            let formula = terms.substitute(formula, &map);
            let formula = terms.and(&[formula, extra(replaced.old)]);
            model.definitions.insert(replaced.old, formula);
        }
    }
}
