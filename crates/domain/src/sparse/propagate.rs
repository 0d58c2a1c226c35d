//! Bounds of the locals of a cube by propagation through its rows.
//!
//! Invariant: every solution of the cube that lies in the ranges before lies in the ranges after. A
//! number of rounds that does not depend on the ranges, and no case on how narrow they are, make
//! narrower ranges before give ranges after that are not wider.

use super::compile::{Formula, Kind, Local, Operation, Relation, Row};
use super::range::{INFINITE, Range, lower, upper};

/// Rounds over the formulas of a cube; a round that changes nothing is the last.
const MAX_ROUNDS: usize = 3;

/// Narrows the ranges by all formulas; false if there is no solution. Counts steps in `steps`.
pub(super) fn narrow(
    ranges: &mut [Range],
    kinds: &[Kind],
    formulas: &[Formula],
    steps: &mut u64,
) -> bool {
    for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        for formula in formulas {
            match apply(ranges, kinds, formula, steps) {
                None => return false,
                Some(true) => changed = true,
                Some(false) => {}
            }
        }
        if !changed || formulas.len() < 2 {
            break;
        }
    }
    true
}

/// Narrows the ranges by one formula: whether they changed, or `None` if there is no solution.
pub(super) fn apply(
    ranges: &mut [Range],
    kinds: &[Kind],
    formula: &Formula,
    steps: &mut u64,
) -> Option<bool> {
    match formula {
        Formula::Row(row) => restrict(ranges, kinds, row, steps),
        Formula::And(parts) => {
            let mut changed = false;
            for part in parts {
                changed |= apply(ranges, kinds, part, steps)?;
            }
            Some(changed)
        }
        Formula::Or(alternatives) => {
            let mut joined: Option<Vec<Range>> = None;
            for alternative in alternatives {
                let mut copy = ranges.to_vec();
                *steps += copy.len() as u64 / 4;
                if apply(&mut copy, kinds, alternative, steps).is_none() {
                    continue;
                }
                match &mut joined {
                    None => joined = Some(copy),
                    Some(all) => {
                        for (all, one) in all.iter_mut().zip(copy) {
                            *all = all.join(one);
                        }
                    }
                }
            }
            let joined = joined?;
            let changed = joined != ranges;
            ranges.copy_from_slice(&joined);
            Some(changed)
        }
        Formula::Define(local, operation) => {
            *steps += 2;
            let value = value(ranges, kinds, operation);
            meet(ranges, *local, value)
        }
    }
}

/// Narrows one range.
pub(super) fn meet(ranges: &mut [Range], local: Local, by: Range) -> Option<bool> {
    let range = &mut ranges[local as usize];
    let met = range.meet(by);
    if met.is_empty() {
        return None;
    }
    let changed = met != *range;
    *range = met;
    Some(changed)
}

fn restrict(ranges: &mut [Range], kinds: &[Kind], row: &Row, steps: &mut u64) -> Option<bool> {
    *steps += row.terms.len() as u64;
    match row.relation {
        Relation::AtMost => at_most(ranges, kinds, row, 1, false),
        Relation::Below => at_most(ranges, kinds, row, 1, true),
        Relation::Equal => {
            let up = at_most(ranges, kinds, row, 1, false)?;
            Some(at_most(ranges, kinds, row, -1, false)? || up)
        }
        Relation::Different => different(ranges, kinds, row),
    }
}

/// The least value of `factor * local`; `None` if there is none.
fn least(range: Range, factor: i64) -> Option<i128> {
    let bound = if factor > 0 { range.low } else { range.high };
    (bound.abs() < INFINITE).then(|| i128::from(factor) * i128::from(bound))
}

/// Narrows by `sign * (sum + constant) <= 0`, or `< 0`.
fn at_most(
    ranges: &mut [Range],
    kinds: &[Kind],
    row: &Row,
    sign: i64,
    strict: bool,
) -> Option<bool> {
    let mut sum = i128::from(row.constant) * i128::from(sign);
    let mut unbounded = 0;
    for &(local, factor) in &row.terms {
        match least(ranges[local as usize], factor * sign) {
            Some(value) => sum += value,
            None => unbounded += 1,
        }
    }
    if unbounded == 0 && (sum > 0 || strict && sum == 0) {
        return None;
    }
    if unbounded > 1 {
        return Some(false);
    }
    let mut changed = false;
    for &(local, factor) in &row.terms {
        let factor = factor * sign;
        let own = least(ranges[local as usize], factor);
        if unbounded > 0 && own.is_some() {
            continue;
        }
        let rest = -(sum - own.unwrap_or(0));
        // factor * local <= rest
        let divisor = i128::from(factor.abs());
        let is_integer = kinds[local as usize] != Kind::Rational;
        let (down, remainder) = (rest.div_euclid(divisor), rest.rem_euclid(divisor));
        let quotient = if remainder > 0 && !is_integer {
            down + 1
        } else {
            down
        };
        let bound = match factor > 0 {
            true => Range {
                low: -INFINITE,
                high: upper(quotient),
            },
            false => Range {
                low: lower(-quotient),
                high: INFINITE,
            },
        };
        changed |= meet(ranges, local, bound)?;
    }
    Some(changed)
}

