//! The indexes of arrays: those that a term reads or writes, and variables that stand for any.
//!
//! Invariant: a variable for any index is fresh, so it is in no clause and no obligation.

use rustc_hash::FxHashSet;

use crate::term::{Op, Sort, SortId, TermId, TermStore};

/// Indexes of a predicate at which lemmas are instantiated, at most.
pub(super) const INDEX_LIMIT: usize = 24;

/// The indexes at which arrays are read or written in a term.
pub(super) fn indexes(terms: &TermStore, root: TermId) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    terms.post_order(&[root], |term| {
        if matches!(terms.op(term), Op::Select | Op::Store) {
            let index = terms.args(term)[1];
            if seen.insert(index) {
                found.push(index);
            }
        }
    });
    found
}

/// A variable for any index, for each sort by which the arrays among the variables are indexed.
pub(super) fn any_indexes(terms: &TermStore, params: &[TermId]) -> Vec<TermId> {
    let mut sorts: Vec<SortId> = Vec::new();
    for &param in params {
        let mut sort = terms.sort_of(param);
        while let Sort::Array(index, element) = terms.sort(sort) {
            if !sorts.contains(&index) {
                sorts.push(index);
            }
            sort = element;
        }
    }
    let sorts = sorts.into_iter();
    sorts.map(|sort| terms.fresh_var("any", sort)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_of_nested_arrays_have_indexes() {
        let terms = TermStore::new();
        let inner = terms.array_sort(SortId::INT, SortId::INT);
        let outer = terms.array_sort(SortId::REAL, inner);
        let a = terms.var("a", outer);
        let r = terms.var("r", SortId::REAL);
        let [i, j] = ["i", "j"].map(|n| terms.var(n, SortId::INT));
        let row = terms.store(terms.select(a, r), i, terms.int(0));
        assert_eq!(indexes(&terms, terms.select(row, j)), [r, i, j]);
        let any = any_indexes(&terms, &[r, a, a]);
        let sorts: Vec<SortId> = any.iter().map(|&v| terms.sort_of(v)).collect();
        assert_eq!(sorts, [SortId::REAL, SortId::INT]);
    }
}
