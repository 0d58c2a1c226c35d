//! A formula over words as one over the integers that they are with a sign.
//!
//! What a model says of sums of words follows by adding up inequalities, once it is clear that nothing
//! wraps. Solvers that blast bits have to find that bit by bit, for 32 bits in seconds or not at all;
//! over integers it is one step. (Words as integers, with a variable for how often a sum wraps: see
//! `engine/twin`. This does not trust that one, and knows only Z3's terms.)
//!
//! Invariant: each model of the formula is one of the result, with the numbers for the words; so what
//! is contradictory afterwards was so before. The converse does not hold: operations that are not
//! linear may have any result.

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
use super::uninterpreted::{application, conjunction};

/// A comparison is taken apart into no more cases than this.
const CASES: usize = 9;

/// A number that equals a word modulo its size, and what it may be.
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
    /// Of words without a sign.
    Unsigned,
}

struct Integers<'a, 'b> {
    context: &'a TextContext<'b>,
    int: Z3_sort,
    /// Of words: sums that are not in their range yet,
    sums: FxHashMap<Z3_ast, Sum>,
    /// and the numbers that they are.
    readings: FxHashMap<Z3_ast, Z3_ast>,
    formulas: FxHashMap<Z3_ast, Z3_ast>,
    /// What holds of new constants.
    facts: Vec<Z3_ast>,
    linear: bool,
}

/// What a formula says of integers.
pub(super) struct OverIntegers {
    pub formula: Z3_ast,
    /// Whether it says as much: no operation may have any result.
    pub linear: bool,
}

/// The formula, which has to be about words and truth values only, over integers. `None` when Z3
/// fails.
pub(super) fn over_integers(context: &TextContext<'_>, formula: Z3_ast) -> Option<OverIntegers> {
    let mut integers = Integers {
        context,
        // SAFETY: the context is alive.
        int: unsafe { Z3_mk_int_sort(context.z3.raw)? },
        sums: FxHashMap::default(),
        readings: FxHashMap::default(),
        formulas: FxHashMap::default(),
        facts: Vec::new(),
        linear: true,
    };
    let result = integers.formula(formula)?;
    let mut parts = std::mem::take(&mut integers.facts);
    parts.push(result);
    Some(OverIntegers {
        formula: conjunction(context, &parts)?,
        linear: integers.linear,
    })
}

fn size(width: u32) -> BigInt {
    BigInt::one() << width
}

fn half(width: u32) -> BigInt {
    BigInt::one() << (width - 1)
}

