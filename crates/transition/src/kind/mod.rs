//! k-induction: a system is safe if no sequence of `k` steps leads into a query, or none from a
//! fact.
//!
//! For linear systems whose states exclude the queries within few steps, with constraints of any
//! size; it does not search for invariants. After Sheeran, Singh, Stålmarck, "Checking safety
//! properties using induction and a SAT-solver" (FMCAD 2000), in both directions.
//!
//! The clauses are unrolled forward from facts and backward from queries (`alphorn_proof::unroll`).
//! A query that the forward unrolling reaches is a refutation. When no run of some length is left
//! in one of the two directions, the system is safe. Runs are simple: no state occurs twice, and
//! only the first state is one to start from; the formulas for that are added where a model
//! violates them. Invariants that passes found are in the clauses' constraints, and so in force at
//! each step.
//!
//! Deviations:
//!
//! - The dependency graph is unrolled as it is; a state is a predicate with its arguments.
//! - There is a model. First a window of `k` or `2k` steps is tried as an inductive invariant
//!   (`alphorn_proof::window`), which suffices if no run of so many steps is left, simple or not.
//!   Otherwise: if no simple run of `k` steps is left backward from queries (or forward from
//!   facts), each state that can reach a query (or is reached from a fact) does so in fewer than
//!   `k` steps. The invariant is the complement of these states (or these states). Projection
//!   computes them step by step (`alphorn_proof::reach`).
//! - Queries whose constraints have local variables are not excluded along a run, which affects
//!   completeness only.
//! - A property of several conjuncts is asked conjunct by conjunct (`alphorn_proof::ask_cases`); a
//!   conjunct whose violation no simple run of some length reaches is not asked again.
//!
//! Invariant: `Sat` is answered only with a model that was checked against clauses, facts and
//! queries.

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
use alphorn_proof::{
    Stop, ask_cases, cases, complete_by_reachability, incomplete, negated, window,
};
use alphorn_smt::{Arithmetic, Smt, Solver};
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::{Model, Verdict};

/// The limits of `kind`.
struct Limits {
    /// Work for a window of one size; then the next size, or projection, is tried.
    window_work: Duration,
    /// The same limit as a part of the remaining time, which is divided by this.
    window_time_divisor: u32,
}

/// The limits in use.
const LIMITS: Limits = Limits {
    window_work: Duration::from_secs(60),
    window_time_divisor: 2,
};

settings! {
    /// Options of `kind`.
    Options {
        /// The largest number of steps for which induction is tried.
        max_depth: usize = usize::MAX;
    }
}

/// The engine `kind`.
#[derive(Clone, Debug, Default)]
pub struct Kind {
    /// The settings.
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
        // Z3's older simplex solver is faster here.
        driver::run(&*self, system, Arithmetic::Simplex, cx, |smt, cx| {
            self.decide(system, smt, cx)
        })
    }
}

impl Kind {
    /// Deepens both unrollings until there is an answer.
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
                // The window is at the end that no run reaches.
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
                        let none = || incomplete("the computed states are no model");
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

/// A model by a window of `depth` steps, or of twice as many, since runs that are not simple may be
/// left; `None` if neither is inductive or decided within its limit.
fn by_window(
    system: &System,
    steps: &Steps,
    depth: usize,
    smt: &Rc<Smt>,
    cx: &mut Context,
) -> Result<Option<Model>, Stop> {
    for k in [depth.max(1), 2 * depth.max(1)] {
        let left = cx.remaining().map_or(LIMITS.window_work, |left| {
            (left / LIMITS.window_time_divisor).min(LIMITS.window_work)
        });
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

/// The simple runs in one direction.
struct Side<'a> {
    system: &'a System,
    steps: &'a Steps,
    solver: Solver,
    unrolling: Unrolling,
    /// Cases of the step to the first level, if there is one only; those in which no simple run
    /// leads to the last level are removed.
    first: Vec<TermId>,
}

impl<'a> Side<'a> {
    /// The runs of length zero.
    fn new(system: &'a System, steps: &'a Steps, smt: &Rc<Smt>) -> Self {
        Side {
            system,
            steps,
            solver: smt.solver(),
            unrolling: Unrolling::from_entries(),
            first: Vec::new(),
        }
    }

    /// Adds a level. Returns `false` if the dependencies leave no predicate there.
    fn deepen(&mut self) -> bool {
        let (terms, solver) = (&self.system.terms, &mut self.solver);
        let alive = self.unrolling.add_level(self.system, self.steps, solver);
        if let [first] = &self.unrolling.levels[..] {
            let mut steps = first.values().flat_map(|place| &place.incoming);
            self.first = match (steps.next(), steps.next()) {
                (Some(only), None) => cases(terms, &[only.formula]),
                _ => vec![TermId::TRUE],
            };
            return alive;
        }
        // States from which a run may start are excluded after its start.
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

    /// A run to a query at the last level; if there is none, the queries are excluded there.
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
        let mut cases = match &exits[..] {
            [only] => cases(terms, &[only.instance.formula]),
            _ => vec![TermId::TRUE],
        };
        if let Some(model) = ask_cases(solver, &[any], &mut cases, cx)? {
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
        while let Some(model) = ask_cases(&mut self.solver, &[], &mut self.first, cx)? {
            let run = self.unrolling.run_to_last(&model)?;
            if !self.separate_equal_states(&run) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Asserts that equal states of a run differ. Returns `false` if there are none.
    fn separate_equal_states(&mut self, run: &Trace) -> bool {
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
