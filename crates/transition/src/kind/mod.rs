//! k-induction: no run of some length into a query, from wherever, and none at all from a fact.
//!
//! For linear systems whose queries exclude themselves within few steps, with constraints of any
//! size: no invariant is looked for. After Sheeran, Singh, Stålmarck, "Checking Safety Properties
//! Using Induction and a SAT-Solver" (FMCAD 2000), in both directions.
//!
//! The clauses are unrolled forward from facts and backward from queries (`proof/unroll.rs`). A
//! query that the first reaches is a refutation. When no run of some length is left in one of the
//! two directions, the search is over. Runs are simple: no state comes twice, no state but the
//! first is one to start from; what excludes that is added where a model needs it. Invariants that
//! passes found are in the clauses' constraints, and so in force at every step.
//!
//! What differs from the paper:
//!
//! - The dependency graph is unrolled as it is; a state is a predicate with its arguments.
//! - A model is given. Mostly no run of `k` steps is left that is simple or not, or none of `2k`;
//!   then a window of so many steps gives an inductive invariant (`proof/window.rs`). Else, where
//!   no simple run of `k` steps is left from queries backward (or from facts forward), each state
//!   that can reach a query (or is reached from a fact) is at the end of a run, so at the end of a
//!   simple one, so within fewer than `k` steps. The invariant is the complement of these states
//!   (or these states). Projection finds them step by step (`proof/reach.rs`), as for the models of
//!   `trl`.
//! - A query's constraint with locals is not excluded along the way, which costs completeness only.
//!
//! Invariant: `Sat` is said when clauses, facts and queries were checked against the model.

#[cfg(test)]
mod tests;

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use alphorn_chc::{PredicateId, Reachability, Shape, System};
use alphorn_engine::settings::{Setting, settings};
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::reach::Reach;
use alphorn_proof::steps::{Steps, literal};
use alphorn_proof::trace::{Trace, constraint_query};
use alphorn_proof::unroll::Unrolling;
use alphorn_proof::{Stop, ask, complete_by_reachability, incomplete, negated, window};
use alphorn_smt::{Arithmetic, Smt, Solver};
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::{Model, Verdict};

/// Work for one window at most.
const WINDOW: Duration = Duration::from_secs(60);

settings! {
    /// Limits of the search.
    Options {
        /// Length of runs up to which induction is tried.
        max_depth: usize = usize::MAX;
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

    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        driver::supports_linear(self.name(), shape)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        // Z3's older arithmetic solver is the faster one here, as for `trl`.
        driver::run(&*self, system, Arithmetic::Simplex, cx, |smt, cx| {
            self.decide(system, smt, cx)
        })
    }
}

impl Kind {
    fn decide(&self, system: &System, smt: &Rc<Smt>, cx: &mut Context) -> Result<Verdict, Stop> {
        let reachability = Reachability::new(system);
        let forward = Steps::new(system, &reachability);
        let backward = forward.reversed();
        let mut from_facts = Side::new(system, &forward, smt);
        let mut from_queries = Side::new(system, &backward, smt);
        if let Some(run) = constraint_query(system, &forward, &mut from_facts.solver, cx)? {
            return Ok(Verdict::Unsat(run.refutation(system, &forward)?));
        }
        let mut depth = 0;
        loop {
            cx.stats.set("kind.depth", depth as u64);
            let alive = from_facts.deepen();
            if let Some(run) = from_facts.query(cx)? {
                return Ok(Verdict::Unsat(run.refutation(system, &forward)?));
            }
            let ended = if !alive || !from_facts.is_alive(cx)? {
                Some(false)
            } else if !from_queries.deepen() || !from_queries.is_alive(cx)? {
                Some(true)
            } else {
                None
            };
            if let Some(is_backward) = ended {
                log::debug!("kind: no run of {depth} steps is left, backward: {is_backward}");
                // The window stands at the end that no run gets to.
                let (steps, other) = match is_backward {
                    true => (&backward, &forward),
                    false => (&forward, &backward),
                };
                let found = by_window(system, other, depth, smt, cx)?;
                let (model, is_negated) = match found {
                    Some(model) => (model, !is_backward),
                    None => {
                        let mut reach = Reach::new(system, steps, smt);
                        let cubes = reach.close(cx)?;
                        cx.stats.set("kind.cubes", cubes as u64);
                        let model = reach.model(cx)?;
                        let none = || incomplete("the states found are no model");
                        (model.ok_or_else(none)?, is_backward)
                    }
                };
                let mut model = match is_negated {
                    true => negated(system, model),
                    false => model,
                };
                complete_by_reachability(system, &reachability, &mut model);
                return Ok(Verdict::Sat(model));
            }
            depth += 1;
            if depth > self.options.max_depth {
                return Err(incomplete(format!("not inductive within {depth} steps")));
            }
        }
    }
}

/// A model by a window of so many steps, or of twice as many, since runs that are not simple may be
/// left; `None` if that is not enough.
fn by_window(
    system: &System,
    steps: &Steps,
    depth: usize,
    smt: &Rc<Smt>,
    cx: &mut Context,
) -> Result<Option<Model>, Stop> {
    for k in [depth.max(1), 2 * depth.max(1)] {
        let left = cx.remaining().map_or(WINDOW, |left| (left / 2).min(WINDOW));
        match cx.within(cx.budget.work(left), |cx| {
            window(system, steps, k, None, smt, cx)
        }) {
            Ok(model) => {
                cx.stats.set("kind.window", k as u64);
                return Ok(Some(model));
            }
            Err(Stop::Reason(reason)) => log::debug!("kind: no window of {k} steps: {reason}"),
            Err(failure) => return Err(failure),
        }
        if let Some(reason) = cx.stop() {
            return Err(Stop::Reason(reason));
        }
    }
    Ok(None)
}

/// Simple runs in one direction.
struct Side<'a> {
    system: &'a System,
    steps: &'a Steps,
    solver: Solver,
    unrolling: Unrolling,
}

impl<'a> Side<'a> {
    fn new(system: &'a System, steps: &'a Steps, smt: &Rc<Smt>) -> Self {
        Side {
            system,
            steps,
            solver: smt.solver(),
            unrolling: Unrolling::from_entries(),
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
        let literals: Vec<TermId> = exits.iter().map(|e| e.instance.literal).collect();
        solver.assert(terms.implies(any, terms.or(&literals)));
        if let Some(model) = ask(solver, &[any], cx)? {
            return Ok(Some(self.unrolling.run_to_query(&exits, &model)?));
        }
        for literal in literals {
            solver.assert(terms.not(literal));
        }
        Ok(None)
    }

    /// Whether there is a simple run to the last level.
    fn is_alive(&mut self, cx: &Context) -> Result<bool, Stop> {
        let terms = self.system.terms.clone();
        self.solver.assert(terms.or(&self.unrolling.last_places()));
        while let Some(model) = ask(&mut self.solver, &[], cx)? {
            let run = self.unrolling.run_to_last(&model)?;
            if !self.keep_apart(&run) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Demands that states of the run that are the same differ; false when there are none.
    fn keep_apart(&mut self, run: &Trace) -> bool {
        let terms = self.system.terms.clone();
        let mut seen: FxHashMap<(PredicateId, Vec<TermId>), usize> = FxHashMap::default();
        let mut found = false;
        for (level, instance) in run.steps.iter().enumerate() {
            let Some(predicate) = self.steps.all[instance.step].to else {
                continue;
            };
            let place = &self.unrolling.levels[level][&predicate];
            let state = place.args.iter().map(|a| run.values[a]).collect();
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
