//! Farkas certificates: sums of one side's bounds that contradict the other side's.
//!
//! If bounds of `A` and bounds of `B` have no common point over the rationals, multipliers prove
//! it, and `A`'s part of the sum is an interpolant: the coefficients of columns of `A` alone sum up
//! to zero in it. The decomposed form splits the multipliers into as many parts as possible that
//! each eliminate `A`'s own columns (Blicha et al., TACAS 2019); the parts here have minimal
//! supports.
//!
//! Invariant: a sum is implied by the bounds of `A`, and every column in it is one of `B`, too.

use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::bits;
use alphorn_arith::{Constraint, Echelon, Multipliers, Relation, TermSimplex};
use alphorn_term::{Linear, Rational, TermId, TermStore};

/// A point that satisfies all bounds, by column, or the multipliers that refute them. Bounds of `b`
/// have numbers after those of `a`.
pub(super) fn refute(
    terms: &TermStore,
    a: &[Constraint],
    b: &[Constraint],
) -> Result<FxHashMap<TermId, Rational>, Multipliers> {
    let all = a
        .iter()
        .chain(b)
        .map(|bound| (&bound.linear, bound.relation));
    TermSimplex::new(terms, all).point()
}

/// The part of `a` in a refutation, as literals.
pub(super) fn sums(
    terms: &TermStore,
    a: &[Constraint],
    b: &[Constraint],
    multipliers: &Multipliers,
    decomposed: bool,
) -> Vec<TermId> {
    // An equation with a negative factor is negated, so that all factors are positive.
    let used: Vec<(Constraint, Rational)> = multipliers
        .iter()
        .filter(|(number, factor)| *number < a.len() && !factor.is_zero())
        .map(|(number, factor)| {
            let bound = &a[*number];
            let sign = factor.signum();
            let linear = bound.linear.scaled(&sign);
            (Constraint::new(linear, bound.relation), factor.abs())
        })
        .collect();
    let factors: Vec<Rational> = used.iter().map(|u| u.1.clone()).collect();
    let parts = match decomposed {
        false => vec![factors],
        true => decompose(&own_columns(&used, b), factors),
    };
    let mut literals = Vec::with_capacity(parts.len());
    for part in parts {
        let mut linear = Linear::constant(Rational::zero());
        // A certificate uses one direction of an equation.
        let mut relation = Relation::AtMost;
        for ((bound, _), factor) in used.iter().zip(&part) {
            if !factor.is_zero() {
                linear = linear.add_scaled(&bound.linear, factor);
                if bound.relation == Relation::Below {
                    relation = Relation::Below;
                }
            }
        }
        let sum = Constraint { linear, relation };
        literals.push(bits::literal(terms, &sum).unwrap_or_else(|| sum.formula(terms)));
    }
    literals
}

/// The coefficients of the columns that are not in `b`, by bound, then by column.
fn own_columns(used: &[(Constraint, Rational)], b: &[Constraint]) -> Vec<Vec<Rational>> {
    let shared: FxHashSet<TermId> = b
        .iter()
        .flat_map(|bound| bound.linear.monomials.iter().map(|m| m.0))
        .collect();
    let mut own: Vec<TermId> = used
        .iter()
        .flat_map(|u| u.0.linear.monomials.iter().map(|m| m.0))
        .filter(|t| !shared.contains(t))
        .collect();
    own.sort_unstable();
    own.dedup();
    let row = |u: &(Constraint, Rational)| own.iter().map(|&t| u.0.linear.coefficient(t)).collect();
    used.iter().map(row).collect()
}

/// Splits positive factors with `Σ factor · row = 0` into non-negative vectors with the same
/// property and minimal supports.
fn decompose(rows: &[Vec<Rational>], mut factors: Vec<Rational>) -> Vec<Vec<Rational>> {
    let mut parts = Vec::new();
    while factors.iter().any(|f| !f.is_zero()) {
        let mut part = factors.clone();
        while let Some(direction) = dependency(rows, &part) {
            // In this direction until another factor becomes zero.
            let ratio = |(p, d): (&Rational, &Rational)| d.is_positive().then(|| p / d);
            let step = part.iter().zip(&direction).filter_map(ratio).min();
            let step = step.expect("a positive entry exists");
            for (p, d) in part.iter_mut().zip(&direction) {
                *p -= d * &step;
            }
        }
        let ratio = |(f, p): (&Rational, &Rational)| (!p.is_zero()).then(|| f / p);
        let share = factors.iter().zip(&part).filter_map(ratio).min();
        let share = share.expect("a part is not zero");
        for (f, p) in factors.iter_mut().zip(&mut part) {
            *p *= &share;
            *f -= &*p;
        }
        parts.push(part);
    }
    parts
}

/// A vector with `Σ entry · row = 0` within the support of `part`, not a multiple of it, and with a
/// positive entry.
fn dependency(rows: &[Vec<Rational>], part: &[Rational]) -> Option<Vec<Rational>> {
    let support: Vec<usize> = (0..part.len()).filter(|&i| !part[i].is_zero()).collect();
    if support.len() < 2 {
        return None;
    }
    let width = rows[support[0]].len();
    // Each row with the combination of rows that it is.
    let mut independent = Echelon::new(width);
    for &at in &support {
        let mut row = rows[at].clone();
        row.resize(width + part.len(), Rational::zero());
        row[width + at] = Rational::one();
        let Err(combination) = independent.add(row) else {
            continue;
        };
        // A dependency other than `part` itself.
        let scale = &part[at] / &combination[at];
        let same = (0..part.len()).all(|i| part[i] == &combination[i] * &scale);
        if !same {
            if combination.iter().any(Signed::is_positive) {
                return Some(combination);
            }
            return Some(combination.iter().map(|c| -c).collect());
        }
    }
    None
}
