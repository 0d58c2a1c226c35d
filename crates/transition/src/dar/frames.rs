//! The frames of one direction, and the borders between the frames of both.
//!
//! Invariant: a frame has a formula for the predicates that runs of its number of steps reach by
//! the dependencies, and no states of other predicates. Frame 0 is the end where runs begin, which
//! is no predicate.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::interpolants::{Edge, Interpolants, Place, Problem};
use alphorn_chc::{Atom, PredicateId, System};
use alphorn_proof::steps::{Steps, literal};
use alphorn_proof::{Failure, Stop, ask};
use alphorn_smt::{Smt, Solver};
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::Model;

/// Conjuncts by predicate, over its formal variables.
type Frame = FxHashMap<PredicateId, Vec<TermId>>;

/// The frames of one direction.
pub(super) struct Side<'a> {
    system: &'a System,
    direction: Direction,
    /// The steps in this direction.
    steps: &'a Steps,
    frames: Vec<Frame>,
    /// Conjuncts of a frame that do not hold one step later, with the version of the frame at that
    /// time.
    stuck: FxHashMap<(usize, PredicateId, TermId), usize>,
}

/// The end where runs begin.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Direction {
    /// At facts.
    Forward,
    /// At queries.
    Backward,
}

impl<'a> Side<'a> {
    /// Frame 0 only.
    pub fn new(system: &'a System, direction: Direction, steps: &'a Steps) -> Self {
        Side {
            system,
            direction,
            steps,
            frames: vec![Frame::default()],
            stuck: FxHashMap::default(),
        }
    }

    /// The conjuncts of a predicate in a frame; `None` if the frame has no states of it.
    pub fn conjuncts(&self, frame: usize, predicate: PredicateId) -> Option<&[TermId]> {
        Some(self.frames.get(frame)?.get(&predicate)?)
    }

    /// The formula of a predicate in a frame over these arguments; `false` if the frame has no
    /// states of it.
    pub fn formula(&self, frame: usize, predicate: PredicateId, args: &[TermId]) -> TermId {
        let Some(conjuncts) = self.conjuncts(frame, predicate) else {
            return TermId::FALSE;
        };
        let atom = Atom {
            predicate,
            args: args.to_vec(),
        };
        let whole = self.system.terms.and(conjuncts);
        self.system.instantiate(whole, &atom)
    }

    /// The predicates of a frame, in ascending order.
    fn predicates(&self, frame: usize) -> Vec<PredicateId> {
        let mut predicates: Vec<PredicateId> = self.frames[frame].keys().copied().collect();
        predicates.sort_unstable();
        predicates
    }

    /// Adds the conjuncts of a formula to a frame, if it has the predicate.
    pub fn add(&mut self, frame: usize, predicate: PredicateId, formula: TermId) {
        let Some(known) = self.frames[frame].get_mut(&predicate) else {
            return;
        };
        for conjunct in self.system.terms.conjuncts(formula) {
            if !known.contains(&conjunct) {
                known.push(conjunct);
            }
        }
    }

    /// The steps from a frame, in ascending order: those to the other end, or the others.
    fn steps_from(&self, frame: usize, to_end: bool) -> Vec<usize> {
        let mut found = match (frame, to_end) {
            (0, false) => self.steps.entries.clone(),
            (0, true) => Vec::new(),
            _ => {
                let predicates = self.frames[frame].keys();
                let steps = predicates.flat_map(|&p| match to_end {
                    true => self.steps.queries(p),
                    false => self.steps.from(p),
                });
                steps.copied().collect()
            }
        };
        found.sort_unstable();
        found
    }

    /// Adds the frame after `frame`, if there is none, with the predicates that steps reach.
    pub fn extend(&mut self, frame: usize) {
        if self.frames.len() > frame + 1 {
            return;
        }
        let mut next = Frame::default();
        for step in self.steps_from(frame, false) {
            if let Some(to) = self.steps.all[step].to {
                next.insert(to, Vec::new());
            }
        }
        self.frames.push(next);
        if frame == 0 {
            for predicate in self.predicates(1) {
                if let Some(exact) = self.next_to_end(predicate) {
                    self.add(1, predicate, exact);
                }
            }
        }
    }

