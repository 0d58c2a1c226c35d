//! Transitive relation learning: bounded model checking in which loops become single steps.
//!
//! For linear systems with long or endless loops, which unrolling alone does not finish. After
//! Frohn, Giesl, "Infinite state model checking by learning transitive relations" (2025), and for
//! refutations "Integrating loop acceleration into bounded model checking" (FM 2024).
//!
//! The clauses are unrolled level by level (`alphorn_proof::unroll`). The run in a model is divided
//! into implicants of clauses, and a graph records which implicant has followed which (`trace`). A
//! cycle of the graph in the run is a loop. Its pass is generalized to a transitive relation
//! (`learn`), which becomes a new step; runs that take several steps where the relation needs one
//! are blocked (`block`), and the search goes back to the start of the loop. When no run of some
//! length is left, all states are reached in fewer steps; the reached states are the model.
//!
//! A run into a query may use relations, which over-approximate the loop. Then the search is
//! repeated with relations that do not: any number of passes with the differences of the model
//! (`accelerate`). A run into a query by these is a refutation, which is expanded to clauses
//! (`expand`). If this search ends without such a run, its relations give the model.
//!
//! Deviations:
//!
//! - The papers have one transition relation with the location as a variable. Here the dependency
//!   graph is unrolled: a relation belongs to a predicate and is over its arguments only.
//! - The number of passes is eliminated from relations, since their negations are asserted:
//!   relations have no quantifiers.
//! - A single step that is an instance of a relation is blocked at all levels, not only where it
//!   occurred.
//! - The model is computed after the search: unions of cubes, by projection of clauses and
//!   relations (`alphorn_proof::reach`). So it does not depend on what was blocked.
//! - Refutations come from the second search. The guards of its relations are convex, so that they
//!   hold for all passes between the first and the last, whose values are interpolated.
//!
//! Invariant: blocking runs affects termination only. `Sat` is answered only with a model that was
//! checked against clauses and queries, `Unsat` only with a refutation that evaluation has confirmed.

mod accelerate;
mod block;
mod expand;
mod learn;
#[cfg(test)]
mod tests;
mod trace;

use std::rc::Rc;

use self::block::{Blocked, Shortcut};
use self::expand::{Body, Expansion};
use self::learn::Pass;
use self::trace::{Found, Traces};
use alphorn_chc::{PredicateId, Reachability, Shape, System};
use alphorn_engine::settings::{Setting, settings};
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::reach::Reach;
use alphorn_proof::steps::{Origin, Step, Steps, literal};
use alphorn_proof::trace::{Trace, constraint_query};
use alphorn_proof::unroll::Unrolling;
use alphorn_proof::{Stop, ask, complete_by_reachability, incomplete, undefined};
use alphorn_smt::{Arithmetic, Smt, SmtModel, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Evaluator, Printer, TermId};
use alphorn_witness::{Refutation, Verdict};

settings! {
    /// Options of `trl`.
    Options {
        /// Search for refutations by acceleration if learned relations lead to a query.
        accelerate: bool = true, source "Frohn, Giesl, FM 2024";
    }
}

/// The engine `trl`.
#[derive(Clone, Debug, Default)]
pub struct Trl {
    /// The settings.
    pub options: Options,
}

/// The kind of learned relations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Over-approximations of repeated passes, for models.
    Over,
    /// Exactly repeated passes, for refutations.
    Exact,
}

/// The result of a search.
enum Outcome {
    /// No run of this length is left.
    Exhausted(usize),
    /// A run into a query.
    Run(Trace),
}

