//! Terms over Booleans and words as gates.
//!
//! Sums are ripple-carry adders; a factor that is known is recoded to signed digits, so that few
//! partial sums are left; a quotient is a chain of subtractions, which gives the results for a
//! divisor of zero that SMT-LIB fixes.
//!
//! Invariant: for all values of the variables, the gates have the value that evaluation of the term
//! gives.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;
use thiserror::Error;

use super::gates::{Bit, Gates};
use alphorn_term::run::Budget;
use alphorn_term::{Op, Sort, TermId, TermStore};

/// More gates than this are not made.
const MOST: usize = 6_000_000;

/// Nominal cost of a gate, as measured on products of words.
const GATE: Duration = Duration::from_nanos(100);

/// Why a term is no graph of gates.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum NotBits {
    #[error("a term of a sort or an operator that bits do not express")]
    Operator,
    #[error("more than {MOST} gates")]
    TooMany,
    /// The budget is spent.
    #[error("no time for the gates")]
    Stopped,
}

/// A word, the lowest bit first; of a Boolean its one bit.
pub type Word = Rc<[Bit]>;

/// The bits of terms, variables among them.
pub type Words = FxHashMap<TermId, Word>;

/// Makes gates of terms; variables have the bits that they are bound to.
pub struct Blaster<'a> {
    terms: &'a TermStore,
    pub gates: &'a mut Gates,
    budget: &'a Budget,
    words: Words,
}

impl<'a> Blaster<'a> {
    /// Without variables.
    pub fn new(terms: &'a TermStore, gates: &'a mut Gates, budget: &'a Budget) -> Self {
        Blaster::with(terms, gates, budget, Words::default())
    }

    /// With what another one knew of the same gates.
    pub fn with(
        terms: &'a TermStore,
        gates: &'a mut Gates,
        budget: &'a Budget,
        words: Words,
    ) -> Self {
        Blaster {
            terms,
            gates,
            budget,
            words,
        }
    }

    /// The number of bits of a term's sort.
    ///
    /// # Errors
    /// The sort has no bits.
    pub fn width(terms: &TermStore, term: TermId) -> Result<usize, NotBits> {
        match terms.sort(terms.sort_of(term)) {
            Sort::Bool => Ok(1),
            Sort::BitVec(width) => Ok(width as usize),
            _ => Err(NotBits::Operator),
        }
    }

    /// The bits of a term or variable that is known.
    pub fn known(&self, term: TermId) -> Option<Word> {
        self.words.get(&term).cloned()
    }

    /// Binds a variable.
    pub fn bind(&mut self, variable: TermId, word: &[Bit]) {
        self.words.insert(variable, Rc::from(word));
    }

    /// Binds a variable to new inputs.
    ///
    /// # Errors
    /// Its sort has no bits.
    pub fn free(&mut self, variable: TermId) -> Result<(), NotBits> {
        let width = Self::width(self.terms, variable)?;
        let word: Vec<Bit> = (0..width).map(|_| self.gates.input()).collect();
        self.bind(variable, &word);
        Ok(())
    }

    /// All that is known.
    pub fn into_words(self) -> Words {
        self.words
    }