    /// The exact formula of a predicate next to the end; `None` if a clause has local variables.
    fn next_to_end(&self, predicate: PredicateId) -> Option<TermId> {
        let terms = &self.system.terms;
        let params = &self.system.predicate(predicate).params;
        let mut formulas = Vec::new();
        for &entry in &self.steps.entries {
            let step = &self.steps.all[entry];
            if step.to != Some(predicate) {
                continue;
            }
            if step.vars.len() > step.arguments {
                return None;
            }
            let vars = step.vars.iter().copied();
            let map = vars.zip(params.iter().copied()).collect();
            formulas.push(terms.substitute(step.formula, &map));
        }
        Some(terms.or(&formulas))
    }

    /// Strengthens the frame after `at` so that it is disjoint from the other side's frame `bound -
    /// at`. No step may lead from the frame `at` to that one.
    pub fn strengthen(
        &mut self,
        other: &Side,
        at: usize,
        bound: usize,
        borders: &mut Borders,
        interpolants: &mut Interpolants,
        cx: &Context,
    ) -> Result<(), Stop> {
        self.extend(at);
        let terms = self.system.terms.clone();
        for predicate in self.predicates(at + 1) {
            if !borders.meet(predicate, (self, at + 1), (other, bound - at), cx)? {
                continue;
            }
            let args = self.system.fresh_atom(predicate).args;
            let mut problem = Problem::default();
            problem.edges.push(Edge {
                from: Some(0),
                to: None,
                formula: other.formula(bound - at, predicate, &args),
            });
            for step in self.steps_from(at, false) {
                let shape = &self.steps.all[step];
                if shape.to != Some(predicate) {
                    continue;
                }
                let source = shape.from.map(|p| self.system.fresh_atom(p));
                let vars = source.iter().flat_map(|s| &s.args).chain(&args).copied();
                let instance = self.steps.instantiate(&terms, step, TermId::TRUE, vars);
                let before = source.map(|s| self.formula(at, s.predicate, &s.args));
                let before = before.unwrap_or(TermId::TRUE);
                problem.edges.push(Edge {
                    from: None,
                    to: Some(0),
                    formula: terms.and(&[before, instance.formula]),
                });
            }
            problem.places.push(Place {
                predicate,
                label: self.formula(at + 1, predicate, &args),
                args,
            });
            let found = interpolants.solve(&problem, cx)?;
            self.add(at + 1, predicate, found[0]);
        }
        Ok(())
    }

    /// Adds conjuncts that also hold one step later to the next frames, up to the last one.
    pub fn push(&mut self, last: usize, borders: &mut Borders, cx: &Context) -> Result<(), Stop> {
        for frame in 1..last {
            let version = self.version(frame);
            let steps = self.steps_from(frame, false);
            for predicate in self.predicates(frame + 1) {
                let conjuncts = self.conjuncts(frame, predicate).unwrap_or(&[]).to_vec();
                for conjunct in conjuncts {
                    let known = self.conjuncts(frame + 1, predicate);
                    let key = (frame, predicate, conjunct);
                    if known.is_some_and(|known| known.contains(&conjunct))
                        || self.stuck.get(&key) == Some(&version)
                    {
                        continue;
                    }
                    let mut holds = true;
                    for &step in &steps {
                        if self.steps.all[step].to != Some(predicate) {
                            continue;
                        }
                        let mut ends = [End::In(self, frame), End::Outside(conjunct)];
                        if self.direction == Direction::Backward {
                            ends.reverse();
                        }
                        if borders.is_possible(Border::Step(step), ends, cx)? {
                            holds = false;
                            break;
                        }
                    }
                    match holds {
                        true => self.add(frame + 1, predicate, conjunct),
                        false => drop(self.stuck.insert(key, version)),
                    }
                }
            }
        }
        Ok(())
    }

