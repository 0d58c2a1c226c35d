//! From clauses over bit-vectors to clauses over integers: each bit-vector becomes its value, signed
//! or unsigned ([`Readings`]).
//!
//! Invariant: integers satisfy the constraint of an exact clause if and only if they are the values
//! of bit-vectors that satisfy the original constraint (and the variables that count wraps have the
//! right values). In other clauses sums do not wrap.

use std::rc::Rc;

use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use super::range::{Range, half, power};
use super::readings::{Reading, Readings};
use alphorn_chc::{Atom, Clause, System};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Context;
use alphorn_term::{BigInt, Op, Sort, SortId, TermId, TermStore};

/// A system over integers, with the predicates and clauses of the original system in their order.
#[derive(Clone)]
pub(super) struct Twin {
    pub system: System,
    /// By clause: from bit-vector variables to integer variables.
    pub variables: Vec<FxHashMap<TermId, TermId>>,
    /// By clause: whether it is exact.
    pub exact_clauses: Vec<bool>,
    /// From formal variables of the twin to those of the original system.
    pub params: FxHashMap<TermId, TermId>,
    /// Of the original system.
    pub readings: Readings,
}

/// How clauses treat sums that leave the range of their bit-vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Semantics {
    /// Numbers have no range, except that unsigned ones are at least 0, so nothing wraps.
    Free,
    /// Sums are reduced.
    Exact,
}

impl Twin {
    /// The number of exact clauses.
    pub fn exact(&self) -> usize {
        self.exact_clauses.iter().filter(|&&exact| exact).count()
    }

    /// Whether all clauses are exact.
    pub fn is_exact(&self) -> bool {
        self.exact_clauses.iter().all(|&exact| exact)
    }

    /// Makes this clause exact, by the clause of the exact twin.
    pub fn sharpen(&mut self, at: usize, exact: &Twin, smt: &Rc<Smt>) {
        if std::mem::replace(&mut self.exact_clauses[at], true) {
            return;
        }
        let clause = &mut self.system.clauses[at];
        clause.clone_from(&exact.system.clauses[at]);
        clause.constraint = without_excluded(&exact.system.terms, clause.constraint, smt);
        self.variables[at].clone_from(&exact.variables[at]);
    }
}

/// Translates the system. The error names an operator that is not supported, or a limit.
pub(super) fn translate(
    original: &System,
    semantics: Semantics,
    cx: &Context,
) -> Result<Twin, String> {
    let terms = &original.terms;
    let mut twin = Twin {
        system: System::new(terms.clone()),
        variables: Vec::new(),
        exact_clauses: vec![semantics == Semantics::Exact; original.clauses.len()],
        params: FxHashMap::default(),
        readings: Readings::of_system(original),
    };
    for predicate in &original.predicates {
        let sort_of = |&param: &TermId| twin_sort(terms, terms.sort_of(param));
        let sorts: Vec<SortId> = predicate.params.iter().map(sort_of).collect();
        let id = twin.system.add_predicate(&predicate.name, &sorts);
        let made = &twin.system.predicate(id).params;
        twin.params
            .extend(made.iter().copied().zip(predicate.params.iter().copied()));
    }
    for clause in &original.clauses {
        if let Some(reason) = cx.stop() {
            return Err(reason.to_string());
        }
        let mut translation = Translation::new(terms, semantics, &twin.readings);
        let constraint = translation.clause(clause)?;
        let body = translation.atoms(&clause.body);
        let head = translation.atoms(clause.head.as_slice()).pop();
        twin.system.add_clause(body, constraint, head);
        twin.variables.push(translation.variables);
    }
    Ok(twin)
}

/// The constraint without the cases of its disjunctions that contradict the rest of it. Most sums
/// of a clause cannot wrap, given the rest.
fn without_excluded(terms: &TermStore, constraint: TermId, smt: &Rc<Smt>) -> TermId {
    let mut parts = terms.conjuncts(constraint);
    let is_or = |t: TermId| terms.node(t).op == Op::Or;
    if !parts.iter().any(|&p| is_or(p)) {
        return constraint;
    }
    let mut solver = smt.solver();
    solver.assert(constraint);
    for part in parts.iter_mut().filter(|part| is_or(**part)) {
        let cases = terms.args(*part).iter().copied();
        let kept = cases.filter(|&case| solver.check(&[case]) != SatResult::Unsat);
        *part = terms.or(&kept.collect::<Vec<TermId>>());
    }
    terms.and(&parts)
}

