//! Sizes and times of interpolants on families that scale: `cargo bench --bench interpolation`.
//!
//! A line per problem: how it was answered, the time, the number of sub-terms of all interpolants
//! and of the largest, and what the service did. A word after `--` selects families by name.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use alphorn::run::Budget;
use alphorn::term::{BigUint, Op, Rational, SortId, TermId, TermStore};
use alphorn_interpolation::{
    InterpolantForm, InterpolationDag, InterpolationEdge, InterpolationError, InterpolationOptions,
    InterpolationOrder, Interpolator,
};
use alphorn_smt::Smt;

/// Time for one problem.
const LIMIT: Duration = Duration::from_secs(20);

enum Problem {
    Sequence(Vec<TermId>),
    Tree(Vec<TermId>, Vec<Option<usize>>),
    Dag(InterpolationDag),
}

type Family = (
    &'static str,
    &'static [usize],
    fn(&TermStore, usize) -> Problem,
);

const FAMILIES: &[Family] = &[
    ("counters (reals)", &[10, 20, 50], |t, n| {
        counters(t, n, SortId::REAL)
    }),
    ("counters (integers)", &[10, 20, 50], |t, n| {
        counters(t, n, SortId::INT)
    }),
    ("parity", &[10, 20, 50], parity),
    ("choices", &[4, 6, 8], choices),
    ("array writes", &[5, 10, 20], writes),
    ("bits, parity", &[5, 10, 20], bit_parity),
    ("bits, bounds", &[10, 20, 50], bit_bounds),
    ("tree of sums", &[3, 4, 5], tree),
    ("diamonds", &[3, 5, 7], |t, n| diamonds(t, n, false)),
    ("diamonds with labels", &[3, 7, 20], |t, n| {
        diamonds(t, n, true)
    }),
];

fn var(t: &TermStore, name: &str, k: usize, sort: SortId) -> TermId {
    t.var(&format!("{name}{k}"), sort)
}

fn number(t: &TermStore, value: i64, sort: SortId) -> TermId {
    t.number(&Rational::from_integer(value.into()), sort)
}

/// `y` grows by two when `x` grows by one, and is not twice as great in the end.
fn counters(t: &TermStore, n: usize, sort: SortId) -> Problem {
    let (x, y) = (|k| var(t, "x", k, sort), |k| var(t, "y", k, sort));
    let up = |v, u, by| t.eq(v, t.add(&[u, number(t, by, sort)]));
    let zero = number(t, 0, sort);
    let mut formulas = vec![t.and(&[t.eq(x(0), zero), t.eq(y(0), zero)])];
    for k in 1..n - 1 {
        formulas.push(t.and(&[up(x(k), x(k - 1), 1), up(y(k), y(k - 1), 2)]));
    }
    let last = n - 2;
    formulas.push(t.not(t.eq(y(last), t.add(&[x(last), x(last)]))));
    Problem::Sequence(formulas)
}

/// `x` grows by two and is odd in the end.
fn parity(t: &TermStore, n: usize) -> Problem {
    let x = |k| var(t, "x", k, SortId::INT);
    let mut formulas = vec![t.eq(x(0), t.int(0))];
    for k in 1..n - 1 {
        formulas.push(t.eq(x(k), t.add(&[x(k - 1), t.int(2)])));
    }
    formulas.push(t.eq(t.modulo(x(n - 2), t.int(2)), t.int(1)));
    Problem::Sequence(formulas)
}

/// `x` grows by one or two and is too great in the end; as many paths as subsets.
fn choices(t: &TermStore, n: usize) -> Problem {
    let x = |k| var(t, "x", k, SortId::INT);
    let up = |k, by| t.eq(x(k), t.add(&[x(k - 1), t.int(by)]));
    let mut formulas = vec![t.eq(x(0), t.int(0))];
    for k in 1..n - 1 {
        formulas.push(t.or(&[up(k, 1), up(k, 2)]));
    }
    formulas.push(t.gt(x(n - 2), t.int(2 * (n as i64 - 2))));
    Problem::Sequence(formulas)
}

/// Cell `k` is set to `k`, and one of them is not in the end.
fn writes(t: &TermStore, n: usize) -> Problem {
    let sort = t.array_sort(SortId::INT, SortId::INT);
    let a = |k| var(t, "a", k, sort);
    let mut formulas = Vec::new();
    for k in 1..n {
        let at = t.int(k as i64);
        formulas.push(t.eq(a(k), t.store(a(k - 1), at, at)));
    }
    let j = t.var("j", SortId::INT);
    let inside = [t.ge(j, t.int(1)), t.lt(j, t.int(n as i64))];
    let wrong = t.not(t.eq(t.select(a(n - 1), j), j));
    formulas.push(t.and(&[inside[0], inside[1], wrong]));
    Problem::Sequence(formulas)
}

fn bit_parity(t: &TermStore, n: usize) -> Problem {
    let sort = t.bitvec_sort(16);
    let x = |k| var(t, "b", k, sort);
    let value = |v: u32| t.bitvec(BigUint::from(v), 16);
    let add = |u, by| t.bv_op(&Op::BvAdd, &[u, value(by)]);
    let half = t.var("half", sort);
    let mut formulas = vec![t.eq(x(0), t.bv_op(&Op::BvAdd, &[half, half]))];
    for k in 1..n - 1 {
        formulas.push(t.eq(x(k), add(x(k - 1), 2)));
    }
    let bit = t.bv_op(&Op::BvExtract(0, 0), &[x(n - 2)]);
    formulas.push(t.eq(bit, t.bitvec(BigUint::from(1_u32), 1)));
    Problem::Sequence(formulas)
}

