//! Linear equations without integer solutions.
//!
//! Invariant: a refutation is a combination of the equations with integer coefficients and a
//! constant that is not an integer, so anyone can check it by adding up.

use num_integer::Integer;
use num_traits::{Signed, Zero};
use rustc_hash::FxHashMap;

use alphorn_term::{BigInt, Linear, Rational, TermId};

/// Multipliers for equations `form = 0` over integers such that the sum of the multiplied equations
/// has integer coefficients and a constant that is not an integer; `None` if the equations have
/// integer solutions or no rational ones.
///
/// Column operations bring the coefficients to lower triangular form (Hermite normal form). They are
/// unimodular, so a combination of rows has integer coefficients after them if and only if it has
/// integer coefficients before.
pub fn insoluble(equations: &[&Linear]) -> Option<Vec<Rational>> {
    let mut columns: FxHashMap<TermId, usize> = FxHashMap::default();
    for form in equations {
        for (term, _) in &form.monomials {
            let next = columns.len();
            columns.entry(*term).or_insert(next);
        }
    }
    let width = columns.len();
    let mut rows: Vec<Vec<BigInt>> = Vec::with_capacity(equations.len());
    let mut factors: Vec<Rational> = Vec::with_capacity(equations.len());
    for form in equations {
        let factor = form.integer_factor();
        let mut row = vec![BigInt::zero(); width];
        for (term, coefficient) in &form.monomials {
            row[columns[term]] = (coefficient * &factor).to_integer();
        }
        rows.push(row);
        factors.push(factor);
    }
    // Rows with a pivot, ascending; the pivot of the k-th one is in column k.
    let mut pivots: Vec<usize> = Vec::new();
    let mut solution: Vec<Rational> = Vec::new();
    for at in 0..rows.len() {
        let rank = pivots.len();
        loop {
            let least = (rank..width)
                .filter(|&c| !rows[at][c].is_zero())
                .min_by_key(|&c| rows[at][c].abs());
            let Some(least) = least else { break };
            let pivot = rows[at][least].clone();
            let mut clean = true;
            for column in (rank..width).filter(|&c| c != least) {
                let quotient = rows[at][column].div_floor(&pivot);
                if quotient.is_zero() {
                    continue;
                }
                for row in &mut rows[at..] {
                    let change = &quotient * &row[least];
                    row[column] -= change;
                }
                clean &= rows[at][column].is_zero();
            }
            let others = (rank..width).filter(|&c| c != least);
            clean = clean && others.into_iter().all(|c| rows[at][c].is_zero());
            if clean {
                for row in &mut rows[at..] {
                    row.swap(rank, least);
                }
                break;
            }
        }
        if rank >= width || rows[at][rank].is_zero() {
            continue;
        }
        pivots.push(at);
        // row · solution + constant = 0
        let mut rest = -(&equations[at].constant * &factors[at]);
        for (column, value) in solution.iter().enumerate() {
            rest -= value * Rational::from_integer(rows[at][column].clone());
        }
        let value = rest / Rational::from_integer(rows[at][rank].clone());
        if value.is_integer() {
            solution.push(value);
            continue;
        }
        // The multipliers that leave only this column, with coefficient one.
        let mut multipliers = vec![Rational::zero(); rows.len()];
        for (k, &row) in pivots.iter().enumerate().rev() {
            let mut rest = Rational::from_integer(i32::from(k == rank).into());
            for &later in &pivots[k + 1..] {
                let entry = Rational::from_integer(rows[later][k].clone());
                rest -= &multipliers[later] * entry;
            }
            multipliers[row] = rest / Rational::from_integer(rows[row][k].clone());
        }
        for (multiplier, factor) in multipliers.iter_mut().zip(&factors) {
            *multiplier *= factor;
        }
        return Some(multipliers);
    }
    None
}
