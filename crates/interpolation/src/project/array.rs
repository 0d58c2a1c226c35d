//! Arrays: reads become element variables, and writes become reads, as in Komuravelli, Bjørner,
//! Gurfinkel, McMillan, FMCAD 2015.
//!
//! For a variable `a`, in this order: the model decides reads over writes; every read `a[i]`
//! becomes an element variable, one per value of the index; a disequality of arrays gets one index
//! as a witness; a partial equality `store(a, i, v) = t` is solved for `a`, with a fresh element
//! for the overwritten one. If `a` has no definition, the indexes that are read are required to
//! differ, so an array with these elements exists.
//!
//! Invariant: literals about indexes that are added hold in the model; element variables are
//! eliminated later, like any others of their sort.

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::state::State;
use alphorn_term::{BigUint, Op, Rational, Sort, SortId, TermId, TermStore};

/// The reads of one array variable.
struct Cells {
    array: TermId,
    /// By the index's value: position in `reads`.
    class: FxHashMap<TermId, usize>,
    /// Index term and element variable.
    reads: Vec<(TermId, TermId)>,
    /// Decisions of the model about indexes.
    side: Decisions,
}

/// Decisions of the model about indexes and elements.
#[derive(Default)]
struct Decisions {
    literals: Vec<TermId>,
    /// Pairs of different indexes.
    apart: Vec<(TermId, TermId)>,
}

/// Eliminates array variables; this may add variables of their element and index sorts.
pub(super) fn eliminate(state: &mut State, arrays: &[TermId]) {
    for &array in arrays {
        if state.failed || !state.is_remaining(array) {
            continue;
        }
        if state.degree(array) == 0 {
            state.retire(array);
        } else if eliminate_one(state, array).is_none() {
            // A term without a value, which is impossible in a true literal.
            state.failed = true;
        }
    }
}

fn eliminate_one(state: &mut State, array: TermId) -> Option<()> {
    let terms = state.terms;
    let mut cells = Cells {
        array,
        class: FxHashMap::default(),
        reads: Vec::new(),
        side: Decisions::default(),
    };
    let mut memo = FxHashMap::default();
    let mut pending = state.take(array);
    let mut whole: Vec<TermId> = Vec::new();
    let mut definition: Option<(TermId, TermId)> = None;
    let mut unsupported = false;
    while let Some(literal) = pending.pop() {
        let literal = replace_reads(state, &mut cells, &mut memo, literal)?;
        pending.append(&mut cells.side.literals);
        if !state.contains(literal, array) {
            state.add(literal);
            continue;
        }
        match classify(state, &cells, literal) {
            Shape::Different(left, right) => match witness(state, &cells, left, right) {
                Some(index) => {
                    let reads = [terms.select(left, index), terms.select(right, index)];
                    pending.push(terms.not(terms.eq(reads[0], reads[1])));
                }
                None => {
                    unsupported = true;
                    whole.push(literal);
                }
            },
            Shape::Both(left, right) => {
                for index in indexes(state, left)
                    .into_iter()
                    .chain(indexes(state, right))
                {
                    pending.push(terms.eq(terms.select(left, index), terms.select(right, index)));
                }
            }
            Shape::Definition(chain, target) if definition.is_none() => {
                definition = Some((chain, target));
            }
            Shape::Definition(..) => whole.push(literal),
            Shape::Other => {
                unsupported = true;
                whole.push(literal);
            }
        }
    }
    let apart = std::mem::take(&mut cells.side.apart);
    for literal in differences(state, apart)? {
        if state.contains(literal, array) {
            // An index that contains the array as a whole.
            unsupported = true;
            whole.push(literal);
        } else {
            state.add(literal);
        }
    }
    if unsupported {
        if let Some((chain, target)) = definition {
            whole.push(terms.eq(chain, target));
        }
        let value = state.value(array)?;
        state.valued += 1;
        define(state, &cells, &whole, value, value)
    } else if let Some((chain, target)) = definition {
        let solution = peel(state, chain, target)?;
        define(state, &cells, &whole, solution, target)
    } else {
        state.retire(array);
        separate(state, &cells)
    }
}

