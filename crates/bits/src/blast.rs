//! Bit blasting: terms over Booleans and bit-vectors as gates.
//!
//! Sums are ripple-carry adders. A constant factor is recoded to signed digits, so that there are
//! fewer partial sums. A quotient is a chain of subtractions, which gives the results that SMT-LIB
//! defines for a divisor of zero.
//!
//! Invariant: for all values of the variables, the gates of a term have its value.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;
use thiserror::Error;

use super::gates::{Bit, Gates};
use super::limits::LIMITS;
use alphorn_term::run::Budget;
use alphorn_term::{Op, Sort, TermId, TermStore};

/// The work of making a gate.
const GATE_WORK: Duration = Duration::from_nanos(100);

/// The reason why a term has no gates.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum NotBits {
    /// A sub-term has a sort other than Bool and bit-vectors, an operator that is not supported, or
    /// is a variable that is not bound.
    #[error("a term with a sort or an operator that has no gates")]
    Operator,
    /// The term would need more than `LIMITS.max_gates` gates.
    #[error("more than {} gates", LIMITS.max_gates)]
    TooMany,
    /// The budget is spent.
    #[error("no time for the gates")]
    Stopped,
}

/// The bits of a term, the least significant one first; a Boolean has one bit.
pub type BitVector = Rc<[Bit]>;

/// The bits of terms, also of variables.
pub type BitVectors = FxHashMap<TermId, BitVector>;

/// Makes gates of terms; variables have the bits that they are bound to.
pub struct Blaster<'a> {
    terms: &'a TermStore,
    /// The circuit.
    pub gates: &'a mut Gates,
    budget: &'a Budget,
    known: BitVectors,
}

impl<'a> Blaster<'a> {
    /// A blaster without bound variables.
    pub fn new(terms: &'a TermStore, gates: &'a mut Gates, budget: &'a Budget) -> Self {
        Blaster::with(terms, gates, budget, BitVectors::default())
    }

    /// A blaster that begins with the bits that another one made in the same circuit.
    pub fn with(
        terms: &'a TermStore,
        gates: &'a mut Gates,
        budget: &'a Budget,
        known: BitVectors,
    ) -> Self {
        Blaster {
            terms,
            gates,
            budget,
            known,
        }
    }

    /// The number of bits of a term: one for Bool, the width for bit-vectors.
    ///
    /// # Errors
    /// The term has another sort.
    pub fn width(terms: &TermStore, term: TermId) -> Result<usize, NotBits> {
        match terms.sort(terms.sort_of(term)) {
            Sort::Bool => Ok(1),
            Sort::BitVec(width) => Ok(width as usize),
            _ => Err(NotBits::Operator),
        }
    }

    /// The bits of a bound variable or of a term whose gates have been made.
    pub fn known(&self, term: TermId) -> Option<BitVector> {
        self.known.get(&term).cloned()
    }

    /// Binds a variable to bits, as many as its sort has.
    pub fn bind(&mut self, variable: TermId, bits: &[Bit]) {
        self.known.insert(variable, Rc::from(bits));
    }

    /// Binds a variable to new inputs.
    ///
    /// # Errors
    /// It is neither of sort Bool nor a bit-vector.
    pub fn free(&mut self, variable: TermId) -> Result<(), NotBits> {
        let width = Self::width(self.terms, variable)?;
        let bits: Vec<Bit> = (0..width).map(|_| self.gates.input()).collect();
        self.bind(variable, &bits);
        Ok(())
    }

    /// The bits of all bound variables and of all terms whose gates have been made.
    pub fn into_bit_vectors(self) -> BitVectors {
        self.known
    }

