//! Elimination of columns by equations and by sums of bounds (Fourier, Motzkin).
//!
//! Invariant: the result of [`eliminate`] follows from its input and has none of the eliminated
//! columns. If the input consists of bounds and equations and has a real solution, the result is
//! exactly its projection over the reals. (Constraints without columns are dropped, so a
//! contradiction is lost.)

use num_traits::{Signed, Zero};

use super::constraint::{Constraint, Relation};

/// Constraints grouped by how they bound a column.
pub struct ColumnBounds<C> {
    /// Bounds from above.
    pub upper: Vec<Constraint<C>>,
    /// Bounds from below.
    pub lower: Vec<Constraint<C>>,
    /// Constraints without the column.
    pub rest: Vec<Constraint<C>>,
}

impl<C: Copy + Ord> ColumnBounds<C> {
    /// Groups the constraints; those that mention the column and are not bounds are dropped.
    pub fn of(constraints: Vec<Constraint<C>>, column: C) -> ColumnBounds<C> {
        let mut bounds = ColumnBounds {
            upper: Vec::new(),
            lower: Vec::new(),
            rest: Vec::new(),
        };
        for constraint in constraints {
            let coefficient = constraint.linear.coefficient(column);
            if coefficient.is_zero() {
                bounds.rest.push(constraint);
            } else if constraint.relation.is_bound() {
                match coefficient.is_positive() {
                    true => bounds.upper.push(constraint),
                    false => bounds.lower.push(constraint),
                }
            }
        }
        bounds
    }

    /// The number of pairs of an upper and a lower bound.
    pub fn pairs(&self) -> usize {
        self.upper.len() * self.lower.len()
    }

    /// The constraints without the column, then for each pair of an upper and a lower bound their
    /// positive combination that cancels the column.
    pub fn combined(self, column: C) -> Vec<Constraint<C>> {
        let mut result = self.rest;
        for up in &self.upper {
            for low in &self.lower {
                let factor = -up.linear.coefficient(column) / low.linear.coefficient(column);
                let linear = up.linear.add_scaled(&low.linear, &factor);
                let relation = match (up.relation, low.relation) {
                    (Relation::AtMost, Relation::AtMost) => Relation::AtMost,
                    _ => Relation::Below,
                };
                result.push(Constraint { linear, relation });
            }
        }
        result
    }
}

/// Replaces each pair of opposite bounds by an equation.
fn find_equations<C: Copy + Ord>(constraints: &mut Vec<Constraint<C>>) {
    let mut at = 0;
    while at < constraints.len() {
        if constraints[at].relation == Relation::AtMost {
            let opposite = Constraint::new(constraints[at].linear.negated(), Relation::AtMost);
            if let Some(other) = constraints.iter().position(|c| *c == opposite) {
                constraints[at].relation = Relation::Equal;
                constraints.remove(other);
                at = 0;
                continue;
            }
        }
        at += 1;
    }
}

/// Eliminates the columns, those with an equation first. `None` if elimination of a column would
/// give more than `limit` constraints.
pub fn eliminate<C: Copy + Ord>(
    mut constraints: Vec<Constraint<C>>,
    columns: impl IntoIterator<Item = C>,
    limit: usize,
) -> Option<Vec<Constraint<C>>> {
    let mut open: Vec<C> = columns.into_iter().collect();
    while !open.is_empty() {
        find_equations(&mut constraints);
        // Columns with an equation first: substitution also keeps disequalities and congruences.
        let equation_of = |column: C| {
            constraints.iter().position(|c| {
                c.relation == Relation::Equal && !c.linear.coefficient(column).is_zero()
            })
        };
        let next = open.iter().position(|&c| equation_of(c).is_some());
        let column = open.remove(next.unwrap_or(0));
        if let Some(at) = equation_of(column) {
            let equation = constraints.swap_remove(at).linear;
            let own = equation.coefficient(column);
            for constraint in &mut constraints {
                let factor = -constraint.linear.coefficient(column) / &own;
                if !factor.is_zero() {
                    constraint.linear = constraint.linear.add_scaled(&equation, &factor);
                }
            }
        } else {
            let bounds = ColumnBounds::of(constraints, column);
            if bounds.pairs() + bounds.rest.len() > limit {
                return None;
            }
            constraints = bounds.combined(column);
        }
        let mut unique: Vec<Constraint<C>> = Vec::new();
        for constraint in constraints {
            if !constraint.linear.is_constant() && !unique.contains(&constraint) {
                unique.push(constraint);
            }
        }
        constraints = unique;
    }
    Some(constraints)
}
