//! Integers: Cooper's elimination with the bound and the residue chosen by the model.
//!
//! The variable `x` becomes `n / a`, where `n` is a bound plus an offset below a constant, and `a`
//! divides `n`; an equation `a·x = n` is used in the same way and is exact. If there is no
//! divisibility, and every bound on the far side has the coefficient one or leaves a gap that
//! always contains an integer (the dark shadow of the Omega test), the bounds suffice. Papers:
//! Cooper 1972; Pugh 1991; Bjørner, Janota, LPAR 2015.
//!
//! Invariant: the offsets are bounded by constants that depend on coefficients only, so a formula
//! has finitely many projections.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed};

use super::rows::{Kind, Row, Rows, Sum};

/// Drops the rows of a variable without lower or without upper bounds; a single divisibility is
/// replaced by the condition that it has a solution.
pub(super) fn discard(rows: &mut Rows, column: u32) -> bool {
    let (mut below, mut above) = (true, true);
    let mut divisibilities = 0;
    for row in rows.of(column) {
        match row.kind {
            Kind::AtMost | Kind::Below => {
                if row.sum.coefficient(column).is_positive() {
                    above = false;
                } else {
                    below = false;
                }
            }
            Kind::Differs => {}
            Kind::Equal => return false,
            Kind::Divides(_) => divisibilities += 1,
        }
    }
    if !(below || above) || divisibilities > 1 {
        return false;
    }
    let current = rows.value(column).clone();
    for row in rows.take(column) {
        if let Kind::Divides(modulus) = &row.kind {
            let common = modulus.gcd(&row.sum.coefficient(column));
            rows.add(without(row.sum, column, &current), Kind::Divides(common));
        }
    }
    true
}

fn without(mut sum: Sum, column: u32, current: &BigInt) -> Sum {
    sum.value -= sum.coefficient(column) * current;
    sum.monomials.retain(|m| m.0 != column);
    sum
}

/// The way to use a bound, from cheap and general to costly.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Cost {
    /// The tightest bound has the coefficient one.
    Unit,
    /// Bounds on the far side are compared with it, with a gap if necessary.
    Shadow,
    /// A divisibility is needed.
    Offset,
}

/// Eliminates an integer variable that is bounded on both sides, or occurs in an equation, or in
/// several divisibilities.
pub(super) fn eliminate(rows: &mut Rows, column: u32) {
    let current = rows.value(column).clone();
    let mut taken = rows.take(column);
    let equation = (0..taken.len())
        .filter(|&at| taken[at].kind == Kind::Equal)
        .min_by_key(|&at| {
            (
                taken[at].sum.coefficient(column).abs(),
                taken[at].sum.monomials.len(),
            )
        });
    if let Some(at) = equation {
        let equation = taken.swap_remove(at);
        substitute(rows, column, &taken, equation.sum);
        return;
    }
    for row in &mut taken {
        // A disequality is a bound on the side where the model is.
        if row.kind == Kind::Differs {
            if row.sum.value.is_positive() {
                row.sum.negate();
            }
            row.sum.shift(&BigInt::one());
            row.kind = Kind::AtMost;
        }
    }
    let (mut lower, mut upper, mut divisibilities) = (Vec::new(), Vec::new(), Vec::new());
    let mut period = BigInt::one();
    for row in taken {
        let coefficient = row.sum.coefficient(column);
        if let Kind::Divides(modulus) = &row.kind {
            period = period.lcm(&(modulus / modulus.gcd(&coefficient)));
            divisibilities.push(row);
        } else if coefficient.is_positive() {
            upper.push(row);
        } else {
            lower.push(row);
        }
    }
    let (Some(below), Some(above)) = (tightest(&lower, column), tightest(&upper, column)) else {
        // The integers with the model's residue are unbounded.
        let constant = -current.mod_floor(&period);
        let residue = Sum {
            monomials: vec![(column, BigInt::one())],
            value: current + &constant,
            constant,
        };
        substitute(rows, column, &divisibilities, residue);
        return;
    };
    let plain = divisibilities.is_empty();
    let cost_below = cost_of(&lower[below], &upper, column, plain);
    let cost_above = cost_of(&upper[above], &lower, column, plain);
    let (mut near, at, mut far, cost) = if (cost_above, upper.len()) < (cost_below, lower.len()) {
        (upper, above, lower, cost_above)
    } else {
        (lower, below, upper, cost_below)
    };
    let mut pivot = near.swap_remove(at).sum;
    let a = pivot.coefficient(column).abs();
    if cost == Cost::Shadow {
        // Near bounds are no tighter than the pivot; far bounds leave room for an integer.
        for row in &near {
            let (sum, _) = row.sum.cancel(column, &pivot);
            rows.add(sum, row.kind.clone());
        }
        for row in &far {
            let (mut sum, factor) = row.sum.cancel(column, &pivot);
            let gap = (&a - 1) * (row.sum.coefficient(column).abs() - 1);
            sum.shift(&Integer::div_ceil(&(gap * factor), &a));
            rows.add(sum, row.kind.clone());
        }
        return;
    }
    // The integer next to the bound with the residue of the model: the pivot becomes an equation
    // that holds there.
    let slack = -&pivot.value;
    let steps = slack.div_floor(&a).div_floor(&period) * &period;
    pivot.shift(&(slack - a * steps));
    near.append(&mut far);
    near.append(&mut divisibilities);
    substitute(rows, column, &near, pivot);
}

/// The position of the tightest of bounds on one side: its slack divided by the coefficient is the
/// least.
fn tightest(bounds: &[Row], column: u32) -> Option<usize> {
    (0..bounds.len()).reduce(|best, at| {
        let (old, new) = (&bounds[best], &bounds[at]);
        let a = old.sum.coefficient(column).abs();
        let b = new.sum.coefficient(column).abs();
        let (left, right) = (&new.sum.value * &a, &old.sum.value * &b);
        if left > right || left == right && b < a {
            at
        } else {
            best
        }
    })
}

fn cost_of(pivot: &Row, far: &[Row], column: u32, plain: bool) -> Cost {
    let a = pivot.sum.coefficient(column).abs();
    if a.is_one() {
        return Cost::Unit;
    }
    // The distance of both bounds, times both coefficients.
    let fits = |row: &Row| {
        let b = row.sum.coefficient(column).abs();
        -(&row.sum.value * &a + &pivot.sum.value * &b) >= (&a - 1) * (&b - 1)
    };
    if plain && far.iter().all(fits) {
        Cost::Shadow
    } else {
        Cost::Offset
    }
}

/// Substitutes the variable by the equation, a sum that is zero: exact, given that its coefficient
/// divides the rest of the equation.
fn substitute(rows: &mut Rows, column: u32, others: &[Row], equation: Sum) {
    for row in others {
        rows.substitute(row, column, &equation);
    }
    let divisor = equation.coefficient(column).abs();
    let current = rows.value(column).clone();
    rows.add(without(equation, column, &current), Kind::Divides(divisor));
}
