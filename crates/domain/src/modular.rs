//! Linear equations between bit-vectors, modulo powers of two.
//!
//! A bit-vector `x` of `w` bits is represented by `x · 2^(64 - w)` modulo 2^64, so that all widths
//! are in one ring: the lower bits of a bit-vector are a multiple of it, and its width is an
//! equation, too. Sums that wrap around are linear in this ring.
//!
//! Invariant: the rows of an element hold for all its assignments, are in Howell form, and have a
//! column for each of its variables and one for the constant.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use num_traits::ToPrimitive;
use rustc_hash::{FxHashMap, FxHashSet};

use super::cube::{Cube, Fact};
use super::nonempty::NonemptyDomain;
use alphorn_arith::Howell;
use alphorn_term::{BigUint, Op, TermId, TermStore};

/// Bits of the ring.
const RING: u32 = 64;

/// Limits of the domain of equations.
struct Limits {
    /// Parts of a term, counted along all paths to them; a larger term is not read.
    max_summands: usize,
    /// Non-linear terms that are compared by their operands; further ones are not compared.
    max_applications: usize,
}

const LIMITS: Limits = Limits {
    max_summands: 200,
    max_applications: 40,
};

/// Work charged for each change of an entry of a row.
const ENTRY_WORK: Duration = Duration::from_nanos(2);

/// Affine equations modulo two to the width (Müller-Olm and Seidl, TOPLAS 2007), in the form that
/// is dual to generators (Elder et al., TOPLAS 2014): joins are intersections of the spans of two
/// sets of rows, so no generators are computed.
pub struct Modular {
    terms: Rc<TermStore>,
    /// Variables of an element, at most.
    width: usize,
}

/// `Σ aᵢ·xᵢ + c`, with each bit-vector scaled to the ring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sum {
    monomials: BTreeMap<TermId, u64>,
    constant: u64,
}

impl Sum {
    fn add(&mut self, other: &Sum, factor: u64) {
        for (var, coefficient) in &other.monomials {
            let own = self.monomials.entry(*var).or_default();
            *own = own.wrapping_add(coefficient.wrapping_mul(factor));
        }
        self.constant = (self.constant).wrapping_add(other.constant.wrapping_mul(factor));
    }

    /// `2^bits · (self - other)`; the upper bits of both are lost.
    fn equal_below(mut self, other: &Sum, bits: u32) -> Sum {
        self.add(other, u64::MAX);
        let mut sum = Sum::default();
        sum.add(&self, 1 << bits);
        sum
    }
}

/// The possible orders of two terms, signed or unsigned.
struct Comparison {
    left: Sum,
    right: Sum,
    order: Order,
    /// A set of `<`, `=` and `>`.
    allowed: u8,
}

/// A non-linear term with its operands.
struct Application {
    term: TermId,
    operands: Vec<Sum>,
}

impl Application {
    /// The term, and the terms of its operands.
    fn terms(&self) -> impl Iterator<Item = TermId> {
        let operands = self.operands.iter();
        let within = operands.flat_map(|o| o.monomials.keys().copied());
        within.chain([self.term])
    }
}

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Order {
    Signed,
    Unsigned,
}

impl Comparison {
    fn terms(&self) -> impl Iterator<Item = TermId> {
        let sums = [&self.left, &self.right].into_iter();
        sums.flat_map(|s| s.monomials.keys().copied())
    }
}

/// Equations of variables, with a column for each of them and one for the constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Equations {
    /// Ascending; during a transfer, the variables to eliminate come first.
    vars: Vec<TermId>,
    rows: Howell,
}

/// The row of a sum, for whose terms there are columns, reduced by the equations: sums that are
/// equal under these have the same row.
fn reduced(whole: &Equations, sum: &Sum) -> Vec<u64> {
    let mut row = vec![0; whole.vars.len() + 1];
    for (at, var) in whole.vars.iter().enumerate() {
        row[at] = sum.monomials.get(var).copied().unwrap_or(0);
    }
    row[whole.vars.len()] = sum.constant;
    whole.rows.reduce(&mut row);
    row
}

impl Modular {
    /// The domain over a store, for at most `width` bit-vectors at a time. Bit-vectors of more than
    /// 64 bits are ignored.
    pub fn new(terms: Rc<TermStore>, width: usize) -> Self {
        Modular { terms, width }
    }