enum Shape {
    /// Different arrays, one of them a chain of writes to the variable.
    Different(TermId, TermId),
    /// Equal chains of writes to the variable on both sides.
    Both(TermId, TermId),
    /// A chain of writes to the variable equals a term without it.
    Definition(TermId, TermId),
    Other,
}

fn classify(state: &State, cells: &Cells, literal: TermId) -> Shape {
    let terms = state.terms;
    let (atom, positive) = match *terms.op(literal) {
        Op::Not => (terms.args(literal)[0], false),
        _ => (literal, true),
    };
    if *terms.op(atom) != Op::Eq {
        return Shape::Other;
    }
    let sides = [terms.args(atom)[0], terms.args(atom)[1]];
    let array = cells.array;
    // If the variable occurs in an index or a written element, there is no rule.
    let clean = |side: TermId| {
        let mut current = side;
        while *terms.op(current) == Op::Store {
            let args = terms.args(current);
            if state.contains(args[1], array) || state.contains(args[2], array) {
                return None;
            }
            current = args[0];
        }
        Some(current == array)
    };
    let rooted = [clean(sides[0]), clean(sides[1])];
    if rooted.contains(&None) || !rooted.contains(&Some(true)) {
        return Shape::Other;
    }
    if !positive {
        return Shape::Different(sides[0], sides[1]);
    }
    match rooted {
        [Some(true), Some(true)] => Shape::Both(sides[0], sides[1]),
        [Some(true), _] if !state.contains(sides[1], array) => {
            Shape::Definition(sides[0], sides[1])
        }
        [_, Some(true)] if !state.contains(sides[0], array) => {
            Shape::Definition(sides[1], sides[0])
        }
        _ => Shape::Other,
    }
}

/// The indexes of a chain of writes.
fn indexes(state: &State, chain: TermId) -> Vec<TermId> {
    let terms = state.terms;
    let mut result = Vec::new();
    let mut current = chain;
    while *terms.op(current) == Op::Store {
        result.push(terms.args(current)[1]);
        current = terms.args(current)[0];
    }
    result
}

fn root(state: &State, chain: TermId) -> TermId {
    let mut current = chain;
    while *state.terms.op(current) == Op::Store {
        current = state.terms.args(current)[0];
    }
    current
}

/// Reads at `index` through the writes above `base` as the model decides; adds the decisions to
/// `side`.
fn read_through(
    state: &mut State,
    chain: TermId,
    base: TermId,
    index: TermId,
    side: &mut Decisions,
) -> Option<Result<TermId, TermId>> {
    let terms = state.terms;
    let mut current = chain;
    while current != base && *terms.op(current) == Op::Store {
        let args = terms.args(current);
        if state.same(args[1], index)? {
            side.literals.push(terms.eq(args[1], index));
            return Some(Ok(args[2]));
        }
        side.apart.push((args[1], index));
        current = args[0];
    }
    Some(Err(current))
}

/// The literal with reads of the array replaced by element variables.
fn replace_reads(
    state: &mut State,
    cells: &mut Cells,
    memo: &mut FxHashMap<TermId, TermId>,
    literal: TermId,
) -> Option<TermId> {
    let terms = state.terms;
    let mut defined = true;
    let result = terms.rewrite_bottom_up(literal, memo, |term| {
        if *terms.op(term) != Op::Select {
            return term;
        }
        let (chain, index) = (terms.args(term)[0], terms.args(term)[1]);
        if root(state, chain) != cells.array {
            return term;
        }
        match read_through(state, chain, cells.array, index, &mut cells.side) {
            Some(Ok(element)) => element,
            Some(Err(_)) => cell(state, cells, index).unwrap_or_else(|| {
                defined = false;
                term
            }),
            None => {
                defined = false;
                term
            }
        }
    });
    defined.then_some(result)
}

/// The element variable of a read.
fn cell(state: &mut State, cells: &mut Cells, index: TermId) -> Option<TermId> {
    let terms = state.terms;
    let value = state.value(index)?;
    if let Some(&at) = cells.class.get(&value) {
        let (other, element) = cells.reads[at];
        cells.side.literals.push(terms.eq(other, index));
        return Some(element);
    }
    let held = state.value(terms.select(cells.array, value))?;
    let element = state.fresh(terms.sort_of(held), held);
    cells.class.insert(value, cells.reads.len());
    cells.reads.push((index, element));
    Some(element)
}

