//! Reads over writes in the cubes of obligations, for lemmas about all cells.
//!
//! A write to an array remains in the cube of the predecessor as `a[i := v][j]`. A lemma made of it
//! would be about one order of writes. So the state from which the cube was made decides whether
//! the index that is read is the one that was written. Where the state has one value for the
//! indexes of two reads in a literal, as in `a[i] ≠ b[1]` with `i = 1`, these become one index, so
//! that the literal is about one cell.
//!
//! Invariant: the returned cube implies the given one and holds in the state.

use rustc_hash::FxHashMap;

use super::array_indexes::indexes;
use super::limits::LIMITS;
use alphorn_term::{Evaluator, Op, SortId, TermId, TermStore};

/// The cube with its reads over few writes decided as in the state `values`. Reads for which the
/// state has no value are unchanged.
pub(super) fn decide_reads(
    terms: &TermStore,
    cube: Vec<TermId>,
    values: &mut Evaluator,
) -> Vec<TermId> {
    let mut memo = FxHashMap::default();
    let mut side = Vec::new();
    let mut decided: Vec<TermId> = Vec::with_capacity(cube.len());
    for literal in cube {
        decided.push(match indexes(terms, literal).is_empty() {
            true => literal,
            false => terms.rewrite_bottom_up(literal, &mut memo, |term| {
                decide(terms, term, values, &mut side).unwrap_or(term)
            }),
        });
    }
    for literal in &mut decided {
        if let Some(one) = align(terms, *literal, values, &mut side) {
            *literal = one;
        }
    }
    decided.extend(side);
    decided.retain(|&l| l != TermId::TRUE);
    decided
}

/// The literal with one index in place of several with the same value in the state, a term rather
/// than a numeral; adds the equations to `side`. `None` if there are no such indexes.
fn align(
    terms: &TermStore,
    literal: TermId,
    values: &mut Evaluator,
    side: &mut Vec<TermId>,
) -> Option<TermId> {
    let indexes = indexes(terms, literal);
    if indexes.len() < 2 {
        return None;
    }
    let mut classes: Vec<(TermId, TermId)> = Vec::new();
    for &index in &indexes {
        let value = values.value(index)?;
        match classes.iter_mut().find(|c| c.0 == value) {
            Some(class) if terms.is_value(class.1) => class.1 = index,
            Some(_) => {}
            None => classes.push((value, index)),
        }
    }
    let mut map = FxHashMap::default();
    for &index in &indexes {
        let value = values.value(index)?;
        let one = classes.iter().find(|c| c.0 == value)?.1;
        if one != index {
            map.insert(index, one);
            side.push(terms.eq(index, one));
        }
    }
    if map.is_empty() {
        return None;
    }
    let mut memo = FxHashMap::default();
    Some(terms.rewrite_bottom_up(literal, &mut memo, |term| {
        let read = *terms.op(term) == Op::Select;
        let index = read.then(|| map.get(&terms.args(term)[1])).flatten();
        index.map_or(term, |&index| terms.select(terms.args(term)[0], index))
    }))
}

/// A read over writes as a read of the array before them, or as the written element; adds the
/// literals about indexes to `side`. `None` for other terms, and where the state has no value.
fn decide(
    terms: &TermStore,
    term: TermId,
    values: &mut Evaluator,
    side: &mut Vec<TermId>,
) -> Option<TermId> {
    if *terms.op(term) != Op::Select {
        return None;
    }
    let (mut array, read) = (terms.args(term)[0], terms.args(term)[1]);
    if writes(terms, array) > LIMITS.decided_writes {
        return None;
    }
    let at = values.value(read)?;
    let mut literals = Vec::new();
    let mut result = None;
    while result.is_none() && *terms.op(array) == Op::Store {
        let (below, written, element) = {
            let args = terms.args(array);
            (args[0], args[1], args[2])
        };
        let place = values.value(written)?;
        if place == at {
            literals.push(terms.eq(written, read));
            result = Some(element);
        } else {
            literals.push(apart(terms, (written, place), (read, at)));
            array = below;
        }
    }
    side.extend(literals);
    Some(result.unwrap_or_else(|| terms.select(array, read)))
}

/// The number of writes at the top of an array term.
fn writes(terms: &TermStore, array: TermId) -> usize {
    let below = |&a: &TermId| (*terms.op(a) == Op::Store).then(|| terms.args(a)[0]);
    std::iter::successors(Some(array), below).count() - 1
}

