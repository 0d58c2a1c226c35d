//! Reals: virtual substitution of a bound that the model chooses.
//!
//! Loos, Weispfenning 1993; model-based: Komuravelli, Gurfinkel, Chaki, FMSD 2016.
//!
//! Invariant: eliminating a variable without lower bounds or without upper bounds only removes the
//! rows that contain it.

use num_traits::Signed;

use super::rows::{Kind, Row, Rows};

/// Drops the rows of a variable without lower bounds or without upper bounds.
pub(super) fn discard(rows: &mut Rows, column: u32) -> bool {
    let (mut below, mut above) = (true, true);
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
            _ => return false,
        }
    }
    if below || above {
        rows.take(column);
    }
    below || above
}

/// Eliminates a real variable that is bounded on both sides.
pub(super) fn eliminate(rows: &mut Rows, column: u32) {
    let mut taken = rows.take(column);
    let equation = (0..taken.len())
        .filter(|&at| taken[at].kind == Kind::Equal)
        .min_by_key(|&at| taken[at].sum.monomials.len());
    if let Some(at) = equation {
        let equation = taken.swap_remove(at);
        for row in &taken {
            rows.substitute(row, column, &equation.sum);
        }
        return;
    }
    for row in &mut taken {
        // A disequality is a strict bound on the side where the model is.
        if row.kind == Kind::Differs {
            if row.sum.value.is_positive() {
                row.sum.negate();
            }
            row.kind = Kind::Below;
        }
    }
    let (upper, lower): (Vec<Row>, Vec<Row>) = taken
        .into_iter()
        .partition(|r| r.sum.coefficient(column).is_positive());
    let (near, far) = if upper.len() < lower.len() {
        (upper, lower)
    } else {
        (lower, upper)
    };
    // The tightest bound: the row nearest to zero for a coefficient of one; strict ones first.
    let strict = |row: &Row| row.kind == Kind::Below;
    let Some(chosen) = (0..near.len()).reduce(|best, at| {
        let (old, new) = (&near[best], &near[at]);
        let left = &new.sum.value * old.sum.coefficient(column).abs();
        let right = &old.sum.value * new.sum.coefficient(column).abs();
        if (left, strict(new)) > (right, strict(old)) {
            at
        } else {
            best
        }
    }) else {
        return;
    };
    let pivot = &near[chosen];
    let relation = |strict: bool| if strict { Kind::Below } else { Kind::AtMost };
    for (at, row) in near.iter().enumerate() {
        if at != chosen {
            let (sum, _) = row.sum.cancel(column, &pivot.sum);
            rows.add(sum, relation(strict(row) && !strict(pivot)));
        }
    }
    for row in &far {
        let (sum, _) = row.sum.cancel(column, &pivot.sum);
        rows.add(sum, relation(strict(row) || strict(pivot)));
    }
}