/// The term for `a` such that the chain of writes to `a` is the target: `store(b, i, v) = t` is
/// equivalent to `t[i] = v` and `b = store(t, i, e)` for some `e`, the overwritten element.
fn peel(state: &mut State, chain: TermId, target: TermId) -> Option<TermId> {
    let terms = state.terms;
    let mut side = Decisions::default();
    let mut current = chain;
    let mut solution = target;
    while *terms.op(current) == Op::Store {
        let args = terms.args(current);
        let (below, index, value) = (args[0], args[1], args[2]);
        let read = match read_through(state, solution, target, index, &mut side)? {
            Ok(element) => element,
            Err(base) => terms.select(base, index),
        };
        side.literals.push(terms.eq(read, value));
        let held = state.value(terms.select(below, index))?;
        let hidden = state.fresh(terms.sort_of(held), held);
        solution = terms.store(solution, index, hidden);
        current = below;
    }
    decide(state, side)?;
    Some(solution)
}

/// Replaces the array by its solution, a chain of writes above `base`.
fn define(
    state: &mut State,
    cells: &Cells,
    whole: &[TermId],
    solution: TermId,
    base: TermId,
) -> Option<()> {
    let terms = state.terms;
    state.retire(cells.array);
    let mut map = FxHashMap::default();
    map.insert(cells.array, solution);
    let mut memo = FxHashMap::default();
    for &literal in whole {
        let literal = terms.substitute_with(literal, &map, &mut memo);
        state.add(literal);
    }
    let mut side = Decisions::default();
    for &(index, element) in &cells.reads {
        // An index may contain the array as a whole, for example in a read of another array.
        let index = terms.substitute_with(index, &map, &mut memo);
        let read = match read_through(state, solution, base, index, &mut side)? {
            Ok(read) => read,
            Err(below) => terms.select(below, index),
        };
        side.literals.push(terms.eq(read, element));
    }
    decide(state, side)
}

/// Adds the decisions of the model.
fn decide(state: &mut State, side: Decisions) -> Option<()> {
    for literal in side.literals {
        state.add(literal);
    }
    for literal in differences(state, side.apart)? {
        state.add(literal);
    }
    Some(())
}

/// Requires the read indexes to be different.
fn separate(state: &mut State, cells: &Cells) -> Option<()> {
    let mut apart = Vec::new();
    for (at, &(left, _)) in cells.reads.iter().enumerate() {
        apart.extend(
            cells.reads[at + 1..]
                .iter()
                .map(|&(right, _)| (left, right)),
        );
    }
    for literal in differences(state, apart)? {
        state.add(literal);
    }
    Some(())
}

/// Literals that imply that the terms of each pair differ and hold in the model: one for each pair,
/// or an order of all terms if that is much shorter.
fn differences(state: &mut State, pairs: Vec<(TermId, TermId)>) -> Option<Vec<TermId>> {
    let terms = state.terms;
    let mut literals: Vec<TermId> = pairs
        .iter()
        .map(|&(a, b)| terms.not(terms.eq(a, b)))
        .filter(|&l| l != TermId::TRUE)
        .collect();
    literals.sort_unstable();
    literals.dedup();
    let mut indexes: Vec<TermId> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    indexes.sort_unstable();
    indexes.dedup();
    if literals.len() <= LIMITS.pairs_per_index * indexes.len() {
        return Some(literals);
    }
    let sort = terms.sort_of(indexes[0]);
    let less: fn(&TermStore, TermId, TermId) -> TermId = match terms.sort(sort) {
        Sort::Int | Sort::Real => |t, a, b| t.lt(a, b),
        Sort::BitVec(_) => |t, a, b| t.bv_ult(a, b),
        _ => return Some(literals),
    };
    let mut values = Vec::with_capacity(indexes.len());
    for &index in &indexes {
        values.push((state.value(index)?, index));
    }
    // By value; values come first among equal terms, so that they represent their class.
    let number = |v: TermId| match terms.as_bitvec(v) {
        Some(bits) => Some(Rational::from_integer(bits.clone().into())),
        None => terms.numeral(v),
    };
    values.sort_by_cached_key(|&(value, index)| (number(value), value != index, index));
    let mut ordered = Vec::with_capacity(values.len());
    let mut representative = values[0].1;
    for pair in values.windows(2) {
        let index = pair[1].1;
        if pair[0].0 == pair[1].0 {
            ordered.push(terms.eq(representative, index));
        } else {
            ordered.push(less(terms, representative, index));
            representative = index;
        }
    }
    Some(ordered)
}

