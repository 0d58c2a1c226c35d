//! Ranges of integers, and those of words.
//!
//! Invariant: no range is empty.

use num_traits::{One, Zero};

use alphorn_term::BigInt;

/// 2 to this power.
pub(super) fn power(exponent: u32) -> BigInt {
    BigInt::one() << exponent
}

/// Half of what words of this width count.
pub(super) fn half(width: u32) -> BigInt {
    power(width - 1)
}

/// All integers from `low` to `high`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Range {
    pub low: BigInt,
    pub high: BigInt,
}

impl Range {
    pub fn point(value: BigInt) -> Range {
        Range {
            low: value.clone(),
            high: value,
        }
    }

    /// Of words of this width with a sign.
    pub fn signed(width: u32) -> Range {
        Range {
            low: -half(width),
            high: half(width) - 1,
        }
    }

    /// Of words of this width without a sign.
    pub fn unsigned(width: u32) -> Range {
        Range {
            low: BigInt::zero(),
            high: power(width) - 1,
        }
    }

    pub fn is_point(&self) -> bool {
        self.low == self.high
    }

    pub fn is_within(&self, other: &Range) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    pub fn plus(&self, other: &Range) -> Range {
        Range {
            low: &self.low + &other.low,
            high: &self.high + &other.high,
        }
    }

    pub fn times(&self, factor: &BigInt) -> Range {
        let ends = [&self.low * factor, &self.high * factor];
        let [a, b] = ends;
        match a <= b {
            true => Range { low: a, high: b },
            false => Range { low: b, high: a },
        }
    }

    pub fn hull(&self, other: &Range) -> Range {
        Range {
            low: self.low.clone().min(other.low.clone()),
            high: self.high.clone().max(other.high.clone()),
        }
    }

    /// The number in this range, of a power of two of numbers, that equals another modulo its size.
    pub fn wrapped(&self, value: &BigInt) -> BigInt {
        let size: BigInt = &self.high - &self.low + 1;
        let above: BigInt = (value - &self.low) % &size;
        let above = match above < BigInt::zero() {
            true => above + &size,
            false => above,
        };
        &self.low + above
    }

    /// The least width of words with a sign that have all these numbers.
    pub fn width(&self) -> u64 {
        let bits = |value: &BigInt| match value < &BigInt::zero() {
            true => (-value - BigInt::one()).bits() + 1,
            false => value.bits() + 1,
        };
        bits(&self.low).max(bits(&self.high))
    }
}
