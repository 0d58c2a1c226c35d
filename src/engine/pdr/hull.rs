//! Convex over-approximations of points and of what bounds by them allow: affine hulls, boxes,
//! Fourier-Motzkin elimination. Small dimensions, exact rationals.
//!
//! Invariant: results over-approximate: every point given, and every solution for some of them,
//! satisfies what is returned.

use num_traits::{One, Signed, Zero};

use crate::term::Rational;

/// Largest number of rows during an elimination.
const ROW_LIMIT: usize = 60;

/// `coefficients · x + constant ⋈ 0`, ⋈ being `=`, `<=`, `<` or `≠`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub coefficients: Vec<Rational>,
    pub constant: Rational,
    pub relation: Relation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    AtMost,
    Below,
    Differs,
}

impl Row {
    fn add_scaled(&mut self, other: &Row, factor: &Rational) {
        for (a, b) in self.coefficients.iter_mut().zip(&other.coefficients) {
            *a += b * factor;
        }
        self.constant += &other.constant * factor;
    }

    pub fn is_trivial(&self) -> bool {
        self.coefficients.iter().all(Zero::is_zero)
    }
}

/// The equations that all points satisfy, independent of each other.
pub(super) fn affine_hull(points: &[Vec<Rational>]) -> Vec<Row> {
    let Some((first, rest)) = points.split_first() else {
        return Vec::new();
    };
    let width = first.len();
    // A basis of the directions between the points, reduced.
    let mut basis: Vec<(usize, Vec<Rational>)> = Vec::new();
    for point in rest {
        let mut direction: Vec<Rational> = point.iter().zip(first).map(|(a, b)| a - b).collect();
        for (pivot, row) in &basis {
            subtract(&mut direction, row, *pivot);
        }
        let Some(pivot) = direction.iter().position(|c| !c.is_zero()) else {
            continue;
        };
        let scale = direction[pivot].clone();
        direction.iter_mut().for_each(|c| *c /= &scale);
        for (_, row) in &mut basis {
            subtract(row, &direction, pivot);
        }
        basis.push((pivot, direction));
    }
    // Each column without pivot depends on the pivots' columns.
    let mut rows = Vec::new();
    for column in 0..width {
        if basis.iter().any(|(pivot, _)| *pivot == column) {
            continue;
        }
        let mut coefficients = vec![Rational::zero(); width];
        coefficients[column] = -Rational::one();
        for (pivot, row) in &basis {
            coefficients[*pivot] = row[column].clone();
        }
        let at: Rational = coefficients.iter().zip(first).map(|(c, x)| c * x).sum();
        rows.push(Row {
            coefficients,
            constant: -at,
            relation: Relation::Equal,
        });
    }
    rows
}

fn subtract(row: &mut [Rational], other: &[Rational], pivot: usize) {
    let factor = row[pivot].clone();
    if !factor.is_zero() {
        for (a, b) in row.iter_mut().zip(other) {
            *a -= b * &factor;
        }
    }
}

/// Makes one equation of each pair of opposite bounds.
fn find_equations(rows: &mut Vec<Row>) {
    let mut at = 0;
    while at < rows.len() {
        if rows[at].relation == Relation::AtMost {
            let opposite = |r: &Row| {
                r.relation == Relation::AtMost
                    && r.constant == -&rows[at].constant
                    && r.coefficients
                        .iter()
                        .zip(&rows[at].coefficients)
                        .all(|(a, b)| *a == -b)
            };
            if let Some(other) = rows.iter().position(opposite) {
                rows[at].relation = Relation::Equal;
                rows.remove(other);
                at = 0;
                continue;
            }
        }
        at += 1;
    }
}

