//! Integers: Cooper's elimination with the bound and the residue chosen by the model.
//!
//! The variable `x` becomes `n / a` where `n` is a bound plus an offset below a constant, and `a`
//! divides `n`; an equation `a·x = n` is used the same way and loses nothing. Where no divisibility
//! is involved and every bound on the far side has the coefficient one, or leaves a gap wide enough
//! for an integer (the dark shadow of the Omega test), the bounds alone say it. Papers: Cooper
//! 1972; Pugh 1991; Bjørner, Janota, LPAR 2015.
//!
//! Invariant: the offsets are bounded by constants that depend on coefficients only, so finitely
//! many projections of a formula exist.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use super::arithmetic::{Constraint, Relation, divides, literal, split_off, value_of};
use super::state::State;
use crate::term::{Linear, Op, Rational, SortId, TermId};

/// A literal as `coefficient · x + rest ⋈ 0`.
#[derive(Clone)]
struct Row {
    coefficient: BigInt,
    rest: Linear,
    relation: Relation,
}

/// `modulus` divides `coefficient · x + rest`.
struct Divisibility {
    modulus: BigInt,
    coefficient: BigInt,
    rest: Linear,
}

#[derive(Default)]
struct View {
    rows: Vec<Row>,
    divisibilities: Vec<Divisibility>,
}

fn view(state: &State, var: TermId, literals: &[TermId]) -> Option<View> {
    let mut view = View::default();
    for &literal in literals {
        if let Some((modulus, linear)) = as_divisibility(state, literal) {
            let (coefficient, rest) = split_off(state, &linear, var)?;
            view.divisibilities.push(Divisibility {
                modulus,
                coefficient: coefficient.to_integer(),
                rest,
            });
            continue;
        }
        let constraint = Constraint::of(state.terms, literal)?;
        if constraint.sort != SortId::INT {
            return None;
        }
        let (coefficient, rest) = split_off(state, &constraint.linear, var)?;
        let coefficient = coefficient.to_integer();
        let mut row = Row {
            coefficient,
            rest,
            relation: constraint.relation,
        };
        if row.relation == Relation::Lt {
            row.relation = Relation::Le;
            row.rest.constant += Rational::one();
        }
        view.rows.push(row);
    }
    Some(view)
}

/// `t mod m = r` as `m` divides `t - r`.
fn as_divisibility(state: &State, literal: TermId) -> Option<(BigInt, Linear)> {
    let terms = state.terms;
    let node = terms.node(literal);
    if node.op != Op::Eq {
        return None;
    }
    let [left, right] = [node.args[0], node.args[1]];
    if *terms.op(left) != Op::Mod {
        return None;
    }
    let residue = terms.as_int(right)?;
    let args = terms.args(left);
    let modulus = terms.as_int(args[1])?;
    if residue.is_negative() || *residue >= modulus.abs() {
        return None;
    }
    let mut linear = terms.linear(args[0]);
    linear.constant -= Rational::from_integer(residue.clone());
    Some((modulus.abs(), linear))
}

/// Drops the literals of a variable that can be as great, or as small, as one likes; one
/// divisibility leaves behind what makes it solvable.
pub(super) fn drop_unbounded(state: &mut State, var: TermId, literals: &[TermId]) -> bool {
    let Some(view) = view(state, var, literals) else {
        return false;
    };
    let unbounded = [true, false].iter().any(|&above| {
        view.rows.iter().all(|r| match r.relation {
            Relation::Le | Relation::Lt => r.coefficient.is_positive() != above,
            Relation::Eq => false,
            Relation::Ne => true,
        })
    });
    if !unbounded || view.divisibilities.len() > 1 {
        return false;
    }
    state.drop_literals(var);
    if let Some(d) = view.divisibilities.first() {
        let common = d.modulus.gcd(&d.coefficient);
        let solvable = divides(state.terms, &common, &d.rest);
        state.add(solvable);
    }
    true
}

/// One bound `coefficient · x ⋈ term`, the coefficient positive.
struct Bound {
    coefficient: BigInt,
    term: Linear,
    /// The value of `term / coefficient`.
    value: Rational,
}

/// How a bound may be used, from cheap and general to costly.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    /// The tightest bound has the coefficient one.
    Unit,
    /// Bounds on the far side are compared with it, over a gap where one is needed.
    Shadow,
    /// A divisibility is needed.
    Offset,
}

