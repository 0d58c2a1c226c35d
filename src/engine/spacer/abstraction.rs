//! ABSTRACT: the assumptions that a proof needs.
//!
//! All of Σ is assumed, not only what was abstracted to before, so an abstraction may also move. The
//! paper hopes that a core uses the necessary lemmas only; but each lemma of the proof is to be proved
//! again, so all of them are used. Here the lemmas that `false` needs are collected first, by cores.
//!
//! Invariant: under the assumptions returned the needed lemmas are a proof of the under-approximation.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::constraints::{Answer, Constraints, Item};
use super::mus::{Effort, minimal};
use super::options::Options;
use super::proof::Lemma;
use crate::context::Context;
use crate::term::{TermId, TermStore};

/// What is given besides the proof.
pub(super) struct Given<'a> {
    pub terms: &'a TermStore,
    /// Σ; those that come first are likelier to stay.
    pub assumptions: &'a [TermId],
    /// Bounds and invariants.
    pub assumed: &'a [TermId],
    /// The number of `false`.
    pub query: usize,
}

/// The assumptions that a proof needs; `None` when it is not found to be one.
pub(super) fn abstraction(
    constraints: &mut Constraints,
    lemmas: &[Lemma],
    given: &Given,
    options: &Options,
    cx: &Context,
) -> Option<FxHashSet<TermId>> {
    let items = constraints.items(lemmas);
    let (needed, used) = match options.needed_lemmas {
        true => needed(constraints, lemmas, &items, given, cx)?,
        false => (
            (0..items.len()).collect(),
            given.assumptions.iter().copied().collect(),
        ),
    };
    let mut hard = given.assumed.to_vec();
    hard.extend(needed.iter().map(|&l| items[l].a));
    let soft: Vec<TermId> = given
        .assumptions
        .iter()
        .copied()
        .filter(|a| used.contains(a))
        .collect();
    let violated: Vec<TermId> = needed.iter().map(|&l| items[l].b).collect();
    constraints.add(&[given.terms.or(&violated)]);
    let effort = Effort {
        queries: options.core_queries,
        until: None,
    };
    let core = minimal(constraints.solver(), &hard, &soft, effort, cx);
    constraints.retract();
    Some(core?.into_iter().collect())
}

/// Positions of the lemmas that `false` needs, and how many assumptions; `None` when they are not found
/// to be a proof.
pub(super) fn needed_lemmas(
    constraints: &mut Constraints,
    lemmas: &[Lemma],
    given: &Given,
    cx: &Context,
) -> Option<(Vec<usize>, usize)> {
    let items = constraints.items(lemmas);
    let (lemmas, used) = needed(constraints, lemmas, &items, given, cx)?;
    let assumptions = given.assumptions.iter().filter(|a| used.contains(a));
    Some((lemmas, assumptions.count()))
}

/// Backward from `false`: the lemmas in the core of each needed lemma, and all assumptions in these
/// cores.
fn needed(
    constraints: &mut Constraints,
    lemmas: &[Lemma],
    items: &[Item],
    given: &Given,
    cx: &Context,
) -> Option<(Vec<usize>, FxHashSet<TermId>)> {
    let mut assumed: Vec<TermId> = given.assumed.to_vec();
    assumed.extend(given.assumptions);
    assumed.extend(items.iter().map(|i| i.a));
    let mut used: FxHashSet<TermId> = FxHashSet::default();
    let mut queue: VecDeque<usize> = (0..lemmas.len())
        .filter(|&l| lemmas[l].predicate == given.query)
        .collect();
    let mut found: Vec<usize> = queue.iter().copied().collect();
    let mut seen: FxHashSet<usize> = found.iter().copied().collect();
    if found.is_empty() {
        return None;
    }
    while let Some(lemma) = queue.pop_front() {
        assumed.push(items[lemma].b);
        let answer = constraints.check(&assumed, cx);
        assumed.pop();
        let Answer::Unsat = answer else {
            log::debug!("a lemma of a proof is not proved: {:?}", lemmas[lemma]);
            return None;
        };
        let core: FxHashSet<TermId> = constraints.core().into_iter().collect();
        for item in items {
            if core.contains(&item.a) && seen.insert(item.lemma) {
                found.push(item.lemma);
                queue.push_back(item.lemma);
            }
        }
        used.extend(core);
    }
    Some((found, used))
}
