//! Two domains side by side that tell each other what they know.
//!
//! Invariant: an element is bottom in both components or in none that knows.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Cube, Domain, Fact};
use crate::term::TermId;

/// The reduced product (Cousot and Cousot, POPL 1979), reduced by facts exchanged once before and
/// once after each transfer.
pub struct Product<A, B>(pub A, pub B);

impl<A: Domain, B: Domain> Product<A, B> {
    fn strict(&self, a: A::Element, b: B::Element) -> (A::Element, B::Element) {
        if self.0.is_bottom(&a) || self.1.is_bottom(&b) {
            self.bottom()
        } else {
            (a, b)
        }
    }
}

impl<A: Domain, B: Domain> Domain for Product<A, B> {
    type Element = (A::Element, B::Element);

    fn top(&self) -> Self::Element {
        (self.0.top(), self.1.top())
    }

    fn bottom(&self) -> Self::Element {
        (self.0.bottom(), self.1.bottom())
    }

    fn is_bottom(&self, element: &Self::Element) -> bool {
        self.0.is_bottom(&element.0) || self.1.is_bottom(&element.1)
    }

    fn transfer(
        &self,
        inputs: &[Self::Element],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Self::Element {
        let (left, right): (Vec<A::Element>, Vec<B::Element>) = inputs.iter().cloned().unzip();
        let mut known = cube.clone();
        for element in &right {
            known.facts.extend(self.1.facts(element));
        }
        let a = self.0.transfer(&left, &known, keep);
        if self.0.is_bottom(&a) {
            return self.bottom();
        }
        known.facts.truncate(cube.facts.len());
        for element in &left {
            known.facts.extend(self.0.facts(element));
        }
        known.facts.extend(self.0.facts(&a));
        let b = self.1.transfer(&right, &known, keep);
        let news = Cube {
            facts: self.1.facts(&b),
        };
        let a = self.0.transfer(&[a], &news, keep);
        self.strict(a, b)
    }

    fn join(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        if self.is_bottom(a) {
            return b.clone();
        }
        if self.is_bottom(b) {
            return a.clone();
        }
        (self.0.join(&a.0, &b.0), self.1.join(&a.1, &b.1))
    }

    fn widen(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        if self.is_bottom(a) {
            return b.clone();
        }
        if self.is_bottom(b) {
            return a.clone();
        }
        (self.0.widen(&a.0, &b.0), self.1.widen(&a.1, &b.1))
    }

    fn narrow(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        if self.is_bottom(b) {
            return self.bottom();
        }
        (self.0.narrow(&a.0, &b.0), self.1.narrow(&a.1, &b.1))
    }

    fn entails(&self, a: &Self::Element, b: &Self::Element) -> bool {
        self.is_bottom(a) || self.0.entails(&a.0, &b.0) && self.1.entails(&a.1, &b.1)
    }

    fn rename(&self, element: &Self::Element, map: &FxHashMap<TermId, TermId>) -> Self::Element {
        (
            self.0.rename(&element.0, map),
            self.1.rename(&element.1, map),
        )
    }

    fn facts(&self, element: &Self::Element) -> Vec<Fact> {
        let mut facts = self.0.facts(&element.0);
        facts.extend(self.1.facts(&element.1));
        facts
    }

    fn formula(&self, element: &Self::Element) -> Vec<TermId> {
        if self.is_bottom(element) {
            return vec![TermId::FALSE];
        }
        let mut conjuncts = self.0.formula(&element.0);
        conjuncts.extend(self.1.formula(&element.1));
        conjuncts
    }
}