    /// The number of conjuncts of a frame.
    fn version(&self, frame: usize) -> usize {
        self.frames[frame].values().map(Vec::len).sum()
    }

    /// The disjunction of the frames before the first one, up to `last`, that implies it; `None` if
    /// there is none.
    pub fn closed(&self, last: usize, smt: &Rc<Smt>, cx: &Context) -> Result<Option<Model>, Stop> {
        let terms = &self.system.terms;
        let predicates = self.steps.predicates();
        let mut closed_at: Vec<bool> = vec![true; last + 1];
        for &predicate in &predicates {
            let params = &self.system.predicate(predicate).params;
            let mut solver = smt.solver();
            for (frame, closed) in closed_at.iter_mut().enumerate().skip(1) {
                let here = self.formula(frame, predicate, params);
                if here == TermId::FALSE {
                    continue;
                }
                if *closed {
                    solver.push();
                    solver.assert(here);
                    let outside = ask(&mut solver, &[], cx);
                    solver.pop();
                    *closed = outside?.is_none();
                }
                solver.assert(terms.not(here));
            }
        }
        let first = (2..=last).find(|&frame| closed_at[frame]);
        Ok(first.map(|closed| {
            log::debug!("dar: frame {closed} of {last} implies the disjunction of earlier ones");
            let reached = |&predicate: &PredicateId| {
                let params = &self.system.predicate(predicate).params;
                let frames = (1..closed).map(|frame| self.formula(frame, predicate, params));
                (predicate, terms.or(&frames.collect::<Vec<_>>()))
            };
            Model {
                definitions: predicates.iter().map(reached).collect(),
                ..Model::default()
            }
        }))
    }

    /// Checks that each frame is implied by steps from the one before.
    ///
    /// # Errors
    /// One is not, or a query has no answer.
    pub fn check(&self, smt: &Rc<Smt>, cx: &Context) -> Result<(), Stop> {
        let terms = &self.system.terms;
        for frame in 1..self.frames.len() {
            for step in self.steps_from(frame - 1, false) {
                let shape = &self.steps.all[step];
                let (from, to) = shape.vars[..shape.arguments].split_at(shape.first);
                let mut solver = smt.solver();
                solver.assert(shape.formula);
                if let Some(source) = shape.from {
                    solver.assert(self.formula(frame - 1, source, from));
                }
                if let Some(target) = shape.to {
                    solver.assert(terms.not(self.formula(frame, target, to)));
                }
                if ask(&mut solver, &[], cx)?.is_some() {
                    return Err(Stop::Failure(Failure {
                        step: "strengthening frames",
                        message: format!("a step leads out of frame {frame}"),
                    }));
                }
            }
        }
        Ok(())
    }
}

/// The formula between two frames in a query.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Border {
    /// A step, given by its index.
    Step(usize),
    /// A state of a predicate that is in both.
    Meet(PredicateId),
}

/// The condition on the states at one side.
#[derive(Clone, Copy)]
enum End<'s> {
    /// They are in a frame.
    In(&'s Side<'s>, usize),
    /// They do not satisfy a formula over the formal variables.
    Outside(TermId),
}

/// The solver of a border.
struct BorderSolver {
    solver: Solver,
    /// For each direction and frame, the number of conjuncts that are asserted.
    asserted: FxHashMap<(Direction, usize), usize>,
}

/// Solvers for whether frames have a common state, or a step leads from one to the other.
pub(super) struct Borders<'a> {
    system: &'a System,
    /// The steps forward.
    steps: &'a Steps,
    smt: &'a Rc<Smt>,
    solvers: FxHashMap<Border, BorderSolver>,
    /// The literals that put frames in force.
    literals: FxHashMap<(Direction, usize), TermId>,
    /// Pairs of frames, forward and backward, between which no step leads.
    disjoint: FxHashSet<(usize, usize)>,
}

