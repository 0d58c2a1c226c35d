//! EXTRACTINVS: the maximal inductive subset of a proof's lemmas (MIS), by Fig. 7 or clause by clause.
//!
//! The subset is unique, since the union of two inductive sets is inductive. The same procedures tell
//! which lemmas still hold in another under-approximation, when they are asked under its
//! assumptions and bounds instead. Invariant: what is returned is inductive relative to the
//! invariants; a query without answer only makes it smaller.

use rustc_hash::{FxHashMap, FxHashSet};

use super::constraints::{Answer, Constraints, Item, Part};
use super::options::Extraction;
use super::proof::{ALL, Lemma};
use crate::chc::{Clause, System};
use crate::run::Context;
use crate::smt::SmtModel;
use crate::term::{TermId, TermStore};

/// Under what lemmas are to be inductive.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    /// Assumptions in force; `None` for all.
    pub in_force: Option<&'a FxHashSet<TermId>>,
    pub bounds: &'a [TermId],
    pub invariants: &'a [Invariant],
}

/// An invariant's literals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Invariant {
    pub predicate: usize,
    /// Puts it in force at sources.
    pub source: TermId,
    /// Puts it in force at targets.
    pub target: TermId,
}

/// The literals of the invariants that the clauses for a predicate have to do with.
pub(super) fn invariants_of(part: &Part, predicate: usize, all: &[Invariant]) -> Vec<TermId> {
    let mut literals = Vec::new();
    for invariant in all {
        if part.sources.binary_search(&invariant.predicate).is_ok() {
            literals.push(invariant.source);
        }
        if invariant.predicate == predicate {
            literals.push(invariant.target);
        }
    }
    literals
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
    let mut about: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for item in &items {
        about.entry(item.predicate).or_default().push(item.lemma);
    }
    let mut predicates: Vec<usize> = about.keys().copied().collect();
    predicates.sort_unstable();
    let invariants = |&p: &usize| invariants_of(constraints.part(p), p, setting.invariants);
    let search = Search {
        terms: &system.terms,
        lemmas,
        invariants: predicates.iter().map(invariants).collect(),
        items,
        about,
        predicates,
        cx,
    };
    search.add(constraints, setting);
    let kept = match kind {
        Extraction::Mis => search.extract(constraints),
        Extraction::Houdini => search.by_clauses(constraints, system),
    };
    for &predicate in &search.predicates {
        constraints.retract(predicate);
    }
    match kept {
        Some(kept) => (0..lemmas.len()).filter(|l| kept.contains(l)).collect(),
        None => Vec::new(),
    }
}

struct Search<'a> {
    terms: &'a TermStore,
    lemmas: &'a [Lemma],
    items: Vec<Item>,
    /// Positions of the lemmas about a predicate.
    about: FxHashMap<usize, Vec<usize>>,
    /// Those that lemmas are about, and the literals of the invariants there.
    predicates: Vec<usize>,
    invariants: Vec<Vec<TermId>>,
    cx: &'a Context,
}

