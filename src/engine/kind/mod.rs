//! k-induction: no run of some length into a query, from wherever, and none at all from a fact.
//!
//! For linear systems whose queries exclude themselves within few steps, with constraints of any
//! size: no invariant is looked for. After Sheeran, Singh, Stålmarck, "Checking Safety Properties
//! Using Induction and a SAT-Solver" (FMCAD 2000), in both directions.
//!
//! The clauses are unrolled forward from facts and backward from queries. A query that the first
//! reaches is a refutation. When no run of some length is left in one of the two directions, the
//! search is over. Runs are simple: no state comes twice, no state but the first is one to start
//! from; what excludes that is added where a model needs it. Invariants that passes found are in the
//! clauses' constraints, and so in force at every step.
//!
//! The model is what cannot reach a query, or what is reached from facts: where each such state is at
//! the end of a run, and so of a simple one, fewer steps than the length are enough, and projection
//! finds these states step by step (`linear/reach.rs`), without interpolation. A k-inductive
//! invariant becomes an inductive one so.
//!
//! Deviation: the dependency graph is unrolled as it is; a state is a predicate with its arguments.
//! A query's constraint with locals is not excluded along the way, which costs completeness only.
//!
//! Invariant: `Sat` is said when clauses, facts and queries were checked against the states found.

#[cfg(test)]
mod tests;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::linear::reach::Reach;
use super::linear::steps::Steps;
use super::linear::unroll::{Trace, Unrolling, literal};
use super::linear::{
    self, Stop, ask, complete, constraint, incomplete, negated, refutation, supports,
};
use super::settings::{Setting, settings};
use super::{Engine, EngineError, Unsupported};
use crate::chc::{PredicateId, Reachability, Shape, System};
use crate::run::Context;
use crate::smt::{Smt, Solver};
use crate::term::TermId;
use crate::witness::Verdict;

settings! {
    /// Limits and choices of the search.
    Options {
        /// Length of runs up to which induction is tried.
        max_depth: usize = usize::MAX;
        /// A model has so many cubes at most.
        max_cubes: usize = 2_000, from 1;
        /// No state of a run comes twice; without, some systems have no k.
        simple_paths: bool = true, source "Sheeran, Singh, Stålmarck, FMCAD 2000";
        /// Induction from facts forward too, not only from queries backward.
        forward: bool = true;
        /// Ask Z3's older arithmetic solver, as `trl` does.
        simplex: bool = true;
    }
}

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Kind {
    pub options: Options,
}

impl Engine for Kind {
    fn name(&self) -> &'static str {
        "kind"
    }

    /// Linear clauses over Booleans, numbers and bit-vectors, without quantifiers.
    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        supports(self.name(), shape)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        let simplex = self.options.simplex;
        linear::run(self.name(), system, simplex, cx, |smt, cx| {
            self.decide(system, smt, cx)
        })
    }
}

impl Kind {
    fn decide(&self, system: &System, smt: &Rc<Smt>, cx: &mut Context) -> Result<Verdict, Stop> {
        let reachability = Reachability::new(system);
        let forward = Steps::new(system, &reachability);
        let backward = forward.reversed();
        let mut from_facts = Side::new(system, &forward, smt, self.options.simple_paths);
        let mut from_queries = Side::new(system, &backward, smt, self.options.simple_paths);
        if let Some(trace) = constraint(system, &forward, &mut from_facts.solver, cx)? {
            return refutation(system, &forward, &trace).map(Verdict::Unsat);
        }
        let mut depth = 0;
        loop {
            cx.stats.set("kind.depth", depth as u64);
            let alive = from_facts.deepen();
            if let Some(trace) = from_facts.query(cx)? {
                return refutation(system, &forward, &trace).map(Verdict::Unsat);
            }
            let ended = if !alive || (self.options.forward && !from_facts.is_alive(cx)?) {
                Some(false)
            } else if !from_queries.deepen() || !from_queries.is_alive(cx)? {
                Some(true)
            } else {
                None
            };
            if let Some(is_backward) = ended {
                log::debug!("kind: no run of {depth} steps is left, backward: {is_backward}");
                let steps = if is_backward { &backward } else { &forward };
                let mut reach = Reach::new(system, steps, smt, self.options.max_cubes);
                let cubes = reach.close(cx)?;
                cx.stats.set("kind.cubes", cubes as u64);
                let model = reach.model(cx)?;
                let model = model.ok_or_else(|| incomplete("the states found are no model"))?;
                let mut model = if is_backward {
                    negated(system, model)
                } else {
                    model
                };
                complete(system, &reachability, &mut model);
                return Ok(Verdict::Sat(model));
            }
            depth += 1;
            if depth > self.options.max_depth {
                return Err(incomplete(format!("not inductive within {depth} steps")));
            }
        }
    }
}

