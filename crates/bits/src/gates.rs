//! Circuits: hash-consed gates over inputs.
//!
//! Invariant: the arguments of a gate have smaller numbers, and no two gates other than inputs have
//! the same operation and arguments. No gate has a constant argument, or two arguments of the same
//! gate that decide its value.

use std::ops::Not;

use rustc_hash::FxHashMap;

/// The value of a gate or its negation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Bit(u32);

impl Bit {
    /// The constant `false`.
    pub const FALSE: Bit = Bit(0);
    /// The constant `true`.
    pub const TRUE: Bit = Bit(1);

    fn new(gate: usize) -> Bit {
        Bit(2 * u32::try_from(gate).expect("there are fewer gates"))
    }

    /// The number of the gate.
    pub fn gate(self) -> usize {
        (self.0 / 2) as usize
    }

    /// Whether it is the negation of the gate's value.
    pub fn is_negated(self) -> bool {
        self.0 % 2 == 1
    }

    /// The bit, negated if `negated`.
    #[must_use]
    pub fn xor(self, negated: bool) -> Bit {
        Bit(self.0 ^ u32::from(negated))
    }

    /// The value of a constant; `None` for other bits.
    pub fn constant(self) -> Option<bool> {
        (self.gate() == 0).then_some(self == Bit::TRUE)
    }
}

impl Not for Bit {
    type Output = Bit;

    fn not(self) -> Bit {
        self.xor(true)
    }
}

impl From<bool> for Bit {
    fn from(value: bool) -> Bit {
        Bit::FALSE.xor(value)
    }
}

/// The operation of a gate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Gate {
    /// The constant `false`, gate 0.
    False,
    /// An input.
    Input,
    /// Conjunction.
    And(Bit, Bit),
    /// Exclusive or.
    Xor(Bit, Bit),
    /// The second argument if the first holds, else the third.
    Mux(Bit, Bit, Bit),
}

impl Gate {
    /// The arguments.
    pub fn arguments(self) -> impl Iterator<Item = Bit> {
        let (first, second, third) = match self {
            Gate::False | Gate::Input => (None, None, None),
            Gate::And(a, b) | Gate::Xor(a, b) => (Some(a), Some(b), None),
            Gate::Mux(c, a, b) => (Some(c), Some(a), Some(b)),
        };
        first.into_iter().chain(second).chain(third)
    }
}

/// A circuit.
pub struct Gates {
    gates: Vec<Gate>,
    numbers: FxHashMap<Gate, u32>,
}

impl Default for Gates {
    fn default() -> Self {
        Gates {
            gates: vec![Gate::False],
            numbers: FxHashMap::default(),
        }
    }
}

impl Gates {
    /// The number of gates, with the constant.
    #[expect(clippy::len_without_is_empty, reason = "there is always the constant")]
    pub fn len(&self) -> usize {
        self.gates.len()
    }

    /// The gate with this number.
    pub fn gate(&self, number: usize) -> Gate {
        self.gates[number]
    }

    /// A new input.
    pub fn input(&mut self) -> Bit {
        self.gates.push(Gate::Input);
        Bit::new(self.gates.len() - 1)
    }

    /// The inputs whose number is at least `first`.
    pub fn inputs_from(&self, first: usize) -> impl Iterator<Item = Bit> {
        let inputs = (first..self.len()).filter(|&gate| self.gates[gate] == Gate::Input);
        inputs.map(Bit::new)
    }

    fn make(&mut self, gate: Gate) -> Bit {
        let next = self.gates.len();
        let number = *self.numbers.entry(gate).or_insert(next as u32) as usize;
        if number == next {
            self.gates.push(gate);
        }
        Bit::new(number)
    }

    /// `a ∧ b`.
    pub fn and(&mut self, a: Bit, b: Bit) -> Bit {
        let (a, b) = (a.min(b), a.max(b));
        if a == Bit::FALSE || a == !b {
            return Bit::FALSE;
        }
        if a == Bit::TRUE || a == b {
            return b;
        }
        // One argument is a conjunction with the other argument or its negation.
        for (one, other) in [(a, b), (b, a)] {
            if let (Gate::And(x, y), false) = (self.gate(one.gate()), one.is_negated()) {
                if other == x || other == y {
                    return one;
                }
                if other == !x || other == !y {
                    return Bit::FALSE;
                }
            }
        }
        self.make(Gate::And(a, b))
    }

