//! The lemmas that a proof needs, from the query back.
//!
//! A set of lemmas that is inductive often contains lemmas that the queries do not depend on. From
//! the queries on, unsatisfiable cores show which lemmas about the body a step needs, and these are
//! considered next; the others are dropped. The rest is weaker, still inductive and still excludes
//! the queries (Ivrii, Gurfinkel, Belov, "Small inductive safe invariants", FMCAD 2014, the variant
//! with cores).
//!
//! Invariant: for each lemma that is kept, queries have shown that every step from lemmas that are
//! kept leads to states that satisfy it.

use std::hash::Hash;

use rustc_hash::FxHashSet;

use super::clauses::{Clauses, Lemma};
use alphorn_smt::CoreEffort;
use alphorn_term::TermId;
use alphorn_term::run::Budget;

/// The goals and all lemmas that they need. `premises(goal, needed)` gives lemmas from which the
/// goal follows by one step; `needed` are lemmas that are kept in any case. `None` if it gives
/// `None`.
pub fn needed_lemmas<L: Copy + Eq + Hash>(
    goals: impl IntoIterator<Item = L>,
    mut premises: impl FnMut(L, &FxHashSet<L>) -> Option<Vec<L>>,
) -> Option<Vec<L>> {
    let mut found: Vec<L> = goals.into_iter().collect();
    let mut needed: FxHashSet<L> = found.iter().copied().collect();
    let mut open = found.clone();
    while let Some(goal) = open.pop() {
        for premise in premises(goal, &needed)? {
            if needed.insert(premise) {
                found.push(premise);
                open.push(premise);
            }
        }
    }
    Some(found)
}

/// Assumptions about a group of clauses besides the lemmas.
#[derive(Clone, Default)]
pub struct Given {
    /// Formulas that hold in any case.
    pub assumed: Vec<TermId>,
    /// Formulas that are assumed only if they are needed.
    pub optional: Vec<TermId>,
}

/// The parts that a proof needs.
#[derive(Debug, PartialEq, Eq)]
pub struct Needed {
    /// Positions of lemmas, including those about queries.
    pub lemmas: Vec<usize>,
    /// Needed optional assumptions.
    pub optional: FxHashSet<TermId>,
}

