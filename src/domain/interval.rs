//! Bounds of variables of sorts Int and Real, and of bit-vectors read as unsigned numbers.
//!
//! Invariant: no interval of an element is empty, and bounds of integers are integers.

use std::collections::BTreeMap;
use std::rc::Rc;

use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Cube, Domain, Fact, Relation, Row};
use crate::term::{BigInt, Linear, Op, Rational, Sort, SortId, TermId, TermStore};

/// Rounds of propagation through the rows of a cube; bounds that creep are not worth more.
const ROUNDS: usize = 4;

/// Intervals (Cousot and Cousot, ISOP 1976) with widening to thresholds.
pub struct Intervals {
    terms: Rc<TermStore>,
    /// Where widening stops, ascending.
    thresholds: Vec<Rational>,
}

/// A closed interval, unbounded where there is no bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    pub low: Option<Rational>,
    pub high: Option<Rational>,
}

type Box_ = BTreeMap<TermId, Bounds>;

impl Intervals {
    /// The domain over a store; widening goes to the next of these values first.
    pub fn new(terms: Rc<TermStore>, mut thresholds: Vec<Rational>) -> Self {
        thresholds.sort_unstable();
        thresholds.dedup();
        Intervals { terms, thresholds }
    }

    /// Sets bounds; false when the interval becomes empty. Tells whether something changed.
    fn restrict(
        &self,
        values: &mut Box_,
        var: TermId,
        low: Option<Rational>,
        high: Option<Rational>,
        changed: &mut bool,
    ) -> bool {
        let integral = self.terms.sort_of(var) != SortId::REAL;
        let bounds = values.entry(var).or_default();
        if let Some(low) = low {
            let low = if integral { low.ceil() } else { low };
            if bounds.low.as_ref().is_none_or(|l| *l < low) {
                bounds.low = Some(low);
                *changed = true;
            }
        }
        if let Some(high) = high {
            let high = if integral { high.floor() } else { high };
            if bounds.high.as_ref().is_none_or(|h| *h > high) {
                bounds.high = Some(high);
                *changed = true;
            }
        }
        match (&bounds.low, &bounds.high) {
            (Some(low), Some(high)) => low <= high,
            _ => true,
        }
    }

    /// Bounds that the row implies for each of its variables.
    fn propagate(&self, values: &mut Box_, row: &Row, changed: &mut bool) -> bool {
        let linear = &row.linear;
        match row.relation {
            Relation::AtMost | Relation::Below => self.at_most(values, linear, changed),
            Relation::Equal => {
                self.at_most(values, linear, changed)
                    && self.at_most(values, &linear.scaled(&-Rational::one()), changed)
            }
            Relation::Differs => self.differs(values, linear, changed),
            Relation::Integral => self.integral(values, linear, changed),
        }
    }

    fn at_most(&self, values: &mut Box_, linear: &Linear, changed: &mut bool) -> bool {
        // The least value of the sum, and how many summands have none.
        let mut least = linear.constant.clone();
        let mut unbounded = 0;
        let mut open = None;
        for (var, coefficient) in &linear.monomials {
            match least_of(values, *var, coefficient) {
                Some(value) => least += value,
                None => {
                    unbounded += 1;
                    open = Some(*var);
                }
            }
        }
        match unbounded {
            0 if least.is_positive() => return false,
            0 => {}
            1 => {}
            _ => return true,
        }
        for (var, coefficient) in &linear.monomials {
            let rest = match (open, least_of(values, *var, coefficient)) {
                (Some(open), _) if open != *var => continue,
                (Some(_), _) => least.clone(),
                (None, Some(own)) => &least - own,
                (None, None) => continue,
            };
            // coefficient * var <= -rest
            let bound = -rest / coefficient;
            let consistent = if coefficient.is_positive() {
                self.restrict(values, *var, None, Some(bound), changed)
            } else {
                self.restrict(values, *var, Some(bound), None, changed)
            };
            if !consistent {
                return false;
            }
        }
        true
    }

