//! Values of bit-vectors generalized to bounds and bits.
//!
//! If projection leaves a variable with its value, bounds and bits of the value are tried instead,
//! and bounds are moved outwards as far as the other side allows.
//!
//! Invariant: the result holds in the model of the value, and a query shows that it contradicts the
//! other side.

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::bits::is_bits;
use super::interpolator::{Interpolator, Result};
use super::sides::Sides;
use alphorn_term::{Op, TermId};

impl Interpolator {
    /// A conjunction that contradicts the other side, from one that does; literals `variable =
    /// value` over bit-vectors are replaced by bounds and bits of the value.
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
        // A term that is bounded to its value also has bits to choose from.
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
        // The bound at the end of the range is trivial, but the core needs the literal.
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
