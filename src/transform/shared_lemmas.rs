//! Lemmas that an engine left behind, conjoined to the clauses for the engines after it.
//!
//! Invariant: a lemma is relied on when it is proven here, whatever its engine said of it. So an
//! engine that is wrong about its lemmas costs time, and no answer.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::invariants::strengthen;
use super::{Step, Transformation};
use crate::chc::{PredicateId, System};
use crate::proof::facts::{Facts, Lemmas};
use crate::run::Context;
use crate::term::TermId;

/// Lemmas of a predicate that are looked at, at most.
const LEMMAS: usize = 200;

/// Conjoins what is inductive of some lemmas, by at most this work.
pub(super) struct SharedLemmas {
    pub lemmas: Lemmas,
    pub work: Duration,
}

impl Transformation for SharedLemmas {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let Lemmas { proven, guesses } = std::mem::take(&mut self.lemmas);
        let mut left = FxHashMap::default();
        let stages = [proven, guesses].map(|lemmas| best(old, lemmas, &mut left));
        strengthen(old, stages.into(), self.work, "lemmas", cx)
    }
}

/// The smallest of the lemmas without quantifiers, as many as are left of a predicate.
fn best(
    system: &System,
    mut lemmas: Vec<(PredicateId, TermId)>,
    left: &mut FxHashMap<PredicateId, usize>,
) -> Facts {
    let terms = &system.terms;
    lemmas.retain(|&(p, lemma)| {
        let params = &system.predicate(p).params;
        let about = |vars: Vec<TermId>| vars.iter().all(|v| params.contains(v));
        !terms.node(lemma).has_quantifier && about(terms.free_vars(&[lemma]))
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
