//! Arrays that no term over another array denotes: the arrays of one field of an array of records,
//! and arrays with shifted indexes.
//!
//! A formula over such columns is translated to the original arrays: a read of a column becomes a
//! field of an element or a read at the shifted index; an equation between columns holds at every
//! index; remaining columns are quantified existentially. A quantified index of a shifted array is
//! renamed such that some read has the bare variable as its index, since solvers find instances of
//! quantifiers by such reads.
//!
//! Invariant: the translated formula has the same value as the given one whenever the variables of
//! columns have the columns' values.

use num_traits::{One, Signed};
use rustc_hash::{FxHashMap, FxHashSet};

use super::rebase::sum;
use alphorn_term::{DatatypeId, Op, Sort, SortId, TermId, TermStore};

/// The limits of the translation.
struct Limits {
    /// Copies of one quantified formula. A formula that needs more is not shifted.
    max_copies: usize,
}

const LIMITS: Limits = Limits { max_copies: 8 };

/// An array that another array determines element by element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// The array of one field of the records in an array.
    Field {
        array: TermId,
        datatype: DatatypeId,
        field: u32,
    },
    /// The array with the element `array[base + i]` at each index `i`.
    Shifted { array: TermId, base: TermId },
}

impl Column {
    /// The sort of the column.
    pub fn sort(&self, terms: &TermStore) -> SortId {
        match *self {
            Column::Field {
                array,
                datatype,
                field,
            } => {
                let field = terms.datatype(datatype).constructors[0].fields[field as usize].sort;
                match terms.sort(terms.sort_of(array)) {
                    Sort::Array(index, _) => terms.array_sort(index, field),
                    _ => unreachable!("a column is of an array"),
                }
            }
            Column::Shifted { array, .. } => terms.sort_of(array),
        }
    }

    /// The element at an index.
    fn at(&self, terms: &TermStore, index: TermId) -> TermId {
        match *self {
            Column::Field {
                array,
                datatype,
                field,
            } => terms.field(datatype, 0, field, terms.select(array, index)),
            Column::Shifted { array, base } => terms.select(array, sum(terms, base, index)),
        }
    }
}

/// The formula without the variables that denote columns.
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
    if columns
        .values()
        .any(|c| matches!(c, Column::Shifted { .. }))
    {
        formula = with_bare_indexes(terms, formula);
    }
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

/// The arrays that `array` is made from by stores and choices, each after those that it is made
/// from, `array` last; without known arrays and those that only they are made from.
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
    /// Whether the array term is made from a column, apart from its elements.
    fn mentions(&self, array: TermId) -> bool {
        let mut stack = vec![array];
        let mut seen = FxHashSet::default();
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
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
                    Some(column) => column.at(terms, index),
                    None => terms.select(t, index),
                },
            };
            memo.insert(t, value);
        }
        memo[&array]
    }

    /// `a = b`, index by index.
    fn equal(&self, a: TermId, b: TermId) -> TermId {
        let terms = self.terms;
        let (mut a, mut b) = (a, b);
        if let (
            Some(Column::Shifted { array, base }),
            Some(Column::Shifted {
                array: other,
                base: same,
            }),
        ) = (self.columns.get(&a), self.columns.get(&b))
            && base == same
        {
            return terms.eq(*array, *other);
        }
        let mut bound = Vec::new();
        // Elements may be arrays again; sorts are finite trees, so this ends.
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

/// The formula with one copy of each universal quantifier over an index for each offset at which
/// arrays are read there, shifted such that these reads have the bare variable as index. All copies
/// are equivalent; a solver that finds instances by patterns needs the one whose array occurs in
/// the assertion.
fn with_bare_indexes(terms: &TermStore, formula: TermId) -> TermId {
    if !terms.node(formula).has_quantifier {
        return formula;
    }
    terms.rewrite_bottom_up(formula, &mut FxHashMap::default(), |t| {
        let Op::Forall(bound) = terms.op(t) else {
            return t;
        };
        let mut bodies = vec![terms.args(t)[0]];
        for &var in bound.iter() {
            let mut moved: Vec<TermId> = Vec::new();
            for &body in &bodies {
                for offset in offsets(terms, body, var) {
                    let map = std::iter::once((var, offset)).collect();
                    let body = terms.substitute(body, &map);
                    if !moved.contains(&body) {
                        moved.push(body);
                    }
                }
            }
            if (1..=LIMITS.max_copies).contains(&moved.len()) {
                bodies = moved;
            }
        }
        let copies: Vec<TermId> = bodies
            .into_iter()
            .map(|body| {
                let map = terms.renaming(bound);
                let own: Vec<TermId> = bound.iter().map(|v| map[v]).collect();
                terms.forall(&own, terms.substitute(body, &map))
            })
            .collect();
        terms.and(&copies)
    })
}

/// For each index with the variable as a summand, the term to substitute for the variable such that
/// the index becomes the variable.
fn offsets(terms: &TermStore, body: TermId, var: TermId) -> Vec<TermId> {
    let sort = terms.sort_of(var);
    // A variable bound by an inner quantifier has no meaning outside of it.
    let free: FxHashSet<TermId> = terms.free_vars(&[body]).into_iter().collect();
    let mut found: Vec<TermId> = Vec::new();
    terms.post_order(&[body], |t| {
        if *terms.op(t) != Op::Select || terms.sort_of(terms.args(t)[1]) != sort {
            return;
        }
        let index = terms.args(t)[1];
        let solved = match terms.sort(sort) {
            _ if index == var => Some(var),
            Sort::Int | Sort::Real => {
                let (coefficient, rest) = terms.linear(index).split_off(var);
                let depends = |m: &(TermId, _)| terms.free_vars(&[m.0]).contains(&var);
                let unit = coefficient.abs().is_one() && !rest.monomials.iter().any(depends);
                unit.then(|| {
                    let value = terms.linear(var).minus(&rest).scaled(&coefficient);
                    terms.from_linear(&value, sort)
                })
            }
            Sort::BitVec(_) if *terms.op(index) == Op::BvAdd => {
                let args = terms.args(index);
                let others = || args.iter().filter(|&&a| a != var);
                let depends = |a: &TermId| terms.free_vars(&[*a]).contains(&var);
                (others().count() + 1 == args.len() && !others().any(depends))
                    .then(|| others().fold(var, |value, &a| terms.bv_sub(value, a)))
            }
            _ => None,
        };
        if let Some(solved) = solved
            && !found.contains(&solved)
            && terms.free_vars(&[solved]).iter().all(|v| free.contains(v))
        {
            found.push(solved);
        }
    });
    found
}