    /// The width of a term, if it fits the ring.
    fn bits(&self, term: TermId) -> Option<u32> {
        Some(self.terms.width(term)).filter(|w| (1..=RING).contains(w))
    }

    fn numeral(&self, term: TermId) -> Option<u64> {
        self.terms.as_bitvec(term)?.to_u64()
    }

    /// A term of at most 64 bits as a sum of variables and non-linear terms.
    fn read(&self, term: TermId) -> Option<Sum> {
        self.bits(term)?;
        let terms = &self.terms;
        let mut sum = Sum::default();
        let mut stack = vec![(term, 1u64)];
        let mut steps = 0;
        while let Some((part, factor)) = stack.pop() {
            steps += 1;
            if steps > LIMITS.max_summands {
                return None;
            }
            let args = terms.args(part);
            let width = terms.width(part);
            let unit = |value: u64| value.wrapping_shl(RING - width);
            match (terms.op(part), args) {
                (Op::BitVec(_), _) => {
                    let value = unit(self.numeral(part)?).wrapping_mul(factor);
                    sum.constant = sum.constant.wrapping_add(value);
                    continue;
                }
                (Op::BvAdd, _) => {
                    stack.extend(args.iter().map(|a| (*a, factor)));
                    continue;
                }
                (Op::BvNeg, [a]) => {
                    stack.push((*a, factor.wrapping_neg()));
                    continue;
                }
                (Op::BvNot, [a]) => {
                    stack.push((*a, factor.wrapping_neg()));
                    sum.constant = sum.constant.wrapping_sub(unit(1).wrapping_mul(factor));
                    continue;
                }
                (Op::BvMul, _) => {
                    let mut product = factor;
                    let mut open = Vec::new();
                    for arg in args {
                        match self.numeral(*arg) {
                            Some(value) => product = product.wrapping_mul(value),
                            None => open.push(*arg),
                        }
                    }
                    if let [rest] = open[..] {
                        stack.push((rest, product));
                        continue;
                    }
                }
                (Op::BvShl, [a, b]) => {
                    if let Some(by) = self.numeral(*b).filter(|n| *n < u64::from(width)) {
                        stack.push((*a, factor << by));
                        continue;
                    }
                }
                (Op::BvConcat, [high, low]) => {
                    if let Some(low) = self.numeral(*low) {
                        sum.constant = sum.constant.wrapping_add(unit(low).wrapping_mul(factor));
                        stack.push((*high, factor));
                        continue;
                    }
                }
                (Op::BvExtract(high, 0), [a]) => {
                    if let Some(whole) = self.bits(*a) {
                        stack.push((*a, factor << (whole - 1 - high)));
                        continue;
                    }
                }
                _ => {}
            }
            let own = sum.monomials.entry(part).or_default();
            *own = own.wrapping_add(factor);
        }
        Some(sum)
    }

