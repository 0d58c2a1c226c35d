//! Domains behind a pointer, so that an engine that is generic over domains is compiled only once.
//!
//! Invariant: an element is used with the domain that made it only.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::abstract_domain::Domain;
use super::cube::{Cube, Fact};
use alphorn_chc::{Clause, System};
use alphorn_term::{TermId, TermStore};

/// A domain of any type.
pub struct Erased(Box<dyn Operations>);

/// An element of an [`Erased`] domain.
#[derive(Clone)]
pub struct ErasedElement(Rc<dyn Element>);

impl Erased {
    /// Hides the type of a domain.
    pub fn new<D: Domain + 'static>(domain: D) -> Erased {
        Erased(Box::new(domain))
    }
}

trait Element: Any + fmt::Debug {}

impl<E: Any + fmt::Debug> Element for E {}

impl fmt::Debug for ErasedElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn erased<E: Any + fmt::Debug>(element: E) -> ErasedElement {
    ErasedElement(Rc::new(element))
}

fn own<D: Domain>(element: &ErasedElement) -> &D::Element {
    let element: &dyn Any = &*element.0;
    element.downcast_ref().expect("an element of this domain")
}

fn all_own<D: Domain>(elements: &[ErasedElement]) -> Vec<D::Element> {
    elements.iter().map(|e| own::<D>(e).clone()).collect()
}