    /// The bits of a term all of whose variables are bound.
    ///
    /// # Errors
    /// See [`NotBits`].
    pub fn bit_vector(&mut self, root: TermId) -> Result<BitVector, NotBits> {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            if self.known(term).is_some() {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let args = self.terms.args(term);
            stack.extend(args.iter().rev().filter(|&&a| self.known(a).is_none()));
            if stack.len() == before {
                if self.budget.is_spent() {
                    return Err(NotBits::Stopped);
                }
                let before = self.gates.len();
                let bits = self.gate(term)?;
                let made = u32::try_from(self.gates.len() - before).unwrap_or(u32::MAX);
                self.terms.charge(GATE_WORK.saturating_mul(made));
                self.bind(term, &bits);
                stack.pop();
            }
        }
        self.known(root).ok_or(NotBits::Operator)
    }

    /// The bit of a formula.
    ///
    /// # Errors
    /// See [`NotBits`].
    pub fn bit(&mut self, formula: TermId) -> Result<Bit, NotBits> {
        Ok(self.bit_vector(formula)?[0])
    }

    /// The bits of a term whose arguments are known.
    fn gate(&mut self, term: TermId) -> Result<Vec<Bit>, NotBits> {
        let node = self.terms.node(term);
        let width = Self::width(self.terms, term)?;
        // Products and quotients have a row of gates for each bit.
        let rows = match node.op {
            Op::BvMul | Op::BvUdiv | Op::BvUrem | Op::BvSdiv | Op::BvSrem | Op::BvSmod => width,
            _ => 1,
        };
        let size = rows.saturating_mul(width).saturating_mul(node.args.len());
        if self.gates.len().saturating_add(size) > LIMITS.max_gates {
            return Err(NotBits::TooMany);
        }
        let args: Option<Vec<BitVector>> = node.args.iter().map(|&a| self.known(a)).collect();
        let args = args.ok_or(NotBits::Operator)?;
        let bits = |args: &[BitVector]| args.iter().map(|a| a[0]).collect::<Vec<Bit>>();
        let g = &mut *self.gates;
        Ok(match &node.op {
            Op::True => vec![Bit::TRUE],
            Op::False => vec![Bit::FALSE],
            Op::BitVec(value) => (0..width).map(|i| Bit::from(value.bit(i as u64))).collect(),
            Op::Not => vec![!args[0][0]],
            Op::And => vec![g.all(&bits(&args))],
            Op::Or => vec![g.any(&bits(&args))],
            Op::Eq => vec![equal(g, &args[0], &args[1])],
            Op::Ite => mux(g, args[0][0], &args[1], &args[2]),
            // The first argument is the high part.
            Op::BvConcat => args.iter().rev().flat_map(|a| a.iter().copied()).collect(),
            Op::BvExtract(high, low) => args[0][*low as usize..=*high as usize].to_vec(),
            Op::BvZeroExtend(_) => extended(&args[0], width, Bit::FALSE),
            Op::BvSignExtend(_) => extended(&args[0], width, sign(&args[0])),
            Op::BvNot => not(&args[0]),
            Op::BvNeg => negated(g, &args[0]),
            Op::BvAnd => folded(g, &args, |g, a, b| bitwise(g, a, b, Gates::and)),
            Op::BvOr => folded(g, &args, |g, a, b| bitwise(g, a, b, Gates::or)),
            Op::BvXor => folded(g, &args, |g, a, b| bitwise(g, a, b, Gates::xor)),
            Op::BvAdd => folded(g, &args, |g, a, b| sum(g, a, b, Bit::FALSE)),
            Op::BvMul => folded(g, &args, product),
            Op::BvUdiv => divided(g, &args[0], &args[1]).0,
            Op::BvUrem => divided(g, &args[0], &args[1]).1,
            Op::BvSdiv => {
                let (quotient, _) = divided_signed(g, &args[0], &args[1]);
                let negative = g.xor(sign(&args[0]), sign(&args[1]));
                negated_if(g, negative, &quotient)
            }
            Op::BvSrem => {
                let (_, rest) = divided_signed(g, &args[0], &args[1]);
                negated_if(g, sign(&args[0]), &rest)
            }
            Op::BvSmod => {
                // The remainder with the sign of the divisor.
                let (_, rest) = divided_signed(g, &args[0], &args[1]);
                let rest = negated_if(g, sign(&args[0]), &rest);
                let zero = !g.any(&rest);
                let signs = g.xor(sign(&args[0]), sign(&args[1]));
                let moved = g.and(signs, !zero);
                let other = sum(g, &rest, &args[1], Bit::FALSE);
                mux(g, moved, &other, &rest)
            }
            Op::BvShl => {
                let turned: Vec<Bit> = args[0].iter().rev().copied().collect();
                let mut shifted = shifted_right(g, &turned, &args[1], Bit::FALSE);
                shifted.reverse();
                shifted
            }
            Op::BvLshr => shifted_right(g, &args[0], &args[1], Bit::FALSE),
            Op::BvAshr => shifted_right(g, &args[0], &args[1], sign(&args[0])),
            Op::BvUle => vec![at_most(g, &args[0], &args[1])],
            Op::BvSle => {
                let (mut a, mut b) = (args[0].to_vec(), args[1].to_vec());
                // With the sign bits flipped, the comparison is unsigned.
                for bits in [&mut a, &mut b] {
                    let last = bits.last_mut().expect("a bit-vector has bits");
                    *last = !*last;
                }
                vec![at_most(g, &a, &b)]
            }
            _ => return Err(NotBits::Operator),
        })
    }
}