    /// Equations between the lower bits of a non-linear term and of its operands.
    fn definition(&self, term: TermId) -> Vec<Sum> {
        let terms = &self.terms;
        let width = terms.width(term);
        let this = Sum {
            monomials: [(term, 1)].into(),
            constant: 0,
        };
        let number = |value: u64| Sum {
            monomials: BTreeMap::new(),
            constant: value.wrapping_shl(RING - width),
        };
        // The equation between the term's lower bits and those of another term of the same width.
        let lower = |other: &Sum, bits: u32| {
            let equal = |bits: u32| this.clone().equal_below(other, width - bits.min(width));
            (bits > 0).then(|| equal(bits))
        };
        let args = terms.args(term);
        let (operand, value) = match *args {
            [a] => (a, None),
            [a, b] => match (self.numeral(a), self.numeral(b)) {
                (Some(value), _) => (b, Some(value)),
                (_, value) => (a, value),
            },
            _ => return Vec::new(),
        };
        let read = |t: TermId| self.read(t);
        let mut found = Vec::new();
        match (terms.op(term), value) {
            (Op::BvConcat, _) => {
                let low = args[1];
                if let Some(other) = read(low) {
                    let mut sum = Sum::default();
                    sum.add(&this, 1 << (width - terms.width(low)));
                    sum.add(&other, u64::MAX);
                    found.push(Some(sum));
                }
            }
            (Op::BvZeroExtend(by) | Op::BvSignExtend(by), _) => {
                if let Some(other) = read(operand) {
                    let mut sum = Sum::default();
                    sum.add(&this, 1 << by);
                    sum.add(&other, u64::MAX);
                    found.push(Some(sum));
                }
            }
            (Op::BvUrem, Some(value)) if operand == args[0] && value.is_power_of_two() => {
                let other = read(operand);
                found.extend(other.map(|other| lower(&other, value.trailing_zeros())));
            }
            (Op::BvAnd, Some(mask)) => {
                let other = read(operand);
                found.extend(other.map(|other| lower(&other, mask.trailing_ones())));
                found.push(lower(&number(0), mask.trailing_zeros()));
            }
            (Op::BvOr, Some(mask)) => {
                let other = read(operand);
                found.extend(other.map(|other| lower(&other, mask.trailing_zeros())));
                found.push(lower(&number(mask), mask.trailing_ones()));
            }
            (Op::BvXor, Some(mask)) => {
                let other = read(operand);
                found.extend(other.map(|other| lower(&other, mask.trailing_zeros())));
            }
            _ => {}
        }
        found.into_iter().flatten().collect()
    }

    /// The rows of sums that are zero, with columns for these variables, too; those to eliminate
    /// come first. `None` for a contradiction.
    fn solved(
        &self,
        sums: &[Sum],
        others: impl Iterator<Item = TermId>,
        keep: impl Fn(TermId) -> bool,
    ) -> Option<Equations> {
        let own = sums.iter().flat_map(|s| s.monomials.keys().copied());
        let mut vars: Vec<TermId> = own.chain(others).collect();
        vars.sort_unstable_by_key(|v| (keep(*v), *v));
        vars.dedup();
        let one = vars.len();
        let column: FxHashMap<TermId, usize> = (vars.iter().copied().zip(0..)).collect();
        let mut rows = Vec::with_capacity(sums.len() + one);
        for sum in sums {
            let mut row = vec![0; one + 1];
            for (var, coefficient) in &sum.monomials {
                row[column[var]] = *coefficient;
            }
            row[one] = sum.constant;
            rows.push(row);
        }
        rows.extend(self.voids(&vars));
        let rows = self.form(rows, one + 1);
        let contradictory = rows.rows().last().is_some_and(|r| r.0 == one);
        (!contradictory).then_some(Equations { vars, rows })
    }

    /// The rows over the variables to keep, which are the last ones.
    fn kept(&self, whole: &Equations, keep: impl Fn(TermId) -> bool) -> Equations {
        let one = whole.vars.len();
        let first = whole.vars.iter().position(|v| keep(*v)).unwrap_or(one);
        let rows = whole.rows.rows().iter().filter(|r| r.0 >= first);
        let rows = rows.map(|(_, row)| row[first..].to_vec()).collect();
        self.equations(whole.vars[first..].to_vec(), rows)
    }

    /// The rows of sums that are zero, as equations of the variables to keep; `None` for a
    /// contradiction.
    fn solve(&self, sums: &[Sum], keep: impl Fn(TermId) -> bool) -> Option<Equations> {
        let whole = self.solved(sums, std::iter::empty(), &keep)?;
        Some(self.kept(&whole, keep))
    }

    /// Equations that follow from comparisons of terms that are equal under the other equations;
    /// `None` if the comparisons contradict each other.
    fn compared(&self, whole: &Equations, comparisons: &[Comparison]) -> Option<Vec<Sum>> {
        // For each order and pair of terms, the possible relations `<`, `=`, `>`.
        let mut known: FxHashMap<(Order, Vec<u64>, Vec<u64>), u8> = FxHashMap::default();
        let mut found = Vec::new();
        for comparison in comparisons {
            let [a, b] = [&comparison.left, &comparison.right].map(|sum| reduced(whole, sum));
            let mut allowed = comparison.allowed;
            if a == b {
                if allowed & EQUAL == 0 {
                    return None;
                }
                continue;
            }
            let (a, b) = if a <= b {
                (a, b)
            } else {
                allowed = (allowed & EQUAL) | (allowed & LESS) << 2 | (allowed & GREATER) >> 2;
                (b, a)
            };
            // Terms that differ in one order differ in the other.
            for order in [Order::Signed, Order::Unsigned] {
                let possible = match order == comparison.order || allowed == LESS | GREATER {
                    true => allowed,
                    false if allowed & EQUAL == 0 => LESS | GREATER,
                    false => continue,
                };
                let left = known.entry((order, a.clone(), b.clone())).or_insert(7);
                *left &= possible;
                match *left {
                    0 => return None,
                    EQUAL => {
                        let mut sum = comparison.left.clone();
                        sum.add(&comparison.right, u64::MAX);
                        found.push(sum);
                    }
                    _ => {}
                }
            }
        }
        Some(found)
    }

