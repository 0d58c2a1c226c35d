//! What is known of one bit-vector: bits, and bounds as an unsigned and as a signed number.
//!
//! Invariant: no bit is known to be both, bounds are in order, and each of the three parts holds of
//! all values meant.

use num_traits::{One, Signed, Zero};

use alphorn_term::{BigInt, BigUint, Op};

/// Bits as known to be zero and known to be one, and two intervals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    pub width: u32,
    pub zeros: BigUint,
    pub ones: BigUint,
    pub low: BigUint,
    pub high: BigUint,
    pub least: BigInt,
    pub most: BigInt,
}

pub(super) fn mask(width: u32) -> BigUint {
    (BigUint::one() << width) - 1u32
}

/// The number that bits mean when the first is a sign.
pub(super) fn signed(value: &BigUint, width: u32) -> BigInt {
    let number = BigInt::from(value.clone());
    if width > 0 && value.bit(u64::from(width - 1)) {
        number - (BigInt::one() << width)
    } else {
        number
    }
}

/// The bits of a number, modulo two to the width.
pub(super) fn wrapped(value: &BigInt, width: u32) -> BigUint {
    let modulus = BigInt::one() << width;
    let rest = ((value % &modulus) + &modulus) % modulus;
    rest.to_biguint().unwrap_or_default()
}

fn trailing(zeros: &BigUint, width: u32) -> u32 {
    let known = (0..width).find(|&i| !zeros.bit(u64::from(i)));
    known.unwrap_or(width)
}

impl Word {
    /// Any value of this width.
    pub fn any(width: u32) -> Word {
        let half = BigInt::one() << width.saturating_sub(1);
        Word {
            width,
            zeros: BigUint::zero(),
            ones: BigUint::zero(),
            low: BigUint::zero(),
            high: mask(width),
            least: -half.clone(),
            most: half - 1,
        }
    }

    /// One value.
    pub fn value(value: &BigUint, width: u32) -> Word {
        let number = signed(value, width);
        Word {
            width,
            zeros: mask(width) - value,
            ones: value.clone(),
            low: value.clone(),
            high: value.clone(),
            least: number.clone(),
            most: number,
        }
    }

    /// Values between two, unsigned.
    pub fn between(low: BigUint, high: BigUint, width: u32) -> Option<Word> {
        let word = Word {
            low,
            high,
            ..Word::any(width)
        };
        word.reduced()
    }

    /// Values between two, signed.
    pub fn signed_between(least: BigInt, most: BigInt, width: u32) -> Option<Word> {
        let word = Word {
            least,
            most,
            ..Word::any(width)
        };
        word.reduced()
    }

    /// Values with these bits.
    pub fn bits(zeros: BigUint, ones: BigUint, width: u32) -> Option<Word> {
        let word = Word {
            zeros,
            ones,
            ..Word::any(width)
        };
        word.reduced()
    }

    /// The one value, if there is only one.
    pub fn constant(&self) -> Option<&BigUint> {
        (self.low == self.high).then_some(&self.low)
    }

    pub fn is_any(&self) -> bool {
        *self == Word::any(self.width)
    }

