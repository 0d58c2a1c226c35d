//! The fixpoint of a layer, component by component in the order of dependencies.
//!
//! Invariant: the values that a run returns are a post-fixpoint: for each cube, the value of the head
//! contains the effect of the cube on the values of its body. This holds also if the budget ends
//! before: then the values of the components that were not finished are those of the layer before.

use super::compile::{Cube, Formula, Program, Row};
use super::element::{Element, Widening};
use super::transfer::{Extent, Layer, STEP, Transfer};
use alphorn_chc::{DependencyGraph, System, WtoElement};
use alphorn_term::run::Budget;

/// Rounds of a component before widening.
const DELAY: u32 = 2;
/// Changes of a value before widening goes to infinity.
const MAX_JUMPS: u32 = 8;
/// Changes of a value after which the layer's value of its component is given up. Chains end, so this
/// is a limit of the work only.
const MAX_CHANGES: u32 = 400;
/// Rounds of narrowing.
const NARROWING: usize = 2;
/// Steps between looks at the budget.
const STEPS: u64 = 10_000;

/// The order in which values are computed.
pub(super) struct Schedule {
    order: Vec<WtoElement>,
    /// By predicate, the cubes that derive its facts.
    pub definitions: Vec<Vec<u32>>,
    /// The cubes without a head.
    pub queries: Vec<u32>,
}

impl Schedule {
    pub fn new(system: &System, program: &Program) -> Schedule {
        let mut definitions = vec![Vec::new(); system.predicates.len()];
        let mut queries = Vec::new();
        for (at, cube) in (0..).zip(&program.cubes) {
            match &cube.head {
                Some((p, _)) => definitions[*p].push(at),
                None => queries.push(at),
            }
        }
        Schedule {
            order: DependencyGraph::new(system).weak_topological_order(),
            definitions,
            queries,
        }
    }

    /// The predicates in the order of dependencies.
    pub fn predicates(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.order.iter().map(|element| predicate(*element))
    }

    /// The predicates that facts of the queries' bodies depend on.
    pub fn slice(&self, program: &Program, queries: &[u32]) -> Vec<bool> {
        let mut needed = vec![false; self.definitions.len()];
        let mut stack: Vec<u32> = queries.to_vec();
        while let Some(cube) = stack.pop() {
            for (p, _) in &program.cubes[cube as usize].body {
                if !needed[*p] {
                    needed[*p] = true;
                    stack.extend(&self.definitions[*p]);
                }
            }
        }
        needed
    }
}

fn predicate(element: WtoElement) -> usize {
    match element {
        WtoElement::Vertex(p) | WtoElement::Component { head: p, .. } => p.index(),
    }
}

/// A run of one layer.
pub(super) struct Run<'a, 'b> {
    schedule: &'a Schedule,
    transfer: &'a mut Transfer<'b>,
    layer: Layer,
    /// The values of the layers before; `None` for no facts.
    known: &'a [Option<Element>],
    /// The predicates whose values are computed; the others keep theirs.
    slice: &'a [bool],
    values: Vec<Option<Element>>,
    /// By predicate, how often its value changed; by cube, the sum of these of its body when it was
    /// last applied.
    changes: Vec<u32>,
    applied: Vec<Option<u64>>,
    budget: &'a Budget,
    /// Steps since the last look at the budget.
    steps: u64,
    /// Whether a value of the component was widened.
    widened: bool,
    is_cut: bool,
}

/// The values after a layer: from those before it, within a budget. The second result says whether
/// all components were finished.
pub(super) fn run(
    schedule: &Schedule,
    transfer: &mut Transfer,
    layer: Layer,
    known: &[Option<Element>],
    slice: &[bool],
    budget: &Budget,
) -> (Vec<Option<Element>>, bool) {
    let cubes = transfer.program().cubes.len();
    let values = known.iter().zip(slice);
    let mut run = Run {
        schedule,
        transfer,
        layer,
        known,
        slice,
        values: values.map(|(v, &s)| v.clone().filter(|_| !s)).collect(),
        changes: vec![0; known.len()],
        applied: vec![None; cubes],
        budget,
        steps: 0,
        widened: false,
        is_cut: false,
    };
    run.components();
    let complete = !run.is_cut;
    (run.values, complete)
}

impl Run<'_, '_> {
    fn components(&mut self) {
        let order = &self.schedule.order;
        let mut at = 0;
        while at < order.len() {
            let end = match order[at] {
                WtoElement::Vertex(_) => at + 1,
                WtoElement::Component { end, .. } => end,
            };
            let part = &order[at..end];
            if part.iter().any(|&e| self.slice[predicate(e)]) && !self.component(at, end) {
                for &element in part {
                    let p = predicate(element);
                    self.values[p] = self.known[p].clone();
                }
            }
            at = end;
        }
    }

    /// Computes the values of the elements from `start` to `end`; false if they are not finished.
    fn component(&mut self, start: usize, end: usize) -> bool {
        if self.is_cut {
            return false;
        }
        let order = &self.schedule.order;
        if let WtoElement::Vertex(p) = order[start] {
            self.raise(p.index(), Widening::None);
            return !self.is_cut;
        }
        let thresholds = self.thresholds(&order[start..end]);
        self.widened = false;
        if !self.ascend(start, end, &thresholds) {
            return false;
        }
        // Joins alone lead to the least solution.
        if !self.widened {
            return true;
        }
        for _ in 0..NARROWING {
            let mut changed = false;
            for &element in &order[start..end] {
                changed |= self.lower(predicate(element));
                // What is reached so far is sound.
                if self.is_cut {
                    return true;
                }
            }
            if !changed {
                break;
            }
        }
        true
    }

