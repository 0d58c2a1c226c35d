//! Bit-vectors: comparisons as bounds of their values, and points made wider by bounds and bits.
//!
//! A comparison is a bound between the unsigned values of its sides, as integers; a signed one is
//! that of the sides with the first bit flipped. Certificates over such columns are written as
//! comparisons again. Where projection leaves a variable with its value, bounds and bits that the
//! value has are tried instead, and bounds are moved outwards as far as the other side allows.
//!
//! Invariant: a bound and its literal mean the same.

use num_bigint::{BigInt, BigUint};
use num_traits::{One, Signed, Zero};

use super::cover::Sides;
use super::farkas::Bound;
use super::{Interpolator, Result};
use crate::arith::Relation;
use crate::term::{Linear, Op, Rational, Sort, TermId, TermStore};

fn is_bits(terms: &TermStore, term: TermId) -> bool {
    matches!(terms.sort(terms.sort_of(term)), Sort::BitVec(_))
}

/// What flips the first bit.
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

/// A number in the order of signed values.
fn signed(terms: &TermStore, term: TermId) -> Linear {
    let flipped = terms.bv_op(&Op::BvXor, &[term, half(terms, term)]);
    terms.linear(terms.bv_op(&Op::BvToNat, &[flipped]))
}

/// The bounds that a literal over bit-vectors says; none for any other.
pub(super) fn bounds(terms: &TermStore, literal: TermId) -> Vec<Bound> {
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
    let minus_one = -Rational::one();
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
        let difference = value(terms, left).add_scaled(&value(terms, right), &minus_one);
        let form = match positive {
            true => difference,
            false => {
                let mut form = difference.scaled(&minus_one);
                form.constant += Rational::one();
                form
            }
        };
        Bound { form, relation }
    };
    values.iter().map(bound).collect()
}

/// The comparison of bit-vectors that a bound over their values is; `None` for other bounds.
pub(super) fn literal(terms: &TermStore, bound: &Bound) -> Option<TermId> {
    let of = |term: TermId| (*terms.op(term) == Op::BvToNat).then(|| terms.args(term)[0]);
    match &*bound.form.monomials {
        [(column, coefficient)] => {
            let term = of(*column)?;
            // column ⋈ limit, or the other way round for a negative coefficient.
            let limit = -(&bound.form.constant / coefficient);
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
            let constant = &bound.form.constant / c.abs();
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

/// The term whose first bit is flipped.
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

/// `left <= right`, of signed values where first bits are flipped.
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

impl Interpolator {
    /// A conjunction that contradicts the other side, from one that does; literals `variable =
    /// value` over bit-vectors give way to bounds and bits that the value has.
    pub(super) fn widened(
        &mut self,
        literals: &[TermId],
        sides: &mut Sides,
    ) -> Result<Vec<TermId>> {
        let terms = self.terms.clone();
        let mut points: Vec<(TermId, TermId)> = Vec::new();
        let mut rest: Vec<TermId> = Vec::new();
        for &literal in literals {
            let point = match *terms.args(literal) {
                [left, right] if *terms.op(literal) == Op::Eq && is_bits(&terms, left) => {
                    match (terms.is_value(left), terms.is_value(right)) {
                        (true, false) => Some((right, left)),
                        (false, true) => Some((left, right)),
                        _ => None,
                    }
                }
                _ => None,
            };
            match point {
                Some(point) => points.push(point),
                None => rest.push(literal),
            }
        }
        if points.is_empty() {
            return self.needed(&mut sides.solver, literals);
        }
        let mut soft = rest.clone();
        for op in [Op::BvUle, Op::BvSle] {
            for &(term, value) in &points {
                soft.push(terms.bv_op(&op, &[term, value]));
                soft.push(terms.bv_op(&op, &[value, term]));
            }
        }
        soft.retain(|&l| l != TermId::TRUE);
        let mut needed = self.needed(&mut sides.solver, &soft)?;
        // A term that is bounded to its value has bits to choose from.
        let is_point = |&(term, value): &(TermId, TermId)| {
            let sides = [[term, value], [value, term]];
            let bounded = |side: &[TermId; 2]| {
                [Op::BvUle, Op::BvSle]
                    .iter()
                    .any(|op| needed.contains(&terms.bv_op(op, side)))
            };
            sides.iter().all(bounded)
        };
        let stuck: Vec<(TermId, TermId)> = points.into_iter().filter(is_point).collect();
        for (term, value) in stuck {
            let width = terms.width(term);
            let bit = |at: u32, of: TermId| terms.bv_op(&Op::BvExtract(at, at), &[of]);
            let bits = (0..width).map(|at| terms.eq(bit(at, term), bit(at, value)));
            let mut soft: Vec<TermId> = needed.clone();
            soft.retain(|l| !terms.args(*l).contains(&term));
            let kept = soft.len();
            soft.extend(bits);
            let core = self.needed(&mut sides.solver, &soft);
            if let Ok(core) = core
                && core.len() < kept + width as usize
            {
                needed = core;
            }
        }
        for at in 0..needed.len() {
            self.expand(&mut needed, at, sides)?;
        }
        Ok(needed)
    }

    /// Moves a bound by a value outwards, by bisection.
    fn expand(&mut self, literals: &mut [TermId], at: usize, sides: &mut Sides) -> Result<()> {
        let terms = self.terms.clone();
        let literal = literals[at];
        let op = terms.op(literal).clone();
        if !matches!(op, Op::BvUle | Op::BvSle) {
            return Ok(());
        }
        let [left, right] = [terms.args(literal)[0], terms.args(literal)[1]];
        let upper = terms.is_value(right);
        let Some(value) = terms.as_bitvec(if upper { right } else { left }).cloned() else {
            return Ok(());
        };
        let term = if upper { left } else { right };
        let width = terms.width(term);
        let top = BigUint::one() << (width - 1);
        // In the order of the comparison.
        let flip = |v: &BigUint| match op {
            Op::BvSle => v ^ &top,
            _ => v.clone(),
        };
        let bound = |v: &BigUint| {
            let value = terms.bitvec(flip(v), width);
            terms.bv_op(&op, &if upper { [term, value] } else { [value, term] })
        };
        let mut good = flip(&value);
        let mut bad = match upper {
            true => (BigUint::one() << width) - BigUint::one(),
            false => BigUint::zero(),
        };
        // The end of the range says nothing, and the core needs the literal.
        loop {
            let distance = match upper {
                true => &bad - &good,
                false => &good - &bad,
            };
            if distance <= BigUint::one() {
                break;
            }
            let middle: BigUint = (&good + &bad) >> 1_u32;
            literals[at] = bound(&middle);
            match self.is_sat(&mut sides.solver, literals)? {
                true => bad = middle,
                false => good = middle,
            }
        }
        literals[at] = bound(&good);
        Ok(())
    }
}