impl<'a> Borders<'a> {
    /// No solvers.
    pub fn new(system: &'a System, steps: &'a Steps, smt: &'a Rc<Smt>) -> Self {
        Borders {
            system,
            steps,
            smt,
            solvers: FxHashMap::default(),
            literals: FxHashMap::default(),
            disjoint: FxHashSet::default(),
        }
    }

    /// The last forward frame `i` from which no step leads to the backward frame `bound - i`.
    pub fn latest(
        &mut self,
        forward: &Side,
        backward: &Side,
        bound: usize,
        cx: &Context,
    ) -> Result<Option<usize>, Stop> {
        for at in (0..=bound).rev() {
            if self.is_disjoint((forward, at), (backward, bound - at), cx)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Whether no step leads from a forward to a backward frame.
    fn is_disjoint(
        &mut self,
        forward: (&Side, usize),
        backward: (&Side, usize),
        cx: &Context,
    ) -> Result<bool, Stop> {
        let key = (forward.1, backward.1);
        if self.disjoint.contains(&key) {
            return Ok(true);
        }
        for step in forward.0.steps_from(forward.1, backward.1 == 0) {
            let target = self.steps.all[step].to;
            if target.is_some_and(|to| backward.0.conjuncts(backward.1, to).is_none()) {
                continue;
            }
            let ends = [forward, backward].map(|(side, frame)| End::In(side, frame));
            if self.is_possible(Border::Step(step), ends, cx)? {
                return Ok(false);
            }
        }
        self.disjoint.insert(key);
        Ok(true)
    }

    /// Whether two frames have a common state of a predicate.
    fn meet(
        &mut self,
        predicate: PredicateId,
        one: (&Side, usize),
        other: (&Side, usize),
        cx: &Context,
    ) -> Result<bool, Stop> {
        let is_empty = |f: (&Side, usize)| f.0.conjuncts(f.1, predicate).is_none();
        if is_empty(one) || is_empty(other) {
            return Ok(false);
        }
        let ends = [one, other].map(|(side, frame)| End::In(side, frame));
        self.is_possible(Border::Meet(predicate), ends, cx)
    }

    /// Whether a border is satisfiable with these conditions on both sides.
    fn is_possible(&mut self, border: Border, ends: [End; 2], cx: &Context) -> Result<bool, Stop> {
        let terms = &self.system.terms;
        let (formula, places) = match border {
            Border::Step(step) => {
                let shape = &self.steps.all[step];
                let (from, to) = shape.vars[..shape.arguments].split_at(shape.first);
                (shape.formula, [(shape.from, from), (shape.to, to)])
            }
            Border::Meet(predicate) => {
                let params = &self.system.predicate(predicate).params[..];
                (TermId::TRUE, [(Some(predicate), params); 2])
            }
        };
        let border_solver = self.solvers.entry(border).or_insert_with(|| {
            let mut solver = self.smt.solver();
            solver.assert(formula);
            BorderSolver {
                solver,
                asserted: FxHashMap::default(),
            }
        });
        let mut assumptions = Vec::new();
        for ((predicate, args), end) in places.into_iter().zip(ends) {
            let Some(predicate) = predicate else { continue };
            let atom = Atom {
                predicate,
                args: args.to_vec(),
            };
            let (side, frame) = match end {
                End::In(side, frame) => (side, frame),
                End::Outside(formula) => {
                    let here = self.system.instantiate(formula, &atom);
                    assumptions.extend(terms.conjuncts(terms.not(here)));
                    continue;
                }
            };
            let key = (side.direction, frame);
            let name = || literal(terms, "frame");
            let on = *self.literals.entry(key).or_insert_with(name);
            let conjuncts = side.conjuncts(frame, predicate).unwrap_or(&[]);
            let asserted = border_solver.asserted.entry(key).or_default();
            for &conjunct in &conjuncts[*asserted..] {
                let here = self.system.instantiate(conjunct, &atom);
                border_solver.solver.assert(terms.implies(on, here));
            }
            *asserted = conjuncts.len();
            assumptions.push(on);
        }
        Ok(ask(&mut border_solver.solver, &assumptions, cx)?.is_some())
    }
}
