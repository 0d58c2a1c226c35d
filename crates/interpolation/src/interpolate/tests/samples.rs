//! Small problems with known answers.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::super::{
    InterpolantForm, InterpolationDag, InterpolationEdge, InterpolationError, InterpolationOrder,
};
use super::*;
use alphorn_term::run::Budget;
use alphorn_term::{Rational, SortId};

const ORDERS: [InterpolationOrder; 2] = [InterpolationOrder::Forward, InterpolationOrder::Backward];
const FORMS: [InterpolantForm; 3] = [
    InterpolantForm::Strong,
    InterpolantForm::Weak,
    InterpolantForm::Decomposed,
];

#[test]
fn forms_of_one_pair_are_ordered() {
    // The example of Blicha et al.: A has two independent reasons.
    let t = Rc::new(TermStore::new());
    let [x1, x2, y1, y2, z] = ["x1", "x2", "y1", "y2", "z"].map(|n| t.var(n, SortId::REAL));
    let zero = t.real(Rational::from_integer(0.into()));
    let a = [t.le(y1, x1), t.le(x1, zero), t.le(y2, x2), t.le(x2, zero)];
    let b = [t.ge(t.add(&[y1, y2]), z), t.gt(z, zero)];
    let of = |form| {
        let options = InterpolationOptions { form, ..checked() };
        let interpolant = interpolator(&t, options).binary(&a, &b).unwrap();
        assert_interpolant(&t, &a, &b, interpolant);
        interpolant
    };
    let sum = t.le(t.add(&[y1, y2]), zero);
    assert_eq!(of(InterpolantForm::Strong), sum);
    assert_eq!(of(InterpolantForm::Weak), sum);
    let parts = t.and(&[t.le(y1, zero), t.le(y2, zero)]);
    assert_eq!(of(InterpolantForm::Decomposed), parts);
}

#[test]
fn strong_implies_weak() {
    let t = Rc::new(TermStore::new());
    let x = t.var("x", SortId::INT);
    let (a, b) = ([t.le(x, t.int(1))], [t.ge(x, t.int(7))]);
    let of = |form| {
        let options = InterpolationOptions { form, ..checked() };
        interpolator(&t, options).binary(&a, &b).unwrap()
    };
    assert_eq!(of(InterpolantForm::Strong), t.le(x, t.int(1)));
    assert_eq!(of(InterpolantForm::Weak), t.le(x, t.int(6)));
}

#[test]
fn integers_and_reals_meet() {
    let t = Rc::new(TermStore::new());
    let (x, y) = (t.var("x", SortId::INT), t.var("y", SortId::REAL));
    let l = t.var("l", SortId::INT);
    let half = t.real(Rational::new(1.into(), 2.into()));
    let a = [
        t.le(t.to_real(x), y),
        t.le(y, t.to_real(l)),
        t.le(l, t.int(3)),
    ];
    let b = [t.ge(x, t.int(4)), t.gt(y, half)];
    for form in FORMS {
        let options = InterpolationOptions { form, ..checked() };
        let interpolant = interpolator(&t, options).binary(&a, &b).unwrap();
        assert_interpolant(&t, &a, &b, interpolant);
    }
}

#[test]
fn satisfiable_formulas_are_refused_with_a_model() {
    let t = Rc::new(TermStore::new());
    let (x, y) = (t.var("x", SortId::INT), t.var("y", SortId::INT));
    let (a, b) = ([t.le(x, y)], [t.ge(x, t.int(3))]);
    match interpolator(&t, checked()).binary(&a, &b) {
        Err(InterpolationError::Satisfiable(model)) => {
            assert!(model.satisfies(t.and(&[a[0], b[0]])));
        }
        other => panic!("{other:?}"),
    }
    let steps = [a[0], t.le(y, t.int(5)), b[0]];
    for order in ORDERS {
        let options = InterpolationOptions { order, ..checked() };
        let answer = interpolator(&t, options).sequence(&steps);
        assert!(matches!(answer, Err(InterpolationError::Satisfiable(_))));
    }
}