/// The numbers of times that the size is subtracted from a sum to get a number of the second range.
fn counts(sum: &Range, range: &Range, size: &BigInt) -> Range {
    Range {
        low: (&sum.low - &range.low).div_floor(size),
        high: (&sum.high - &range.low).div_floor(size),
    }
}

/// The sort in the twin.
fn twin_sort(terms: &TermStore, sort: SortId) -> SortId {
    match terms.sort(sort) {
        Sort::BitVec(_) => SortId::INT,
        _ => sort,
    }
}

/// A term that equals a bit-vector's value modulo its size, and the term's range.
#[derive(Clone)]
struct Sum {
    term: TermId,
    range: Range,
}

/// The translation of a clause.
struct Translation<'a> {
    terms: &'a TermStore,
    semantics: Semantics,
    readings: &'a Readings,
    variables: FxHashMap<TermId, TermId>,
    /// The translations of formulas and of terms of other sorts.
    others: FxHashMap<TermId, TermId>,
    /// For bit-vectors: sums that may be outside of the range.
    sums: FxHashMap<TermId, Sum>,
    /// For bit-vectors: the values in their readings.
    values: FxHashMap<TermId, TermId>,
    /// Further conjuncts of the constraint.
    facts: Vec<TermId>,
}

impl<'a> Translation<'a> {
    fn new(terms: &'a TermStore, semantics: Semantics, readings: &'a Readings) -> Self {
        Translation {
            terms,
            semantics,
            readings,
            variables: FxHashMap::default(),
            others: FxHashMap::default(),
            sums: FxHashMap::default(),
            values: FxHashMap::default(),
            facts: Vec::new(),
        }
    }

    /// The clause's constraint, with the ranges of all its bit-vectors if it is exact.
    fn clause(&mut self, clause: &Clause) -> Result<TermId, String> {
        for var in clause.vars(self.terms) {
            if let Sort::BitVec(width) = self.terms.sort(self.terms.sort_of(var)) {
                let twin = self.terms.fresh_var(self.terms.var_name(var), SortId::INT);
                let reading = self.readings.of(var);
                let range = reading.range(width);
                match (self.semantics, reading) {
                    (Semantics::Exact, _) => self.facts.push(self.within(twin, &range)),
                    (Semantics::Free, Reading::Signed) => {}
                    (Semantics::Free, Reading::Unsigned) => {
                        self.facts.push(self.terms.ge(twin, self.terms.int(0)));
                    }
                }
                self.sums.insert(var, Sum { term: twin, range });
                self.variables.insert(var, twin);
            }
        }
        let terms = self.terms;
        let mut order = Vec::new();
        terms.post_order(&[clause.constraint], |t| order.push(t));
        for t in order {
            self.node(t)?;
        }
        self.facts.push(self.other(clause.constraint));
        Ok(terms.and(&self.facts))
    }

    /// The translation of a clause's atoms.
    fn atoms(&self, atoms: &[Atom]) -> Vec<Atom> {
        let map = |atom: &Atom| Atom {
            predicate: atom.predicate,
            args: atom.args.iter().map(|a| self.variable(*a)).collect(),
        };
        atoms.iter().map(map).collect()
    }

    /// The translation of a clause's variable.
    fn variable(&self, var: TermId) -> TermId {
        self.variables.get(&var).copied().unwrap_or(var)
    }

    /// The width of a bit-vector.
    fn width(&self, term: TermId) -> Option<u32> {
        match self.terms.sort(self.terms.sort_of(term)) {
            Sort::BitVec(width) => Some(width),
            _ => None,
        }
    }

    /// Says that the number is in the range.
    fn within(&self, term: TermId, range: &Range) -> TermId {
        let terms = self.terms;
        let low = terms.ge(term, terms.int(range.low.clone()));
        let high = terms.le(term, terms.int(range.high.clone()));
        terms.and(&[low, high])
    }

    /// The translation of a term that is no bit-vector.
    fn other(&self, term: TermId) -> TermId {
        self.others.get(&term).copied().unwrap_or(term)
    }