    /// Lets the parts tell each other what they know; `None` if nothing is left.
    pub fn reduced(mut self) -> Option<Word> {
        let (width, full) = (self.width, mask(self.width));
        let half = BigUint::one() << width.saturating_sub(1);
        let modulus = BigInt::one() << width;
        for _ in 0..2 {
            if !(&self.zeros & &self.ones).is_zero() {
                return None;
            }
            let (least, most) = (self.ones.clone(), &full - &self.zeros);
            self.low = self.low.max(least);
            self.high = self.high.min(most);
            // A known sign joins both intervals.
            if self.least >= BigInt::zero() || self.high < half {
                self.low = self
                    .low
                    .max(wrapped(&self.least.clone().max(BigInt::zero()), width));
                if self.most.is_negative() {
                    return None;
                }
                self.high = self.high.min(wrapped(&self.most, width));
            } else if self.most.is_negative() || self.low >= half {
                let most = self.most.clone().min(BigInt::from(-1));
                self.high = self.high.min(wrapped(&most, width));
                if !self.least.is_negative() {
                    return None;
                }
                self.low = self.low.max(wrapped(&self.least, width));
            }
            if self.low > self.high {
                return None;
            }
            if self.high < half {
                self.least = self.least.max(BigInt::from(self.low.clone()));
                self.most = self.most.min(BigInt::from(self.high.clone()));
            } else if self.low >= half {
                self.least = self.least.max(BigInt::from(self.low.clone()) - &modulus);
                self.most = self.most.min(BigInt::from(self.high.clone()) - &modulus);
            }
            if self.least > self.most {
                return None;
            }
            // The bits before the first in which the ends differ.
            let different = (&self.low ^ &self.high).bits();
            let common = &full - mask(different as u32);
            self.ones |= &common & &self.low;
            self.zeros |= &common - (&common & &self.low);
        }
        (&self.zeros & &self.ones).is_zero().then_some(self)
    }

    /// What is in both.
    pub fn meet(&self, other: &Word) -> Option<Word> {
        let word = Word {
            width: self.width,
            zeros: &self.zeros | &other.zeros,
            ones: &self.ones | &other.ones,
            low: self.low.clone().max(other.low.clone()),
            high: self.high.clone().min(other.high.clone()),
            least: self.least.clone().max(other.least.clone()),
            most: self.most.clone().min(other.most.clone()),
        };
        word.reduced()
    }

    /// What is in one of them.
    pub fn join(&self, other: &Word) -> Word {
        let word = Word {
            width: self.width,
            zeros: &self.zeros & &other.zeros,
            ones: &self.ones & &other.ones,
            low: self.low.clone().min(other.low.clone()),
            high: self.high.clone().max(other.high.clone()),
            least: self.least.clone().min(other.least.clone()),
            most: self.most.clone().max(other.most.clone()),
        };
        word.clone().reduced().unwrap_or(word)
    }

    /// Whether the other word allows all of this.
    pub fn within(&self, other: &Word) -> bool {
        let full = mask(self.width);
        let has = |all: &BigUint, some: &BigUint| (some & (&full - all)).is_zero();
        has(&self.zeros, &other.zeros)
            && has(&self.ones, &other.ones)
            && self.low >= other.low
            && self.high <= other.high
            && self.least >= other.least
            && self.most <= other.most
    }

    pub fn not(&self) -> Word {
        let full = mask(self.width);
        Word {
            width: self.width,
            zeros: self.ones.clone(),
            ones: self.zeros.clone(),
            low: &full - &self.high,
            high: &full - &self.low,
            least: -BigInt::one() - &self.most,
            most: -BigInt::one() - &self.least,
        }
    }

    pub fn neg(&self) -> Word {
        self.not().add(&Word::value(&BigUint::one(), self.width))
    }

    pub fn sub(&self, other: &Word) -> Word {
        self.add(&other.not())
            .add(&Word::value(&BigUint::one(), self.width))
    }

    /// The sum modulo two to the width.
    pub fn add(&self, other: &Word) -> Word {
        if self.width == 0 {
            return self.clone();
        }
        let (width, full) = (self.width, mask(self.width));
        // Bits whose carry is known, as sums of greatest and of least values agree on it.
        let greatest = ((&full - &self.zeros) + (&full - &other.zeros)) & &full;
        let least = (&self.ones + &other.ones) & &full;
        let no_carry = &full - (&greatest ^ &self.zeros ^ &other.zeros);
        let carry = &least ^ &self.ones ^ &other.ones;
        let known = (&self.zeros | &self.ones) & (&other.zeros | &other.ones) & (no_carry | carry);
        let mut word = Word {
            zeros: (&full - &greatest) & &known,
            ones: &least & &known,
            ..Word::any(width)
        };
        let (low, high) = (&self.low + &other.low, &self.high + &other.high);
        let modulus = BigUint::one() << width;
        if high < modulus {
            (word.low, word.high) = (low, high);
        } else if low >= modulus {
            (word.low, word.high) = (low - &modulus, high - &modulus);
        }
        let (least, most) = (&self.least + &other.least, &self.most + &other.most);
        if least >= word.least && most <= word.most {
            (word.least, word.most) = (least, most);
        }
        word.or_any()
    }

