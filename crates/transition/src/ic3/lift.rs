//! Predecessors without the bits that do not matter.
//!
//! A state, inputs and a step lead into a cube. First the gates are followed back from the guard
//! and the cube's bits, through arguments that decide them; then a core of the state's bits with
//! the inputs as they are contradicts that the step does not lead there (Chockler, Ivrii, Matsliah,
//! Moran, Nevo, "Incremental formal verification of hardware", FMCAD 2011).
//!
//! Invariant: from every state of the cube that is returned, the step leads with these inputs into
//! the cube that was given.

use rustc_hash::FxHashMap;

use super::level::Reached;
use super::steps::{Steps, Way};
use super::{Cube, Latch};
use alphorn_bits::sat::{Answer, Lit, SatSolver, Solver};
use alphorn_bits::{Bit, Encoding, Gate, Values};
use alphorn_term::run::Budget;

/// A solver is thrown away after so many questions.
const QUESTIONS: usize = 2000;

/// See the module.
pub(super) struct Lift {
    encoding: Encoding<Solver>,
    budget: Budget,
    questions: usize,
    values: Values,
    /// Of state bits, by gate.
    places: FxHashMap<usize, usize>,
}

impl Lift {
    pub fn new(steps: &Steps, budget: &Budget) -> Lift {
        let places = steps.state.iter().enumerate();
        Lift {
            encoding: Encoding::new(Solver::new(budget)),
            budget: budget.clone(),
            questions: 0,
            values: Values::default(),
            places: places.map(|(place, bit)| (bit.gate(), place)).collect(),
        }
    }

    /// The state's bits that the way into the cube needs; rather those that are preferred more.
    pub fn lift(
        &mut self,
        steps: &Steps,
        reached: &Reached,
        way: &Way,
        cube: &[Latch],
        prefer: impl Fn(Latch) -> f64,
    ) -> Cube {
        let step = &steps.all[reached.step];
        let next = |latch: &Latch| way.next[latch.place()].xor(latch.is_negated());
        let mut goals: Vec<Bit> = vec![way.guard];
        goals.extend(cube.iter().map(next));
        let mut needed = self.justified(steps, reached, &goals);
        needed.sort_by(|a, b| prefer(*b).total_cmp(&prefer(*a)).then(a.cmp(b)));

        if self.questions == QUESTIONS {
            *self = Lift::new(steps, &self.budget);
        }
        self.questions += 1;
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
        debug_assert_ne!(answer, Answer::Sat, "the way leads into the cube");
        if answer == Answer::Unsat {
            let solver = &self.encoding.solver;
            let mut parts = assumptions[first..].iter();
            needed.retain(|_| parts.next().is_some_and(|&a| solver.in_core(a)));
        }
        self.encoding.solver.add_clause(&[!on]);
        needed.sort_unstable();
        needed
    }

    /// Bits of the state from which the goals have the values that they have.
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
                    // What is needed anyway, else the older one: less is below it.
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