fn sign(bits: &[Bit]) -> Bit {
    *bits.last().expect("a bit-vector has bits")
}

fn not(bits: &[Bit]) -> Vec<Bit> {
    bits.iter().map(|&b| !b).collect()
}

fn extended(bits: &[Bit], width: usize, with: Bit) -> Vec<Bit> {
    let mut bits = bits.to_vec();
    bits.resize(width, with);
    bits
}

fn folded(
    g: &mut Gates,
    args: &[BitVector],
    mut two: impl FnMut(&mut Gates, &[Bit], &[Bit]) -> Vec<Bit>,
) -> Vec<Bit> {
    let mut found = args[0].to_vec();
    for arg in &args[1..] {
        found = two(g, &found, arg);
    }
    found
}

fn bitwise(
    g: &mut Gates,
    a: &[Bit],
    b: &[Bit],
    mut gate: impl FnMut(&mut Gates, Bit, Bit) -> Bit,
) -> Vec<Bit> {
    a.iter().zip(b).map(|(&a, &b)| gate(g, a, b)).collect()
}

/// `then` if `condition` holds, else `otherwise`.
fn mux(g: &mut Gates, condition: Bit, then: &[Bit], otherwise: &[Bit]) -> Vec<Bit> {
    bitwise(g, then, otherwise, |g, a, b| g.mux(condition, a, b))
}

/// Whether two bit-vectors of one width are equal.
fn equal(g: &mut Gates, a: &[Bit], b: &[Bit]) -> Bit {
    let same: Vec<Bit> = bitwise(g, a, b, |g, a, b| !g.xor(a, b));
    g.all(&same)
}

/// `a + b + carry` modulo 2^width.
fn sum(g: &mut Gates, a: &[Bit], b: &[Bit], mut carry: Bit) -> Vec<Bit> {
    let mut found = Vec::with_capacity(a.len());
    for (&a, &b) in a.iter().zip(b) {
        let differ = g.xor(a, b);
        found.push(g.xor(differ, carry));
        carry = g.mux(differ, carry, a);
    }
    found
}

fn negated(g: &mut Gates, bits: &[Bit]) -> Vec<Bit> {
    let zero = vec![Bit::FALSE; bits.len()];
    sum(g, &not(bits), &zero, Bit::TRUE)
}

fn negated_if(g: &mut Gates, condition: Bit, bits: &[Bit]) -> Vec<Bit> {
    let other = negated(g, bits);
    mux(g, condition, &other, bits)
}

