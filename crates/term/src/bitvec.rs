//! Constructors of bit-vector terms: folding of values and a few identities.
//!
//! Invariant: a `BitVec` value is below 2^width. Division by zero is folded as SMT-LIB 2.6 defines
//! it: `bvudiv` gives all ones, `bvurem` the dividend, and the signed operators follow from these.

use num_bigint::Sign;
use num_traits::{One, ToPrimitive, Zero};

use super::{BigInt, BigUint, Op, SortId, TermId, TermStore};

fn mask(width: u32) -> BigUint {
    (BigUint::one() << width) - BigUint::one()
}

fn signed(value: &BigUint, width: u32) -> BigInt {
    let value = BigInt::from(value.clone());
    if value.bit(u64::from(width - 1)) {
        value - (BigInt::one() << width)
    } else {
        value
    }
}

fn unsigned(value: BigInt, width: u32) -> BigUint {
    let modulus = BigInt::one() << width;
    let rest = ((value % &modulus) + &modulus) % modulus;
    rest.to_biguint().unwrap_or_default()
}

impl TermStore {
    /// The term with an operator `Bv…` or `IntToBv`. Panics if all arguments are values and `op` is
    /// another operator.
    pub fn bv_op(&self, op: &Op, args: &[TermId]) -> TermId {
        if args.iter().all(|&a| self.is_value(a)) {
            return self.bv_fold(op, args);
        }
        let width = self.width(args[0]);
        let is_zero = |t: TermId| self.as_bitvec(t).is_some_and(Zero::is_zero);
        let is_ones = |t: TermId| self.as_bitvec(t).is_some_and(|v| *v == mask(width));
        let sort = self.sort_of(args[0]);
        let result_sort = match op {
            Op::BvConcat => self.bitvec_sort(width + self.width(args[1])),
            Op::BvExtract(high, low) => {
                if *low == 0 && high + 1 == width {
                    return args[0];
                }
                let inner = self.node(args[0]);
                if let Op::BvExtract(_, base) = inner.op {
                    return self.bv_op(&Op::BvExtract(high + base, low + base), &[inner.args[0]]);
                }
                self.bitvec_sort(high - low + 1)
            }
            Op::BvZeroExtend(0) | Op::BvSignExtend(0) => return args[0],
            Op::BvZeroExtend(n) | Op::BvSignExtend(n) => self.bitvec_sort(width + n),
            Op::BvNot | Op::BvNeg if self.op(args[0]) == op => return self.args(args[0])[0],
            Op::BvAnd => return self.bv_commutative(op, args, mask(width), Some(BigUint::zero())),
            Op::BvOr => return self.bv_commutative(op, args, BigUint::zero(), Some(mask(width))),
            Op::BvXor | Op::BvAdd => return self.bv_commutative(op, args, BigUint::zero(), None),
            Op::BvMul => {
                return self.bv_commutative(op, args, BigUint::one(), Some(BigUint::zero()));
            }
            Op::BvUle | Op::BvSle => {
                if args[0] == args[1] {
                    return TermId::TRUE;
                }
                if *op == Op::BvUle && (is_zero(args[0]) || is_ones(args[1])) {
                    return TermId::TRUE;
                }
                SortId::BOOL
            }
            Op::BvToNat => SortId::INT,
            Op::IntToBv(n) => {
                if *self.op(args[0]) == Op::BvToNat && self.width(self.args(args[0])[0]) == *n {
                    return self.args(args[0])[0];
                }
                self.bitvec_sort(*n)
            }
            Op::BvShl | Op::BvLshr | Op::BvAshr if is_zero(args[1]) => return args[0],
            _ => sort,
        };
        self.intern(op.clone(), args, result_sort)
    }

    /// `left < right`, unsigned.
    pub fn bv_ult(&self, left: TermId, right: TermId) -> TermId {
        self.not(self.bv_op(&Op::BvUle, &[right, left]))
    }

