//! The largest inductive subset of candidate lemmas (Flanagan and Leino, FME 2001: Houdini): from
//! all of them, those are dropped that some step does not preserve, until each step preserves the
//! rest.
//!
//! The subset is unique, since the union of two inductive sets is inductive. A step is a clause,
//! all clauses with one head, or anything else that derives facts from facts
//! ([`largest_inductive_subset`]); [`inductive_lemmas`] is the search for clauses in solvers.
//!
//! Invariant: the result is inductive, as far as the solver is right. A query without an answer
//! only makes it smaller, and there is no result if the budget is spent.

use std::collections::VecDeque;
use std::time::Duration;

use rustc_hash::FxHashSet;

use super::clauses::{Clauses, Lemma};
use alphorn_chc::PredicateId;
use alphorn_smt::{SatResult, Solver};
use alphorn_term::TermId;
use alphorn_term::run::{Budget, Reason};

/// Work of one query over bit-vectors in an incremental solver, after which a new solver takes
/// over.
const QUERY_WORK: Duration = Duration::from_millis(10);

/// A step that derives facts at the place `to` from facts at the places `from`. A candidate is
/// about the facts at a place.
pub struct Step {
    /// The places of the premises.
    pub from: Vec<usize>,
    /// The place of the conclusion.
    pub to: usize,
}

/// Positions of the candidates that are inductive together, ascending. `about` gives the place of
/// each candidate. `lost(step, premises, conclusions)` gives the conclusions that the step does not
/// preserve if the premises hold before it; it may give more.
///
/// # Errors
/// Those of `lost`.
pub fn largest_inductive_subset<E>(
    steps: &[Step],
    about: &[usize],
    mut lost: impl FnMut(usize, &[usize], &[usize]) -> Result<Vec<usize>, E>,
) -> Result<Vec<usize>, E> {
    let places = steps.iter().flat_map(|s| s.from.iter().chain([&s.to]));
    let places = places.chain(about).max().map_or(0, |&last| last + 1);
    let mut kept: Vec<Vec<usize>> = vec![Vec::new(); places];
    for (candidate, &place) in about.iter().enumerate() {
        kept[place].push(candidate);
    }
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); places];
    for (at, step) in steps.iter().enumerate() {
        for &place in &step.from {
            users[place].push(at);
        }
    }
    let mut queue: VecDeque<usize> = (0..steps.len()).collect();
    let mut waiting = vec![true; steps.len()];
    while let Some(at) = queue.pop_front() {
        waiting[at] = false;
        let Step { from, to } = &steps[at];
        if kept[*to].is_empty() {
            continue;
        }
        let premises: Vec<usize> = from.iter().flat_map(|&p| kept[p].iter().copied()).collect();
        let gone: FxHashSet<usize> = lost(at, &premises, &kept[*to])?.into_iter().collect();
        if gone.is_empty() {
            continue;
        }
        kept[*to].retain(|candidate| !gone.contains(candidate));
        for &user in &users[*to] {
            if !std::mem::replace(&mut waiting[user], true) {
                queue.push_back(user);
            }
        }
    }
    let mut kept: Vec<usize> = kept.into_iter().flatten().collect();
    kept.sort_unstable();
    Ok(kept)
}

/// Positions of the formulas `violations` that are satisfiable with the solver's formulas and the
/// premises. Each model shows several. If a model cannot be read or a query has no answer, they are
/// tested one by one, and those without an answer count as possible.
///
/// # Errors
/// The reason why the budget ended.
pub fn possible_violations(
    solver: &mut Solver,
    premises: &[TermId],
    violations: &[TermId],
    budget: &Budget,
) -> Result<Vec<usize>, Reason> {
    solver.push();
    for &premise in premises {
        solver.assert(premise);
    }
    let possible = in_open_scope(solver, violations, budget);
    solver.pop();
    possible
}

fn in_open_scope(
    solver: &mut Solver,
    violations: &[TermId],
    budget: &Budget,
) -> Result<Vec<usize>, Reason> {
    let terms = solver.smt().terms().clone();
    let mut open: Vec<usize> = (0..violations.len()).collect();
    let mut possible = Vec::new();
    let bit_vectors = terms
        .free_vars(violations)
        .iter()
        .any(|v| terms.width(*v) > 0);
    while !open.is_empty() {
        if let Some(reason) = budget.stop() {
            return Err(reason);
        }
        // The disjunction of the remaining ones, which is stronger than what was asserted before.
        let any: Vec<TermId> = open.iter().map(|&v| violations[v]).collect();
        solver.assert(terms.or(&any));
        let (answer, model) = if bit_vectors {
            solver.check_in_turns(QUERY_WORK)
        } else {
            (solver.check(&[]), solver.model())
        };
        if answer == SatResult::Unsat {
            break;
        }
        let before = open.len();
        if let (SatResult::Sat, Some(model)) = (answer, model) {
            let (violated, rest) = open
                .into_iter()
                .partition(|&v| model.satisfies(violations[v]));
            open = rest;
            possible.extend::<Vec<usize>>(violated);
        }
        if open.len() < before {
            continue;
        }
        for violation in open.drain(..) {
            if let Some(reason) = budget.stop() {
                return Err(reason);
            }
            if solver.check(&[violations[violation]]) != SatResult::Unsat {
                possible.push(violation);
            }
        }
    }
    Ok(possible)
}

/// The scope of one query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// One clause of the solver.
    Clause,
    /// All clauses of the solver.
    Group,
}

