//! Particular projections with their results.

use rustc_hash::FxHashSet;

use super::{Generator, INTS};
use crate::project::{project, project_formula};
use alphorn_term::{Assignment, Evaluator, Random, SortId, TermId, TermStore};

/// Variables with their values, as an assignment.
fn assign(pairs: &[(TermId, TermId)]) -> Assignment {
    pairs.iter().copied().collect()
}

fn projected(
    terms: &TermStore,
    literals: &[TermId],
    eliminate: &[TermId],
    model: &Assignment,
) -> FxHashSet<TermId> {
    let result = project(terms, literals, eliminate, model).expect("a model");
    assert_eq!(result.valued, 0);
    result.literals.into_iter().collect()
}

#[test]
fn one_sided_bounds_vanish() {
    let terms = TermStore::new();
    let [x, y, z] = ["x", "y", "z"].map(|n| terms.var(n, SortId::INT));
    let literals = [
        terms.le(x, y),
        terms.le(terms.mul(&[terms.int(3), x]), z),
        terms.not(terms.eq(x, terms.int(5))),
    ];
    let model = assign(&[(x, terms.int(1)), (y, terms.int(2)), (z, terms.int(3))]);
    assert!(projected(&terms, &literals, &[x], &model).is_empty());
    // Dropping z makes x unbounded, but not y.
    assert!(projected(&terms, &literals, &[z, x], &model).is_empty());
}

#[test]
fn coefficients_leave_divisibility() {
    let terms = TermStore::new();
    let [x, y] = ["x", "y"].map(|n| terms.var(n, SortId::INT));
    let double = terms.mul(&[terms.int(2), x]);
    let model = assign(&[(x, terms.int(3)), (y, terms.int(6))]);
    let even = terms.eq(terms.modulo(y, terms.int(2)), terms.int(0));
    for literals in [
        vec![terms.eq(double, y)],
        vec![terms.le(double, y), terms.ge(double, y)],
    ] {
        let result = projected(&terms, &literals, &[x], &model);
        assert_eq!(result, FxHashSet::from_iter([even]));
    }
    // 2x is in [y, z], and the gap is wide enough for any y.
    let z = terms.var("z", SortId::INT);
    let mut model = model;
    model.insert(z, terms.int(9));
    let literals = [terms.ge(double, y), terms.le(double, z)];
    let result = projected(&terms, &literals, &[x], &model);
    assert_eq!(result, FxHashSet::from_iter([terms.lt(y, z)]));
}

#[test]
fn remainders_are_solved() {
    let terms = TermStore::new();
    let [x, y] = ["x", "y"].map(|n| terms.var(n, SortId::INT));
    // y is any remainder: the result does not contain the value of x.
    let literals = [terms.eq(terms.modulo(x, terms.int(7)), y)];
    let model = assign(&[(x, terms.int(17)), (y, terms.int(3))]);
    let expected = [terms.ge(y, terms.int(0)), terms.le(y, terms.int(6))];
    let result = projected(&terms, &literals, &[x], &model);
    assert_eq!(result, FxHashSet::from_iter(expected));
}

#[test]
fn reads_separate_their_indexes() {
    let terms = TermStore::new();
    let [i, j, x, y] = ["i", "j", "x", "y"].map(|n| terms.var(n, SortId::INT));
    let a = terms.var("a", terms.array_sort(SortId::INT, SortId::INT));
    let literals = [
        terms.eq(terms.select(a, i), x),
        terms.eq(terms.select(a, j), y),
    ];
    let zeros = terms.const_array(terms.sort_of(a), terms.int(0));
    let one = terms.store(zeros, terms.int(1), terms.int(5));
    let numbers = |i: i64, j: i64, x: i64, y: i64| [i, j, x, y].map(|n| terms.int(n));
    let model = |values: [TermId; 4]| {
        let mut model: Assignment = [i, j, x, y].into_iter().zip(values).collect();
        model.insert(a, one);
        model
    };
    let apart = projected(&terms, &literals, &[a], &model(numbers(1, 2, 5, 0)));
    assert_eq!(apart, FxHashSet::from_iter([terms.not(terms.eq(i, j))]));
    let same = projected(&terms, &literals, &[a], &model(numbers(1, 1, 5, 5)));
    let expected = [terms.eq(i, j), terms.eq(x, y)];
    assert_eq!(same, FxHashSet::from_iter(expected));
}

