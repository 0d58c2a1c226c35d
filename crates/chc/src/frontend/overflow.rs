//! The overflow predicates of SMT-LIB 2.7, as terms over the other operators of bit-vectors.
//!
//! Invariant: a predicate holds for two values exactly if the mathematical result is not a value of
//! their width. With a numeral as factor no wider bit-vector is made.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Zero};

use super::builtins::Builtin as B;
use super::error::TermError;
use super::operators::Operators;
use alphorn_term::{Op, TermId};

impl Operators<'_> {
    /// An overflow predicate of bit-vectors of one width; `bvnego` has one argument, the others two.
    pub(super) fn overflow(&self, op: B, args: &[TermId]) -> Result<TermId, TermError> {
        let terms = self.terms;
        let (x, y) = (args[0], args[args.len() - 1]);
        let width = terms.width(x);
        let negative = |term: TermId| {
            let sign = terms.bv_op(&Op::BvExtract(width - 1, width - 1), &[term]);
            terms.eq(sign, terms.bitvec(BigUint::one(), 1))
        };
        let least = || terms.bitvec(BigUint::one() << (width - 1), width);
        let most = (BigUint::one() << width) - 1u32;
        Ok(match op {
            B::BvNegO => terms.eq(x, least()),
            B::BvUAddO => terms.bv_ult(terms.bv_op(&Op::BvAdd, &[x, y]), x),
            B::BvUSubO => terms.bv_ult(x, y),
            B::BvSAddO => {
                // The signs of the arguments are equal, and that of the sum is another.
                let sum = negative(terms.bv_op(&Op::BvAdd, &[x, y]));
                let same = terms.eq(negative(x), negative(y));
                terms.and(&[same, terms.not(terms.eq(negative(x), sum))])
            }
            B::BvSSubO => {
                let difference = negative(terms.bv_sub(x, y));
                let same = terms.eq(negative(x), negative(y));
                let kept = terms.eq(negative(x), difference);
                terms.and(&[terms.not(same), terms.not(kept)])
            }
            B::BvSDivO => {
                let minus_one = terms.eq(y, terms.bitvec(most, width));
                terms.and(&[terms.eq(x, least()), minus_one])
            }
            B::BvUMulO => {
                // x · y > most exactly if y > 0 and x > most div y. The numeral is the divisor.
                let (x, y) = if self.bits_of(x).is_some() {
                    (y, x)
                } else {
                    (x, y)
                };
                let most = terms.bitvec(most, width);
                let quotient = terms.bv_op(&Op::BvUdiv, &[most, y]);
                let zero = terms.eq(y, terms.bitvec(BigUint::zero(), width));
                terms.and(&[terms.not(zero), terms.bv_ult(quotient, x)])
            }
            _ => match (self.bits_of(x), self.bits_of(y)) {
                (Some(factor), _) => self.signed_product(y, &factor, width),
                (_, Some(factor)) => self.signed_product(x, &factor, width),
                _ => {
                    self.width(2 * u64::from(width))?;
                    let wide = |term: TermId| terms.bv_op(&Op::BvSignExtend(width), &[term]);
                    let product = terms.bv_op(&Op::BvMul, &[wide(x), wide(y)]);
                    let low = terms.bv_op(&Op::BvExtract(width - 1, 0), &[product]);
                    terms.not(terms.eq(product, wide(low)))
                }
            },
        })
    }

    /// Whether the signed product of a term and a numeral overflows: the term is outside of the
    /// interval in which it does not.
    fn signed_product(&self, term: TermId, factor: &BigUint, width: u32) -> TermId {
        let terms = self.terms;
        let half: BigInt = BigInt::one() << (width - 1);
        let (least, most): (BigInt, BigInt) = (-half.clone(), half.clone() - 1);
        let signed = match BigInt::from(factor.clone()) {
            value if value >= half => value - (BigInt::one() << width),
            value => value,
        };
        if signed.is_zero() {
            return TermId::FALSE;
        }
        let (from, to) = if signed > BigInt::zero() {
            (least.div_ceil(&signed), most.div_floor(&signed))
        } else {
            (most.div_ceil(&signed), least.div_floor(&signed))
        };
        let literal = |value: BigInt| {
            let bits = value.mod_floor(&(BigInt::one() << width));
            terms.bitvec(bits.to_biguint().unwrap_or_default(), width)
        };
        let mut outside = Vec::new();
        if from > least {
            outside.push(terms.bv_slt(term, literal(from)));
        }
        if to < most {
            outside.push(terms.bv_slt(literal(to), term));
        }
        terms.or(&outside)
    }

    /// The value of a bit-vector literal.
    fn bits_of(&self, term: TermId) -> Option<BigUint> {
        match self.terms.op(term) {
            Op::BitVec(value) => Some(value.clone()),
            _ => None,
        }
    }
}
