//! Linear equations in solved form (Gauss, Jordan).
//!
//! Invariant: the pivot of each row has the coefficient -1 and occurs in no other row. If
//! [`Solved::new`] chose the pivots, a row whose pivot is kept has only kept columns.

use std::hash::Hash;

use num_traits::Zero;
use rustc_hash::FxHashMap;

use alphorn_term::{Linear, TermId};

/// Equations `row = 0` with a pivot each.
pub struct Solved<C = TermId> {
    /// Rows with their pivots.
    pub rows: Vec<(C, Linear<C>)>,
    at: FxHashMap<C, usize>,
}

impl<C> Default for Solved<C> {
    fn default() -> Self {
        Solved {
            rows: Vec::new(),
            at: FxHashMap::default(),
        }
    }
}

impl<C: Copy + Ord + Hash> Solved<C> {
    /// Solves each equation `equation = 0` for a column for which `keep` is false, or else for its
    /// last column; `None` if the equations have no solution.
    pub fn new<'a>(
        equations: impl IntoIterator<Item = &'a Linear<C>>,
        keep: impl Fn(C) -> bool,
    ) -> Option<Self>
    where
        C: 'a,
    {
        let mut solved = Solved::default();
        for equation in equations {
            let pivot = |row: &Linear<C>| {
                let columns = || row.monomials.iter().map(|m| m.0);
                columns().find(|c| !keep(*c)).or(columns().last())
            };
            if !solved.add(equation, pivot) {
                return None;
            }
        }
        Some(solved)
    }

    /// Reduces an equation by the rows and solves it for the column that `pivot` chooses; if `pivot`
    /// chooses none, the equation is dropped. False if it contradicts the others.
    pub fn add(
        &mut self,
        equation: &Linear<C>,
        pivot: impl FnOnce(&Linear<C>) -> Option<C>,
    ) -> bool {
        let row = self.reduce(equation);
        let Some(pivot) = pivot(&row) else {
            return !row.is_constant() || row.constant.is_zero();
        };
        let row = row.scaled(&-row.coefficient(pivot).recip());
        for (_, other) in &mut self.rows {
            let factor = other.coefficient(pivot);
            if !factor.is_zero() {
                *other = other.add_scaled(&row, &factor);
            }
        }
        self.at.insert(pivot, self.rows.len());
        self.rows.push((pivot, row));
        true
    }

    /// The polynomial with the solutions of the pivots substituted for them.
    pub fn reduce(&self, linear: &Linear<C>) -> Linear<C> {
        let mut result = linear.clone();
        for (column, coefficient) in &linear.monomials {
            if let Some(&i) = self.at.get(column) {
                result = result.add_scaled(&self.rows[i].1, coefficient);
            }
        }
        result
    }
}
