//! Constructors of array terms: `select`, `store`, constant arrays.
//!
//! Invariant: an array value is a chain of `store`s over a constant array in one canonical form:
//! two array values are the same term if and only if they are the same function. The `store`s are
//! in ascending order of the index's id, and none writes the default. If the index sort is finite,
//! the default is the most frequent element; among several of them, the one at the first index.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{Op, Sort, SortId, TermId, TermStore};

impl TermStore {
    /// Whether the term has an array sort.
    pub fn is_array(&self, term: TermId) -> bool {
        matches!(self.sort(self.sort_of(term)), Sort::Array(..))
    }

    /// The index sort and the element sort of an array; `None` for a term of another sort.
    pub fn array_sorts(&self, term: TermId) -> Option<(SortId, SortId)> {
        match self.sort(self.sort_of(term)) {
            Sort::Array(index, element) => Some((index, element)),
            _ => None,
        }
    }

    /// The array of sort `sort` with `element` at every index.
    pub fn const_array(&self, sort: SortId, element: TermId) -> TermId {
        self.intern(Op::ConstArray, &[element], sort)
    }

    /// `array[index]`, simplified through `store`s at an equal index or at an index that differs.
    /// Panics if `array` is not an array.
    pub fn select(&self, array: TermId, index: TermId) -> TermId {
        let Sort::Array(_, element) = self.sort(self.sort_of(array)) else {
            panic!("the first argument of select is an array");
        };
        let mut current = array;
        loop {
            let node = self.node(current);
            match node.op {
                Op::ConstArray => return node.args[0],
                Op::Store if node.args[1] == index => return node.args[2],
                Op::Store if self.eq(node.args[1], index) == TermId::FALSE => {
                    current = node.args[0];
                }
                _ => return self.intern(Op::Select, &[current, index], element),
            }
        }
    }

    /// `array` with `value` at `index`; a canonical value if all three are values.
    pub fn store(&self, array: TermId, index: TermId, value: TermId) -> TermId {
        let sort = self.sort_of(array);
        if self.is_value(array) && self.is_value(index) && self.is_value(value) {
            return self.store_value(array, index, value, sort);
        }
        let node = self.node(array);
        if node.op == Op::Store && node.args[1] == index {
            return self.store(node.args[0], index, value);
        }
        if self.op(value) == &Op::Select && *self.args(value) == [array, index] {
            return array;
        }
        self.intern(Op::Store, &[array, index, value], sort)
    }

    /// The entries `(index, element)` and the default of an array value, in ascending order of the
    /// index's id.
    pub fn array_value(&self, array: TermId) -> (Vec<(TermId, TermId)>, TermId) {
        let mut entries = Vec::new();
        let mut current = array;
        loop {
            let node = self.node(current);
            match node.op {
                Op::Store => {
                    entries.push((node.args[1], node.args[2]));
                    current = node.args[0];
                }
                _ => {
                    entries.reverse();
                    return (entries, node.args[0]);
                }
            }
        }
    }

    /// The canonical array value of sort `sort` with these entries `(index, element)`; a later entry
    /// overrides an earlier one. All are values. Panics if `sort` is not an array sort.
    pub fn array_from_entries(
        &self,
        sort: SortId,
        entries: impl IntoIterator<Item = (TermId, TermId)>,
        default: TermId,
    ) -> TermId {
        let mut entries: BTreeMap<TermId, TermId> = entries.into_iter().collect();
        entries.retain(|_, value| *value != default);
        let Sort::Array(index_sort, _) = self.sort(sort) else {
            panic!("the sort of an array is an array sort")
        };
        let mut default = default;
        // With fewer entries than half of the indexes the default is the most frequent element.
        if let Some(size) = self.domain_size(index_sort)
            && (1..=2 * entries.len() as u64).contains(&size)
            && let Some(indexes) = self.all_values(index_sort, size)
        {
            let old = default;
            let at = |index: &TermId| entries.get(index).copied().unwrap_or(old);
            let mut counts: FxHashMap<TermId, usize> = FxHashMap::default();
            for index in &indexes {
                *counts.entry(at(index)).or_default() += 1;
            }
            let most = counts.values().copied().max().unwrap_or_default();
            let first = indexes.iter().map(at).find(|value| counts[value] == most);
            default = first.expect("the index sort has a value");
            entries = indexes.iter().map(|&index| (index, at(&index))).collect();
            entries.retain(|_, value| *value != default);
        }
        let mut array = self.const_array(sort, default);
        for (index, value) in entries {
            array = self.intern_array_value(&[array, index, value], sort);
        }
        array
    }