    /// The value of a bit-vector in its reading. A sum that may leave its range is reduced once.
    fn value(&mut self, bit_vector: TermId) -> TermId {
        if let Some(&value) = self.values.get(&bit_vector) {
            return value;
        }
        let terms = self.terms;
        let sum = self.sums[&bit_vector].clone();
        let range = self.range(bit_vector);
        let value = if sum.range.is_within(&range) || self.semantics == Semantics::Free {
            sum.term
        } else {
            let size = range.size();
            let wraps = terms.fresh_var("wraps", SortId::INT);
            let counts = counts(&sum.range, &range, &size);
            self.facts.push(self.within(wraps, &counts));
            let reduced = terms.sub(sum.term, terms.mul(&[terms.int(size), wraps]));
            self.facts.push(self.within(reduced, &range));
            reduced
        };
        self.values.insert(bit_vector, value);
        value
    }

    /// The range of a bit-vector's value in its reading.
    fn range(&self, bit_vector: TermId) -> Range {
        let width = self.width(bit_vector).expect("it is a bit-vector");
        self.readings.of(bit_vector).range(width)
    }

    /// The value of a bit-vector in this reading.
    fn value_as(&mut self, bit_vector: TermId, reading: Reading) -> TermId {
        let terms = self.terms;
        let width = self.width(bit_vector).expect("it is a bit-vector");
        if let Some(numeral) = terms.as_bitvec(bit_vector) {
            let numeral = BigInt::from(numeral.clone());
            return terms.int(reading.range(width).wrapped(&numeral));
        }
        let number = self.value(bit_vector);
        let own = self.readings.of(bit_vector);
        let more = match reading {
            _ if reading == own => return number,
            Reading::Signed => -power(width),
            Reading::Unsigned => power(width),
        };
        let wrapped = terms.add(&[number, terms.int(more)]);
        terms.ite(self.has_sign(number, own, width), wrapped, number)
    }

    /// Whether the sign bit is set, by a value in this reading.
    fn has_sign(&self, number: TermId, reading: Reading, width: u32) -> TermId {
        match reading {
            Reading::Signed => self.is_negative(number),
            Reading::Unsigned => self.terms.ge(number, self.terms.int(half(width))),
        }
    }

    /// The reading of bit-vectors of one class, of which some may be numerals.
    fn common(&self, bit_vectors: &[TermId]) -> Reading {
        let mut members = bit_vectors.iter();
        let member = members.find(|&&t| self.terms.as_bitvec(t).is_none());
        member.map_or(Reading::Signed, |&t| self.readings.of(t))
    }

    /// Says that the value of `a` in this reading is at most that of `b`.
    fn at_most(&mut self, a: TermId, b: TermId, reading: Reading) -> TermId {
        let own = self.common(&[a, b]);
        let width = self.width(a).expect("it is a bit-vector");
        let numbers = [a, b].map(|w| self.value_as(w, own));
        let terms = self.terms;
        let at_most = terms.le(numbers[0], numbers[1]);
        if own == reading {
            return at_most;
        }
        let [a, b] = numbers.map(|number| self.has_sign(number, own, width));
        let across = match reading {
            Reading::Signed => terms.and(&[a, terms.not(b)]),
            Reading::Unsigned => terms.and(&[terms.not(a), b]),
        };
        let same = terms.and(&[terms.eq(a, b), at_most]);
        terms.or(&[across, same])
    }

    /// Whether the value is a sum that has to be reduced.
    fn reduces(&self, bit_vector: TermId) -> bool {
        let range = self.range(bit_vector);
        self.semantics == Semantics::Exact && !self.sums[&bit_vector].range.is_within(&range)
    }

