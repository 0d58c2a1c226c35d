//! From a run with accelerated steps to a refutation by clauses.
//!
//! The values of passes between the first and the last are interpolated between theirs where that
//! is a solution, and otherwise those of a query.
//!
//! Invariant: each returned step follows from the one before by its clause and values, as
//! evaluation or a query has shown.

use std::rc::Rc;

use num_traits::{One, ToPrimitive};
use rustc_hash::FxHashMap;

use super::accelerate::Acceleration;
use alphorn_chc::System;
use alphorn_proof::steps::{Instance, Origin, Steps};
use alphorn_proof::trace::{MAX_STEPS, Trace, clause_step, too_many_steps};
use alphorn_proof::{Stop, ask, unreadable, values};
use alphorn_smt::{Smt, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, BigInt, Evaluator, Rational, SortId, TermId, TermStore};
use alphorn_witness::{Refutation, RefutationStep};

/// The pass from which a relation was learned.
pub(super) struct Body {
    /// The steps of the pass, in order.
    pub steps: Vec<Instance>,
    /// The arguments before the pass.
    pub before: Vec<TermId>,
    /// The arguments after the pass.
    pub after: Vec<TermId>,
    /// The relation.
    pub acceleration: Acceleration,
}

impl Body {
    /// The variables of all steps.
    fn vars(&self) -> Vec<TermId> {
        let mut vars: Vec<TermId> = self.steps.iter().flat_map(|s| s.vars.clone()).collect();
        vars.sort_unstable();
        vars.dedup();
        vars
    }
}

/// The expansion of a run, step by step.
pub(super) struct Expansion<'a> {
    system: &'a System,
    steps: &'a Steps,
    /// The passes of learned relations.
    bodies: &'a [Body],
    smt: &'a Rc<Smt>,
    cx: &'a Context,
    /// The steps so far.
    found: Vec<RefutationStep>,
}

/// An accelerated step that is being expanded.
struct Repeat {
    /// The index of its pass.
    body: usize,
    /// The state before it.
    from: Vec<TermId>,
    /// The number of passes.
    passes: usize,
    /// The number of complete passes so far.
    done: usize,
    /// The next step in the current pass.
    next: usize,
    /// The variables of the pass.
    vars: Vec<TermId>,
    /// Their values in the current pass.
    values: Assignment,
    /// Their values in the first and in the last pass.
    ends: Option<(Assignment, Assignment)>,
}

impl<'a> Expansion<'a> {
    /// An expansion without steps.
    pub fn new(
        system: &'a System,
        steps: &'a Steps,
        bodies: &'a [Body],
        smt: &'a Rc<Smt>,
        cx: &'a Context,
    ) -> Self {
        Expansion {
            system,
            steps,
            bodies,
            smt,
            cx,
            found: Vec::new(),
        }
    }

    /// The refutation of a run into a query.
    ///
    /// # Errors
    /// A limit of the run or of the number of steps, or a failure.
    pub fn refutation(mut self, trace: &Trace) -> Result<Refutation, Stop> {
        for instance in &trace.steps {
            self.step(instance, &trace.values)?;
        }
        Ok(Refutation { steps: self.found })
    }

    /// Expands a step of the run with its values.
    fn step(&mut self, instance: &Instance, values: &Assignment) -> Result<(), Stop> {
        let mut stack: Vec<Repeat> = Vec::new();
        self.enter(instance, values, &mut stack)?;
        loop {
            let Some(top) = stack.last_mut() else {
                return Ok(());
            };
            let bodies = self.bodies;
            let body = &bodies[top.body];
            if top.next == body.steps.len() {
                top.next = 0;
                top.done += 1;
            }
            if top.done == top.passes {
                stack.pop();
                continue;
            }
            if top.next == 0 {
                if let Some(reason) = self.cx.stop() {
                    return Err(Stop::Reason(reason));
                }
                top.values = self.pass(top)?;
            }
            let instance = &body.steps[top.next];
            top.next += 1;
            let own: Assignment = instance.vars.iter().map(|v| (*v, top.values[v])).collect();
            self.enter(instance, &own, &mut stack)?;
        }
    }