/// Whether `a <= b`, unsigned.
fn at_most(g: &mut Gates, a: &[Bit], b: &[Bit]) -> Bit {
    let mut found = Bit::TRUE;
    for (&a, &b) in a.iter().zip(b) {
        let differ = g.xor(a, b);
        found = g.mux(differ, b, found);
    }
    found
}

fn product(g: &mut Gates, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    let constants = |bits: &[Bit]| bits.iter().filter(|b| b.constant().is_some()).count();
    let (a, b) = if constants(a) > constants(b) {
        (b, a)
    } else {
        (a, b)
    };
    let width = a.len();
    let shifted = |places: usize| -> Vec<Bit> {
        let zeros = std::iter::repeat_n(Bit::FALSE, places);
        zeros.chain(a.iter().copied()).take(width).collect()
    };
    let mut found = vec![Bit::FALSE; width];
    if constants(b) == width {
        // Signed digits (non-adjacent form): of two neighbours, at most one is not zero.
        let digit = |b: &Bit| i8::from(b.constant() == Some(true));
        let mut carry = 0;
        let bits: Vec<i8> = b.iter().map(digit).collect();
        for (place, &bit) in bits.iter().enumerate() {
            let next = bits.get(place + 1).copied().unwrap_or(0);
            let value = bit + carry;
            carry = i8::from(value == 2 || (value == 1 && next == 1));
            match value - 2 * carry {
                1 => found = sum(g, &found, &shifted(place), Bit::FALSE),
                -1 => found = sum(g, &found, &not(&shifted(place)), Bit::TRUE),
                _ => {}
            }
        }
        return found;
    }
    for (place, &bit) in b.iter().enumerate() {
        let part: Vec<Bit> = shifted(place).iter().map(|&a| g.and(a, bit)).collect();
        found = sum(g, &found, &part, Bit::FALSE);
    }
    found
}

/// Unsigned quotient and remainder; for a divisor of zero, all ones and the dividend.
fn divided(g: &mut Gates, a: &[Bit], b: &[Bit]) -> (Vec<Bit>, Vec<Bit>) {
    let width = a.len();
    let divisor = extended(b, width + 1, Bit::FALSE);
    let mut rest = vec![Bit::FALSE; width];
    let mut quotient = vec![Bit::FALSE; width];
    for place in (0..width).rev() {
        let mut next = Vec::with_capacity(width + 1);
        next.push(a[place]);
        next.extend_from_slice(&rest);
        let fits = at_most(g, &divisor, &next);
        let less = sum(g, &next, &not(&divisor), Bit::TRUE);
        next = mux(g, fits, &less, &next);
        next.truncate(width);
        quotient[place] = fits;
        rest = next;
    }
    (quotient, rest)
}

/// Quotient and remainder of the absolute values.
fn divided_signed(g: &mut Gates, a: &[Bit], b: &[Bit]) -> (Vec<Bit>, Vec<Bit>) {
    let a = negated_if(g, sign(a), a);
    let b = negated_if(g, sign(b), b);
    divided(g, &a, &b)
}

/// `bits` shifted right by the unsigned value of `by`, with `fill` as the new bits.
fn shifted_right(g: &mut Gates, bits: &[Bit], by: &[Bit], fill: Bit) -> Vec<Bit> {
    let width = bits.len();
    let mut found = bits.to_vec();
    let mut far = Vec::new();
    for (place, &bit) in by.iter().enumerate() {
        let places = 1_usize.checked_shl(place as u32).unwrap_or(usize::MAX);
        if places >= width {
            far.push(bit);
            continue;
        }
        let moved = found[places..].iter().copied();
        let moved: Vec<Bit> = moved.chain(std::iter::repeat_n(fill, places)).collect();
        found = mux(g, bit, &moved, &found);
    }
    let far = g.any(&far);
    mux(g, far, &vec![fill; width], &found)
}