    /// The non-linear terms among these and in their operands.
    fn applications(&self, mut open: Vec<TermId>) -> Vec<Application> {
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut found = Vec::new();
        while let Some(term) = open.pop() {
            if self.terms.is_var(term)
                || !seen.insert(term)
                || found.len() >= LIMITS.max_applications
            {
                continue;
            }
            let operands = self.terms.args(term).iter().map(|a| self.read(*a));
            if let Some(operands) = operands.collect::<Option<Vec<Sum>>>() {
                open.extend(operands.iter().flat_map(|o| o.monomials.keys().copied()));
                found.push(Application { term, operands });
            }
        }
        found
    }

    /// Equations of terms with the same operator whose operands are equal.
    fn congruent(&self, whole: &Equations, applications: &[Application]) -> Vec<Sum> {
        // Bit-vectors of different widths that are shifted by the difference have the same row.
        type Operand = (u32, Vec<u64>);
        let mut first: FxHashMap<(&Op, Vec<Operand>), TermId> = FxHashMap::default();
        let mut found = Vec::new();
        for Application { term, operands } in applications {
            let widths = self.terms.args(*term).iter().map(|a| self.terms.width(*a));
            let rows = operands.iter().map(|o| reduced(whole, o));
            let operands = widths.zip(rows).collect();
            let other = *first
                .entry((self.terms.op(*term), operands))
                .or_insert(*term);
            let difference = Sum {
                monomials: [(*term, 1), (other, u64::MAX)].into(),
                constant: 0,
            };
            if other != *term && reduced(whole, &difference).iter().any(|a| *a != 0) {
                found.push(difference);
            }
        }
        found
    }

    /// A comparison of bit-vectors, or its negation.
    fn comparison(&self, atom: TermId, holds: bool) -> Option<Comparison> {
        let [a, b] = *self.terms.args(atom) else {
            return None;
        };
        let (order, allowed) = match self.terms.op(atom) {
            Op::BvSle => (Order::Signed, LESS | EQUAL),
            Op::BvUle => (Order::Unsigned, LESS | EQUAL),
            Op::Eq => (Order::Unsigned, EQUAL),
            _ => return None,
        };
        Some(Comparison {
            left: self.read(a)?,
            right: self.read(b)?,
            order,
            allowed: if holds { allowed } else { 7 & !allowed },
        })
    }

    /// The factor that makes a bit-vector zero in the ring; `None` if there is no such factor below
    /// 2^64.
    fn void(&self, var: TermId) -> Option<u64> {
        1u64.checked_shl(self.terms.width(var))
    }

    /// The rows that hold by the widths of these variables.
    fn voids(&self, vars: &[TermId]) -> impl Iterator<Item = Vec<u64>> {
        vars.iter().enumerate().filter_map(|(at, var)| {
            let mut row = vec![0; vars.len() + 1];
            row[at] = self.void(*var)?;
            Some(row)
        })
    }

