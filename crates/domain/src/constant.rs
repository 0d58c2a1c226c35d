//! Values of variables that are not numbers: Booleans, enumerations, bit-vectors, and others.
//!
//! Invariant: an element maps variables to values of their sorts.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cube::{Cube, Fact};
use super::nonempty::NonemptyDomain;
use alphorn_term::{TermId, TermStore};

/// Each variable has one value, or any (Kildall, POPL 1973).
pub struct Constants {
    terms: Rc<TermStore>,
}

impl Constants {
    /// The domain over a store.
    pub fn new(terms: Rc<TermStore>) -> Self {
        Constants { terms }
    }
}

impl NonemptyDomain for Constants {
    type Set = BTreeMap<TermId, TermId>;

    fn terms(&self) -> &TermStore {
        &self.terms
    }

    fn all(&self) -> Self::Set {
        BTreeMap::new()
    }

    fn transfer(
        &self,
        inputs: &[&Self::Set],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Option<Self::Set> {
        let mut values: BTreeMap<TermId, TermId> = BTreeMap::new();
        let set = |values: &mut BTreeMap<TermId, TermId>, var, value| {
            *values.entry(var).or_insert(value) == value
        };
        for input in inputs {
            for (&var, &value) in *input {
                if !set(&mut values, var, value) {
                    return None;
                }
            }
        }
        let mut pairs = Vec::new();
        for fact in &cube.facts {
            match *fact {
                Fact::Value(var, value) if !set(&mut values, var, value) => return None,
                Fact::Same(a, b) => pairs.push((a, b)),
                _ => {}
            }
        }
        // Two rounds suffice for most chains of equations.
        for _ in 0..2 {
            for &(a, b) in &pairs {
                for (from, to) in [(a, b), (b, a)] {
                    if let Some(&value) = values.get(&from)
                        && !set(&mut values, to, value)
                    {
                        return None;
                    }
                }
            }
        }
        values.retain(|var, _| keep.map_or_else(|| self.terms.is_var(*var), |k| k.contains(var)));
        Some(values)
    }

    fn join(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        let mut result = a.clone();
        result.retain(|var, value| b.get(var) == Some(value));
        Some(result)
    }

    fn widen(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        self.join(a, b)
    }

    fn entails(&self, a: &Self::Set, b: &Self::Set) -> bool {
        b.iter().all(|(var, value)| a.get(var) == Some(value))
    }

    fn rename(&self, set: &Self::Set, map: &FxHashMap<TermId, TermId>) -> Option<Self::Set> {
        let renamed = |v: &TermId| map.get(v).copied().unwrap_or(*v);
        Some(set.iter().map(|(v, x)| (renamed(v), *x)).collect())
    }

    fn listens(&self) -> bool {
        false
    }

    fn facts(&self, set: &Self::Set) -> Vec<Fact> {
        let values = set.iter();
        values.map(|(&var, &x)| Fact::Value(var, x)).collect()
    }
}