    fn or_any(self) -> Word {
        let width = self.width;
        self.reduced().unwrap_or_else(|| Word::any(width))
    }

    pub fn and(&self, other: &Word) -> Word {
        Word {
            zeros: &self.zeros | &other.zeros,
            ones: &self.ones & &other.ones,
            high: self.high.clone().min(other.high.clone()),
            ..Word::any(self.width)
        }
        .or_any()
    }

    pub fn or(&self, other: &Word) -> Word {
        Word {
            zeros: &self.zeros & &other.zeros,
            ones: &self.ones | &other.ones,
            low: self.low.clone().max(other.low.clone()),
            ..Word::any(self.width)
        }
        .or_any()
    }

    pub fn xor(&self, other: &Word) -> Word {
        Word {
            zeros: (&self.zeros & &other.zeros) | (&self.ones & &other.ones),
            ones: (&self.zeros & &other.ones) | (&self.ones & &other.zeros),
            ..Word::any(self.width)
        }
        .or_any()
    }

    fn mul(&self, other: &Word) -> Word {
        let (width, modulus) = (self.width, BigUint::one() << self.width);
        let shift = trailing(&self.zeros, width) + trailing(&other.zeros, width);
        let mut word = Word {
            zeros: mask(shift.min(width)),
            ..Word::any(width)
        };
        let (low, high) = (&self.low * &other.low, &self.high * &other.high);
        if high < modulus {
            (word.low, word.high) = (low, high);
        }
        let corners = [
            &self.least * &other.least,
            &self.least * &other.most,
            &self.most * &other.least,
            &self.most * &other.most,
        ];
        let least = corners.iter().min().cloned().unwrap_or_default();
        let most = corners.into_iter().max().unwrap_or_default();
        if least >= word.least && most <= word.most {
            (word.least, word.most) = (least, most);
        }
        word.or_any()
    }

    fn udiv(&self, other: &Word) -> Word {
        if other.high.is_zero() {
            return Word::value(&mask(self.width), self.width);
        }
        let high = if other.low.is_zero() {
            mask(self.width)
        } else {
            &self.high / &other.low
        };
        Word {
            low: &self.low / &other.high,
            high,
            ..Word::any(self.width)
        }
        .or_any()
    }

    fn urem(&self, other: &Word) -> Word {
        if self.high < other.low {
            return self.clone();
        }
        let mut high = self.high.clone();
        if !other.low.is_zero() {
            high = high.min(&other.high - 1u32);
        }
        let mut word = Word {
            high,
            ..Word::any(self.width)
        };
        // A power of two leaves the bits below it.
        if let Some(divisor) = other.constant()
            && divisor.count_ones() == 1
        {
            let below = divisor - 1u32;
            word.zeros = (&self.zeros & &below) | (mask(self.width) - &below);
            word.ones = &self.ones & &below;
        }
        word.or_any()
    }

    /// Signed division that truncates, where nothing is negative or zero.
    fn sdiv(&self, other: &Word) -> Word {
        if self.least.is_negative() || !other.least.is_positive() {
            return Word::any(self.width);
        }
        Word {
            least: &self.least / &other.most,
            most: &self.most / &other.least,
            ..Word::any(self.width)
        }
        .or_any()
    }

    /// The remainder with the dividend's sign, which is no further from zero.
    fn srem(&self, other: &Word) -> Word {
        let zero = BigInt::zero();
        let mut least = self.least.clone().min(zero.clone());
        let mut most = self.most.clone().max(zero);
        if other.least.is_positive() {
            let bound: BigInt = &other.most - 1;
            least = least.max(-bound.clone());
            most = most.min(bound);
        }
        Word {
            least,
            most,
            ..Word::any(self.width)
        }
        .or_any()
    }