    /// A value at the end of an integer interval that is excluded.
    fn differs(&self, values: &mut Box_, linear: &Linear, changed: &mut bool) -> bool {
        let mut free = None;
        let mut sum = linear.constant.clone();
        for (var, coefficient) in &linear.monomials {
            let point = values.get(var).and_then(|b| match (&b.low, &b.high) {
                (Some(l), Some(h)) if l == h => Some(l),
                _ => None,
            });
            match point {
                Some(value) => sum += coefficient * value,
                None if free.is_some() => return true,
                None => free = Some((*var, coefficient)),
            }
        }
        let Some((var, coefficient)) = free else {
            return !sum.is_zero();
        };
        let excluded = -sum / coefficient;
        if self.terms.sort_of(var) == SortId::REAL || !excluded.is_integer() {
            return true;
        }
        let bounds = values.get(&var).cloned().unwrap_or_default();
        let one = Rational::one();
        if bounds.low.as_ref() == Some(&excluded) {
            return self.restrict(values, var, Some(excluded + one), None, changed);
        }
        if bounds.high.as_ref() == Some(&excluded) {
            return self.restrict(values, var, None, Some(excluded - one), changed);
        }
        true
    }

    /// Bounds moved to the next members of a residue class.
    fn integral(&self, values: &mut Box_, linear: &Linear, changed: &mut bool) -> bool {
        let [(var, coefficient)] = &linear.monomials[..] else {
            return !linear.is_constant() || linear.constant.is_integer();
        };
        if self.terms.sort_of(*var) != SortId::INT {
            return true;
        }
        // (n x + c) / m is an integer: x ≡ -c / n (mod m), for n coprime to m.
        let modulus = coefficient.denom();
        let offset = &linear.constant * Rational::from_integer(modulus.clone());
        if !offset.is_integer() {
            return false;
        }
        let gcd = coefficient.numer().extended_gcd(modulus);
        if !gcd.gcd.is_one() {
            return true;
        }
        let residue = (-offset.to_integer() * gcd.x).mod_floor(modulus);
        let Some(bounds) = values.get(var).cloned() else {
            return true;
        };
        let up = |low: Rational| {
            let low = low.to_integer();
            let step: BigInt = (&residue - &low).mod_floor(modulus);
            Rational::from_integer(low + step)
        };
        let down = |high: Rational| {
            let high = high.to_integer();
            let step: BigInt = (&high - &residue).mod_floor(modulus);
            Rational::from_integer(high - step)
        };
        self.restrict(
            values,
            *var,
            bounds.low.map(up),
            bounds.high.map(down),
            changed,
        )
    }

    fn next_above(&self, value: &Rational) -> Option<Rational> {
        let at = self.thresholds.partition_point(|t| t < value);
        self.thresholds.get(at).cloned()
    }

    fn next_below(&self, value: &Rational) -> Option<Rational> {
        let at = self.thresholds.partition_point(|t| t <= value);
        at.checked_sub(1).map(|at| self.thresholds[at].clone())
    }

    /// Unsigned bounds of a bit-vector term from those of its variables.
    fn bits(&self, values: &Box_, term: TermId) -> (BigInt, BigInt) {
        let terms = &self.terms;
        let full: BigInt = (BigInt::one() << terms.width(term)) - 1;
        let own = |t: TermId| match terms.as_bitvec(t) {
            Some(value) => (BigInt::from(value.clone()), BigInt::from(value.clone())),
            None => {
                let full: BigInt = (BigInt::one() << terms.width(t)) - 1;
                let bounds = values.get(&t);
                let low = bounds.and_then(|b| b.low.as_ref()).map(|l| l.to_integer());
                let high = bounds.and_then(|b| b.high.as_ref()).map(|h| h.to_integer());
                (low.unwrap_or_default(), high.unwrap_or(full))
            }
        };
        let args = terms.args(term);
        let (low, high) = match terms.op(term) {
            Op::BvAdd => args
                .iter()
                .map(|&a| own(a))
                .fold((BigInt::zero(), BigInt::zero()), |(low, high), (l, h)| {
                    (low + l, high + h)
                }),
            Op::BvZeroExtend(_) => own(args[0]),
            Op::BvAnd => {
                let least = args.iter().map(|&a| own(a).1).min();
                (BigInt::zero(), least.unwrap_or_else(|| full.clone()))
            }
            Op::BvUrem => match own(args[1]) {
                (low, high) if low.is_positive() => (BigInt::zero(), high - 1),
                _ => (BigInt::zero(), full.clone()),
            },
            Op::BvUdiv => match (own(args[0]), own(args[1])) {
                ((l, h), (low, high)) if low.is_positive() => (l / high, h / low),
                _ => (BigInt::zero(), full.clone()),
            },
            _ => own(term),
        };
        if high > full {
            (BigInt::zero(), full)
        } else {
            (low, high)
        }
    }