impl Engine for Trl {
    fn name(&self) -> &'static str {
        "trl"
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

impl Trl {
    /// Searches with over-approximating relations, and if needed again with exact ones.
    fn decide(&self, system: &System, smt: &Rc<Smt>, cx: &mut Context) -> Result<Verdict, Stop> {
        let reachability = Reachability::new(system);
        let mut search = Search::new(system, &reachability, smt, Mode::Over);
        let mut outcome = search.run(cx);
        search.count(cx);
        if let Ok(Outcome::Run(trace)) = &outcome
            && trace.steps.iter().any(|i| search.steps.is_learned(i.step))
        {
            if !self.options.accelerate {
                return Err(incomplete("learned relations lead to a query"));
            }
            log::debug!("trl: learned relations lead to a query; accelerating");
            search = Search::new(system, &reachability, smt, Mode::Exact);
            outcome = search.run(cx);
            search.count(cx);
        }
        match outcome? {
            Outcome::Run(trace) => {
                let refutation = search.expand(&trace, cx)?;
                cx.stats.set("trl.steps", refutation.steps.len() as u64);
                Ok(Verdict::Unsat(refutation))
            }
            Outcome::Exhausted(depth) => {
                log::debug!("trl: no run of {depth} steps is left");
                let mut reach = Reach::new(system, &search.steps, smt);
                let cubes = reach.close(cx)?;
                cx.stats.set("trl.cubes", cubes as u64);
                let mut model = reach.model(cx)?.ok_or_else(|| {
                    incomplete("the states reached by learned relations are no model")
                })?;
                complete_by_reachability(system, &reachability, &mut model);
                Ok(Verdict::Sat(model))
            }
        }
    }
}

/// One search with relations of one kind.
struct Search<'a> {
    system: &'a System,
    smt: &'a Rc<Smt>,
    solver: Solver,
    mode: Mode,
    steps: Steps,
    /// The passes of the learned relations, in exact mode.
    bodies: Vec<Body>,
    unrolling: Unrolling,
    blocked: Blocked,
    traces: Traces,
    counters: Counters,
}

/// What the statistics show.
#[derive(Default)]
struct Counters {
    /// Learned relations.
    learned: u64,
    /// Sequences of steps that were blocked.
    blocked: u64,
    /// Times that the search went back to the start of a loop.
    backtracks: u64,
    /// The largest number of levels.
    deepest: usize,
}

impl<'a> Search<'a> {
    fn new(system: &'a System, reachability: &Reachability, smt: &'a Rc<Smt>, mode: Mode) -> Self {
        Search {
            system,
            smt,
            solver: smt.solver(),
            mode,
            steps: Steps::new(system, reachability),
            bodies: Vec::new(),
            unrolling: Unrolling::from_entries(),
            blocked: Blocked::default(),
            traces: Traces::default(),
            counters: Counters::default(),
        }
    }

    /// Adds the counters to the statistics.
    fn count(&self, cx: &mut Context) {
        let c = &self.counters;
        cx.stats.add("trl.learned", c.learned);
        cx.stats.add("trl.blocked", c.blocked);
        cx.stats.add("trl.backtracks", c.backtracks);
        cx.stats.set("trl.depth", c.deepest as u64);
    }

    fn check(&mut self, assumptions: &[TermId], cx: &Context) -> Result<Option<SmtModel>, Stop> {
        ask(&mut self.solver, assumptions, cx)
    }

    /// Unrolls and learns until there is a run into a query or none is left.
    fn run(&mut self, cx: &mut Context) -> Result<Outcome, Stop> {
        if let Some(run) = constraint_query(self.system, &self.steps, &mut self.solver, cx)? {
            return Ok(Outcome::Run(run));
        }
        loop {
            let terms = self.system.terms.clone();
            let depth = self.unrolling.levels.len();
            self.counters.deepest = self.counters.deepest.max(depth);
            if !self.add_level() {
                return Ok(Outcome::Exhausted(depth));
            }
            let exits = self
                .unrolling
                .add_queries(&terms, &self.steps, &mut self.solver);
            if !exits.is_empty() {
                let any = literal(&terms, "exit");
                let literals: Vec<TermId> = exits.iter().map(|e| e.instance.literal).collect();
                self.solver.assert(terms.implies(any, terms.or(&literals)));
                if let Some(model) = self.check(&[any], cx)? {
                    let run = self.unrolling.run_to_query(&exits, &model)?;
                    return Ok(Outcome::Run(run));
                }
                for literal in literals {
                    self.solver.assert(terms.not(literal));
                }
            }
            self.solver.assert(terms.or(&self.unrolling.last_places()));
            let Some(model) = self.check(&[], cx)? else {
                return Ok(Outcome::Exhausted(depth));
            };
            let run = self.unrolling.run_to_last(&model)?;
            self.shorten(&run)?;
        }
    }

    /// Adds a level in a new scope of the solver. Returns `false` if no predicate is left there.
    fn add_level(&mut self) -> bool {
        self.solver.push();
        let (system, steps, solver) = (self.system, &self.steps, &mut self.solver);
        let alive = self.unrolling.add_level(system, steps, solver);
        let levels = &self.unrolling.levels;
        self.blocked
            .assert_last(&system.terms, steps, levels, solver);
        alive
    }

    /// Removes all levels after this one.
    fn back_to(&mut self, level: usize) {
        while self.unrolling.levels.len() > level + 1 {
            self.unrolling.levels.pop();
            self.solver.pop();
        }
    }

