//! An abstract bit-vector: known bits, and bounds as an unsigned and as a signed number.
//!
//! Invariant: no bit is known to be both zero and one, bounds are in order, and each of the three
//! parts contains all values of the set.

use num_traits::{One, Signed, Zero};

use alphorn_term::{BigInt, BigUint, Op};

/// A set of values: bits that are known to be zero and those known to be one, and two intervals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AbstractBitvec {
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

/// The number that the bits represent in two's complement.
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

impl AbstractBitvec {
    /// All values of this width.
    pub fn any(width: u32) -> AbstractBitvec {
        let half = BigInt::one() << width.saturating_sub(1);
        AbstractBitvec {
            width,
            zeros: BigUint::zero(),
            ones: BigUint::zero(),
            low: BigUint::zero(),
            high: mask(width),
            least: -half.clone(),
            most: half - 1,
        }
    }

    /// A single value.
    pub fn value(value: &BigUint, width: u32) -> AbstractBitvec {
        let number = signed(value, width);
        AbstractBitvec {
            width,
            zeros: mask(width) - value,
            ones: value.clone(),
            low: value.clone(),
            high: value.clone(),
            least: number.clone(),
            most: number,
        }
    }

    /// The values between two, unsigned; `None` if there are none.
    pub fn between(low: BigUint, high: BigUint, width: u32) -> Option<AbstractBitvec> {
        let bitvec = AbstractBitvec {
            low,
            high,
            ..AbstractBitvec::any(width)
        };
        bitvec.reduced()
    }

    /// The values between two, signed; `None` if there are none.
    pub fn signed_between(least: BigInt, most: BigInt, width: u32) -> Option<AbstractBitvec> {
        let bitvec = AbstractBitvec {
            least,
            most,
            ..AbstractBitvec::any(width)
        };
        bitvec.reduced()
    }

    /// The values with these bits; `None` if there are none.
    pub fn bits(zeros: BigUint, ones: BigUint, width: u32) -> Option<AbstractBitvec> {
        let bitvec = AbstractBitvec {
            zeros,
            ones,
            ..AbstractBitvec::any(width)
        };
        bitvec.reduced()
    }

    /// The value, if there is only one.
    pub fn constant(&self) -> Option<&BigUint> {
        (self.low == self.high).then_some(&self.low)
    }

    pub fn is_any(&self) -> bool {
        *self == AbstractBitvec::any(self.width)
    }

