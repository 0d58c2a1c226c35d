//! What the analysis knows of the facts of a predicate, and the single statements in it.
//!
//! Invariant: an element describes a superset of the facts of its predicate.

use std::rc::Rc;

use super::range::{INFINITE, Range};

/// What holds of all facts of a predicate.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Element {
    /// By argument.
    pub ranges: Rc<[Range]>,
}

/// One statement of an element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Statement {
    /// There are no facts.
    False,
    /// The lower bound of an argument.
    Lower(u32),
    /// The upper bound of an argument.
    Upper(u32),
}

impl Element {
    /// The element that says no more than the sorts.
    pub fn top(starts: &[Range]) -> Element {
        Element {
            ranges: starts.into(),
        }
    }

    /// The statements that say more than the sorts.
    pub fn statements(&self, starts: &[Range]) -> Vec<Statement> {
        let mut all = Vec::new();
        for (at, (range, start)) in (0..).zip(self.ranges.iter().zip(starts)) {
            if range.low > start.low {
                all.push(Statement::Lower(at));
            }
            if range.high < start.high {
                all.push(Statement::Upper(at));
            }
        }
        all
    }

    /// The element that makes only these statements.
    pub fn only(&self, statements: &[Statement], starts: &[Range]) -> Element {
        let mut ranges: Vec<Range> = starts.to_vec();
        for statement in statements {
            match *statement {
                Statement::False => {}
                Statement::Lower(at) => ranges[at as usize].low = self.ranges[at as usize].low,
                Statement::Upper(at) => ranges[at as usize].high = self.ranges[at as usize].high,
            }
        }
        Element {
            ranges: ranges.into(),
        }
    }

    /// Whether it makes a statement of another element, or one that implies it.
    pub fn implies(&self, statement: Statement, of: &Element) -> bool {
        match statement {
            Statement::False => false,
            Statement::Lower(at) => self.ranges[at as usize].low >= of.ranges[at as usize].low,
            Statement::Upper(at) => self.ranges[at as usize].high <= of.ranges[at as usize].high,
        }
    }

    /// The arguments that a statement is about.
    pub fn arguments(&self, statement: Statement) -> Vec<u32> {
        match statement {
            Statement::False => Vec::new(),
            Statement::Lower(at) | Statement::Upper(at) => vec![at],
        }
    }

    /// Enlarges it to contain another one; whether it changed.
    pub fn join(&mut self, other: &Element, widening: Widening) -> bool {
        let Some(ranges) = joined(&self.ranges, &other.ranges, widening) else {
            return false;
        };
        self.ranges = ranges.into();
        true
    }

    /// Whether it contains another one.
    pub fn includes(&self, other: &Element) -> bool {
        let mut pairs = self.ranges.iter().zip(other.ranges.iter());
        pairs.all(|(own, other)| own.includes(*other))
    }
}

/// How a join jumps over values, so that chains end.
#[derive(Clone, Copy)]
pub(super) enum Widening<'a> {
    /// It does not.
    None,
    /// To the next of these numbers, which are ascending.
    Thresholds(&'a [i64]),
    /// To infinity.
    Infinite,
}

impl Widening<'_> {
    /// A number that is at least `value`, for an upper bound that grows.
    pub fn up(self, value: i64) -> i64 {
        match self {
            Widening::None => value,
            Widening::Thresholds(all) => {
                let at = all.partition_point(|&t| t < value);
                all.get(at).copied().unwrap_or(INFINITE)
            }
            Widening::Infinite => INFINITE,
        }
    }

    /// A number that is at most `value`, for a lower bound that becomes less.
    pub fn down(self, value: i64) -> i64 {
        match self {
            Widening::None => value,
            Widening::Thresholds(all) => {
                let at = all.partition_point(|&t| t <= value);
                at.checked_sub(1).map_or(-INFINITE, |at| all[at])
            }
            Widening::Infinite => -INFINITE,
        }
    }
}

/// The ranges enlarged to contain others; `None` if they do already.
fn joined(own: &[Range], others: &[Range], widening: Widening) -> Option<Vec<Range>> {
    let mut result: Option<Vec<Range>> = None;
    for (at, (range, other)) in own.iter().zip(others).enumerate() {
        if range.includes(*other) {
            continue;
        }
        let range = &mut result.get_or_insert_with(|| own.to_vec())[at];
        if other.low < range.low {
            range.low = widening.down(other.low);
        }
        if other.high > range.high {
            range.high = widening.up(other.high);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widening_goes_to_thresholds() {
        let thresholds = Widening::Thresholds(&[-3, 0, 10]);
        assert_eq!((thresholds.up(4), thresholds.up(10)), (10, 10));
        assert_eq!((thresholds.up(11), thresholds.down(-4)), (INFINITE, -INFINITE));
        assert_eq!((thresholds.down(-1), thresholds.down(0)), (-3, 0));
        let own = [Range { low: 0, high: 1 }];
        let other = [Range { low: 0, high: 2 }];
        let wide = joined(&own, &other, thresholds).expect("it grows");
        assert_eq!(wide, [Range { low: 0, high: 10 }]);
        assert!(joined(&wide, &other, Widening::Infinite).is_none());
    }
}