impl Integers<'_, '_> {
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
                    let sum = self.word(term, width, decl, &args)?;
                    self.sums.insert(term, sum);
                }
                None => {
                    let made = self.truth(term, decl, &args)?;
                    self.formulas.insert(term, made);
                }
            }
        }
        self.formulas.get(&root).copied()
    }

    fn is_done(&self, term: Z3_ast) -> bool {
        self.sums.contains_key(&term) || self.formulas.contains_key(&term)
    }

    /// The width of a word.
    fn width(&self, term: Z3_ast) -> Option<u32> {
        let raw = self.context.z3.raw;
        // SAFETY: the term belongs to the context.
        unsafe {
            let sort = Z3_get_sort(raw, term)?;
            let is_word = Z3_get_sort_kind(raw, sort) == SortKind::Bv;
            is_word.then(|| Z3_get_bv_sort_size(raw, sort))
        }
    }

    /// What stands for a truth value whose arguments are known.
    fn truth(&mut self, term: Z3_ast, decl: Z3_func_decl, args: &[Z3_ast]) -> Option<Z3_ast> {
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
            let words = match least.into_iter().any(is) {
                true => [a, b],
                false => [b, a],
            };
            let strict = strict.into_iter().any(is);
            if let Some(made) = self.at_most_by_cases(words, strict, signed) {
                return Some(made);
            }
        }
        let numbers: Option<Vec<Z3_ast>> = if unsigned.into_iter().any(is) {
            args.iter().map(|&a| self.unsigned(a)).collect()
        } else if is(DeclKind::Eq) || is(DeclKind::Distinct) || signed.into_iter().any(is) {
            args.iter().map(|&a| self.reading(a)).collect()
        } else {
            // Any truth value.
            self.linear = false;
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

    /// Whether the first word is at most (or less than) the second, by how often their sums wrap: a
    /// solver decides between formulas sooner than it finds the value of a variable. `None` where
    /// there are too many cases.
    fn at_most_by_cases(&self, words: [Z3_ast; 2], strict: bool, signed: bool) -> Option<Z3_ast> {
        let width = self.width(words[0])?;
        let low = if signed { -half(width) } else { BigInt::zero() };
        let high: BigInt = &low + size(width) - 1;
        let [left, right] = words.map(|word| self.cases(word, &low, &high, width));
        let (left, right) = (left?, right?);
        if left.len() * right.len() > CASES {
            return None;
        }
        let more = BigInt::from(u8::from(strict));
        let mut all = Vec::new();
        for a in &left {
            for b in &right {
                let mut parts = Vec::new();
                // With a numeral on one side, one interval says all.
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

    /// What a word may be in this range: its sum, less the words' size so many times.
    fn cases(&self, word: Z3_ast, low: &BigInt, high: &BigInt, width: u32) -> Option<Vec<Sum>> {
        let (sum, size) = (&self.sums[&word], size(width));
        let mut count = (&sum.low - low).div_floor(&size);
        let most = (&sum.high - low).div_floor(&size);
        debug_assert_eq!(high - low + 1, size);
        let mut cases = Vec::new();
        while count <= most && cases.len() <= CASES {
            cases.push(self.plus(sum, &self.point(&(-&size * &count))?)?);
            count += 1;
        }
        Some(cases)
    }

    /// That a sum is in this interval, without what its own range says.
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

    /// What stands for a word whose arguments are known.
    fn word(
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
            return Some(signed(self.reading(args[0])?, inner));
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
            let mut all = signed(self.reading(args[0])?, self.width(args[0])?);
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
            // The lower bits are those of any number that is equal modulo the size.
            if low == 0 {
                return Some(self.sums[&args[0]].clone());
            }
            let inner = self.width(args[0])?;
            let number = self.reading(args[0])?;
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
            let (then, otherwise) = (self.reading(args[1])?, self.reading(args[2])?);
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
            // The lower bits of a number.
            for (word, mask) in [(a, b), (b, a)] {
                let size: Option<BigInt> = self.numeral(mask).map(|mask| mask + 1);
                let is_power = |size: &BigInt| (size & (size - BigInt::one())).is_zero();
                if let Some(size) = size.filter(|size| *size > BigInt::one() && is_power(size)) {
                    let [_, rest] = self.divide(word, &size, Division::Down)?;
                    return Some(rest);
                }
            }
        }
        // A constant, or anything else.
        self.linear &= args.is_empty();
        let any = self.constant(&-half(width), &(half(width) - 1))?;
        Some(signed(any, width))
    }

    /// Quotient and remainder of a word by a positive number that is one with a sign.
    fn divide(&mut self, word: Z3_ast, divisor: &BigInt, rounded: Division) -> Option<[Sum; 2]> {
        let width = self.width(word)?;
        let (number, low, high): (Z3_ast, BigInt, BigInt) = match rounded {
            Division::Unsigned => (self.unsigned(word)?, BigInt::zero(), size(width) - 1),
            _ => (self.reading(word)?, -half(width), half(width) - 1),
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
                // The remainder has the number's sign, or is zero.
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

    /// The number that a word is, with a sign.
    fn reading(&mut self, word: Z3_ast) -> Option<Z3_ast> {
        if let Some(&known) = self.readings.get(&word) {
            return Some(known);
        }
        let width = self.width(word)?;
        let Sum { term, low, high } = self.sums[&word].clone();
        let half = half(width);
        let reading = if -&half <= low && high < half {
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
        self.readings.insert(word, reading);
        Some(reading)
    }

    /// The number that a word is without a sign.
    fn unsigned(&mut self, word: Z3_ast) -> Option<Z3_ast> {
        let width = self.width(word)?;
        let number = self.reading(word)?;
        let wrapped = self.add(&[number, self.numeral_of(&size(width))?])?;
        let zero = self.numeral_of(&BigInt::zero())?;
        let z3 = &self.context.z3;
        // SAFETY: all are terms of the context, of fitting sorts.
        unsafe {
            let negative = z3.keep(Z3_mk_lt(z3.raw, number, zero)?);
            Some(z3.keep(Z3_mk_ite(z3.raw, negative, wrapped, number)?))
        }
    }

    /// The value of a numeral, with a sign.
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

    /// A new integer in a range.
    fn constant(&mut self, low: &BigInt, high: &BigInt) -> Option<Z3_ast> {
        let z3 = &self.context.z3;
        // SAFETY: the sort belongs to the context.
        let made = z3.keep(unsafe { Z3_mk_fresh_const(z3.raw, c"n".as_ptr(), self.int)? });
        self.bound(made, low, high)?;
        Some(made)
    }

    fn bound(&mut self, term: Z3_ast, low: &BigInt, high: &BigInt) -> Option<()> {
        let z3 = &self.context.z3;
        let (low, high) = (self.numeral_of(low)?, self.numeral_of(high)?);
        for (a, b) in [(low, term), (term, high)] {
            // SAFETY: both are integers of the context. What is made is kept before the next call.
            self.facts.push(z3.keep(unsafe { Z3_mk_le(z3.raw, a, b)? }));
        }
        Some(())
    }
}

/// A number in the range of words of a width.
fn signed(term: Z3_ast, width: u32) -> Sum {
    Sum {
        term,
        low: -half(width),
        high: half(width) - 1,
    }
}

/// The number that a word with these bits is, with a sign.
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

    /// Whether the only assertion of a text is contradictory, over integers, and as it is; and whether
    /// it is linear.
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
        (ask(integers.formula), ask(formula), integers.linear)
    }

    /// What is contradictory over integers is so over words; and the other way round where all is
    /// linear.
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
            let mut words = ["p", "q", "r", "#b110"].map(str::to_owned).to_vec();
            let mut fill = |words: &[String], form: &str| {
                let first: &String = random.pick(words);
                let form = form.replace('P', first);
                let second: &String = random.pick(words);
                form.replace('Q', second)
            };
            let mut forms = Random::new(1000 + round);
            for _ in 0..4 {
                let form = match linear || forms.one_in(2) {
                    true => *forms.pick(&LINEAR),
                    false => *forms.pick(&OTHERS),
                };
                let word = fill(&words, form);
                words.push(word);
            }
            let mut atom = || {
                let form: &'static str = forms.pick::<&'static str>(&ATOMS);
                fill(&words, form)
            };
            let atoms: Vec<String> = (0..5).map(|_| atom()).collect();
            let text = format!(
                "(declare-const p (_ BitVec 3)) (declare-const q (_ BitVec 3))
                 (declare-const r (_ BitVec 3)) (declare-const b Bool)
                 (assert (and {} (not {}) {} (= b {}) (or (not b) {})))",
                atoms[0], atoms[1], atoms[2], atoms[3], atoms[4]
            );
            let (integers, words, is_linear) = contradictory(&text);
            assert!(is_linear || !linear, "{text}");
            assert!(words || !integers, "{text}");
            let found = match linear {
                true => &mut exact,
                false => &mut weaker,
            };
            assert!(!linear || integers == words, "{text}");
            found[usize::from(integers)] += 1;
        }
        // All happen, so the test says something.
        let all = exact.into_iter().chain(weaker);
        assert!(all.into_iter().all(|f| f > 10), "{exact:?} {weaker:?}");
    }

    /// Four bounds add up, for words of 64 bits; and a sum may wrap.
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
