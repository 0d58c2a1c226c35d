//! One element for each valuation of the Boolean and other finite arguments.
//!
//! Guards split cases further: where some clauses ask for `x < 50` and others for its negation,
//! there is a case for each, so that the phases of a loop have invariants of their own.
//!
//! Invariant: the cases of an element have different keys, and their number is at most the limit;
//! an element that exceeded it once is `whole` and always has a single case. Keys may overlap where
//! a value is not known.

use std::collections::BTreeMap;
use std::rc::Rc;

use num_traits::{One, Signed};
use rustc_hash::{FxHashMap, FxHashSet};

use super::abstract_domain::Domain;
use super::cube::{Cube, Fact};
use alphorn_arith::{Relation, is_integral};
use alphorn_chc::{Clause, PredicateId, System};
use alphorn_term::{Linear, Rational, Sort, SortId, TermId, TermStore};

/// Bounded disjunctive completion of a domain, by the values of finite variables in its elements.
pub struct Cases<D> {
    domain: D,
    terms: Rc<TermStore>,
    limit: usize,
    /// The guards by their first variable.
    guards: FxHashMap<TermId, Vec<Guard>>,
}

/// A condition on formal variables that splits cases.
#[derive(Clone, Debug)]
pub struct Guard {
    vars: Vec<TermId>,
    formula: TermId,
    holds: Cube,
    fails: Cube,
}

impl Guard {
    /// The condition over formal variables.
    pub fn formula(&self) -> TermId {
        self.formula
    }
}

/// Conditions that split the cases of one predicate; further ones are left out.
const MAX_GUARDS: usize = 3;

/// Values of finite variables, by variable.
type Key = Vec<(TermId, TermId)>;

/// A disjunction of cases.
#[derive(Clone, Debug)]
pub struct Split<E> {
    cases: BTreeMap<Key, E>,
    whole: bool,
}

impl<D: Domain> Cases<D> {
    /// The domain with at most `limit` cases.
    pub fn new(domain: D, terms: Rc<TermStore>, limit: usize) -> Self {
        Cases {
            domain,
            terms,
            limit,
            guards: FxHashMap::default(),
        }
    }

    /// The domain with cases for conditions on formal variables, see [`guards`].
    pub fn split(mut self, guards: Vec<Guard>) -> Self {
        for guard in guards {
            if let Some(&first) = guard.vars.first() {
                self.guards.entry(first).or_default().push(guard);
            }
        }
        self
    }

    /// The parts of an element over formal variables on both sides of their guards, with the values
    /// of the guards.
    fn sides(&self, element: D::Element, params: &[TermId]) -> Vec<(Key, D::Element)> {
        let mut parts = vec![(Key::new(), element)];
        let guards = params.iter().filter_map(|p| self.guards.get(p));
        for guard in guards.flatten() {
            let mut next = Vec::with_capacity(2 * parts.len());
            for (key, part) in parts {
                for (cube, value) in [(&guard.holds, TermId::TRUE), (&guard.fails, TermId::FALSE)] {
                    let side = self.domain.guard(&part, cube);
                    if !self.domain.is_bottom(&side) {
                        let mut key = key.clone();
                        key.push((guard.formula, value));
                        next.push((key, side));
                    }
                }
            }
            parts = next;
        }
        parts
    }

    /// All combinations of the inputs' cases, or of their hulls if these are too many.
    fn combinations(&self, inputs: &[Split<D::Element>]) -> Vec<Vec<D::Element>> {
        let count = inputs
            .iter()
            .try_fold(1usize, |n, i| n.checked_mul(i.cases.len()))
            .filter(|&n| n <= 4 * self.limit);
        let mut combinations: Vec<Vec<D::Element>> = vec![Vec::new()];
        for input in inputs {
            let choices: Vec<D::Element> = match count {
                Some(_) => input.cases.values().cloned().collect(),
                None => self.hull(input).into_iter().collect(),
            };
            let mut next = Vec::with_capacity(combinations.len() * choices.len());
            for combination in &combinations {
                for choice in &choices {
                    let mut longer = combination.clone();
                    longer.push(choice.clone());
                    next.push(longer);
                }
            }
            combinations = next;
        }
        combinations
    }