    /// Reduces each part by the others; `None` if the set is empty.
    pub fn reduced(mut self) -> Option<AbstractBitvec> {
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
            // If the sign is known, the intervals restrict each other.
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
            // The common prefix of the bounds.
            let different = (&self.low ^ &self.high).bits();
            let common = &full - mask(different as u32);
            self.ones |= &common & &self.low;
            self.zeros |= &common - (&common & &self.low);
        }
        (&self.zeros & &self.ones).is_zero().then_some(self)
    }

    /// The values in both.
    pub fn meet(&self, other: &AbstractBitvec) -> Option<AbstractBitvec> {
        let bitvec = AbstractBitvec {
            width: self.width,
            zeros: &self.zeros | &other.zeros,
            ones: &self.ones | &other.ones,
            low: self.low.clone().max(other.low.clone()),
            high: self.high.clone().min(other.high.clone()),
            least: self.least.clone().max(other.least.clone()),
            most: self.most.clone().min(other.most.clone()),
        };
        bitvec.reduced()
    }

    /// An upper bound of both.
    pub fn join(&self, other: &AbstractBitvec) -> AbstractBitvec {
        let bitvec = AbstractBitvec {
            width: self.width,
            zeros: &self.zeros & &other.zeros,
            ones: &self.ones & &other.ones,
            low: self.low.clone().min(other.low.clone()),
            high: self.high.clone().max(other.high.clone()),
            least: self.least.clone().min(other.least.clone()),
            most: self.most.clone().max(other.most.clone()),
        };
        bitvec.clone().reduced().unwrap_or(bitvec)
    }

    /// Whether the other set contains this one.
    pub fn within(&self, other: &AbstractBitvec) -> bool {
        let full = mask(self.width);
        let has = |all: &BigUint, some: &BigUint| (some & (&full - all)).is_zero();
        has(&self.zeros, &other.zeros)
            && has(&self.ones, &other.ones)
            && self.low >= other.low
            && self.high <= other.high
            && self.least >= other.least
            && self.most <= other.most
    }

    pub fn not(&self) -> AbstractBitvec {
        let full = mask(self.width);
        AbstractBitvec {
            width: self.width,
            zeros: self.ones.clone(),
            ones: self.zeros.clone(),
            low: &full - &self.high,
            high: &full - &self.low,
            least: -BigInt::one() - &self.most,
            most: -BigInt::one() - &self.least,
        }
    }

    pub fn neg(&self) -> AbstractBitvec {
        self.not()
            .add(&AbstractBitvec::value(&BigUint::one(), self.width))
    }

    pub fn sub(&self, other: &AbstractBitvec) -> AbstractBitvec {
        self.add(&other.not())
            .add(&AbstractBitvec::value(&BigUint::one(), self.width))
    }

    /// The sum modulo two to the width.
    pub fn add(&self, other: &AbstractBitvec) -> AbstractBitvec {
        if self.width == 0 {
            return self.clone();
        }
        let (width, full) = (self.width, mask(self.width));
        // Bits whose carry is known, since the sums of greatest and of least values agree on it.
        let greatest = ((&full - &self.zeros) + (&full - &other.zeros)) & &full;
        let least = (&self.ones + &other.ones) & &full;
        let no_carry = &full - (&greatest ^ &self.zeros ^ &other.zeros);
        let carry = &least ^ &self.ones ^ &other.ones;
        let known = (&self.zeros | &self.ones) & (&other.zeros | &other.ones) & (no_carry | carry);
        let mut bitvec = AbstractBitvec {
            zeros: (&full - &greatest) & &known,
            ones: &least & &known,
            ..AbstractBitvec::any(width)
        };
        let (low, high) = (&self.low + &other.low, &self.high + &other.high);
        let modulus = BigUint::one() << width;
        if high < modulus {
            (bitvec.low, bitvec.high) = (low, high);
        } else if low >= modulus {
            (bitvec.low, bitvec.high) = (low - &modulus, high - &modulus);
        }
        let (least, most) = (&self.least + &other.least, &self.most + &other.most);
        if least >= bitvec.least && most <= bitvec.most {
            (bitvec.least, bitvec.most) = (least, most);
        }
        bitvec.or_any()
    }

    fn or_any(self) -> AbstractBitvec {
        let width = self.width;
        self.reduced().unwrap_or_else(|| AbstractBitvec::any(width))
    }

    pub fn and(&self, other: &AbstractBitvec) -> AbstractBitvec {
        AbstractBitvec {
            zeros: &self.zeros | &other.zeros,
            ones: &self.ones & &other.ones,
            high: self.high.clone().min(other.high.clone()),
            ..AbstractBitvec::any(self.width)
        }
        .or_any()
    }

    pub fn or(&self, other: &AbstractBitvec) -> AbstractBitvec {
        AbstractBitvec {
            zeros: &self.zeros & &other.zeros,
            ones: &self.ones | &other.ones,
            low: self.low.clone().max(other.low.clone()),
            ..AbstractBitvec::any(self.width)
        }
        .or_any()
    }

    pub fn xor(&self, other: &AbstractBitvec) -> AbstractBitvec {
        AbstractBitvec {
            zeros: (&self.zeros & &other.zeros) | (&self.ones & &other.ones),
            ones: (&self.zeros & &other.ones) | (&self.ones & &other.zeros),
            ..AbstractBitvec::any(self.width)
        }
        .or_any()
    }

    fn mul(&self, other: &AbstractBitvec) -> AbstractBitvec {
        let (width, modulus) = (self.width, BigUint::one() << self.width);
        let shift = trailing(&self.zeros, width) + trailing(&other.zeros, width);
        let mut bitvec = AbstractBitvec {
            zeros: mask(shift.min(width)),
            ..AbstractBitvec::any(width)
        };
        let (low, high) = (&self.low * &other.low, &self.high * &other.high);
        if high < modulus {
            (bitvec.low, bitvec.high) = (low, high);
        }
        let corners = [
            &self.least * &other.least,
            &self.least * &other.most,
            &self.most * &other.least,
            &self.most * &other.most,
        ];
        let least = corners.iter().min().cloned().unwrap_or_default();
        let most = corners.into_iter().max().unwrap_or_default();
        if least >= bitvec.least && most <= bitvec.most {
            (bitvec.least, bitvec.most) = (least, most);
        }
        bitvec.or_any()
    }

    fn udiv(&self, other: &AbstractBitvec) -> AbstractBitvec {
        if other.high.is_zero() {
            return AbstractBitvec::value(&mask(self.width), self.width);
        }
        let high = if other.low.is_zero() {
            mask(self.width)
        } else {
            &self.high / &other.low
        };
        AbstractBitvec {
            low: &self.low / &other.high,
            high,
            ..AbstractBitvec::any(self.width)
        }
        .or_any()
    }

    fn urem(&self, other: &AbstractBitvec) -> AbstractBitvec {
        if self.high < other.low {
            return self.clone();
        }
        let mut high = self.high.clone();
        if !other.low.is_zero() {
            high = high.min(&other.high - 1u32);
        }
        let mut bitvec = AbstractBitvec {
            high,
            ..AbstractBitvec::any(self.width)
        };
        // For a power of two, the bits below it.
        if let Some(divisor) = other.constant()
            && divisor.count_ones() == 1
        {
            let below = divisor - 1u32;
            bitvec.zeros = (&self.zeros & &below) | (mask(self.width) - &below);
            bitvec.ones = &self.ones & &below;
        }
        bitvec.or_any()
    }

    /// Signed division with truncation; no restriction unless the dividend is non-negative and the
    /// divisor positive.
    fn sdiv(&self, other: &AbstractBitvec) -> AbstractBitvec {
        if self.least.is_negative() || !other.least.is_positive() {
            return AbstractBitvec::any(self.width);
        }
        AbstractBitvec {
            least: &self.least / &other.most,
            most: &self.most / &other.least,
            ..AbstractBitvec::any(self.width)
        }
        .or_any()
    }

    /// The remainder with the dividend's sign, whose absolute value is not greater.
    fn srem(&self, other: &AbstractBitvec) -> AbstractBitvec {
        let zero = BigInt::zero();
        let mut least = self.least.clone().min(zero.clone());
        let mut most = self.most.clone().max(zero);
        if other.least.is_positive() {
            let bound: BigInt = &other.most - 1;
            least = least.max(-bound.clone());
            most = most.min(bound);
        }
        AbstractBitvec {
            least,
            most,
            ..AbstractBitvec::any(self.width)
        }
        .or_any()
    }

    /// The remainder with the divisor's sign.
    fn smod(&self, other: &AbstractBitvec) -> AbstractBitvec {
        if !other.least.is_positive() {
            return AbstractBitvec::any(self.width);
        }
        AbstractBitvec {
            least: BigInt::zero(),
            most: &other.most - 1,
            ..AbstractBitvec::any(self.width)
        }
        .or_any()
    }

    /// The amount of a shift, if it is known; at most the width.
    fn amount(&self) -> Option<u32> {
        let value = self.constant()?;
        let width = BigUint::from(self.width);
        let least = if *value < width { value } else { &width };
        least.try_into().ok()
    }

    fn shl(&self, other: &AbstractBitvec) -> AbstractBitvec {
        let (width, full) = (self.width, mask(self.width));
        let Some(n) = other.amount() else {
            return AbstractBitvec {
                zeros: mask(trailing(&self.zeros, width)),
                ..AbstractBitvec::any(width)
            }
            .or_any();
        };
        let mut bitvec = AbstractBitvec {
            zeros: ((&self.zeros << n) | mask(n)) & &full,
            ones: (&self.ones << n) & &full,
            ..AbstractBitvec::any(width)
        };
        let high = &self.high << n;
        if high <= full {
            (bitvec.low, bitvec.high) = (&self.low << n, high);
        }
        bitvec.or_any()
    }

    fn lshr(&self, other: &AbstractBitvec) -> AbstractBitvec {
        let width = self.width;
        let Some(n) = other.amount() else {
            let most = other.low.clone().min(BigUint::from(width));
            let most: u32 = (&most).try_into().unwrap_or(width);
            return AbstractBitvec {
                high: &self.high >> most,
                ..AbstractBitvec::any(width)
            }
            .or_any();
        };
        AbstractBitvec {
            zeros: (&self.zeros >> n) | (mask(width) - mask(width - n)),
            ones: &self.ones >> n,
            low: &self.low >> n,
            high: &self.high >> n,
            ..AbstractBitvec::any(width)
        }
        .or_any()
    }

    fn ashr(&self, other: &AbstractBitvec) -> AbstractBitvec {
        let width = self.width;
        let Some(n) = other.amount() else {
            let towards = |value: &BigInt, end: i32| value.clone().min(BigInt::from(end));
            return AbstractBitvec {
                least: towards(&self.least, 0),
                most: self.most.clone().max(BigInt::from(-1)),
                ..AbstractBitvec::any(width)
            }
            .or_any();
        };
        let filled = |bits: &BigUint| {
            let number = signed(bits, width) >> n;
            wrapped(&number, width)
        };
        AbstractBitvec {
            zeros: filled(&self.zeros),
            ones: filled(&self.ones),
            least: &self.least >> n,
            most: &self.most >> n,
            ..AbstractBitvec::any(width)
        }
        .or_any()
    }

    fn concat(&self, other: &AbstractBitvec) -> AbstractBitvec {
        let join = |a: &BigUint, b: &BigUint| (a << other.width) | b;
        AbstractBitvec {
            zeros: join(&self.zeros, &other.zeros),
            ones: join(&self.ones, &other.ones),
            low: join(&self.low, &other.low),
            high: join(&self.high, &other.high),
            ..AbstractBitvec::any(self.width + other.width)
        }
        .or_any()
    }

    pub fn extract(&self, high: u32, low: u32) -> AbstractBitvec {
        let width = high - low + 1;
        let full = mask(width);
        let mut bitvec = AbstractBitvec {
            zeros: (&self.zeros >> low) & &full,
            ones: (&self.ones >> low) & &full,
            ..AbstractBitvec::any(width)
        };
        // The bits above are the same at both ends.
        let (bottom, top) = (&self.low >> low, &self.high >> low);
        if &bottom >> width == &top >> width {
            (bitvec.low, bitvec.high) = (bottom & &full, top & &full);
        }
        if low == 0 && self.least >= bitvec.least && self.most <= bitvec.most {
            (bitvec.least, bitvec.most) = (self.least.clone(), self.most.clone());
        }
        bitvec.or_any()
    }

    fn zero_extend(&self, n: u32) -> AbstractBitvec {
        let width = self.width + n;
        AbstractBitvec {
            zeros: &self.zeros | (mask(width) - mask(self.width)),
            ones: self.ones.clone(),
            low: self.low.clone(),
            high: self.high.clone(),
            ..AbstractBitvec::any(width)
        }
        .or_any()
    }

    fn sign_extend(&self, n: u32) -> AbstractBitvec {
        let width = self.width + n;
        let filled = |bits: &BigUint| wrapped(&signed(bits, self.width), width);
        AbstractBitvec {
            zeros: filled(&self.zeros),
            ones: filled(&self.ones),
            least: self.least.clone(),
            most: self.most.clone(),
            ..AbstractBitvec::any(width)
        }
        .or_any()
    }

    /// The result of an operator, of the given width; `None` for operators that are not on
    /// bit-vectors only.
    pub fn apply(op: &Op, args: &[AbstractBitvec], width: u32) -> Option<AbstractBitvec> {
        let fold = |f: fn(&AbstractBitvec, &AbstractBitvec) -> AbstractBitvec| {
            let mut args = args.iter();
            let first = args.next()?.clone();
            Some(args.fold(first, |all, next| f(&all, next)))
        };
        let bitvec = match op {
            Op::BvConcat => fold(AbstractBitvec::concat)?,
            Op::BvExtract(high, low) => args.first()?.extract(*high, *low),
            Op::BvZeroExtend(n) => args.first()?.zero_extend(*n),
            Op::BvSignExtend(n) => args.first()?.sign_extend(*n),
            Op::BvNot => args.first()?.not(),
            Op::BvNeg => args.first()?.neg(),
            Op::BvAnd => fold(AbstractBitvec::and)?,
            Op::BvOr => fold(AbstractBitvec::or)?,
            Op::BvXor => fold(AbstractBitvec::xor)?,
            Op::BvAdd => fold(AbstractBitvec::add)?,
            Op::BvMul => fold(AbstractBitvec::mul)?,
            Op::BvUdiv => fold(AbstractBitvec::udiv)?,
            Op::BvUrem => fold(AbstractBitvec::urem)?,
            Op::BvSdiv => fold(AbstractBitvec::sdiv)?,
            Op::BvSrem => fold(AbstractBitvec::srem)?,
            Op::BvSmod => fold(AbstractBitvec::smod)?,
            Op::BvShl => fold(AbstractBitvec::shl)?,
            Op::BvLshr => fold(AbstractBitvec::lshr)?,
            Op::BvAshr => fold(AbstractBitvec::ashr)?,
            _ => return None,
        };
        (bitvec.width == width).then_some(bitvec)
    }

    /// Restrictions of an operator's arguments, if its result is in this set and the arguments are
    /// in `args`.
    pub fn back(&self, op: &Op, args: &[AbstractBitvec]) -> Vec<Option<AbstractBitvec>> {
        let one = |bitvec: Option<AbstractBitvec>| vec![bitvec];
        match (op, args) {
            (Op::BvNot, [_]) => one(Some(self.not())),
            (Op::BvNeg, [_]) => one(Some(self.neg())),
            (Op::BvZeroExtend(_), [a]) => one(Some(self.extract(a.width - 1, 0))),
            (Op::BvSignExtend(_), [a]) => {
                let bitvec = AbstractBitvec {
                    least: self.least.clone().max(a.least.clone()),
                    most: self.most.clone().min(a.most.clone()),
                    ..self.extract(a.width - 1, 0)
                };
                one(bitvec.reduced())
            }
            (Op::BvExtract(_, low), [a]) => one(AbstractBitvec::bits(
                &self.zeros << *low,
                &self.ones << *low,
                a.width,
            )),
            (Op::BvConcat, [a, b]) => vec![
                Some(self.extract(self.width - 1, b.width)).filter(|w| w.width == a.width),
                Some(self.extract(b.width - 1, 0)),
            ],
            (Op::BvAdd, [a, b]) => vec![Some(self.sub(b)), Some(self.sub(a))],
            (Op::BvXor, [a, b]) => vec![Some(self.xor(b)), Some(self.xor(a))],
            (Op::BvAnd, [a, b]) => {
                let side = |other: &AbstractBitvec| {
                    AbstractBitvec::bits(&self.zeros & &other.ones, self.ones.clone(), self.width)
                };
                vec![side(b), side(a)]
            }
            (Op::BvOr, [a, b]) => {
                let side = |other: &AbstractBitvec| {
                    AbstractBitvec::bits(self.zeros.clone(), &self.ones & &other.zeros, self.width)
                };
                vec![side(b), side(a)]
            }
            _ => vec![None; args.len()],
        }
    }
}
