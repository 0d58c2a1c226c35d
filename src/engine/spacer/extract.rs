//! EXTRACTINVS: the maximal inductive subset of a proof's lemmas (MIS), by Fig. 7 or clause by clause.
//!
//! The subset is unique, since the union of two inductive sets is inductive. The same procedures tell
//! which lemmas still hold in another under-approximation, when they are asked under its
//! assumptions and bounds instead. Invariant: what is returned is inductive relative to the
//! invariants; a query without answer only makes it smaller.

use rustc_hash::{FxHashMap, FxHashSet};

use super::constraints::{Answer, Constraints, Item};
use super::options::Extraction;
use super::proof::{ALL, Lemma};
use crate::chc::System;
use crate::context::Context;
use crate::smt::SmtModel;
use crate::term::{TermId, TermStore};

/// Under what lemmas are to be inductive.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    /// Asserted: assumptions in force, bounds.
    pub asserted: &'a [TermId],
    /// Literals of invariants.
    pub invariants: &'a [TermId],
}

/// Positions of the lemmas in the maximal subset that is inductive.
pub(super) fn maximal_inductive_subset(
    constraints: &mut Constraints,
    system: &System,
    lemmas: &[Lemma],
    kind: Extraction,
    setting: Setting,
    cx: &Context,
) -> Vec<usize> {
    if lemmas.is_empty() {
        return Vec::new();
    }
    let items = constraints.items(lemmas);
    let mut search = Search {
        terms: &system.terms,
        lemmas,
        items,
        setting,
        cx,
    };
    let kept = match kind {
        Extraction::Mis => search.extract(constraints),
        Extraction::Houdini => search.by_clauses(constraints, system),
    };
    match kept {
        Some(kept) => (0..lemmas.len()).filter(|l| kept.contains(l)).collect(),
        None => Vec::new(),
    }
}

struct Search<'a> {
    terms: &'a TermStore,
    lemmas: &'a [Lemma],
    items: Vec<Item>,
    setting: Setting<'a>,
    cx: &'a Context,
}