    /// The ascending phase (Bourdoncle, FMPA 1993: the recursive strategy, with an explicit stack).
    fn ascend(&mut self, start: usize, end: usize, thresholds: &[i64]) -> bool {
        let order = &self.schedule.order;
        // Open components: their start, their end, their rounds.
        let mut stack: Vec<(usize, usize, u32)> = Vec::new();
        let mut at = start;
        loop {
            if self.is_cut {
                return false;
            }
            if let Some(&mut (first, past, ref mut rounds)) = stack.last_mut()
                && at == past
            {
                *rounds += 1;
                let p = predicate(order[first]);
                self.widened |= *rounds > DELAY;
                let widening = match (*rounds > DELAY, self.changes[p] < MAX_JUMPS) {
                    (false, _) => Widening::None,
                    (true, true) => Widening::Thresholds(thresholds),
                    (true, false) => Widening::Infinite,
                };
                if self.raise(p, widening) {
                    if self.changes[p] > MAX_CHANGES {
                        return false;
                    }
                    at = first + 1;
                } else {
                    stack.pop();
                }
                continue;
            }
            if at == end {
                return true;
            }
            let p = predicate(order[at]);
            self.raise(p, Widening::None);
            if let WtoElement::Component { end, .. } = order[at] {
                stack.push((at, end, 0));
            }
            at += 1;
        }
    }

    /// The numbers of the rows of a component's cubes, and their neighbours.
    fn thresholds(&self, elements: &[WtoElement]) -> Vec<i64> {
        if self.layer != Layer::Ranges {
            return Vec::new();
        }
        let program = self.transfer.program();
        let mut found = Vec::new();
        let mut cubes: Vec<u32> = Vec::new();
        for &element in elements {
            cubes.extend(&self.schedule.definitions[predicate(element)]);
        }
        for &at in &cubes {
            numbers(&program.cubes[at as usize], &mut found);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The effect of a cube on the present values: what the layers before know of the head, with what
    /// the layer finds.
    fn post(&mut self, at: u32) -> Option<Element> {
        let cube = &self.transfer.program().cubes[at as usize];
        let known = self.known[cube.head.as_ref()?.0].as_ref()?;
        let mut bodies: Vec<&Element> = Vec::with_capacity(cube.body.len());
        for (p, _) in &cube.body {
            bodies.push(self.values[*p].as_ref()?);
        }
        let before = self.transfer.steps;
        let extent = Extent::Only(self.layer);
        let result = self.transfer.post(at, &bodies, self.known, extent);
        let steps = u32::try_from(self.transfer.steps - before).unwrap_or(u32::MAX);
        self.budget.terms().charge(STEP * steps);
        self.steps += u64::from(steps);
        if self.steps >= STEPS {
            self.steps = 0;
            self.is_cut |= self.budget.is_spent();
        }
        Some(known.with(result?, self.layer))
    }

    /// Enlarges the value of a predicate by the cubes whose bodies changed; whether it changed.
    fn raise(&mut self, p: usize, widening: Widening) -> bool {
        if !self.slice[p] {
            return false;
        }
        let (schedule, program) = (self.schedule, self.transfer.program());
        let mut changed = false;
        for &at in &schedule.definitions[p] {
            let cube = &program.cubes[at as usize];
            let stamp = cube.body.iter().map(|(q, _)| u64::from(self.changes[*q]));
            let stamp = stamp.sum();
            if self.applied[at as usize] == Some(stamp) {
                continue;
            }
            self.applied[at as usize] = Some(stamp);
            let Some(found) = self.post(at) else {
                continue;
            };
            let grown = match &mut self.values[p] {
                None => {
                    self.values[p] = Some(found);
                    true
                }
                Some(value) => value.join(&found, self.layer, widening),
            };
            if grown {
                if let (Layer::Ranges, Some(value)) = (self.layer, &mut self.values[p]) {
                    value.stay_within(&program.starts[p]);
                }
                self.changes[p] += 1;
                changed = true;
            }
        }
        changed
    }

    /// Replaces the value of a predicate by the join of its cubes' effects if that is smaller; whether
    /// it changed.
    fn lower(&mut self, p: usize) -> bool {
        if !self.slice[p] || self.values[p].is_none() {
            return false;
        }
        let schedule = self.schedule;
        let mut joined: Option<Element> = None;
        for &at in &schedule.definitions[p] {
            match (&mut joined, self.post(at)) {
                (_, None) => {}
                (None, found) => joined = found,
                (Some(joined), Some(found)) => {
                    joined.join(&found, self.layer, Widening::None);
                }
            }
        }
        let is_smaller = match (&self.values[p], &joined) {
            (Some(old), Some(new)) => {
                let grows =
                    |a: &Element, b: &Element| a.clone().join(b, self.layer, Widening::None);
                !grows(old, new) && grows(new, old)
            }
            (old, None) => old.is_some(),
            (None, Some(_)) => false,
        };
        if is_smaller {
            self.values[p] = joined;
        }
        is_smaller
    }
}

/// Adds the numbers of a cube's rows and bounds.
fn numbers(cube: &Cube, found: &mut Vec<i64>) {
    let mut add = |value: i64| found.extend([value - 1, value, value + 1]);
    for range in &cube.start {
        let (low, high) = range.finite();
        low.into_iter().chain(high).for_each(&mut add);
    }
    let mut stack: Vec<&Formula> = cube.formulas.iter().collect();
    while let Some(formula) = stack.pop() {
        match formula {
            Formula::Row(Row {
                terms, constant, ..
            }) => {
                if terms.len() == 1 {
                    add(*constant);
                    add(-*constant);
                }
            }
            Formula::And(parts) | Formula::Or(parts) => stack.extend(parts),
            Formula::Define(..) => {}
        }
    }
}
