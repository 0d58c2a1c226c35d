//! Short runs as one query: the clauses unrolled for a number of steps, from any state.
//!
//! Invariant: what is reached by projection is reached from the source by a run of so many steps,
//! whichever of the target's states is chosen.

use std::rc::Rc;

use super::system::{States, TransitionSystem};
use alphorn_interpolation::project_onto;
use alphorn_proof::trace::Trace;
use alphorn_proof::unroll::Unrolling;
use alphorn_proof::{Stop, ask, undefined, unreadable};
use alphorn_smt::{Smt, SmtModel, Solver};
use alphorn_term::TermId;
use alphorn_term::run::Context;

/// See the module.
pub(super) struct ShortRuns {
    solver: Solver,
    unrolling: Unrolling,
    /// The states before the first step, and after the last one; `None` when there are no runs of
    /// so many steps by the clauses' dependencies alone.
    ends: Option<(Vec<TermId>, Vec<TermId>)>,
}

impl ShortRuns {
    /// Runs of so many steps.
    pub fn new(ts: &TransitionSystem, smt: &Rc<Smt>, steps: usize) -> ShortRuns {
        let mut solver = smt.solver();
        let mut unrolling = Unrolling::from_predicate(ts.system, ts.predicate);
        for _ in 0..steps {
            unrolling.add_level(ts.system, ts.steps, &mut solver);
        }
        solver.assert(ts.terms().or(&unrolling.last_places()));
        let args = |level: usize| Some(unrolling.levels[level].get(&ts.predicate)?.args.clone());
        let ends = args(0).zip(args(steps));
        ShortRuns {
            solver,
            unrolling,
            ends,
        }
    }

    /// The part of `target` that a run from `source` reaches, as far as one model shows it.
    pub fn reach(
        &mut self,
        ts: &TransitionSystem,
        source: &States,
        target: &States,
        cx: &Context,
    ) -> Result<Option<States>, Stop> {
        let Some((first, last)) = &self.ends else {
            return Ok(None);
        };
        let mut parts = ts.literals(source, first);
        parts.extend(ts.literals(target, last));
        let Some(model) = ask_within(&mut self.solver, &parts, cx)? else {
            return Ok(None);
        };
        let run = self.unrolling.steps_to_last(&model)?;
        parts.extend(run.iter().map(|i| i.formula));
        Ok(Some(cube(ts, &parts, last, &model)?))
    }

    /// A run from `source` to the state with these values, and where it begins. The state is one
    /// that was found to be reached.
    pub fn back(
        &mut self,
        ts: &TransitionSystem,
        source: &States,
        end: &[TermId],
        cx: &Context,
    ) -> Result<(Trace, Vec<TermId>), Stop> {
        let missing = || unreadable("a state that was reached is not");
        let (first, last) = self.ends.as_ref().ok_or_else(missing)?;
        let mut parts = vec![ts.same(last, end)];
        parts.extend(ts.literals(source, first));
        let model = ask_within(&mut self.solver, &parts, cx)?.ok_or_else(missing)?;
        let run = self.unrolling.run_to_last(&model)?;
        let begin = first.iter().map(|v| run.values[v]).collect();
        Ok((run, begin))
    }
}

/// A model of what the solver holds together with these formulas.
fn ask_within(
    solver: &mut Solver,
    formulas: &[TermId],
    cx: &Context,
) -> Result<Option<SmtModel>, Stop> {
    solver.push();
    for &formula in formulas {
        solver.assert(formula);
    }
    let model = ask(solver, &[], cx);
    solver.pop();
    model
}

/// What holds together in the model, projected onto a state, over the first copy.
pub(super) fn cube(
    ts: &TransitionSystem,
    parts: &[TermId],
    kept: &[TermId],
    model: &SmtModel,
) -> Result<States, Stop> {
    let terms = ts.terms();
    let literals = project_onto(terms, terms.and(parts), kept, model).ok_or_else(undefined)?;
    let formula = ts.over(terms.and(&literals), kept, &ts.copies[0]);
    Ok(States::new(terms, formula))
}