    fn key(&self, element: &D::Element) -> Key {
        let finite = |var: TermId| {
            let sort = self.terms.sort_of(var);
            let small = |size: u64| size <= self.limit as u64;
            sort == SortId::BOOL
                || matches!(self.terms.sort(sort), Sort::Datatype(_))
                    && self.terms.domain_size(sort).is_some_and(small)
        };
        let mut key: Key = self
            .domain
            .facts(element)
            .into_iter()
            .filter_map(|fact| match fact {
                Fact::Value(var, value) if finite(var) => Some((var, value)),
                _ => None,
            })
            .collect();
        key.sort_unstable();
        key.dedup();
        key
    }

    /// The element of these cases, each under its key.
    fn collect(&self, elements: Vec<D::Element>, whole: bool) -> Split<D::Element> {
        let mut cases: BTreeMap<Key, D::Element> = BTreeMap::new();
        for element in elements {
            if self.domain.is_bottom(&element) {
                continue;
            }
            let key = if whole {
                Key::new()
            } else {
                self.key(&element)
            };
            self.insert(&mut cases, key, element);
        }
        self.bounded(Split { cases, whole })
    }

    fn insert(&self, cases: &mut BTreeMap<Key, D::Element>, key: Key, element: D::Element) {
        match cases.get_mut(&key) {
            Some(other) => *other = self.domain.join(other, &element),
            None => {
                cases.insert(key, element);
            }
        }
    }

    fn bounded(&self, split: Split<D::Element>) -> Split<D::Element> {
        if split.cases.len() <= self.limit && !(split.whole && split.cases.len() > 1) {
            return split;
        }
        let mut cases = BTreeMap::new();
        if let Some(all) = self.hull(&split) {
            cases.insert(Key::new(), all);
        }
        Split { cases, whole: true }
    }

    fn hull(&self, split: &Split<D::Element>) -> Option<D::Element> {
        let mut elements = split.cases.values();
        let first = elements.next()?.clone();
        Some(elements.fold(first, |all, e| self.domain.join(&all, e)))
    }

    fn combine(
        &self,
        a: &Split<D::Element>,
        b: &Split<D::Element>,
        both: impl Fn(&D::Element, &D::Element) -> D::Element,
    ) -> Split<D::Element> {
        let whole = a.whole || b.whole;
        let gather = |split: &Split<D::Element>| match self.hull(split) {
            Some(all) if whole => BTreeMap::from([(Key::new(), all)]),
            _ => split.cases.clone(),
        };
        let mut cases = gather(a);
        for (key, element) in gather(b) {
            match cases.get_mut(&key) {
                Some(other) => *other = both(other, &element),
                None => {
                    cases.insert(key, element);
                }
            }
        }
        self.bounded(Split { cases, whole })
    }
}

impl<D: Domain> Domain for Cases<D> {
    type Element = Split<D::Element>;

    fn top(&self) -> Self::Element {
        self.collect(vec![self.domain.top()], false)
    }

    fn bottom(&self) -> Self::Element {
        self.collect(Vec::new(), false)
    }

    fn is_bottom(&self, element: &Self::Element) -> bool {
        element.cases.is_empty()
    }

