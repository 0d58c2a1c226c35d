//! Dense vectors and matrices of rationals: echelon form, affine hulls, inverses.
//!
//! Invariant: all vectors of one computation have the same length.

use num_traits::{One, Zero};

use super::constraint::{Constraint, Relation};
use alphorn_term::{Linear, Rational};

/// `vector -= factor * other`.
pub fn subtract(vector: &mut [Rational], other: &[Rational], factor: &Rational) {
    if !factor.is_zero() {
        for (a, b) in vector.iter_mut().zip(other) {
            if !b.is_zero() {
                *a -= b * factor;
            }
        }
    }
}

/// Subtracts the multiple of `pivot`, whose entry in the column is one, that clears the column.
pub fn clear(vector: &mut [Rational], pivot: &[Rational], column: usize) {
    let factor = vector[column].clone();
    subtract(vector, pivot, &factor);
}

/// Vectors in reduced echelon form.
pub struct Echelon {
    /// Vectors with the column of their first one, which is zero in all others.
    pub rows: Vec<(usize, Vec<Rational>)>,
    width: usize,
}

impl Echelon {
    /// No vectors. Only the first `width` columns are cleared.
    pub fn new(width: usize) -> Echelon {
        Echelon {
            rows: Vec::new(),
            width,
        }
    }

    /// Clears the columns of the rows.
    pub fn reduce(&self, vector: &mut [Rational]) {
        for (column, row) in &self.rows {
            clear(vector, row, *column);
        }
    }

    /// Adds a vector.
    ///
    /// # Errors
    /// The vector depends on those before. What is left of it after the cleared columns.
    pub fn add(&mut self, mut vector: Vec<Rational>) -> Result<(), Vec<Rational>> {
        self.reduce(&mut vector);
        let cleared = vector.iter().take(self.width);
        let Some(column) = cleared.into_iter().position(|c| !c.is_zero()) else {
            return Err(vector.split_off(self.width));
        };
        let scale = vector[column].recip();
        vector.iter_mut().for_each(|c| *c *= &scale);
        for (_, row) in &mut self.rows {
            clear(row, &vector, column);
        }
        self.rows.push((column, vector));
        Ok(())
    }
}

/// The equations over the points' columns that all points satisfy, independent of each other.
pub fn affine_hull<P: AsRef<[Rational]>>(
    points: impl IntoIterator<Item = P>,
) -> Vec<Constraint<usize>> {
    let mut points = points.into_iter();
    let Some(first) = points.next() else {
        return Vec::new();
    };
    let first = first.as_ref();
    let width = first.len();
    let mut directions = Echelon::new(width);
    // Each column without pivot depends on the pivots' columns.
    let mut free: Vec<usize> = (0..width).collect();
    for point in points {
        if free.is_empty() {
            break;
        }
        let parts = point.as_ref().iter().zip(first);
        let direction: Vec<Rational> = parts.map(|(a, b)| a - b).collect();
        // What depends on other directions says nothing new; most points do.
        let depends = |&column: &usize| {
            let parts = directions.rows.iter();
            let sum: Rational = parts
                .map(|(pivot, row)| &row[column] * &direction[*pivot])
                .sum();
            sum == direction[column]
        };
        if !free.iter().all(depends) && directions.add(direction).is_ok() {
            let pivot = directions.rows.last().map(|row| row.0);
            free.retain(|&column| Some(column) != pivot);
        }
    }
    let equation = |column: usize| {
        let rows = directions.rows.iter();
        let mut monomials: Vec<(usize, Rational)> = rows
            .map(|(pivot, row)| (*pivot, row[column].clone()))
            .collect();
        monomials.retain(|m| !m.1.is_zero());
        monomials.push((column, -Rational::one()));
        monomials.sort_unstable_by_key(|m| m.0);
        let at: Rational = monomials.iter().map(|(c, k)| &first[*c] * k).sum();
        let constant = -at;
        Constraint::new(
            Linear {
                monomials,
                constant,
            },
            Relation::Equal,
        )
    };
    free.into_iter().map(equation).collect()
}

/// The inverse of a square matrix; `None` when it has none.
pub fn inverse(mut matrix: Vec<Vec<Rational>>) -> Option<Vec<Vec<Rational>>> {
    let size = matrix.len();
    for (i, row) in matrix.iter_mut().enumerate() {
        if row.len() != size {
            return None;
        }
        row.resize(2 * size, Rational::zero());
        row[size + i] = Rational::one();
    }
    for column in 0..size {
        let at = (column..size).find(|&i| !matrix[i][column].is_zero())?;
        matrix.swap(column, at);
        let scale = matrix[column][column].recip();
        let mut pivot = std::mem::take(&mut matrix[column]);
        for entry in &mut pivot {
            if !entry.is_zero() {
                *entry *= &scale;
            }
        }
        for row in matrix.iter_mut().filter(|r| !r.is_empty()) {
            clear(row, &pivot, column);
        }
        matrix[column] = pivot;
    }
    Some(matrix.into_iter().map(|mut r| r.split_off(size)).collect())
}
