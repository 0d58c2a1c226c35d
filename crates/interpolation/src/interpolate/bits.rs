//! Comparisons of bit-vectors as bounds of their values.
//!
//! An unsigned comparison is a bound between the values of its sides as integers; a signed one is
//! that between the sides with the sign bit flipped. Certificates over these columns are converted
//! back to comparisons.
//!
//! Invariant: a bound is equivalent to its literal.

use num_bigint::{BigInt, BigUint};
use num_traits::{One, Signed, Zero};

use alphorn_arith::{Constraint, Relation};
use alphorn_term::{Linear, Op, Rational, Sort, TermId, TermStore};

pub(super) fn is_bits(terms: &TermStore, term: TermId) -> bool {
    matches!(terms.sort(terms.sort_of(term)), Sort::BitVec(_))
}

/// The constant whose only bit is the sign bit.
fn half(terms: &TermStore, term: TermId) -> TermId {
    let width = terms.width(term);
    terms.bitvec(BigUint::one() << (width - 1), width)
}

/// The unsigned value as a column.
fn unsigned(terms: &TermStore, mut term: TermId) -> Linear {
    while let Op::BvZeroExtend(_) = terms.op(term) {
        term = terms.args(term)[0];
    }
    terms.linear(terms.bv_op(&Op::BvToNat, &[term]))
}

/// A number whose order is that of signed values.
fn signed(terms: &TermStore, term: TermId) -> Linear {
    let flipped = terms.bv_op(&Op::BvXor, &[term, half(terms, term)]);
    terms.linear(terms.bv_op(&Op::BvToNat, &[flipped]))
}

/// The bounds that a literal over bit-vectors is equivalent to; none for other literals.
pub(super) fn bounds(terms: &TermStore, literal: TermId) -> Vec<Constraint> {
    let (atom, positive) = match *terms.op(literal) {
        Op::Not => (terms.args(literal)[0], false),
        _ => (literal, true),
    };
    let &[left, right] = terms.args(atom) else {
        return Vec::new();
    };
    if !is_bits(terms, left) {
        return Vec::new();
    }
    let values: &[fn(&TermStore, TermId) -> Linear] = match terms.op(atom) {
        Op::BvUle => &[unsigned],
        Op::BvSle => &[signed],
        Op::Eq if positive => &[unsigned, signed],
        _ => return Vec::new(),
    };
    let relation = match terms.op(atom) {
        Op::Eq => Relation::Equal,
        _ => Relation::AtMost,
    };
    let bound = |value: &fn(&TermStore, TermId) -> Linear| {
        let difference = value(terms, left).minus(&value(terms, right));
        let linear = match positive {
            true => difference,
            false => {
                let mut linear = difference.negated();
                linear.constant += Rational::one();
                linear
            }
        };
        Constraint { linear, relation }
    };
    values.iter().map(bound).collect()
}

/// The comparison of bit-vectors that is equivalent to a bound of their values; `None` for other
/// bounds.
pub(super) fn literal(terms: &TermStore, bound: &Constraint) -> Option<TermId> {
    let of = |term: TermId| (*terms.op(term) == Op::BvToNat).then(|| terms.args(term)[0]);
    match &*bound.linear.monomials {
        [(column, coefficient)] => {
            let term = of(*column)?;
            // `column ⋈ limit`, reversed for a negative coefficient.
            let limit = -(&bound.linear.constant / coefficient);
            let strict = bound.relation == Relation::Below;
            let width = terms.width(term);
            let last = (BigInt::one() << width) - BigInt::one();
            if bound.relation == Relation::Equal {
                return None;
            }
            if coefficient.is_positive() {
                let most = match strict {
                    true => limit.ceil().to_integer() - BigInt::one(),
                    false => limit.floor().to_integer(),
                };
                Some(if most.is_negative() {
                    TermId::FALSE
                } else if most >= last {
                    TermId::TRUE
                } else {
                    compare(terms, term, terms.bitvec(most.to_biguint()?, width))
                })
            } else {
                let least = match strict {
                    true => limit.floor().to_integer() + BigInt::one(),
                    false => limit.ceil().to_integer(),
                };
                Some(if least > last {
                    TermId::FALSE
                } else if !least.is_positive() {
                    TermId::TRUE
                } else {
                    compare(terms, terms.bitvec(least.to_biguint()?, width), term)
                })
            }
        }
        [(left, c), (right, d)] => {
            let (x, y) = (of(*left)?, of(*right)?);
            if c + d != Rational::zero() || terms.sort_of(x) != terms.sort_of(y) {
                return None;
            }
            let (x, y) = if c.is_positive() { (x, y) } else { (y, x) };
            let constant = &bound.linear.constant / c.abs();
            if is_signed(terms, x).is_some() != is_signed(terms, y).is_some() {
                return None;
            }
            match bound.relation {
                Relation::AtMost if constant.is_zero() => Some(compare(terms, x, y)),
                Relation::AtMost if constant.is_one() => Some(terms.not(compare(terms, y, x))),
                Relation::Below if constant.is_zero() => Some(terms.not(compare(terms, y, x))),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The term whose sign bit is flipped.
fn is_signed(terms: &TermStore, term: TermId) -> Option<TermId> {
    if *terms.op(term) != Op::BvXor {
        return None;
    }
    let &[left, right] = terms.args(term) else {
        return None;
    };
    let flip = half(terms, term);
    match (left == flip, right == flip) {
        (true, _) => Some(right),
        (_, true) => Some(left),
        _ => None,
    }
}

/// `left <= right`, of signed values if sign bits are flipped.
fn compare(terms: &TermStore, left: TermId, right: TermId) -> TermId {
    let inner = [is_signed(terms, left), is_signed(terms, right)];
    if inner.iter().all(Option::is_none) {
        return terms.bv_op(&Op::BvUle, &[left, right]);
    }
    let flip = half(terms, left);
    let [left, right] = [(left, inner[0]), (right, inner[1])]
        .map(|(t, i)| i.unwrap_or_else(|| terms.bv_op(&Op::BvXor, &[t, flip])));
    terms.bv_op(&Op::BvSle, &[left, right])
}
