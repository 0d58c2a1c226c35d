//! The operators of SMT-LIB, and some of Z3, on terms.
//!
//! Invariant: sorts and indexes are checked before a term is made, so that no input makes the
//! constructors of terms panic. Int is converted to Real where Z3 does so; there are no other
//! conversions.

use num_bigint::{BigInt, BigUint};
use num_traits::Zero;

use super::builtins::Builtin as B;
use super::error::{TermError, shorten};
use super::sorts::MAX_WIDTH;
use crate::limits::LIMITS;
use alphorn_term::{Op, Printer, Rational, Sort, SortId, TermId, TermStore};

/// Applies operators; errors have no position.
pub(super) struct Operators<'a> {
    pub terms: &'a TermStore,
    /// The name of the operator in the text.
    pub name: &'a str,
}

impl Operators<'_> {
    /// Applies `op`, with the numerals of `(_ op …)`, to terms.
    pub fn apply(&self, op: B, indexes: &[BigUint], args: &[TermId]) -> Result<TermId, TermError> {
        let terms = self.terms;
        let expected = match op {
            B::Extract => 2,
            B::ZeroExtend
            | B::SignExtend
            | B::Repeat
            | B::RotateLeft
            | B::RotateRight
            | B::IntToBv
            | B::Divisible => 1,
            _ => 0,
        };
        if indexes.len() != expected {
            return Err(TermError::IndexCount {
                name: shorten(self.name),
                takes: expected,
            });
        }
        match op {
            B::True | B::False => {
                self.count(args, 0, Some(0))?;
                Ok(terms.bool(op == B::True))
            }
            B::Not => {
                self.count(args, 1, Some(1))?;
                self.all(args, SortId::BOOL)?;
                Ok(terms.not(args[0]))
            }
            B::And | B::Or | B::Xor | B::Implies => {
                self.count(args, 1 + usize::from(op == B::Implies), None)?;
                self.all(args, SortId::BOOL)?;
                Ok(match op {
                    B::And => terms.and(args),
                    B::Or => terms.or(args),
                    B::Xor => fold(args, |a, b| terms.xor(a, b)),
                    _ => {
                        let (&last, rest) = args.split_last().expect("counted");
                        let mut parts: Vec<TermId> =
                            rest.iter().map(|&premise| terms.not(premise)).collect();
                        parts.push(last);
                        terms.or(&parts)
                    }
                })
            }
            B::Eq => {
                self.count(args, 2, None)?;
                let args = self.one_sort(args)?;
                Ok(chain(terms, &args, |a, b| terms.eq(a, b)))
            }
            B::Distinct => {
                self.count(args, 2, Some(LIMITS.max_distinct_arguments))?;
                Ok(terms.distinct(&self.one_sort(args)?))
            }
            B::Ite => {
                self.count(args, 3, Some(3))?;
                self.all(&args[..1], SortId::BOOL)?;
                let branches = self.one_sort(&args[1..])?;
                Ok(terms.ite(args[0], branches[0], branches[1]))
            }
            B::Select => {
                self.count(args, 2, Some(2))?;
                let (index, _) = self.array(args[0])?;
                Ok(terms.select(args[0], self.convert(args[1], index)?))
            }
            B::Store => {
                self.count(args, 3, Some(3))?;
                let (index, element) = self.array(args[0])?;
                let index = self.convert(args[1], index)?;
                Ok(terms.store(args[0], index, self.convert(args[2], element)?))
            }
            B::Add
            | B::Sub
            | B::Mul
            | B::Div
            | B::IDiv
            | B::Mod
            | B::Rem
            | B::Abs
            | B::Le
            | B::Lt
            | B::Ge
            | B::Gt
            | B::ToReal
            | B::ToInt
            | B::IsInt
            | B::Divisible => self.arithmetic(op, indexes, args),
            _ => self.bitvector(op, indexes, args),
        }
    }

    /// The term in this sort: itself, or an Int converted to Real.
    pub fn convert(&self, term: TermId, sort: SortId) -> Result<TermId, TermError> {
        let found = self.terms.sort_of(term);
        if found == sort {
            return Ok(term);
        }
        if found == SortId::INT && sort == SortId::REAL {
            return Ok(self.terms.to_real(term));
        }
        Err(self.wrong_sort(format!("the sort {}", self.show(sort)), found))
    }

    fn wrong_sort(&self, expected: impl Into<String>, found: SortId) -> TermError {
        TermError::WrongSort {
            name: shorten(self.name),
            expected: expected.into(),
            found: self.show(found),
        }
    }

    fn show(&self, sort: SortId) -> String {
        Printer::new(self.terms).sort(sort)
    }

    fn count(&self, args: &[TermId], least: usize, most: Option<usize>) -> Result<(), TermError> {
        let count = args.len();
        if count >= least && most.is_none_or(|most| count <= most) {
            return Ok(());
        }
        let takes = match most {
            Some(most) if most == least => format!("{least}"),
            Some(most) => format!("{least} to {most}"),
            None => format!("{least} or more"),
        };
        Err(TermError::ArgumentCount {
            name: shorten(self.name),
            takes,
            found: count,
        })
    }

    fn all(&self, args: &[TermId], sort: SortId) -> Result<(), TermError> {
        for &arg in args {
            let found = self.terms.sort_of(arg);
            if found != sort {
                return Err(self.wrong_sort(format!("the sort {}", self.show(sort)), found));
            }
        }
        Ok(())
    }

    /// The arguments in one sort; Int is converted to Real if both occur.
    fn one_sort(&self, args: &[TermId]) -> Result<Vec<TermId>, TermError> {
        let real = args.iter().any(|&a| self.terms.sort_of(a) == SortId::REAL);
        let sort = if real {
            SortId::REAL
        } else {
            self.terms.sort_of(args[0])
        };
        args.iter().map(|&a| self.convert(a, sort)).collect()
    }

    fn array(&self, term: TermId) -> Result<(SortId, SortId), TermError> {
        let sort = self.terms.sort_of(term);
        match self.terms.sort(sort) {
            Sort::Array(index, element) => Ok((index, element)),
            _ => Err(self.wrong_sort("an array", sort)),
        }
    }

    fn numeric(&self, args: &[TermId]) -> Result<Vec<TermId>, TermError> {
        let args = self.one_sort(args)?;
        let sort = self.terms.sort_of(args[0]);
        if sort == SortId::INT || sort == SortId::REAL {
            return Ok(args);
        }
        Err(self.wrong_sort("Int or Real", sort))
    }

    fn real(&self, args: &[TermId]) -> Result<Vec<TermId>, TermError> {
        let args = args.iter().map(|&a| self.convert(a, SortId::REAL));
        args.collect()
    }

    fn arithmetic(&self, op: B, indexes: &[BigUint], args: &[TermId]) -> Result<TermId, TermError> {
        let terms = self.terms;
        let (least, most) = match op {
            B::Le | B::Lt | B::Ge | B::Gt | B::Div | B::IDiv => (2, None),
            B::Mod | B::Rem => (2, Some(2)),
            B::Abs | B::ToReal | B::ToInt | B::IsInt | B::Divisible => (1, Some(1)),
            _ => (1, None),
        };
        self.count(args, least, most)?;
        match op {
            B::Add => Ok(terms.add(&self.numeric(args)?)),
            B::Sub => {
                let args = self.numeric(args)?;
                match args[..] {
                    [only] => Ok(terms.neg(only)),
                    _ => Ok(terms.sub(args[0], terms.add(&args[1..]))),
                }
            }
            B::Mul => {
                let args = self.numeric(args)?;
                let bits: u64 = args.iter().map(|&a| self.bits(a)).sum();
                if bits > LIMITS.max_product_bits {
                    return Err(TermError::LargeProduct);
                }
                Ok(terms.mul(&args))
            }
            B::Div => Ok(fold(&self.real(args)?, |a, b| terms.div(a, b))),
            B::IDiv => {
                self.all(args, SortId::INT)?;
                Ok(fold(args, |a, b| terms.idiv(a, b)))
            }
            B::Mod => {
                self.all(args, SortId::INT)?;
                Ok(terms.modulo(args[0], args[1]))
            }
            B::Rem => {
                self.all(args, SortId::INT)?;
                // As in Z3: the remainder of `mod`, negated for a negative divisor.
                let rest = terms.modulo(args[0], args[1]);
                let positive = terms.ge(args[1], terms.int(0));
                Ok(terms.ite(positive, rest, terms.neg(rest)))
            }
            B::Abs => {
                let args = self.numeric(args)?;
                let zero = terms.number(&Rational::zero(), terms.sort_of(args[0]));
                let positive = terms.ge(args[0], zero);
                Ok(terms.ite(positive, args[0], terms.neg(args[0])))
            }
            B::Le | B::Lt | B::Ge | B::Gt => {
                let args = self.numeric(args)?;
                Ok(chain(terms, &args, |a, b| match op {
                    B::Le => terms.le(a, b),
                    B::Lt => terms.lt(a, b),
                    B::Ge => terms.ge(a, b),
                    _ => terms.gt(a, b),
                }))
            }
            B::ToReal => Ok(self.real(args)?[0]),
            B::ToInt => Ok(terms.to_int(self.real(args)?[0])),
            B::IsInt => Ok(terms.is_int(self.real(args)?[0])),
            _ => {
                self.all(args, SortId::INT)?;
                if indexes[0].is_zero() {
                    return Err(TermError::DivisibleByZero);
                }
                let divisor = terms.int(BigInt::from(indexes[0].clone()));
                Ok(terms.eq(terms.modulo(args[0], divisor), terms.int(0)))
            }
        }
    }

    /// The bits of a numeral, or of the coefficient of a multiple; else zero.
    fn bits(&self, term: TermId) -> u64 {
        match self.terms.op(term) {
            Op::Int(value) => value.bits(),
            Op::Real(value) => value.numer().bits() + value.denom().bits(),
            Op::Mul => match self.terms.op(self.terms.args(term)[0]) {
                Op::Int(value) => value.bits(),
                Op::Real(value) => value.numer().bits() + value.denom().bits(),
                _ => 0,
            },
            _ => 0,
        }
    }

    fn index(&self, value: &BigUint) -> Result<u32, TermError> {
        match u32::try_from(value) {
            Ok(value) if value <= MAX_WIDTH => Ok(value),
            _ => Err(TermError::LargeIndex {
                name: shorten(self.name),
                most: MAX_WIDTH,
            }),
        }
    }

    pub(super) fn width(&self, width: u64) -> Result<(), TermError> {
        if width == 0 || width > u64::from(MAX_WIDTH) {
            return Err(TermError::ResultWidth {
                name: shorten(self.name),
                width,
                most: MAX_WIDTH,
            });
        }
        Ok(())
    }

    fn bitvector(&self, op: B, indexes: &[BigUint], args: &[TermId]) -> Result<TermId, TermError> {
        let terms = self.terms;
        if op == B::IntToBv {
            self.count(args, 1, Some(1))?;
            self.all(args, SortId::INT)?;
            let width = self.index(&indexes[0])?;
            self.width(width.into())?;
            return Ok(terms.bv_op(&Op::IntToBv(width), args));
        }
        let (least, most) = match op {
            B::Concat | B::BvAnd | B::BvOr | B::BvXor | B::BvAdd | B::BvMul => (1, None),
            B::Extract
            | B::ZeroExtend
            | B::SignExtend
            | B::Repeat
            | B::RotateLeft
            | B::RotateRight
            | B::BvNot
            | B::BvNeg
            | B::BvRedOr
            | B::BvRedAnd
            | B::BvNegO
            | B::BvToNat
            | B::SbvToInt => (1, Some(1)),
            _ => (2, Some(2)),
        };
        self.count(args, least, most)?;
        for &arg in args {
            if terms.width(arg) == 0 {
                return Err(self.wrong_sort("bit-vectors", terms.sort_of(arg)));
            }
        }
        let width = terms.width(args[0]);
        if op == B::Concat {
            self.width(args.iter().map(|&a| u64::from(terms.width(a))).sum())?;
            return Ok(fold(args, |a, b| terms.bv_op(&Op::BvConcat, &[a, b])));
        }
        self.all(args, terms.sort_of(args[0]))?;
        if is_overflow(op) {
            return self.overflow(op, args);
        }
        let unary = |op: Op| terms.bv_op(&op, &args[..1]);
        let binary = |op: Op| terms.bv_op(&op, &args[..2]);
        let bit = |value: bool| terms.bitvec(BigUint::from(u8::from(value)), 1);
        Ok(match op {
            B::Extract => {
                let (high, low) = (self.index(&indexes[0])?, self.index(&indexes[1])?);
                if high >= width || low > high {
                    return Err(TermError::BitsOutside { high, low, width });
                }
                unary(Op::BvExtract(high, low))
            }
            B::ZeroExtend | B::SignExtend => {
                let more = self.index(&indexes[0])?;
                self.width(u64::from(width) + u64::from(more))?;
                unary(if op == B::ZeroExtend {
                    Op::BvZeroExtend(more)
                } else {
                    Op::BvSignExtend(more)
                })
            }
            B::Repeat => {
                let times = self.index(&indexes[0])?;
                self.width(u64::from(width) * u64::from(times))?;
                let copies = vec![args[0]; times as usize];
                fold(&copies, |a, b| terms.bv_op(&Op::BvConcat, &[a, b]))
            }
            B::RotateLeft | B::RotateRight => {
                let by = (&indexes[0] % width).try_into().unwrap_or(0u32);
                let left = match op {
                    B::RotateRight if by > 0 => width - by,
                    _ => by,
                };
                if left == 0 {
                    return Ok(args[0]);
                }
                let high = unary(Op::BvExtract(width - left - 1, 0));
                let low = unary(Op::BvExtract(width - 1, width - left));
                terms.bv_op(&Op::BvConcat, &[high, low])
            }
            B::BvNot => unary(Op::BvNot),
            B::BvNeg => unary(Op::BvNeg),
            B::BvAnd => fold(args, |a, b| terms.bv_op(&Op::BvAnd, &[a, b])),
            B::BvOr => fold(args, |a, b| terms.bv_op(&Op::BvOr, &[a, b])),
            B::BvXor => fold(args, |a, b| terms.bv_op(&Op::BvXor, &[a, b])),
            B::BvAdd => fold(args, |a, b| terms.bv_op(&Op::BvAdd, &[a, b])),
            B::BvMul => fold(args, |a, b| terms.bv_op(&Op::BvMul, &[a, b])),
            B::BvSub => terms.bv_sub(args[0], args[1]),
            B::BvNand => terms.bv_op(&Op::BvNot, &[binary(Op::BvAnd)]),
            B::BvNor => terms.bv_op(&Op::BvNot, &[binary(Op::BvOr)]),
            B::BvXnor => terms.bv_op(&Op::BvNot, &[binary(Op::BvXor)]),
            B::BvUdiv => binary(Op::BvUdiv),
            B::BvUrem => binary(Op::BvUrem),
            B::BvSdiv => binary(Op::BvSdiv),
            B::BvSrem => binary(Op::BvSrem),
            B::BvSmod => binary(Op::BvSmod),
            B::BvShl => binary(Op::BvShl),
            B::BvLshr => binary(Op::BvLshr),
            B::BvAshr => binary(Op::BvAshr),
            B::BvUlt => terms.bv_ult(args[0], args[1]),
            B::BvUle => binary(Op::BvUle),
            B::BvUgt => terms.bv_ult(args[1], args[0]),
            B::BvUge => terms.bv_op(&Op::BvUle, &[args[1], args[0]]),
            B::BvSlt => terms.bv_slt(args[0], args[1]),
            B::BvSle => binary(Op::BvSle),
            B::BvSgt => terms.bv_slt(args[1], args[0]),
            B::BvSge => terms.bv_op(&Op::BvSle, &[args[1], args[0]]),
            B::BvComp => terms.ite(terms.eq(args[0], args[1]), bit(true), bit(false)),
            B::BvRedOr => {
                let zero = terms.bitvec(BigUint::zero(), width);
                terms.ite(terms.eq(args[0], zero), bit(false), bit(true))
            }
            B::BvRedAnd => {
                let ones = terms.bv_op(&Op::BvNot, &[terms.bitvec(BigUint::zero(), width)]);
                terms.ite(terms.eq(args[0], ones), bit(true), bit(false))
            }
            B::BvToNat => unary(Op::BvToNat),
            B::SbvToInt => terms.bv_to_signed(args[0]),
            _ => unreachable!("not an operator of bit-vectors"),
        })
    }
}

/// Whether this is an overflow predicate.
fn is_overflow(op: B) -> bool {
    matches!(
        op,
        B::BvNegO
            | B::BvUAddO
            | B::BvSAddO
            | B::BvUMulO
            | B::BvSMulO
            | B::BvUSubO
            | B::BvSSubO
            | B::BvSDivO
    )
}

fn fold(args: &[TermId], step: impl Fn(TermId, TermId) -> TermId) -> TermId {
    args[1..].iter().fold(args[0], |a, &b| step(a, b))
}

fn chain(terms: &TermStore, args: &[TermId], step: impl Fn(TermId, TermId) -> TermId) -> TermId {
    match args {
        [a, b] => step(*a, *b),
        _ => {
            let parts: Vec<TermId> = args.windows(2).map(|w| step(w[0], w[1])).collect();
            terms.and(&parts)
        }
    }
}