/// Replaces reads over writes with remaining variables as the model decides, so that these
/// variables occur in comparisons only. All arrays are eliminated before.
pub(super) fn reduce_reads(state: &mut State) {
    let terms = state.terms;
    let mut literals: Vec<TermId> = Vec::new();
    for var in state.remaining(|_| true) {
        literals.extend(state.literals_of(var));
    }
    literals.sort_unstable();
    literals.dedup();
    let mut memo = FxHashMap::default();
    for literal in literals {
        let mut side = Decisions::default();
        let result = terms.rewrite_bottom_up(literal, &mut memo, |term| {
            if *terms.op(term) != Op::Select || *terms.op(terms.args(term)[0]) != Op::Store {
                return term;
            }
            let (chain, index) = (terms.args(term)[0], terms.args(term)[1]);
            let involved = indexes(state, chain);
            let concerned = |i: &TermId| state.has_remaining(*i);
            if involved.len() > LIMITS.max_writes || !involved.iter().chain([&index]).any(concerned)
            {
                return term;
            }
            let base = root(state, chain);
            match read_through(state, chain, base, index, &mut side) {
                Some(Ok(element)) => element,
                Some(Err(below)) => terms.select(below, index),
                None => term,
            }
        });
        if result != literal {
            state.remove(literal);
            state.add(result);
        }
        if decide(state, side).is_none() {
            state.failed = true;
        }
    }
}

/// An index at which two arrays differ: an index term that occurs, or a fresh variable.
fn witness(state: &mut State, cells: &Cells, left: TermId, right: TermId) -> Option<TermId> {
    let terms = state.terms;
    let mut known = indexes(state, left);
    known.extend(indexes(state, right));
    known.extend(cells.reads.iter().map(|r| r.0));
    for index in known {
        if state.contains(index, cells.array) {
            continue;
        }
        let reads = [terms.select(left, index), terms.select(right, index)];
        if !state.same(reads[0], reads[1])? {
            return Some(index);
        }
    }
    let (left, right) = (state.value(left)?, state.value(right)?);
    let (a, a_default) = terms.array_value(left);
    let (b, b_default) = terms.array_value(right);
    let used: FxHashSet<TermId> = a.iter().chain(&b).map(|e| e.0).collect();
    let mut candidates: Vec<TermId> = a.iter().chain(&b).map(|e| e.0).collect();
    let Sort::Array(index_sort, _) = terms.sort(terms.sort_of(left)) else {
        return None;
    };
    if a_default != b_default {
        candidates.extend(unused_value(state, index_sort, &used));
    }
    let index = candidates
        .into_iter()
        .find(|&i| terms.select(left, i) != terms.select(right, i))?;
    Some(state.fresh(index_sort, index))
}

/// A value of the sort that is not in `used`.
fn unused_value(state: &State, sort: SortId, used: &FxHashSet<TermId>) -> Option<TermId> {
    let terms = state.terms;
    let candidate = |n: usize| match terms.sort(sort) {
        Sort::Bool => Some(terms.bool(n == 1)),
        Sort::Int => Some(terms.int(n)),
        Sort::Real => Some(terms.to_real(terms.int(n))),
        Sort::BitVec(width) => Some(terms.bitvec(BigUint::from(n), width)),
        _ => terms.default_value(sort),
    };
    (0..=used.len())
        .filter_map(candidate)
        .find(|v| !used.contains(v))
}
