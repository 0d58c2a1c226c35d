//! ABSTRACT: the assumptions that a proof needs.
//!
//! All of Σ is assumed, not only what was abstracted to before, so an abstraction may also move. The
//! paper hopes that a core uses the necessary lemmas only; but each lemma of the proof is to be proved
//! again, so all of them are used. Here the lemmas that `false` needs are collected first, by cores.
//!
//! Whether the lemmas about a predicate are proved again depends on its own clauses alone, so each
//! predicate has a core of its own (the paper takes one for the whole program: the union of minimal
//! cores here is minimal there).
//!
//! Invariant: under the assumptions returned the needed lemmas are a proof of the under-approximation.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::constraints::{Answer, Constraints, Item};
use super::extract::{Invariant, invariants_of};
use super::mus::{Effort, minimal};
use super::proof::Lemma;
use super::search::CORE_QUERIES;
use crate::chc::System;
use crate::run::Context;
use crate::term::TermId;

/// What is given besides the proof.
pub(super) struct Given<'a> {
    pub system: &'a System,
    /// Assumptions that are likelier to stay, where there is a choice.
    pub preferred: &'a FxHashSet<TermId>,
    pub bounds: &'a [TermId],
    pub invariants: &'a [Invariant],
}

/// A proof, ready to be asked about.
struct Proof<'a> {
    lemmas: &'a [Lemma],
    items: Vec<Item>,
    /// Positions of the lemmas about a predicate.
    about: FxHashMap<usize, Vec<usize>>,
    given: &'a Given<'a>,
}

impl<'a> Proof<'a> {
    fn new(constraints: &mut Constraints, lemmas: &'a [Lemma], given: &'a Given<'a>) -> Self {
        let items = constraints.items(lemmas);
        let mut about: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for item in &items {
            about.entry(item.predicate).or_default().push(item.lemma);
        }
        Proof {
            lemmas,
            items,
            about,
            given,
        }
    }

    fn lemmas_about(&self, predicate: usize) -> &[usize] {
        self.about.get(&predicate).map_or(&[], Vec::as_slice)
    }

    /// Bounds and the invariants that the clauses for a predicate have to do with.
    fn assumed(&self, constraints: &Constraints, predicate: usize) -> Vec<TermId> {
        let part = constraints.part(predicate);
        let mut assumed = invariants_of(part, predicate, self.given.invariants);
        assumed.extend(self.given.bounds);
        assumed
    }

    /// Backward from `false`: the lemmas in the core of each needed lemma, and all assumptions in these
    /// cores. `None` when they are not found to be a proof.
    fn needed(
        &self,
        constraints: &mut Constraints,
        cx: &Context,
    ) -> Option<(Vec<usize>, FxHashSet<TermId>)> {
        let query = self.given.system.predicates.len();
        let mut used: FxHashSet<TermId> = FxHashSet::default();
        let mut found: Vec<usize> = self.lemmas_about(query).to_vec();
        let mut queue: VecDeque<usize> = found.iter().copied().collect();
        let mut seen: FxHashSet<usize> = found.iter().copied().collect();
        if found.is_empty() {
            return None;
        }
        while let Some(lemma) = queue.pop_front() {
            let predicate = self.lemmas[lemma].predicate;
            let mut assumed = self.assumed(constraints, predicate);
            let part = constraints.part(predicate);
            let sources = part.sources.iter();
            let premises = sources.flat_map(|&s| self.lemmas_about(s)).copied();
            let premises: Vec<usize> = premises.collect();
            assumed.extend(&part.assumptions);
            assumed.extend(premises.iter().map(|&l| self.items[l].a));
            assumed.push(self.items[lemma].b);
            let Answer::Unsat = constraints.check(predicate, &assumed, cx) else {
                log::debug!("a lemma of a proof is not proved: {:?}", self.lemmas[lemma]);
                return None;
            };
            let core: FxHashSet<TermId> = constraints.core(predicate).into_iter().collect();
            for premise in premises {
                if core.contains(&self.items[premise].a) && seen.insert(premise) {
                    found.push(premise);
                    queue.push_back(premise);
                }
            }
            let own = constraints.part(predicate).assumptions.iter();
            used.extend(own.filter(|a| core.contains(a)));
        }
        Some((found, used))
    }
}

/// The assumptions that a proof needs; `None` when it is not found to be one.
pub(super) fn abstraction(
    constraints: &mut Constraints,
    lemmas: &[Lemma],
    given: &Given,
    cx: &Context,
) -> Option<FxHashSet<TermId>> {
    let proof = Proof::new(constraints, lemmas, given);
    let (needed, used) = proof.needed(constraints, cx)?;
    let terms = &given.system.terms;
    let mut needed_about: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for lemma in needed {
        let about = needed_about.entry(lemmas[lemma].predicate);
        about.or_default().push(lemma);
    }
    let mut core: FxHashSet<TermId> = FxHashSet::default();
    for (&predicate, lemmas) in &needed_about {
        let mut hard = proof.assumed(constraints, predicate);
        let part = constraints.part(predicate);
        let premises = part.sources.iter();
        let premises = premises.filter_map(|s| needed_about.get(s)).flatten();
        hard.extend(premises.map(|&l| proof.items[l].a));
        let own = part.assumptions.iter().copied();
        let mut soft: Vec<TermId> = own.filter(|a| used.contains(a)).collect();
        soft.sort_by_key(|a| !given.preferred.contains(a));
        let violated: Vec<TermId> = lemmas.iter().map(|&l| proof.items[l].b).collect();
        constraints.add(predicate, &[terms.or(&violated)]);
        let effort = Effort {
            queries: CORE_QUERIES,
            budget: None,
        };
        let needs = minimal(constraints.solver(predicate), &hard, &soft, effort, cx);
        constraints.retract(predicate);
        core.extend(needs?);
    }
    Some(core)
}

/// Positions of the lemmas that `false` needs, and how many assumptions; `None` when they are not found
/// to be a proof.
pub(super) fn needed_lemmas(
    constraints: &mut Constraints,
    lemmas: &[Lemma],
    given: &Given,
    cx: &Context,
) -> Option<(Vec<usize>, usize)> {
    let (lemmas, used) = Proof::new(constraints, lemmas, given).needed(constraints, cx)?;
    Some((lemmas, used.len()))
}
