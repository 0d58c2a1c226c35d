//! The theory of heaps: `(declare-heap Heap Addr Range Obj default ((Obj 0) …) ((constructor …) …))`.
//!
//! A heap is a record of its size n and its cells, an array from integers to objects, which has the
//! default object outside of 1 to n; so equal heaps are equal records. An address is an integer of
//! at least 0, and 0 is null. Allocation puts an object into cell n + 1. A range is a record of its
//! first address and its size.
//!
//! The operations have names of three generations of the theory: `heap.read`, `heap.alloc_first` or
//! `heap.heapAddrPair_1`, and `read`, `newHeap`. The older ones are made of the names of the sorts;
//! there the command has no `Range`, and the sort of ranges is `AddrRange`. A declaration of the user
//! with one of these names comes first.
//!
//! Invariant: operations of values are values. A variable that is none of the body atoms' arguments
//! has a guard (`sorts::guards`), unless an equation with such a term determines it.

mod declare;
mod needless;

use super::HeapSort;
use super::elaborate::Elaborator;
use super::error::{InputError, TermError};
use super::formula::Value;
use super::lexer::TokenId;
use super::sorts::TheorySort;
use super::syntax::Named;
use crate::limits::LIMITS;
use alphorn_term::{Op, SortId, TermId, TermStore};

pub(super) use declare::heap_syntax;
pub(super) use needless::without_needless_guards;

/// An operation of the theory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Empty,
    Null,
    /// The n-th address, null for n < 1.
    Address,
    /// The address that the n-th allocation from now on gives.
    NextAddress,
    Read,
    Write,
    Valid,
    /// A heap and an address as a pair; and the parts of the pair that `Alloc` gives.
    Alloc,
    AllocHeap,
    AllocAddress,
    PairHeap,
    PairAddress,
    /// The same with a range of addresses.
    AllocRange,
    AllocRangeHeap,
    AllocRangeRange,
    RangePairHeap,
    RangePairRange,
    WriteRange,
    Range,
    RangeStart,
    RangeSize,
    RangeNth,
    RangeWithin,
}

/// The heap of a text.
pub(super) struct Heap {
    heap: TheorySort,
    range: TheorySort,
    pair: TheorySort,
    range_pair: TheorySort,
    /// The sort of objects, and the number of their datatype.
    object: SortId,
    object_generic: usize,
    default: TermId,
    /// The names of the sorts.
    names: [String; 3],
    /// Whether the sort of ranges has a name of its own. Then ranges begin with a valid address.
    names_range: bool,
    /// The number of the theory's first datatype.
    pub first: usize,
}

impl Heap {
    /// The sorts for the problem.
    pub fn sorts(&self) -> HeapSort {
        HeapSort {
            sort: self.heap.sort,
            object: self.object,
            default: self.default,
        }
    }

    /// The default object.
    pub fn default(&self) -> TermId {
        self.default
    }

    /// The number of the datatype of heaps.
    pub fn generic(&self) -> usize {
        self.heap.generic
    }

    /// The number of the datatype of objects.
    pub fn object_generic(&self) -> usize {
        self.object_generic
    }

    /// The size of a heap.
    pub fn size(&self, terms: &TermStore, heap: TermId) -> TermId {
        terms.field(self.heap.id, 0, 0, heap)
    }

    /// The cells of a heap.
    pub fn cells(&self, terms: &TermStore, heap: TermId) -> TermId {
        terms.field(self.heap.id, 0, 1, heap)
    }

    /// The guard of a field of a range.
    pub fn range_guard(
        &self,
        terms: &TermStore,
        generic: usize,
        field: usize,
        part: TermId,
    ) -> Option<TermId> {
        let is_range = generic == self.range.generic;
        let least = terms.int(i64::from(field == 0));
        (is_range && (field == 1 || self.names_range)).then(|| terms.ge(part, least))
    }

    fn make(&self, terms: &TermStore, size: TermId, cells: TermId) -> TermId {
        terms.construct(self.heap.id, 0, &[size, cells])
    }

    /// Whether an address is valid in a heap.
    fn valid(&self, terms: &TermStore, heap: TermId, address: TermId) -> TermId {
        let positive = terms.gt(address, terms.int(0));
        terms.and(&[positive, terms.le(address, self.size(terms, heap))])
    }

