//! Farkas certificates: sums of one side's bounds that contradict the other side's.
//!
//! Where bounds of `A` and bounds of `B` have no common point over the rationals, multipliers prove
//! it, and `A`'s part of the sum is an interpolant: a column of `A` alone has the sum zero in it.
//! The decomposed form splits the multipliers into as many parts as possible that each eliminate
//! `A`'s own columns (Blicha et al., TACAS 2019); the parts here have minimal supports.
//!
//! Invariant: a sum is implied by the bounds of `A`, and every column in it is one of `B` too.

use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::bits;
use crate::arith::{Multipliers, Relation, Simplex, SparseRow};
use crate::smt::project::{Constraint, Relation as LiteralRelation};
use crate::term::{Linear, Op, Rational, SortId, TermId, TermStore};

/// A bound `form ⋈ 0` over terms of sort Int and Real.
#[derive(Clone, Debug)]
pub struct Bound {
    pub form: Linear,
    pub relation: Relation,
}

impl Bound {
    /// The bound of a literal; `None` for disequalities and for what is not arithmetic.
    pub fn of(terms: &TermStore, literal: TermId) -> Option<Bound> {
        let constraint = Constraint::of(terms, literal)?;
        let relation = match constraint.relation {
            LiteralRelation::Le => Relation::AtMost,
            LiteralRelation::Lt => Relation::Below,
            LiteralRelation::Eq => Relation::Equal,
            LiteralRelation::Ne => return None,
        };
        Some(Bound {
            form: lowered(terms, constraint.linear),
            relation,
        })
    }

    /// The literal of the bound; an integer one where all columns are integers.
    pub fn literal(&self, terms: &TermStore) -> TermId {
        if let Some(literal) = bits::literal(terms, self) {
            return literal;
        }
        let form = &self.form;
        let is_int = |m: &(TermId, Rational)| terms.sort_of(m.0) == SortId::INT;
        let sort = match form.monomials.iter().all(is_int) {
            true => SortId::INT,
            false => SortId::REAL,
        };
        let form = match sort {
            SortId::INT => form.clone(),
            _ => lifted(terms, form),
        };
        match self.relation {
            Relation::Equal => terms.linear_atom(Op::Eq, &form, sort),
            Relation::AtMost => terms.linear_atom(Op::Le, &form, sort),
            Relation::Below => terms.not(terms.linear_atom(Op::Ge, &form, sort)),
        }
    }
}

/// With integers in place of their images among the reals.
pub(super) fn lowered(terms: &TermStore, form: Linear) -> Linear {
    if form.monomials.iter().all(|m| *terms.op(m.0) != Op::ToReal) {
        return form;
    }
    let mut monomials: Vec<(TermId, Rational)> = Vec::with_capacity(form.monomials.len());
    for (term, coefficient) in form.monomials {
        match terms.op(term) {
            Op::ToReal => monomials.push((terms.args(term)[0], coefficient)),
            _ => monomials.push((term, coefficient)),
        }
    }
    monomials.sort_unstable_by_key(|m| m.0);
    Linear {
        monomials,
        constant: form.constant,
    }
}

/// With images among the reals in place of integers.
fn lifted(terms: &TermStore, form: &Linear) -> Linear {
    let monomials = form.monomials.iter();
    let mut monomials: Vec<(TermId, Rational)> = monomials
        .map(|(t, c)| (terms.to_real(*t), c.clone()))
        .collect();
    monomials.sort_unstable_by_key(|m| m.0);
    Linear {
        monomials,
        constant: form.constant.clone(),
    }
}

/// The sum of `a`'s bounds in a refutation of all bounds together, or several with `decomposed`;
/// `None` when rationals satisfy them all.
pub fn separate(
    terms: &TermStore,
    a: &[Bound],
    b: &[Bound],
    decomposed: bool,
) -> Option<Vec<TermId>> {
    let multipliers = refute(a, b).err()?;
    Some(sums(terms, a, b, &multipliers, decomposed))
}

/// A point of all bounds together, by column, or the multipliers that refute them; those of `b`
/// have numbers after those of `a`.
pub(super) fn refute(a: &[Bound], b: &[Bound]) -> Result<FxHashMap<TermId, Rational>, Multipliers> {
    let mut columns: FxHashMap<TermId, usize> = FxHashMap::default();
    for bound in a.iter().chain(b) {
        for (term, _) in &bound.form.monomials {
            let next = columns.len();
            columns.entry(*term).or_insert(next);
        }
    }
    let mut simplex = Simplex::new(columns.len());
    for bound in a.iter().chain(b) {
        let monomials = bound.form.monomials.iter();
        let mut form: SparseRow = monomials.map(|(t, c)| (columns[t], c.clone())).collect();
        form.sort_unstable_by_key(|e| e.0);
        simplex.add(&form, &bound.form.constant, bound.relation);
    }
    simplex.check()?;
    let point = simplex.point();
    let columns = columns.into_iter();
    Ok(columns.map(|(t, c)| (t, point[c].clone())).collect())
}

