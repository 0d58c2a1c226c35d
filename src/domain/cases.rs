//! A case for each valuation of the Boolean and finite arguments, each with an element of its own.
//!
//! Invariant: the cases of an element have different keys, at most as many as the limit; an element
//! that had more once is `whole` and keeps a single case for ever.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Cube, Domain, Fact};
use crate::term::{Sort, SortId, TermId, TermStore};

/// Disjunctive completion of a domain, bounded, by what its elements say of finite variables.
pub struct Cases<D> {
    domain: D,
    terms: Rc<TermStore>,
    limit: usize,
}

/// Values of finite variables, by variable.
type Key = Vec<(TermId, TermId)>;

/// A disjunction of cases.
#[derive(Clone, Debug)]
pub struct Split<E> {
    cases: BTreeMap<Key, E>,
    whole: bool,
}

impl<D: Domain> Cases<D> {
    /// The domain of at most `limit` cases.
    pub fn new(domain: D, terms: Rc<TermStore>, limit: usize) -> Self {
        Cases {
            domain,
            terms,
            limit,
        }
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

    /// The element of these cases, each put where its key says.
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
        // All combinations of the inputs' cases, or of their hulls when these are too many.
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
        let images = combinations.iter();
        let images = images.map(|c| self.domain.transfer(c, cube, keep));
        self.collect(images.collect(), false)
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
        for ((key, case), &condition) in element.cases.iter().zip(&keys) {
            let negated = terms.not(condition);
            for conjunct in self.domain.formula(case) {
                let in_key = key.iter().any(|(v, x)| terms.eq(*v, *x) == conjunct);
                if !in_key && !common.contains(&conjunct) {
                    conjuncts.push(terms.or(&[negated, conjunct]));
                }
            }
        }
        conjuncts.retain(|c| *c != TermId::TRUE);
        conjuncts
    }
}
