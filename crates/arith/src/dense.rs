//! Dense vectors and matrices of rationals: echelon form, affine hulls, inverses.
//!
//! Precondition: all vectors of one computation have the same length.

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

/// Subtracts the multiple of `pivot` that makes the entry in `column` zero; the entry of `pivot`
/// there is one.
fn clear(vector: &mut [Rational], pivot: &[Rational], column: usize) {
    let factor = vector[column].clone();
    subtract(vector, pivot, &factor);
}

/// Linearly independent vectors in reduced echelon form, apart from the order of rows.
pub struct Echelon {
    /// Rows with their pivot column: the entry there is one in this row and zero in all others.
    pub rows: Vec<(usize, Vec<Rational>)>,
    width: usize,
}

impl Echelon {
    /// No vectors. Pivots are in the first `width` columns only.
    pub fn new(width: usize) -> Echelon {
        Echelon {
            rows: Vec::new(),
            width,
        }
    }

    /// Makes the entries of `vector` in all pivot columns zero by subtracting multiples of rows.
    pub fn reduce(&self, vector: &mut [Rational]) {
        for (column, row) in &self.rows {
            clear(vector, row, *column);
        }
    }

    /// Adds a vector.
    ///
    /// # Errors
    /// In the first `width` columns the vector depends on the rows. Returns the other columns of the
    /// reduced vector.
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

/// Linearly independent equations whose solutions are the affine hull of the points; none if there
/// are no points. Columns are the positions in a point.
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
    // Columns without pivot; each is determined by the pivot columns.
    let mut free: Vec<usize> = (0..width).collect();
    for point in points {
        if free.is_empty() {
            break;
        }
        let parts = point.as_ref().iter().zip(first);
        let direction: Vec<Rational> = parts.map(|(a, b)| a - b).collect();
        // Most directions depend on earlier ones; this test is faster than a reduction.
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

/// The inverse of a matrix, given by rows; `None` if it is singular or not square.
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
