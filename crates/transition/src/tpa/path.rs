//! From reached states to the clauses of one run.
//!
//! The halves are divided down to unrollings, which are traversed backward: a query gives the last
//! state, and each unrolling a state before it.
//!
//! Invariant: a step's values satisfy its clause in a model of a query; the state to which it leads
//! is the one where the next step begins.

use std::rc::Rc;

use super::search::{Justification, Reached, Search};
use super::system::{States, any};
use alphorn_proof::steps::Instance;
use alphorn_proof::trace::{MAX_STEPS, Trace, too_many_steps};
use alphorn_proof::{Stop, ask, undefined, unreadable, values};
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::Refutation;

impl Search<'_> {
    /// The refutation by reached states to which a query applies.
    pub fn refutation(&mut self, reached: &Rc<Reached>, cx: &Context) -> Result<Refutation, Stop> {
        let ts = self.ts;
        let mut leaves: Vec<(States, usize)> = Vec::new();
        let mut length = 2;
        let mut work = vec![reached.clone()];
        while let Some(reached) = work.pop() {
            match &reached.by {
                Justification::Stay => {}
                Justification::Steps(level) => {
                    length += 1usize << level;
                    leaves.push((reached.source.clone(), *level));
                }
                Justification::Part(all) => work.push(all.clone()),
                Justification::Both(left, right) => work.extend([left.clone(), right.clone()]),
            }
            if length > MAX_STEPS {
                return Err(too_many_steps());
            }
        }
        // The leaves are in reverse order, since the right half was on top of the stack.
        let last = reached.target.literals.to_vec();
        let (query, mut state) = self.end(&ts.queries(&ts.copies[0]), last, cx)?;
        let mut run = vec![query];
        for (source, level) in leaves {
            let (part, before) = self.short_runs[level].back(ts, &source, &state, cx)?;
            run.push(part);
            state = before;
        }
        let at = vec![ts.same(&ts.copies[0], &state)];
        run.push(self.end(&ts.entries(&ts.copies[0]), at, cx)?.0);
        let mut steps = Vec::with_capacity(length);
        for part in run.iter().rev() {
            part.append_to(&mut steps, ts.system, ts.steps)?;
        }
        Ok(Refutation { steps })
    }

    /// A clause at one end of the run, one of `instances`, and the state there.
    fn end(
        &self,
        instances: &[Instance],
        mut formulas: Vec<TermId>,
        cx: &Context,
    ) -> Result<(Trace, Vec<TermId>), Stop> {
        let ts = self.ts;
        formulas.push(any(ts.terms(), instances));
        let mut solver = self.smt.solver();
        for formula in formulas {
            solver.assert(formula);
        }
        let model = ask(&mut solver, &[], cx)?
            .ok_or_else(|| unreadable("the end of a run has no solution"))?;
        let instance = instances.iter().find(|i| model.satisfies(i.formula));
        let instance = instance.ok_or_else(undefined)?.clone();
        let state = values(&model, &ts.copies[0])?;
        let state = ts.copies[0].iter().map(|v| state[v]).collect();
        let values = values(&model, &instance.vars)?;
        let steps = vec![instance];
        Ok((Trace { steps, values }, state))
    }
}