/// The lemmas from which those about the queries follow by clauses, by cores with at most
/// `core_queries` queries each. `None` if there is none about the queries, if some lemma does not
/// follow, or if the budget is spent.
pub fn needed_in_clauses(
    clauses: &mut Clauses,
    lemmas: &[Lemma],
    given: impl Fn(usize) -> Given,
    core_queries: usize,
    budget: &Budget,
) -> Option<Needed> {
    let effort = CoreEffort {
        queries: core_queries,
        budget: Some(budget),
    };
    let mut optional: FxHashSet<TermId> = FxHashSet::default();
    let goals: Vec<usize> = (0..lemmas.len())
        .filter(|&l| lemmas[l].about.is_none())
        .collect();
    if goals.is_empty() {
        return None;
    }
    let lemmas = needed_lemmas(goals, |goal, needed| {
        let goal = lemmas[goal];
        let mut found = Vec::new();
        for group in clauses.groups_deriving(goal.about) {
            if budget.is_spent() {
                return None;
            }
            let sources = clauses.sources(group);
            let of_body = |l: &usize| {
                let about = lemmas[*l].about;
                about.is_some_and(|p| sources.binary_search(&p).is_ok())
            };
            let premises: Vec<usize> = (0..lemmas.len()).filter(of_body).collect();
            let given = given(group);
            let mut hard = given.assumed;
            hard.push(goal.violation);
            let mut soft = given.optional.clone();
            for &premise in &premises {
                let list = match needed.contains(&premise) {
                    true => &mut hard,
                    false => &mut soft,
                };
                list.push(lemmas[premise].premise);
            }
            clauses.define_premises(group, &hard);
            clauses.define_premises(group, &soft);
            let core = clauses.solver(group).core_by(&hard, &soft, effort)?;
            let core: FxHashSet<TermId> = core.into_iter().collect();
            let premises = premises.into_iter();
            found.extend(premises.filter(|&l| core.contains(&lemmas[l].premise)));
            optional.extend(given.optional.iter().filter(|a| core.contains(a)));
        }
        Some(found)
    })?;
    Some(Needed { lemmas, optional })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clauses::Solvers;
    use crate::houdini::{Question, inductive_lemmas};
    use alphorn_samples::{is_inductive, random_lemmas, random_system};
    use alphorn_smt::Smt;
    use alphorn_term::Random;
    use alphorn_term::run::Context;

    #[test]
    fn needed_lemmas_are_a_proof() {
        let mut random = Random::new(11);
        let (mut proofs, mut dropped) = (0, 0);
        for _ in 0..200 {
            let system = random_system(&mut random);
            let cx = Context::new(system.terms.clone());
            let smt = Smt::new(system.terms.clone());
            let candidates = random_lemmas(&system, &mut random);
            for (solvers, queries) in [(Solvers::PerHead, 0), (Solvers::PerClause, usize::MAX)] {
                let mut clauses = Clauses::new(&system, solvers, &smt);
                let all: Vec<Lemma> = candidates
                    .iter()
                    .map(|&(about, formula)| clauses.lemma(about, formula, TermId::TRUE))
                    .collect();
                let none = |_, _| Vec::new();
                let kept = inductive_lemmas(&mut clauses, &all, Question::Clause, none, &cx.budget);
                let kept = kept.expect("no limit");
                let lemmas: Vec<Lemma> = kept.iter().map(|&l| all[l]).collect();
                let is_proof = lemmas.iter().any(|l| l.about.is_none());
                let needed = needed_in_clauses(
                    &mut clauses,
                    &lemmas,
                    |_| Given::default(),
                    queries,
                    &cx.budget,
                );
                assert_eq!(needed.is_some(), is_proof);
                let Some(needed) = needed else { continue };
                let chosen: Vec<_> = needed.lemmas.iter().map(|&l| candidates[kept[l]]).collect();
                assert!(is_inductive(&system, &smt, &chosen));
                assert!(chosen.contains(&(None, TermId::FALSE)));
                proofs += 1;
                dropped += kept.len() - chosen.len();
            }
        }
        assert!(proofs > 0 && dropped > 0, "{proofs}, {dropped}");
    }

    #[test]
    fn needed_lemmas_are_found_from_the_goals_back() {
        // Each number needs its half; 6 needs a lemma that does not exist.
        let back = |goal: usize, needed: &FxHashSet<usize>| {
            assert!(needed.contains(&goal));
            (goal != 6).then(|| vec![goal / 2])
        };
        assert_eq!(needed_lemmas([9], back), Some(vec![9, 4, 2, 1, 0]));
        assert_eq!(needed_lemmas([9, 12], back), None);
        assert_eq!(needed_lemmas([], back), Some(vec![]));
    }

    #[test]
    fn a_lemma_that_does_not_follow_is_no_proof() {
        // The entry clause derives a fact, so `false` does not hold of its predicate.
        let system = random_system(&mut Random::new(3));
        let cx = Context::new(system.terms.clone());
        let smt = Smt::new(system.terms.clone());
        let mut clauses = Clauses::new(&system, Solvers::PerHead, &smt);
        let about = system.clauses[0].head.as_ref().map(|h| h.predicate);
        let goal = clauses.lemma(None, TermId::FALSE, TermId::TRUE);
        let query = system.clauses.iter().find(|c| c.head.is_none());
        let source = query.map(|q| q.body[0].predicate);
        let nothing = clauses.lemma(source, TermId::FALSE, TermId::TRUE);
        let none = |_| Given::default();
        // The lemma excludes the query, but does not follow itself.
        let lemmas = [goal, nothing];
        let needed = needed_in_clauses(&mut clauses, &lemmas, none, usize::MAX, &cx.budget);
        if source == about {
            assert_eq!(needed, None);
        }
        let alone = needed_in_clauses(&mut clauses, &[nothing], none, usize::MAX, &cx.budget);
        assert_eq!(alone, None);
    }
}