impl Search<'_> {
    /// Asserts for each predicate what is in force, and that one of its lemmas is violated.
    fn add(&self, constraints: &mut Constraints, setting: Setting) {
        for &predicate in &self.predicates {
            let own = constraints.part(predicate).assumptions.iter().copied();
            let in_force = |a: &TermId| setting.in_force.is_none_or(|chosen| chosen.contains(a));
            let mut local: Vec<TermId> = own.filter(in_force).collect();
            local.extend(setting.bounds);
            let lemmas = self.about[&predicate].iter();
            let any: Vec<TermId> = lemmas.map(|&l| self.items[l].b).collect();
            local.push(self.terms.or(&any));
            constraints.add(predicate, &local);
        }
    }

    /// What is assumed about the sources of a predicate's clauses, and that no lemma is violated of those
    /// that are given up already.
    fn assumed(&self, at: usize, sources: &[usize], kept: &FxHashSet<usize>) -> Vec<TermId> {
        let mut assumed = self.invariants[at].clone();
        for source in sources {
            let lemmas = self.about.get(source).into_iter().flatten();
            let in_force = lemmas.filter(|l| kept.contains(l));
            assumed.extend(in_force.map(|&l| self.items[l].a));
        }
        let gone = self.about[&self.predicates[at]].iter();
        let gone = gone.filter(|l| !kept.contains(l));
        assumed.extend(gone.map(|&l| self.terms.not(self.items[l].b)));
        assumed
    }

    /// EXTRACTINVSIMPL of Fig. 7. `None` when a query has no answer.
    fn extract(&self, constraints: &mut Constraints) -> Option<FxHashSet<usize>> {
        let mut kept: FxHashSet<usize> = (0..self.items.len()).collect();
        loop {
            let violated = self.violated_subset(constraints, &kept)?;
            if violated.is_empty() {
                return Some(kept);
            }
            kept.retain(|l| !violated.contains(l));
        }
    }

    /// MUS of Fig. 7: the lemmas that have to be given up, all of `kept` being in force.
    fn violated_subset(
        &self,
        constraints: &mut Constraints,
        kept: &FxHashSet<usize>,
    ) -> Option<FxHashSet<usize>> {
        let mut given_up: FxHashSet<usize> = FxHashSet::default();
        for (at, &predicate) in self.predicates.iter().enumerate() {
            // T = X ∪ M: the A's of those that are kept, and no other violations matter.
            let mut assumed = self.assumed(at, &constraints.part(predicate).sources, kept);
            loop {
                match constraints.check(predicate, &assumed, self.cx) {
                    Answer::Unsat => break,
                    Answer::Unknown => return None,
                    Answer::Sat(model) => {
                        let before = given_up.len();
                        for lemma in self.violated(constraints, predicate, &model) {
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
        Some(given_up)
    }

    /// Lemmas about a predicate that a model violates. The model has the B of one of them; others
    /// are violated as well when the head does not satisfy them and they are of no lesser height.
    fn violated(
        &self,
        constraints: &Constraints,
        predicate: usize,
        model: &SmtModel,
    ) -> Vec<usize> {
        let height = constraints.height_in(model).unwrap_or(ALL);
        let violated = self.about[&predicate].iter().copied().filter(|&l| {
            let lemma = &self.lemmas[l];
            model.satisfies(self.items[l].b)
                || (lemma.height >= height && model.satisfies(self.terms.not(lemma.formula)))
        });
        violated.collect()
    }

    /// Houdini: a work list of clauses; lemmas about the head that a clause does not preserve are given
    /// up, and the clauses that relied on them are looked at again.
    fn by_clauses(
        &self,
        constraints: &mut Constraints,
        system: &System,
    ) -> Option<FxHashSet<usize>> {
        let query = system.predicates.len();
        let head_of = |clause: &Clause| clause.head.as_ref().map_or(query, |h| h.predicate.index());
        let mut kept: FxHashSet<usize> = (0..self.items.len()).collect();
        let mut uses: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let mut open: Vec<usize> = Vec::new();
        let mut waiting = vec![false; system.clauses.len()];
        for (index, clause) in system.clauses.iter().enumerate() {
            for atom in &clause.body {
                uses.entry(atom.predicate.index()).or_default().push(index);
            }
            if self.about.contains_key(&head_of(clause)) {
                open.push(index);
                waiting[index] = true;
            }
        }
        while let Some(index) = open.pop() {
            if self.cx.stop().is_some() {
                return None;
            }
            waiting[index] = false;
            let clause = &system.clauses[index];
            let head = head_of(clause);
            let at = self.predicates.binary_search(&head).ok()?;
            let mut sources: Vec<usize> = clause.body.iter().map(|a| a.predicate.index()).collect();
            sources.sort_unstable();
            sources.dedup();
            let mut assumed = self.assumed(at, &sources, &kept);
            assumed.push(constraints.edges[index]);
            let lost: Vec<usize> = match constraints.check(head, &assumed, self.cx) {
                Answer::Unsat => continue,
                Answer::Unknown => self.about[&head].clone(),
                Answer::Sat(model) => self.violated(constraints, head, &model),
            };
            let before = kept.len();
            kept.retain(|l| !lost.contains(l));
            if kept.len() == before {
                return None;
            }
            let again = uses.get(&head).into_iter().flatten().copied();
            for index in again.chain([index]) {
                let concerned = self.about.contains_key(&head_of(&system.clauses[index]));
                if concerned && !waiting[index] {
                    waiting[index] = true;
                    open.push(index);
                }
            }
        }
        Some(kept)
    }
}