impl Search<'_> {
    /// EXTRACTINVSIMPL of Fig. 7. `None` when a query has no answer.
    fn extract(&mut self, constraints: &mut Constraints) -> Option<FxHashSet<usize>> {
        let any: Vec<TermId> = self.items.iter().map(|i| i.b).collect();
        let mut local = self.setting.asserted.to_vec();
        local.push(self.terms.or(&any));
        constraints.add(&local);
        let mut kept: FxHashSet<usize> = (0..self.items.len()).collect();
        let complete = loop {
            match self.violated_subset(constraints, &kept) {
                Some(violated) if violated.is_empty() => break true,
                Some(violated) => kept.retain(|l| !violated.contains(l)),
                None => break false,
            }
        };
        constraints.retract();
        complete.then_some(kept)
    }

    /// MUS of Fig. 7: the lemmas that have to be given up, all of `kept` being in force.
    fn violated_subset(
        &self,
        constraints: &mut Constraints,
        kept: &FxHashSet<usize>,
    ) -> Option<FxHashSet<usize>> {
        // T = X ∪ M: the A's of those that are kept, and no other violations matter.
        let mut assumed = self.setting.invariants.to_vec();
        for item in &self.items {
            assumed.push(match kept.contains(&item.lemma) {
                true => item.a,
                false => self.terms.not(item.b),
            });
        }
        let mut given_up: FxHashSet<usize> = FxHashSet::default();
        loop {
            match constraints.check(&assumed, self.cx) {
                Answer::Unsat => return Some(given_up),
                Answer::Unknown => return None,
                Answer::Sat(model) => {
                    let before = given_up.len();
                    for lemma in self.violated(constraints, &model) {
                        if kept.contains(&lemma) && given_up.insert(lemma) {
                            assumed.push(self.terms.not(self.items[lemma].b));
                        }
                    }
                    if given_up.len() == before {
                        return None;
                    }
                }
            }
        }
    }

    /// Lemmas that a model violates. The model has the B of one of them; others of the predicate
    /// are violated as well when the head does not satisfy them and they are of no lesser height.
    fn violated(&self, constraints: &Constraints, model: &SmtModel) -> Vec<usize> {
        let told: Vec<&Item> = self.items.iter().filter(|i| model.satisfies(i.b)).collect();
        let predicates: FxHashSet<usize> = told
            .iter()
            .map(|i| self.lemmas[i.lemma].predicate)
            .collect();
        let height = constraints.height_in(model).unwrap_or(ALL);
        let also = self.items.iter().map(|i| i.lemma).filter(|&l| {
            let lemma = &self.lemmas[l];
            predicates.contains(&lemma.predicate)
                && lemma.height >= height
                && model.satisfies(self.terms.not(lemma.formula))
        });
        let mut violated: Vec<usize> = also.chain(told.iter().map(|i| i.lemma)).collect();
        violated.sort_unstable();
        violated.dedup();
        violated
    }

    /// Houdini: a work list of clauses; lemmas about the head that a clause does not preserve are given
    /// up, and the clauses that relied on them are looked at again.
    fn by_clauses(
        &mut self,
        constraints: &mut Constraints,
        system: &System,
    ) -> Option<FxHashSet<usize>> {
        let terms = self.terms;
        let query = system.predicates.len();
        let mut about: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for item in &self.items {
            let predicate = self.lemmas[item.lemma].predicate;
            about.entry(predicate).or_default().push(item.lemma);
        }
        let mut local = self.setting.asserted.to_vec();
        let mut violation: FxHashMap<usize, TermId> = FxHashMap::default();
        for (&predicate, lemmas) in &about {
            let literal = terms.fresh_var("violation", crate::term::SortId::BOOL);
            let any: Vec<TermId> = lemmas.iter().map(|&l| self.items[l].b).collect();
            local.push(terms.implies(literal, terms.or(&any)));
            violation.insert(predicate, literal);
        }
        constraints.add(&local);
        let mut kept: FxHashSet<usize> = (0..self.items.len()).collect();
        let mut uses: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let mut open: Vec<usize> = Vec::new();
        let mut waiting = vec![false; system.clauses.len()];
        for (index, clause) in system.clauses.iter().enumerate() {
            for atom in &clause.body {
                uses.entry(atom.predicate.index()).or_default().push(index);
            }
            let head = clause.head.as_ref().map_or(query, |h| h.predicate.index());
            if about.contains_key(&head) {
                open.push(index);
                waiting[index] = true;
            }
        }
        let mut complete = true;
        while let Some(index) = open.pop() {
            if self.cx.stop().is_some() {
                complete = false;
                break;
            }
            waiting[index] = false;
            let clause = &system.clauses[index];
            let head = clause.head.as_ref().map_or(query, |h| h.predicate.index());
            let mut assumed = self.setting.invariants.to_vec();
            assumed.push(constraints.edges[index]);
            assumed.push(violation[&head]);
            let mut sources: Vec<usize> = clause.body.iter().map(|a| a.predicate.index()).collect();
            sources.sort_unstable();
            sources.dedup();
            for source in sources {
                let lemmas = about.get(&source).into_iter().flatten();
                let in_force = lemmas.filter(|l| kept.contains(l));
                assumed.extend(in_force.map(|&l| self.items[l].a));
            }
            let gone = about[&head].iter().filter(|l| !kept.contains(l));
            assumed.extend(gone.map(|&l| terms.not(self.items[l].b)));
            let lost: Vec<usize> = match constraints.check(&assumed, self.cx) {
                Answer::Unsat => continue,
                Answer::Unknown => about[&head].clone(),
                Answer::Sat(model) => self.violated(constraints, &model),
            };
            let before = kept.len();
            kept.retain(|l| !lost.contains(l));
            if kept.len() == before {
                complete = false;
                break;
            }
            let again = uses.get(&head).into_iter().flatten().copied();
            for index in again.chain([index]) {
                let head = system.clauses[index].head.as_ref();
                let head = head.map_or(query, |h| h.predicate.index());
                if about.contains_key(&head) && !waiting[index] {
                    waiting[index] = true;
                    open.push(index);
                }
            }
        }
        constraints.retract();
        complete.then_some(kept)
    }
}