    /// Says that the first bit-vector is at most the second (less, if `strict`), as a disjunction
    /// over the numbers of times that their sums wrap, so that no variable for these has to be
    /// eliminated. `None` if nothing is reduced, there are many cases, or this is another operator.
    fn by_cases(&mut self, op: &Op, operands: [TermId; 2], strict: bool) -> Option<TermId> {
        let width = self.width(operands[0])?;
        let range = match op {
            Op::BvSle => Range::signed(width),
            Op::BvUle => Range::unsigned(width),
            _ => return None,
        };
        if !operands.iter().any(|&w| self.reduces(w)) {
            return None;
        }
        let more = BigInt::from(u8::from(strict));
        let cases = operands.map(|w| self.cases(w, &range));
        let [left, right] = &cases;
        if left.len() * right.len() > LIMITS.comparison_cases {
            return None;
        }
        let terms = self.terms;
        let mut all = Vec::new();
        for a in left {
            for b in right {
                // If one side is a numeral, the comparison is one interval.
                let formula = match (a.range.is_point(), b.range.is_point()) {
                    (true, false) => self.between(b, &a.range.low + &more, range.high.clone()),
                    (false, true) => self.between(a, range.low.clone(), &b.range.low - &more),
                    _ => {
                        let [a_is, b_is] = [a, b]
                            .map(|sum| self.between(sum, range.low.clone(), range.high.clone()));
                        let order = match strict {
                            true => terms.lt(a.term, b.term),
                            false => terms.le(a.term, b.term),
                        };
                        terms.and(&[a_is, b_is, order])
                    }
                };
                all.push(formula);
            }
        }
        Some(terms.or(&all))
    }

    /// The possible values of a bit-vector in this range: its sum minus multiples of the size.
    fn cases(&self, bit_vector: TermId, range: &Range) -> Vec<Sum> {
        let terms = self.terms;
        let sum = &self.sums[&bit_vector];
        let size = power(self.width(bit_vector).expect("it is a bit-vector"));
        let counts = counts(&sum.range, range, &size);
        let mut cases = Vec::new();
        let mut count = counts.low;
        while count <= counts.high && cases.len() <= LIMITS.comparison_cases {
            let less = &size * &count;
            cases.push(Sum {
                term: terms.sub(sum.term, terms.int(less.clone())),
                range: sum.range.plus(&Range::point(-less)),
            });
            count += 1;
        }
        cases
    }

    /// Says that a sum is in this interval, without bounds that its range implies.
    fn between(&self, sum: &Sum, low: BigInt, high: BigInt) -> TermId {
        let terms = self.terms;
        if low > high || sum.range.high < low || high < sum.range.low {
            return TermId::FALSE;
        }
        let mut bounds = Vec::new();
        if sum.range.low < low {
            bounds.push(terms.ge(sum.term, terms.int(low)));
        }
        if sum.range.high > high {
            bounds.push(terms.le(sum.term, terms.int(high)));
        }
        terms.and(&bounds)
    }

    /// The sum for a bit-vector whose unsigned value is this number.
    fn natural(&self, bit_vector: TermId, term: TermId, high: BigInt) -> Sum {
        let terms = self.terms;
        let width = self.width(bit_vector).expect("it is a bit-vector");
        if high <= self.range(bit_vector).high {
            let low = BigInt::zero();
            return Sum {
                term,
                range: Range { low, high },
            };
        }
        let wrapped = terms.sub(term, terms.int(power(width)));
        let is_small = terms.lt(term, terms.int(half(width)));
        Sum {
            term: terms.ite(is_small, term, wrapped),
            range: Range::signed(width),
        }
    }

    /// Says that the number is negative.
    fn is_negative(&self, number: TermId) -> TermId {
        self.terms.lt(number, self.terms.int(0))
    }

