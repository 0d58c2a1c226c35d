//! Lifting: predecessors without irrelevant bits.
//!
//! A state, inputs and a step lead into a cube. First the gates are followed backward from the
//! guard and the cube's bits, through arguments that decide them. Then the inputs and a core of the
//! state's bits contradict that the step does not lead into the cube (Chockler, Ivrii, Matsliah,
//! Moran, Nevo, "Incremental formal verification of hardware", FMCAD 2011).
//!
//! Invariant: from each state of the returned cube, the step with these inputs leads into the given
//! cube.

use rustc_hash::FxHashMap;

use super::level::Reached;
use super::limits::LIMITS;
use super::steps::{Branch, Steps};
use super::{Cube, Latch};
use alphorn_bits::sat::{Answer, Lit, SatSolver, Solver};
use alphorn_bits::{Bit, Encoding, Gate, Values};
use alphorn_term::run::Budget;

/// The solver for lifting.
pub(super) struct Lift {
    encoding: Encoding<Solver>,
    budget: Budget,
    /// The number of queries to the solver.
    queries: usize,
    values: Values,
    /// The positions of state bits by gate.
    places: FxHashMap<usize, usize>,
}

impl Lift {
    /// A solver without gates.
    pub fn new(steps: &Steps, budget: &Budget) -> Lift {
        let places = steps.state.iter().enumerate();
        Lift {
            encoding: Encoding::new(Solver::new(budget)),
            budget: budget.clone(),
            queries: 0,
            values: Values::default(),
            places: places.map(|(place, bit)| (bit.gate(), place)).collect(),
        }
    }

    /// The bits of a state that the step along a branch into the cube needs, if possible those with
    /// a high value of `prefer`.
    pub fn lift(
        &mut self,
        steps: &Steps,
        reached: &Reached,
        branch: &Branch,
        cube: &[Latch],
        prefer: impl Fn(Latch) -> f64,
    ) -> Cube {
        let step = &steps.all[reached.step];
        let next = |latch: &Latch| branch.next[latch.place()].xor(latch.is_negated());
        let mut goals: Vec<Bit> = vec![branch.guard];
        goals.extend(cube.iter().map(next));
        let mut needed = self.justified(steps, reached, &goals);
        needed.sort_by(|a, b| prefer(*b).total_cmp(&prefer(*a)).then(a.cmp(b)));

        if self.queries == LIMITS.lift_queries {
            *self = Lift::new(steps, &self.budget);
        }
        self.queries += 1;
        let gates = &steps.gates;
        let mut clause = Vec::with_capacity(goals.len() + 1);
        for &goal in &goals {
            clause.push(!self.encoding.literal(gates, goal));
        }
        let mut assumptions: Vec<Lit> = Vec::new();
        for (&input, &value) in step.inputs.iter().zip(&reached.inputs) {
            if let Some(literal) = self.encoding.known(input) {
                assumptions.push(literal.xor(!value));
            }
        }
        let first = assumptions.len();
        for latch in &needed {
            let literal = self.encoding.literal(gates, steps.state[latch.place()]);
            assumptions.push(literal.xor(latch.is_negated()));
        }
        let on = self.encoding.solver.new_literal();
        clause.push(!on);
        self.encoding.solver.add_clause(&clause);
        assumptions.push(on);
        let answer = self.encoding.solver.solve(&assumptions);
        debug_assert_ne!(answer, Answer::Sat, "the step leads into the cube");
        if answer == Answer::Unsat {
            let solver = &self.encoding.solver;
            let mut parts = assumptions[first..].iter();
            needed.retain(|_| parts.next().is_some_and(|&a| solver.in_core(a)));
        }
        self.encoding.solver.add_clause(&[!on]);
        needed.sort_unstable();
        needed
    }

    /// Bits of the state that, with the inputs, determine the values of the goals.
    fn justified(&mut self, steps: &Steps, reached: &Reached, goals: &[Bit]) -> Cube {
        let gates = &steps.gates;
        let step = &steps.all[reached.step];
        self.values.clear();
        for latch in &reached.state {
            let bit = steps.state[latch.place()];
            self.values.set(gates, bit, !latch.is_negated());
        }
        for (&input, &value) in step.inputs.iter().zip(&reached.inputs) {
            self.values.set(gates, input, value);
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let mut found = Vec::new();
        let mut stack: Vec<Bit> = goals.to_vec();
        while let Some(bit) = stack.pop() {
            if !seen.insert(bit.gate()) {
                continue;
            }
            match gates.gate(bit.gate()) {
                Gate::False => {}
                Gate::Input => {
                    if let Some(&place) = self.places.get(&bit.gate()) {
                        let value = self.values.of(gates, steps.state[place]);
                        found.push(Latch::new(place, !value));
                    }
                }
                Gate::And(a, b) => match (self.values.of(gates, a), self.values.of(gates, b)) {
                    (true, true) => stack.extend([a, b]),
                    (true, false) => stack.push(b),
                    (false, true) => stack.push(a),
                    // An argument that was already visited, else the older one, with fewer gates
                    // below.
                    (false, false) if seen.contains(&b.gate()) => {}
                    (false, false) => stack.push(a),
                },
                Gate::Xor(a, b) => stack.extend([a, b]),
                Gate::Mux(c, a, b) => {
                    let chosen = if self.values.of(gates, c) { a } else { b };
                    stack.extend([c, chosen]);
                }
            }
        }
        found
    }
}
