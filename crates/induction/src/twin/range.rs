//! Ranges of integers, and the ranges of bit-vectors.
//!
//! Invariant: no range is empty.

use num_traits::{One, Zero};

use alphorn_term::BigInt;

/// 2 to this power.
pub(super) fn power(exponent: u32) -> BigInt {
    BigInt::one() << exponent
}

/// Half of the number of bit-vectors of this width.
pub(super) fn half(width: u32) -> BigInt {
    power(width - 1)
}

/// All integers from `low` to `high`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Range {
    /// The least number.
    pub low: BigInt,
    /// The greatest number.
    pub high: BigInt,
}

impl Range {
    /// The range of one number.
    pub fn point(value: BigInt) -> Range {
        Range {
            low: value.clone(),
            high: value,
        }
    }

    /// The signed values of bit-vectors of this width.
    pub fn signed(width: u32) -> Range {
        Range {
            low: -half(width),
            high: half(width) - 1,
        }
    }

    /// The unsigned values of bit-vectors of this width.
    pub fn unsigned(width: u32) -> Range {
        Range {
            low: BigInt::zero(),
            high: power(width) - 1,
        }
    }

    /// The number of its numbers.
    pub fn size(&self) -> BigInt {
        &self.high - &self.low + 1
    }

    /// Whether it has one number.
    pub fn is_point(&self) -> bool {
        self.low == self.high
    }

    /// Whether the other range contains it.
    pub fn is_within(&self, other: &Range) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// The range of sums.
    pub fn plus(&self, other: &Range) -> Range {
        Range {
            low: &self.low + &other.low,
            high: &self.high + &other.high,
        }
    }

    /// The range of multiples.
    pub fn times(&self, factor: &BigInt) -> Range {
        let ends = [&self.low * factor, &self.high * factor];
        let [a, b] = ends;
        match a <= b {
            true => Range { low: a, high: b },
            false => Range { low: b, high: a },
        }
    }

    /// The least range that contains both.
    pub fn hull(&self, other: &Range) -> Range {
        Range {
            low: self.low.clone().min(other.low.clone()),
            high: self.high.clone().max(other.high.clone()),
        }
    }

    /// The number in this range that equals `value` modulo the range's size, a power of two.
    pub fn wrapped(&self, value: &BigInt) -> BigInt {
        let size = self.size();
        let above: BigInt = (value - &self.low) % &size;
        let above = match above < BigInt::zero() {
            true => above + &size,
            false => above,
        };
        &self.low + above
    }

    /// The least width of bit-vectors whose signed values include all these numbers.
    pub fn width(&self) -> u64 {
        let bits = |value: &BigInt| match value < &BigInt::zero() {
            true => (-value - BigInt::one()).bits() + 1,
            false => value.bits() + 1,
        };
        bits(&self.low).max(bits(&self.high))
    }
}