/// `a`'s part of a refutation, as literals.
pub(super) fn sums(
    terms: &TermStore,
    a: &[Bound],
    b: &[Bound],
    multipliers: &Multipliers,
    decomposed: bool,
) -> Vec<TermId> {
    // An equation with a negative factor is turned around, so that all factors are positive.
    let used: Vec<(Bound, Rational)> = multipliers
        .iter()
        .filter(|(number, factor)| *number < a.len() && !factor.is_zero())
        .map(|(number, factor)| {
            let bound = &a[*number];
            let sign = factor.signum();
            let form = bound.form.scaled(&sign);
            let relation = bound.relation;
            (Bound { form, relation }, factor.abs())
        })
        .collect();
    let factors: Vec<Rational> = used.iter().map(|u| u.1.clone()).collect();
    let parts = match decomposed {
        false => vec![factors],
        true => decompose(&own_columns(&used, b), factors),
    };
    let mut literals = Vec::with_capacity(parts.len());
    for part in parts {
        let mut form = Linear::constant(Rational::zero());
        // One direction of an equation is all that a certificate uses.
        let mut relation = Relation::AtMost;
        for ((bound, _), factor) in used.iter().zip(&part) {
            if !factor.is_zero() {
                form = form.add_scaled(&bound.form, factor);
                if bound.relation == Relation::Below {
                    relation = Relation::Below;
                }
            }
        }
        literals.push(Bound { form, relation }.literal(terms));
    }
    literals
}

/// The coefficients of the columns that are not in `b`: by bound, then by column.
fn own_columns(used: &[(Bound, Rational)], b: &[Bound]) -> Vec<Vec<Rational>> {
    let shared: FxHashSet<TermId> = b
        .iter()
        .flat_map(|bound| bound.form.monomials.iter().map(|m| m.0))
        .collect();
    let mut own: Vec<TermId> = used
        .iter()
        .flat_map(|u| u.0.form.monomials.iter().map(|m| m.0))
        .filter(|t| !shared.contains(t))
        .collect();
    own.sort_unstable();
    own.dedup();
    let row = |u: &(Bound, Rational)| own.iter().map(|&t| u.0.form.coefficient(t)).collect();
    used.iter().map(row).collect()
}

/// Splits positive factors with `Σ factor · row = 0` into vectors that are not negative, have the
/// same property, and supports that no other such vector's support is within.
fn decompose(rows: &[Vec<Rational>], mut factors: Vec<Rational>) -> Vec<Vec<Rational>> {
    let mut parts = Vec::new();
    while factors.iter().any(|f| !f.is_zero()) {
        let mut part = factors.clone();
        while let Some(direction) = dependency(rows, &part) {
            // As far as the direction goes until another factor vanishes.
            let ratio = |(p, d): (&Rational, &Rational)| d.is_positive().then(|| p / d);
            let step = part.iter().zip(&direction).filter_map(ratio).min();
            let step = step.expect("a positive entry exists");
            for (p, d) in part.iter_mut().zip(&direction) {
                *p -= d * &step;
            }
        }
        let ratio = |(f, p): (&Rational, &Rational)| (!p.is_zero()).then(|| f / p);
        let share = factors.iter().zip(&part).filter_map(ratio).min();
        let share = share.expect("a part is not zero");
        for (f, p) in factors.iter_mut().zip(&mut part) {
            *p *= &share;
            *f -= &*p;
        }
        parts.push(part);
    }
    parts
}

/// A vector with `Σ entry · row = 0` within the support of `part`, not a multiple of it, with an
/// entry that is positive.
fn dependency(rows: &[Vec<Rational>], part: &[Rational]) -> Option<Vec<Rational>> {
    let support: Vec<usize> = (0..part.len()).filter(|&i| !part[i].is_zero()).collect();
    if support.len() < 2 {
        return None;
    }
    let width = rows[support[0]].len();
    // Reduced rows with the combination of rows that each one is.
    let mut basis: Vec<(usize, Vec<Rational>, Vec<Rational>)> = Vec::new();
    for &at in &support {
        let mut row = rows[at].clone();
        let mut combination = vec![Rational::zero(); part.len()];
        combination[at] = Rational::one();
        for (pivot, other, how) in &basis {
            let factor = &row[*pivot] / &other[*pivot];
            if !factor.is_zero() {
                for (x, y) in row.iter_mut().zip(other) {
                    *x -= y * &factor;
                }
                for (x, y) in combination.iter_mut().zip(how) {
                    *x -= y * &factor;
                }
            }
        }
        if let Some(pivot) = (0..width).find(|&c| !row[c].is_zero()) {
            basis.push((pivot, row, combination));
            continue;
        }
        // A dependency; `part` itself is one too and must not be it.
        let scale = &part[at] / &combination[at];
        let same = (0..part.len()).all(|i| part[i] == &combination[i] * &scale);
        if !same {
            if combination.iter().any(Signed::is_positive) {
                return Some(combination);
            }
            return Some(combination.iter().map(|c| -c).collect());
        }
    }
    None
}
