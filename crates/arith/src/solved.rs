//! Linear equations in solved form (Gauss, Jordan).
//!
//! Invariant: each row's pivot has the coefficient -1 and occurs in no other row; and where pivots
//! are chosen by [`Solved::new`], a row whose pivot is kept has no column that is not.

use std::hash::Hash;

use num_traits::Zero;
use rustc_hash::FxHashMap;

use alphorn_term::{Linear, TermId};

/// Equations `row = 0` with a pivot each.
pub struct Solved<C = TermId> {
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
    /// Solves the equations, each for a column that is not to be kept if it has one, else for its
    /// last column; `None` if they contradict each other.
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

    /// Adds an equation and solves what is left of it for the column that `pivot` chooses. False
    /// if it contradicts the others.
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

    /// The polynomial with the pivots replaced by what they are equal to.
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
