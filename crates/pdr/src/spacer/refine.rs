//! REFINE and ISFEASIBLE: whether a derivation of the abstraction is one of the clauses.
//!
//! Invariant: a feasible derivation comes from a model of its steps under all their assumptions; a
//! spurious one has steps that are unsatisfiable under the returned assumptions and those in force.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::assumptions::Assumptions;
use super::proof::Lemma;
use alphorn_chc::{PredicateId, System};
use alphorn_smt::{Arithmetic, CoreEffort, SatResult, Smt, Solver};
use alphorn_term::run::{Budget, Context};
use alphorn_term::{Assignment, TermId};
use alphorn_witness::{Fact, Refutation, RefutationStep};

/// The result of checking a counterexample.
pub(super) enum Refined {
    /// A refutation of the clauses of the same shape, perhaps with other values.
    Feasible(Refutation),
    /// Assumptions that exclude the counterexample together with those in force.
    Spurious(Vec<TermId>),
    /// The reason of the solver or of the run.
    Unknown(String),
}

/// The clauses and assumptions that a counterexample is checked against.
pub(super) struct Refinement<'a> {
    pub system: &'a System,
    pub assumptions: &'a Assumptions,
    pub smt: &'a Rc<Smt>,
    /// Σ̂, the assumptions in force.
    pub in_force: &'a FxHashSet<TermId>,
    /// Invariants without counters. They hold of all facts, so they exclude no refutation, and make
    /// cores smaller.
    pub invariants: &'a [Lemma],
    /// Queries by which a core is made smaller.
    pub core_queries: usize,
    /// Work for the unrolled counterexample.
    pub limit: Duration,
    /// The arithmetic solver of all solvers but that of the unrolled counterexample.
    pub arithmetic: Arithmetic,
}

