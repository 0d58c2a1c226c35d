//! A model without the conjuncts that no query depends on.
//!
//! What comes back through the passes says all that derives a predicate, and repeats what clauses
//! say. Cores from the queries back tell which conjuncts the proof needs.
//!
//! Invariant: what comes back passed all queries of being a model.

use rustc_hash::FxHashMap;

use super::clauses::{Clauses, Lemma, Solvers};
use super::needed_lemmas::{Given, needed_in_clauses};
use crate::chc::{PredicateId, System};
use crate::run::Context;
use crate::smt::{Arithmetic, Smt};
use crate::term::TermId;
use crate::witness::Model;

/// Conjuncts in all, at most.
const CONJUNCTS: usize = 5_000;

/// Queries for one core after the first, which tells most.
const CORE_QUERIES: usize = 10;

/// A model with some of the conjuncts of this one. `None` if all are needed, as far as is known, or
/// when a limit is met.
pub(crate) fn shrink(system: &System, model: &Model, cx: &Context) -> Option<Model> {
    let terms = &system.terms;
    let conjuncts = |(&predicate, &definition): (&PredicateId, &TermId)| {
        let parts = terms.conjuncts(definition).into_iter();
        parts.map(move |conjunct| (predicate, conjunct))
    };
    let mut all: Vec<(PredicateId, TermId)> =
        model.definitions.iter().flat_map(conjuncts).collect();
    if all.len() > CONJUNCTS {
        return None;
    }
    all.sort_unstable();
    let smt = Smt::within(&cx.budget);
    // It is the faster one where large conjunctions refute each other.
    smt.set_arithmetic(Arithmetic::Simplex);
    let mut clauses = Clauses::new(system, Solvers::PerClause, &smt);
    let mut lemma = |about, formula| clauses.lemma(about, formula, TermId::TRUE);
    let mut lemmas: Vec<Lemma> = all.iter().map(|&(p, c)| lemma(Some(p), c)).collect();
    lemmas.push(lemma(None, TermId::FALSE));
    let none = |_| Given::default();
    let needed = needed_in_clauses(&mut clauses, &lemmas, none, CORE_QUERIES, &cx.budget)?;
    if needed.lemmas.len() == lemmas.len() {
        return None;
    }
    let mut kept: FxHashMap<PredicateId, Vec<TermId>> = FxHashMap::default();
    for at in needed.lemmas {
        if let Some(&(predicate, conjunct)) = all.get(at) {
            kept.entry(predicate).or_default().push(conjunct);
        }
    }
    let definition = |&predicate: &PredicateId| {
        let conjuncts = kept.get(&predicate).map_or(&[][..], |c| c);
        (predicate, terms.and(conjuncts))
    };
    Some(Model {
        definitions: model.definitions.keys().map(definition).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::samples::{Random, is_inductive, random_lemmas, random_system};

    #[test]
    fn what_is_left_is_a_model() {
        let mut random = Random(5);
        let (mut models, mut smaller) = (0, 0);
        for _ in 0..300 {
            let system = random_system(&mut random);
            let smt = Smt::new(system.terms.clone());
            let lemmas = random_lemmas(&system, &mut random);
            let is_model = is_inductive(&system, &smt, &lemmas);
            let mut model = Model::default();
            for predicate in system.used_predicates() {
                let about = lemmas.iter().filter(|l| l.0 == Some(predicate));
                let conjuncts: Vec<TermId> = about.map(|l| l.1).collect();
                model
                    .definitions
                    .insert(predicate, system.terms.and(&conjuncts));
            }
            let found = shrink(&system, &model, &Context::new(system.terms.clone()));
            models += usize::from(is_model);
            let Some(found) = found else { continue };
            let mut kept: Vec<_> = found
                .definitions
                .iter()
                .map(|(&p, &f)| (Some(p), f))
                .collect();
            kept.push((None, TermId::FALSE));
            assert!(is_inductive(&system, &smt, &kept));
            smaller += 1;
        }
        assert!(models > 0 && smaller > 0, "{models}, {smaller}");
    }
}
