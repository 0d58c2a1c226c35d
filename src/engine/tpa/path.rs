//! From states that were reached to the clauses of one run.
//!
//! The halves are taken apart down to unrollings, and these are walked backward: a query gives the
//! last state, and each unrolling a state before it. So no set of states is divided again.
//!
//! Invariant: a step's values satisfy its clause in a model of a query; the state it leads to is the
//! one that the next step begins with.

use std::rc::Rc;

use super::search::{Reached, Search, Way};
use super::system::{States, any};
use super::unroll::RunStep;
use crate::engine::linear::steps::{Instance, Origin};
use crate::engine::linear::{Stop, ask, clause_step, failed, incomplete, values};
use crate::run::Context;
use crate::term::TermId;
use crate::witness::Refutation;

impl Search<'_> {
    /// The refutation that queries among reached states stand for.
    pub fn refutation(&mut self, reached: &Rc<Reached>, cx: &Context) -> Result<Refutation, Stop> {
        let ts = self.ts;
        let limit = self.options.max_steps;
        let mut leaves: Vec<(States, usize)> = Vec::new();
        let mut length = 2;
        let mut work = vec![reached.clone()];
        while let Some(reached) = work.pop() {
            match &reached.way {
                Way::Stay => {}
                Way::Steps(level) => {
                    length += 1usize << level;
                    leaves.push((reached.source.clone(), *level));
                }
                Way::Part(all) => work.push(all.clone()),
                Way::Both(left, right) => work.extend([left.clone(), right.clone()]),
            }
            if length > limit {
                return Err(incomplete(format!(
                    "a refutation of more than {limit} steps"
                )));
            }
        }
        // The last first: the right half was on top of the stack.
        let last = literals(&reached.target);
        let (query, mut state) = self.end(&ts.queries(&ts.copies[0]), last, cx)?;
        let mut run = vec![query];
        for (source, level) in leaves {
            let unrolled = &mut self.unrolled[level];
            let (steps, before) = unrolled.back(ts, &source, &state, cx)?;
            run.extend(steps);
            state = before;
        }
        let at = vec![ts.same(&ts.copies[0], &state)];
        run.push(self.end(&ts.entries(&ts.copies[0]), at, cx)?.0);
        let mut found = Vec::with_capacity(run.len());
        for RunStep { instance, values } in run.iter().rev() {
            let Origin::Clause(clause) = ts.steps.all[instance.step].origin else {
                return Err(failed("a step of no clause").into());
            };
            let count = found.len();
            found.push(clause_step(
                ts.system, ts.steps, clause, instance, values, count,
            )?);
        }
        Ok(Refutation { steps: found })
    }

    /// A clause at one end of the run, and the state there.
    fn end(
        &self,
        instances: &[Instance],
        mut formulas: Vec<TermId>,
        cx: &Context,
    ) -> Result<(RunStep, Vec<TermId>), Stop> {
        let ts = self.ts;
        formulas.push(any(ts.terms(), instances));
        let mut solver = self.smt.solver();
        for formula in formulas {
            solver.assert(formula);
        }
        let model = ask(&mut solver, &[], cx)?.ok_or_else(|| failed("no end of the run"))?;
        let instance = instances.iter().find(|i| model.satisfies(i.formula));
        let instance = instance
            .ok_or_else(|| incomplete("a model hangs on what the standard leaves open"))?
            .clone();
        let state = values(&model, &ts.copies[0])?;
        let values = values(&model, &instance.vars)?;
        let state = ts.copies[0].iter().map(|v| state[v]).collect();
        Ok((RunStep { instance, values }, state))
    }
}

fn literals(states: &States) -> Vec<TermId> {
    states.literals.to_vec()
}
