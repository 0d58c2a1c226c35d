//! What an abstract domain can do.
//!
//! Invariant: every operation over-approximates.

use std::fmt::Debug;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cube::{Cube, Fact, cubes};
use alphorn_chc::{Clause, System};
use alphorn_term::{TermId, TermStore};

/// An abstract domain (Cousot and Cousot, POPL 1977).
pub trait Domain {
    /// A set of assignments.
    type Element: Clone + Debug + 'static;

    /// All assignments.
    fn top(&self) -> Self::Element;

    /// No assignment.
    fn bottom(&self) -> Self::Element;

    /// Whether the element is known to be empty.
    fn is_bottom(&self, element: &Self::Element) -> bool;

    /// What holds of the variables in `keep` (of all, for `None`) in every assignment that is in
    /// all `inputs` and satisfies `cube`: meet, guard and projection in one, because a domain may
    /// then choose the order in which it eliminates.
    fn transfer(
        &self,
        inputs: &[Self::Element],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Self::Element;

    /// An upper bound of both.
    fn join(&self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// An upper bound of both such that no chain of widenings ascends for ever.
    fn widen(&self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// Something between `b` and `a`, which is above it.
    fn narrow(&self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// Whether `a` is known to be a subset of `b`.
    fn entails(&self, a: &Self::Element, b: &Self::Element) -> bool;

    /// The element with each variable replaced; the map is injective.
    fn rename(&self, element: &Self::Element, map: &FxHashMap<TermId, TermId>) -> Self::Element;

    /// A conjunction of facts that holds in the element, for other domains. Nothing for bottom.
    fn facts(&self, element: &Self::Element) -> Vec<Fact>;

    /// Whether facts of other domains are of use.
    fn listens(&self) -> bool {
        true
    }

    /// The element as a conjunction of formulas, `false` for bottom.
    fn formula(&self, element: &Self::Element) -> Vec<TermId>;

    /// Something between `a` without `b`, and `a`.
    fn minus(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        let _ = b;
        a.clone()
    }

    /// Something above the element that says less of how variables go together, so that few more
    /// elements are not in it.
    fn coarsened(&self, element: &Self::Element) -> Self::Element {
        element.clone()
    }

    /// Something above the element that has no disjunctions.
    fn hull(&self, element: &Self::Element) -> Self::Element {
        element.clone()
    }

    /// Whether joins and differences are exact, up to a limit of size.
    fn is_disjunctive(&self) -> bool {
        false
    }

    /// What of the element satisfies a formula over its variables, which is taken apart into at
    /// most `limit` cubes; and whether it is known that nothing else is in it.
    fn abstracted(
        &self,
        terms: &TermStore,
        element: &Self::Element,
        formula: TermId,
        limit: usize,
    ) -> (Self::Element, bool) {
        if formula == TermId::TRUE {
            return (element.clone(), true);
        }
        let parts = cubes(terms, formula, limit);
        let parts = parts.iter().map(|cube| self.guard(element, cube));
        let all = parts.reduce(|a, b| self.join(&a, &b));
        (all.unwrap_or_else(|| self.bottom()), false)
    }

    /// What is in both.
    fn meet(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        self.transfer(&[a.clone(), b.clone()], &Cube::default(), None)
    }

    /// What satisfies the cube.
    fn guard(&self, element: &Self::Element, cube: &Cube) -> Self::Element {
        self.transfer(std::slice::from_ref(element), cube, None)
    }

    /// What a clause derives about its head, over the head's formal variables, when its body atoms
    /// are as described (over their formal variables) and its constraint implies the disjunction of
    /// the cubes. For a query: bottom, or not.
    fn post(
        &self,
        system: &System,
        clause: &Clause,
        cubes: &[Cube],
        bodies: &[Self::Element],
    ) -> Self::Element {
        let images = self.images(system, clause, cubes, bodies);
        let images = images.into_iter();
        images
            .reduce(|a, b| self.join(&a, &b))
            .unwrap_or_else(|| self.bottom())
    }

    /// Like [`Domain::post`], one element for each cube that gives one.
    fn images(
        &self,
        system: &System,
        clause: &Clause,
        cubes: &[Cube],
        bodies: &[Self::Element],
    ) -> Vec<Self::Element> {
        let mut inputs = Vec::with_capacity(bodies.len());
        for (atom, element) in clause.body.iter().zip(bodies) {
            if self.is_bottom(element) {
                return Vec::new();
            }
            let params = &system.predicate(atom.predicate).params;
            let map = params.iter().copied().zip(atom.args.iter().copied());
            inputs.push(self.rename(element, &map.collect()));
        }
        let head = clause.head.as_ref();
        let args = head.map_or(&[][..], |head| &head.args);
        let keep: FxHashSet<TermId> = args.iter().copied().collect();
        let params = head.map_or(&[][..], |head| &system.predicate(head.predicate).params);
        let map = args.iter().copied().zip(params.iter().copied()).collect();
        let mut images = Vec::with_capacity(cubes.len());
        for cube in cubes {
            let image = self.transfer(&inputs, cube, Some(&keep));
            if !self.is_bottom(&image) {
                images.push(self.rename(&image, &map));
            }
        }
        images
    }
}
