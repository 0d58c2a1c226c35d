//! Bounds of variables of sorts Int and Real.
//!
//! Invariant: no interval of an element is empty, and bounds of integers are integers.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cube::{Cube, Fact};
use super::nonempty::NonemptyDomain;
use alphorn_arith::{Constraint, Relation};
use alphorn_term::rational::{difference, product, quotient, sum};
use alphorn_term::{BigInt, Linear, Rational, SortId, TermId, TermStore};

/// Times that one row of a cube is processed; then its bounds are not improved further, since they
/// might change for ever.
const MAX_ROUNDS: usize = 4;

/// Intervals (Cousot and Cousot, ISOP 1976) with widening to thresholds.
pub struct Intervals {
    terms: Rc<TermStore>,
    /// The bounds to which widening goes first, ascending.
    thresholds: Vec<Rational>,
}

/// A closed interval; a missing bound is infinite.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// The lower bound.
    pub low: Option<Rational>,
    /// The upper bound.
    pub high: Option<Rational>,
}

impl Bounds {
    /// The bounds as facts about a variable.
    pub fn facts(&self, var: TermId) -> Vec<Fact> {
        let fact = |sign: &Rational, bound: &Rational, relation| {
            let mut linear = Linear::unit(var).scaled(sign);
            linear.constant = -product(sign, bound);
            Fact::linear(linear, relation)
        };
        let one = Rational::one();
        match (&self.low, &self.high) {
            (Some(low), Some(high)) if low == high => vec![fact(&one, low, Relation::Equal)],
            (low, high) => {
                let low = low.iter().map(|low| fact(&-&one, low, Relation::AtMost));
                let high = high.iter().map(|high| fact(&one, high, Relation::AtMost));
                low.chain(high).collect()
            }
        }
    }
}

type Ranges = BTreeMap<TermId, Bounds>;

impl Intervals {
    /// The domain over a store; widening goes to the next of these values first.
    pub fn new(terms: Rc<TermStore>, mut thresholds: Vec<Rational>) -> Self {
        thresholds.sort_unstable();
        thresholds.dedup();
        Intervals { terms, thresholds }
    }

    /// Restricts a variable to an interval; false if the result is empty. Adds the variable to
    /// `changed` if its bounds changed.
    fn restrict(
        &self,
        values: &mut Ranges,
        var: TermId,
        low: Option<Rational>,
        high: Option<Rational>,
        changed: &mut Vec<TermId>,
    ) -> bool {
        let integral = self.terms.sort_of(var) != SortId::REAL;
        let bounds = values.entry(var).or_default();
        if let Some(low) = low {
            let low = if integral { low.ceil() } else { low };
            if bounds.low.as_ref().is_none_or(|l| *l < low) {
                bounds.low = Some(low);
                changed.push(var);
            }
        }
        if let Some(high) = high {
            let high = if integral { high.floor() } else { high };
            if bounds.high.as_ref().is_none_or(|h| *h > high) {
                bounds.high = Some(high);
                changed.push(var);
            }
        }
        match (&bounds.low, &bounds.high) {
            (Some(low), Some(high)) => low <= high,
            _ => true,
        }
    }

    /// Restricts the variables of a row to the bounds that it implies; false for a contradiction.
    fn propagate(&self, values: &mut Ranges, row: &Constraint, changed: &mut Vec<TermId>) -> bool {
        let linear = &row.linear;
        match row.relation {
            Relation::AtMost | Relation::Below => self.at_most(values, linear, false, changed),
            Relation::Equal => {
                self.at_most(values, linear, false, changed)
                    && self.at_most(values, linear, true, changed)
            }
            Relation::Differs => self.differs(values, linear, changed),
            Relation::Integral => self.integral(values, linear, changed),
        }
    }

    /// Restricts variables to the bounds that `linear <= 0`, or its negation, implies.
    fn at_most(
        &self,
        values: &mut Ranges,
        linear: &Linear,
        negated: bool,
        changed: &mut Vec<TermId>,
    ) -> bool {
        // The least value of the sum, and the number of summands that have none.
        let mut least = if negated {
            -linear.constant.clone()
        } else {
            linear.constant.clone()
        };
        let mut open = None;
        let mut own = Vec::with_capacity(linear.monomials.len());
        for (var, coefficient) in &linear.monomials {
            let value = least_of(values, *var, coefficient, negated);
            match &value {
                Some(value) => least = sum(&least, value),
                None if open.is_some() => return true,
                None => open = Some(*var),
            }
            own.push(value);
        }
        if open.is_none() && least.is_positive() {
            return false;
        }
        for ((var, coefficient), own) in linear.monomials.iter().zip(own) {
            let rest = match (open, own) {
                (Some(open), _) if open != *var => continue,
                (Some(_), _) => least.clone(),
                (None, Some(own)) => difference(&least, &own),
                (None, None) => continue,
            };
            // `coefficient * var <= -rest`
            let above = coefficient.is_positive() != negated;
            let bound = quotient(&if negated { rest } else { -rest }, coefficient);
            let (low, high) = if above {
                (None, Some(bound))
            } else {
                (Some(bound), None)
            };
            if !self.restrict(values, *var, low, high, changed) {
                return false;
            }
        }
        true
    }

