//! The indexes at which terms read or write arrays, and variables that stand for any index.
//!
//! Invariant: a variable for any index is fresh.

use rustc_hash::FxHashSet;

use alphorn_term::{Op, Sort, SortId, TermId, TermStore};

/// The indexes at which a term reads or writes arrays, without repetitions.
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

/// The index sorts of the arrays among the variables, nested ones included.
fn index_sorts(terms: &TermStore, params: &[TermId]) -> Vec<SortId> {
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
    sorts
}

/// Variables that stand for any index in lemmas, one for each index sort. All predicates have the
/// same ones, so that a lemma about any index of one predicate can be a premise for a lemma about
/// the same index of another.
#[derive(Default)]
pub(super) struct AnyIndexes {
    vars: Vec<TermId>,
}

impl AnyIndexes {
    /// All variables so far.
    pub fn vars(&self) -> &[TermId] {
        &self.vars
    }

    /// The variables for the arrays among a predicate's formal variables; makes new ones if needed.
    pub fn of(&mut self, terms: &TermStore, params: &[TermId]) -> Vec<TermId> {
        let sorts = index_sorts(terms, params).into_iter();
        let vars = &mut self.vars;
        sorts
            .map(|sort| {
                let known = vars.iter().copied().find(|&v| terms.sort_of(v) == sort);
                known.unwrap_or_else(|| {
                    let any = terms.fresh_var("any", sort);
                    vars.push(any);
                    any
                })
            })
            .collect()
    }
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
        let mut all = AnyIndexes::default();
        let any = all.of(&terms, &[r, a, a]);
        let sorts: Vec<SortId> = any.iter().map(|&v| terms.sort_of(v)).collect();
        assert_eq!(sorts, [SortId::REAL, SortId::INT]);
        let vector = terms.var("v", inner);
        assert_eq!(all.of(&terms, &[vector]), any[1..]);
    }
}