    fn store_value(&self, array: TermId, index: TermId, value: TermId, sort: SortId) -> TermId {
        let (mut entries, default) = self.array_value(array);
        entries.push((index, value));
        self.array_from_entries(sort, entries, default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Constructor, Field};

    /// Each function from the index sort into two elements is one term, in whichever order it is
    /// written and from either constant array.
    fn functions_are_single_terms(terms: &TermStore, index: SortId) {
        let sort = terms.array_sort(index, SortId::INT);
        let indexes = terms.all_values(index, 8).expect("a small sort");
        assert_eq!(Some(indexes.len() as u64), terms.domain_size(index));
        let elements = [terms.int(3), terms.int(4)];
        let mut seen = rustc_hash::FxHashSet::default();
        for function in 0..1usize << indexes.len() {
            let entry = |at: usize| (indexes[at], elements[function >> at & 1]);
            let places = || 0..indexes.len();
            let mut forms = Vec::new();
            for default in elements {
                forms.push(terms.array_from_entries(sort, places().map(entry), default));
                let others = places().map(entry).filter(|e| e.1 != default);
                forms.push(terms.array_from_entries(sort, others, default));
                let write = |array, at| {
                    let (index, value) = entry(at);
                    terms.store(array, index, value)
                };
                forms.push(places().fold(terms.const_array(sort, default), write));
                forms.push(places().rev().fold(terms.const_array(sort, default), write));
            }
            assert!(forms.iter().all(|&form| form == forms[0]), "{forms:?}");
            assert!(terms.is_value(forms[0]));
            assert!(seen.insert(forms[0]));
            for at in places() {
                assert_eq!(terms.select(forms[0], indexes[at]), entry(at).1);
            }
        }
    }

    #[test]
    fn equal_arrays_are_equal_terms() {
        let terms = TermStore::new();
        functions_are_single_terms(&terms, SortId::BOOL);
        functions_are_single_terms(&terms, terms.bitvec_sort(1));
        functions_are_single_terms(&terms, terms.bitvec_sort(3));
        functions_are_single_terms(&terms, terms.array_sort(SortId::BOOL, SortId::BOOL));
        let (id, pair) = terms.declare_datatype("Pair", &[]);
        let field = |selector: &str, sort| Field {
            selector: selector.to_owned(),
            sort,
        };
        let constructors = vec![
            Constructor {
                name: "none".to_owned(),
                fields: Vec::new(),
            },
            Constructor {
                name: "pair".to_owned(),
                fields: vec![
                    field("left", SortId::BOOL),
                    field("right", terms.bitvec_sort(1)),
                ],
            },
        ];
        terms.define_datatype(id, constructors);
        functions_are_single_terms(&terms, pair);
    }

    #[test]
    fn large_index_sorts_keep_what_is_written() {
        let terms = TermStore::new();
        let bit_vectors = terms.bitvec_sort(32);
        let sort = terms.array_sort(bit_vectors, SortId::INT);
        let index = |n: u32| terms.bitvec(n.into(), 32);
        let zero = terms.const_array(sort, terms.int(0));
        let write = |array, n| terms.store(array, index(n), terms.int(1));
        let there = (0..50).fold(zero, write);
        let back = (0..50).rev().fold(zero, write);
        assert_eq!(there, back);
        let erase = |array, n| terms.store(array, index(n), terms.int(0));
        assert_eq!((0..50).fold(there, erase), zero);
    }
}
