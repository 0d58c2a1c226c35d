//! The trait of abstract domains.
//!
//! Invariant: every operation over-approximates.

use std::fmt::Debug;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cube::{Cube, Fact, cubes};
use alphorn_chc::{Clause, System};
use alphorn_term::{TermId, TermStore};

/// An abstract domain (Cousot and Cousot, POPL 1977). The set that an element stands for is a set
/// of assignments to variables.
pub trait Domain {
    /// An element.
    type Element: Clone + Debug + 'static;

    /// The element of all assignments.
    fn top(&self) -> Self::Element;

    /// The element of no assignment.
    fn bottom(&self) -> Self::Element;

    /// Whether the element is known to be empty.
    fn is_bottom(&self, element: &Self::Element) -> bool;

    /// The projection onto the variables in `keep` (onto all, for `None`) of the assignments that
    /// are in all `inputs` and satisfy `cube`. Meet, guard and projection are one operation so that
    /// a domain can choose the order in which it eliminates variables.
    fn transfer(
        &self,
        inputs: &[Self::Element],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Self::Element;

    /// An upper bound of both.
    fn join(&self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// An upper bound of both that makes every ascending chain finite.
    fn widen(&self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// An element between `b` and `a`, where `a` is above `b`.
    fn narrow(&self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// Whether `a` is known to be a subset of `b`.
    fn entails(&self, a: &Self::Element, b: &Self::Element) -> bool;

    /// The element with each variable replaced; the map is injective.
    fn rename(&self, element: &Self::Element, map: &FxHashMap<TermId, TermId>) -> Self::Element;

    /// Facts that hold in the element, for other domains. Empty for bottom.
    fn facts(&self, element: &Self::Element) -> Vec<Fact>;

    /// Whether facts of other domains can improve the elements.
    fn listens(&self) -> bool {
        true
    }

    /// The element as a conjunction of formulas; `false` for bottom.
    fn formula(&self, element: &Self::Element) -> Vec<TermId>;

    /// An element that contains the assignments of `a` that are not in `b`, and is contained in
    /// `a`.
    fn minus(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        let _ = b;
        a.clone()
    }

    /// An element above the given one that has fewer relations between variables, so that few
    /// further elements leave it.
    fn coarsened(&self, element: &Self::Element) -> Self::Element {
        element.clone()
    }

    /// An element above the given one that has no disjunctions.
    fn hull(&self, element: &Self::Element) -> Self::Element {
        element.clone()
    }

    /// Whether joins and differences are exact, up to a limit of size.
    fn is_disjunctive(&self) -> bool {
        false
    }

    /// An element that contains the assignments of the given one that satisfy a formula over its
    /// variables, which is split into at most `limit` cubes; and whether it is known to contain no
    /// others.
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

    /// The assignments in both.
    fn meet(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        self.transfer(&[a.clone(), b.clone()], &Cube::default(), None)
    }

    /// The assignments that satisfy the cube.
    fn guard(&self, element: &Self::Element, cube: &Cube) -> Self::Element {
        self.transfer(std::slice::from_ref(element), cube, None)
    }

    /// The image of a clause over the head's formal variables, where `bodies` describe its body
    /// atoms (over their formal variables) and the constraint implies the disjunction of `cubes`.
    /// For a query: bottom if it is not applicable.
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

    /// Like [`Domain::post`], with one element for each cube whose image is not empty.
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