#[test]
fn limits_are_errors() {
    let t = Rc::new(TermStore::new());
    let (x, l) = (t.var("x", SortId::INT), t.var("l", SortId::INT));
    let m = t.var("m", SortId::INT);
    let a = [t.eq(x, t.add(&[l, l]))];
    let b = [t.eq(x, t.add(&[m, m, t.int(1)]))];
    let mut late = interpolator(&t, checked());
    let budget = Budget::new(t.clone(), Arc::default(), false);
    late.set_budget(Some(budget.work(Duration::ZERO)));
    assert!(matches!(
        late.binary(&a, &b),
        Err(InterpolationError::Limit(_))
    ));
    let mut late = interpolator(&t, checked());
    budget.interrupt().store(true, Ordering::Relaxed);
    late.set_budget(Some(budget));
    assert!(matches!(
        late.binary(&a, &b),
        Err(InterpolationError::Limit(_))
    ));
    let options = InterpolationOptions {
        max_steps: 0,
        ..checked()
    };
    let answer = interpolator(&t, options).binary(&a, &b);
    assert!(matches!(answer, Err(InterpolationError::Limit(_))));
    let interpolant = interpolator(&t, checked()).binary(&a, &b).unwrap();
    assert_interpolant(&t, &a, &b, interpolant);
    // A side without variables of its own needs no step.
    let small = [t.eq(t.modulo(x, t.int(2)), t.int(0))];
    let answer = interpolator(&t, options).binary(&small, &b).unwrap();
    assert_interpolant(&t, &small, &b, answer);
}

#[test]
fn malformed_problems_are_refused() {
    let t = Rc::new(TermStore::new());
    let x = t.var("x", SortId::INT);
    let formulas = [t.le(x, t.int(0)), t.ge(x, t.int(1)), TermId::TRUE];
    let mut i = interpolator(&t, checked());
    for parents in [
        vec![None, None, Some(0)],
        vec![Some(1), Some(0), None],
        vec![Some(0), Some(7), None],
        vec![None],
    ] {
        let answer = i.tree(&formulas, &parents);
        assert!(
            matches!(answer, Err(InterpolationError::Input(_))),
            "{parents:?}"
        );
    }
    let edge = |from, to| InterpolationEdge {
        from,
        to,
        formula: TermId::FALSE,
    };
    for (edges, entry, exit) in [
        (vec![edge(0, 1), edge(1, 2), edge(2, 1)], 0, 1),
        (vec![edge(0, 1), edge(1, 2), edge(2, 1), edge(1, 3)], 0, 3),
        (vec![edge(0, 9)], 0, 1),
        (vec![edge(0, 1)], 0, 0),
        (vec![edge(0, 1)], 1, 0),
    ] {
        let dag = InterpolationDag {
            labels: vec![TermId::TRUE; 4],
            edges,
            entry,
            exit,
        };
        assert!(
            matches!(i.dag(&dag), Err(InterpolationError::Input(_))),
            "{dag:?}"
        );
    }
    let all = t.forall(&[x], formulas[0]);
    let answer = i.binary(&[all], &[TermId::FALSE]);
    assert!(matches!(answer, Err(InterpolationError::Unsupported(_))));
}

/// `x = 0; while (*) x += 2; assert x != 2k + 1`, unrolled; without `stays` each step is taken.
fn parity(t: &TermStore, length: usize, stays: bool) -> Vec<TermId> {
    let x = |k: usize| t.var(&format!("x{k}"), SortId::INT);
    let mut formulas = vec![t.eq(x(0), t.int(0))];
    for k in 1..length - 1 {
        let step = t.eq(x(k), t.add(&[x(k - 1), t.int(2)]));
        let stay = t.eq(x(k), x(k - 1));
        formulas.push(if stays { t.or(&[step, stay]) } else { step });
    }
    let half = t.var("half", SortId::INT);
    formulas.push(t.eq(x(length - 2), t.add(&[half, half, t.int(1)])));
    formulas
}

#[test]
fn parity_along_a_sequence() {
    let t = Rc::new(TermStore::new());
    for order in ORDERS {
        for form in FORMS {
            let formulas = parity(&t, 6, true);
            let options = InterpolationOptions {
                form,
                order,
                ..checked()
            };
            let result = interpolator(&t, options).sequence(&formulas).unwrap();
            assert_sequence(&t, &formulas, &result);
        }
    }
}

