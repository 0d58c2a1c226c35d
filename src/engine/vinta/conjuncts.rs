//! A model of those conjuncts of the labels that a proof needs.
//!
//! Labels of a location are a disjunction over its nodes. Often some conjuncts of them that hold of all
//! the nodes, or of all on one side of a condition that cases are split by, are inductive without the
//! rest (Flanagan, Leino, "Houdini", FME 2001), and of these the
//! cores of a proof from the queries on suffice. That is a much smaller formula to check, in particular
//! where products are put in.
//!
//! Invariant: what comes back passed all queries of being a model.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::chc::{Atom, Clause, PredicateId, System};
use crate::run::{Budget, Context};
use crate::smt::{SatResult, Smt, Solver};
use crate::term::{TermId, TermStore};

/// Conjuncts that are looked at, at most, also with each condition.
const CONJUNCTS: usize = 2000;

/// Time at most, and as a part of what is left.
const PATIENCE: Duration = Duration::from_secs(3);
const PART_OF_TIME: u32 = 4;

/// Formulas by predicate, over formal variables.
type Conjuncts = FxHashMap<PredicateId, Vec<TermId>>;

/// The model of needed conjuncts, if there is one. Conditions are over formal variables.
pub(super) fn needed_conjuncts(
    system: &System,
    labels: &FxHashMap<PredicateId, TermId>,
    conditions: &[TermId],
    smt: &Rc<Smt>,
    cx: &Context,
) -> Option<FxHashMap<PredicateId, TermId>> {
    let left = cx.remaining().map(|left| left / PART_OF_TIME);
    let patience = left.map_or(PATIENCE, |left| PATIENCE.min(left));
    let limit = smt.query_limit();
    smt.set_query_limit(Some(patience));
    let start = Instant::now();
    let search = Search {
        system,
        terms: &system.terms,
        conditions,
        budget: cx.budget.work(patience),
    };
    let found = search.run(labels, smt);
    smt.set_query_limit(limit);
    let count = |c: &Conjuncts| c.values().map(Vec::len).sum::<usize>();
    log::debug!(
        "a model of needed conjuncts: {:?}, {:.3} s",
        found.as_ref().map(count),
        start.elapsed().as_secs_f64()
    );
    let found = found?;
    let conjunction = |p: &PredicateId| {
        let conjuncts = found.get(p).map_or(&[][..], |c| c);
        (*p, system.terms.and(conjuncts))
    };
    Some(labels.keys().map(conjunction).collect())
}

struct Search<'a> {
    system: &'a System,
    terms: &'a TermStore,
    conditions: &'a [TermId],
    budget: Budget,
}