    /// The remainder with the divisor's sign.
    fn smod(&self, other: &Word) -> Word {
        if !other.least.is_positive() {
            return Word::any(self.width);
        }
        Word {
            least: BigInt::zero(),
            most: &other.most - 1,
            ..Word::any(self.width)
        }
        .or_any()
    }

    /// The amount of a shift, if it is known: the width at most.
    fn amount(&self) -> Option<u32> {
        let value = self.constant()?;
        let width = BigUint::from(self.width);
        let least = if *value < width { value } else { &width };
        least.try_into().ok()
    }

    fn shl(&self, other: &Word) -> Word {
        let (width, full) = (self.width, mask(self.width));
        let Some(n) = other.amount() else {
            return Word {
                zeros: mask(trailing(&self.zeros, width)),
                ..Word::any(width)
            }
            .or_any();
        };
        let mut word = Word {
            zeros: ((&self.zeros << n) | mask(n)) & &full,
            ones: (&self.ones << n) & &full,
            ..Word::any(width)
        };
        let high = &self.high << n;
        if high <= full {
            (word.low, word.high) = (&self.low << n, high);
        }
        word.or_any()
    }

    fn lshr(&self, other: &Word) -> Word {
        let width = self.width;
        let Some(n) = other.amount() else {
            let most = other.low.clone().min(BigUint::from(width));
            let most: u32 = (&most).try_into().unwrap_or(width);
            return Word {
                high: &self.high >> most,
                ..Word::any(width)
            }
            .or_any();
        };
        Word {
            zeros: (&self.zeros >> n) | (mask(width) - mask(width - n)),
            ones: &self.ones >> n,
            low: &self.low >> n,
            high: &self.high >> n,
            ..Word::any(width)
        }
        .or_any()
    }

    fn ashr(&self, other: &Word) -> Word {
        let width = self.width;
        let Some(n) = other.amount() else {
            let towards = |value: &BigInt, end: i32| value.clone().min(BigInt::from(end));
            return Word {
                least: towards(&self.least, 0),
                most: self.most.clone().max(BigInt::from(-1)),
                ..Word::any(width)
            }
            .or_any();
        };
        let filled = |bits: &BigUint| {
            let number = signed(bits, width) >> n;
            wrapped(&number, width)
        };
        Word {
            zeros: filled(&self.zeros),
            ones: filled(&self.ones),
            least: &self.least >> n,
            most: &self.most >> n,
            ..Word::any(width)
        }
        .or_any()
    }

    fn concat(&self, other: &Word) -> Word {
        let join = |a: &BigUint, b: &BigUint| (a << other.width) | b;
        Word {
            zeros: join(&self.zeros, &other.zeros),
            ones: join(&self.ones, &other.ones),
            low: join(&self.low, &other.low),
            high: join(&self.high, &other.high),
            ..Word::any(self.width + other.width)
        }
        .or_any()
    }

    pub fn extract(&self, high: u32, low: u32) -> Word {
        let width = high - low + 1;
        let full = mask(width);
        let mut word = Word {
            zeros: (&self.zeros >> low) & &full,
            ones: (&self.ones >> low) & &full,
            ..Word::any(width)
        };
        // What is above is the same at both ends.
        let (bottom, top) = (&self.low >> low, &self.high >> low);
        if &bottom >> width == &top >> width {
            (word.low, word.high) = (bottom & &full, top & &full);
        }
        if low == 0 && self.least >= word.least && self.most <= word.most {
            (word.least, word.most) = (self.least.clone(), self.most.clone());
        }
        word.or_any()
    }

    fn zero_extend(&self, n: u32) -> Word {
        let width = self.width + n;
        Word {
            zeros: &self.zeros | (mask(width) - mask(self.width)),
            ones: self.ones.clone(),
            low: self.low.clone(),
            high: self.high.clone(),
            ..Word::any(width)
        }
        .or_any()
    }

