//! Random constraints: satisfiability for values of the kept variables is unchanged, and the
//! definitions give values to the eliminated locals.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::reduce;
use alphorn_smt::{SatResult, Smt};
use alphorn_term::{Assignment, Evaluator, Random, Rational, SortId, TermId, TermStore};

struct Maker {
    t: Rc<TermStore>,
    random: Random,
    numeric: SortId,
    numbers: Vec<TermId>,
    formulas: Vec<TermId>,
    arrays: Vec<TermId>,
}

impl Maker {
    fn number(&mut self, depth: usize) -> TermId {
        let t = self.t.clone();
        let value = Rational::from_integer((self.random.below(5) as i64 - 2).into());
        let numeral = t.number(&value, self.numeric);
        match self.random.below(if depth > 0 { 7 } else { 3 }) {
            0 => numeral,
            1 | 2 => self.numbers[self.random.below(self.numbers.len())],
            3 => t.mul(&[numeral, self.number(depth - 1)]),
            4 => t.select(self.array(depth - 1), self.number(0)),
            5 => t.ite(
                self.formula(depth - 1),
                self.number(depth - 1),
                self.number(0),
            ),
            _ => t.add(&[self.number(depth - 1), self.number(depth - 1)]),
        }
    }

    fn array(&mut self, depth: usize) -> TermId {
        let array = self.arrays[self.random.below(self.arrays.len())];
        if depth == 0 || self.random.below(2) == 0 {
            return array;
        }
        let below = self.array(depth - 1);
        let (index, value) = (self.number(0), self.number(depth - 1));
        self.t.store(below, index, value)
    }

    fn formula(&mut self, depth: usize) -> TermId {
        let t = self.t.clone();
        match self.random.below(if depth > 0 { 9 } else { 3 }) {
            0 => self.formulas[self.random.below(self.formulas.len())],
            1 | 3 => t.le(self.number(depth), self.number(depth)),
            2 | 4 => t.eq(self.number(depth), self.number(depth)),
            5 => t.eq(self.array(depth), self.array(depth)),
            6 => t.and(&[self.formula(depth - 1), self.formula(depth - 1)]),
            7 => t.or(&[self.formula(depth - 1), self.formula(depth - 1)]),
            _ => t.not(self.formula(depth - 1)),
        }
    }
}

/// Two kept variables and some locals of each sort.
fn maker(seed: u64, real: bool) -> (Maker, Vec<TermId>) {
    let t = Rc::new(TermStore::new());
    let numeric = if real { SortId::REAL } else { SortId::INT };
    let array = t.array_sort(numeric, numeric);
    let numbers = ["k", "l", "l2", "l3"].map(|n| t.var(n, numeric)).to_vec();
    let formulas = ["kb", "b", "b2"].map(|n| t.var(n, SortId::BOOL)).to_vec();
    let arrays = ["ka", "a", "a2"].map(|n| t.var(n, array)).to_vec();
    let kept = vec![numbers[0], formulas[0], arrays[0]];
    let maker = Maker {
        t,
        random: Random::new(seed),
        numeric,
        numbers,
        formulas,
        arrays,
    };
    (maker, kept)
}

#[test]
fn meaning_for_the_kept_variables_stays() {
    let mut satisfiable = 0;
    for seed in 0..400 {
        let (mut m, kept) = maker(seed, seed % 4 == 3);
        let t = m.t.clone();
        let conjuncts: Vec<TermId> = (0..2 + m.random.below(5)).map(|_| m.formula(2)).collect();
        let constraint = t.and(&conjuncts);
        let rank: FxHashMap<TermId, u32> = kept.iter().copied().zip(0..).collect();
        let reduction = reduce(&t, constraint, &rank);
        let smt = Smt::new(t.clone());
        let all = t.free_vars(&[constraint, reduction.constraint]);
        for point in 0..5_i64 {
            // A point of the kept variables from a model of one side, if there is one.
            let number = Rational::from_integer((point - 2).into());
            let near = t.eq(kept[0], t.number(&number, m.numeric));
            let side = [constraint, reduction.constraint][usize::from(point % 2 == 1)];
            let mut solver = smt.solver();
            solver.assert(t.and(&[side, near]));
            if solver.check(&[]) != SatResult::Sat {
                continue;
            }
            let Ok(point) = solver.model().unwrap().assignment(&kept) else {
                continue;
            };
            satisfiable += 1;
            let mut solver = smt.solver();
            solver.assert(t.substitute(reduction.constraint, &point));
            assert_eq!(solver.check(&[]), SatResult::Sat, "seed {seed}");
            let open: Vec<TermId> = all
                .iter()
                .copied()
                .filter(|v| !point.contains_key(v))
                .collect();
            let mut values: Assignment = solver.model().unwrap().assignment(&open).unwrap();
            values.extend(point);
            let defined: Vec<TermId> = reduction.definitions.iter().map(|d| d.0).collect();
            values.retain(|v, _| !defined.contains(v));
            for v in t.free_vars(&[constraint]) {
                if !defined.contains(&v) {
                    let value = t.default_value(t.sort_of(v)).unwrap();
                    values.entry(v).or_insert(value);
                }
            }
            for (_, term) in &reduction.definitions {
                for v in t.free_vars(&[*term]) {
                    if !defined.contains(&v) {
                        let value = t.default_value(t.sort_of(v)).unwrap();
                        values.entry(v).or_insert(value);
                    }
                }
            }
            let mut evaluator = Evaluator::new(&t, &values);
            for &(var, term) in &reduction.definitions {
                let value = evaluator.value(term).expect("defined");
                evaluator.bind(var, value);
            }
            assert_eq!(
                evaluator.value(constraint),
                Some(TermId::TRUE),
                "seed {seed}"
            );
        }
    }
    assert!(satisfiable > 500, "{satisfiable} points");
}

