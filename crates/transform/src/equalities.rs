//! Classes of terms that a clause's equations make equal, as a union-find forest.
//!
//! Invariant: if a class has a value, the value is its representative; so no class has two values.

use rustc_hash::FxHashMap;

use alphorn_term::{Op, TermId, TermStore};

/// The sides of an equation; a literal `f` is `f = true`, and `¬f` is `f = false`.
pub(super) fn sides(terms: &TermStore, conjunct: TermId) -> Option<(TermId, TermId)> {
    let node = terms.node(conjunct);
    match node.op {
        Op::Var(_) => Some((conjunct, TermId::TRUE)),
        Op::Not => Some((node.args[0], TermId::FALSE)),
        Op::Eq => Some((node.args[0], node.args[1])),
        _ => None,
    }
}

/// Equivalence classes of terms.
pub(super) struct Equalities<'a> {
    terms: &'a TermStore,
    parent: FxHashMap<TermId, TermId>,
}

impl<'a> Equalities<'a> {
    /// Every term is equal to itself only.
    pub fn new(terms: &'a TermStore) -> Self {
        Equalities {
            terms,
            parent: FxHashMap::default(),
        }
    }

    /// The representative of the term's class.
    pub fn find(&mut self, term: TermId) -> TermId {
        let mut root = term;
        while let Some(&next) = self.parent.get(&root) {
            root = next;
        }
        let mut current = term;
        while let Some(next) = self.parent.get_mut(&current) {
            current = std::mem::replace(next, root);
            if current == root {
                break;
            }
        }
        root
    }

    /// Makes two terms equal. Returns false, and changes nothing, if their classes have different
    /// values.
    pub fn union(&mut self, a: TermId, b: TermId) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            if self.terms.is_value(a) {
                if self.terms.is_value(b) {
                    return false;
                }
                self.parent.insert(b, a);
            } else {
                self.parent.insert(a, b);
            }
        }
        true
    }

    /// Whether two terms are equal.
    pub fn are_equal(&mut self, a: TermId, b: TermId) -> bool {
        self.find(a) == self.find(b)
    }

    /// The representative of each term that is not its own.
    pub fn leaders(&mut self) -> FxHashMap<TermId, TermId> {
        let terms: Vec<TermId> = self.parent.keys().copied().collect();
        terms.into_iter().map(|t| (t, self.find(t))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alphorn_term::SortId;

    #[test]
    fn values_lead_and_do_not_meet() {
        let t = TermStore::new();
        let [x, y, z] = ["x", "y", "z"].map(|n| t.var(n, SortId::INT));
        let mut equal = Equalities::new(&t);
        assert!(equal.union(x, y) && !equal.are_equal(x, z));
        assert!(equal.union(y, t.int(1)) && equal.union(z, t.int(2)));
        assert_eq!(equal.find(x), t.int(1));
        assert!(!equal.union(x, z) && !equal.are_equal(x, z));
        assert_eq!(equal.leaders()[&y], t.int(1));
    }
}