#[test]
fn writes_are_solved_for_the_array() {
    let terms = TermStore::new();
    let [i, v] = ["i", "v"].map(|n| terms.var(n, SortId::INT));
    let sort = terms.array_sort(SortId::INT, SortId::INT);
    let [a, b] = ["a", "b"].map(|n| terms.var(n, sort));
    let zeros = terms.const_array(sort, terms.int(0));
    let written = terms.store(zeros, terms.int(1), terms.int(2));
    let model = assign(&[
        (i, terms.int(1)),
        (v, terms.int(2)),
        (a, zeros),
        (b, written),
    ]);
    let literals = [terms.eq(terms.store(a, i, v), b)];
    let read = terms.eq(terms.select(b, i), v);
    let result = projected(&terms, &literals, &[a], &model);
    assert_eq!(result, FxHashSet::from_iter([read]));
    // If only the written value is eliminated, a write of a read remains.
    let result = projected(&terms, &literals, &[v], &model);
    let copied = terms.eq(terms.store(a, i, terms.select(b, i)), b);
    assert_eq!(result, FxHashSet::from_iter([copied]));
}

#[test]
fn constructors_leave_testers() {
    let terms = TermStore::new();
    let g = Generator::new(&terms, 1, INTS, 0);
    let list = g.sorts().list;
    let [l, t] = ["l", "t"].map(|n| terms.var(n, list));
    let h = terms.var("h", SortId::INT);
    let nil = terms.construct(g.list, 0, &[]);
    let single = terms.construct(g.list, 1, &[terms.int(4), nil]);
    let model = assign(&[(l, single), (t, nil), (h, terms.int(4))]);
    let literals = [terms.eq(l, terms.construct(g.list, 1, &[h, t]))];
    let is_cons = terms.is(g.list, 1, l);
    let result = projected(&terms, &literals, &[h, t], &model);
    assert_eq!(result, FxHashSet::from_iter([is_cons]));
    let result = projected(&terms, &literals, &[h], &model);
    let tail = terms.eq(terms.field(g.list, 1, 1, l), t);
    assert_eq!(result, FxHashSet::from_iter([is_cons, tail]));
    // Different from finitely many values of an infinite sort is always possible.
    let different = [terms.not(terms.eq(l, t)), terms.not(terms.eq(l, nil))];
    assert!(projected(&terms, &different, &[l], &model).is_empty());
}

#[test]
fn equalities_of_kept_variables_stay() {
    let terms = TermStore::new();
    let [p, q] = ["p", "q"].map(|n| terms.var(n, SortId::BOOL));
    let [x, y, z] = ["x", "y", "z"].map(|n| terms.var(n, SortId::INT));
    let formula = terms.and(&[
        terms.eq(p, q),
        terms.eq(x, terms.add(&[y, terms.int(1)])),
        terms.eq(z, terms.ite(p, x, y)),
    ]);
    let model = assign(&[
        (p, TermId::TRUE),
        (q, TermId::TRUE),
        (x, terms.int(2)),
        (y, terms.int(1)),
        (z, terms.int(2)),
    ]);
    let result = project_formula(&terms, formula, &[x], &model).expect("a model");
    let expected = [
        terms.eq(p, q),
        p,
        terms.eq(z, terms.add(&[y, terms.int(1)])),
    ];
    assert_eq!(
        result.into_iter().collect::<FxHashSet<_>>(),
        FxHashSet::from_iter(expected)
    );
}

