//! Lemmas that an engine left behind, conjoined to the clauses for the engines after it.
//!
//! Invariant: a lemma is relied on when it is proven here, whatever its engine said of it. So an
//! engine that is wrong about its lemmas costs time, and no answer.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::invariants::strengthen;
use super::{Step, Transformation};
use alphorn_chc::{PredicateId, System};
use alphorn_proof::facts::{Facts, Lemmas};
use alphorn_term::run::Context;
use alphorn_term::{Op, Sort, TermId};

/// Lemmas of a predicate that are looked at, at most.
const LEMMAS: usize = 200;

/// Conjoins what is inductive of some lemmas, by at most this work.
pub(super) struct SharedLemmas {
    pub lemmas: Lemmas,
    pub work: Duration,
}

impl Transformation for SharedLemmas {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let Lemmas {
            proven, guesses, ..
        } = std::mem::take(&mut self.lemmas);
        let mut left = FxHashMap::default();
        let stages = [proven, guesses].map(|lemmas| best(old, lemmas, &mut left));
        strengthen(old, stages.into(), self.work, "lemmas", cx)
    }
}

/// The smallest of the lemmas without quantifiers, as many as are left of a predicate. Those that read
/// numbers and the like from arrays are left out: clauses would read what they read, and engines that
/// see single cells would have more of them to look at. Of heaps they look at all that is read anyway.
fn best(
    system: &System,
    mut lemmas: Vec<(PredicateId, TermId)>,
    left: &mut FxHashMap<PredicateId, usize>,
) -> Facts {
    let terms = &system.terms;
    lemmas.retain(|&(p, lemma)| {
        let params = &system.predicate(p).params;
        let about = |vars: Vec<TermId>| vars.iter().all(|v| params.contains(v));
        let mut reads = false;
        terms.post_order(&[lemma], |t| {
            let object = || matches!(terms.sort(terms.sort_of(t)), Sort::Datatype(_));
            reads |= *terms.op(t) == Op::Select && !object();
        });
        !reads && !terms.node(lemma).has_quantifier && about(terms.free_vars(&[lemma]))
    });
    lemmas.sort_by_cached_key(|&(_, lemma)| terms.dag_size(&[lemma]));
    let mut facts = Facts::default();
    for (p, lemma) in lemmas {
        let left = left.entry(p).or_insert(LEMMAS);
        if *left > 0 {
            *left -= 1;
            facts.entry(p).or_default().push(lemma);
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::*;
    use alphorn_term::{SortId, TermStore};

    #[test]
    fn lemmas_about_cells_of_scalars_are_left_out() {
        let terms = Rc::new(TermStore::new());
        let mut system = System::new(terms.clone());
        let array = terms.array_sort(SortId::INT, SortId::INT);
        let p = system.add_predicate("P", &[array, array, SortId::INT]);
        let params = system.predicate(p).params.clone();
        let (a, b, i) = (params[0], params[1], params[2]);
        let bound = terms.ge(i, terms.int(0));
        let equal = terms.eq(a, b);
        let cell = terms.or(&[bound, terms.eq(terms.select(a, i), terms.int(1))]);
        let lemmas = vec![(p, cell), (p, equal), (p, bound)];
        let mut kept = best(&system, lemmas, &mut FxHashMap::default());
        let kept: FxHashSet<TermId> = kept.remove(&p).unwrap_or_default().into_iter().collect();
        assert_eq!(kept, FxHashSet::from_iter([equal, bound]));
    }
}