    /// Equations without unused columns.
    fn equations(&self, vars: Vec<TermId>, rows: Vec<Vec<u64>>) -> Equations {
        let one = vars.len();
        let void = |row: &[u64]| {
            let mut entries = row.iter().enumerate().filter(|(_, a)| **a != 0);
            match (entries.next(), entries.next()) {
                (Some((at, a)), None) => at < one && self.void(vars[at]) == Some(*a),
                _ => false,
            }
        };
        let kept: Vec<&Vec<u64>> = rows.iter().filter(|row| !void(row)).collect();
        let needed: Vec<bool> = (0..=one)
            .map(|at| at == one || kept.iter().any(|row| row[at] != 0))
            .collect();
        let pick = |row: &[u64]| {
            let entries = row.iter().zip(&needed);
            let entries: Vec<u64> = entries.filter(|e| *e.1).map(|e| *e.0).collect();
            entries
        };
        let rows = rows.iter().map(|row| pick(row));
        let rows: Vec<Vec<u64>> = rows.filter(|r| r.iter().any(|a| *a != 0)).collect();
        let vars: Vec<TermId> = vars
            .iter()
            .zip(&needed)
            .filter_map(|(v, n)| n.then_some(*v))
            .collect();
        let width = vars.len() + 1;
        Equations {
            vars,
            // The rows are in this form already, except for columns that were removed.
            rows: self.form(rows, width),
        }
    }

    fn form(&self, rows: Vec<Vec<u64>>, width: usize) -> Howell {
        let entries = rows.len() * rows.len().min(width) * width / 2;
        let entries = u32::try_from(entries).unwrap_or(u32::MAX);
        self.terms.charge(ENTRY_WORK.saturating_mul(entries));
        Howell::new(rows, width)
    }

    /// The rows as sums.
    fn sums(&self, set: &Equations) -> impl Iterator<Item = Sum> {
        set.rows.rows().iter().map(|(_, row)| {
            let monomials = set.vars.iter().copied().zip(row.iter().copied());
            Sum {
                monomials: monomials.filter(|m| m.1 != 0).collect(),
                constant: row[set.vars.len()],
            }
        })
    }

    /// The rows over these variables, which are a subset of the set's and ascend.
    fn over(&self, set: &Equations, vars: &[TermId]) -> Howell {
        let sums: Vec<Sum> = self.sums(set).collect();
        let kept = self.solve(&sums, |v| vars.binary_search(&v).is_ok());
        let kept = kept.unwrap_or_default();
        let place = |v: TermId| vars.binary_search(&v).ok();
        let mut rows = Vec::new();
        for sum in self.sums(&kept) {
            let mut row = vec![0; vars.len() + 1];
            for (var, coefficient) in sum.monomials {
                if let Some(at) = place(var) {
                    row[at] = coefficient;
                }
            }
            row[vars.len()] = sum.constant;
            rows.push(row);
        }
        rows.extend(self.voids(vars));
        self.form(rows, vars.len() + 1)
    }

    /// The sides of the equations that do not follow from the widths and from earlier ones.
    fn sides(&self, set: &Equations) -> Vec<(TermId, TermId)> {
        let one = set.vars.len();
        let mut known: Vec<Vec<u64>> = self.voids(&set.vars).collect();
        let mut form = self.form(known.clone(), one + 1);
        let mut result = Vec::new();
        for row in &self.explicit(set) {
            if !form.spans(row) {
                known.push(row.clone());
                form = self.form(known.clone(), one + 1);
                result.extend(self.equation(&set.vars, row));
            }
        }
        result
    }

    /// The rows of a set, each solved for a bit-vector where possible, which then occurs in no
    /// other row: the other columns have small factors, which is not so in Howell form.
    fn explicit(&self, set: &Equations) -> Vec<Vec<u64>> {
        let rows = set.rows.rows().iter();
        let mut rows: Vec<Vec<u64>> = rows.map(|(_, row)| row.clone()).collect();
        let size = |row: &[u64]| -> u128 {
            let entries = set.vars.iter().zip(row);
            entries
                .map(|(v, a)| {
                    let scale = RING - self.terms.width(*v);
                    let signed = (a.wrapping_shl(scale)).cast_signed() >> scale;
                    u128::from(signed.unsigned_abs())
                })
                .sum()
        };
        let is_odd = |row: &[u64]| row[..set.vars.len()].iter().any(|a| a % 2 == 1);
        let mut solved = vec![false; rows.len()];
        loop {
            let open = (0..rows.len()).filter(|at| !solved[*at] && is_odd(&rows[*at]));
            let Some(at) = open.min_by_key(|at| size(&rows[*at])) else {
                return rows;
            };
            solved[at] = true;
            let row = rows[at].clone();
            let scaled = |column: usize| {
                let inverse = Howell::odd_inverse(row[column]);
                let row: Vec<u64> = row.iter().map(|a| a.wrapping_mul(inverse)).collect();
                size(&row)
            };
            let odd = (0..set.vars.len()).filter(|column| row[*column] % 2 == 1);
            let Some(column) = odd.min_by_key(|column| scaled(*column)) else {
                return rows;
            };
            let inverse = Howell::odd_inverse(row[column]);
            for (other, entries) in rows.iter_mut().enumerate() {
                let factor = entries[column].wrapping_mul(inverse);
                if other != at && factor != 0 {
                    let pairs = entries.iter_mut().zip(&row);
                    pairs.for_each(|(a, b)| *a = a.wrapping_sub(b.wrapping_mul(factor)));
                }
            }
        }
    }