#[test]
fn locals_go_where_nothing_grows() {
    let t = TermStore::new();
    let array = t.array_sort(SortId::INT, SortId::INT);
    let [k, j, l] = ["k", "j", "l"].map(|n| t.var(n, SortId::INT));
    let (b, kb, a, ka) = (
        t.var("b", SortId::BOOL),
        t.var("kb", SortId::BOOL),
        t.var("a", array),
        t.var("ka", array),
    );
    let rank: FxHashMap<TermId, u32> = [k, j, kb, ka].into_iter().zip(0..).collect();
    let check = |conjuncts: &[TermId], expected: TermId| {
        let found = reduce(&t, t.and(conjuncts), &rank).constraint;
        assert_eq!(t.conjuncts(found), t.conjuncts(expected));
    };
    // k ≤ l, 2l ≤ j
    let twice = t.mul(&[t.int(2), l]);
    check(
        &[t.le(k, l), t.le(twice, j)],
        t.le(t.mul(&[t.int(2), k]), j),
    );
    // No coefficient is one.
    let thrice = t.mul(&[t.int(3), l]);
    let both = [t.le(k, thrice), t.le(twice, j)];
    check(&both, t.and(&both));
    // (b ∨ k ≤ 0) ∧ (¬b ∨ j ≤ 0)
    let (low, small) = (t.le(k, t.int(0)), t.le(j, t.int(0)));
    check(
        &[t.or(&[b, low]), t.or(&[t.not(b), small])],
        t.or(&[low, small]),
    );
    // ka = store(a, k, j), and nothing else of a
    check(&[t.eq(ka, t.store(a, k, j))], t.eq(t.select(ka, k), j));
    // ka = store(a, k, a[k] + l) with l ≥ 0 and a[k] + l ≤ j: the value that is written reads a
    let written = t.add(&[t.select(a, k), l]);
    check(
        &[
            t.eq(ka, t.store(a, k, written)),
            t.ge(l, t.int(0)),
            t.le(written, j),
        ],
        t.le(t.select(ka, k), j),
    );
    // An index that reads a is left.
    let deep = t.eq(ka, t.store(a, t.select(a, k), j));
    check(&[deep], deep);
    // a is read at one place
    check(
        &[t.le(t.select(a, k), j), t.ge(t.select(a, k), t.int(3))],
        t.ge(j, t.int(3)),
    );
    // Bounds decide.
    let five = t.ge(k, t.int(5));
    let other = t.or(&[t.le(k, t.int(3)), kb]);
    check(&[five, other], t.and(&[five, kb]));
    let sum = t.ge(t.add(&[k, j]), t.int(2));
    check(
        &[five, t.ge(j, t.int(0)), sum],
        t.and(&[five, t.ge(j, t.int(0))]),
    );
    // Common parts of disjuncts are factored out.
    let either = t.or(&[t.and(&[five, kb]), t.and(&[five, small])]);
    check(&[either], t.and(&[five, t.or(&[kb, small])]));
    // Reads are simplified through stores.
    let read = t.select(t.store(ka, k, j), t.int(0));
    let zero = t.select(ka, t.int(0));
    check(&[five, t.le(read, j)], t.and(&[five, t.le(zero, j)]));
}