/// Eliminates an integer variable; `None` when it does not occur linearly everywhere.
pub(super) fn eliminate(state: &mut State, var: TermId) -> Option<()> {
    let literals = state.literals_of(var);
    if drop_unbounded(state, var, &literals) {
        return Some(());
    }
    let mut view = view(state, var, &literals)?;
    let equation = view
        .rows
        .iter()
        .filter(|r| r.relation == Relation::Eq)
        .min_by_key(|r| r.coefficient.abs());
    if let Some(row) = equation {
        // c·x + r = 0: x = -r / c.
        let sign = if row.coefficient.is_positive() {
            -Rational::one()
        } else {
            Rational::one()
        };
        let (numerator, denominator) = (row.rest.scaled(&sign), row.coefficient.abs());
        state.drop_literals(var);
        substitute_quotient(state, &view, &numerator, &denominator);
        return Some(());
    }
    let current = state.number(var)?.to_integer();
    for row in &mut view.rows {
        if row.relation == Relation::Ne {
            let value =
                value_of(state, &row.rest)? + Rational::from_integer(&row.coefficient * &current);
            if value.is_positive() {
                row.coefficient = -&row.coefficient;
                row.rest = row.rest.scaled(&-Rational::one());
            }
            row.rest.constant += Rational::one();
            row.relation = Relation::Le;
        }
    }
    let period = view.divisibilities.iter().fold(BigInt::one(), |k, d| {
        k.lcm(&(&d.modulus / d.modulus.gcd(&d.coefficient)))
    });
    let plain = view.divisibilities.is_empty();
    let mut lower = Vec::new();
    let mut upper = Vec::new();
    for row in &view.rows {
        let coefficient = row.coefficient.abs();
        let is_upper = row.coefficient.is_positive();
        let sign = if is_upper {
            -Rational::one()
        } else {
            Rational::one()
        };
        let term = row.rest.scaled(&sign);
        let value = value_of(state, &term)? / Rational::from_integer(coefficient.clone());
        let bound = Bound {
            coefficient,
            term,
            value,
        };
        if is_upper {
            upper.push(bound);
        } else {
            lower.push(bound);
        }
    }
    state.drop_literals(var);
    if lower.is_empty() || upper.is_empty() {
        // Of the integers with the model's residue some are beyond all bounds.
        let residue = Linear::constant(Rational::from_integer(current.mod_floor(&period)));
        view.rows.clear();
        substitute_quotient(state, &view, &residue, &BigInt::one());
        return Some(());
    }
    let (below, above) = (tightest(&lower, false)?, tightest(&upper, true)?);
    let kind_below = kind_of(&lower[below], &upper, plain);
    let kind_above = kind_of(&upper[above], &lower, plain);
    let mirrored = (kind_above, upper.len()) < (kind_below, lower.len());
    let (near, at, far, kind) = if mirrored {
        (&upper, above, &lower, kind_above)
    } else {
        (&lower, below, &upper, kind_below)
    };
    if kind == Kind::Shadow {
        shadow(state, near, at, far, mirrored);
        return Some(());
    }
    // The integer next to the bound that has the residue of the model.
    let pivot = &near[at];
    let next = if mirrored {
        let start = pivot.value.floor().to_integer();
        &start - (&start - &current).mod_floor(&period)
    } else {
        let start = pivot.value.ceil().to_integer();
        &start + (&current - &start).mod_floor(&period)
    };
    let a = Rational::from_integer(pivot.coefficient.clone());
    let mut numerator = pivot.term.clone();
    numerator.constant += (Rational::from_integer(next) - &pivot.value) * a;
    substitute_quotient(state, &view, &numerator, &pivot.coefficient);
    Some(())
}

/// The position of the greatest lower, or least upper, bound under the model.
fn tightest(bounds: &[Bound], upper: bool) -> Option<usize> {
    (0..bounds.len()).reduce(|best, at| {
        let (old, new) = (&bounds[best], &bounds[at]);
        let tighter = if new.value == old.value {
            new.coefficient < old.coefficient
        } else {
            (new.value > old.value) != upper
        };
        if tighter { at } else { best }
    })
}

fn kind_of(pivot: &Bound, far: &[Bound], plain: bool) -> Kind {
    if pivot.coefficient.is_one() {
        return Kind::Unit;
    }
    let a = Rational::from_integer(pivot.coefficient.clone());
    let fits = |bound: &Bound| {
        let b = Rational::from_integer(bound.coefficient.clone());
        (&bound.value - &pivot.value).abs() * &a * &b >= gap(pivot, bound)
    };
    if plain && far.iter().all(fits) {
        Kind::Shadow
    } else {
        Kind::Offset
    }
}

/// How far `a·s` must be above `b·t` for an integer between `t/a` and `s/b` to be certain.
fn gap(near: &Bound, far: &Bound) -> Rational {
    Rational::from_integer((&near.coefficient - 1) * (&far.coefficient - 1))
}

/// The bounds on the near side are no tighter than the tightest, and each bound on the far side
/// leaves room for an integer next to it.
fn shadow(state: &mut State, near: &[Bound], chosen: usize, far: &[Bound], mirrored: bool) {
    let pivot = &near[chosen];
    let a = Rational::from_integer(pivot.coefficient.clone());
    let mut below = |left: &Linear, right: &Linear, gap: Rational| {
        let (left, right) = if mirrored {
            (right, left)
        } else {
            (left, right)
        };
        let mut difference = left.add_scaled(right, &-Rational::one());
        difference.constant += gap;
        let literal = literal(state.terms, &difference, Relation::Le, SortId::INT);
        state.add(literal);
    };
    for (at, bound) in near.iter().enumerate() {
        if at != chosen {
            let b = Rational::from_integer(bound.coefficient.clone());
            let (left, right) = (bound.term.scaled(&a), pivot.term.scaled(&b));
            below(&left, &right, Rational::zero());
        }
    }
    for bound in far {
        let b = Rational::from_integer(bound.coefficient.clone());
        let (left, right) = (pivot.term.scaled(&b), bound.term.scaled(&a));
        below(&left, &right, gap(pivot, bound));
    }
}

/// Replaces the variable of the view by `numerator / denominator`, a quotient without rest.
fn substitute_quotient(state: &mut State, view: &View, numerator: &Linear, denominator: &BigInt) {
    let terms = state.terms;
    let scale = Rational::from_integer(denominator.clone());
    if !denominator.is_one() {
        let whole = divides(terms, denominator, numerator);
        state.add(whole);
    }
    let replaced = |coefficient: &BigInt, rest: &Linear| {
        rest.scaled(&scale)
            .add_scaled(numerator, &Rational::from_integer(coefficient.clone()))
    };
    for row in &view.rows {
        let linear = replaced(&row.coefficient, &row.rest);
        let literal = literal(terms, &linear, row.relation, SortId::INT);
        state.add(literal);
    }
    for d in &view.divisibilities {
        let linear = replaced(&d.coefficient, &d.rest);
        let literal = divides(terms, &(&d.modulus * denominator), &linear);
        state.add(literal);
    }
}
