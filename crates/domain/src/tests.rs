//! Domains on systems with known invariants, on random programs, and the laws of a lattice.

use std::rc::Rc;
use std::time::Duration;

use num_traits::{One, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::boxes::Boxes;
use super::congruence::Congruences;
use super::octagon::Octagons;
use super::packs::Packs;
use super::polyhedron::Polyhedra;
use super::*;
use alphorn_arith::Relation;
use alphorn_chc::{Atom, PredicateId, System};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Context;
use alphorn_term::{Linear, Random, Rational, SortId, TermId, TermStore, evaluate};

const INT: SortId = SortId::INT;
const BOOL: SortId = SortId::BOOL;

pub(super) fn number(value: i64) -> Rational {
    Rational::from_integer(value.into())
}

pub(super) fn linear(parts: &[(TermId, i64)], constant: i64) -> Linear {
    let mut monomials: Vec<(TermId, Rational)> =
        parts.iter().map(|(t, c)| (*t, number(*c))).collect();
    monomials.retain(|m| !m.1.is_zero());
    monomials.sort_unstable_by_key(|m| m.0);
    Linear {
        monomials,
        constant: number(constant),
    }
}

pub(super) fn atom(predicate: PredicateId, args: &[TermId]) -> Atom {
    Atom {
        predicate,
        args: args.to_vec(),
    }
}

/// All domains, as the pass `invariants` combines them.
fn all(terms: &Rc<TermStore>) -> impl Domain + use<> {
    let relational = Product::new(
        Congruences::new(terms.clone(), 12),
        Polyhedra::new(terms.clone(), 12, 8),
    );
    let thresholds = vec![number(0), number(100)];
    let numeric = Product::early(Intervals::new(terms.clone(), thresholds), relational);
    Cases::new(
        Product::new(Constants::new(terms.clone()), numeric),
        terms.clone(),
        8,
    )
}

/// Relational domains on packs.
fn packed(terms: &Rc<TermStore>, packs: Vec<Vec<TermId>>) -> impl Domain {
    let octagons = Octagons::new(terms.clone(), 12, 1, &[number(0), number(100)]);
    Product::new(
        Packs::new(octagons, terms.clone(), packs.clone(), 24),
        Packs::new(
            Congruences::new(terms.clone(), 12),
            terms.clone(),
            packs,
            24,
        ),
    )
}

/// Whether the analysis alone shows that `expected` holds of the predicate.
fn shows(system: &System, predicate: PredicateId, expected: TermId) -> bool {
    let terms = &system.terms;
    let domain = all(terms);
    let limits = Limits {
        time: Duration::from_secs(60),
        ..Limits::default()
    };
    let found = analyse(&domain, system, limits, &Context::new(terms.clone()));
    assert!(found.complete);
    let formula = terms.and(&domain.formula(&found.values[predicate.index()]));
    let smt = Smt::new(terms.clone());
    let mut solver = smt.solver();
    solver.assert(formula);
    solver.assert(terms.not(expected));
    solver.check(&[]) == SatResult::Unsat
}

/// A case for all values of a Boolean and one for a single value overlap: a formula that holds of
/// the second does not hold of all assignments with this value.
#[test]
fn cases_that_overlap() {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let p = system.add_predicate("P", &[INT, BOOL]);
    let (x, b) = (terms.var("x", INT), terms.var("b", BOOL));
    system.add_clause(vec![], terms.le(x, terms.int(5)), Some(atom(p, &[x, b])));
    let point = terms.and(&[terms.eq(x, terms.int(0)), b]);
    system.add_clause(vec![], point, Some(atom(p, &[x, b])));
    let params = system.predicate(p).params.clone();
    let bound = terms.le(params[0], terms.int(5));
    assert!(shows(&system, p, bound));
    let zero = terms.eq(params[0], terms.int(0));
    assert!(!shows(&system, p, terms.implies(params[1], zero)));
}

#[test]
fn two_loops_that_undo_each_other() {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let up = system.add_predicate("up", &[INT, INT, INT]);
    let down = system.add_predicate("down", &[INT, INT, INT]);
    let [x, y, z, a, b, c] = ["x", "y", "z", "a", "b", "c"].map(|n| t.var(n, INT));
    let zero = t.int(0);
    let start = t.and(&[t.eq(x, zero), t.eq(y, zero), t.eq(z, zero)]);
    system.add_clause(vec![], start, Some(atom(up, &[x, y, z])));
    let plus = |v, n: i64| t.add(&[v, t.int(n)]);
    let step = t.and(&[t.eq(a, plus(x, 2)), t.eq(b, y), t.eq(c, plus(z, 1))]);
    let (from, to) = (atom(up, &[x, y, z]), atom(up, &[a, b, c]));
    system.add_clause(vec![from.clone()], step, Some(to));
    let same = t.and(&[t.eq(a, x), t.eq(b, y), t.eq(c, z)]);
    system.add_clause(vec![from], same, Some(atom(down, &[a, b, c])));
    let step = t.and(&[t.eq(a, x), t.eq(b, plus(y, 1)), t.eq(c, plus(z, -1))]);
    let (from, to) = (atom(down, &[x, y, z]), atom(down, &[a, b, c]));
    system.add_clause(vec![from], step, Some(to));
    let [p, q, r] = [0, 1, 2].map(|i| system.predicate(down).params[i]);
    let sum = t.add(&[t.scale(&number(2), q), t.scale(&number(2), r)]);
    assert!(shows(&system, down, t.eq(p, sum)));
    assert!(shows(&system, down, t.eq(t.modulo(p, t.int(2)), zero)));
    assert!(shows(&system, down, t.and(&[t.ge(p, zero), t.ge(q, zero)])));
    assert!(!shows(&system, down, t.ge(r, zero)));
}

/// `x = start`; while `x < bound`, `x += step`, by an odd and an even branch.
#[test]
fn parity_and_bounds_by_cases() {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let p = system.add_predicate("p", &[INT, BOOL]);
    let [x, y] = ["x", "y"].map(|n| t.var(n, INT));
    let [f, g] = ["f", "g"].map(|n| t.var(n, BOOL));
    let start = t.and(&[t.eq(x, t.int(4)), f]);
    system.add_clause(vec![], start, Some(atom(p, &[x, f])));
    // From f adds 3, from not f adds 5.
    let sum = t.ite(f, t.add(&[x, t.int(3)]), t.add(&[x, t.int(5)]));
    let step = t.and(&[
        t.eq(y, sum),
        t.xor(f, g),
        t.not(t.eq(x, t.int(20))),
        t.lt(x, t.int(100)),
    ]);
    let (from, to) = (atom(p, &[x, f]), atom(p, &[y, g]));
    system.add_clause(vec![from], step, Some(to));
    let [x, f] = [0, 1].map(|i| system.predicate(p).params[i]);
    let is = |n: i64| t.eq(t.modulo(x, t.int(8)), t.int(n));
    assert!(shows(&system, p, t.or(&[t.not(f), is(4)])));
    assert!(shows(&system, p, t.or(&[f, is(7)])));
    assert!(shows(
        &system,
        p,
        t.and(&[t.ge(x, t.int(4)), t.le(x, t.int(104))])
    ));
    assert!(!shows(&system, p, f));
}

#[test]
fn nonlinear_clauses_meet_their_premises() {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let real = SortId::REAL;
    let p = system.add_predicate("p", &[INT, real]);
    let q = system.add_predicate("q", &[INT, real]);
    let [x, y, z] = ["x", "y", "z"].map(|n| t.var(n, INT));
    let [u, v, w] = ["u", "v", "w"].map(|n| t.var(n, real));
    let init = t.and(&[
        t.eq(t.modulo(x, t.int(3)), t.int(1)),
        t.ge(x, t.int(0)),
        t.le(x, t.int(30)),
        t.eq(u, t.to_real(x)),
    ]);
    system.add_clause(vec![], init, Some(atom(p, &[x, u])));
    let sum = t.and(&[t.eq(z, t.add(&[x, y])), t.eq(w, t.add(&[u, v]))]);
    let body = vec![atom(p, &[x, u]), atom(p, &[y, v])];
    system.add_clause(body, sum, Some(atom(q, &[z, w])));
    let [z, w] = [0, 1].map(|i| system.predicate(q).params[i]);
    assert!(shows(&system, q, t.eq(w, t.to_real(z))));
    assert!(shows(&system, q, t.eq(t.modulo(z, t.int(3)), t.int(2))));
    assert!(shows(
        &system,
        q,
        t.and(&[t.ge(z, t.int(2)), t.le(z, t.int(56))])
    ));
}

#[test]
fn bit_vectors_have_unsigned_bounds() {
    let t = Rc::new(TermStore::new());
    let sort = t.bitvec_sort(8);
    let [x, y] = ["x", "y"].map(|n| t.var(n, sort));
    let domain = Bits::new(t.clone(), Vec::new());
    let value = |n: u8| t.bitvec(n.into(), 8);
    let ule = |a, b| t.rebuild(&alphorn_term::Op::BvUle, &[a, b], BOOL);
    let sum = t.rebuild(&alphorn_term::Op::BvAdd, &[x, value(10)], sort);
    let formula = t.and(&[ule(value(5), x), t.not(ule(value(20), x)), t.eq(y, sum)]);
    let cube = cubes(&t, formula, 4).pop().unwrap();
    let element = domain.guard(&domain.top(), &cube);
    let found = t.and(&domain.formula(&element));
    let wanted = t.and(&[ule(value(15), y), ule(y, value(29))]);
    let smt = Smt::new(t.clone());
    let mut solver = smt.solver();
    solver.assert(found);
    assert_eq!(solver.check(&[]), SatResult::Sat);
    solver.assert(t.not(wanted));
    assert_eq!(solver.check(&[]), SatResult::Unsat);
    // Sums that overflow are small.
    let formula = t.and(&[ule(value(250), x), t.eq(y, sum)]);
    let cube = cubes(&t, formula, 4).pop().unwrap();
    let element = domain.guard(&domain.top(), &cube);
    solver.pop();
    let mut solver = smt.solver();
    solver.assert(t.and(&domain.formula(&element)));
    solver.assert(t.eq(y, value(4)));
    assert_eq!(solver.check(&[]), SatResult::Sat);
}

#[test]
fn executions_stay_inside() {
    stay_inside(all);
    stay_inside(|t| Boxes::new(t.clone(), vec![number(0), number(7)], 400));
    stay_inside(|t| Boxes::new(t.clone(), Vec::new(), 6));
}

/// A random affine program over integers and a Boolean: the result contains all states that it
/// reaches.
fn stay_inside<D: Domain>(domain: impl Fn(&Rc<TermStore>) -> D) {
    for seed in 0..60 {
        let (system, states) = random_program(seed);
        let t = system.terms.clone();
        let domain = domain(&t);
        let limits = Limits {
            time: Duration::from_secs(60),
            ..Limits::default()
        };
        let found = analyse(&domain, &system, limits, &Context::new(t.clone()));
        assert!(found.complete, "seed {seed}: widening ends");
        for state in &states {
            for conjunct in domain.formula(&found.values[state.0.index()]) {
                assert!(holds(&system, state, conjunct), "seed {seed}: {conjunct:?}");
            }
        }
    }
}

/// A state: a location and the values of its arguments.
pub(crate) type State = (PredicateId, [TermId; 3]);

/// Whether a formula over the location's formal variables holds of a state.
pub(crate) fn holds(system: &System, (p, values): &State, formula: TermId) -> bool {
    let params = &system.predicate(*p).params;
    let values = params.iter().copied().zip(*values).collect();
    system.terms.substitute(formula, &values) == TermId::TRUE
}

/// A random affine program over integers and a Boolean, and some of the states that it reaches.
pub(crate) fn random_program(seed: u64) -> (System, Vec<State>) {
    let mut random = Random::new(seed);
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let count = 1 + random.below(3);
    let predicates: Vec<PredicateId> = (0..count)
        .map(|i| system.add_predicate(&format!("p{i}"), &[INT, INT, BOOL]))
        .collect();
    let vars = |s: &str| {
        [
            t.var(&format!("{s}0"), INT),
            t.var(&format!("{s}1"), INT),
            t.var(&format!("{s}2"), BOOL),
        ]
    };
    let (old, new) = (vars("x"), vars("y"));
    let start: Vec<i64> = (0..2).map(|_| random.between(-4, 4)).collect();
    let constraint = t.and(&[
        t.eq(new[0], t.int(start[0])),
        t.eq(new[1], t.int(start[1])),
        new[2],
    ]);
    system.add_clause(vec![], constraint, Some(atom(predicates[0], &new)));
    for _ in 0..2 + random.below(4) {
        let from = predicates[random.below(count)];
        let to = predicates[random.below(count)];
        let mut parts = Vec::new();
        for &target in &new[..2] {
            let sum = |random: &mut Random| {
                t.add(&[
                    t.scale(&number(random.between(-1, 1)), old[0]),
                    t.scale(&number(random.between(-1, 1)), old[1]),
                    t.int(random.between(-3, 3)),
                ])
            };
            let (a, b) = (sum(&mut random), sum(&mut random));
            parts.push(t.eq(
                target,
                if random.below(2) == 0 {
                    a
                } else {
                    t.ite(old[2], a, b)
                },
            ));
        }
        parts.push(match random.below(3) {
            0 => t.eq(new[2], old[2]),
            1 => t.xor(new[2], old[2]),
            _ => t.eq(new[2], t.le(old[0], old[1])),
        });
        let bound = t.int(random.between(-9, 9));
        parts.push(match random.below(5) {
            0 => t.le(old[0], bound),
            1 => t.ge(t.add(&[old[0], old[1]]), bound),
            2 => t.eq(t.modulo(old[1], t.int(2)), t.int(0)),
            3 => t.or(&[t.le(old[1], bound), old[2]]),
            _ => t.not(t.eq(old[0], old[1])),
        });
        let body = vec![atom(from, &old)];
        system.add_clause(body, t.and(&parts), Some(atom(to, &new)));
    }
    let mut open = vec![(
        predicates[0],
        t.int(start[0]),
        t.int(start[1]),
        TermId::TRUE,
    )];
    let mut seen: FxHashSet<_> = open.iter().copied().collect();
    while let Some((p, a, b, c)) = open.pop() {
        if seen.len() > 200 {
            continue;
        }
        for clause in system.clauses.iter().filter(|c| !c.body.is_empty()) {
            if clause.body[0].predicate != p {
                continue;
            }
            // The constraint defines the new values.
            let values = old.iter().copied().zip([a, b, c]).collect();
            let rest = t.substitute(clause.constraint, &values);
            if let Some(next) = solution(&t, rest, &new) {
                let head = clause.head.as_ref().unwrap().predicate;
                let state = (head, next[0], next[1], next[2]);
                if seen.insert(state) {
                    open.push(state);
                }
            }
        }
    }

    let mut states: Vec<State> = seen
        .into_iter()
        .map(|(p, a, b, c)| (p, [a, b, c]))
        .collect();
    states.sort_unstable();
    (system, states)
}

/// The values of variables in a conjunction that sets each of them.
fn solution(t: &TermStore, formula: TermId, vars: &[TermId; 3]) -> Option<[TermId; 3]> {
    let value = |var: TermId| {
        t.conjuncts(formula)
            .into_iter()
            .find_map(|c| match t.op(c) {
                alphorn_term::Op::Var(_) if c == var => Some(TermId::TRUE),
                alphorn_term::Op::Not if t.args(c)[0] == var => Some(TermId::FALSE),
                alphorn_term::Op::Eq if t.args(c)[0] == var => Some(t.args(c)[1]),
                alphorn_term::Op::Eq if t.args(c)[1] == var => Some(t.args(c)[0]),
                _ => None,
            })
    };
    let values = [value(vars[0])?, value(vars[1])?, value(vars[2])?];
    let map: FxHashMap<TermId, TermId> = vars.iter().copied().zip(values).collect();
    let all = evaluate(t, formula, &map.into_iter().collect());
    (all == Some(TermId::TRUE)).then_some(values)
}

/// Elements from random cubes, and points that satisfy them.
fn laws<D: Domain>(domain: &D, t: &Rc<TermStore>, seed: u64) {
    let vars: Vec<TermId> = (0..3).map(|i| t.var(&format!("v{i}"), INT)).collect();
    let points: Vec<FxHashMap<TermId, TermId>> = (0..343)
        .map(|n: i64| {
            let at = [n % 7 - 3, n / 7 % 7 - 3, n / 49 - 3];
            vars.iter().copied().zip(at.map(|x| t.int(x))).collect()
        })
        .collect();
    let inside = |e: &D::Element, p: &FxHashMap<TermId, TermId>| {
        let holds = |f: TermId| t.substitute(f, p) == TermId::TRUE;
        domain.formula(e).into_iter().all(holds)
    };
    let mut random = Random::new(seed);
    let cube = |random: &mut Random| {
        let rows = (0..1 + random.below(3)).map(|_| {
            let parts: Vec<(TermId, i64)> =
                vars.iter().map(|v| (*v, random.between(-2, 2))).collect();
            let row = linear(&parts, random.between(-3, 3));
            match random.below(4) {
                0 => Fact::linear(
                    row.scaled(&Rational::new(1.into(), 2.into())),
                    Relation::Integral,
                ),
                1 => Fact::linear(row, Relation::AtMost),
                _ => Fact::linear(row, Relation::Equal),
            }
        });
        Cube {
            facts: rows.collect(),
        }
    };
    let satisfies = |c: &Cube, p: &FxHashMap<TermId, TermId>| {
        let holds = |f: &Fact| t.substitute(f.formula(t).unwrap(), p) == TermId::TRUE;
        c.facts.iter().all(holds)
    };
    let cubes: Vec<Cube> = (0..4).map(|_| cube(&mut random)).collect();
    let elements: Vec<D::Element> = cubes
        .iter()
        .map(|c| domain.guard(&domain.top(), c))
        .collect();
    for (c, e) in cubes.iter().zip(&elements) {
        assert!(domain.entails(&domain.bottom(), e) && domain.entails(e, &domain.top()));
        assert!(domain.entails(e, e), "reflexive {e:?}");
        for p in points.iter().filter(|p| satisfies(c, p)) {
            assert!(inside(e, p), "seed {seed}: {e:?} for {c:?}");
        }
    }
    for (i, a) in elements.iter().enumerate() {
        for (j, b) in elements.iter().enumerate() {
            let join = domain.join(a, b);
            assert!(domain.entails(a, &join), "seed {seed}: {a:?} in {join:?}");
            assert!(domain.entails(b, &join), "seed {seed}: {b:?} in {join:?}");
            let meet = domain.meet(a, b);
            let wide = domain.widen(a, &join);
            let narrow = domain.narrow(&join, a);
            for p in &points {
                let (x, y) = (satisfies(&cubes[i], p), satisfies(&cubes[j], p));
                assert!(!(x || y) || inside(&join, p) && inside(&wide, p));
                assert!(!(x && y) || inside(&meet, p));
                assert!(!x || inside(&narrow, p));
            }
            // A projection keeps the points that have a witness.
            let keep: FxHashSet<TermId> = vars[..2].iter().copied().collect();
            let shadow = domain.transfer(&[a.clone(), b.clone()], &Cube::default(), Some(&keep));
            for p in points.iter().filter(|p| satisfies(&cubes[i], p)) {
                assert!(!satisfies(&cubes[j], p) || inside(&shadow, p));
            }
        }
    }
}

#[test]
fn laws_of_lattices() {
    for seed in 0..5 {
        let t = Rc::new(TermStore::new());
        laws(
            &Intervals::new(t.clone(), vec![number(-5), number(5)]),
            &t,
            seed,
        );
        laws(&Congruences::new(t.clone(), 6), &t, seed);
        laws(&Polyhedra::new(t.clone(), 6, 6), &t, seed);
        laws(&Polyhedra::new(t.clone(), 6, 0), &t, seed);
        laws(
            &Octagons::new(t.clone(), 8, 1, &[number(-5), number(5)]),
            &t,
            seed,
        );
        laws(&Octagons::new(t.clone(), 8, 6, &[]), &t, seed);
        let vars = (0..3).map(|i| t.var(&format!("v{i}"), INT)).collect();
        laws(&packed(&t, vec![vars]), &t, seed);
        laws(&packed(&t, Vec::new()), &t, seed);
        laws(&all(&t), &t, seed);
        laws(&Boxes::new(t.clone(), vec![number(1)], 400), &t, seed);
        laws(&Boxes::new(t.clone(), Vec::new(), 400), &t, seed);
    }
}

#[test]
fn congruences_are_exact() {
    let t = Rc::new(TermStore::new());
    let [x, y] = ["x", "y"].map(|n| t.var(n, INT));
    let domain = Congruences::new(t.clone(), 6);
    let point = |a: i64, b: i64| {
        let cube = Cube {
            facts: vec![
                Fact::linear(linear(&[(x, 1)], -a), Relation::Equal),
                Fact::linear(linear(&[(y, 1)], -b), Relation::Equal),
            ],
        };
        domain.guard(&domain.top(), &cube)
    };
    let joined = [(0, 0), (2, 4), (4, 8), (6, 0)]
        .into_iter()
        .map(|(a, b)| point(a, b))
        .reduce(|a, b| domain.join(&a, &b))
        .unwrap();
    let formula = t.and(&domain.formula(&joined));
    let at = |a: i64, b: i64| {
        let map = [(x, t.int(a)), (y, t.int(b))].into_iter().collect();
        t.substitute(formula, &map) == TermId::TRUE
    };
    // Spanned by (2, 4) and (6, 0).
    for a in -8..9 {
        for b in -14..15 {
            let spanned = a % 2 == 0 && b % 4 == 0 && (a - b / 2) % 6 == 0;
            assert_eq!(at(a, b), spanned, "{a} {b}");
        }
    }
    // 2x + 2y = 1 has no solution, and neither have x ≡ 0 and x ≡ 1 modulo 2.
    let half = Rational::new(1.into(), 2.into());
    let odd = Cube {
        facts: vec![Fact::linear(linear(&[(x, 2), (y, 2)], -1), Relation::Equal)],
    };
    assert!(domain.is_bottom(&domain.guard(&domain.top(), &odd)));
    let both = Cube {
        facts: [0, 1]
            .map(|c| Fact::linear(linear(&[(x, 1)], c).scaled(&half), Relation::Integral))
            .to_vec(),
    };
    assert!(domain.is_bottom(&domain.guard(&domain.top(), &both)));
    assert!(half < Rational::one());
}

/// Points of a small grid with a Boolean and a real, for formulas over one variable each.
#[test]
fn boxes_are_exact_where_facts_are_about_one_variable() {
    for seed in 0..16 {
        let mut random = Random::new(seed);
        let t = Rc::new(TermStore::new());
        let (x, y, b) = (t.var("x", INT), t.var("y", SortId::REAL), t.var("b", BOOL));
        let mut points: Vec<FxHashMap<TermId, TermId>> = Vec::new();
        for n in 0..7i64 * 14 * 2 {
            let half = Rational::new((n / 7 % 14 - 7).into(), 2.into());
            points.push(FxHashMap::from_iter([
                (x, t.int(n % 7 - 3)),
                (y, t.real(half)),
                (b, t.bool(n / 98 == 0)),
            ]));
        }
        let mut formulas: Vec<TermId> = Vec::new();
        for _ in 0..8 {
            let whole = t.int(random.between(-3, 3));
            let real = t.real(number(random.between(-3, 3)));
            let atoms = [
                t.le(x, whole),
                t.eq(x, whole),
                t.lt(y, real),
                t.ge(y, real),
                t.eq(y, real),
                b,
            ];
            let mut pick = || {
                let atom = atoms[random.below(atoms.len())];
                if random.below(2) == 0 {
                    atom
                } else {
                    t.not(atom)
                }
            };
            let (p, q, r) = (pick(), pick(), pick());
            formulas.push(t.or(&[t.and(&[p, q]), r]));
            let before = formulas[random.below(formulas.len())];
            formulas.push(t.and(&[t.not(before), t.or(&[p, q])]));
            formulas.push(t.ite(p, before, t.xor(q, r)));
        }
        let domain = Boxes::new(t.clone(), Vec::new(), 10_000);
        let elements: Vec<_> = formulas
            .iter()
            .map(|&f| {
                let (element, exact) = domain.abstracted(&t, &domain.top(), f, 1);
                assert!(exact, "seed {seed}");
                element
            })
            .collect();
        let holds = |f: TermId, p: &FxHashMap<TermId, TermId>| t.substitute(f, p) == TermId::TRUE;
        let same = |e: &_, wanted: TermId| {
            let formula = t.and(&domain.formula(e));
            for p in &points {
                assert_eq!(holds(formula, p), holds(wanted, p), "seed {seed}");
            }
        };
        for (i, (e, &f)) in elements.iter().zip(&formulas).enumerate() {
            same(e, f);
            let j = random.below(formulas.len());
            let (d, g) = (&elements[j], formulas[j]);
            same(&domain.join(e, d), t.or(&[f, g]));
            same(&domain.meet(e, d), t.and(&[f, g]));
            same(&domain.minus(e, d), t.and(&[f, t.not(g)]));
            let union = domain.join(e, d);
            assert!(domain.entails(&union, &domain.widen(e, &union)), "{i}");
            let coarsened = domain.coarsened(&union);
            assert!(domain.entails(&union, &coarsened), "{i}");
            assert!(domain.entails(&coarsened, &domain.hull(&union)), "{i}");
            let inside = points.iter().all(|p| !holds(f, p) || holds(g, p));
            assert!(inside || !domain.entails(e, d));
            // The projection that eliminates b.
            let keep = FxHashSet::from_iter([x, y]);
            let shadow = domain.transfer(&[*e], &Cube::default(), Some(&keep));
            let of = |value: TermId| t.substitute(f, &FxHashMap::from_iter([(b, value)]));
            same(&shadow, t.or(&[of(TermId::TRUE), of(TermId::FALSE)]));
        }
    }
}

/// Widening of growing unions ends, and stops at thresholds.
#[test]
fn widening_of_boxes_ends() {
    let t = Rc::new(TermStore::new());
    let [x, y] = ["x", "y"].map(|n| t.var(n, INT));
    for thresholds in [vec![], vec![number(50)]] {
        let domain = Boxes::new(t.clone(), thresholds.clone(), 10_000);
        let point = |a: i64, b: i64| {
            let facts =
                [(x, a), (y, b)].map(|(v, n)| Fact::linear(linear(&[(v, 1)], -n), Relation::Equal));
            let cube = Cube {
                facts: facts.to_vec(),
            };
            domain.guard(&domain.top(), &cube)
        };
        let mut all = point(0, 0);
        let mut steps = 0;
        for n in 1..40 {
            let next = domain.join(&all, &point(n, n * n % 17));
            if !domain.entails(&next, &all) {
                steps += 1;
                all = domain.widen(&all, &next);
            }
        }
        assert!(steps < 30, "{steps}");
        let formula = t.and(&domain.formula(&all));
        let far = FxHashMap::from_iter([(x, t.int(60)), (y, t.int(1))]);
        let beyond = t.substitute(formula, &far) == TermId::TRUE;
        assert_eq!(beyond, thresholds.is_empty());
    }
}
