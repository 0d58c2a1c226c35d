//! Lemmas of an engine that ended without an answer, conjoined to the clauses for the engines after
//! it.
//!
//! `pdr`, `spacer`, `interp`, `templates` and `pdkind` leave lemmas; other sources are models of
//! similar clauses from earlier runs and lemmas of other processes. Lemmas that read numbers,
//! Booleans or bit-vectors from arrays are left out: the clauses would then read the same cells,
//! and engines that look at single cells would have more cells to consider. Reads of objects
//! (datatypes) from heaps are kept, since engines look at all of these anyway.
//!
//! Invariant: a lemma is conjoined only if it is proven here to be inductive, so a wrong lemma
//! costs time but changes no verdict.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::invariants::strengthen;
use super::{Step, Transformation};
use alphorn_chc::{PredicateId, System};
use alphorn_proof::facts::{Facts, Lemmas};
use alphorn_term::run::Context;
use alphorn_term::{Op, Sort, TermId};

/// The limits for lemmas.
struct Limits {
    /// Lemmas of one predicate that are considered; further, larger ones are left out.
    max_lemmas: usize,
}

const LIMITS: Limits = Limits { max_lemmas: 200 };

/// Conjoins the lemmas that are inductive, with at most `work`.
pub(super) struct SharedLemmas {
    pub lemmas: Lemmas,
    pub work: Duration,
}

impl Transformation for SharedLemmas {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let Lemmas {
            proven, candidates, ..
        } = std::mem::take(&mut self.lemmas);
        let mut left = FxHashMap::default();
        let stages = [proven, candidates].map(|lemmas| best(old, lemmas, &mut left));
        strengthen(old, stages.into(), self.work, "lemmas", cx)
    }
}

/// The smallest of the lemmas that are quantifier-free, over formal variables only, and read no
/// scalars from arrays. `left` has the number of lemmas that may still be taken for a predicate.
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
        let left = left.entry(p).or_insert(LIMITS.max_lemmas);
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