    /// Adds the step of a clause, or puts an accelerated step on the stack.
    fn enter(
        &mut self,
        instance: &Instance,
        values: &Assignment,
        stack: &mut Vec<Repeat>,
    ) -> Result<(), Stop> {
        let step = &self.steps.all[instance.step];
        let value = |var: &TermId| {
            values
                .get(var)
                .copied()
                .ok_or_else(|| Stop::from(unreadable("a variable has no value")))
        };
        match step.origin {
            Origin::Clause(index) => {
                if self.found.len() >= MAX_STEPS {
                    return Err(too_many_steps());
                }
                let count = self.found.len();
                let (system, steps) = (self.system, self.steps);
                self.found
                    .push(clause_step(system, steps, index, instance, values, count)?);
            }
            Origin::Learned(body) => {
                let arity = step.first;
                let state: Vec<TermId> = instance
                    .vars
                    .iter()
                    .map(value)
                    .collect::<Result<_, Stop>>()?;
                let (from, to) = state.split_at(arity);
                let terms = &self.system.terms;
                let acceleration = &self.bodies[body].acceleration;
                let passes = acceleration
                    .passes(terms, from, to)
                    .and_then(|p| p.to_usize());
                let passes = passes.filter(|&p| p <= MAX_STEPS);
                let passes = passes.ok_or_else(too_many_steps)?;
                stack.push(Repeat {
                    body,
                    from: from.to_vec(),
                    passes,
                    done: 0,
                    next: 0,
                    vars: self.bodies[body].vars(),
                    values: Assignment::default(),
                    ends: None,
                });
            }
        }
        Ok(())
    }

    /// Values of all variables in the next pass.
    fn pass(&self, repeat: &mut Repeat) -> Result<Assignment, Stop> {
        let body = &self.bodies[repeat.body];
        if repeat.ends.is_none() {
            let first = self.solve(body, repeat, 0)?;
            let last = match repeat.passes {
                1 => first.clone(),
                passes => self.solve(body, repeat, passes - 1)?,
            };
            repeat.ends = Some((first, last));
        }
        let terms = &*self.system.terms;
        if let Some((first, last)) = &repeat.ends {
            let whole = repeat.passes.saturating_sub(1).max(1);
            if let Some(between) = interpolate(terms, &repeat.vars, first, last, repeat.done, whole)
            {
                let mut model = Evaluator::new(terms, &between);
                let holds = |s: &Instance| model.value(s.formula) == Some(TermId::TRUE);
                if body.steps.iter().all(holds) {
                    return Ok(between);
                }
            }
        }
        self.solve(body, repeat, repeat.done)
    }

    /// Values of all variables in the pass after `done` others, by a query.
    fn solve(&self, body: &Body, repeat: &Repeat, done: usize) -> Result<Assignment, Stop> {
        let terms = &*self.system.terms;
        let state = |done: usize| {
            body.acceleration
                .state(terms, &repeat.from, &BigInt::from(done))
                .ok_or_else(|| Stop::from(unreadable("the value of an argument is no number")))
        };
        let (from, to) = (state(done)?, state(done + 1)?);
        let map: FxHashMap<TermId, TermId> = body
            .before
            .iter()
            .copied()
            .zip(from)
            .chain(body.after.iter().copied().zip(to))
            .collect();
        let mut solver: Solver = self.smt.solver();
        let mut memo = FxHashMap::default();
        for step in &body.steps {
            solver.assert(terms.substitute_with(step.formula, &map, &mut memo));
        }
        let model = ask(&mut solver, &[], self.cx)?;
        let model =
            model.ok_or_else(|| unreadable("a pass of an accelerated step has no solution"))?;
        let open: Vec<TermId> = repeat
            .vars
            .iter()
            .copied()
            .filter(|v| !map.contains_key(v))
            .collect();
        let mut found = values(&model, &open)?;
        found.extend(map);
        Ok(found)
    }
}

/// The values `first + (last - first) · done / whole` of numbers, and unchanged values of others;
/// `None` if there are none.
fn interpolate(
    terms: &TermStore,
    vars: &[TermId],
    first: &Assignment,
    last: &Assignment,
    done: usize,
    whole: usize,
) -> Option<Assignment> {
    let part = Rational::new(BigInt::from(done), BigInt::from(whole));
    let mut values = Assignment::default();
    for &var in vars {
        let (a, b) = (*first.get(&var)?, *last.get(&var)?);
        let value = match (terms.numeral(a), terms.numeral(b)) {
            (Some(from), Some(to)) => {
                let value = &from + (&to - &from) * &part;
                let sort = terms.sort_of(var);
                if sort == SortId::INT && !value.denom().is_one() {
                    return None;
                }
                terms.number(&value, sort)
            }
            _ if a == b => a,
            _ => return None,
        };
        values.insert(var, value);
    }
    Some(values)
}
