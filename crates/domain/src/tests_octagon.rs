//! Octagons against all points of a grid, and packs of many variables.

use std::rc::Rc;
use std::time::Duration;

use num_traits::One;
use rustc_hash::{FxHashMap, FxHashSet};

use super::octagon::Octagons;
use super::packs::{Packs, packs};
use super::tests::{atom, linear, number};
use super::*;
use alphorn_arith::Relation;
use alphorn_chc::System;
use alphorn_term::run::Context;
use alphorn_term::{Linear, Random, Rational, SortId, TermId, TermStore};

const INT: SortId = SortId::INT;

/// The points of a grid over the variables.
fn grid(t: &TermStore, vars: &[TermId], side: i64) -> Vec<FxHashMap<TermId, TermId>> {
    let count = (0..vars.len()).map(|_| 2 * side + 1).product::<i64>();
    (0..count)
        .map(|n| {
            let mut rest = n;
            let mut point = FxHashMap::default();
            for &var in vars {
                point.insert(var, t.int(rest % (2 * side + 1) - side));
                rest /= 2 * side + 1;
            }
            point
        })
        .collect()
}

/// Random rows `±x ± y + c ⋈ 0` or `±2x + c ⋈ 0`, after bounds of all variables.
fn octagonal(random: &mut Random, vars: &[TermId], side: i64, count: usize) -> Cube {
    let mut facts = Vec::new();
    for &var in vars {
        facts.push(Fact::linear(linear(&[(var, 1)], -side), Relation::AtMost));
        facts.push(Fact::linear(linear(&[(var, -1)], -side), Relation::AtMost));
    }
    for _ in 0..count {
        let sign = |random: &mut Random| if random.below(2) == 0 { 1 } else { -1 };
        let x = random.below(vars.len());
        let y = (x + 1 + random.below(vars.len() - 1)) % vars.len();
        let parts = match random.below(5) {
            0 => vec![(vars[x], 2 * sign(random))],
            _ => vec![(vars[x], sign(random)), (vars[y], sign(random))],
        };
        let relation = match random.below(6) {
            0 => Relation::Equal,
            1 => Relation::Differs,
            _ => Relation::AtMost,
        };
        facts.push(Fact::linear(
            linear(&parts, random.between(-4, 4)),
            relation,
        ));
    }
    Cube { facts }
}

/// For integer octagons the domain keeps exactly their points, and each bound is reached by one.
#[test]
fn integer_octagons_are_tight() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let t = Rc::new(TermStore::new());
        let vars: Vec<TermId> = (0..4).map(|i| t.var(&format!("v{i}"), INT)).collect();
        let domain = Octagons::new(t.clone(), 8, if seed % 2 == 0 { 1 } else { 6 }, &[]);
        let mut cube = octagonal(&mut random, &vars, 2, 4);
        // A disequation is not convex: only ends of intervals are excluded.
        let different = |f: &Fact| matches!(f, Fact::Linear(r) if r.relation == Relation::Differs);
        let exact = seed % 3 != 0;
        if exact {
            cube.facts.retain(|f| !different(f));
        }
        let holds = |facts: &[Fact], p: &FxHashMap<TermId, TermId>| {
            let mut facts = facts
                .iter()
                .map(|f| t.substitute(f.formula(&t).unwrap(), p));
            facts.all(|f| f == TermId::TRUE)
        };
        let points = grid(&t, &vars, 2);
        let inside: Vec<_> = points.iter().filter(|p| holds(&cube.facts, p)).collect();
        let element = domain.guard(&domain.top(), &cube);
        for p in &inside {
            assert!(holds(&domain.facts(&element), p), "seed {seed}: {cube:?}");
        }
        if !exact {
            continue;
        }
        assert_eq!(domain.is_bottom(&element), inside.is_empty(), "seed {seed}");
        if inside.is_empty() {
            continue;
        }
        for p in &points {
            let kept = holds(&domain.facts(&element), p);
            assert_eq!(kept, holds(&cube.facts, p), "seed {seed}: {cube:?}");
        }
        for fact in domain.facts(&element) {
            let Fact::Linear(row) = &fact else {
                unreachable!()
            };
            let mut tight = row.clone();
            tight.linear.constant += Rational::one();
            tight.relation = Relation::AtMost;
            let stricter = [Fact::Linear(tight)];
            let reached = inside.iter().any(|p| !holds(&stricter, p));
            assert!(reached, "seed {seed}: nothing reaches {fact:?}");
        }
        // A projected point has a witness.
        let keep: FxHashSet<TermId> = vars[..2].iter().copied().collect();
        let shadow = domain.transfer(&[element], &Cube::default(), Some(&keep));
        for p in &points {
            let same = |q: &FxHashMap<TermId, TermId>| vars[..2].iter().all(|v| p[v] == q[v]);
            let witness = inside.iter().any(|q| same(q));
            assert_eq!(holds(&domain.facts(&shadow), p), witness, "seed {seed}");
        }
    }
}