#[test]
fn finitely_many_projections_cover_all_models() {
    for seed in 1..60 {
        let terms = TermStore::new();
        let mut random = Random::new(seed * 7919);
        let [x, y, a, b] = ["x", "y", "a", "b"].map(|n| terms.var(n, SortId::INT));
        let literals: Vec<TermId> = (0..5)
            .map(|at| {
                let parts: Vec<TermId> = [x, y, a, b]
                    .iter()
                    .map(|&v| {
                        let factor = random.below(7) as i64 - 3;
                        terms.mul(&[terms.int(factor), v])
                    })
                    .collect();
                let sum = terms.add(&parts);
                let bound = terms.int(random.below(9) as i64 - 2);
                match at {
                    0 => terms.eq(terms.modulo(sum, terms.int(3)), terms.int(random.below(3))),
                    1 => terms.not(terms.eq(sum, bound)),
                    _ => terms.le(sum, bound),
                }
            })
            .collect();
        let mut covers: Vec<Vec<TermId>> = Vec::new();
        for point in 0..9i64.pow(4) {
            let number = |at: u32| terms.int((point / 9i64.pow(at)) % 9 - 4);
            let model = assign(&[
                (x, number(0)),
                (y, number(1)),
                (a, number(2)),
                (b, number(3)),
            ]);
            let mut value = Evaluator::new(&terms, &model);
            if literals
                .iter()
                .any(|&l| value.value(l) != Some(TermId::TRUE))
                || covers
                    .iter()
                    .any(|c| c.iter().all(|&l| value.value(l) == Some(TermId::TRUE)))
            {
                continue;
            }
            let result = project(&terms, &literals, &[x, y], &model).expect("a model");
            assert_eq!(result.valued, 0);
            covers.push(result.literals);
        }
        assert!(covers.len() <= 40, "{} projections", covers.len());
    }
}

#[test]
fn long_chains_are_fast() {
    let terms = TermStore::new();
    let vars: Vec<TermId> = (0..4000)
        .map(|n| terms.var(&format!("x{n}"), SortId::INT))
        .collect();
    let array = terms.array_sort(SortId::INT, SortId::INT);
    let arrays: Vec<TermId> = (0..1000)
        .map(|n| terms.var(&format!("a{n}"), array))
        .collect();
    let mut model: Assignment = vars
        .iter()
        .enumerate()
        .map(|(n, &v)| (v, terms.int(n)))
        .collect();
    let mut literals: Vec<TermId> = vars
        .windows(2)
        .map(|w| terms.eq(w[1], terms.add(&[w[0], terms.int(1)])))
        .collect();
    let zeros = terms.const_array(array, terms.int(0));
    for (n, &a) in arrays.iter().enumerate() {
        model.insert(a, zeros);
        if n > 0 {
            // Each array equals the one before it except at one index.
            literals.push(terms.eq(a, terms.store(arrays[n - 1], terms.int(7), terms.int(0))));
        }
    }
    literals.reverse();
    let mut eliminate = vars[1..3999].to_vec();
    eliminate.extend(&arrays[1..999]);
    let result = projected(&terms, &literals, &eliminate, &model);
    assert_eq!(result.len(), 2);
}

#[test]
fn deep_formulas_need_no_stack() {
    let terms = TermStore::new();
    let [x, y] = ["x", "y"].map(|n| terms.var(n, SortId::INT));
    let mut term = x;
    let mut formula = TermId::TRUE;
    for n in 0..100_000 {
        let bound = terms.le(y, terms.int(n));
        term = terms.ite(bound, term, terms.int(n));
        let part = terms.eq(terms.modulo(x, terms.int(n + 2)), terms.int(0));
        formula = if n % 2 == 0 {
            terms.or(&[part, formula])
        } else {
            terms.and(&[terms.not(part), formula])
        };
    }
    let model = assign(&[(x, terms.int(1)), (y, terms.int(-1))]);
    let goal = terms.and(&[formula, terms.eq(term, terms.int(1))]);
    let result = project_formula(&terms, goal, &[x], &model).expect("a model");
    assert!(!result.is_empty());
}