    /// Removes an excluded value at the end of an integer interval.
    fn differs(&self, values: &mut Ranges, linear: &Linear, changed: &mut Vec<TermId>) -> bool {
        let mut free = None;
        let mut total = linear.constant.clone();
        for (var, coefficient) in &linear.monomials {
            let point = values.get(var).and_then(|b| match (&b.low, &b.high) {
                (Some(l), Some(h)) if l == h => Some(l),
                _ => None,
            });
            match point {
                Some(value) => total = sum(&total, &product(coefficient, value)),
                None if free.is_some() => return true,
                None => free = Some((*var, coefficient)),
            }
        }
        let Some((var, coefficient)) = free else {
            return !total.is_zero();
        };
        let excluded = quotient(&-total, coefficient);
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

    /// Moves bounds to the next members of a residue class.
    fn integral(&self, values: &mut Ranges, linear: &Linear, changed: &mut Vec<TermId>) -> bool {
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
}

/// The least value of `coefficient * var`, or of its negation.
fn least_of(
    values: &Ranges,
    var: TermId,
    coefficient: &Rational,
    negated: bool,
) -> Option<Rational> {
    let bounds = values.get(&var)?;
    let end = if coefficient.is_positive() != negated {
        bounds.low.as_ref()
    } else {
        bounds.high.as_ref()
    };
    let value = product(coefficient, end?);
    Some(if negated { -value } else { value })
}

impl NonemptyDomain for Intervals {
    type Set = Ranges;

    fn terms(&self) -> &TermStore {
        &self.terms
    }

    fn all(&self) -> Self::Set {
        Ranges::new()
    }

    fn transfer(
        &self,
        inputs: &[&Self::Set],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Option<Self::Set> {
        let mut values = Ranges::new();
        let mut changed = Vec::new();
        for input in inputs {
            for (&var, bounds) in *input {
                let (low, high) = (bounds.low.clone(), bounds.high.clone());
                if !self.restrict(&mut values, var, low, high, &mut changed) {
                    return None;
                }
            }
        }
        // A row is processed again when one of its variables has a new bound.
        let rows: Vec<&Constraint> = cube.constraints().collect();
        let mut users: FxHashMap<TermId, Vec<usize>> = FxHashMap::default();
        for (at, row) in rows.iter().enumerate() {
            for (var, _) in &row.linear.monomials {
                users.entry(*var).or_default().push(at);
            }
        }
        let mut queue: VecDeque<usize> = (0..rows.len()).collect();
        let mut queued = vec![true; rows.len()];
        let mut visits = vec![0; rows.len()];
        while let Some(at) = queue.pop_front() {
            queued[at] = false;
            visits[at] += 1;
            changed.clear();
            if !self.propagate(&mut values, rows[at], &mut changed) {
                return None;
            }
            for &user in changed.iter().flat_map(|var| &users[var]) {
                if !queued[user] && visits[user] < MAX_ROUNDS {
                    queued[user] = true;
                    queue.push_back(user);
                }
            }
        }
        values.retain(|var, bounds| {
            (bounds.low.is_some() || bounds.high.is_some())
                && keep.map_or_else(|| self.terms.is_var(*var), |k| k.contains(var))
        });
        Some(values)
    }

    fn join(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        let mut result = Ranges::new();
        for (&var, p) in a {
            let Some(q) = b.get(&var) else { continue };
            let low = p.low.clone().zip(q.low.clone()).map(|(l, m)| l.min(m));
            let high = p.high.clone().zip(q.high.clone()).map(|(h, k)| h.max(k));
            if low.is_some() || high.is_some() {
                result.insert(var, Bounds { low, high });
            }
        }
        Some(result)
    }

    fn widen(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        let mut result = Ranges::new();
        for (&var, p) in a {
            let Some(q) = b.get(&var) else { continue };
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

    fn narrow(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        let cube = Cube::default();
        self.transfer(&[a, b], &cube, None)
    }

    fn entails(&self, a: &Self::Set, b: &Self::Set) -> bool {
        b.iter().all(|(var, q)| {
            let none = Bounds::default();
            let p = a.get(var).unwrap_or(&none);
            let above = |m: &Rational| p.low.as_ref().is_some_and(|l| l >= m);
            let below = |k: &Rational| p.high.as_ref().is_some_and(|h| h <= k);
            q.low.as_ref().is_none_or(above) && q.high.as_ref().is_none_or(below)
        })
    }

    fn rename(&self, set: &Self::Set, map: &FxHashMap<TermId, TermId>) -> Option<Self::Set> {
        let renamed = |v: &TermId| map.get(v).copied().unwrap_or(*v);
        Some(set.iter().map(|(v, b)| (renamed(v), b.clone())).collect())
    }

    fn facts(&self, set: &Self::Set) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (&var, bounds) in set {
            facts.extend(bounds.facts(var));
        }
        facts
    }
}