    /// What a fact about bit-vectors says of bounds; false when it cannot hold.
    fn bit_fact(&self, values: &mut Box_, fact: &Fact, changed: &mut bool) -> bool {
        let terms = &self.terms;
        let is_bits = |t: TermId| matches!(terms.sort(terms.sort_of(t)), Sort::BitVec(_));
        let number = |value: BigInt| Some(Rational::from_integer(value));
        match *fact {
            Fact::Value(a, b) | Fact::Same(a, b) if is_bits(a) => {
                let (la, ha) = self.bits(values, a);
                let (lb, hb) = self.bits(values, b);
                let (low, high) = (la.max(lb), ha.min(hb));
                [a, b].into_iter().all(|t| {
                    terms.is_value(t) && low <= high
                        || self.restrict(
                            values,
                            t,
                            number(low.clone()),
                            number(high.clone()),
                            changed,
                        )
                })
            }
            Fact::Value(atom, value) if *terms.op(atom) == Op::BvUle => {
                let [a, b] = [0, 1].map(|i| terms.args(atom)[i]);
                // small <= large - gap
                let (small, large, gap) = if value == TermId::TRUE {
                    (a, b, BigInt::zero())
                } else {
                    (b, a, BigInt::one())
                };
                let most = self.bits(values, large).1 - &gap;
                let least = self.bits(values, small).0 + &gap;
                if self.bits(values, small).0 > most {
                    return false;
                }
                (terms.is_value(small) || self.restrict(values, small, None, number(most), changed))
                    && (terms.is_value(large)
                        || self.restrict(values, large, number(least), None, changed))
            }
            _ => true,
        }
    }
}

/// The least value of `coefficient * var`.
fn least_of(values: &Box_, var: TermId, coefficient: &Rational) -> Option<Rational> {
    let bounds = values.get(&var)?;
    let end = if coefficient.is_positive() {
        bounds.low.as_ref()
    } else {
        bounds.high.as_ref()
    };
    Some(coefficient * end?)
}

impl Domain for Intervals {
    type Element = Option<Box_>;

    fn top(&self) -> Self::Element {
        Some(Box_::new())
    }

    fn bottom(&self) -> Self::Element {
        None
    }

    fn is_bottom(&self, element: &Self::Element) -> bool {
        element.is_none()
    }

