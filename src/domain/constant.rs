//! Values of variables of sorts without numbers: Booleans, enumerations, bit-vectors, and others.
//!
//! Invariant: an element maps variables to values of their sorts, and to nothing else.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::abstract_domain::Domain;
use super::cube::{Cube, Fact};
use crate::term::{TermId, TermStore};

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

impl Domain for Constants {
    type Element = Option<BTreeMap<TermId, TermId>>;

    fn top(&self) -> Self::Element {
        Some(BTreeMap::new())
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
        let mut values: BTreeMap<TermId, TermId> = BTreeMap::new();
        let set = |values: &mut BTreeMap<TermId, TermId>, var, value| {
            *values.entry(var).or_insert(value) == value
        };
        for input in inputs {
            for (&var, &value) in input.as_ref()? {
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
        // Two rounds see through most chains of copies.
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

    fn join(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        let (Some(x), Some(y)) = (a, b) else {
            return if a.is_none() { b.clone() } else { a.clone() };
        };
        let mut result = x.clone();
        result.retain(|var, value| y.get(var) == Some(value));
        Some(result)
    }

    fn widen(&self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        self.join(a, b)
    }

    fn narrow(&self, _: &Self::Element, b: &Self::Element) -> Self::Element {
        b.clone()
    }

    fn entails(&self, a: &Self::Element, b: &Self::Element) -> bool {
        match (a, b) {
            (None, _) => true,
            (_, None) => false,
            (Some(x), Some(y)) => y.iter().all(|(var, value)| x.get(var) == Some(value)),
        }
    }

    fn rename(&self, element: &Self::Element, map: &FxHashMap<TermId, TermId>) -> Self::Element {
        let renamed = |v: &TermId| map.get(v).copied().unwrap_or(*v);
        let values = element.as_ref()?;
        Some(values.iter().map(|(v, x)| (renamed(v), *x)).collect())
    }

    fn listens(&self) -> bool {
        false
    }

    fn facts(&self, element: &Self::Element) -> Vec<Fact> {
        let values = element.iter().flatten();
        values.map(|(&var, &x)| Fact::Value(var, x)).collect()
    }

    fn formula(&self, element: &Self::Element) -> Vec<TermId> {
        match element {
            None => vec![TermId::FALSE],
            Some(values) => values.iter().map(|(&v, &x)| self.terms.eq(v, x)).collect(),
        }
    }
}