    fn transfer(
        &self,
        inputs: &[Self::Element],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Self::Element {
        let combinations = self.combinations(inputs);
        let images = combinations.iter();
        let images = images.map(|c| self.domain.transfer(c, cube, keep));
        self.collect(images.collect(), false)
    }

    fn images(
        &self,
        system: &System,
        clause: &Clause,
        cubes: &[Cube],
        bodies: &[Self::Element],
    ) -> Vec<Self::Element> {
        let head = clause.head.as_ref();
        let args = head.map_or(&[][..], |head| &head.args);
        let keep: FxHashSet<TermId> = args.iter().copied().collect();
        let params = head.map_or(&[][..], |head| &system.predicate(head.predicate).params);
        let map: FxHashMap<TermId, TermId> =
            args.iter().copied().zip(params.iter().copied()).collect();
        let mut inputs = Vec::with_capacity(bodies.len());
        for (atom, split) in clause.body.iter().zip(bodies) {
            let params = &system.predicate(atom.predicate).params;
            let map: FxHashMap<TermId, TermId> = params
                .iter()
                .copied()
                .zip(atom.args.iter().copied())
                .collect();
            let cases = split.cases.iter();
            // The keys only distinguish cases here.
            let cases = cases.map(|(k, e)| (k.clone(), self.domain.rename(e, &map)));
            inputs.push(Split {
                cases: cases.collect(),
                whole: split.whole,
            });
        }
        let combinations = self.combinations(&inputs);
        let mut images = Vec::with_capacity(cubes.len());
        for cube in cubes {
            let mut cases = BTreeMap::new();
            for combination in &combinations {
                let image = self.domain.transfer(combination, cube, Some(&keep));
                if self.domain.is_bottom(&image) {
                    continue;
                }
                // Each image is split by itself, since a join would lose the values that
                // distinguish the parts.
                for (sides, part) in self.sides(self.domain.rename(&image, &map), params) {
                    let mut key = self.key(&part);
                    key.extend(sides);
                    self.insert(&mut cases, key, part);
                }
            }
            if !cases.is_empty() {
                images.push(self.bounded(Split {
                    cases,
                    whole: false,
                }));
            }
        }
        images
    }

    fn join(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        self.combine(a, b, |x, y| self.domain.join(x, y))
    }

    fn widen(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        self.combine(a, b, |x, y| self.domain.widen(x, y))
    }

    fn narrow(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        let mut cases = BTreeMap::new();
        for (key, element) in &b.cases {
            let narrowed = match a.cases.get(key) {
                Some(old) => self.domain.narrow(old, element),
                None => element.clone(),
            };
            if !self.domain.is_bottom(&narrowed) {
                cases.insert(key.clone(), narrowed);
            }
        }
        self.bounded(Split {
            cases,
            whole: a.whole || b.whole,
        })
    }

    fn entails(&self, a: &Self::Element, b: &Self::Element) -> bool {
        a.cases.values().all(|x| {
            let covers = |y: &D::Element| self.domain.entails(x, y);
            b.cases.values().any(covers)
        })
    }

    fn rename(&self, element: &Self::Element, map: &FxHashMap<TermId, TermId>) -> Self::Element {
        let cases = element.cases.values();
        let renamed = cases.map(|e| self.domain.rename(e, map));
        self.collect(renamed.collect(), element.whole)
    }

    fn facts(&self, element: &Self::Element) -> Vec<Fact> {
        self.hull(element)
            .map_or_else(Vec::new, |all| self.domain.facts(&all))
    }

    fn formula(&self, element: &Self::Element) -> Vec<TermId> {
        let Some(all) = self.hull(element) else {
            return vec![TermId::FALSE];
        };
        let mut conjuncts = self.domain.formula(&all);
        if element.cases.len() < 2 {
            return conjuncts;
        }
        let terms = &self.terms;
        let common: FxHashSet<TermId> = conjuncts.iter().copied().collect();
        let key_of = |key: &Key| {
            let values: Vec<TermId> = key.iter().map(|(v, x)| terms.eq(*v, *x)).collect();
            terms.and(&values)
        };
        let keys: Vec<TermId> = element.cases.keys().map(key_of).collect();
        conjuncts.push(terms.or(&keys));
        let formulas: Vec<Vec<TermId>> = element
            .cases
            .values()
            .map(|c| self.domain.formula(c))
            .collect();
        for (at, (key, &condition)) in element.cases.keys().zip(&keys).enumerate() {
            // A case holds under its key, except where another case overlaps.
            let mut unless = vec![terms.not(condition)];
            for (other, there) in element.cases.keys().enumerate() {
                if other != at && !disjoint(key, there) {
                    let all = [terms.and(&formulas[other]), keys[other]];
                    unless.push(terms.and(&all));
                }
            }
            let unless = terms.or(&unless);
            for &conjunct in &formulas[at] {
                let in_key = key.iter().any(|(v, x)| terms.eq(*v, *x) == conjunct);
                if !in_key && !common.contains(&conjunct) {
                    conjuncts.push(terms.or(&[unless, conjunct]));
                }
            }
        }
        conjuncts.retain(|c| *c != TermId::TRUE);
        conjuncts
    }
}

/// Whether the keys give a variable different values.
fn disjoint(a: &Key, b: &Key) -> bool {
    a.iter()
        .any(|(v, x)| b.iter().any(|(w, y)| v == w && x != y))
}

/// Conditions on one or two integer variables that the constraint of some clause implies about a
/// predicate's arguments and that another clause, or another cube, denies; for each predicate those
/// that occur most often. Only over integers, where the negation of a bound is a bound.
pub fn guards(system: &System, cubes: &[Vec<Cube>]) -> Vec<Guard> {
    let terms = &system.terms;
    // By predicate and bound with a positive first coefficient: how often it is implied, and how
    // often denied.
    type Counts = BTreeMap<(Vec<(TermId, Rational)>, Rational), [usize; 2]>;
    let mut asked: FxHashMap<PredicateId, Counts> = FxHashMap::default();
    for (clause, cubes) in system.clauses.iter().zip(cubes) {
        for atom in clause.atoms() {
            let params = &system.predicate(atom.predicate).params;
            let formal: FxHashMap<TermId, TermId> = atom
                .args
                .iter()
                .copied()
                .zip(params.iter().copied())
                .collect();
            for row in cubes.iter().flat_map(Cube::constraints) {
                let monomials = &row.linear.monomials;
                if row.relation != Relation::AtMost
                    || !(1..=2).contains(&monomials.len())
                    || monomials.iter().any(|m| !formal.contains_key(&m.0))
                {
                    continue;
                }
                let mut linear = row.linear.mapped(|v| formal[&v]).coprime();
                linear.constant = linear.constant.ceil();
                if !is_integral(terms, &linear) {
                    continue;
                }
                let denied = linear.monomials[0].1.is_negative();
                if denied {
                    linear = opposite(&linear);
                }
                let counts = asked.entry(atom.predicate).or_default();
                let key = (linear.monomials, linear.constant);
                counts.entry(key).or_default()[usize::from(denied)] += 1;
            }
        }
    }
    let mut result = Vec::new();
    for predicate in system.used_predicates() {
        let Some(counts) = asked.remove(&predicate) else {
            continue;
        };
        for (monomials, constant) in most_asked(counts) {
            let vars = monomials.iter().map(|m| m.0).collect();
            let linear = Linear {
                monomials,
                constant,
            };
            let cube = |linear: Linear| Cube {
                facts: vec![Fact::linear(linear, Relation::AtMost)],
            };
            let (holds, fails) = (cube(linear.clone()), cube(opposite(&linear)));
            let formula = holds.facts[0].formula(terms);
            result.extend(formula.map(|formula| Guard {
                vars,
                formula,
                holds,
                fails,
            }));
        }
    }
    result
}

/// Conditions that are both implied and denied, most frequent first.
fn most_asked<K: Ord>(counts: BTreeMap<K, [usize; 2]>) -> impl Iterator<Item = K> {
    let mut best: Vec<(K, [usize; 2])> = (counts.into_iter())
        .filter(|(_, [yes, no])| *yes > 0 && *no > 0)
        .collect();
    best.sort_by_key(|(_, counts)| std::cmp::Reverse(counts[0].min(counts[1])));
    best.truncate(MAX_GUARDS);
    best.into_iter().map(|b| b.0)
}

/// `-linear + 1 <= 0`, the negation of `linear <= 0` over integers.
fn opposite(linear: &Linear) -> Linear {
    let mut result = linear.negated();
    result.constant += Rational::one();
    result
}
