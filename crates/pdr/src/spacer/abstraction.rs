//! ABSTRACT: the assumptions that a proof needs.
//!
//! All of Σ is assumed, not only the part in force, so the new abstraction need not be a subset of
//! the old one. Deviations: the lemmas that `false` needs are collected first, by cores, so that
//! the others need not be proved again. Each head predicate has a core, since its lemmas follow
//! from its clauses alone; the paper has one core for the whole program.
//!
//! Invariant: under the returned assumptions the needed lemmas prove the under-approximation.

use rustc_hash::FxHashSet;

use super::constraints::{Constraints, InForce};
use super::limits::LIMITS;
use super::proof::Lemma;
use alphorn_proof::needed_lemmas::{Needed, needed_in_clauses};
use alphorn_smt::CoreEffort;
use alphorn_term::TermId;
use alphorn_term::run::Budget;

/// The lemmas that `false` needs, and assumptions under which they are a proof; `None` when that
/// cannot be shown within the budget.
pub(super) fn needed(
    constraints: &mut Constraints,
    lemmas: &[Lemma],
    in_force: InForce,
    budget: &Budget,
) -> Option<Needed> {
    let lemmas = constraints.lemmas(lemmas);
    let given = constraints.given(in_force);
    let given = |group: usize| given[group].clone();
    needed_in_clauses(&mut constraints.clauses, &lemmas, given, 0, budget)
}

/// The assumptions that a proof needs, if possible from `preferred`; `None` when the lemmas cannot
/// be confirmed to be a proof within the budget.
pub(super) fn abstraction(
    constraints: &mut Constraints,
    lemmas: &[Lemma],
    in_force: InForce,
    preferred: &FxHashSet<TermId>,
    budget: &Budget,
) -> Option<FxHashSet<TermId>> {
    let Needed {
        lemmas: needed,
        optional: used,
    } = needed(constraints, lemmas, in_force, budget)?;
    let lemmas = constraints.lemmas(lemmas);
    let given = constraints.given(in_force);
    let clauses = &mut constraints.clauses;
    let terms = clauses.terms().clone();
    let effort = CoreEffort {
        queries: LIMITS.core_queries,
        budget: Some(budget),
    };
    let mut core: FxHashSet<TermId> = FxHashSet::default();
    for (group, given) in given.into_iter().enumerate() {
        let needed = || needed.iter().map(|&l| lemmas[l]);
        let head = clauses.head(group);
        let violated = needed().filter(|l| l.about == head).map(|l| l.violation);
        let violated: Vec<TermId> = violated.collect();
        if violated.is_empty() {
            continue;
        }
        let sources = clauses.sources(group);
        let mut hard = given.assumed;
        let premises = needed().filter(|l| l.about.is_some_and(|p| sources.contains(&p)));
        hard.extend(premises.map(|l| l.premise));
        let mut soft = given.optional;
        soft.retain(|a| used.contains(a));
        soft.sort_by_key(|a| !preferred.contains(a));
        clauses.define_premises(group, &hard);
        let solver = clauses.solver(group);
        solver.push();
        solver.assert(terms.or(&violated));
        let needs = solver.core_by(&hard, &soft, effort);
        solver.pop();
        core.extend(needs?);
    }
    Some(core)
}
