//! Short runs as one query: the clauses unrolled for two to the power of a level steps.
//!
//! Invariant: what is reached by projection is reached from the source by a run of the unrolling's
//! steps, whichever of the target's states is chosen.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::system::{States, TransitionSystem, any};
use crate::engine::linear::steps::Instance;
use crate::engine::linear::{Stop, ask, failed, incomplete, values};
use crate::run::Context;
use crate::smt::{Smt, SmtModel, Solver, project_formula};
use crate::term::{Assignment, TermId};

/// See the module.
pub(super) struct Unrolled {
    solver: Solver,
    places: Vec<Vec<TermId>>,
    /// By step; with the formula that nothing changes where that is allowed.
    choices: Vec<(Vec<Instance>, Option<TermId>)>,
}

/// A step of a run: a clause, and the values of its instance's variables.
pub(super) struct RunStep {
    pub instance: Instance,
    pub values: Assignment,
}

impl Unrolled {
    /// So many steps; with `or_none` each may be left out.
    pub fn new(ts: &TransitionSystem, smt: &Rc<Smt>, steps: usize, or_none: bool) -> Unrolled {
        let places: Vec<Vec<TermId>> = (0..=steps)
            .map(|_| ts.system.fresh_atom(ts.predicate).args)
            .collect();
        let choices = places
            .windows(2)
            .map(|pair| {
                let same = or_none.then(|| ts.same(&pair[0], &pair[1]));
                (ts.transitions(&pair[0], &pair[1]), same)
            })
            .collect();
        let mut unrolled = Unrolled {
            solver: smt.solver(),
            places,
            choices,
        };
        for (instances, same) in &unrolled.choices {
            let step = any(ts.terms(), instances);
            let step = same.map_or(step, |same| ts.terms().or(&[same, step]));
            unrolled.solver.assert(step);
        }
        unrolled
    }

    /// The part of `target` that a run from `source` reaches, as far as one model shows it.
    pub fn reach(
        &mut self,
        ts: &TransitionSystem,
        source: &States,
        target: &States,
        cx: &Context,
    ) -> Result<Option<States>, Stop> {
        let (Some(first), Some(last)) = (self.places.first(), self.places.last()) else {
            return Ok(None);
        };
        let (first, last) = (first.clone(), last.clone());
        let mut parts = ts.literals(source, &first);
        parts.extend(ts.literals(target, &last));
        self.solver.push();
        for &part in &parts {
            self.solver.assert(part);
        }
        let model = ask(&mut self.solver, &[], cx);
        self.solver.pop();
        let Some(model) = model? else {
            return Ok(None);
        };
        for (instances, same) in &self.choices {
            match chosen(instances, *same, &model)? {
                Some(instance) => parts.push(instance.formula),
                None => parts.extend(*same),
            }
        }
        let cube = cube(ts, &parts, &last, &model)?;
        Ok(Some(cube))
    }

    /// The steps of a run from `source` to the state with these values, in reverse, and where it
    /// begins. The state is one that was found to be reached.
    pub fn back(
        &mut self,
        ts: &TransitionSystem,
        source: &States,
        end: &[TermId],
        cx: &Context,
    ) -> Result<(Vec<RunStep>, Vec<TermId>), Stop> {
        let [first, .., last] = &self.places[..] else {
            return Err(failed("an unrolling without steps").into());
        };
        self.solver.push();
        self.solver.assert(ts.same(last, end));
        for literal in ts.literals(source, first) {
            self.solver.assert(literal);
        }
        let model = ask(&mut self.solver, &[], cx);
        self.solver.pop();
        let model = model?.ok_or_else(|| failed("a state that was reached is not"))?;
        let mut steps = Vec::new();
        for (instances, same) in self.choices.iter().rev() {
            if let Some(instance) = chosen(instances, *same, &model)? {
                let values = values(&model, &instance.vars)?;
                let instance = instance.clone();
                steps.push(RunStep { instance, values });
            }
        }
        let begin = values(&model, first)?;
        Ok((steps, first.iter().map(|v| begin[v]).collect()))
    }
}

/// The clause that a model takes; `None` where nothing changes.
fn chosen<'i>(
    instances: &'i [Instance],
    same: Option<TermId>,
    model: &SmtModel,
) -> Result<Option<&'i Instance>, Stop> {
    if same.is_some_and(|same| model.satisfies(same)) {
        return Ok(None);
    }
    match instances.iter().find(|i| model.satisfies(i.formula)) {
        Some(instance) => Ok(Some(instance)),
        None => Err(incomplete("a model hangs on what the standard leaves open")),
    }
}

/// What holds together in the model, projected onto a state, over the first copy.
pub(super) fn cube(
    ts: &TransitionSystem,
    parts: &[TermId],
    kept: &[TermId],
    model: &SmtModel,
) -> Result<States, Stop> {
    let terms = ts.terms();
    let all = terms.free_vars(parts);
    let mut known = values(model, &all)?;
    known.extend(values(model, kept)?);
    let wanted: FxHashSet<TermId> = kept.iter().copied().collect();
    let eliminate: Vec<TermId> = all.into_iter().filter(|v| !wanted.contains(v)).collect();
    let literals = project_formula(terms, terms.and(parts), &eliminate, &known)
        .ok_or_else(|| incomplete("a model hangs on what the standard leaves open"))?;
    let formula = ts.over(terms.and(&literals), kept, &ts.copies[0]);
    Ok(States::new(terms, formula))
}