    /// `a ∨ b`.
    pub fn or(&mut self, a: Bit, b: Bit) -> Bit {
        !self.and(!a, !b)
    }

    /// `a ⊕ b`.
    pub fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        let negated = a.is_negated() != b.is_negated();
        let (a, b) = (a.xor(a.is_negated()), b.xor(b.is_negated()));
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return Bit::from(negated);
        }
        if a == Bit::FALSE {
            return b.xor(negated);
        }
        self.make(Gate::Xor(a, b)).xor(negated)
    }

    /// `then` if `condition` holds, else `otherwise`.
    pub fn mux(&mut self, condition: Bit, then: Bit, otherwise: Bit) -> Bit {
        if let Some(value) = condition.constant() {
            return if value { then } else { otherwise };
        }
        if then == otherwise {
            return then;
        }
        if then == !otherwise {
            return self.xor(condition, otherwise);
        }
        if condition.is_negated() {
            return self.mux(!condition, otherwise, then);
        }
        if then.constant() == Some(true) || then == condition {
            return self.or(condition, otherwise);
        }
        if then.constant() == Some(false) || then == !condition {
            return self.and(!condition, otherwise);
        }
        if otherwise.constant() == Some(true) || otherwise == !condition {
            return self.or(!condition, then);
        }
        if otherwise.constant() == Some(false) || otherwise == condition {
            return self.and(condition, then);
        }
        let negated = then.is_negated();
        let gate = Gate::Mux(condition, then.xor(negated), otherwise.xor(negated));
        self.make(gate).xor(negated)
    }

    /// The conjunction, as a balanced tree of gates; true if there are no bits.
    pub fn all(&mut self, bits: &[Bit]) -> Bit {
        let mut bits = bits.to_vec();
        while bits.len() > 1 {
            bits = bits
                .chunks(2)
                .map(|pair| match *pair {
                    [a, b] => self.and(a, b),
                    _ => pair[0],
                })
                .collect();
        }
        bits.first().copied().unwrap_or(Bit::TRUE)
    }

    /// The disjunction, as a balanced tree of gates; false if there are no bits.
    pub fn any(&mut self, bits: &[Bit]) -> Bit {
        let bits: Vec<Bit> = bits.iter().map(|&b| !b).collect();
        !self.all(&bits)
    }
}

/// Values of gates for given values of inputs, computed on demand.
#[derive(Default)]
pub struct Values {
    values: Vec<Option<bool>>,
    /// Gates with a value.
    known: Vec<u32>,
}

impl Values {
    /// Removes all values.
    pub fn clear(&mut self) {
        for gate in self.known.drain(..) {
            self.values[gate as usize] = None;
        }
    }

    /// Sets the value of an input, before values that depend on it are computed.
    pub fn set(&mut self, gates: &Gates, input: Bit, value: bool) {
        self.note(gates, input.gate(), value != input.is_negated());
    }

    fn note(&mut self, gates: &Gates, gate: usize, value: bool) {
        if self.values.len() < gates.len() {
            self.values.resize(gates.len(), None);
        }
        if self.values[gate].replace(value).is_none() {
            self.known.push(gate as u32);
        }
    }

    fn known(&self, bit: Bit) -> Option<bool> {
        let value = self.values.get(bit.gate()).copied().flatten();
        value.map(|value| value != bit.is_negated())
    }

    /// The value of a bit; inputs without a value are false.
    pub fn of(&mut self, gates: &Gates, root: Bit) -> bool {
        let mut stack = vec![root.gate()];
        while let Some(&gate) = stack.last() {
            if self.known(Bit::new(gate)).is_some() {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let open = |bit: &Bit| self.known(*bit).is_none();
            stack.extend(gates.gate(gate).arguments().filter(open).map(Bit::gate));
            if stack.len() > before {
                continue;
            }
            let value = |bit: Bit| self.known(bit).unwrap_or(false);
            let value = match gates.gate(gate) {
                Gate::False | Gate::Input => false,
                Gate::And(a, b) => value(a) && value(b),
                Gate::Xor(a, b) => value(a) != value(b),
                Gate::Mux(c, a, b) => value(if value(c) { a } else { b }),
            };
            self.note(gates, gate, value);
            stack.pop();
        }
        self.known(root).unwrap_or(false)
    }
}
