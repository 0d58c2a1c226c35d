//! A formula over bit-vectors as a formula over their signed integer values.
//!
//! Inequalities between sums of bit-vectors without overflow follow by linear arithmetic, where
//! bit-blasting needs seconds for 32 bits or does not end. A sum that may overflow has an integer
//! variable for the number of its overflows.
//!
//! # Invariant
//! Each model of the formula gives a model of the result; so if the result is unsatisfiable, the
//! formula is. The converse holds only if the translation is exact, since the result of a nonlinear
//! operation becomes any integer in its range.

use std::ffi::{CStr, CString};

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;
use z3_sys::{
    DeclKind, SortKind, Z3_ast, Z3_func_decl, Z3_get_bv_sort_size, Z3_get_decl_int_parameter,
    Z3_get_numeral_string, Z3_get_sort, Z3_get_sort_kind, Z3_is_numeral_ast, Z3_mk_add,
    Z3_mk_bool_sort, Z3_mk_distinct, Z3_mk_eq, Z3_mk_fresh_const, Z3_mk_int_sort, Z3_mk_ite,
    Z3_mk_le, Z3_mk_lt, Z3_mk_mul, Z3_mk_numeral, Z3_mk_or, Z3_sort, Z3_update_term,
};

use super::TextContext;
use super::limits::LIMITS;
use super::uninterpreted::{application, conjunction};

/// An integer term that equals a bit-vector modulo `2^width`, and bounds of its value.
#[derive(Clone)]
struct Sum {
    term: Z3_ast,
    low: BigInt,
    high: BigInt,
}

/// How a quotient is rounded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Division {
    ToZero,
    Down,
    /// Of unsigned values.
    Unsigned,
}

struct Integers<'a, 'b> {
    context: &'a TextContext<'b>,
    int: Z3_sort,
    /// By bit-vector: a sum that may be out of the range of its width.
    sums: FxHashMap<Z3_ast, Sum>,
    /// By bit-vector: its signed value.
    signed_values: FxHashMap<Z3_ast, Z3_ast>,
    /// By Boolean term: its translation.
    formulas: FxHashMap<Z3_ast, Z3_ast>,
    /// Constraints on new constants.
    facts: Vec<Z3_ast>,
    exact: bool,
}

/// A formula over integers.
pub(super) struct OverIntegers {
    /// The translation, with the constraints on its new constants.
    pub formula: Z3_ast,
    /// Whether it is satisfiable only if the formula is: no operation was replaced by any value.
    pub exact: bool,
}

/// The translation of a formula whose terms are bit-vectors and Booleans only. `None` if Z3 fails.
pub(super) fn over_integers(context: &TextContext<'_>, formula: Z3_ast) -> Option<OverIntegers> {
    let mut integers = Integers {
        context,
        // SAFETY: the context is alive.
        int: unsafe { Z3_mk_int_sort(context.z3.raw)? },
        sums: FxHashMap::default(),
        signed_values: FxHashMap::default(),
        formulas: FxHashMap::default(),
        facts: Vec::new(),
        exact: true,
    };
    let result = integers.formula(formula)?;
    let mut parts = std::mem::take(&mut integers.facts);
    parts.push(result);
    Some(OverIntegers {
        formula: conjunction(context, &parts)?,
        exact: integers.exact,
    })
}

/// `2^width`.
fn size(width: u32) -> BigInt {
    BigInt::one() << width
}

/// `2^(width - 1)`.
fn half(width: u32) -> BigInt {
    BigInt::one() << (width - 1)
}