    fn transfer(
        &self,
        inputs: &[Self::Element],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Self::Element {
        let mut values = Box_::new();
        let mut changed = false;
        for input in inputs {
            for (&var, bounds) in input.as_ref()? {
                let (low, high) = (bounds.low.clone(), bounds.high.clone());
                if !self.restrict(&mut values, var, low, high, &mut changed) {
                    return None;
                }
            }
        }
        for _ in 0..ROUNDS {
            let mut changed = false;
            for fact in &cube.facts {
                let consistent = match fact {
                    Fact::Row(row) => self.propagate(&mut values, row, &mut changed),
                    other => self.bit_fact(&mut values, other, &mut changed),
                };
                if !consistent {
                    return None;
                }
            }
            if !changed {
                break;
            }
        }
        values.retain(|var, bounds| {
            (bounds.low.is_some() || bounds.high.is_some())
                && keep.map_or_else(|| self.terms.is_var(*var), |k| k.contains(var))
        });
        Some(values)
    }

    fn join(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        let (Some(x), Some(y)) = (a, b) else {
            return if a.is_none() { b.clone() } else { a.clone() };
        };
        let mut result = Box_::new();
        for (&var, p) in x {
            let Some(q) = y.get(&var) else { continue };
            let low = p.low.clone().zip(q.low.clone()).map(|(l, m)| l.min(m));
            let high = p.high.clone().zip(q.high.clone()).map(|(h, k)| h.max(k));
            if low.is_some() || high.is_some() {
                result.insert(var, Bounds { low, high });
            }
        }
        Some(result)
    }

    fn widen(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        let (Some(x), Some(y)) = (a, b) else {
            return if a.is_none() { b.clone() } else { a.clone() };
        };
        let mut result = Box_::new();
        for (&var, p) in x {
            let Some(q) = y.get(&var) else { continue };
            let low = match (&p.low, &q.low) {
                (Some(l), Some(m)) if m < l => self.next_below(m),
                (Some(l), Some(_)) => Some(l.clone()),
                _ => None,
            };
            let high = match (&p.high, &q.high) {
                (Some(h), Some(k)) if k > h => self.next_above(k),
                (Some(h), Some(_)) => Some(h.clone()),
                _ => None,
            };
            if low.is_some() || high.is_some() {
                result.insert(var, Bounds { low, high });
            }
        }
        Some(result)
    }

    fn narrow(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        let cube = Cube::default();
        self.transfer(&[a.clone(), b.clone()], &cube, None)
    }

    fn entails(&self, a: &Self::Element, b: &Self::Element) -> bool {
        let (x, y) = match (a, b) {
            (None, _) => return true,
            (_, None) => return false,
            (Some(x), Some(y)) => (x, y),
        };
        y.iter().all(|(var, q)| {
            let none = Bounds::default();
            let p = x.get(var).unwrap_or(&none);
            let above = |m: &Rational| p.low.as_ref().is_some_and(|l| l >= m);
            let below = |k: &Rational| p.high.as_ref().is_some_and(|h| h <= k);
            q.low.as_ref().is_none_or(above) && q.high.as_ref().is_none_or(below)
        })
    }

    fn rename(&self, element: &Self::Element, map: &FxHashMap<TermId, TermId>) -> Self::Element {
        let renamed = |v: &TermId| map.get(v).copied().unwrap_or(*v);
        let values = element.as_ref()?;
        Some(
            values
                .iter()
                .map(|(v, b)| (renamed(v), b.clone()))
                .collect(),
        )
    }

    fn facts(&self, element: &Self::Element) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (&var, bounds) in element.iter().flatten() {
            if self.terms.width(var) > 0 {
                continue;
            }
            let row = |factor: Rational, constant: Rational, relation| {
                let linear = Linear {
                    monomials: vec![(var, factor)],
                    constant,
                };
                Fact::row(linear, relation)
            };
            let one = Rational::one();
            match (&bounds.low, &bounds.high) {
                (Some(low), Some(high)) if low == high => {
                    facts.push(row(one, -low, Relation::Equal));
                }
                (low, high) => {
                    if let Some(low) = low {
                        facts.push(row(-one.clone(), low.clone(), Relation::AtMost));
                    }
                    if let Some(high) = high {
                        facts.push(row(one, -high, Relation::AtMost));
                    }
                }
            }
        }
        facts
    }

    fn formula(&self, element: &Self::Element) -> Vec<TermId> {
        let Some(values) = element else {
            return vec![TermId::FALSE];
        };
        let terms = &self.terms;
        let mut conjuncts: Vec<TermId> = self
            .facts(element)
            .iter()
            .filter_map(|fact| fact.formula(terms))
            .collect();
        for (&var, bounds) in values {
            let width = terms.width(var);
            if width == 0 {
                continue;
            }
            let number = |bound: &Rational| {
                let value = bound.to_integer().to_biguint().unwrap_or_default();
                terms.bitvec(value, width)
            };
            let rebuild = |args: [TermId; 2]| terms.rebuild(&Op::BvUle, &args, SortId::BOOL);
            if let Some(low) = bounds.low.as_ref().filter(|l| l.is_positive()) {
                conjuncts.push(rebuild([number(low), var]));
            }
            let full: BigInt = (BigInt::one() << width) - 1;
            if let Some(high) = bounds.high.as_ref().filter(|h| h.to_integer() < full) {
                conjuncts.push(rebuild([var, number(high)]));
            }
        }
        conjuncts
    }
}