    fn sign_extend(&self, n: u32) -> Word {
        let width = self.width + n;
        let filled = |bits: &BigUint| wrapped(&signed(bits, self.width), width);
        Word {
            zeros: filled(&self.zeros),
            ones: filled(&self.ones),
            least: self.least.clone(),
            most: self.most.clone(),
            ..Word::any(width)
        }
        .or_any()
    }

    /// The result of an operator on words, of the given width; `None` if it is no operator on
    /// bit-vectors only.
    pub fn apply(op: &Op, args: &[Word], width: u32) -> Option<Word> {
        let fold = |f: fn(&Word, &Word) -> Word| {
            let mut args = args.iter();
            let first = args.next()?.clone();
            Some(args.fold(first, |all, next| f(&all, next)))
        };
        let word = match op {
            Op::BvConcat => fold(Word::concat)?,
            Op::BvExtract(high, low) => args.first()?.extract(*high, *low),
            Op::BvZeroExtend(n) => args.first()?.zero_extend(*n),
            Op::BvSignExtend(n) => args.first()?.sign_extend(*n),
            Op::BvNot => args.first()?.not(),
            Op::BvNeg => args.first()?.neg(),
            Op::BvAnd => fold(Word::and)?,
            Op::BvOr => fold(Word::or)?,
            Op::BvXor => fold(Word::xor)?,
            Op::BvAdd => fold(Word::add)?,
            Op::BvMul => fold(Word::mul)?,
            Op::BvUdiv => fold(Word::udiv)?,
            Op::BvUrem => fold(Word::urem)?,
            Op::BvSdiv => fold(Word::sdiv)?,
            Op::BvSrem => fold(Word::srem)?,
            Op::BvSmod => fold(Word::smod)?,
            Op::BvShl => fold(Word::shl)?,
            Op::BvLshr => fold(Word::lshr)?,
            Op::BvAshr => fold(Word::ashr)?,
            _ => return None,
        };
        (word.width == width).then_some(word)
    }

    /// What the arguments of an operator must be for its result to be this word, given what is
    /// known of them.
    pub fn back(&self, op: &Op, args: &[Word]) -> Vec<Option<Word>> {
        let one = |word: Option<Word>| vec![word];
        match (op, args) {
            (Op::BvNot, [_]) => one(Some(self.not())),
            (Op::BvNeg, [_]) => one(Some(self.neg())),
            (Op::BvZeroExtend(_), [a]) => one(Some(self.extract(a.width - 1, 0))),
            (Op::BvSignExtend(_), [a]) => {
                let word = Word {
                    least: self.least.clone().max(a.least.clone()),
                    most: self.most.clone().min(a.most.clone()),
                    ..self.extract(a.width - 1, 0)
                };
                one(word.reduced())
            }
            (Op::BvExtract(_, low), [a]) => {
                one(Word::bits(&self.zeros << *low, &self.ones << *low, a.width))
            }
            (Op::BvConcat, [a, b]) => vec![
                Some(self.extract(self.width - 1, b.width)).filter(|w| w.width == a.width),
                Some(self.extract(b.width - 1, 0)),
            ],
            (Op::BvAdd, [a, b]) => vec![Some(self.sub(b)), Some(self.sub(a))],
            (Op::BvXor, [a, b]) => vec![Some(self.xor(b)), Some(self.xor(a))],
            (Op::BvAnd, [a, b]) => {
                let side = |other: &Word| {
                    Word::bits(&self.zeros & &other.ones, self.ones.clone(), self.width)
                };
                vec![side(b), side(a)]
            }
            (Op::BvOr, [a, b]) => {
                let side = |other: &Word| {
                    Word::bits(self.zeros.clone(), &self.ones & &other.zeros, self.width)
                };
                vec![side(b), side(a)]
            }
            _ => vec![None; args.len()],
        }
    }
}