impl Refinement<'_> {
    /// Checks the unrolled derivation: only its shape is used, not its values.
    ///
    /// # Errors
    /// The derivation is malformed, or a model cannot be read.
    pub fn refine(&self, abstract_: &Refutation, cx: &Context) -> Result<Refined, String> {
        let terms = &self.system.terms;
        let index = self.system.clause_index();
        let mut about: FxHashMap<Option<PredicateId>, Vec<TermId>> = FxHashMap::default();
        for lemma in self.invariants {
            about.entry(lemma.about).or_default().push(lemma.formula);
        }
        // For few hard queries this arithmetic solver is better.
        self.smt.set_arithmetic(Arithmetic::Current);
        let mut solver = self.smt.solver();
        self.smt.set_arithmetic(self.arithmetic);
        // For each step: its clause, and the clause's variables with their copies.
        let mut steps: Vec<(usize, FxHashMap<TermId, TermId>)> = Vec::new();
        let mut own: Vec<TermId> = Vec::new();
        let mut met: FxHashSet<usize> = FxHashSet::default();
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        for step in &abstract_.steps {
            let clause_at = *index
                .get(&step.clause)
                .ok_or("the counterexample has an unknown clause")?;
            let clause = &self.system.clauses[clause_at];
            let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
            for (atom, &premise) in clause.body.iter().zip(&step.premises) {
                let (from, values) = steps
                    .get(premise)
                    .ok_or("a premise comes after its conclusion")?;
                let head = self.system.clauses[*from].head.as_ref();
                let head = head.ok_or("a premise has no fact")?;
                let derived = head.args.iter().map(|a| values[a]);
                map.extend(atom.args.iter().copied().zip(derived));
            }
            if met.insert(clause_at) {
                let new = self.assumptions.own(clause_at).iter();
                own.extend(new.filter(|&&a| seen.insert(a)));
            }
            let guarded = self.assumptions.guarded(clause_at);
            let mut vars = clause.vars(terms);
            let others = terms.free_vars(&[guarded]).into_iter();
            vars.extend(others.filter(|&v| !self.assumptions.is_one(v)));
            for var in vars {
                map.entry(var).or_insert_with(|| terms.fresh_copy(var));
            }
            solver.assert(terms.substitute(guarded, &map));
            if let Some(head) = &clause.head {
                let params = &self.system.predicate(head.predicate).params;
                let args = head.args.iter().map(|a| map[a]);
                let here: FxHashMap<TermId, TermId> = params.iter().copied().zip(args).collect();
                for &formula in about.get(&Some(head.predicate)).into_iter().flatten() {
                    solver.assert(terms.substitute(formula, &here));
                }
            }
            steps.push((clause_at, map));
        }
        let limit = self.smt.limit_queries(Some(self.limit));
        let answer = self.decide(&mut solver, own, &cx.budget.work(self.limit));
        drop(limit);
        if let Some(refined) = answer {
            return Ok(refined);
        }
        let model = solver.model().ok_or("no model")?;
        let mut result = Refutation::default();
        for (step, (clause_at, map)) in abstract_.steps.iter().zip(&steps) {
            let clause = &self.system.clauses[*clause_at];
            let mut values = Assignment::default();
            for var in clause.vars(terms) {
                let value = model.value(map[&var]).map_err(|e| e.to_string())?;
                values.insert(var, value);
            }
            let fact = clause.head.as_ref().map(|head| Fact {
                predicate: head.predicate,
                values: head.args.iter().map(|a| values[a]).collect(),
            });
            result.steps.push(RefutationStep {
                clause: clause.id,
                values,
                premises: step.premises.clone(),
                fact,
            });
        }
        Ok(Refined::Feasible(result))
    }

    /// Checks the solver's formulas under the given assumptions; `None` if they are satisfiable.
    fn decide(&self, solver: &mut Solver, own: Vec<TermId>, budget: &Budget) -> Option<Refined> {
        match solver.check(&own) {
            SatResult::Unknown(why) => Some(Refined::Unknown(why)),
            SatResult::Unsat => Some(Refined::Spurious(self.core(solver, own, budget))),
            SatResult::Sat => None,
        }
    }

    /// A core of the assumptions that are not in force, when all together are unsatisfiable.
    fn core(&self, solver: &mut Solver, own: Vec<TermId>, budget: &Budget) -> Vec<TermId> {
        let (hard, soft): (Vec<TermId>, Vec<TermId>) =
            own.into_iter().partition(|a| self.in_force.contains(a));
        let effort = CoreEffort {
            queries: self.core_queries,
            budget: Some(budget),
        };
        solver.core_by(&hard, &soft, effort).unwrap_or(soft)
    }

    /// Checks each step on its own, with the values of the derivation's facts.
    ///
    /// # Errors
    /// As [`Self::refine`].
    pub fn by_steps(&self, abstract_: &Refutation, cx: &Context) -> Result<Refined, String> {
        let terms = &self.system.terms;
        let index = self.system.clause_index();
        let mut spurious: Vec<TermId> = Vec::new();
        let mut result = Refutation::default();
        for step in &abstract_.steps {
            if let Some(reason) = cx.stop() {
                return Ok(Refined::Unknown(reason.to_string()));
            }
            let clause_at = *index
                .get(&step.clause)
                .ok_or("the counterexample has an unknown clause")?;
            let clause = &self.system.clauses[clause_at];
            let mut values = Assignment::default();
            let premises = step.premises.iter().map(|&p| &abstract_.steps[p].fact);
            let facts = premises.chain(clause.head.iter().map(|_| &step.fact));
            for (atom, fact) in clause.atoms().zip(facts) {
                // Values of counters come after those of the arguments and are ignored.
                let fact = fact.as_ref().ok_or("a premise has no fact")?;
                values.extend(atom.args.iter().copied().zip(fact.values.iter().copied()));
            }
            let guarded = terms.substitute(self.assumptions.guarded(clause_at), &values);
            let own: Vec<TermId> = terms
                .free_vars(&[guarded])
                .into_iter()
                .filter(|&v| self.assumptions.is_one(v))
                .collect();
            let mut solver = self.smt.solver();
            solver.assert(guarded);
            match self.decide(&mut solver, own, &cx.budget) {
                None => {}
                Some(Refined::Spurious(core)) => {
                    spurious.extend(core);
                    continue;
                }
                Some(other) => return Ok(other),
            }
            let model = solver.model().ok_or("no model")?;
            for var in clause.vars(terms) {
                if let std::collections::hash_map::Entry::Vacant(entry) = values.entry(var) {
                    entry.insert(model.value(var).map_err(|e| e.to_string())?);
                }
            }
            let fact = clause.head.as_ref().map(|head| Fact {
                predicate: head.predicate,
                values: head.args.iter().map(|a| values[a]).collect(),
            });
            result.steps.push(RefutationStep {
                clause: clause.id,
                values,
                premises: step.premises.clone(),
                fact,
            });
        }
        Ok(match spurious.is_empty() {
            true => Refined::Feasible(result),
            false => Refined::Spurious(spurious),
        })
    }
}
