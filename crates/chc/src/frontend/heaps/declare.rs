//! `declare-heap`: its grammar, and the sorts that it declares.
//!
//! Invariant: the records of the theory have the names that the checks of witnesses give them in the
//! place of the declaration.

use super::super::environment::Environment;
use super::super::error::{InputError, SortError, SyntaxError};
use super::super::formula::Value;
use super::super::lexer::{Lexed, TokenId};
use super::super::sorts::{FieldSort, WrittenSort};
use super::super::syntax::{Elements, Named};
use super::Heap;
use alphorn_term::{TermId, TermStore};

/// The names of the constructor and selectors of heaps.
const HEAP: [&str; 3] = ["heap.make", "heap.size", "heap.cells"];

/// The parts of a `declare-heap`.
pub struct HeapSyntax<'l, 't> {
    heap: Named,
    address: Named,
    /// The sort of ranges; `None` in the older form.
    range: Option<Named>,
    object: Named,
    default: TokenId,
    /// The datatypes, as in `declare-datatypes`.
    pub datatypes: Elements<'l, 't>,
}

/// Reads `declare-heap` after the keyword.
pub fn heap_syntax<'l, 't>(
    lexed: &'l Lexed<'t>,
    command: TokenId,
    mut parts: Elements<'l, 't>,
) -> Result<HeapSyntax<'l, 't>, InputError> {
    let names = match parts.count() {
        7 => 4,
        6 => 3,
        _ => 0,
    };
    let is_name = |part| lexed.symbol(part).is_some();
    if names == 0 || !{ parts }.take(names).all(is_name) {
        return Err(lexed.error(command, SyntaxError::SeparationLogic));
    }
    let has_range = parts.count() == 7;
    Ok(HeapSyntax {
        heap: parts.expect_symbol()?,
        address: parts.expect_symbol()?,
        range: has_range.then(|| parts.expect_symbol()).transpose()?,
        object: parts.expect_symbol()?,
        default: parts.expect()?,
        datatypes: parts,
    })
}

impl HeapSyntax<'_, '_> {
    /// The default object's token, and the token of the sort of objects.
    pub fn default_object(&self) -> (TokenId, TokenId) {
        (self.default, self.object.token)
    }
}

impl Environment {
    /// Declares the sorts of a heap, whose datatypes `declare` declares when the sorts of addresses
    /// and ranges are known. The default object is not known yet.
    pub fn declare_heap<'l, 't>(
        &mut self,
        lexed: &'l Lexed<'t>,
        command: TokenId,
        syntax: &HeapSyntax<'l, 't>,
        declare: impl FnOnce(&mut Self) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        if self.heap.is_some() {
            return Err(lexed.error(command, SortError::SecondHeap));
        }
        let name = |named: Named| lexed.symbols.name(named.symbol).to_owned();
        let (heap, address) = (name(syntax.heap), name(syntax.address));
        let range = syntax.range.map_or(format!("{address}Range"), name);
        let first = self.sorts.next_generic();
        let at = syntax.heap.token;
        self.sorts.declare_address(lexed, syntax.address)?;
        let field = |name: String, sort: FieldSort| (name, sort);
        let sort = |this: &mut Self, name: &str, make: &str, fields: &[_]| {
            this.sorts
                .declare_theory_sort(lexed, name, make, fields, at)
        };
        let is_older = syntax.range.is_none();
        // Of newer names only those of operations are known.
        let named = |older: String, newer: &str| match is_older {
            true => older,
            false => format!("heap.{newer}!"),
        };
        let range_sort = sort(
            self,
            &range,
            &named(range.clone(), "range"),
            &[
                field(
                    named(format!("{range}Start"), "rangeStart"),
                    FieldSort::Address,
                ),
                field(named(format!("{range}Size"), "rangeSize"), FieldSort::Int),
            ],
        )?;
        declare(self)?;
        let object = self.sorts.named(lexed, syntax.object)?;
        let [make, size, cells] = HEAP.map(str::to_owned);
        let heap_sort = sort(
            self,
            &heap,
            &make,
            &[
                field(size, FieldSort::Int),
                field(cells, FieldSort::Cells(object.0)),
            ],
        )?;
        let of_heap = FieldSort::Datatype(heap_sort.generic);
        let pair_name = match is_older {
            true => format!("AllocRes{heap}"),
            false => format!("{heap}{address}Pair"),
        };
        let pair = sort(
            self,
            &pair_name,
            &named(pair_name.clone(), "heapAddrPair"),
            &[
                field(
                    named(format!("new{heap}"), "heapAddrPair_1"),
                    of_heap.clone(),
                ),
                field(
                    named(format!("new{address}"), "heapAddrPair_2"),
                    FieldSort::Address,
                ),
            ],
        )?;
        let pair_name = match is_older {
            true => format!("BatchAllocRes{heap}"),
            false => format!("{heap}{range}Pair"),
        };
        let range_pair = sort(
            self,
            &pair_name,
            &named(pair_name.clone(), "heapRangePair"),
            &[
                field(named(format!("newBatch{heap}"), "heapRangePair_1"), of_heap),
                field(
                    named(format!("new{range}"), "heapRangePair_2"),
                    FieldSort::Datatype(range_sort.generic),
                ),
            ],
        )?;
        self.heap = Some(Heap {
            heap: heap_sort,
            range: range_sort,
            pair,
            range_pair,
            object: object.0,
            object_generic: object.1,
            default: TermId::TRUE,
            names: [heap, address, range],
            names_range: !is_older,
            first,
        });
        Ok(())
    }

    /// Sets the default object.
    pub fn set_default_object(
        &mut self,
        lexed: &Lexed<'_>,
        terms: &TermStore,
        token: TokenId,
        default: Value,
    ) -> Result<(), InputError> {
        match (default, &mut self.heap) {
            (Value::Term(term), Some(heap)) if terms.is_value(term) => {
                heap.default = term;
                Ok(())
            }
            _ => Err(lexed.error(token, SortError::DefaultObject)),
        }
    }

    /// The guard of a variable whose sort is at a token; none without a heap.
    pub fn guard(
        &mut self,
        lexed: &Lexed<'_>,
        sort: TokenId,
        variable: TermId,
    ) -> Result<Vec<TermId>, InputError> {
        if self.heap.is_none() {
            return Ok(Vec::new());
        }
        let (_, written) = self.sorts.resolve_written(lexed, sort)?;
        self.guard_of(lexed, sort, &written, variable)
    }

    /// The guard of a variable of a sort.
    pub fn guard_of(
        &self,
        lexed: &Lexed<'_>,
        place: TokenId,
        sort: &WrittenSort,
        variable: TermId,
    ) -> Result<Vec<TermId>, InputError> {
        match &self.heap {
            None => Ok(Vec::new()),
            Some(heap) => {
                let guard = self.sorts.guard(heap, sort, variable);
                guard.map_err(|kind| lexed.error(place, kind))
            }
        }
    }
}