/// Assignments by equations, with sums of more variables, from one octagon to the next.
#[test]
fn assignments_keep_what_they_shift() {
    let t = Rc::new(TermStore::new());
    let [x, y, z, a, b, c] = ["x", "y", "z", "a", "b", "c"].map(|n| t.var(n, INT));
    let domain = Octagons::new(t.clone(), 8, 1, &[]);
    let row = |parts: &[(TermId, i64)], constant, relation| {
        Fact::linear(linear(parts, constant), relation)
    };
    let start = Cube {
        facts: vec![
            row(&[(x, 1), (y, -1)], 2, Relation::AtMost),
            row(&[(z, 1)], -9, Relation::AtMost),
            row(&[(z, -1)], 1, Relation::AtMost),
        ],
    };
    let element = domain.guard(&domain.top(), &start);
    // a = y + 3, b = -x, c = x + z.
    let step = Cube {
        facts: vec![
            row(&[(a, 1), (y, -1)], -3, Relation::Equal),
            row(&[(b, 1), (x, 1)], 0, Relation::Equal),
            row(&[(c, 1), (x, -1), (z, -1)], 0, Relation::Equal),
        ],
    };
    let keep: FxHashSet<TermId> = [a, b, c].into_iter().collect();
    let image = domain.transfer(&[element], &step, Some(&keep));
    let expect = |parts: &[(TermId, i64)], constant| {
        let cube = Cube {
            facts: vec![row(parts, constant, Relation::AtMost)],
        };
        let wanted = domain.guard(&domain.top(), &cube);
        assert!(domain.entails(&image, &wanted), "{parts:?} + {constant}");
    };
    // -b + 2 <= a - 3, 1 <= c + b <= 9, c <= a + 4.
    expect(&[(a, -1), (b, -1)], 5);
    expect(&[(c, 1), (b, 1)], -9);
    expect(&[(c, -1), (b, -1)], 1);
    expect(&[(c, 1), (a, -1)], -4);
    assert_eq!(domain.facts(&image).len(), 3);
}

/// Reals are not rounded, and large numbers are no bounds.
#[test]
fn reals_and_large_numbers() {
    let t = Rc::new(TermStore::new());
    let [u, v] = ["u", "v"].map(|n| t.var(n, SortId::REAL));
    let [x, y] = ["x", "y"].map(|n| t.var(n, INT));
    let domain = Octagons::new(t.clone(), 8, 10, &[]);
    let holds = |element: &Option<octagon::Octagon>, formula: TermId| {
        let smt = alphorn_smt::Smt::new(t.clone());
        let mut solver = smt.solver();
        solver.assert(t.and(&domain.formula(element)));
        solver.assert(t.not(formula));
        solver.check(&[]) == alphorn_smt::SatResult::Unsat
    };
    // 2u + 2v <= 1, u - v = 1/10.
    let facts = vec![
        Fact::linear(linear(&[(u, 2), (v, 2)], -1), Relation::AtMost),
        Fact::linear(
            Linear {
                constant: Rational::new((-1).into(), 10.into()),
                ..linear(&[(u, 1), (v, -1)], 0)
            },
            Relation::Equal,
        ),
    ];
    let element = domain.guard(&domain.top(), &Cube { facts });
    let ratio = |n: i64| t.real(Rational::new(n.into(), 10.into()));
    assert!(holds(&element, t.le(u, ratio(3))));
    assert!(holds(&element, t.le(v, ratio(2))));
    assert!(!holds(&element, t.le(v, ratio(1))));
    let huge: alphorn_term::BigInt = alphorn_term::BigInt::one() << 70usize;
    let bound = |sign: i64| Linear {
        constant: Rational::from_integer(&huge * -1),
        ..linear(&[(x, sign), (y, -1)], 0)
    };
    let rows = [
        Linear {
            constant: Rational::from_integer(huge.clone()),
            ..bound(1)
        },
        bound(1),
    ];
    let facts = rows.into_iter().map(|r| Fact::linear(r, Relation::AtMost));
    let cube = Cube {
        facts: facts.collect(),
    };
    let element = domain.guard(&domain.top(), &cube);
    assert!(!domain.is_bottom(&element));
    let far = t.le(t.sub(x, y), t.int(-(1i64 << 50)));
    assert!(holds(&element, far));
}

/// Many counters in pairs: each pair is found, in time that is linear in the number of pairs.
#[test]
fn many_variables_fall_into_packs() {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let count = 400;
    let p = system.add_predicate("p", &vec![INT; count]);
    let q = system.add_predicate("q", &vec![INT; count]);
    let old: Vec<TermId> = (0..count).map(|i| t.var(&format!("x{i}"), INT)).collect();
    let new: Vec<TermId> = (0..count).map(|i| t.var(&format!("y{i}"), INT)).collect();
    let plus = |v, n: i64| t.add(&[v, t.int(n)]);
    let start: Vec<TermId> = new.iter().map(|v| t.eq(*v, t.int(0))).collect();
    system.add_clause(vec![], t.and(&start), Some(atom(p, &new)));
    // x_2i and x_2i+1 grow alike from p to p, the second more from p to q.
    let step = |more: i64| {
        let parts: Vec<TermId> = (0..count)
            .map(|i| t.eq(new[i], plus(old[i], 1 + more * (i as i64 % 2))))
            .collect();
        t.and(&parts)
    };
    let body = vec![atom(p, &old)];
    system.add_clause(body.clone(), step(0), Some(atom(p, &new)));
    system.add_clause(body, step(5), Some(atom(q, &new)));
    // The queries relate the pairs.
    for i in 0..count / 2 {
        let bad = t.gt(old[2 * i], old[2 * i + 1]);
        system.add_clause(vec![atom(q, &old)], bad, None);
    }
    let found = packs(&system, 12, false);
    assert_eq!(found.len(), count);
    assert!(found.iter().all(|pack| pack.len() == 2));
    let octagons = Octagons::new(t.clone(), 12, 1, &[number(0)]);
    let domain = Packs::new(octagons, t.clone(), found, 24);
    let limits = Limits {
        time: Duration::from_secs(120),
        ..Limits::default()
    };
    let result = analyse(&domain, &system, limits, &Context::new(t.clone()));
    assert!(result.complete);
    let conjuncts = domain.formula(&result.values[q.index()]);
    let params = &system.predicate(q).params;
    for i in 0..count / 2 {
        let apart = t.eq(plus(params[2 * i], 5), params[2 * i + 1]);
        assert!(conjuncts.contains(&apart), "pair {i}");
    }
}
