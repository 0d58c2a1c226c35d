//! Linear equations in solved form, the elimination that several domains begin with.
//!
//! Invariant: each row's pivot has the coefficient -1 and occurs in no other row, and a row whose
//! pivot is kept has no variable that is to be eliminated.

use num_traits::Zero;
use rustc_hash::FxHashMap;

use crate::term::{Linear, TermId};

/// Equations `row = 0` with a pivot each.
#[derive(Default)]
pub(super) struct Solved {
    pub rows: Vec<(TermId, Linear)>,
    at: FxHashMap<TermId, usize>,
}

impl Solved {
    /// Solves the equations, each for a variable that is not to be kept if it has one, else for its
    /// last variable; `None` if they contradict each other.
    pub fn new<'a>(
        equations: impl IntoIterator<Item = &'a Linear>,
        keep: impl Fn(TermId) -> bool,
    ) -> Option<Solved> {
        let mut solved = Solved::default();
        for equation in equations {
            let row = solved.reduce(equation);
            let eliminated = row.monomials.iter().find(|m| !keep(m.0));
            let Some((pivot, coefficient)) = eliminated.or(row.monomials.last()) else {
                if row.constant.is_zero() {
                    continue;
                }
                return None;
            };
            let pivot = *pivot;
            let row = row.scaled(&-coefficient.recip());
            for (_, other) in &mut solved.rows {
                let factor = other.coefficient(pivot);
                if !factor.is_zero() {
                    *other = other.add_scaled(&row, &factor);
                }
            }
            solved.at.insert(pivot, solved.rows.len());
            solved.rows.push((pivot, row));
        }
        Some(solved)
    }

    /// The row with the pivots replaced by what they are equal to.
    pub fn reduce(&self, row: &Linear) -> Linear {
        let mut result = row.clone();
        for (var, coefficient) in &row.monomials {
            if let Some(&i) = self.at.get(var) {
                result = result.add_scaled(&self.rows[i].1, coefficient);
            }
        }
        result
    }
}