    /// The operation with a name.
    pub fn operation(&self, name: &str) -> Option<Operation> {
        use Operation as O;
        if let Some(name) = name.strip_prefix("heap.") {
            return Some(match name {
                "empty" => O::Empty,
                "null" => O::Null,
                "addr" => O::Address,
                "nextAddr" => O::NextAddress,
                "read" => O::Read,
                "write" => O::Write,
                "valid" => O::Valid,
                "alloc" => O::Alloc,
                "alloc_first" | "heapAddrPair_1" => O::PairHeap,
                "alloc_second" | "heapAddrPair_2" => O::PairAddress,
                "allocRange" => O::AllocRange,
                "allocRange_first" | "heapRangePair_1" => O::RangePairHeap,
                "allocRange_second" | "heapRangePair_2" => O::RangePairRange,
                "writeRange" => O::WriteRange,
                "range" => O::Range,
                "rangeStart" => O::RangeStart,
                "rangeSize" => O::RangeSize,
                "rangeNth" => O::RangeNth,
                "rangeWithin" => O::RangeWithin,
                _ => return None,
            });
        }
        let [heap, address, range] = &self.names;
        let of = |prefix: &str| name.strip_prefix(prefix);
        let found = match name {
            "read" => O::Read,
            "write" => O::Write,
            "valid" => O::Valid,
            "alloc" => O::Alloc,
            "batchAlloc" => O::AllocRange,
            "batchWrite" => O::WriteRange,
            "within" | "addressRangeWithin" => O::RangeWithin,
            "addressRangeNth" => O::RangeNth,
            _ if of("empty") == Some(heap) => O::Empty,
            _ if of("null") == Some(address) => O::Null,
            _ if of("nth") == Some(address) => O::Address,
            _ if of("next") == Some(address) => O::NextAddress,
            _ if of("alloc") == Some(heap) => O::AllocHeap,
            _ if of("alloc") == Some(address) => O::AllocAddress,
            _ if of("batchAlloc") == Some(heap) => O::AllocRangeHeap,
            _ if of("batchAlloc") == Some(range) => O::AllocRangeRange,
            _ if of("new") == Some(heap) => O::PairHeap,
            _ if of("new") == Some(address) => O::PairAddress,
            _ if of("newBatch") == Some(heap) => O::RangePairHeap,
            _ if of("new") == Some(range) => O::RangePairRange,
            _ if of("nth") == Some(range) => O::RangeNth,
            _ if name.strip_suffix("Start") == Some(range) => O::RangeStart,
            _ if name.strip_suffix("Size") == Some(range) => O::RangeSize,
            _ => return None,
        };
        Some(found)
    }

    /// The sorts of an operation's arguments.
    fn signature(&self, operation: Operation) -> Vec<SortId> {
        use Operation as O;
        let (heap, address, range) = (self.heap.sort, SortId::INT, self.range.sort);
        match operation {
            O::Empty | O::Null => vec![],
            O::Address => vec![SortId::INT],
            O::NextAddress => vec![heap, SortId::INT],
            O::Read | O::Valid => vec![heap, address],
            O::Write => vec![heap, address, self.object],
            O::Alloc | O::AllocHeap | O::AllocAddress => vec![heap, self.object],
            O::PairHeap | O::PairAddress => vec![self.pair.sort],
            O::AllocRange | O::AllocRangeHeap | O::AllocRangeRange => {
                vec![heap, self.object, SortId::INT]
            }
            O::RangePairHeap | O::RangePairRange => vec![self.range_pair.sort],
            O::WriteRange => vec![heap, range, self.object],
            O::Range => vec![SortId::INT, SortId::INT],
            O::RangeStart | O::RangeSize => vec![range],
            O::RangeNth => vec![range, SortId::INT],
            O::RangeWithin => vec![range, address],
        }
    }