    /// A row as an equation over as many bits as it restricts.
    fn equation(&self, vars: &[TermId], row: &[u64]) -> Option<(TermId, TermId)> {
        let terms = &self.terms;
        // In the ring, of bit-vectors without scaling.
        let scaled: Vec<u64> = (vars.iter().zip(row))
            .map(|(v, a)| a.wrapping_shl(RING - terms.width(*v)))
            .collect();
        let constant = *row.last()?;
        let all = scaled.iter().chain([&constant]);
        let zeros = all.map(|a| a.trailing_zeros()).min()?;
        let width = RING - zeros.min(RING - 1);
        let entries: Vec<u64> = scaled.iter().map(|a| a >> zeros).collect();
        let mask = u64::MAX >> (RING - width);
        let signed = |factor: u64| {
            let factor = factor & mask;
            let negative = factor > mask >> 1;
            (
                negative,
                if negative {
                    factor.wrapping_neg() & mask
                } else {
                    factor
                },
            )
        };
        // A row is solved for a bit-vector with an odd factor; the one that gives small factors is
        // taken.
        let scaled_by = |unit: u64| entries.iter().map(move |a| a.wrapping_mul(unit));
        let size = |unit: u64| {
            scaled_by(unit)
                .map(|a| u128::from(signed(a).1))
                .sum::<u128>()
        };
        let units = (0..entries.len()).filter(|at| entries[*at] % 2 == 1);
        let units = units.map(|at| (at, Howell::odd_inverse(entries[at])));
        let (first, inverse) = units.min_by_key(|(_, unit)| size(*unit))?;
        let value = |n: u64| terms.bitvec(BigUint::from(n & mask), width);
        let bitvec = |var: TermId| {
            let own = terms.width(var);
            if own > width {
                terms.bv_op(&Op::BvExtract(width - 1, 0), &[var])
            } else {
                terms.bv_op(&Op::BvZeroExtend(width - own), &[var])
            }
        };
        let mut sides = [vec![bitvec(vars[first])], Vec::new()];
        for (at, entry) in entries.iter().enumerate().filter(|e| e.0 != first) {
            let (negative, factor) = signed(entry.wrapping_mul(inverse));
            match factor {
                0 => {}
                1 => sides[usize::from(negative)].push(bitvec(vars[at])),
                _ => {
                    let product = terms.bv_op(&Op::BvMul, &[value(factor), bitvec(vars[at])]);
                    sides[usize::from(negative)].push(product);
                }
            }
        }
        let offset = (constant >> zeros).wrapping_mul(inverse).wrapping_neg() & mask;
        if offset != 0 {
            sides[1].push(value(offset));
        }
        let sum = |parts: &[TermId]| {
            let sum = parts.iter().copied();
            sum.reduce(|a, b| terms.bv_op(&Op::BvAdd, &[a, b]))
        };
        Some((sum(&sides[0])?, sum(&sides[1]).unwrap_or_else(|| value(0))))
    }
}

impl NonemptyDomain for Modular {
    type Set = Equations;

    fn terms(&self) -> &TermStore {
        &self.terms
    }

    fn all(&self) -> Self::Set {
        // No variables and no row; the only possible row is a contradiction.
        Equations::default()
    }

