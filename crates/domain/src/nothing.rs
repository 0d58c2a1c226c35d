//! The domain that knows nothing: all states, or none.
//!
//! With it, what is known of a program comes from elsewhere, as in a search by interpolants alone.
//!
//! Invariant: the only set is that of all assignments.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cube::{Cube, Fact};
use super::nonempty::NonemptyDomain;
use alphorn_term::{TermId, TermStore};

/// All assignments.
pub struct Nothing {
    terms: Rc<TermStore>,
}

impl Nothing {
    /// The domain over a store.
    pub fn new(terms: Rc<TermStore>) -> Self {
        Nothing { terms }
    }
}

impl NonemptyDomain for Nothing {
    type Set = ();

    fn terms(&self) -> &TermStore {
        &self.terms
    }

    fn all(&self) -> Self::Set {}

    fn transfer(
        &self,
        _inputs: &[&Self::Set],
        _cube: &Cube,
        _keep: Option<&FxHashSet<TermId>>,
    ) -> Option<Self::Set> {
        Some(())
    }

    fn join(&self, (): &Self::Set, (): &Self::Set) -> Option<Self::Set> {
        Some(())
    }

    fn widen(&self, (): &Self::Set, (): &Self::Set) -> Option<Self::Set> {
        Some(())
    }

    fn entails(&self, (): &Self::Set, (): &Self::Set) -> bool {
        true
    }

    fn rename(&self, (): &Self::Set, _map: &FxHashMap<TermId, TermId>) -> Option<Self::Set> {
        Some(())
    }

    fn facts(&self, (): &Self::Set) -> Vec<Fact> {
        Vec::new()
    }
}