impl Integers<'_, '_> {
    /// The translation of a formula; iterative.
    fn formula(&mut self, root: Z3_ast) -> Option<Z3_ast> {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            if self.is_done(term) {
                stack.pop();
                continue;
            }
            let (decl, args) = application(self.context, term)?;
            let before = stack.len();
            stack.extend(args.iter().filter(|a| !self.is_done(**a)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            match self.width(term) {
                Some(width) => {
                    let sum = self.bit_vector(term, width, decl, &args)?;
                    self.sums.insert(term, sum);
                }
                None => {
                    let made = self.boolean(term, decl, &args)?;
                    self.formulas.insert(term, made);
                }
            }
        }
        self.formulas.get(&root).copied()
    }

    fn is_done(&self, term: Z3_ast) -> bool {
        self.sums.contains_key(&term) || self.formulas.contains_key(&term)
    }

    /// The width of a bit-vector; `None` for another term.
    fn width(&self, term: Z3_ast) -> Option<u32> {
        let raw = self.context.z3.raw;
        // SAFETY: the term belongs to the context.
        unsafe {
            let sort = Z3_get_sort(raw, term)?;
            let is_bit_vector = Z3_get_sort_kind(raw, sort) == SortKind::Bv;
            is_bit_vector.then(|| Z3_get_bv_sort_size(raw, sort))
        }
    }

    /// The translation of a Boolean term whose arguments are translated.
    fn boolean(&mut self, term: Z3_ast, decl: Z3_func_decl, args: &[Z3_ast]) -> Option<Z3_ast> {
        let z3 = &self.context.z3;
        let raw = z3.raw;
        if args.iter().all(|a| self.formulas.contains_key(a)) {
            let own: Vec<Z3_ast> = args.iter().map(|a| self.formulas[a]).collect();
            if own.is_empty() {
                return Some(term);
            }
            // SAFETY: as many arguments of the same sorts as before.
            let made = unsafe { Z3_update_term(raw, term, own.len() as u32, own.as_ptr())? };
            return Some(z3.keep(made));
        }
        let kind = z3.decl_kind(decl);
        let is = |wanted: DeclKind| kind == wanted as u32;
        let signed = [DeclKind::Sleq, DeclKind::Sgeq, DeclKind::Slt, DeclKind::Sgt];
        let unsigned = [DeclKind::Uleq, DeclKind::Ugeq, DeclKind::Ult, DeclKind::Ugt];
        if let [a, b] = *args
            && unsigned.into_iter().chain(signed).any(is)
        {
            let signed = signed.into_iter().any(is);
            let least = [DeclKind::Sleq, DeclKind::Uleq, DeclKind::Slt, DeclKind::Ult];
            let strict = [DeclKind::Slt, DeclKind::Ult, DeclKind::Sgt, DeclKind::Ugt];
            let sides = match least.into_iter().any(is) {
                true => [a, b],
                false => [b, a],
            };
            let strict = strict.into_iter().any(is);
            if let Some(made) = self.at_most_by_cases(sides, strict, signed) {
                return Some(made);
            }
        }
        let numbers: Option<Vec<Z3_ast>> = if unsigned.into_iter().any(is) {
            args.iter().map(|&a| self.unsigned(a)).collect()
        } else if is(DeclKind::Eq) || is(DeclKind::Distinct) || signed.into_iter().any(is) {
            args.iter().map(|&a| self.signed_value(a)).collect()
        } else {
            // Any Boolean.
            self.exact = false;
            // SAFETY: the sort belongs to the context.
            return Some(z3.keep(unsafe {
                let sort = Z3_mk_bool_sort(raw)?;
                Z3_mk_fresh_const(raw, c"b".as_ptr(), sort)?
            }));
        };
        let numbers = numbers?;
        // SAFETY: all are integers of the context.
        let made = unsafe {
            match numbers[..] {
                [a, b] if is(DeclKind::Eq) => Z3_mk_eq(raw, a, b)?,
                _ if is(DeclKind::Distinct) => {
                    Z3_mk_distinct(raw, numbers.len() as u32, numbers.as_ptr())?
                }
                [a, b] if is(DeclKind::Sleq) || is(DeclKind::Uleq) => Z3_mk_le(raw, a, b)?,
                [a, b] if is(DeclKind::Sgeq) || is(DeclKind::Ugeq) => Z3_mk_le(raw, b, a)?,
                [a, b] if is(DeclKind::Slt) || is(DeclKind::Ult) => Z3_mk_lt(raw, a, b)?,
                [a, b] => Z3_mk_lt(raw, b, a)?,
                _ => return None,
            }
        };
        Some(z3.keep(made))
    }

    /// That the first bit-vector is at most, or less than, the second, as a disjunction over the
    /// numbers of overflows of both sums: solvers are faster on it than on integer variables for
    /// these numbers. `None` if there are too many cases.
    fn at_most_by_cases(&self, sides: [Z3_ast; 2], strict: bool, signed: bool) -> Option<Z3_ast> {
        let width = self.width(sides[0])?;
        let low = if signed { -half(width) } else { BigInt::zero() };
        let high: BigInt = &low + size(width) - 1;
        let [left, right] = sides.map(|side| self.cases(side, &low, &high, width));
        let (left, right) = (left?, right?);
        if left.len() * right.len() > LIMITS.max_comparison_cases {
            return None;
        }
        let more = BigInt::from(u8::from(strict));
        let mut all = Vec::new();
        for a in &left {
            for b in &right {
                let mut parts = Vec::new();
                // If one side is a numeral, an interval for the other is enough.
                if a.low == a.high {
                    self.between(b, &(&a.low + &more), &high, &mut parts)?;
                } else if b.low == b.high {
                    self.between(a, &low, &(&b.low - &more), &mut parts)?;
                } else {
                    self.between(a, &low, &high, &mut parts)?;
                    self.between(b, &low, &high, &mut parts)?;
                    parts.push(self.compare(strict, a.term, b.term)?);
                }
                all.push(conjunction(self.context, &parts)?);
            }
        }
        let z3 = &self.context.z3;
        // SAFETY: all are formulas of the context.
        Some(z3.keep(unsafe { Z3_mk_or(z3.raw, all.len() as u32, all.as_ptr())? }))
    }

    /// The values of a bit-vector in a range of `2^width` integers, by the number of overflows of
    /// its sum.
    fn cases(
        &self,
        bit_vector: Z3_ast,
        low: &BigInt,
        high: &BigInt,
        width: u32,
    ) -> Option<Vec<Sum>> {
        let (sum, size) = (&self.sums[&bit_vector], size(width));
        let mut count = (&sum.low - low).div_floor(&size);
        let most = (&sum.high - low).div_floor(&size);
        debug_assert_eq!(high - low + 1, size);
        let mut cases = Vec::new();
        while count <= most && cases.len() <= LIMITS.max_comparison_cases {
            cases.push(self.plus(sum, &self.point(&(-&size * &count))?)?);
            count += 1;
        }
        Some(cases)
    }

    /// Adds that a sum is in an interval, unless its bounds imply it.
    fn between(
        &self,
        sum: &Sum,
        low: &BigInt,
        high: &BigInt,
        parts: &mut Vec<Z3_ast>,
    ) -> Option<()> {
        if &sum.low < low {
            parts.push(self.compare(false, self.numeral_of(low)?, sum.term)?);
        }
        if &sum.high > high {
            parts.push(self.compare(false, sum.term, self.numeral_of(high)?)?);
        }
        Some(())
    }

    /// `a < b` if `strict`, otherwise `a ≤ b`.
    fn compare(&self, strict: bool, a: Z3_ast, b: Z3_ast) -> Option<Z3_ast> {
        let z3 = &self.context.z3;
        // SAFETY: both are integers of the context.
        Some(z3.keep(unsafe {
            match strict {
                true => Z3_mk_lt(z3.raw, a, b)?,
                false => Z3_mk_le(z3.raw, a, b)?,
            }
        }))
    }

    /// The translation of a bit-vector whose arguments are translated.
    fn bit_vector(
        &mut self,
        term: Z3_ast,
        width: u32,
        decl: Z3_func_decl,
        args: &[Z3_ast],
    ) -> Option<Sum> {
        let raw = self.context.z3.raw;
        if let Some(value) = self.numeral(term) {
            return self.point(&value);
        }
        let kind = self.context.z3.decl_kind(decl);
        let is = |wanted: DeclKind| kind == wanted as u32;
        let minus_one = -BigInt::one();
        if is(DeclKind::Badd) || is(DeclKind::Bsub) {
            let mut sum = self.sums[&args[0]].clone();
            for arg in &args[1..] {
                let part = match is(DeclKind::Bsub) {
                    true => self.times(&self.sums[arg], &minus_one)?,
                    false => self.sums[arg].clone(),
                };
                sum = self.plus(&sum, &part)?;
            }
            return Some(sum);
        }
        if is(DeclKind::Bneg) {
            return self.times(&self.sums[&args[0]], &minus_one);
        }
        if is(DeclKind::Bnot) {
            let negated = self.times(&self.sums[&args[0]], &minus_one)?;
            return self.plus(&negated, &self.point(&minus_one)?);
        }
        if is(DeclKind::Bmul) {
            let varies = |arg: &&Z3_ast| self.numeral(**arg).is_none();
            let (varying, numerals): (Vec<&Z3_ast>, Vec<&Z3_ast>) = args.iter().partition(varies);
            let factors = numerals.iter().filter_map(|a| self.numeral(**a));
            let factor = wrapped(&factors.product(), width);
            match varying[..] {
                [] => return self.point(&factor),
                [other] => return self.times(&self.sums[other], &factor),
                _ => {}
            }
        }
        if is(DeclKind::SignExt) {
            let inner = self.width(args[0])?;
            return Some(signed(self.signed_value(args[0])?, inner));
        }
        if is(DeclKind::ZeroExt) {
            let inner = self.width(args[0])?;
            return Some(Sum {
                term: self.unsigned(args[0])?,
                low: BigInt::zero(),
                high: size(inner) - 1,
            });
        }
        if is(DeclKind::Concat) {
            let mut all = signed(self.signed_value(args[0])?, self.width(args[0])?);
            for &arg in &args[1..] {
                let inner = self.width(arg)?;
                let lower = Sum {
                    term: self.unsigned(arg)?,
                    low: BigInt::zero(),
                    high: size(inner) - 1,
                };
                all = self.plus(&self.times(&all, &size(inner))?, &lower)?;
            }
            return Some(all);
        }
        if is(DeclKind::Extract) {
            // SAFETY: the declaration belongs to the context and has two parameters.
            let low = unsafe { Z3_get_decl_int_parameter(raw, decl, 1) };
            let low = u32::try_from(low).ok()?;
            // The lowest bits are those of any integer that is equal modulo `2^width`.
            if low == 0 {
                return Some(self.sums[&args[0]].clone());
            }
            let inner = self.width(args[0])?;
            let number = self.signed_value(args[0])?;
            let quotient = self.constant(&-half(inner - low), &(half(inner - low) - 1))?;
            let rest = self.constant(&BigInt::zero(), &(size(low) - 1))?;
            let multiple = self.multiple(quotient, &size(low))?;
            let whole = self.add(&[multiple, rest])?;
            // SAFETY: both are integers of the context.
            let equal = unsafe { Z3_mk_eq(raw, number, whole)? };
            self.facts.push(self.context.z3.keep(equal));
            return Some(signed(quotient, inner - low));
        }
        if is(DeclKind::Ite) {
            let condition = self.formulas[&args[0]];
            let (then, otherwise) = (self.signed_value(args[1])?, self.signed_value(args[2])?);
            // SAFETY: a formula and two integers of the context.
            let chosen = unsafe { Z3_mk_ite(raw, condition, then, otherwise)? };
            return Some(signed(self.context.z3.keep(chosen), width));
        }
        if let [a, b] = *args
            && let Some(divisor) = self.numeral(b).filter(|d| *d > BigInt::zero())
        {
            let rounded = match () {
                () if is(DeclKind::Bsdiv) || is(DeclKind::Bsrem) => Some(Division::ToZero),
                () if is(DeclKind::Bsmod) => Some(Division::Down),
                () if is(DeclKind::Budiv) || is(DeclKind::Burem) => Some(Division::Unsigned),
                () => None,
            };
            if let Some(rounded) = rounded {
                let [quotient, rest] = self.divide(a, &divisor, rounded)?;
                let quotients = [DeclKind::Bsdiv, DeclKind::Budiv];
                return Some(match quotients.into_iter().any(is) {
                    true => quotient,
                    false => rest,
                });
            }
        }
        if let [a, b] = *args
            && is(DeclKind::Band)
        {
            // The lowest bits.
            for (masked, mask) in [(a, b), (b, a)] {
                let size: Option<BigInt> = self.numeral(mask).map(|mask| mask + 1);
                let is_power = |size: &BigInt| (size & (size - BigInt::one())).is_zero();
                if let Some(size) = size.filter(|size| *size > BigInt::one() && is_power(size)) {
                    let [_, rest] = self.divide(masked, &size, Division::Down)?;
                    return Some(rest);
                }
            }
        }
        // A constant, or an operation that may have any value.
        self.exact &= args.is_empty();
        let any = self.constant(&-half(width), &(half(width) - 1))?;
        Some(signed(any, width))
    }

    /// Quotient and remainder of a bit-vector by a positive integer in the signed range.
    fn divide(
        &mut self,
        bit_vector: Z3_ast,
        divisor: &BigInt,
        rounded: Division,
    ) -> Option<[Sum; 2]> {
        let width = self.width(bit_vector)?;
        let (number, low, high): (Z3_ast, BigInt, BigInt) = match rounded {
            Division::Unsigned => (self.unsigned(bit_vector)?, BigInt::zero(), size(width) - 1),
            _ => (
                self.signed_value(bit_vector)?,
                -half(width),
                half(width) - 1,
            ),
        };
        let most: BigInt = divisor - 1;
        let least = match rounded {
            Division::ToZero => -&most,
            Division::Down | Division::Unsigned => BigInt::zero(),
        };
        let (low, high) = (low.div_floor(divisor), high.div_floor(divisor));
        let quotient = self.constant(&low, &high)?;
        let rest = self.constant(&least, &most)?;
        let whole = self.add(&[self.multiple(quotient, divisor)?, rest])?;
        let z3 = &self.context.z3;
        // SAFETY: all are integers of the context, or formulas made of them.
        unsafe {
            self.facts.push(z3.keep(Z3_mk_eq(z3.raw, number, whole)?));
            if rounded == Division::ToZero {
                // The remainder is zero or has the sign of the dividend.
                let zero = self.numeral_of(&BigInt::zero())?;
                let negative = z3.keep(Z3_mk_lt(z3.raw, number, zero)?);
                let [below, above] = [
                    z3.keep(Z3_mk_le(z3.raw, rest, zero)?),
                    z3.keep(Z3_mk_le(z3.raw, zero, rest)?),
                ];
                self.facts
                    .push(z3.keep(Z3_mk_ite(z3.raw, negative, below, above)?));
            }
        }
        let sum = |term, low: &BigInt, high: &BigInt| Sum {
            term,
            low: low.clone(),
            high: high.clone(),
        };
        Some([sum(quotient, &low, &high), sum(rest, &least, &most)])
    }

    /// The signed value of a bit-vector.
    fn signed_value(&mut self, bit_vector: Z3_ast) -> Option<Z3_ast> {
        if let Some(&known) = self.signed_values.get(&bit_vector) {
            return Some(known);
        }
        let width = self.width(bit_vector)?;
        let Sum { term, low, high } = self.sums[&bit_vector].clone();
        let half = half(width);
        let value = if -&half <= low && high < half {
            term
        } else {
            let size = size(width);
            let least = (&low + &half).div_floor(&size);
            let most = (&high + &half).div_floor(&size);
            let wraps = self.constant(&least, &most)?;
            let reduced = self.add(&[term, self.multiple(wraps, &-size)?])?;
            self.bound(reduced, &-&half, &(half.clone() - 1))?;
            reduced
        };
        self.signed_values.insert(bit_vector, value);
        Some(value)
    }

    /// The unsigned value of a bit-vector.
    fn unsigned(&mut self, bit_vector: Z3_ast) -> Option<Z3_ast> {
        let width = self.width(bit_vector)?;
        let number = self.signed_value(bit_vector)?;
        let wrapped = self.add(&[number, self.numeral_of(&size(width))?])?;
        let zero = self.numeral_of(&BigInt::zero())?;
        let z3 = &self.context.z3;
        // SAFETY: all are terms of the context, of fitting sorts.
        unsafe {
            let negative = z3.keep(Z3_mk_lt(z3.raw, number, zero)?);
            Some(z3.keep(Z3_mk_ite(z3.raw, negative, wrapped, number)?))
        }
    }

    /// The signed value of a numeral; `None` for another term.
    fn numeral(&self, term: Z3_ast) -> Option<BigInt> {
        let raw = self.context.z3.raw;
        // SAFETY: the term belongs to the context, and Z3's string is read before the next call.
        let value = unsafe {
            if !Z3_is_numeral_ast(raw, term) {
                return None;
            }
            CStr::from_ptr(Z3_get_numeral_string(raw, term))
        };
        let value = value.to_str().ok()?.parse().ok()?;
        Some(wrapped(&value, self.width(term)?))
    }

    fn numeral_of(&self, value: &BigInt) -> Option<Z3_ast> {
        let z3 = &self.context.z3;
        let text = CString::new(value.to_string()).ok()?;
        // SAFETY: Z3 copies the text.
        Some(z3.keep(unsafe { Z3_mk_numeral(z3.raw, text.as_ptr(), self.int)? }))
    }

    /// An integer as a sum.
    fn point(&self, value: &BigInt) -> Option<Sum> {
        Some(Sum {
            term: self.numeral_of(value)?,
            low: value.clone(),
            high: value.clone(),
        })
    }

    fn plus(&self, a: &Sum, b: &Sum) -> Option<Sum> {
        Some(Sum {
            term: self.add(&[a.term, b.term])?,
            low: &a.low + &b.low,
            high: &a.high + &b.high,
        })
    }

    fn times(&self, sum: &Sum, factor: &BigInt) -> Option<Sum> {
        let (a, b) = (&sum.low * factor, &sum.high * factor);
        Some(Sum {
            term: self.multiple(sum.term, factor)?,
            low: a.clone().min(b.clone()),
            high: a.max(b),
        })
    }

    fn add(&self, parts: &[Z3_ast]) -> Option<Z3_ast> {
        let z3 = &self.context.z3;
        // SAFETY: the parts are integers of the context.
        Some(z3.keep(unsafe { Z3_mk_add(z3.raw, parts.len() as u32, parts.as_ptr())? }))
    }

    fn multiple(&self, term: Z3_ast, factor: &BigInt) -> Option<Z3_ast> {
        let z3 = &self.context.z3;
        let parts = [self.numeral_of(factor)?, term];
        // SAFETY: the parts are integers of the context.
        Some(z3.keep(unsafe { Z3_mk_mul(z3.raw, 2, parts.as_ptr())? }))
    }

    /// A new integer constant in a range.
    fn constant(&mut self, low: &BigInt, high: &BigInt) -> Option<Z3_ast> {
        let z3 = &self.context.z3;
        // SAFETY: the sort belongs to the context.
        let made = z3.keep(unsafe { Z3_mk_fresh_const(z3.raw, c"n".as_ptr(), self.int)? });
        self.bound(made, low, high)?;
        Some(made)
    }

    /// Adds the bounds of a term to the facts.
    fn bound(&mut self, term: Z3_ast, low: &BigInt, high: &BigInt) -> Option<()> {
        let z3 = &self.context.z3;
        let (low, high) = (self.numeral_of(low)?, self.numeral_of(high)?);
        for (a, b) in [(low, term), (term, high)] {
            // SAFETY: both are integers of the context. What is made is referenced before the next
            // call.
            self.facts.push(z3.keep(unsafe { Z3_mk_le(z3.raw, a, b)? }));
        }
        Some(())
    }
}

/// A signed value as a sum.
fn signed(term: Z3_ast, width: u32) -> Sum {
    Sum {
        term,
        low: -half(width),
        high: half(width) - 1,
    }
}

/// The signed value of the lowest `width` bits of an integer.
fn wrapped(value: &BigInt, width: u32) -> BigInt {
    (value + half(width)).mod_floor(&size(width)) - half(width)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::super::{Answer, Core};
    use super::*;
    use alphorn_term::run::Budget;
    use alphorn_term::{Random, TermStore};

    /// Whether the only assertion of a text is unsatisfiable over integers, and over bit-vectors;
    /// and whether the translation is exact.
    fn contradictory(text: &str) -> (bool, bool, bool) {
        let budget = Budget::new(Rc::new(TermStore::new()), Default::default(), false);
        let context = TextContext::new(&budget);
        let formula = context.parse(text).expect("a text")[0];
        let ask = |formula: Z3_ast| {
            let mut solver = context.solver(Core::Current).expect("a solver");
            solver.assert(formula);
            matches!(solver.check(None), Answer::Unsat)
        };
        let integers = over_integers(&context, formula).expect("a formula");
        (ask(integers.formula), ask(formula), integers.exact)
    }

    /// A formula that is unsatisfiable over integers is so over bit-vectors; the converse holds for
    /// exact translations.
    #[test]
    fn what_has_a_model_keeps_one() {
        const LINEAR: [&str; 20] = [
            "(bvand P #b001)",
            "(bvand #b011 P)",
            "(bvsdiv P #b011)",
            "(bvsrem P #b010)",
            "(bvsmod P #b011)",
            "(bvudiv P #b010)",
            "(bvurem P #b011)",
            "(bvsdiv P #b001)",
            "(bvadd P Q)",
            "(bvsub P Q)",
            "(bvneg P)",
            "(bvnot P)",
            "(bvmul #b101 P)",
            "(bvmul P #b011)",
            "((_ extract 3 1) ((_ sign_extend 2) P))",
            "((_ extract 4 2) ((_ zero_extend 2) P))",
            "((_ extract 2 0) (concat P Q))",
            "((_ extract 4 2) (concat P Q))",
            "(ite (bvule P Q) P Q)",
            "((_ extract 2 0) (bvadd ((_ sign_extend 1) P) ((_ zero_extend 1) Q)))",
        ];
        const OTHERS: [&str; 4] = ["(bvmul P Q)", "(bvor P Q)", "(bvudiv P Q)", "(bvshl P Q)"];
        const ATOMS: [&str; 10] = [
            "(= P Q)",
            "(distinct P Q)",
            "(bvsle P Q)",
            "(bvsge P Q)",
            "(bvslt P Q)",
            "(bvsgt P Q)",
            "(bvule P Q)",
            "(bvuge P Q)",
            "(bvult P Q)",
            "(bvugt P Q)",
        ];
        let mut random = Random::new(11);
        let (mut exact, mut weaker) = ([0, 0], [0, 0]);
        for round in 0..600 {
            let linear = round % 4 != 0;
            let mut vectors = ["p", "q", "r", "#b110"].map(str::to_owned).to_vec();
            let mut fill = |vectors: &[String], form: &str| {
                let first: &String = random.pick(vectors);
                let form = form.replace('P', first);
                let second: &String = random.pick(vectors);
                form.replace('Q', second)
            };
            let mut forms = Random::new(1000 + round);
            for _ in 0..4 {
                let form = match linear || forms.one_in(2) {
                    true => *forms.pick(&LINEAR),
                    false => *forms.pick(&OTHERS),
                };
                let vector = fill(&vectors, form);
                vectors.push(vector);
            }
            let mut atom = || {
                let form: &'static str = forms.pick::<&'static str>(&ATOMS);
                fill(&vectors, form)
            };
            let atoms: Vec<String> = (0..5).map(|_| atom()).collect();
            let text = format!(
                "(declare-const p (_ BitVec 3)) (declare-const q (_ BitVec 3))
                 (declare-const r (_ BitVec 3)) (declare-const b Bool)
                 (assert (and {} (not {}) {} (= b {}) (or (not b) {})))",
                atoms[0], atoms[1], atoms[2], atoms[3], atoms[4]
            );
            let (integers, vectors, is_linear) = contradictory(&text);
            assert!(is_linear || !linear, "{text}");
            assert!(vectors || !integers, "{text}");
            let found = match linear {
                true => &mut exact,
                false => &mut weaker,
            };
            assert!(!linear || integers == vectors, "{text}");
            found[usize::from(integers)] += 1;
        }
        // The test reaches all cases.
        let all = exact.into_iter().chain(weaker);
        assert!(all.into_iter().all(|f| f > 10), "{exact:?} {weaker:?}");
    }

    /// Bounds of bit-vectors of 64 bits add up, unless a sum may overflow.
    #[test]
    fn bounds_add_up() {
        let text = |least: &str| {
            format!(
                "(declare-const x (_ BitVec 64)) (declare-const y (_ BitVec 64))
                 (declare-const z (_ BitVec 64))
                 (assert (and (bvsle {least} x) (bvslt x y) (bvslt y z)
                    (bvslt (bvadd z #x0000000000000001) (bvadd x #x0000000000000003))))"
            )
        };
        assert!(!contradictory(&text("#x0000000000000000")).0);
        let bounded = text("#x0000000000000000")
            .replace("(bvslt x y)", "(bvslt x y) (bvslt z #x7ffffffffffffff0)");
        assert!(contradictory(&bounded).0);
    }
}