/// Simple runs in one direction.
struct Side<'a> {
    system: &'a System,
    steps: &'a Steps,
    solver: Solver,
    unrolling: Unrolling,
    simple: bool,
}

impl<'a> Side<'a> {
    fn new(system: &'a System, steps: &'a Steps, smt: &Rc<Smt>, simple: bool) -> Self {
        Side {
            system,
            steps,
            solver: smt.solver(),
            unrolling: Unrolling::new(),
            simple,
        }
    }

    /// Adds a level; false when no predicate is left there by the dependencies alone.
    fn deepen(&mut self) -> bool {
        let (terms, solver) = (&self.system.terms, &mut self.solver);
        let alive = self.unrolling.add_level(self.system, self.steps, solver);
        if self.unrolling.levels.len() < 2 {
            return alive;
        }
        // What a run may start from comes at its start only.
        let Some(level) = self.unrolling.levels.last() else {
            return alive;
        };
        for &entry in &self.steps.entries {
            let step = &self.steps.all[entry];
            let place = step.to.and_then(|p| level.get(&p));
            let Some(place) = place.filter(|_| step.vars.len() == step.arguments) else {
                continue;
            };
            let vars = step.vars.iter().copied();
            let map = vars.zip(place.args.iter().copied()).collect();
            let start = terms.substitute(step.formula, &map);
            solver.assert(terms.not(terms.and(&[place.literal, start])));
        }
        alive
    }

    /// A run to a query at the last level.
    fn query(&mut self, cx: &Context) -> Result<Option<Trace>, Stop> {
        let terms = &self.system.terms;
        let (steps, solver) = (self.steps, &mut self.solver);
        let exits = self.unrolling.add_queries(terms, steps, solver);
        if exits.is_empty() {
            return Ok(None);
        }
        let any = literal(terms, "exit");
        solver.assert(terms.implies(any, terms.or(&exits)));
        if let Some(model) = ask(solver, &[any], cx)? {
            return Ok(Some(self.unrolling.trace(&model, true)?));
        }
        for exit in exits {
            solver.assert(terms.not(exit));
        }
        Ok(None)
    }

    /// Whether there is a simple run to the last level.
    fn is_alive(&mut self, cx: &Context) -> Result<bool, Stop> {
        let terms = self.system.terms.clone();
        self.solver.assert(terms.or(&self.unrolling.last_places()));
        while let Some(model) = ask(&mut self.solver, &[], cx)? {
            let trace = self.unrolling.trace(&model, false)?;
            if !self.simple || !self.keep_apart(&trace) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Demands that states of the run that are the same differ; false when there are none.
    fn keep_apart(&mut self, trace: &Trace) -> bool {
        let terms = self.system.terms.clone();
        let mut seen: FxHashMap<(PredicateId, Vec<TermId>), usize> = FxHashMap::default();
        let mut found = false;
        for (level, instance) in trace.steps.iter().enumerate() {
            let Some(predicate) = self.steps.all[instance.step].to else {
                continue;
            };
            let place = &self.unrolling.levels[level][&predicate];
            let state = place.args.iter().map(|a| trace.values[a]).collect();
            let Some(before) = seen.insert((predicate, state), level) else {
                continue;
            };
            found = true;
            let earlier = &self.unrolling.levels[before][&predicate];
            let pairs = earlier.args.iter().zip(&place.args);
            let same: Vec<TermId> = pairs.map(|(&a, &b)| terms.eq(a, b)).collect();
            let both = [earlier.literal, place.literal, terms.and(&same)];
            self.solver.assert(terms.not(terms.and(&both)));
        }
        found
    }
}