fn bit_bounds(t: &TermStore, n: usize) -> Problem {
    let sort = t.bitvec_sort(32);
    let x = |k| var(t, "b", k, sort);
    let value = |v: u32| t.bitvec(BigUint::from(v), 32);
    let le = |a, b| t.bv_op(&Op::BvUle, &[a, b]);
    let mut formulas = vec![le(x(0), value(1000))];
    for k in 1..n - 1 {
        formulas.push(le(x(k), x(k - 1)));
    }
    formulas.push(le(value(2000), x(n - 2)));
    Problem::Sequence(formulas)
}

/// A complete binary tree of height `n`: a node is at most the sum of its children, leaves are at
/// most one, and the root is greater than the number of leaves.
fn tree(t: &TermStore, n: usize) -> Problem {
    let count = (1 << n) - 1;
    let x = |k| var(t, "x", k, SortId::INT);
    let mut formulas = Vec::new();
    let mut parents = Vec::new();
    for k in 0..count {
        let child = 2 * k + 1;
        let mut parts = vec![match child < count {
            true => t.le(x(k), t.add(&[x(child), x(child + 1)])),
            false => t.le(x(k), t.int(1)),
        }];
        if k == 0 {
            parts.push(t.gt(x(0), t.int(1 << (n - 1))));
        }
        formulas.push(t.and(&parts));
        parents.push((k > 0).then(|| (k - 1) / 2));
    }
    Problem::Tree(formulas, parents)
}

/// A chain of `n` diamonds, `x` growing by one on one side and by two on the other; too great in
/// the end. Labels say how great it is at each node.
fn diamonds(t: &TermStore, n: usize, labelled: bool) -> Problem {
    let x = |k| var(t, "x", k, SortId::INT);
    let y = |k| var(t, "y", k, SortId::INT);
    // Joins are 3k, sides 3k + 1 and 3k + 2.
    let exit = 3 * n + 1;
    let mut labels = vec![TermId::TRUE; exit + 1];
    let mut edges = Vec::new();
    let mut edge = |from, to, formula| edges.push(InterpolationEdge { from, to, formula });
    for k in 0..n {
        let start = match k {
            0 => t.eq(x(0), t.int(0)),
            _ => TermId::TRUE,
        };
        for (side, by) in [(1, 1), (2, 2)] {
            let here = 3 * k + side;
            let up = t.eq(y(here), t.add(&[x(k), t.int(by)]));
            edge(3 * k, here, t.and(&[start, up]));
            edge(here, 3 * (k + 1), t.eq(x(k + 1), y(here)));
            if labelled {
                labels[here] = t.le(y(here), t.int(2 * k as i64 + by));
            }
        }
        if labelled {
            labels[3 * (k + 1)] = t.le(x(k + 1), t.int(2 * (k as i64 + 1)));
        }
    }
    edge(3 * n, exit, t.gt(x(n), t.int(2 * n as i64)));
    Problem::Dag(InterpolationDag {
        labels,
        edges,
        entry: 0,
        exit,
    })
}

fn main() {
    let wanted = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    println!(
        "{:<22} {:>3} {:<10} {:<8} {:>9} {:>8} {:>7} {:>8} {:>8} {:>8}",
        "family",
        "n",
        "form",
        "order",
        "seconds",
        "subterms",
        "largest",
        "models",
        "pairs",
        "project"
    );
    for (name, sizes, make) in FAMILIES {
        if wanted.as_ref().is_some_and(|w| !name.contains(w.as_str())) {
            continue;
        }
        for &size in *sizes {
            for (form, order) in [
                (InterpolantForm::Strong, InterpolationOrder::Forward),
                (InterpolantForm::Decomposed, InterpolationOrder::Forward),
                (InterpolantForm::Weak, InterpolationOrder::Backward),
            ] {
                let terms = Rc::new(TermStore::new());
                let problem = make(&terms, size);
                let options = InterpolationOptions {
                    form,
                    order,
                    check: false,
                    ..InterpolationOptions::default()
                };
                let mut service = Interpolator::new(&Smt::new(Rc::clone(&terms)), options);
                let start = Instant::now();
                let budget = Budget::new(terms.clone(), Arc::default(), false);
                service.set_budget(Some(budget.time(LIMIT)));
                let answer = match &problem {
                    Problem::Sequence(formulas) => service.sequence(formulas),
                    Problem::Tree(formulas, parents) => service.tree(formulas, parents),
                    Problem::Dag(dag) => service.dag(dag),
                };
                report(
                    &terms,
                    (name, size, form, order),
                    start.elapsed(),
                    &answer,
                    &service,
                );
            }
        }
    }
}

fn report(
    terms: &TermStore,
    (name, size, form, order): (&str, usize, InterpolantForm, InterpolationOrder),
    time: Duration,
    answer: &Result<Vec<TermId>, InterpolationError>,
    service: &Interpolator,
) {
    let (form, order) = (format!("{form:?}"), format!("{order:?}"));
    let counters = service.counters();
    let start = format!(
        "{name:<22} {size:>3} {form:<10} {order:<8} {:>9.3}",
        time.as_secs_f64()
    );
    match answer {
        Ok(result) => {
            let largest = result.iter().map(|&r| terms.dag_size(&[r])).max();
            println!(
                "{start} {:>8} {:>7} {:>8} {:>8} {:>8}",
                terms.dag_size(result),
                largest.unwrap_or_default(),
                counters.implicants,
                counters.certificates,
                counters.projections
            );
        }
        Err(error) => println!("{start} {error}"),
    }
}
