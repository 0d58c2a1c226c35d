//! Gates as clauses of a SAT solver, encoded on demand (Tseitin's encoding).
//!
//! Invariant: in each solution of the clauses, the literal of a gate has the value of the gate.

use rustc_hash::FxHashMap;

use super::gates::{Bit, Gate, Gates};
use crate::sat::{Lit, SatSolver};

/// A SAT solver with clauses for some of the gates of a circuit.
pub struct Encoding<S> {
    /// The solver.
    pub solver: S,
    /// The literals of the encoded gates, by gate.
    literals: FxHashMap<usize, Lit>,
    /// A literal that is true.
    true_literal: Lit,
}

impl<S: SatSolver> Encoding<S> {
    /// An encoding of no gates.
    pub fn new(mut solver: S) -> Self {
        let true_literal = solver.new_literal();
        solver.add_clause(&[true_literal]);
        Encoding {
            solver,
            literals: FxHashMap::from_iter([(Bit::FALSE.gate(), !true_literal)]),
            true_literal,
        }
    }

    /// The literal of a bit; `None` if its gate is not encoded.
    pub fn known(&self, bit: Bit) -> Option<Lit> {
        let literal = self.literals.get(&bit.gate())?;
        Some(literal.xor(bit.is_negated()))
    }

    /// The literal of a bit; encodes its gate and those that it depends on.
    pub fn literal(&mut self, gates: &Gates, root: Bit) -> Lit {
        let mut stack = vec![root.gate()];
        while let Some(&number) = stack.last() {
            if self.literals.contains_key(&number) {
                stack.pop();
                continue;
            }
            let gate = gates.gate(number);
            let before = stack.len();
            let open = |bit: &Bit| !self.literals.contains_key(&bit.gate());
            stack.extend(gate.arguments().filter(open).map(Bit::gate));
            if stack.len() == before {
                let literal = self.encode(gate);
                self.literals.insert(number, literal);
                stack.pop();
            }
        }
        self.known(root).expect("it was encoded")
    }

    /// A literal for a gate whose arguments are encoded.
    fn encode(&mut self, gate: Gate) -> Lit {
        let out = match gate {
            Gate::False => return !self.true_literal,
            Gate::Input => return self.solver.new_literal(),
            _ => self.solver.new_defined(true),
        };
        let known = |bit: Bit| {
            let literal = self.literals[&bit.gate()];
            literal.xor(bit.is_negated())
        };
        definition(gate, out, known, |clause| self.solver.add_clause(clause));
        out
    }
}

/// Calls `clause` with the clauses that make `out` equivalent to the gate; `known` gives the literals
/// of its arguments. There are none for `false` and inputs.
pub fn definition(
    gate: Gate,
    out: Lit,
    known: impl Fn(Bit) -> Lit,
    mut clause: impl FnMut(&[Lit]),
) {
    match gate {
        Gate::False | Gate::Input => {}
        Gate::And(a, b) => {
            let (a, b) = (known(a), known(b));
            clause(&[!out, a]);
            clause(&[!out, b]);
            clause(&[out, !a, !b]);
        }
        Gate::Xor(a, b) => {
            let (a, b) = (known(a), known(b));
            clause(&[!out, a, b]);
            clause(&[!out, !a, !b]);
            clause(&[out, !a, b]);
            clause(&[out, a, !b]);
        }
        Gate::Mux(c, a, b) => {
            let (c, a, b) = (known(c), known(a), known(b));
            clause(&[!c, !a, out]);
            clause(&[!c, a, !out]);
            clause(&[c, !b, out]);
            clause(&[c, b, !out]);
            // These two follow from the others and propagate more.
            clause(&[!a, !b, out]);
            clause(&[a, b, !out]);
        }
    }
}