    /// `left < right`, signed.
    pub fn bv_slt(&self, left: TermId, right: TermId) -> TermId {
        self.not(self.bv_op(&Op::BvSle, &[right, left]))
    }

    /// `left - right` modulo 2^width.
    pub fn bv_sub(&self, left: TermId, right: TermId) -> TermId {
        self.bv_op(&Op::BvAdd, &[left, self.bv_op(&Op::BvNeg, &[right])])
    }

    /// The signed value of a bit-vector as an Int.
    pub fn bv_to_signed(&self, term: TermId) -> TermId {
        let width = self.width(term);
        let natural = self.bv_op(&Op::BvToNat, &[term]);
        let half = self.int(BigInt::one() << (width - 1));
        let wrapped = self.sub(natural, self.int(BigInt::one() << width));
        self.ite(self.lt(natural, half), natural, wrapped)
    }

    /// The term of an associative and commutative operator, with its neutral value and, if there is
    /// one, its absorbing value.
    fn bv_commutative(
        &self,
        op: &Op,
        args: &[TermId],
        unit: BigUint,
        absorbing: Option<BigUint>,
    ) -> TermId {
        let width = self.width(args[0]);
        let sort = self.sort_of(args[0]);
        let unit = self.bitvec(unit, width);
        let mut value = unit;
        let mut rest = Vec::with_capacity(args.len());
        for &arg in args {
            // If a node of the operator has a value, it is the last argument of the outermost one.
            let (part, own) = match self.args(arg) {
                [part, own] if self.op(arg) == op && self.is_value(*own) => (Some(*part), *own),
                _ if self.is_value(arg) => (None, arg),
                _ => (Some(arg), unit),
            };
            rest.extend(part);
            value = self.bv_fold(op, &[value, own]);
        }
        if *op == Op::BvAdd {
            self.cancel(&mut rest);
        }
        rest.sort_unstable();
        if absorbing.is_some_and(|a| self.bitvec(a, width) == value) {
            return value;
        }
        if value != unit || rest.is_empty() {
            rest.push(value);
        }
        let mut result = rest[0];
        for &arg in &rest[1..] {
            result = self.intern(op.clone(), &[result, arg], sort);
        }
        result
    }

    /// Removes from a sum each pair of a term and its negation.
    fn cancel(&self, summands: &mut Vec<TermId>) {
        let mut at = 0;
        while at < summands.len() {
            let term = summands[at];
            let against = |&other: &TermId| {
                let negates = |a: TermId, b| *self.op(a) == Op::BvNeg && self.args(a)[0] == b;
                negates(other, term) || negates(term, other)
            };
            match summands[at + 1..].iter().position(against) {
                Some(after) => {
                    summands.remove(at + 1 + after);
                    summands.remove(at);
                }
                None => at += 1,
            }
        }
    }

    /// `left = right` solved for the term that is not a value: `x + c = d` becomes `x = d - c`, and
    /// so for other invertible operators. `None` if neither or both are values or no operator can be
    /// inverted.
    pub(super) fn bv_moved(&self, left: TermId, right: TermId) -> Option<TermId> {
        let (term, value) = match (self.is_value(left), self.is_value(right)) {
            (false, true) => (left, right),
            (true, false) => (right, left),
            _ => return None,
        };
        match (self.op(term), self.args(term)) {
            (Op::BvAdd, [rest, own]) if self.is_value(*own) => {
                Some(self.eq(*rest, self.bv_sub(value, *own)))
            }
            (Op::BvXor, [rest, own]) if self.is_value(*own) => {
                Some(self.eq(*rest, self.bv_op(&Op::BvXor, &[value, *own])))
            }
            (Op::BvMul, [rest, own]) if self.is_value(*own) => {
                let width = self.width(term);
                // Only odd factors have an inverse.
                let inverse = (self.as_bitvec(*own)?).modinv(&(BigUint::one() << width))?;
                let factors = [value, self.bitvec(inverse, width)];
                Some(self.eq(*rest, self.bv_op(&Op::BvMul, &factors)))
            }
            (op @ (Op::BvNot | Op::BvNeg), [inner]) => {
                Some(self.eq(*inner, self.bv_op(op, &[value])))
            }
            _ => None,
        }
    }