/// The operations of [`Domain`], including those with defaults.
trait Operations {
    fn top(&self) -> ErasedElement;
    fn bottom(&self) -> ErasedElement;
    fn is_bottom(&self, element: &ErasedElement) -> bool;
    fn transfer(
        &self,
        inputs: &[ErasedElement],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> ErasedElement;
    fn join(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement;
    fn widen(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement;
    fn narrow(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement;
    fn entails(&self, a: &ErasedElement, b: &ErasedElement) -> bool;
    fn rename(&self, element: &ErasedElement, map: &FxHashMap<TermId, TermId>) -> ErasedElement;
    fn facts(&self, element: &ErasedElement) -> Vec<Fact>;
    fn listens(&self) -> bool;
    fn formula(&self, element: &ErasedElement) -> Vec<TermId>;
    fn minus(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement;
    fn coarsened(&self, element: &ErasedElement) -> ErasedElement;
    fn hull(&self, element: &ErasedElement) -> ErasedElement;
    fn is_disjunctive(&self) -> bool;
    fn abstracted(
        &self,
        terms: &TermStore,
        element: &ErasedElement,
        formula: TermId,
        limit: usize,
    ) -> (ErasedElement, bool);
    fn meet(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement;
    fn guard(&self, element: &ErasedElement, cube: &Cube) -> ErasedElement;
    fn post(
        &self,
        system: &System,
        clause: &Clause,
        cubes: &[Cube],
        bodies: &[ErasedElement],
    ) -> ErasedElement;
    fn images(
        &self,
        system: &System,
        clause: &Clause,
        cubes: &[Cube],
        bodies: &[ErasedElement],
    ) -> Vec<ErasedElement>;
}

impl<D: Domain> Operations for D {
    fn top(&self) -> ErasedElement {
        erased(Domain::top(self))
    }

    fn bottom(&self) -> ErasedElement {
        erased(Domain::bottom(self))
    }

    fn is_bottom(&self, element: &ErasedElement) -> bool {
        Domain::is_bottom(self, own::<D>(element))
    }

    fn transfer(
        &self,
        inputs: &[ErasedElement],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> ErasedElement {
        erased(Domain::transfer(self, &all_own::<D>(inputs), cube, keep))
    }

    fn join(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement {
        erased(Domain::join(self, own::<D>(a), own::<D>(b)))
    }

    fn widen(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement {
        erased(Domain::widen(self, own::<D>(a), own::<D>(b)))
    }

    fn narrow(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement {
        erased(Domain::narrow(self, own::<D>(a), own::<D>(b)))
    }

    fn entails(&self, a: &ErasedElement, b: &ErasedElement) -> bool {
        Domain::entails(self, own::<D>(a), own::<D>(b))
    }

    fn rename(&self, element: &ErasedElement, map: &FxHashMap<TermId, TermId>) -> ErasedElement {
        erased(Domain::rename(self, own::<D>(element), map))
    }

    fn facts(&self, element: &ErasedElement) -> Vec<Fact> {
        Domain::facts(self, own::<D>(element))
    }

    fn listens(&self) -> bool {
        Domain::listens(self)
    }

    fn formula(&self, element: &ErasedElement) -> Vec<TermId> {
        Domain::formula(self, own::<D>(element))
    }

    fn minus(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement {
        erased(Domain::minus(self, own::<D>(a), own::<D>(b)))
    }

    fn coarsened(&self, element: &ErasedElement) -> ErasedElement {
        erased(Domain::coarsened(self, own::<D>(element)))
    }

    fn hull(&self, element: &ErasedElement) -> ErasedElement {
        erased(Domain::hull(self, own::<D>(element)))
    }

    fn is_disjunctive(&self) -> bool {
        Domain::is_disjunctive(self)
    }

    fn abstracted(
        &self,
        terms: &TermStore,
        element: &ErasedElement,
        formula: TermId,
        limit: usize,
    ) -> (ErasedElement, bool) {
        let (part, exact) = Domain::abstracted(self, terms, own::<D>(element), formula, limit);
        (erased(part), exact)
    }

    fn meet(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement {
        erased(Domain::meet(self, own::<D>(a), own::<D>(b)))
    }

    fn guard(&self, element: &ErasedElement, cube: &Cube) -> ErasedElement {
        erased(Domain::guard(self, own::<D>(element), cube))
    }

    fn post(
        &self,
        system: &System,
        clause: &Clause,
        cubes: &[Cube],
        bodies: &[ErasedElement],
    ) -> ErasedElement {
        let bodies = all_own::<D>(bodies);
        erased(Domain::post(self, system, clause, cubes, &bodies))
    }

    fn images(
        &self,
        system: &System,
        clause: &Clause,
        cubes: &[Cube],
        bodies: &[ErasedElement],
    ) -> Vec<ErasedElement> {
        let bodies = all_own::<D>(bodies);
        let images = Domain::images(self, system, clause, cubes, &bodies);
        images.into_iter().map(erased).collect()
    }
}

impl Domain for Erased {
    type Element = ErasedElement;

    fn top(&self) -> ErasedElement {
        self.0.top()
    }

    fn bottom(&self) -> ErasedElement {
        self.0.bottom()
    }

    fn is_bottom(&self, element: &ErasedElement) -> bool {
        self.0.is_bottom(element)
    }

    fn transfer(
        &self,
        inputs: &[ErasedElement],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> ErasedElement {
        self.0.transfer(inputs, cube, keep)
    }

    fn join(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement {
        self.0.join(a, b)
    }

    fn widen(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement {
        self.0.widen(a, b)
    }

    fn narrow(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement {
        self.0.narrow(a, b)
    }

    fn entails(&self, a: &ErasedElement, b: &ErasedElement) -> bool {
        self.0.entails(a, b)
    }

    fn rename(&self, element: &ErasedElement, map: &FxHashMap<TermId, TermId>) -> ErasedElement {
        self.0.rename(element, map)
    }

    fn facts(&self, element: &ErasedElement) -> Vec<Fact> {
        self.0.facts(element)
    }

    fn listens(&self) -> bool {
        self.0.listens()
    }

    fn formula(&self, element: &ErasedElement) -> Vec<TermId> {
        self.0.formula(element)
    }

    fn minus(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement {
        self.0.minus(a, b)
    }

    fn coarsened(&self, element: &ErasedElement) -> ErasedElement {
        self.0.coarsened(element)
    }

    fn hull(&self, element: &ErasedElement) -> ErasedElement {
        self.0.hull(element)
    }

    fn is_disjunctive(&self) -> bool {
        self.0.is_disjunctive()
    }

    fn abstracted(
        &self,
        terms: &TermStore,
        element: &ErasedElement,
        formula: TermId,
        limit: usize,
    ) -> (ErasedElement, bool) {
        self.0.abstracted(terms, element, formula, limit)
    }

    fn meet(&self, a: &ErasedElement, b: &ErasedElement) -> ErasedElement {
        self.0.meet(a, b)
    }

    fn guard(&self, element: &ErasedElement, cube: &Cube) -> ErasedElement {
        self.0.guard(element, cube)
    }

    fn post(
        &self,
        system: &System,
        clause: &Clause,
        cubes: &[Cube],
        bodies: &[ErasedElement],
    ) -> ErasedElement {
        self.0.post(system, clause, cubes, bodies)
    }

    fn images(
        &self,
        system: &System,
        clause: &Clause,
        cubes: &[Cube],
        bodies: &[ErasedElement],
    ) -> Vec<ErasedElement> {
        self.0.images(system, clause, cubes, bodies)
    }
}