    fn transfer(
        &self,
        inputs: &[&Self::Set],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Option<Self::Set> {
        let mut sums: Vec<Sum> = inputs.iter().flat_map(|i| self.sums(i)).collect();
        let mut comparisons = Vec::new();
        for fact in &cube.facts {
            let (Fact::Value(a, b) | Fact::Same(a, b)) = fact else {
                continue;
            };
            if let Some(holds) = self.terms.as_bool(*b) {
                comparisons.extend(self.comparison(*a, holds));
            } else if let (Some(mut sum), Some(other)) = (self.read(*a), self.read(*b)) {
                sum.add(&other, u64::MAX);
                sums.push(sum);
            }
        }
        // A non-linear term is treated as a variable; the equations of its operator are added.
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut at = 0;
        while at < sums.len() && sums.len() <= 8 * self.width {
            let open: Vec<TermId> = sums[at].monomials.keys().copied().collect();
            for term in open {
                if !self.terms.is_var(term) && seen.insert(term) {
                    sums.extend(self.definition(term));
                }
            }
            at += 1;
        }
        if sums.len() + comparisons.len() > 8 * self.width {
            return Some(self.all());
        }
        let keep = |var: TermId| keep.map_or_else(|| self.terms.is_var(var), |k| k.contains(&var));
        let own = sums.iter().flat_map(|sum| sum.monomials.keys().copied());
        let compared = comparisons.iter().flat_map(Comparison::terms);
        let applications = self.applications(own.chain(compared).collect());
        loop {
            let compared = comparisons.iter().flat_map(Comparison::terms);
            let operands = applications.iter().flat_map(Application::terms);
            let whole = self.solved(&sums, compared.chain(operands), keep)?;
            let mut derived = self.compared(&whole, &comparisons)?;
            derived.extend(self.congruent(&whole, &applications));
            if derived.is_empty() {
                let set = self.kept(&whole, keep);
                let fits = set.vars.len() <= self.width;
                return Some(if fits { set } else { self.all() });
            }
            // Each round identifies terms that were different, so this ends.
            sums.extend(derived);
        }
    }

    fn join(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        if a == b {
            return Some(a.clone());
        }
        // A variable that is free on one side is free.
        let shared = a.vars.iter().filter(|v| b.vars.binary_search(v).is_ok());
        let vars: Vec<TermId> = shared.copied().collect();
        let width = vars.len() + 1;
        let (left, right) = (self.over(a, &vars), self.over(b, &vars));
        let entries = u32::try_from(4 * width * width * width).unwrap_or(u32::MAX);
        self.terms.charge(ENTRY_WORK.saturating_mul(entries));
        let both = left.intersection(&right, width);
        let rows = both.rows().iter().map(|r| r.1.clone()).collect();
        Some(self.equations(vars, rows))
    }

    fn widen(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        // Each step loses at least one bit of a row, so chains end.
        self.join(a, b)
    }

    fn entails(&self, a: &Self::Set, b: &Self::Set) -> bool {
        let place = |v: TermId| a.vars.binary_search(&v).ok();
        self.sums(b).all(|sum| {
            let mut row = vec![0; a.vars.len() + 1];
            row[a.vars.len()] = sum.constant;
            for (var, coefficient) in sum.monomials {
                match place(var) {
                    Some(at) => row[at] = coefficient,
                    // Only a multiple of the factor that makes the variable zero is implied.
                    None if self.void(var).is_some_and(|v| coefficient % v == 0) => {}
                    None => return false,
                }
            }
            a.rows.spans(&row)
        })
    }

    fn rename(&self, set: &Self::Set, map: &FxHashMap<TermId, TermId>) -> Option<Self::Set> {
        let name = |v: TermId| map.get(&v).copied().unwrap_or(v);
        let sums: Vec<Sum> = (self.sums(set))
            .map(|sum| Sum {
                monomials: sum
                    .monomials
                    .into_iter()
                    .map(|(v, a)| (name(v), a))
                    .collect(),
                constant: sum.constant,
            })
            .collect();
        self.solve(&sums, |_| true)
    }

    fn facts(&self, set: &Self::Set) -> Vec<Fact> {
        let sides = self.sides(set).into_iter();
        sides
            .map(|(a, b)| match self.terms.is_value(b) {
                true => Fact::Value(a, b),
                false => Fact::Same(a, b),
            })
            .collect()
    }
}
