//! The cone of influence: only predicates that can be derived from facts and from which a query
//! can be reached.
//!
//! A predicate without a derivation is `false` in a model, one that no query depends on is `true`.
//! Invariant: clauses are dropped, never changed, so a refutation is one of the old system as it
//! is.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{BackError, BackTranslation, Step, TransformError, Transformation};
use crate::chc::{PredicateId, System};
use crate::run::Context;
use crate::term::TermId;
use crate::witness::{Model, Refutation};

/// The pass.
pub struct Cone;

impl Transformation for Cone {
    fn name(&self) -> &'static str {
        "cone"
    }

    fn apply(&self, mut system: System, _cx: &mut Context) -> Result<Step, TransformError> {
        let used = system.used_predicates();
        let before = system.clauses.len();

        let derivable = derivable(&system);
        let underivable: Vec<PredicateId> = used
            .iter()
            .copied()
            .filter(|p| !derivable.contains(p))
            .collect();
        system
            .clauses
            .retain(|c| c.body.iter().all(|a| derivable.contains(&a.predicate)));

        let needed = needed(&system);
        let unneeded: Vec<PredicateId> = used
            .iter()
            .copied()
            .filter(|p| derivable.contains(p) && !needed.contains(p))
            .collect();
        system.clauses.retain(|c| {
            c.head
                .as_ref()
                .is_none_or(|h| needed.contains(&h.predicate))
        });

        let changed = system.clauses.len() != before;
        Ok(Step {
            system,
            back: Box::new(Back {
                underivable,
                unneeded,
            }),
            changed,
        })
    }
}

/// Predicates that have a derivation when constraints are ignored.
fn derivable(system: &System) -> FxHashSet<PredicateId> {
    let mut occurrences: FxHashMap<PredicateId, Vec<usize>> = FxHashMap::default();
    let mut missing: Vec<usize> = Vec::with_capacity(system.clauses.len());
    for (index, clause) in system.clauses.iter().enumerate() {
        missing.push(clause.body.len());
        for atom in &clause.body {
            occurrences.entry(atom.predicate).or_default().push(index);
        }
    }
    let mut found = FxHashSet::default();
    let mut ready: Vec<usize> = (0..missing.len()).filter(|&c| missing[c] == 0).collect();
    while let Some(index) = ready.pop() {
        let Some(head) = &system.clauses[index].head else {
            continue;
        };
        if !found.insert(head.predicate) {
            continue;
        }
        for &user in occurrences.get(&head.predicate).into_iter().flatten() {
            missing[user] -= 1;
            if missing[user] == 0 {
                ready.push(user);
            }
        }
    }
    found
}

/// Predicates that some query depends on.
fn needed(system: &System) -> FxHashSet<PredicateId> {
    let mut definitions: FxHashMap<PredicateId, Vec<usize>> = FxHashMap::default();
    let mut open: Vec<usize> = Vec::new();
    for (index, clause) in system.clauses.iter().enumerate() {
        match &clause.head {
            Some(head) => definitions.entry(head.predicate).or_default().push(index),
            None => open.push(index),
        }
    }
    let mut found = FxHashSet::default();
    while let Some(index) = open.pop() {
        for atom in &system.clauses[index].body {
            if found.insert(atom.predicate) {
                open.extend(definitions.get(&atom.predicate).into_iter().flatten());
            }
        }
    }
    found
}

struct Back {
    underivable: Vec<PredicateId>,
    unneeded: Vec<PredicateId>,
}

impl BackTranslation for Back {
    fn model(&self, mut model: Model, _cx: &mut Context) -> Result<Model, BackError> {
        for &p in &self.underivable {
            model.definitions.insert(p, TermId::FALSE);
        }
        for &p in &self.unneeded {
            model.definitions.insert(p, TermId::TRUE);
        }
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        _cx: &mut Context,
    ) -> Result<Refutation, BackError> {
        Ok(refutation)
    }
}
