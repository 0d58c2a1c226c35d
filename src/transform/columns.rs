//! Arrays of the fields of records in an array: what formulas over them say of that array.
//!
//! Such an array is no term over the one with the records. Reads of it become fields of what is
//! read, equations between such arrays hold for every index, and what is left is quantified.
//!
//! Invariant: the formula that comes out has the same truth value whenever the variables of columns
//! have the columns' values.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::term::{DatatypeId, Op, Sort, SortId, TermId, TermStore};

/// The array of one field of the records in an array.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    pub array: TermId,
    pub datatype: DatatypeId,
    pub field: u32,
}

impl Column {
    /// The sort of the column.
    pub fn sort(&self, terms: &TermStore) -> SortId {
        let field = terms.datatype(self.datatype).constructors[0].fields[self.field as usize].sort;
        match terms.sort(terms.sort_of(self.array)) {
            Sort::Array(index, _) => terms.array_sort(index, field),
            _ => unreachable!("a column is of an array"),
        }
    }
}

/// A formula with variables that stand for columns, without these.
pub(super) fn express_columns(
    terms: &TermStore,
    formula: TermId,
    columns: &FxHashMap<TermId, Column>,
) -> TermId {
    if columns.is_empty() {
        return formula;
    }
    let reader = Reader { terms, columns };
    let mut memo = FxHashMap::default();
    let mut formula = terms.rewrite_bottom_up(formula, &mut memo, |t| {
        let node = terms.node(t);
        match node.op {
            Op::Select if reader.mentions(node.args[0]) => reader.read(node.args[0], node.args[1]),
            Op::Eq if reader.mentions(node.args[0]) || reader.mentions(node.args[1]) => {
                reader.equal(node.args[0], node.args[1])
            }
            _ => t,
        }
    });
    for var in terms.free_vars(&[formula]) {
        if columns.contains_key(&var) {
            let copy = terms.fresh_var("field", terms.sort_of(var));
            let map = std::iter::once((var, copy)).collect();
            let same = reader.equal(copy, var);
            let body = terms.and(&[terms.substitute(formula, &map), same]);
            formula = terms.exists(&[copy], body);
        }
    }
    formula
}

/// The arrays that an array is made from by stores and choices, itself the last, each after those
/// that it is made from; without those that are known and what these are made from.
pub(super) fn array_order(
    terms: &TermStore,
    array: TermId,
    known: impl Fn(TermId) -> bool,
) -> Vec<TermId> {
    let mut order = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack = vec![(array, false)];
    while let Some((t, ready)) = stack.pop() {
        if ready {
            order.push(t);
        } else if !known(t) && seen.insert(t) {
            stack.push((t, true));
            let node = terms.node(t);
            match node.op {
                Op::Store => stack.push((node.args[0], false)),
                Op::Ite => stack.extend(node.args[1..].iter().map(|&branch| (branch, false))),
                _ => {}
            }
        }
    }
    order
}

struct Reader<'a> {
    terms: &'a TermStore,
    columns: &'a FxHashMap<TermId, Column>,
}

impl Reader<'_> {
    /// Whether a column is what the array term is made from, outside of its elements.
    fn mentions(&self, array: TermId) -> bool {
        let mut stack = vec![array];
        while let Some(t) = stack.pop() {
            let node = self.terms.node(t);
            match node.op {
                Op::Var(_) if self.columns.contains_key(&t) => return true,
                Op::Store => stack.push(node.args[0]),
                Op::Ite => stack.extend_from_slice(&node.args[1..]),
                _ => {}
            }
        }
        false
    }

    /// `array[index]`, through stores and choices.
    fn read(&self, array: TermId, index: TermId) -> TermId {
        let terms = self.terms;
        let mut memo: FxHashMap<TermId, TermId> = FxHashMap::default();
        for t in array_order(terms, array, |_| false) {
            let node = terms.node(t);
            let value = match node.op {
                Op::Store => {
                    let here = terms.eq(node.args[1], index);
                    terms.ite(here, node.args[2], memo[&node.args[0]])
                }
                Op::Ite => terms.ite(node.args[0], memo[&node.args[1]], memo[&node.args[2]]),
                _ => match self.columns.get(&t) {
                    Some(column) => {
                        let record = terms.select(column.array, index);
                        terms.field(column.datatype, 0, column.field, record)
                    }
                    None => terms.select(t, index),
                },
            };
            memo.insert(t, value);
        }
        memo[&array]
    }

    /// `a = b` index by index.
    fn equal(&self, a: TermId, b: TermId) -> TermId {
        let terms = self.terms;
        let (mut a, mut b) = (a, b);
        let mut bound = Vec::new();
        // Elements may be arrays again; sorts are finite trees.
        while let Sort::Array(index, _) = terms.sort(terms.sort_of(a))
            && (self.mentions(a) || self.mentions(b))
        {
            let at = terms.fresh_var("i", index);
            (a, b) = (self.read(a, at), self.read(b, at));
            bound.push(at);
        }
        terms.forall(&bound, terms.eq(a, b))
    }
}