/// The DAG of VINTA, Fig. 2 (c), with names for the variables of each node.
#[test]
fn the_example_of_vinta() {
    let t = Rc::new(TermStore::new());
    let x = |k: usize| t.var(&format!("x{k}"), SortId::INT);
    let y = |k: usize| t.var(&format!("y{k}"), SortId::INT);
    let step = |u: usize, v: usize| {
        let up = |v, u, by: i64| t.eq(v, t.add(&[u, t.int(by)]));
        t.or(&[
            t.and(&[up(x(v), x(u), 1), up(y(v), y(u), 1)]),
            t.and(&[t.ge(x(u), t.int(4)), up(x(v), x(u), 1), up(y(v), y(u), 1)]),
            t.and(&[up(x(v), x(u), 0), up(y(v), y(u), 0)]),
        ])
    };
    let error = |u: usize| {
        t.and(&[
            t.ge(x(u), t.int(4)),
            t.le(y(u), t.int(2)),
            t.eq(x(4), x(u)),
            t.eq(y(4), y(u)),
        ])
    };
    let edge = |from, to, formula| InterpolationEdge { from, to, formula };
    let edges = vec![
        edge(0, 1, t.and(&[t.eq(x(1), t.int(0)), t.eq(y(1), t.int(0))])),
        edge(1, 4, error(1)),
        edge(1, 2, step(1, 2)),
        edge(2, 4, error(2)),
        edge(2, 3, step(2, 3)),
        edge(3, 4, error(3)),
    ];
    let positive = |k| t.and(&[t.ge(x(k), t.int(0)), t.ge(y(k), t.int(0))]);
    let labels = vec![
        TermId::TRUE,
        positive(1),
        positive(2),
        positive(3),
        TermId::TRUE,
    ];
    for order in ORDERS {
        for form in FORMS {
            let options = InterpolationOptions {
                form,
                order,
                ..checked()
            };
            let mut i = interpolator(&t, options);
            let mut dag = InterpolationDag {
                labels: labels.clone(),
                edges: edges.clone(),
                entry: 0,
                exit: 4,
            };
            let result = i.dag(&dag).unwrap();
            assert_dag(&t, &dag, &result);
            dag.labels = vec![TermId::TRUE; 5];
            let result = i.dag(&dag).unwrap();
            assert_dag(&t, &dag, &result);
            // Labels that do not follow are refused.
            dag.labels[2] = t.ge(x(2), t.int(1));
            assert!(matches!(i.dag(&dag), Err(InterpolationError::Input(_))));
        }
    }
}

#[test]
fn long_sequences() {
    let t = Rc::new(TermStore::new());
    for order in ORDERS {
        let formulas = parity(&t, 50, false);
        let options = InterpolationOptions { order, ..checked() };
        let mut i = interpolator(&t, options);
        let result = i.sequence(&formulas).unwrap();
        assert_sequence(&t, &formulas, &result);
        // Each is about one variable, so they do not grow.
        assert!(result.iter().all(|&r| t.dag_size(&[r]) <= 12), "{order:?}");
    }
}

#[test]
fn congruences_separate_integers() {
    let t = Rc::new(TermStore::new());
    let [x, l, m] = ["x", "l", "m"].map(|n| t.var(n, SortId::INT));
    let times = |k: i64, v: TermId| t.mul(&[t.int(k), v]);
    let a = [t.eq(x, times(6, l))];
    let b = [t.eq(x, t.add(&[times(3, m), t.int(1)]))];
    let mut i = interpolator(&t, checked());
    let interpolant = i.binary(&a, &b).unwrap();
    assert_interpolant(&t, &a, &b, interpolant);
    assert_eq!(interpolant, t.eq(t.modulo(x, t.int(3)), t.int(0)));
    assert_eq!(i.counters().projections, 0);
}