    /// Translates a term whose arguments are translated.
    fn node(&mut self, t: TermId) -> Result<(), String> {
        let terms = self.terms;
        if self.width(t).is_some() {
            if !self.sums.contains_key(&t) {
                let sum = self.bit_vector(t)?;
                self.sums.insert(t, sum);
            }
            return Ok(());
        }
        let node = terms.node(t);
        let over_bit_vectors = node.args.iter().any(|&a| self.width(a).is_some());
        let twin = match (&node.op, &*node.args) {
            (Op::BvSle, &[a, b]) => self
                .by_cases(&node.op, [a, b], false)
                .unwrap_or_else(|| self.at_most(a, b, Reading::Signed)),
            (Op::BvUle, &[a, b]) => self
                .by_cases(&node.op, [a, b], false)
                .unwrap_or_else(|| self.at_most(a, b, Reading::Unsigned)),
            // The negation is a disjunction, too.
            (Op::Not, &[a]) => {
                let inner = terms.node(a);
                let less = match *inner.args {
                    [a, b] => self.by_cases(&inner.op, [b, a], true),
                    _ => None,
                };
                less.unwrap_or_else(|| terms.not(self.other(a)))
            }
            (Op::Eq, &[a, b]) if over_bit_vectors => {
                let reading = self.common(&[a, b]);
                let (a, b) = (self.value_as(a, reading), self.value_as(b, reading));
                terms.eq(a, b)
            }
            (Op::BvToNat, &[a]) => self.value_as(a, Reading::Unsigned),
            (op, _) if over_bit_vectors => return Err(unsupported(op)),
            (op @ (Op::Forall(_) | Op::Exists(_)), _) => return Err(unsupported(op)),
            (Op::Var(_), _) => t,
            (op, args) => {
                let args: Vec<TermId> = args.iter().map(|&a| self.other(a)).collect();
                terms.rebuild(op, &args, node.sort)
            }
        };
        self.others.insert(t, twin);
        Ok(())
    }

