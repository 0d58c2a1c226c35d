//! Short runs: the clauses unrolled for a number of steps, from any state.
//!
//! Invariant: each state in the result of [`ShortRuns::reach`] is reached from the source by a run
//! of this number of steps.

use std::rc::Rc;

use super::system::{States, TransitionSystem};
use alphorn_interpolation::project_onto;
use alphorn_proof::trace::Trace;
use alphorn_proof::unroll::Unrolling;
use alphorn_proof::{Stop, ask, undefined, unreadable};
use alphorn_smt::{Smt, SmtModel, Solver};
use alphorn_term::TermId;
use alphorn_term::run::Context;

/// The unrolling for a number of steps.
pub(super) struct ShortRuns {
    solver: Solver,
    unrolling: Unrolling,
    /// The variables of the state before the first step and of that after the last one; `None` if
    /// the dependencies exclude runs of this number of steps.
    ends: Option<(Vec<TermId>, Vec<TermId>)>,
}

impl ShortRuns {
    /// The runs of this number of steps.
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

    /// A part of `target` that runs from `source` reach, by projection of one model; `None` if
    /// there is none.
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

    /// A run from `source` to a reached state with the values `end`, and the values of the state
    /// where it begins.
    pub fn back(
        &mut self,
        ts: &TransitionSystem,
        source: &States,
        end: &[TermId],
        cx: &Context,
    ) -> Result<(Trace, Vec<TermId>), Stop> {
        let missing = || unreadable("a reached state has no run to it");
        let (first, last) = self.ends.as_ref().ok_or_else(missing)?;
        let mut parts = vec![ts.same(last, end)];
        parts.extend(ts.literals(source, first));
        let model = ask_within(&mut self.solver, &parts, cx)?.ok_or_else(missing)?;
        let run = self.unrolling.run_to_last(&model)?;
        let begin = first.iter().map(|v| run.values[v]).collect();
        Ok((run, begin))
    }
}

/// A model of the solver's formulas and the given ones, in a scope.
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

/// The projection of formulas that a model satisfies to the variables `kept` of a state, over the
/// first copy.
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
