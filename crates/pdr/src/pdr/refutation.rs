//! The ground refutation, from reached facts with their clauses and premises.
//!
//! Invariant: the premises of a step are in the formulas of facts, so each has a derivation; a fact
//! is added after its premises, so there is no cycle.

use rustc_hash::FxHashMap;

use super::ids::{FactId, Node};
use super::search::{Search, failed};
use alphorn_proof::Stop;
use alphorn_smt::SatResult;
use alphorn_term::{Assignment, TermId};
use alphorn_witness::{Fact, Refutation, RefutationStep};

/// A fact of a frame, and the values of the arguments for which a derivation is wanted.
type Goal = (Node, FactId, Vec<TermId>);

/// A step and the goals of its premises.
type OpenStep = (RefutationStep, Vec<Goal>);

impl Search<'_> {
    /// The derivation of the newest fact of the query.
    pub(super) fn refutation(&mut self) -> Result<Refutation, Stop> {
        let fact = self.frames[Node::Query].facts.ids().next_back();
        let fact = fact.ok_or_else(|| failed("refutation", "the query has no fact"))?;
        let mut steps: Vec<RefutationStep> = Vec::new();
        let mut done: FxHashMap<Goal, usize> = FxHashMap::default();
        // Ground facts are derived once, whichever fact's formula contains them.
        let mut derived: FxHashMap<(Node, Vec<TermId>), usize> = FxHashMap::default();
        let mut stack: Vec<(Goal, Option<OpenStep>)> =
            vec![((Node::Query, fact, Vec::new()), None)];
        while let Some((goal, step)) = stack.pop() {
            if done.contains_key(&goal) {
                continue;
            }
            let key = (goal.0, goal.2.clone());
            if let Some(&known) = derived.get(&key) {
                done.insert(goal, known);
                continue;
            }
            match step {
                None => {
                    let (step, premises) = self.ground(&goal)?;
                    let open = premises.clone();
                    stack.push((goal, Some((step, premises))));
                    stack.extend(open.into_iter().map(|g| (g, None)));
                }
                Some((mut step, premises)) => {
                    step.premises = premises.iter().map(|g| done[g]).collect();
                    done.insert(goal, steps.len());
                    derived.insert(key, steps.len());
                    steps.push(step);
                }
            }
        }
        Ok(Refutation { steps })
    }

    /// A step that derives the goal, and the goals of its premises.
    fn ground(&mut self, goal: &Goal) -> Result<(RefutationStep, Vec<Goal>), Stop> {
        self.check_limits()?;
        let terms = self.terms.clone();
        let &(node, fact, ref values) = goal;
        let params = self.params(node).to_vec();
        let fact = &self.frames[node].facts[fact];
        let transition = self.transitions[node].as_mut();
        let transition = transition.ok_or_else(|| failed("refutation", "no clauses"))?;
        let rule = &transition.rules[fact.rule];
        let clause = &self.system.clauses[rule.clause];
        let mut solver = self.smt.solver();
        solver.assert(rule.constraint);
        for (&param, &value) in params.iter().zip(values) {
            solver.assert(terms.eq(param, value));
        }
        for (&slot, &(p, f)) in rule.slots.iter().zip(&fact.premises) {
            let formula = self.frames[p].facts[f].formula;
            solver.assert(transition.slots[slot].rename(&terms, formula));
        }
        match solver.check(&[]) {
            SatResult::Sat => {}
            SatResult::Unsat => return Err(failed("refutation", "a fact has no derivation")),
            SatResult::Unknown(why) => return Err(self.gave_up(&why)),
        }
        let model = solver
            .model()
            .ok_or_else(|| failed("refutation", "no model"))?;
        let value = |var: TermId| model.value(var).map_err(|e| failed("refutation", e));
        let mut own = Assignment::default();
        for &(var, stands_for) in &rule.vars {
            own.insert(var, value(stands_for)?);
        }
        let mut premises = Vec::new();
        for (&slot, &(p, f)) in rule.slots.iter().zip(&fact.premises) {
            let args = transition.slots[slot].args.iter();
            let args: Result<Vec<TermId>, Stop> = args.map(|&a| value(a)).collect();
            premises.push((p.into(), f, args?));
        }
        let derived = clause.head.as_ref().map(|head| Fact {
            predicate: head.predicate,
            values: head.args.iter().map(|a| own[a]).collect(),
        });
        let step = RefutationStep {
            clause: clause.id,
            values: own,
            premises: Vec::new(),
            fact: derived,
        };
        Ok((step, premises))
    }
}