/// Eliminates the first `count` columns; `None` when too many rows come up.
pub(super) fn eliminate(mut rows: Vec<Row>, count: usize) -> Option<Vec<Row>> {
    let mut open: Vec<usize> = (0..count).collect();
    while !open.is_empty() {
        find_equations(&mut rows);
        // Columns with an equation first: that loses nothing, and no disequality.
        let solvable = |&c: &usize| {
            let solves = |r: &Row| r.relation == Relation::Equal && !r.coefficients[c].is_zero();
            rows.iter().any(solves)
        };
        let next = open.iter().position(solvable).unwrap_or(0);
        let column = open.remove(next);
        let equation = rows
            .iter()
            .position(|r| r.relation == Relation::Equal && !r.coefficients[column].is_zero());
        if let Some(at) = equation {
            let equation = rows.swap_remove(at);
            for row in &mut rows {
                let factor = -&row.coefficients[column] / &equation.coefficients[column];
                if !factor.is_zero() {
                    row.add_scaled(&equation, &factor);
                }
            }
        } else {
            let (mut used, mut kept): (Vec<Row>, Vec<Row>) = rows
                .into_iter()
                .partition(|r| !r.coefficients[column].is_zero());
            used.retain(|r| r.relation != Relation::Differs);
            let (upper, lower): (Vec<Row>, Vec<Row>) = used
                .into_iter()
                .partition(|r| r.coefficients[column].is_positive());
            if upper.len() * lower.len() + kept.len() > ROW_LIMIT {
                return None;
            }
            for up in &upper {
                for low in &lower {
                    let mut row = up.clone();
                    let factor = -&up.coefficients[column] / &low.coefficients[column];
                    row.add_scaled(low, &factor);
                    if low.relation == Relation::Below {
                        row.relation = Relation::Below;
                    }
                    kept.push(row);
                }
            }
            rows = kept;
        }
        let mut unique: Vec<Row> = Vec::new();
        for row in rows {
            if !row.is_trivial() && !unique.contains(&row) {
                unique.push(row);
            }
        }
        rows = unique;
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rational(value: i64) -> Rational {
        Rational::from_integer(value.into())
    }

    fn vector(values: &[i64]) -> Vec<Rational> {
        values.iter().map(|&v| rational(v)).collect()
    }

    fn holds(row: &Row, point: &[Rational]) -> bool {
        let sum: Rational = row.coefficients.iter().zip(point).map(|(c, x)| c * x).sum();
        let value = sum + &row.constant;
        match row.relation {
            Relation::Equal => value.is_zero(),
            Relation::AtMost => !value.is_positive(),
            Relation::Below => value.is_negative(),
            Relation::Differs => !value.is_zero(),
        }
    }

    #[test]
    fn hulls_contain_their_points_and_no_more() {
        let points = [vector(&[1, 2, 7]), vector(&[2, 4, 7]), vector(&[5, 10, 7])];
        let rows = affine_hull(&points);
        assert_eq!(rows.len(), 2);
        assert!(points.iter().all(|p| rows.iter().all(|r| holds(r, p))));
        assert!(rows.iter().any(|r| !holds(r, &vector(&[1, 3, 7]))));
        assert!(rows.iter().any(|r| !holds(r, &vector(&[1, 2, 8]))));
        assert!(affine_hull(&[vector(&[0, 0]), vector(&[1, 0]), vector(&[0, 1])]).is_empty());
        assert_eq!(affine_hull(&[vector(&[3])]).len(), 1);
    }

    #[test]
    fn elimination_keeps_what_has_a_witness() {
        // v <= t, v >= s, v = w: s <= t.
        let row = |c: &[i64], constant, relation| Row {
            coefficients: vector(c),
            constant: rational(constant),
            relation,
        };
        let rows = vec![
            row(&[1, 0, -1, 0], 0, Relation::AtMost),
            row(&[0, -1, 0, 1], 0, Relation::Below),
            row(&[1, -1, 0, 0], 0, Relation::Equal),
        ];
        let result = eliminate(rows, 2).unwrap();
        assert_eq!(result, vec![row(&[0, 0, -1, 1], 0, Relation::Below)]);
        // v <= s, v >= s, v ≠ t: s ≠ t.
        let rows = vec![
            row(&[1, -1, 0], 0, Relation::AtMost),
            row(&[-1, 1, 0], 0, Relation::AtMost),
            row(&[1, 0, -1], 0, Relation::Differs),
        ];
        let result = eliminate(rows, 1).unwrap();
        assert_eq!(result, vec![row(&[0, 1, -1], 0, Relation::Differs)]);
    }
}
