//! Adds the empty element to domains whose own representation has none.
//!
//! Invariant: no operation of a [`NonemptyDomain`] gets an empty set, unless the domain itself
//! returned it without noticing that it is empty.

use std::fmt::Debug;

use rustc_hash::{FxHashMap, FxHashSet};

use super::abstract_domain::Domain;
use super::cube::{Cube, Fact};
use alphorn_term::{TermId, TermStore};

/// A domain of non-empty sets. With `None` for the empty set it is a [`Domain`]; methods have the
/// contracts of those of the same name there.
pub trait NonemptyDomain {
    /// A non-empty set of assignments.
    type Set: Clone + Debug + 'static;

    /// The store of formulas.
    fn terms(&self) -> &TermStore;

    /// The set of all assignments.
    fn all(&self) -> Self::Set;

    /// See [`Domain::transfer`]; `None` for the empty set.
    fn transfer(
        &self,
        inputs: &[&Self::Set],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Option<Self::Set>;

    /// See [`Domain::join`].
    fn join(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set>;

    /// See [`Domain::widen`].
    fn widen(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set>;

    /// See [`Domain::narrow`].
    fn narrow(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        let _ = a;
        Some(b.clone())
    }

    /// See [`Domain::entails`].
    fn entails(&self, a: &Self::Set, b: &Self::Set) -> bool;

    /// See [`Domain::rename`].
    fn rename(&self, set: &Self::Set, map: &FxHashMap<TermId, TermId>) -> Option<Self::Set>;

    /// See [`Domain::facts`].
    fn facts(&self, set: &Self::Set) -> Vec<Fact>;

    /// See [`Domain::listens`].
    fn listens(&self) -> bool {
        true
    }

    /// See [`Domain::formula`]; by default the conjunction of the facts.
    fn formula(&self, set: &Self::Set) -> Vec<TermId> {
        let facts = self.facts(set);
        let formulas = facts.iter().filter_map(|f| f.formula(self.terms()));
        formulas.collect()
    }
}

impl<D: NonemptyDomain> Domain for D {
    type Element = Option<D::Set>;

    fn top(&self) -> Self::Element {
        Some(self.all())
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
        let inputs: Vec<&D::Set> = inputs.iter().map(Option::as_ref).collect::<Option<_>>()?;
        NonemptyDomain::transfer(self, &inputs, cube, keep)
    }

    fn join(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        match (a, b) {
            (Some(a), Some(b)) => NonemptyDomain::join(self, a, b),
            (a, b) => a.clone().or_else(|| b.clone()),
        }
    }

    fn widen(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        match (a, b) {
            (Some(a), Some(b)) => NonemptyDomain::widen(self, a, b),
            (a, b) => a.clone().or_else(|| b.clone()),
        }
    }

    fn narrow(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        NonemptyDomain::narrow(self, a.as_ref()?, b.as_ref()?)
    }

    fn entails(&self, a: &Self::Element, b: &Self::Element) -> bool {
        match (a, b) {
            (None, _) => true,
            (_, None) => false,
            (Some(a), Some(b)) => NonemptyDomain::entails(self, a, b),
        }
    }

    fn rename(&self, element: &Self::Element, map: &FxHashMap<TermId, TermId>) -> Self::Element {
        NonemptyDomain::rename(self, element.as_ref()?, map)
    }

    fn facts(&self, element: &Self::Element) -> Vec<Fact> {
        let facts = |set| NonemptyDomain::facts(self, set);
        element.as_ref().map_or_else(Vec::new, facts)
    }

    fn listens(&self) -> bool {
        NonemptyDomain::listens(self)
    }

    fn formula(&self, element: &Self::Element) -> Vec<TermId> {
        match element {
            None => vec![TermId::FALSE],
            Some(set) => NonemptyDomain::formula(self, set),
        }
    }
}
