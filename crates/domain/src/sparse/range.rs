//! Ranges of machine integers, in which overflow is infinity.
//!
//! Invariant: a finite bound is less than [`INFINITE`] in absolute value, so that sums of two bounds
//! do not overflow.

/// No upper bound; its negation is no lower bound.
pub(super) const INFINITE: i64 = i64::MAX / 4;

/// The numbers from `low` to `high`, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    pub low: i64,
    pub high: i64,
}

impl Range {
    /// All numbers.
    pub const ALL: Range = Range {
        low: -INFINITE,
        high: INFINITE,
    };

    /// One number; all numbers if it is too large.
    pub fn value(value: i64) -> Range {
        match value.abs() < INFINITE {
            true => Range {
                low: value,
                high: value,
            },
            false => Range::ALL,
        }
    }

    pub fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// The only number, if there is one.
    pub fn fixed(self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }

    pub fn meet(self, other: Range) -> Range {
        Range {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
        }
    }

    pub fn join(self, other: Range) -> Range {
        Range {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    pub fn includes(self, other: Range) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// The smallest range with both bounds.
    pub fn of(low: i128, high: i128) -> Range {
        Range {
            low: lower(low),
            high: upper(high),
        }
    }

    /// The bounds as numbers, or `None` where there is none.
    pub fn finite(self) -> (Option<i64>, Option<i64>) {
        (
            (self.low > -INFINITE).then_some(self.low),
            (self.high < INFINITE).then_some(self.high),
        )
    }

    /// Whether both bounds are finite.
    pub fn is_finite(self) -> bool {
        self.low > -INFINITE && self.high < INFINITE
    }
}

/// A number as a lower bound: none if it is too small, the greatest one if it is too large.
pub(super) fn lower(value: i128) -> i64 {
    match value {
        v if v <= -i128::from(INFINITE) => -INFINITE,
        v if v >= i128::from(INFINITE) => INFINITE - 1,
        v => v as i64,
    }
}

/// A number as an upper bound: none if it is too large, the least one if it is too small.
pub(super) fn upper(value: i128) -> i64 {
    -lower(-value)
}

/// The sum of two upper bounds.
pub(super) fn add(left: i64, right: i64) -> i64 {
    if left >= INFINITE || right >= INFINITE {
        return INFINITE;
    }
    upper(i128::from(left) + i128::from(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is beyond the machine's integers is a weaker bound.
    #[test]
    fn overflow_is_infinity() {
        assert_eq!(lower(i128::from(INFINITE)), INFINITE - 1);
        assert_eq!(lower(-i128::MAX), -INFINITE);
        assert_eq!(upper(i128::MAX), INFINITE);
        assert_eq!(upper(-i128::MAX), 1 - INFINITE);
        assert_eq!(add(INFINITE - 1, 1), INFINITE);
        assert_eq!(add(1 - INFINITE, -5), 1 - INFINITE);
        assert_eq!(Range::value(i64::MAX), Range::ALL);
        assert_eq!(Range::of(3, 4), Range { low: 3, high: 4 });
    }
}