#[test]
fn cases_separate_integers() {
    // 3 <= 2l <= 3 has no integer l, which takes a case of A's own variable.
    let t = Rc::new(TermStore::new());
    let [x, y, l] = ["x", "y", "l"].map(|n| t.var(n, SortId::INT));
    let twice = t.mul(&[t.int(2), l]);
    let a = [t.le(x, twice), t.le(twice, y)];
    let b = [t.ge(x, t.int(3)), t.le(y, t.int(3))];
    let mut i = interpolator(&t, checked());
    let interpolant = i.binary(&a, &b).unwrap();
    assert_interpolant(&t, &a, &b, interpolant);
    assert_eq!(i.counters().projections, 0);
}

#[test]
fn cells_separate_arrays() {
    let t = Rc::new(TermStore::new());
    let sort = t.array_sort(SortId::INT, SortId::INT);
    let [x, y] = ["x", "y"].map(|n| t.var(n, sort));
    let [i, j, v] = ["i", "j", "v"].map(|n| t.var(n, SortId::INT));
    // A writes at i and leaves the cell at j unchanged, which B contradicts.
    let a = [
        t.eq(y, t.store(x, i, v)),
        t.lt(i, j),
        t.ge(t.select(x, j), t.int(3)),
    ];
    let b = [t.le(t.select(y, j), t.int(2))];
    let mut service = interpolator(&t, checked());
    let interpolant = service.binary(&a, &b).unwrap();
    assert_interpolant(&t, &a, &b, interpolant);
    assert_eq!(interpolant, t.ge(t.select(y, j), t.int(3)));
    assert_eq!(service.counters().projections, 0);
}

#[test]
fn comparisons_separate_bits() {
    let t = Rc::new(TermStore::new());
    let sort = t.bitvec_sort(32);
    let [x, y, z] = ["x", "y", "z"].map(|n| t.var(n, sort));
    for op in [alphorn_term::Op::BvUle, alphorn_term::Op::BvSle] {
        let le = |a, b| t.bv_op(&op, &[a, b]);
        let a = [le(x, z), le(z, y)];
        let b = [t.not(le(x, y))];
        let mut i = interpolator(&t, checked());
        let interpolant = i.binary(&a, &b).unwrap();
        assert_interpolant(&t, &a, &b, interpolant);
        assert_eq!(interpolant, le(x, y));
        let ten = t.bitvec(10_u32.into(), 32);
        let twenty = t.bitvec(20_u32.into(), 32);
        let a = [le(x, z), le(z, ten)];
        let b = [le(twenty, y), t.eq(x, y)];
        let interpolant = i.binary(&a, &b).unwrap();
        assert_interpolant(&t, &a, &b, interpolant);
        assert_eq!(interpolant, le(x, ten));
        assert_eq!(i.counters().projections, 0);
    }
}

#[test]
fn bits_separate_bits() {
    // Only the lowest bit matters; projection alone would enumerate values.
    let t = Rc::new(TermStore::new());
    let sort = t.bitvec_sort(16);
    let [x, l, m] = ["x", "l", "m"].map(|n| t.var(n, sort));
    let add = |a: &[TermId]| t.bv_op(&alphorn_term::Op::BvAdd, a);
    let one = t.bitvec(1_u32.into(), 16);
    let a = [t.eq(x, add(&[l, l]))];
    let b = [t.eq(x, add(&[m, m, one]))];
    let mut i = interpolator(&t, checked());
    let interpolant = i.binary(&a, &b).unwrap();
    assert_interpolant(&t, &a, &b, interpolant);
    assert!(i.counters().implicants <= 2, "{:?}", i.counters());
}

/// `A`'s part is a sum, and not one bound after the other.
#[test]
fn a_proof_adds_up() {
    let t = Rc::new(TermStore::new());
    let [x, y, l] = ["x", "y", "l"].map(|n| t.var(n, SortId::REAL));
    let zero = t.real(Rational::from_integer(0.into()));
    let a = [t.le(x, l), t.le(t.add(&[y, l]), zero)];
    let b = [t.gt(t.add(&[x, y]), zero)];
    let options = InterpolationOptions {
        proofs: true,
        ..checked()
    };
    let mut i = interpolator(&t, options);
    assert_eq!(i.binary(&a, &b).unwrap(), t.le(t.add(&[x, y]), zero));
    assert_eq!(i.counters().proofs, 1);
}
