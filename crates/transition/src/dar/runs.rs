//! Runs from facts, unrolled until they do not reach a backward frame.
//!
//! Invariant: the places of level `l` are in the forward frame `l + 1`.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::frames::Side;
use super::interpolants::{Edge, Interpolants, Place, Problem};
use alphorn_chc::{Atom, PredicateId, System};
use alphorn_proof::steps::{Steps, literal};
use alphorn_proof::trace::Trace;
use alphorn_proof::unroll::Unrolling;
use alphorn_proof::{Stop, ask};
use alphorn_smt::{Smt, Solver};
use alphorn_term::TermId;
use alphorn_term::run::Context;

/// The result for a bound.
pub(super) enum Bound {
    /// A run to a query.
    Reached(Trace),
    /// After `after` steps, the backward frame of the remaining steps is not reached; the
    /// interpolation problem of that.
    Disjoint { after: usize, problem: Problem },
}

/// The unrolling from facts.
pub(super) struct Runs<'a> {
    system: &'a System,
    steps: &'a Steps,
    solver: Solver,
    unrolling: Unrolling,
    /// For each place, the number of conjuncts of its frame that are asserted.
    asserted: FxHashMap<(usize, PredicateId), usize>,
}

impl<'a> Runs<'a> {
    /// The runs of length zero.
    pub fn new(system: &'a System, steps: &'a Steps, smt: &Rc<Smt>) -> Self {
        Runs {
            system,
            steps,
            solver: smt.solver(),
            unrolling: Unrolling::from_entries(),
            asserted: FxHashMap::default(),
        }
    }

    /// Searches for a run of `bound + 1` steps: the least number of steps after which the backward
    /// frame of the remaining steps is not reached, or a run. Without backward frames, only full
    /// runs are considered.
    pub fn find_disjoint(
        &mut self,
        forward: &Side,
        backward: Option<&Side>,
        bound: usize,
        cx: &Context,
    ) -> Result<Bound, Stop> {
        let terms = self.system.terms.clone();
        for after in 1..=bound {
            if self.unrolling.levels.len() < after {
                self.unrolling
                    .add_level(self.system, self.steps, &mut self.solver);
            }
            self.assert_frames(forward);
            let Some(backward) = backward else { continue };
            let mut ends = Vec::new();
            for predicate in self.predicates(after - 1) {
                let place = &self.unrolling.levels[after - 1][&predicate];
                let formula = backward.formula(bound + 1 - after, predicate, &place.args);
                if formula != TermId::FALSE {
                    ends.push((predicate, formula, place.literal));
                }
            }
            let reached: Vec<TermId> = ends.iter().map(|e| terms.and(&[e.1, e.2])).collect();
            self.solver.push();
            self.solver.assert(terms.or(&reached));
            let model = ask(&mut self.solver, &[], cx);
            self.solver.pop();
            if model?.is_none() {
                let ends = ends.into_iter().map(|e| (e.0, e.1)).collect();
                let problem = self.problem(forward, after, ends);
                return Ok(Bound::Disjoint { after, problem });
            }
        }
        let exits = self
            .unrolling
            .add_queries(&terms, self.steps, &mut self.solver);
        let any = literal(&terms, "exit");
        let literals: Vec<TermId> = exits.iter().map(|e| e.instance.literal).collect();
        self.solver.assert(terms.implies(any, terms.or(&literals)));
        if let Some(model) = ask(&mut self.solver, &[any], cx)? {
            let run = self.unrolling.run_to_query(&exits, &model)?;
            return Ok(Bound::Reached(run));
        }
        for literal in literals {
            self.solver.assert(terms.not(literal));
        }
        let ends = exits.iter().map(|e| (e.predicate, e.instance.formula));
        let problem = self.problem(forward, bound, ends.collect());
        let after = bound + 1;
        Ok(Bound::Disjoint { after, problem })
    }

    /// Adds the interpolants of a problem to the frames.
    pub fn strengthen(
        &self,
        forward: &mut Side,
        problem: &Problem,
        interpolants: &mut Interpolants,
        cx: &Context,
    ) -> Result<(), Stop> {
        let found = interpolants.solve(problem, cx)?;
        let mut found = found.into_iter();
        for level in 0..self.unrolling.levels.len() {
            for predicate in self.predicates(level) {
                let Some(formula) = found.next() else {
                    return Ok(());
                };
                forward.add(level + 1, predicate, formula);
            }
        }
        Ok(())
    }

    /// The predicates of a level, in ascending order.
    fn predicates(&self, level: usize) -> Vec<PredicateId> {
        let mut predicates: Vec<PredicateId> =
            self.unrolling.levels[level].keys().copied().collect();
        predicates.sort_unstable();
        predicates
    }

    /// Asserts new conjuncts of the frames.
    fn assert_frames(&mut self, forward: &Side) {
        let terms = &self.system.terms;
        for (level, places) in self.unrolling.levels.iter().enumerate() {
            for (&predicate, place) in places {
                let conjuncts = forward.conjuncts(level + 1, predicate).unwrap_or(&[]);
                let asserted = self.asserted.entry((level, predicate)).or_default();
                let atom = Atom {
                    predicate,
                    args: place.args.clone(),
                };
                for &conjunct in &conjuncts[*asserted..] {
                    let here = self.system.instantiate(conjunct, &atom);
                    self.solver.assert(terms.implies(place.literal, here));
                }
                *asserted = conjuncts.len();
            }
        }
    }

    /// The interpolation problem of the runs of the first levels and `ends`, formulas that they do
    /// not reach at the last one. Places are in the order of levels and predicates.
    fn problem(&self, forward: &Side, levels: usize, ends: Vec<(PredicateId, TermId)>) -> Problem {
        let mut problem = Problem::default();
        let mut before: FxHashMap<PredicateId, usize> = FxHashMap::default();
        for level in 0..levels {
            let mut here = FxHashMap::default();
            for predicate in self.predicates(level) {
                let place = &self.unrolling.levels[level][&predicate];
                let index = problem.places.len();
                here.insert(predicate, index);
                problem.places.push(Place {
                    predicate,
                    args: place.args.clone(),
                    label: forward.formula(level + 1, predicate, &place.args),
                });
                for instance in &place.incoming {
                    problem.edges.push(Edge {
                        from: instance.from.map(|p| before[&p]),
                        to: Some(index),
                        formula: instance.formula,
                    });
                }
            }
            before = here;
        }
        for (predicate, formula) in ends {
            problem.edges.push(Edge {
                from: Some(before[&predicate]),
                to: None,
                formula,
            });
        }
        problem
    }
}
