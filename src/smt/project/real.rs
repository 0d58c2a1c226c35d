//! Reals: virtual substitution of a bound, chosen by the model.
//!
//! Loos, Weispfenning 1993; model-based: Komuravelli, Gurfinkel, Chaki, FMSD 2016.
//!
//! Invariant: a variable that no literal bounds from below, or none from above, costs nothing.

use num_traits::{One, Signed, Zero};

use super::arithmetic::{Constraint, Relation, literal, split_off, value_of};
use super::state::State;
use crate::term::{Linear, Rational, SortId, TermId};

/// A literal as `coefficient · x + rest ⋈ 0`.
struct Row {
    coefficient: Rational,
    rest: Linear,
    relation: Relation,
}

fn rows(state: &State, var: TermId, literals: &[TermId]) -> Option<Vec<Row>> {
    literals
        .iter()
        .map(|&l| {
            let constraint = Constraint::of(state.terms, l)?;
            let (coefficient, rest) = split_off(state, &constraint.linear, var)?;
            (!coefficient.is_zero()).then_some(Row {
                coefficient,
                rest,
                relation: constraint.relation,
            })
        })
        .collect()
}

/// Drops the literals of a variable that can be as great, or as small, as one likes.
pub(super) fn drop_unbounded(state: &mut State, var: TermId, literals: &[TermId]) -> bool {
    let Some(rows) = rows(state, var, literals) else {
        return false;
    };
    let unbounded = [true, false].iter().any(|&above| {
        rows.iter().all(|r| match r.relation {
            Relation::Le | Relation::Lt => r.coefficient.is_positive() != above,
            Relation::Eq => false,
            Relation::Ne => true,
        })
    });
    if unbounded {
        state.drop_literals(var);
    }
    unbounded
}

/// One bound `var ⋈ term`.
struct Bound {
    term: Linear,
    strict: bool,
}

/// Eliminates a real variable; `None` when it does not occur linearly everywhere.
pub(super) fn eliminate(state: &mut State, var: TermId) -> Option<()> {
    let literals = state.literals_of(var);
    if drop_unbounded(state, var, &literals) {
        return Some(());
    }
    let rows = rows(state, var, &literals)?;
    let mut lower = Vec::new();
    let mut upper = Vec::new();
    for row in rows {
        let term = row.rest.scaled(&-row.coefficient.recip());
        let (below, strict) = match row.relation {
            Relation::Eq => {
                let term = state.terms.from_linear(&term, SortId::REAL);
                state.substitute_one(var, term);
                return Some(());
            }
            Relation::Le => (row.coefficient.is_positive(), false),
            Relation::Lt => (row.coefficient.is_positive(), true),
            Relation::Ne => (state.number(var)? < value_of(state, &term)?, true),
        };
        if below {
            upper.push(Bound { term, strict });
        } else {
            lower.push(Bound { term, strict });
        }
    }
    state.drop_literals(var);
    if lower.is_empty() || upper.is_empty() {
        return Some(());
    }
    if lower.len() <= upper.len() {
        resolve(state, lower, upper, false)
    } else {
        resolve(state, upper, lower, true)
    }
}

/// Adds the literals that say: the tightest of `near` is the tightest, and it leaves room for the
/// variable below (above, when `mirrored`) all of `far`.
fn resolve(state: &mut State, near: Vec<Bound>, far: Vec<Bound>, mirrored: bool) -> Option<()> {
    let mut tightest: Option<(Rational, usize)> = None;
    for (at, bound) in near.iter().enumerate() {
        let value = value_of(state, &bound.term)?;
        let tighter = match &tightest {
            None => true,
            Some((best, _)) if value == *best => {
                let (_, old) = tightest.as_ref()?;
                bound.strict && !near[*old].strict
            }
            Some((best, _)) => (value > *best) != mirrored,
        };
        if tighter {
            tightest = Some((value, at));
        }
    }
    let (_, chosen) = tightest?;
    let pivot = &near[chosen];
    let mut below = |left: &Linear, right: &Linear, strict: bool| {
        let (left, right) = if mirrored {
            (right, left)
        } else {
            (left, right)
        };
        let relation = if strict { Relation::Lt } else { Relation::Le };
        let difference = left.add_scaled(right, &-Rational::one());
        let literal = literal(state.terms, &difference, relation, SortId::REAL);
        state.add(literal);
    };
    for (at, bound) in near.iter().enumerate() {
        if at != chosen {
            below(&bound.term, &pivot.term, bound.strict && !pivot.strict);
        }
    }
    for bound in &far {
        below(&pivot.term, &bound.term, bound.strict || pivot.strict);
    }
    Some(())
}
