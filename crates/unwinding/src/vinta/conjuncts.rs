//! A model that consists of the conjuncts of labels that a proof needs.
//!
//! The label of a location is a disjunction over its nodes. Often the conjuncts that hold of all
//! nodes, or of all nodes on one side of a condition by which cases are split, are inductive
//! without the rest; and the cores of a proof that starts from the queries need only some of them.
//! The result is a much smaller formula to check, in particular where products are substituted.
//!
//! Invariant: the result passed all queries that make it a model.

use std::rc::Rc;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use alphorn_chc::{PredicateId, System};
use alphorn_proof::clauses::{Clauses, Lemma, Solvers};
use alphorn_proof::houdini::{Question, inductive_lemmas};
use alphorn_proof::needed_lemmas::{Given, needed_in_clauses};
use alphorn_smt::{SatResult, Smt, Solver};
use alphorn_term::run::{Budget, Context};
use alphorn_term::{TermId, TermStore};

/// Formulas by predicate, over formal variables.
type Conjuncts = FxHashMap<PredicateId, Vec<TermId>>;

/// The model of needed conjuncts, if one is found. `conditions` are over formal variables.
pub(super) fn needed_conjuncts(
    system: &System,
    labels: &FxHashMap<PredicateId, TermId>,
    conditions: &[TermId],
    smt: &Rc<Smt>,
    cx: &Context,
) -> Option<FxHashMap<PredicateId, TermId>> {
    let share = cx.remaining().map(|left| left / LIMITS.model_parts);
    let work = share.map_or(LIMITS.model_work, |share| LIMITS.model_work.min(share));
    let limit = smt.limit_queries(Some(work));
    let start = Instant::now();
    let search = Search {
        system,
        terms: &system.terms,
        conditions,
        budget: cx.budget.work(work),
    };
    let found = search.run(labels, smt);
    drop(limit);
    let count = |c: &Conjuncts| c.values().map(Vec::len).sum::<usize>();
    log::debug!(
        "vinta: a model of needed conjuncts: {:?}, {:.3} s",
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
        let common = self.common(labels, smt)?;
        let mut clauses = Clauses::new(self.system, Solvers::PerClause, smt);
        let mut lemma = |about, formula| clauses.lemma(about, formula, TermId::TRUE);
        let lemmas: Vec<Lemma> = common.iter().map(|&(p, c)| lemma(Some(p), c)).collect();
        let no_query = lemma(None, TermId::FALSE);
        let kept = inductive_lemmas(
            &mut clauses,
            &lemmas,
            Question::Clause,
            |_, _| Vec::new(),
            &self.budget,
        );
        let kept = kept.ok()?;
        let mut proof: Vec<Lemma> = kept.iter().map(|&l| lemmas[l]).collect();
        proof.push(no_query);
        let none = |_| Given::default();
        let needed = needed_in_clauses(&mut clauses, &proof, none, usize::MAX, &self.budget)?;
        let mut found = Conjuncts::default();
        for at in needed.lemmas {
            if let Some(&lemma) = kept.get(at) {
                let (predicate, conjunct) = common[lemma];
                found.entry(predicate).or_default().push(conjunct);
            }
        }
        Some(found)
    }

    /// Whether the formulas contradict each other; `None` if that is unknown or the budget is
    /// spent.
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

    /// For each predicate, the conjuncts of single disjuncts of its label that follow from the
    /// whole label, and implications from a side of a condition to a conjunct. `None` at a limit.
    fn common(
        &self,
        labels: &FxHashMap<PredicateId, TermId>,
        smt: &Rc<Smt>,
    ) -> Option<Vec<(PredicateId, TermId)>> {
        let mut all = Vec::new();
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
            for disjunct in self.terms.disjuncts(label) {
                for conjunct in self.terms.conjuncts(disjunct) {
                    if !seen.insert(conjunct) {
                        continue;
                    }
                    total += 1 + sides.len();
                    if total > LIMITS.model_conjuncts {
                        return None;
                    }
                    let violated = self.terms.not(conjunct);
                    if self.excludes(&mut solver, &[violated])? {
                        all.push((predicate, conjunct));
                        continue;
                    }
                    for &side in &sides {
                        if self.excludes(&mut solver, &[side, violated])? {
                            all.push((predicate, self.terms.implies(side, conjunct)));
                        }
                    }
                }
            }
        }
        Some(all)
    }
}