/// Positions of the lemmas that are inductive together, ascending. The formulas `given(group,
/// clause)` are assumed in addition; the clause is given if a query is about one clause only.
///
/// # Errors
/// The reason why the budget ended.
pub fn inductive_lemmas(
    clauses: &mut Clauses,
    lemmas: &[Lemma],
    question: Question,
    given: impl Fn(usize, Option<usize>) -> Vec<TermId>,
    budget: &Budget,
) -> Result<Vec<usize>, Reason> {
    let place = |about: Option<PredicateId>| about.map_or(0, |p| p.index() + 1);
    let about: Vec<usize> = lemmas.iter().map(|l| place(l.about)).collect();
    let concerned: FxHashSet<usize> = about.iter().copied().collect();
    let mut steps = Vec::new();
    let mut asked: Vec<(usize, Option<usize>)> = Vec::new();
    for group in clauses.groups() {
        let to = place(clauses.head(group));
        if !concerned.contains(&to) {
            continue;
        }
        let mut add = |sources: &[PredicateId], clause: Option<usize>| {
            let from = sources.iter().map(|&s| place(Some(s))).collect();
            steps.push(Step { from, to });
            asked.push((group, clause));
        };
        match question {
            Question::Group => add(clauses.sources(group), None),
            Question::Clause => {
                for &clause in clauses.clauses(group) {
                    add(clauses.sources_of(clause), Some(clause));
                }
            }
        }
    }
    largest_inductive_subset(&steps, &about, |step, premises, conclusions| {
        let (group, clause) = asked[step];
        let mut assumed = given(group, clause);
        assumed.extend(premises.iter().map(|&l| lemmas[l].premise));
        assumed.extend(clause.map(|c| clauses.in_force(c)));
        clauses.define_premises(group, &assumed);
        let violations: Vec<TermId> = conclusions.iter().map(|&l| lemmas[l].violation).collect();
        let solver = clauses.solver(group);
        let lost = possible_violations(solver, &assumed, &violations, budget)?;
        Ok(lost.into_iter().map(|at| conclusions[at]).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clauses::Solvers;
    use alphorn_samples::{is_inductive, random_lemmas, random_system};
    use alphorn_smt::Smt;
    use alphorn_term::Random;
    use alphorn_term::run::Context;

    #[test]
    fn the_subset_is_the_one_that_brute_force_finds() {
        let mut random = Random::new(7);
        let mut sizes = FxHashSet::default();
        for round in 0..40 {
            let system = random_system(&mut random);
            let cx = Context::new(system.terms.clone());
            let smt = Smt::new(system.terms.clone());
            let candidates = random_lemmas(&system, &mut random);
            let subset = |bits: u32| -> Vec<usize> {
                (0..candidates.len())
                    .filter(|l| bits >> l & 1 == 1)
                    .collect()
            };
            let inductive = |&bits: &u32| {
                let chosen = subset(bits).into_iter().map(|l| candidates[l]);
                is_inductive(&system, &smt, &chosen.collect::<Vec<_>>())
            };
            let best = (0..1_u32 << candidates.len())
                .filter(inductive)
                .max_by_key(|bits| bits.count_ones());
            let best = subset(best.expect("the empty set is inductive"));
            sizes.insert(best.len());
            for (solvers, question) in [
                (Solvers::PerHead, Question::Clause),
                (Solvers::PerHead, Question::Group),
                (Solvers::PerClause, Question::Clause),
            ] {
                let mut clauses = Clauses::new(&system, solvers, &smt);
                let lemmas: Vec<Lemma> = candidates
                    .iter()
                    .map(|&(about, formula)| clauses.lemma(about, formula, TermId::TRUE))
                    .collect();
                // The solvers give the same answers again.
                for _ in 0..2 {
                    let none = |_, _| Vec::new();
                    let found = inductive_lemmas(&mut clauses, &lemmas, question, none, &cx.budget);
                    assert_eq!(found, Ok(best.clone()), "round {round}, {solvers:?}");
                }
            }
        }
        assert!(sizes.len() > 3, "{sizes:?}");
    }

    #[test]
    fn steps_that_lose_nothing_are_checked_once() {
        // 0 leads to 1, 1 to 2, and 2 to itself; candidate 0 is lost at once, and 1 with it.
        let step = |from: &[usize], to| Step {
            from: from.to_vec(),
            to,
        };
        let steps = [step(&[], 0), step(&[0], 1), step(&[1, 2], 2)];
        let mut asked = vec![0; steps.len()];
        let kept = largest_inductive_subset(&steps, &[0, 1, 2, 2], |at, premises, conclusions| {
            asked[at] += 1;
            let lost = match at {
                0 => vec![0],
                1 if !premises.contains(&0) => vec![1],
                2 if !premises.contains(&1) && conclusions.contains(&2) => vec![2],
                _ => Vec::new(),
            };
            Ok::<_, ()>(lost)
        });
        assert_eq!(kept, Ok(vec![3]));
        // The last step once more, after it lost a candidate itself.
        assert_eq!(asked, [1, 1, 2]);
        let stopped = largest_inductive_subset(&steps, &[0], |_, _, _| Err(()));
        assert_eq!(stopped, Err(()));
    }

    #[test]
    fn nothing_comes_back_when_the_budget_is_spent() {
        let system = random_system(&mut Random::new(1));
        let cx = Context::new(system.terms.clone());
        let smt = Smt::new(system.terms.clone());
        let mut clauses = Clauses::new(&system, Solvers::PerClause, &smt);
        let about = system.clauses[0].head.as_ref().map(|h| h.predicate);
        let lemma = clauses.lemma(about, TermId::FALSE, TermId::TRUE);
        let spent = cx.budget.work(std::time::Duration::ZERO);
        let found = inductive_lemmas(
            &mut clauses,
            &[lemma],
            Question::Clause,
            |_, _| Vec::new(),
            &spent,
        );
        assert_eq!(found, Err(Reason::Timeout));
    }
}