    /// The sum for a bit-vector.
    fn bit_vector(&mut self, t: TermId) -> Result<Sum, String> {
        let terms = self.terms;
        let node = terms.node(t);
        let width = self.width(t).expect("it is a bit-vector");
        let (own, whole) = (self.readings.of(t), self.range(t));
        let sum = |term, range| Ok(Sum { term, range });
        let numeral = |t: TermId| terms.as_bitvec(t).map(|v| BigInt::from(v.clone()));
        match (&node.op, &*node.args) {
            (Op::BitVec(_), _) => {
                let value = Range::signed(width).wrapped(&numeral(t).unwrap_or_default());
                sum(terms.int(value.clone()), Range::point(value))
            }
            (Op::BvAdd, args) => {
                let parts: Vec<Sum> = args.iter().map(|a| self.sums[a].clone()).collect();
                let numbers: Vec<TermId> = parts.iter().map(|p| p.term).collect();
                let range = parts
                    .iter()
                    .fold(Range::point(BigInt::zero()), |all, part| {
                        all.plus(&part.range)
                    });
                sum(terms.add(&numbers), range)
            }
            (Op::BvNeg, [a]) => {
                let part = self.sums[a].clone();
                sum(terms.neg(part.term), part.range.times(&-BigInt::one()))
            }
            (Op::BvNot, [a]) => {
                let part = self.sums[a].clone();
                let ends = &whole.low + &whole.high;
                let range = part.range.times(&-BigInt::one());
                let range = range.plus(&Range::point(ends.clone()));
                sum(terms.sub(terms.int(ends), part.term), range)
            }
            (Op::BvMul, &[a, b]) => {
                let (factor, other) = match (numeral(a), numeral(b)) {
                    (Some(factor), _) => (factor, b),
                    (_, Some(factor)) => (factor, a),
                    _ => return Err(unsupported(&node.op)),
                };
                let factor = Range::signed(width).wrapped(&factor);
                let part = self.sums[&other].clone();
                let term = terms.mul(&[terms.int(factor.clone()), part.term]);
                sum(term, part.range.times(&factor))
            }
            (Op::Ite, &[condition, a, b]) => {
                let condition = self.other(condition);
                let (a, b) = (self.value_as(a, own), self.value_as(b, own));
                sum(terms.ite(condition, a, b), whole)
            }
            (Op::BvSignExtend(_), &[a]) => {
                let inner = self.width(a).expect("it is a bit-vector");
                sum(self.value_as(a, Reading::Signed), Range::signed(inner))
            }
            (Op::BvZeroExtend(_), &[a]) => {
                let inner = self.width(a).expect("it is a bit-vector");
                sum(self.value_as(a, Reading::Unsigned), Range::unsigned(inner))
            }
            (Op::BvConcat, &[a, b]) => {
                let low = self.width(b).expect("it is a bit-vector");
                let high = self.value_as(a, own);
                let low_part = self.value_as(b, Reading::Unsigned);
                let shifted = terms.mul(&[terms.int(power(low)), high]);
                sum(terms.add(&[shifted, low_part]), whole)
            }
            (&Op::BvExtract(high, low), &[a]) => {
                let inner = self.width(a).expect("it is a bit-vector");
                if high + 1 == inner {
                    // The upper bits are the value divided and rounded down; the sign stays.
                    let number = self.value_as(a, own);
                    let quotient = terms.idiv(number, terms.int(power(low)));
                    return sum(quotient, whole);
                }
                let number = match low {
                    0 => self.sums[&a].term,
                    _ => terms.idiv(self.value(a), terms.int(power(low))),
                };
                let rest = terms.modulo(number, terms.int(power(width)));
                Ok(self.natural(t, rest, Range::unsigned(width).high))
            }
            (Op::BvShl, &[a, b]) => match numeral(b) {
                Some(by) if by < BigInt::from(width) => {
                    let factor = power(u32::try_from(by).unwrap_or(width));
                    let part = self.sums[&a].clone();
                    let term = terms.mul(&[terms.int(factor.clone()), part.term]);
                    sum(term, part.range.times(&factor))
                }
                _ => Err(unsupported(&node.op)),
            },
            (Op::BvLshr | Op::BvAshr, &[a, b]) => match numeral(b) {
                Some(by) if by < BigInt::from(width) => {
                    let by = u32::try_from(by).unwrap_or(width);
                    let divisor = terms.int(power(by));
                    if node.op == Op::BvAshr {
                        let quotient = terms.idiv(self.value_as(a, Reading::Signed), divisor);
                        return sum(quotient, Range::signed(width - by));
                    }
                    let quotient = terms.idiv(self.value_as(a, Reading::Unsigned), divisor);
                    Ok(self.natural(t, quotient, Range::unsigned(width - by).high))
                }
                _ => Err(unsupported(&node.op)),
            },
            (Op::BvAnd, args) => {
                // Only masks of the lowest bits are supported.
                let is_mask = |mask: &BigInt| {
                    let next: BigInt = mask + 1;
                    (mask & &next).is_zero()
                };
                match *args {
                    [a, b] => {
                        let (mask, other) = match (numeral(a), numeral(b)) {
                            (Some(mask), _) => (mask, b),
                            (_, Some(mask)) => (mask, a),
                            _ => return Err(unsupported(&node.op)),
                        };
                        if !is_mask(&mask) {
                            return Err(unsupported(&node.op));
                        }
                        let number = self.sums[&other].term;
                        let rest = terms.modulo(number, terms.int(&mask + 1));
                        Ok(self.natural(t, rest, mask))
                    }
                    _ => Err(unsupported(&node.op)),
                }
            }
            (Op::BvUdiv | Op::BvUrem, &[a, b]) => match numeral(b) {
                Some(divisor) if divisor.is_positive() => {
                    let number = self.value_as(a, Reading::Unsigned);
                    let by = terms.int(divisor.clone());
                    match node.op {
                        Op::BvUdiv => {
                            let high = Range::unsigned(width).high.div_floor(&divisor);
                            Ok(self.natural(t, terms.idiv(number, by), high))
                        }
                        _ => Ok(self.natural(t, terms.modulo(number, by), divisor - 1)),
                    }
                }
                _ => Err(unsupported(&node.op)),
            },
            (Op::BvSdiv | Op::BvSrem | Op::BvSmod, &[a, b]) => {
                let divisor = numeral(b).filter(|d| d.is_positive() && *d < half(width));
                let Some(divisor) = divisor else {
                    return Err(unsupported(&node.op));
                };
                let number = self.value_as(a, Reading::Signed);
                let by = terms.int(divisor);
                let negated = terms.neg(number);
                let is_negative = self.is_negative(number);
                let term = match node.op {
                    Op::BvSmod => terms.modulo(number, by),
                    Op::BvSdiv => {
                        let below = terms.neg(terms.idiv(negated, by));
                        terms.ite(is_negative, below, terms.idiv(number, by))
                    }
                    _ => {
                        let below = terms.neg(terms.modulo(negated, by));
                        terms.ite(is_negative, below, terms.modulo(number, by))
                    }
                };
                sum(term, Range::signed(width))
            }
            (op, _) => Err(unsupported(op)),
        }
    }
}

/// The error for an operator that is not supported.
fn unsupported(op: &Op) -> String {
    let name = format!("{op:?}");
    let name = name.split('(').next().unwrap_or_default();
    format!("{name} over bit-vectors")
}