/// Narrows by `sum + constant != 0`.
fn different(ranges: &mut [Range], kinds: &[Kind], row: &Row) -> Option<bool> {
    let mut sum = i128::from(row.constant);
    let mut open: Option<(Local, i64)> = None;
    for &(local, factor) in &row.terms {
        match ranges[local as usize].fixed() {
            Some(value) => sum += i128::from(value) * i128::from(factor),
            None if open.is_some() => return Some(false),
            None => open = Some((local, factor)),
        }
    }
    let Some((local, factor)) = open else {
        return if sum == 0 { None } else { Some(false) };
    };
    let factor = i128::from(factor);
    if kinds[local as usize] == Kind::Rational || sum % factor != 0 {
        return Some(false);
    }
    let excluded = -sum / factor;
    let range = &mut ranges[local as usize];
    let changed = if i128::from(range.low) == excluded {
        range.low += 1;
        true
    } else if i128::from(range.high) == excluded {
        range.high -= 1;
        true
    } else {
        false
    };
    Some(changed)
}

/// The values of an operation.
fn value(ranges: &[Range], kinds: &[Kind], operation: &Operation) -> Range {
    let of = |local: Local| ranges[local as usize];
    match *operation {
        Operation::Product(left, right) => {
            let (left, right) = (of(left), of(right));
            if !left.is_finite() || !right.is_finite() {
                return match left.low >= 0 && right.low >= 0 {
                    true => Range {
                        low: 0,
                        high: INFINITE,
                    },
                    false => Range::ALL,
                };
            }
            let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
            let corners = [
                product(left.low, right.low),
                product(left.low, right.high),
                product(left.high, right.low),
                product(left.high, right.high),
            ];
            let low = corners.into_iter().min().unwrap_or(0);
            Range::of(low, corners.into_iter().max().unwrap_or(0))
        }
        Operation::Quotient(dividend, divisor) => {
            let range = of(dividend);
            let part = |bound: i64| match bound.abs() < INFINITE {
                true => bound.div_euclid(divisor),
                false => bound,
            };
            Range {
                low: part(range.low),
                high: part(range.high),
            }
        }
        Operation::Remainder(dividend, divisor) => {
            let range = of(dividend);
            if range.is_finite()
                && kinds[dividend as usize] != Kind::Rational
                && range.low.div_euclid(divisor) == range.high.div_euclid(divisor)
            {
                return Range {
                    low: range.low.rem_euclid(divisor),
                    high: range.high.rem_euclid(divisor),
                };
            }
            Range {
                low: 0,
                high: (divisor - 1).min(INFINITE),
            }
        }
        Operation::Wrapped(ref terms, constant, modulus) => {
            let all = Range {
                low: 0,
                high: modulus - 1,
            };
            let (mut low, mut high) = (i128::from(constant), i128::from(constant));
            for &(local, factor) in terms {
                let (range, factor) = (of(local), i128::from(factor));
                if !range.is_finite() {
                    return all;
                }
                let (a, b) = (i128::from(range.low), i128::from(range.high));
                low += (a * factor).min(b * factor);
                high += (a * factor).max(b * factor);
            }
            let modulus = i128::from(modulus);
            match low.div_euclid(modulus) == high.div_euclid(modulus) {
                true => Range::of(low.rem_euclid(modulus), high.rem_euclid(modulus)),
                false => all,
            }
        }
        Operation::Mask(left, right) => {
            let (left, right) = (of(left), of(right));
            match (left.fixed(), right.fixed()) {
                (Some(a), Some(b)) => Range::value(a & b),
                _ => Range {
                    low: 0,
                    high: left.high.min(right.high),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTEGERS: [Kind; 2] = [Kind::Integer; 2];

    fn row(terms: &[(Local, i64)], constant: i64, relation: Relation) -> Formula {
        Formula::Row(Row {
            terms: terms.into(),
            constant,
            relation,
        })
    }

    #[test]
    fn rows_narrow_in_both_directions() {
        let mut ranges = vec![Range { low: 0, high: 10 }, Range::ALL];
        // y = 2 x + 1, y >= 5
        let rows = [
            row(&[(0, 2), (1, -1)], 1, Relation::Equal),
            row(&[(1, -1)], 5, Relation::AtMost),
        ];
        assert!(narrow(&mut ranges, &INTEGERS, &rows, &mut 0));
        assert_eq!(
            ranges,
            [Range { low: 2, high: 10 }, Range { low: 5, high: 21 }]
        );
        let rows = [row(&[(0, 3)], -31, Relation::Equal)];
        assert!(!narrow(&mut ranges, &INTEGERS, &rows, &mut 0));
    }

    #[test]
    fn sums_beyond_machine_integers_are_unbounded() {
        let most = INFINITE - 1;
        let mut ranges = vec![
            Range {
                low: most,
                high: most,
            },
            Range::ALL,
        ];
        let rows = [row(&[(0, 2), (1, -1)], 0, Relation::Equal)];
        assert!(narrow(&mut ranges, &INTEGERS, &rows, &mut 0));
        assert_eq!(ranges[1].high, INFINITE);
        assert!(ranges[1].low <= 2 * most);
    }

    #[test]
    fn alternatives_are_joined() {
        let mut ranges = vec![Range { low: 0, high: 9 }, Range::ALL];
        let choice = Formula::Or(vec![
            row(&[(0, 1)], -2, Relation::Equal),
            row(&[(0, 1)], -5, Relation::Equal),
            row(&[(0, 1)], -50, Relation::Equal),
        ]);
        assert!(narrow(&mut ranges, &INTEGERS, &[choice], &mut 0));
        assert_eq!(ranges[0], Range { low: 2, high: 5 });
        let ends = row(&[(0, 1)], -5, Relation::Different);
        assert!(narrow(&mut ranges, &INTEGERS, &[ends], &mut 0));
        assert_eq!(ranges[0], Range { low: 2, high: 4 });
    }
}
