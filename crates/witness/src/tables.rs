//! Heaps in refutations as tables of cells: `(heap.table o1 … on)` is the heap of size n with the object
//! oi in cell i.
//!
//! # Invariant
//! A table stands for a heap that has the default object outside of 1 to its size. Other heaps, and
//! heaps inside other values, are printed as records.

use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use super::sexp::elements;
use super::value::parse_value;
use alphorn_chc::frontend::{HeapSort, Problem};
use alphorn_term::{Op, Printer, SortId, TermId, TermStore};

/// The head of a table.
const TABLE: &str = "heap.table";

/// A heap as a table; `None` for other values.
pub fn table(problem: &Problem, printer: &Printer<'_>, value: TermId) -> Option<String> {
    let heap = problem.heap?;
    let terms = &*problem.terms;
    if terms.sort_of(value) != heap.sort {
        return None;
    }
    let mut out = format!("({TABLE}");
    for object in objects(terms, heap, value)? {
        out.push(' ');
        printer.write_term(&mut out, object);
    }
    out.push(')');
    Some(out)
}

/// The objects of a heap in the order of their cells.
fn objects(terms: &TermStore, heap: HeapSort, value: TermId) -> Option<Vec<TermId>> {
    let &[size, cells] = terms.args(value) else {
        return None;
    };
    let number = |term: TermId| match terms.op(term) {
        Op::Int(number) => number.to_usize(),
        _ => None,
    };
    let size = number(size).filter(|&size| size <= LIMITS.max_table_cells)?;
    let mut written: FxHashMap<usize, TermId> = FxHashMap::default();
    let mut cells = cells;
    while let (Op::Store, &[array, index, object]) = (terms.op(cells), terms.args(cells)) {
        written.entry(number(index)?).or_insert(object);
        cells = array;
    }
    let default = match (terms.op(cells), terms.args(cells)) {
        (Op::ConstArray, &[default]) => default,
        _ => return None,
    };
    let outside =
        |(cell, object): (&usize, &TermId)| !(1..=size).contains(cell) && *object != heap.default;
    if default != heap.default || written.iter().any(outside) {
        return None;
    }
    let object = |cell: usize| written.get(&cell).copied().unwrap_or(default);
    Some((1..=size).map(object).collect())
}

/// The heap of a table; `None` if the text is none.
///
/// # Errors
/// An element is no object.
pub fn parse_table(problem: &Problem, text: &str, sort: SortId) -> Option<Result<TermId, String>> {
    let heap = problem.heap.filter(|heap| heap.sort == sort)?;
    let parts = elements(text, &(0..text.len()))?;
    let (head, objects) = parts.split_first()?;
    if &text[head.clone()] != TABLE {
        return None;
    }
    let terms = &*problem.terms;
    let alphorn_term::Sort::Datatype(id) = terms.sort(sort) else {
        return None;
    };
    let mut cells = terms.const_array(terms.array_sort(SortId::INT, heap.object), heap.default);
    for (number, object) in objects.iter().enumerate() {
        let object = match parse_value(terms, &text[object.clone()], heap.object) {
            Ok(object) => object,
            Err(message) => return Some(Err(message)),
        };
        cells = terms.store(cells, terms.int(number as i64 + 1), object);
    }
    let size = terms.int(objects.len() as i64);
    Some(Ok(terms.construct(id, 0, &[size, cells])))
}