    /// The operation of terms of its signature; `None` if a number of objects is no small numeral.
    fn apply(&self, terms: &TermStore, operation: Operation, args: &[TermId]) -> Option<TermId> {
        use Operation as O;
        let (zero, one) = (terms.int(0), terms.int(1));
        let pair = |sort: &TheorySort, first, second| terms.construct(sort.id, 0, &[first, second]);
        let part = |sort: &TheorySort, field: u32| terms.field(sort.id, 0, field, args[0]);
        Some(match operation {
            O::Empty => {
                let sort = terms.array_sort(SortId::INT, self.object);
                self.make(terms, zero, terms.const_array(sort, self.default))
            }
            O::Null => zero,
            O::Address => terms.ite(terms.ge(args[0], one), args[0], zero),
            O::NextAddress => {
                let before = terms.add(&[self.size(terms, args[0]), args[1]]);
                let next = terms.add(&[before, one]);
                terms.ite(terms.ge(before, zero), next, zero)
            }
            O::Read => {
                let object = terms.select(self.cells(terms, args[0]), args[1]);
                let valid = self.valid(terms, args[0], args[1]);
                terms.ite(valid, object, self.default)
            }
            O::Write => {
                let cells = terms.store(self.cells(terms, args[0]), args[1], args[2]);
                let written = self.make(terms, self.size(terms, args[0]), cells);
                let valid = self.valid(terms, args[0], args[1]);
                terms.ite(valid, written, args[0])
            }
            O::Valid => self.valid(terms, args[0], args[1]),
            O::AllocAddress => terms.add(&[self.size(terms, args[0]), one]),
            O::AllocHeap => {
                let next = terms.add(&[self.size(terms, args[0]), one]);
                let cells = terms.store(self.cells(terms, args[0]), next, args[1]);
                self.make(terms, next, cells)
            }
            O::Alloc => {
                let heap = self.apply(terms, O::AllocHeap, args)?;
                pair(&self.pair, heap, self.apply(terms, O::AllocAddress, args)?)
            }
            O::PairHeap => part(&self.pair, 0),
            O::PairAddress => part(&self.pair, 1),
            O::AllocRangeHeap => {
                let size = self.size(terms, args[0]);
                let count = objects(terms, args[2])?;
                let mut cells = self.cells(terms, args[0]);
                for number in 1..=count {
                    let address = terms.add(&[size, terms.int(number as i64)]);
                    cells = terms.store(cells, address, args[1]);
                }
                match count {
                    0 => args[0],
                    _ => self.make(terms, terms.add(&[size, terms.int(count as i64)]), cells),
                }
            }
            O::AllocRangeRange => {
                let size = self.size(terms, args[0]);
                let count = objects(terms, args[2])?;
                let first = match (count, self.names_range) {
                    (0, true) => one,
                    (0, false) => size,
                    _ => terms.add(&[size, one]),
                };
                pair(&self.range, first, terms.int(count as i64))
            }
            O::AllocRange => {
                let heap = self.apply(terms, O::AllocRangeHeap, args)?;
                let range = self.apply(terms, O::AllocRangeRange, args)?;
                pair(&self.range_pair, heap, range)
            }
            O::RangePairHeap => part(&self.range_pair, 0),
            O::RangePairRange => part(&self.range_pair, 1),
            O::WriteRange => {
                let first = terms.field(self.range.id, 0, 0, args[1]);
                let count = objects(terms, terms.field(self.range.id, 0, 1, args[1]))?;
                let (size, mut cells) = (self.size(terms, args[0]), self.cells(terms, args[0]));
                for number in 0..count {
                    let address = terms.add(&[first, terms.int(number as i64)]);
                    cells = terms.store(cells, address, args[2]);
                }
                let last = terms.add(&[first, terms.int(count as i64 - 1)]);
                let inside = [terms.ge(first, one), terms.le(last, size)];
                let written = self.make(terms, size, cells);
                terms.ite(terms.and(&inside), written, args[0])
            }
            O::Range => {
                let is_range = [terms.ge(args[0], one), terms.ge(args[1], zero)];
                let range = pair(&self.range, args[0], args[1]);
                terms.ite(terms.and(&is_range), range, pair(&self.range, one, zero))
            }
            O::RangeStart => part(&self.range, 0),
            O::RangeSize => part(&self.range, 1),
            O::RangeNth => {
                let (first, size) = (part(&self.range, 0), part(&self.range, 1));
                let inside = [terms.ge(args[1], zero), terms.lt(args[1], size)];
                let address = terms.add(&[first, args[1]]);
                terms.ite(terms.and(&inside), address, zero)
            }
            O::RangeWithin => {
                let (first, size) = (part(&self.range, 0), part(&self.range, 1));
                let end = terms.add(&[first, size]);
                terms.and(&[terms.le(first, args[1]), terms.lt(args[1], end)])
            }
        })
    }
}

/// A number of objects that is a small numeral; a negative one is 0.
fn objects(terms: &TermStore, count: TermId) -> Option<usize> {
    let Op::Int(count) = terms.op(count) else {
        return None;
    };
    if count.sign() == num_bigint::Sign::Minus {
        return Some(0);
    }
    usize::try_from(count)
        .ok()
        .filter(|&count| count <= LIMITS.max_range_objects)
}

impl Elaborator<'_, '_> {
    /// The operation of the heap with this name, if there is one.
    pub(super) fn heap_operation(&self, name: Named) -> Option<Operation> {
        let heap = self.environment.heap.as_ref()?;
        heap.operation(self.lexed.symbols.name(name.symbol))
    }

    /// Applies an operation of the heap.
    pub(super) fn apply_heap(
        &mut self,
        operation: Operation,
        name: Named,
        arguments: &[Value],
        term: TokenId,
    ) -> Result<Value, InputError> {
        let heap = self.environment.heap.as_ref();
        let signature = heap
            .map(|heap| heap.signature(operation))
            .unwrap_or_default();
        let arguments = self.arguments(name, &signature, arguments, term)?;
        let heap = self.environment.heap.as_ref();
        match heap.and_then(|heap| heap.apply(self.terms, operation, &arguments)) {
            Some(term) => Ok(Value::Term(term)),
            None => Err(self.lexed.name_error(name, |name| TermError::RangeSize {
                name,
                most: LIMITS.max_range_objects,
            })),
        }
    }
}