    fn bv_fold(&self, op: &Op, args: &[TermId]) -> TermId {
        if let Op::IntToBv(width) = op {
            let value = self.as_int(args[0]).cloned().unwrap_or_default();
            return self.bitvec(unsigned(value, *width), *width);
        }
        let width = self.width(args[0]);
        let value = |i: usize| self.as_bitvec(args[i]).expect("a bit-vector value");
        let a = value(0);
        let ones = || mask(width);
        let top = |v: &BigUint| v.bit(u64::from(width - 1));
        let negate = |v: &BigUint| ((BigUint::one() << width) - v) & mask(width);
        let absolute = |v: &BigUint| if top(v) { negate(v) } else { v.clone() };
        let result = match op {
            Op::BvToNat => return self.int(BigInt::from_biguint(Sign::Plus, a.clone())),
            Op::BvUle => return self.bool(a <= value(1)),
            Op::BvSle => return self.bool(signed(a, width) <= signed(value(1), width)),
            Op::BvConcat => {
                let low = self.width(args[1]);
                return self.bitvec((a << low) | value(1), width + low);
            }
            Op::BvExtract(high, low) => return self.bitvec(a >> *low, high - low + 1),
            Op::BvZeroExtend(n) => return self.bitvec(a.clone(), width + n),
            Op::BvSignExtend(n) => {
                return self.bitvec(unsigned(signed(a, width), width + n), width + n);
            }
            Op::BvNot => a ^ ones(),
            Op::BvNeg => negate(a),
            Op::BvAnd => args[1..]
                .iter()
                .enumerate()
                .fold(a.clone(), |x, (i, _)| x & value(i + 1)),
            Op::BvOr => args[1..]
                .iter()
                .enumerate()
                .fold(a.clone(), |x, (i, _)| x | value(i + 1)),
            Op::BvXor => args[1..]
                .iter()
                .enumerate()
                .fold(a.clone(), |x, (i, _)| x ^ value(i + 1)),
            Op::BvAdd => args[1..]
                .iter()
                .enumerate()
                .fold(a.clone(), |x, (i, _)| x + value(i + 1)),
            Op::BvMul => args[1..]
                .iter()
                .enumerate()
                .fold(a.clone(), |x, (i, _)| x * value(i + 1)),
            Op::BvUdiv if value(1).is_zero() => ones(),
            Op::BvUdiv => a / value(1),
            Op::BvUrem if value(1).is_zero() => a.clone(),
            Op::BvUrem => a % value(1),
            Op::BvSdiv => {
                let b = value(1);
                if b.is_zero() {
                    if top(a) { BigUint::one() } else { ones() }
                } else {
                    let q = absolute(a) / absolute(b);
                    if top(a) != top(b) { negate(&q) } else { q }
                }
            }
            Op::BvSrem => {
                let b = value(1);
                if b.is_zero() {
                    a.clone()
                } else {
                    let r = absolute(a) % absolute(b);
                    if top(a) { negate(&r) } else { r }
                }
            }
            Op::BvSmod => {
                let b = value(1);
                if b.is_zero() {
                    a.clone()
                } else {
                    let r = absolute(a) % absolute(b);
                    let r = if top(a) { negate(&r) } else { r };
                    if r.is_zero() || top(a) == top(b) {
                        r
                    } else {
                        r + b
                    }
                }
            }
            Op::BvShl => match value(1).to_u32() {
                Some(n) if n < width => a << n,
                _ => BigUint::zero(),
            },
            Op::BvLshr => match value(1).to_u32() {
                Some(n) if n < width => a >> n,
                _ => BigUint::zero(),
            },
            Op::BvAshr => {
                let n = value(1).to_u32().unwrap_or(width).min(width);
                unsigned(signed(a, width) >> n, width)
            }
            op => panic!("{op:?} is not a bit-vector operator"),
        };
        self.bitvec(result, width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Assignment, evaluate};
    use proptest::prelude::*;

    const WIDTH: u32 = 4;

    /// A node of a random term: an operator, and the positions of two earlier terms.
    type Node = (u8, usize, usize);

    proptest! {
        /// Terms have the value of their operators, whatever the constructors simplify.
        #[test]
        fn the_value_stays(
            nodes in prop::collection::vec((0u8..8, 0usize..64, 0usize..64), 1..24),
            x in 0u64..16,
            y in 0u64..16,
        ) {
            check(&nodes, [x, y]);
        }
    }

    fn check(nodes: &[Node], values: [u64; 2]) {
        let t = TermStore::new();
        let value = |v: u64| t.bitvec(BigUint::from(v % 16), WIDTH);
        let vars = ["x", "y"].map(|name| t.var(name, t.bitvec_sort(WIDTH)));
        let assignment: Assignment = vars.into_iter().zip(values.map(value)).collect();
        let mut terms: Vec<(TermId, u64)> = vars.into_iter().zip(values).collect();
        terms.extend([0, 1, 6, 15].map(|v| (value(v), v)));
        for &(op, a, b) in nodes {
            let ((a, v), (b, w)) = (terms[a % terms.len()], terms[b % terms.len()]);
            let (op, result) = match op {
                0 | 1 => (Op::BvAdd, v + w),
                2 => (Op::BvXor, v ^ w),
                3 => (Op::BvAnd, v & w),
                4 => (Op::BvOr, v | w),
                5 => (Op::BvMul, v * w),
                6 => (Op::BvNeg, 16 - v),
                _ => (Op::BvNot, 15 - v),
            };
            let args = match op {
                Op::BvNeg | Op::BvNot => vec![a],
                _ => vec![a, b],
            };
            let term = t.bv_op(&op, &args);
            assert_eq!(
                evaluate(&t, term, &assignment),
                Some(value(result)),
                "{op:?}"
            );
            let equal = t.eq(term, b);
            let expected = Some(t.bool(result % 16 == w));
            assert_eq!(evaluate(&t, equal, &assignment), expected, "{op:?} = ");
            terms.push((term, result % 16));
        }
    }

    #[test]
    fn values_come_together() {
        let t = TermStore::new();
        let [x, y] = ["x", "y"].map(|name| t.var(name, t.bitvec_sort(8)));
        let value = |v: u32| t.bitvec(BigUint::from(v), 8);
        let op = |op: &Op, a, b| t.bv_op(op, &[a, b]);
        let sum = |a, b| op(&Op::BvAdd, a, b);
        assert_eq!(sum(sum(x, value(255)), value(1)), x);
        assert_eq!(
            sum(sum(x, value(3)), sum(y, value(4))),
            sum(sum(x, y), value(7))
        );
        assert_eq!(sum(sum(x, value(3)), t.bv_op(&Op::BvNeg, &[x])), value(3));
        assert_eq!(
            op(&Op::BvAnd, op(&Op::BvAnd, x, value(1)), value(2)),
            value(0)
        );
        assert_eq!(
            op(&Op::BvOr, op(&Op::BvOr, x, value(1)), value(254)),
            value(255)
        );
        assert_eq!(t.eq(sum(x, value(3)), value(1)), t.eq(x, value(254)));
        assert_eq!(
            t.eq(value(5), t.bv_op(&Op::BvNot, &[x])),
            t.eq(x, value(250))
        );
        // 3 · 171 = 513.
        let product = |a, b| op(&Op::BvMul, a, b);
        assert_eq!(t.eq(product(value(3), x), value(2)), t.eq(x, value(86)));
        assert_eq!(t.eq(value(1), product(x, value(255))), t.eq(x, value(255)));
        let even = t.eq(product(x, value(6)), value(2));
        assert_eq!(*t.op(even), Op::Eq);
        assert!(t.args(even).contains(&product(x, value(6))));
    }
}
