//! The frames of one direction, and the borders between those of both.
//!
//! Invariant: a frame has the predicates that runs of its number of steps come to by the
//! dependencies; no state of any other predicate is in it. Frame 0 is the end that runs begin at,
//! which is no predicate.

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

/// See the module.
pub(super) struct Side<'a> {
    system: &'a System,
    direction: Direction,
    /// In this direction.
    steps: &'a Steps,
    frames: Vec<Frame>,
    /// Conjuncts of a frame that do not hold one step later, by the version of the frame.
    stuck: FxHashMap<(usize, PredicateId, TermId), usize>,
}

/// Where runs begin.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Direction {
    /// At facts.
    Forward,
    /// At queries.
    Backward,
}

impl<'a> Side<'a> {
    pub fn new(system: &'a System, direction: Direction, steps: &'a Steps) -> Self {
        Side {
            system,
            direction,
            steps,
            frames: vec![Frame::default()],
            stuck: FxHashMap::default(),
        }
    }

    /// What holds of a predicate in a frame, `None` where nothing of it is there.
    pub fn conjuncts(&self, frame: usize, predicate: PredicateId) -> Option<&[TermId]> {
        Some(self.frames.get(frame)?.get(&predicate)?)
    }

    /// The same as one formula over these arguments; `false` where nothing is there.
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

    /// The predicates of a frame, ascending.
    fn predicates(&self, frame: usize) -> Vec<PredicateId> {
        let mut predicates: Vec<PredicateId> = self.frames[frame].keys().copied().collect();
        predicates.sort_unstable();
        predicates
    }

    /// Conjoins what holds, too; what the frame has already is not put in again.
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

    /// Steps from a frame, ascending; those to the other end only on demand.
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

    /// Makes the frame after `frame`, if there is none: what steps come to by the dependencies.
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

    /// Exactly what the clauses at the end say of a predicate, unless they have locals.
    fn next_to_end(&self, predicate: PredicateId) -> Option<TermId> {
        let terms = &self.system.terms;
        let params = &self.system.predicate(predicate).params;
        let mut ways = Vec::new();
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
            ways.push(terms.substitute(step.formula, &map));
        }
        Some(terms.or(&ways))
    }

    /// Strengthens the frame after `at`, so that it does not meet the other side's frame of what is
    /// left of the bound. No step leads from the frame `at` to that one.
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

    /// Conjuncts that hold one step later, too, join the frames after theirs, up to the last one.
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

    /// The conjuncts of a frame, counted.
    fn version(&self, frame: usize) -> usize {
        self.frames[frame].values().map(Vec::len).sum()
    }

    /// The frames before the first one up to `last` that implies their disjunction, as that.
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
            log::debug!("dar: frame {closed} of {last} adds nothing");
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

    /// Asks whether each frame is implied by steps from the one before.
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

/// What two frames are asked about.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Border {
    /// A step, by its index.
    Step(usize),
    /// States of a predicate that are in both.
    Meet(PredicateId),
}

/// Where a step, or a state, begins or ends.
#[derive(Clone, Copy)]
enum End<'s> {
    /// In a frame.
    In(&'s Side<'s>, usize),
    /// Where a formula over formal variables does not hold.
    Outside(TermId),
}

struct Asked {
    solver: Solver,
    /// By direction and frame: so many conjuncts are asserted.
    told: FxHashMap<(Direction, usize), usize>,
}

/// Whether frames of the two directions meet, or a step leads from one to the other.
pub(super) struct Borders<'a> {
    system: &'a System,
    /// Forward.
    steps: &'a Steps,
    smt: &'a Rc<Smt>,
    solvers: FxHashMap<Border, Asked>,
    /// Puts a frame in force.
    literals: FxHashMap<(Direction, usize), TermId>,
    /// Frames between which no step leads, which stays so.
    apart: FxHashSet<(usize, usize)>,
}

impl<'a> Borders<'a> {
    pub fn new(system: &'a System, steps: &'a Steps, smt: &'a Rc<Smt>) -> Self {
        Borders {
            system,
            steps,
            smt,
            solvers: FxHashMap::default(),
            literals: FxHashMap::default(),
            apart: FxHashSet::default(),
        }
    }

    /// The last forward frame from which no step leads to the backward frame of what is left of the
    /// bound.
    pub fn latest(
        &mut self,
        forward: &Side,
        backward: &Side,
        bound: usize,
        cx: &Context,
    ) -> Result<Option<usize>, Stop> {
        for at in (0..=bound).rev() {
            if self.is_apart((forward, at), (backward, bound - at), cx)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    fn is_apart(
        &mut self,
        forward: (&Side, usize),
        backward: (&Side, usize),
        cx: &Context,
    ) -> Result<bool, Stop> {
        let key = (forward.1, backward.1);
        if self.apart.contains(&key) {
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
        self.apart.insert(key);
        Ok(true)
    }

    /// Whether states of a predicate are in both frames, in any order.
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
        let asked = self.solvers.entry(border).or_insert_with(|| {
            let mut solver = self.smt.solver();
            solver.assert(formula);
            Asked {
                solver,
                told: FxHashMap::default(),
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
            let told = asked.told.entry(key).or_default();
            for &conjunct in &conjuncts[*told..] {
                let here = self.system.instantiate(conjunct, &atom);
                asked.solver.assert(terms.implies(on, here));
            }
            *told = conjuncts.len();
            assumptions.push(on);
        }
        Ok(ask(&mut asked.solver, &assumptions, cx)?.is_some())
    }
}
