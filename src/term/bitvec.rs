//! Smart constructors of bit-vector terms: folding of values and a few identities.
//!
//! Invariant: a `BitVec` value is always below 2^width; division by zero has the fixed meaning of
//! SMT-LIB 2.6 (quotient all ones, remainder the dividend).

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
    /// The bit-vector term with this operator; panics when `op` is not one of the `Bv…` operators,
    /// `BvToNat` or `IntToBv`.
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
            Op::BvAnd => {
                if args.iter().any(|&a| is_zero(a)) {
                    return self.bitvec(BigUint::zero(), width);
                }
                return self.bv_commutative(op, args, mask(width));
            }
            Op::BvOr => {
                if args.iter().any(|&a| is_ones(a)) {
                    return self.bitvec(mask(width), width);
                }
                return self.bv_commutative(op, args, BigUint::zero());
            }
            Op::BvXor | Op::BvAdd => return self.bv_commutative(op, args, BigUint::zero()),
            Op::BvMul => {
                if args.iter().any(|&a| is_zero(a)) {
                    return self.bitvec(BigUint::zero(), width);
                }
                return self.bv_commutative(op, args, BigUint::one());
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

    /// The signed value as an integer.
    pub fn bv_to_signed(&self, term: TermId) -> TermId {
        let width = self.width(term);
        let natural = self.bv_op(&Op::BvToNat, &[term]);
        let half = self.int(BigInt::one() << (width - 1));
        let wrapped = self.sub(natural, self.int(BigInt::one() << width));
        self.ite(self.lt(natural, half), natural, wrapped)
    }

    fn bv_commutative(&self, op: &Op, args: &[TermId], unit: BigUint) -> TermId {
        let width = self.width(args[0]);
        let sort = self.sort_of(args[0]);
        let mut value = unit.clone();
        let mut rest = Vec::with_capacity(args.len());
        for &arg in args {
            match self.as_bitvec(arg) {
                Some(v) => {
                    let (a, b) = (self.bitvec(value, width), self.bitvec(v.clone(), width));
                    let folded = self.bv_fold(op, &[a, b]);
                    value = self.as_bitvec(folded).cloned().unwrap_or_default();
                }
                None => rest.push(arg),
            }
        }
        rest.sort_unstable();
        if value != unit || rest.is_empty() {
            rest.push(self.bitvec(value, width));
        }
        let mut result = rest[0];
        for &arg in &rest[1..] {
            result = self.intern(op.clone(), &[result, arg], sort);
        }
        result
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
            op => panic!("{op:?} is no bit-vector operator"),
        };
        self.bitvec(result, width)
    }
}