impl Search<'_> {
    fn run(&self, labels: &FxHashMap<PredicateId, TermId>, smt: &Rc<Smt>) -> Option<Conjuncts> {
        let mut known = self.common(labels, smt)?;
        let solver = |clause: &Clause| {
            let mut solver = smt.solver();
            solver.assert(clause.constraint);
            solver
        };
        let mut steps: Vec<Solver> = self.system.clauses.iter().map(solver).collect();
        self.make_inductive(&mut known, &mut steps)?;
        self.needed(&known, &mut steps)
    }

    /// Whether the formulas exclude each other; `None` when it is not known, or time is up.
    fn excludes(&self, solver: &mut Solver, assumptions: &[TermId]) -> Option<bool> {
        if self.budget.is_spent() {
            return None;
        }
        match solver.check(assumptions) {
            SatResult::Unsat => Some(true),
            SatResult::Sat => Some(false),
            SatResult::Unknown(_) => None,
        }
    }

    /// Conjuncts of some disjunct that follow from all.
    fn common(&self, labels: &FxHashMap<PredicateId, TermId>, smt: &Rc<Smt>) -> Option<Conjuncts> {
        let mut all = Conjuncts::default();
        let mut total = 0;
        for (&predicate, &label) in labels {
            let mut seen = FxHashSet::default();
            let mut solver = smt.solver();
            solver.assert(label);
            let params: FxHashSet<TermId> = self
                .system
                .predicate(predicate)
                .params
                .iter()
                .copied()
                .collect();
            let own = |c: &&TermId| {
                self.terms
                    .free_vars(&[**c])
                    .iter()
                    .all(|v| params.contains(v))
            };
            let own = self.conditions.iter().filter(own);
            let sides: Vec<TermId> = own.flat_map(|&c| [c, self.terms.not(c)]).collect();
            let mut common = Vec::new();
            for disjunct in self.terms.disjuncts(label) {
                for conjunct in self.terms.conjuncts(disjunct) {
                    if !seen.insert(conjunct) {
                        continue;
                    }
                    total += 1 + sides.len();
                    if total > CONJUNCTS {
                        return None;
                    }
                    let violated = self.terms.not(conjunct);
                    if self.excludes(&mut solver, &[violated])? {
                        common.push(conjunct);
                        continue;
                    }
                    for &side in &sides {
                        if self.excludes(&mut solver, &[side, violated])? {
                            common.push(self.terms.implies(side, conjunct));
                        }
                    }
                }
            }
            all.insert(predicate, common);
        }
        Some(all)
    }

    /// The conjuncts over the arguments of the clause's body.
    fn of_body(&self, clause: &Clause, known: &Conjuncts) -> Vec<(PredicateId, TermId, TermId)> {
        let mut all = Vec::new();
        for atom in &clause.body {
            for &conjunct in known.get(&atom.predicate).into_iter().flatten() {
                let here = self.system.instantiate(conjunct, atom);
                all.push((atom.predicate, conjunct, here));
            }
        }
        all
    }

    /// Drops what does not follow from what is left.
    fn make_inductive(&self, known: &mut Conjuncts, steps: &mut [Solver]) -> Option<()> {
        let mut changed = true;
        while changed {
            changed = false;
            for (clause, solver) in self.system.clauses.iter().zip(steps.iter_mut()) {
                let Some(head) = &clause.head else {
                    continue;
                };
                let body = self.of_body(clause, known);
                solver.push();
                body.iter().for_each(|b| solver.assert(b.2));
                let mut kept = Vec::new();
                let before = known.remove(&head.predicate).unwrap_or_default();
                let count = before.len();
                let mut open = None;
                for conjunct in before {
                    let violated = self.violated(conjunct, head);
                    match self.excludes(solver, &[violated]) {
                        Some(true) => kept.push(conjunct),
                        Some(false) => {}
                        None => open = Some(()),
                    }
                }
                solver.pop();
                if open.is_some() {
                    return None;
                }
                changed |= kept.len() < count;
                known.insert(head.predicate, kept);
            }
        }
        Some(())
    }

    fn violated(&self, conjunct: TermId, head: &Atom) -> TermId {
        self.terms.not(self.system.instantiate(conjunct, head))
    }

    /// The conjuncts that a proof uses; `None` if there is none.
    fn needed(&self, known: &Conjuncts, steps: &mut [Solver]) -> Option<Conjuncts> {
        let clauses = &self.system.clauses;
        let mut defining: FxHashMap<PredicateId, Vec<usize>> = FxHashMap::default();
        let mut goals: Vec<(usize, TermId)> = Vec::new();
        for (index, clause) in clauses.iter().enumerate() {
            match &clause.head {
                Some(head) => defining.entry(head.predicate).or_default().push(index),
                None => goals.push((index, TermId::TRUE)),
            }
        }
        let mut needed = Conjuncts::default();
        while let Some((index, violated)) = goals.pop() {
            let body = self.of_body(&clauses[index], known);
            let used = |b: &&(PredicateId, TermId, TermId)| {
                needed
                    .get(&b.0)
                    .is_some_and(|n: &Vec<TermId>| n.contains(&b.1))
            };
            let hard: Vec<TermId> = body.iter().filter(used).map(|b| b.2).collect();
            let soft: Vec<TermId> = body.iter().map(|b| b.2).collect();
            let solver = &mut steps[index];
            solver.push();
            solver.assert(violated);
            let all = self.excludes(solver, &soft);
            let core = match all {
                Some(true) => solver.minimal_core(&hard, &soft),
                _ => Vec::new(),
            };
            solver.pop();
            if all != Some(true) {
                return None;
            }
            let core: FxHashSet<TermId> = core.into_iter().collect();
            for (predicate, conjunct, here) in body {
                let list = needed.entry(predicate).or_default();
                if !core.contains(&here) || list.contains(&conjunct) {
                    continue;
                }
                list.push(conjunct);
                for &index in defining.get(&predicate).into_iter().flatten() {
                    if let Some(head) = &clauses[index].head {
                        goals.push((index, self.violated(conjunct, head)));
                    }
                }
            }
        }
        Some(needed)
    }
}
