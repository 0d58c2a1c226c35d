//! Two domains side by side that exchange facts.
//!
//! Invariant: if a transfer finds one component to be bottom, its result is bottom in both.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use super::abstract_domain::Domain;
use super::cube::{Cube, Fact};
use alphorn_arith::Relation;
use alphorn_term::TermId;

/// The reduced product (Cousot and Cousot, POPL 1979), reduced by facts that are exchanged once
/// before and once after each transfer.
pub struct Product<A, B> {
    first: A,
    second: B,
    /// Whether the second domain gets the facts of the first about variables that are not kept.
    early: bool,
}

impl<A: Domain, B: Domain> Product<A, B> {
    /// Both domains eliminate variables before they exchange facts.
    pub fn new(first: A, second: B) -> Self {
        Product {
            first,
            second,
            early: false,
        }
    }

    /// The first domain runs first, and shows which variables have a single value before any is
    /// eliminated.
    pub fn early(first: A, second: B) -> Self {
        Product {
            first,
            second,
            early: true,
        }
    }

    fn strict(&self, a: A::Element, b: B::Element) -> (A::Element, B::Element) {
        if self.first.is_bottom(&a) || self.second.is_bottom(&b) {
            self.bottom()
        } else {
            (a, b)
        }
    }
}

impl<A: Domain, B: Domain> Domain for Product<A, B> {
    type Element = (A::Element, B::Element);

    fn top(&self) -> Self::Element {
        (self.first.top(), self.second.top())
    }

    fn bottom(&self) -> Self::Element {
        (self.first.bottom(), self.second.bottom())
    }

    fn is_bottom(&self, element: &Self::Element) -> bool {
        self.first.is_bottom(&element.0) || self.second.is_bottom(&element.1)
    }

    fn transfer(
        &self,
        inputs: &[Self::Element],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Self::Element {
        let (left, right): (Vec<A::Element>, Vec<B::Element>) = inputs.iter().cloned().unzip();
        let with_facts = |facts: Vec<Fact>| {
            let mut known = cube.clone();
            known.facts.extend(facts);
            known
        };
        let known = if self.first.listens() {
            let facts = right.iter().flat_map(|e| self.second.facts(e));
            Cow::Owned(with_facts(facts.collect()))
        } else {
            Cow::Borrowed(cube)
        };
        let a = self
            .first
            .transfer(&left, &known, if self.early { None } else { keep });
        if self.first.is_bottom(&a) {
            return self.bottom();
        }
        let known = if self.second.listens() {
            let mut found = self.first.facts(&a);
            if self.early {
                found.retain(|f| match f {
                    Fact::Linear(row) => row.relation == Relation::Equal,
                    _ => true,
                });
            }
            found.extend(left.iter().flat_map(|e| self.first.facts(e)));
            Cow::Owned(with_facts(found))
        } else {
            Cow::Borrowed(cube)
        };
        let b = self.second.transfer(&right, &known, keep);
        let a = if self.early || self.first.listens() {
            let found = Cube {
                facts: self.second.facts(&b),
            };
            self.first.transfer(&[a], &found, keep)
        } else {
            a
        };
        self.strict(a, b)
    }

    fn join(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        if self.is_bottom(a) {
            return b.clone();
        }
        if self.is_bottom(b) {
            return a.clone();
        }
        (self.first.join(&a.0, &b.0), self.second.join(&a.1, &b.1))
    }

    fn widen(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        if self.is_bottom(a) {
            return b.clone();
        }
        if self.is_bottom(b) {
            return a.clone();
        }
        (self.first.widen(&a.0, &b.0), self.second.widen(&a.1, &b.1))
    }

    fn narrow(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        if self.is_bottom(b) {
            return self.bottom();
        }
        (
            self.first.narrow(&a.0, &b.0),
            self.second.narrow(&a.1, &b.1),
        )
    }

    fn entails(&self, a: &Self::Element, b: &Self::Element) -> bool {
        self.is_bottom(a) || self.first.entails(&a.0, &b.0) && self.second.entails(&a.1, &b.1)
    }

    fn rename(&self, element: &Self::Element, map: &FxHashMap<TermId, TermId>) -> Self::Element {
        (
            self.first.rename(&element.0, map),
            self.second.rename(&element.1, map),
        )
    }

    fn listens(&self) -> bool {
        self.first.listens() || self.second.listens()
    }

    fn facts(&self, element: &Self::Element) -> Vec<Fact> {
        let mut facts = self.first.facts(&element.0);
        facts.extend(self.second.facts(&element.1));
        facts
    }

    fn formula(&self, element: &Self::Element) -> Vec<TermId> {
        if self.is_bottom(element) {
            return vec![TermId::FALSE];
        }
        let mut conjuncts = self.first.formula(&element.0);
        conjuncts.extend(self.second.formula(&element.1));
        conjuncts
    }
}