    /// Learns a relation for the shortest loop of a run for which there is one, and goes back to
    /// the level where it starts; without effect if there is no such loop.
    fn shorten(&mut self, trace: &Trace) -> Result<(), Stop> {
        let terms = self.system.terms.clone();
        let nodes = self
            .traces
            .add(&terms, &self.steps, trace)
            .ok_or_else(undefined)?;
        let loops = self.traces.loops(&self.steps, trace, &nodes);
        for Found { start, length } in loops {
            // Step `i` leads from level `i - 1` to level `i`.
            let (from, to) = (start - 1, start - 1 + length);
            let Some(predicate) = trace.steps[start].from else {
                continue;
            };
            let before = &self.unrolling.levels[from][&predicate].args;
            let after = &self.unrolling.levels[to][&predicate].args;
            let known = (0..self.steps.all.len()).rev().find(|&s| {
                let step = &self.steps.all[s];
                self.steps.is_learned(s) && step.from == Some(predicate) && {
                    let args = before.iter().chain(after).map(|a| trace.values[a]);
                    let values = step.vars.iter().copied().zip(args).collect();
                    let mut model = Evaluator::new(&terms, &values);
                    model.value(step.formula) == Some(TermId::TRUE)
                }
            });
            let step = match known {
                Some(step) => step,
                None => {
                    let literals: Vec<TermId> = nodes[start..start + length]
                        .iter()
                        .flat_map(|n| n.literals.clone())
                        .collect();
                    let pass = Pass {
                        literals: &literals,
                        before,
                        after,
                        values: &trace.values,
                    };
                    let relation = match self.mode {
                        Mode::Over => Some(pass.transitive(&terms).ok_or_else(undefined)?),
                        Mode::Exact => pass.accelerate(&terms).map(|acceleration| {
                            let literals = acceleration.literals.clone();
                            self.bodies.push(Body {
                                steps: trace.steps[start..start + length].to_vec(),
                                before: before.clone(),
                                after: after.clone(),
                                acceleration,
                            });
                            literals
                        }),
                    };
                    let Some(relation) = relation else {
                        self.traces.refuse(&nodes[start..start + length]);
                        continue;
                    };
                    self.learn(predicate, &relation, before.clone(), after.clone())
                }
            };
            if length > 1 {
                self.counters.blocked += 1;
                self.blocked.add(Shortcut {
                    step,
                    start: from,
                    length,
                });
            }
            self.counters.backtracks += 1;
            self.back_to(from);
            return Ok(());
        }
        Ok(())
    }

    /// Adds a relation over these variables as a step, and returns its index.
    fn learn(
        &mut self,
        predicate: PredicateId,
        relation: &[TermId],
        before: Vec<TermId>,
        after: Vec<TermId>,
    ) -> usize {
        let terms = &self.system.terms;
        let own: Vec<TermId> = before.into_iter().chain(after).collect();
        let map = terms.renaming(&own);
        let vars: Vec<TermId> = own.iter().map(|v| map[v]).collect();
        let formula = terms.substitute(terms.and(relation), &map);
        let number = self.counters.learned as usize;
        self.counters.learned += 1;
        if log::log_enabled!(log::Level::Debug) {
            let shown = terms.substitute(formula, &shown(self.system, predicate, &vars));
            let name = &self.system.predicate(predicate).name;
            log::debug!(
                "trl: {name} {:?} {}",
                self.mode,
                Printer::new(terms).term(shown)
            );
        }
        let (first, arguments) = (vars.len() / 2, vars.len());
        let origin = Origin::Learned(number);
        let (from, to) = (Some(predicate), Some(predicate));
        self.steps.add(Step {
            origin,
            from,
            to,
            formula,
            vars,
            first,
            arguments,
        })
    }

    /// The refutation of a run into a query.
    fn expand(&self, trace: &Trace, cx: &Context) -> Result<Refutation, Stop> {
        Expansion::new(self.system, &self.steps, &self.bodies, self.smt, cx).refutation(trace)
    }
}

/// For logs: maps variables to the formal variables, and to these with an apostrophe.
fn shown(
    system: &System,
    predicate: PredicateId,
    vars: &[TermId],
) -> rustc_hash::FxHashMap<TermId, TermId> {
    let terms = &system.terms;
    let params = &system.predicate(predicate).params;
    let after = params
        .iter()
        .map(|&p| terms.var(&format!("{}'", terms.var_name(p)), terms.sort_of(p)));
    vars.iter()
        .copied()
        .zip(params.iter().copied().chain(after.collect::<Vec<_>>()))
        .collect()
}