/// The literal that two indexes with different values (second components) differ; for numbers, `<`
/// or `>`.
fn apart(terms: &TermStore, a: (TermId, TermId), b: (TermId, TermId)) -> TermId {
    if [SortId::INT, SortId::REAL].contains(&terms.sort_of(a.0)) {
        return match terms.numeral(a.1) < terms.numeral(b.1) {
            true => terms.lt(a.0, b.0),
            false => terms.gt(a.0, b.0),
        };
    }
    terms.not(terms.eq(a.0, b.0))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use alphorn_smt::{SatResult, Smt};
    use alphorn_term::{Assignment, Random, evaluate};

    /// Cubes with reads over writes to two arrays, and states in them.
    #[test]
    fn decided_cubes_imply_the_given_ones_and_hold_in_the_state() {
        let terms = Rc::new(TermStore::new());
        let smt = Smt::new(terms.clone());
        let mut random = Random::new(5);
        let sort = terms.array_sort(SortId::INT, SortId::INT);
        let arrays = ["a", "b"].map(|n| terms.var(n, sort));
        let vars = ["i", "j", "k"].map(|n| terms.var(n, SortId::INT));
        let (mut written, mut aligned) = (0, 0);
        for _ in 0..400 {
            let index = |random: &mut Random| match random.one_in(3) {
                true => terms.int(random.between(0, 2)),
                false => terms.add(&[*random.pick(&vars), terms.int(random.between(-1, 1))]),
            };
            let read = |random: &mut Random| {
                let mut array = *random.pick(&arrays);
                for _ in 0..random.below(4) {
                    let at = index(random);
                    let value = match random.one_in(2) {
                        true => *random.pick(&vars),
                        false => terms.select(*random.pick(&arrays), index(random)),
                    };
                    array = terms.store(array, at, value);
                }
                terms.select(array, index(random))
            };
            let atoms: Vec<TermId> = (0..3)
                .map(|_| {
                    let (left, right) = (read(&mut random), read(&mut random));
                    match random.one_in(2) {
                        true => terms.le(left, right),
                        false => terms.eq(left, right),
                    }
                })
                .collect();
            let mut state = Assignment::default();
            for &var in &vars {
                state.insert(var, terms.int(random.between(0, 2)));
            }
            for &array in &arrays {
                let mut value = terms.const_array(sort, terms.int(random.between(0, 1)));
                for at in 0..3 {
                    value = terms.store(value, terms.int(at), terms.int(random.between(0, 2)));
                }
                state.insert(array, value);
            }
            let holds = |l: TermId| evaluate(&terms, l, &state) == Some(TermId::TRUE);
            let cube: Vec<TermId> = atoms
                .into_iter()
                .map(|a| if holds(a) { a } else { terms.not(a) })
                .collect();
            let given = terms.and(&cube);
            let decided = decide_reads(&terms, cube, &mut Evaluator::new(&terms, &state));
            assert!(decided.iter().all(|&l| holds(l)));
            let mut solver = smt.solver();
            solver.assert(terms.not(given));
            assert_eq!(solver.check(&decided), SatResult::Unsat);
            for &literal in &decided {
                terms.post_order(&[literal], |t| assert_ne!(*terms.op(t), Op::Store));
                let indexes = indexes(&terms, literal);
                let mut values: Vec<TermId> = indexes
                    .iter()
                    .map(|&i| evaluate(&terms, i, &state).unwrap())
                    .collect();
                values.sort_unstable();
                values.dedup();
                assert_eq!(values.len(), indexes.len(), "one index for each cell");
                aligned += usize::from(indexes.len() == 1);
            }
            let mut stores = false;
            terms.post_order(&[given], |t| stores |= *terms.op(t) == Op::Store);
            written += usize::from(stores);
        }
        assert!(written > 200 && aligned > 200, "{written} {aligned}");
    }

    #[test]
    fn long_chains_of_writes_stay() {
        let terms = TermStore::new();
        let sort = terms.array_sort(SortId::INT, SortId::INT);
        let (mut array, i) = (terms.var("a", sort), terms.var("i", SortId::INT));
        let mut state = Assignment::default();
        state.insert(i, terms.int(9));
        state.insert(array, terms.const_array(sort, terms.int(0)));
        for at in 0..=LIMITS.decided_writes {
            array = terms.store(array, terms.int(at as i64), terms.int(7));
        }
        let literal = terms.le(terms.select(array, i), terms.int(3));
        let decided = decide_reads(&terms, vec![literal], &mut Evaluator::new(&terms, &state));
        assert_eq!(decided, [literal]);
    }
}