    /// The bits of a term all of whose variables are bound.
    ///
    /// # Errors
    /// The term has no bits, or too many gates; the end of the budget.
    pub fn word(&mut self, root: TermId) -> Result<Word, NotBits> {
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
                let word = self.gate(term)?;
                let made = u32::try_from(self.gates.len() - before).unwrap_or(u32::MAX);
                self.terms.charge(GATE.saturating_mul(made));
                self.bind(term, &word);
                stack.pop();
            }
        }
        self.known(root).ok_or(NotBits::Operator)
    }

    /// The bit of a formula.
    ///
    /// # Errors
    /// As [`Blaster::word`].
    pub fn bit(&mut self, formula: TermId) -> Result<Bit, NotBits> {
        Ok(self.word(formula)?[0])
    }

    /// The bits of a term whose arguments are known.
    fn gate(&mut self, term: TermId) -> Result<Vec<Bit>, NotBits> {
        let node = self.terms.node(term);
        let width = Self::width(self.terms, term)?;
        // Products and quotients have as many rows as bits.
        let rows = match node.op {
            Op::BvMul | Op::BvUdiv | Op::BvUrem | Op::BvSdiv | Op::BvSrem | Op::BvSmod => width,
            _ => 1,
        };
        let size = rows.saturating_mul(width).saturating_mul(node.args.len());
        if self.gates.len().saturating_add(size) > MOST {
            return Err(NotBits::TooMany);
        }
        let args: Option<Vec<Word>> = node.args.iter().map(|&a| self.known(a)).collect();
        let args = args.ok_or(NotBits::Operator)?;
        let bits = |args: &[Word]| args.iter().map(|a| a[0]).collect::<Vec<Bit>>();
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
            // The first argument is the higher part.
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
                // The remainder with the divisor's sign.
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
                // Comparison of signed words is that of words with the highest bit turned.
                for word in [&mut a, &mut b] {
                    let last = word.last_mut().expect("a word has bits");
                    *last = !*last;
                }
                vec![at_most(g, &a, &b)]
            }
            _ => return Err(NotBits::Operator),
        })
    }
}

fn sign(word: &[Bit]) -> Bit {
    *word.last().expect("a word has bits")
}

fn not(word: &[Bit]) -> Vec<Bit> {
    word.iter().map(|&b| !b).collect()
}

fn extended(word: &[Bit], width: usize, with: Bit) -> Vec<Bit> {
    let mut word = word.to_vec();
    word.resize(width, with);
    word
}

fn folded(
    g: &mut Gates,
    args: &[Word],
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

/// `then` if the condition holds, else `otherwise`.
fn mux(g: &mut Gates, condition: Bit, then: &[Bit], otherwise: &[Bit]) -> Vec<Bit> {
    bitwise(g, then, otherwise, |g, a, b| g.mux(condition, a, b))
}

/// Whether two words are the same.
fn equal(g: &mut Gates, a: &[Bit], b: &[Bit]) -> Bit {
    let same: Vec<Bit> = bitwise(g, a, b, |g, a, b| !g.xor(a, b));
    g.all(&same)
}

/// The sum with a carry.
fn sum(g: &mut Gates, a: &[Bit], b: &[Bit], mut carry: Bit) -> Vec<Bit> {
    let mut found = Vec::with_capacity(a.len());
    for (&a, &b) in a.iter().zip(b) {
        let differ = g.xor(a, b);
        found.push(g.xor(differ, carry));
        carry = g.mux(differ, carry, a);
    }
    found
}

fn negated(g: &mut Gates, word: &[Bit]) -> Vec<Bit> {
    let zero = vec![Bit::FALSE; word.len()];
    sum(g, &not(word), &zero, Bit::TRUE)
}

fn negated_if(g: &mut Gates, condition: Bit, word: &[Bit]) -> Vec<Bit> {
    let other = negated(g, word);
    mux(g, condition, &other, word)
}

/// Whether `a <= b`, without sign.
fn at_most(g: &mut Gates, a: &[Bit], b: &[Bit]) -> Bit {
    let mut found = Bit::TRUE;
    for (&a, &b) in a.iter().zip(b) {
        let differ = g.xor(a, b);
        found = g.mux(differ, b, found);
    }
    found
}

fn product(g: &mut Gates, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    let constants = |word: &[Bit]| word.iter().filter(|b| b.constant().is_some()).count();
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
        // Signed digits: no two in a row are not zero.
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

/// Quotient and remainder without sign: all ones and the dividend where the divisor is zero.
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

/// Shifted down by as many places as a word of the same width says; `fill` comes in.
fn shifted_right(g: &mut Gates, word: &[Bit], by: &[Bit], fill: Bit) -> Vec<Bit> {
    let width = word.len();
    let mut found = word.to_vec();
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
