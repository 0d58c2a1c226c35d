//! Sorts with finitely many values: how many, and which.
//!
//! Invariant: the answers depend on the sort only, never on what was asked before; canonical arrays
//! rely on it. Sorts are traversed iteratively; listing values recurses to at most
//! `LIMITS.max_sort_depth` levels.

use super::limits::LIMITS;
use super::{BigUint, Sort, SortId, TermId, TermStore};

/// The number of values of a finite sort, and the nesting depth of sorts in it.
pub(super) type Finite = Option<(u64, u32)>;

impl TermStore {
    /// The number of values of a sort, if it is finite, below 2^63, and the sort is not nested
    /// deeper than `LIMITS.max_sort_depth`.
    pub fn domain_size(&self, sort: SortId) -> Option<u64> {
        self.finite(sort).map(|(count, _)| count)
    }

    fn finite(&self, root: SortId) -> Finite {
        let mut stack = vec![root];
        let mut entered = rustc_hash::FxHashSet::default();
        while let Some(&sort) = stack.last() {
            if self.counted_sorts.borrow().contains_key(&sort) {
                stack.pop();
                continue;
            }
            if entered.insert(sort) {
                let counted = self.counted_sorts.borrow();
                let open = |part: &SortId| !counted.contains_key(part) && !entered.contains(part);
                stack.extend(self.component_sorts(sort).into_iter().filter(open));
            } else {
                // A component without a count has been entered but not left: the sort is recursive.
                let found = self.count_values(sort);
                self.counted_sorts.borrow_mut().insert(sort, found);
                stack.pop();
            }
        }
        self.counted_sorts.borrow()[&root]
    }

    /// The index and element sort of an array sort, the sorts of the fields of a datatype.
    fn component_sorts(&self, sort: SortId) -> Vec<SortId> {
        match self.sort(sort) {
            Sort::Array(index, element) => vec![index, element],
            Sort::Datatype(id) => {
                let constructors = self.datatype(id).constructors.iter();
                let fields = constructors.flat_map(|c| &c.fields);
                fields.map(|f| f.sort).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The count for a sort whose components have been counted.
    fn count_values(&self, sort: SortId) -> Finite {
        let counted = self.counted_sorts.borrow();
        let part = |sort: SortId| counted.get(&sort).copied().flatten();
        let mut deepest = 0;
        let count = match self.sort(sort) {
            Sort::Bool => 2,
            Sort::BitVec(width) => 1u64.checked_shl(width)?,
            Sort::Datatype(id) => {
                let mut sum = 0u64;
                for constructor in &self.datatype(id).constructors {
                    let mut product = 1u64;
                    for field in &constructor.fields {
                        let (count, depth) = part(field.sort)?;
                        product = product.checked_mul(count)?;
                        deepest = deepest.max(depth + 1);
                    }
                    sum = sum.checked_add(product)?;
                }
                sum
            }
            Sort::Array(index, element) => {
                let (indexes, depth) = part(index)?;
                let (elements, other) = part(element)?;
                deepest = depth.max(other) + 1;
                elements.checked_pow(u32::try_from(indexes).ok()?)?
            }
            Sort::Int | Sort::Real => return None,
        };
        (count < 1 << 63 && deepest <= LIMITS.max_sort_depth).then_some((count, deepest))
    }

    /// All values of a sort, each once and always in the same order; `None` if there are more than
    /// `limit` or the sort is not finite (see [`TermStore::domain_size`]).
    pub fn all_values(&self, sort: SortId, limit: u64) -> Option<Vec<TermId>> {
        if self.domain_size(sort)? > limit {
            return None;
        }
        Some(match self.sort(sort) {
            Sort::Bool => vec![TermId::FALSE, TermId::TRUE],
            Sort::BitVec(width) => (0..1u64 << width)
                .map(|v| self.bitvec(BigUint::from(v), width))
                .collect(),
            Sort::Datatype(id) => {
                let mut all = Vec::new();
                for (number, constructor) in self.datatype(id).constructors.iter().enumerate() {
                    let fields = constructor.fields.iter();
                    let lists: Option<Vec<_>> =
                        fields.map(|f| self.all_values(f.sort, limit)).collect();
                    for fields in choices(&lists?) {
                        all.push(self.construct(id, number as u32, &fields));
                    }
                }
                all
            }
            Sort::Array(index, element) => {
                let elements = self.all_values(element, limit)?;
                if let [only] = *elements {
                    return Some(vec![self.const_array(sort, only)]);
                }
                let indexes = self.all_values(index, limit)?;
                let array = |values: Vec<TermId>| {
                    let default = values[0];
                    let entries = indexes.iter().copied().zip(values);
                    self.array_from_entries(sort, entries, default)
                };
                let lists = vec![elements; indexes.len()];
                choices(&lists).into_iter().map(array).collect()
            }
            Sort::Int | Sort::Real => return None,
        })
    }
}

/// The Cartesian product of the lists.
fn choices(lists: &[Vec<TermId>]) -> Vec<Vec<TermId>> {
    let mut all: Vec<Vec<TermId>> = vec![Vec::new()];
    for list in lists {
        let mut longer = Vec::with_capacity(all.len() * list.len());
        for start in all {
            for &value in list {
                longer.push(start.iter().copied().chain([value]).collect());
            }
        }
        all = longer;
    }
    all
}
