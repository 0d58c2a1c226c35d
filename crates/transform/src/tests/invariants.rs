//! Systems that abstract domains decide, and systems that they must not decide; invariants are part
//! of translated models.

use std::rc::Rc;

use super::decide::{atom, check_model, check_pipeline, decide, run};
use alphorn_chc::System;
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Op, Rational, SortId, TermId, TermStore};
use alphorn_witness::{Model, Verdict};

const INT: SortId = SortId::INT;

fn scaled(t: &TermStore, factor: i64, var: TermId) -> TermId {
    t.scale(&Rational::from_integer(factor.into()), var)
}

/// Asserts that the passes leave no clause of a system and that the empty model is translated back
/// to a model.
fn solved(system: &System, passes: &str) {
    let mut cx = Context::new(system.terms.clone());
    let (after, stack) = run(system, passes, &mut cx);
    assert!(after.clauses.is_empty(), "{passes} solve the system");
    let model = stack.model(Model::default(), &mut cx).unwrap();
    check_model(system, &model, &Smt::new(system.terms.clone()));
}

/// Two loops one after the other: the first adds `step` to its vector while `first` holds, the
/// second subtracts `back`. The error is `bad` after the second.
struct TwoLoops {
    start: [i64; 3],
    step: [i64; 3],
    back: [i64; 3],
}

impl TwoLoops {
    fn system(
        &self,
        guard: impl Fn(&TermStore, [TermId; 3]) -> TermId,
        bad: impl Fn(&TermStore, [TermId; 3]) -> TermId,
    ) -> System {
        let t = Rc::new(TermStore::new());
        let mut system = System::new(t.clone());
        let first = system.add_predicate("first", &[INT; 3]);
        let second = system.add_predicate("second", &[INT; 3]);
        let old = ["x", "y", "z"].map(|n| t.var(n, INT));
        let new = ["a", "b", "c"].map(|n| t.var(n, INT));
        let moved = |by: [i64; 3]| {
            let parts = [0, 1, 2].map(|i| t.eq(new[i], t.add(&[old[i], t.int(by[i])])));
            t.and(&parts)
        };
        let start = [0, 1, 2].map(|i| t.eq(new[i], t.int(self.start[i])));
        system.add_clause(vec![], t.and(&start), Some(atom(first, &new)));
        let step = t.and(&[moved(self.step), guard(&t, old)]);
        system.add_clause(vec![atom(first, &old)], step, Some(atom(first, &new)));
        let same = moved([0; 3]);
        system.add_clause(vec![atom(first, &old)], same, Some(atom(second, &new)));
        let back = t.and(&[moved(self.back), t.ge(old[0], t.int(1))]);
        system.add_clause(vec![atom(second, &old)], back, Some(atom(second, &new)));
        system.add_clause(vec![atom(second, &old)], bad(&t, old), None);
        system
    }
}

#[test]
fn an_equation_across_two_loops() {
    let loops = TwoLoops {
        start: [0, 0, 7],
        step: [1, 3, -1],
        back: [-1, -3, 1],
    };
    // y = 3x and x + z = 7 throughout.
    let free = |_: &TermStore, _| TermId::TRUE;
    let system = loops.system(free, |t, [x, y, z]| {
        let apart = t.not(t.eq(y, scaled(t, 3, x)));
        t.or(&[apart, t.not(t.eq(t.add(&[x, z]), t.int(7)))])
    });
    solved(&system, "invariants,cone");
    solved(&system, "default");
    // With a bound on the loop there are few facts, and a reachable error.
    let bounded = |t: &TermStore, [x, _, _]: [TermId; 3]| t.le(x, t.int(4));
    let system = loops.system(bounded, |t, [x, y, _]| {
        t.and(&[t.eq(y, scaled(t, 3, x)), t.eq(x, t.int(5))])
    });
    let smt = Smt::new(system.terms.clone());
    assert!(matches!(decide(&system, &smt), Verdict::Unsat(_)));
    assert!(!check_pipeline(&system, "invariants", &smt));
    assert!(!check_pipeline(&system, "invariants,simplify", &smt));
    assert!(!check_pipeline(&system, "default", &smt));
}

#[test]
fn parity_and_bounds() {
    let loops = TwoLoops {
        start: [4, 1, 0],
        step: [6, 4, 1],
        back: [-2, 0, 0],
    };
    let guard = |t: &TermStore, [_, _, z]: [TermId; 3]| t.lt(z, t.int(1000));
    let odd = |t: &TermStore, v| t.eq(t.modulo(v, t.int(2)), t.int(1));
    let system = loops.system(guard, |t, [x, ..]| odd(t, x));
    solved(&system, "invariants,cone");
    let system = loops.system(guard, |t, [_, y, _]| {
        t.not(t.eq(t.modulo(y, t.int(4)), t.int(1)))
    });
    solved(&system, "invariants,cone");
    let system = loops.system(guard, |t, [_, _, z]| {
        t.or(&[t.gt(z, t.int(1000)), t.lt(z, t.int(0))])
    });
    solved(&system, "invariants,cone");
    // x is at most 4 + 6z, which needs polyhedra; y = 1 + 4z.
    let system = loops.system(guard, |t, [x, y, z]| {
        let most = t.gt(x, t.add(&[t.int(4), scaled(t, 6, z)]));
        t.or(&[most, t.lt(y, t.int(1))])
    });
    solved(&system, "invariants,cone");
}

#[test]
fn a_bound_that_is_reached_is_an_error() {
    let loops = TwoLoops {
        start: [0, 0, 0],
        step: [2, 1, 1],
        back: [-1, 0, 0],
    };
    let guard = |t: &TermStore, [_, _, z]: [TermId; 3]| t.lt(z, t.int(5));
    for (limit, sat) in [(5, true), (4, false)] {
        let system = loops.system(guard, |t, [_, y, _]| t.gt(y, t.int(limit)));
        let smt = Smt::new(system.terms.clone());
        for passes in ["invariants", "invariants,propagate,slice", "default"] {
            assert_eq!(check_pipeline(&system, passes, &smt), sat, "{passes}");
        }
    }
}

#[test]
fn premises_of_nonlinear_clauses_and_reals() {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let p = system.add_predicate("p", &[SortId::REAL, SortId::BOOL]);
    let [u, v, w] = ["u", "v", "w"].map(|n| t.var(n, SortId::REAL));
    let [f, g, h] = ["f", "g", "h"].map(|n| t.var(n, SortId::BOOL));
    let number = |n: i64| t.real(Rational::from_integer(n.into()));
    // Positive with f, negative without it; sums of numbers with the same sign.
    let init = t.and(&[t.ge(u, number(1)), f]);
    system.add_clause(vec![], init, Some(atom(p, &[u, f])));
    let init = t.and(&[t.le(u, number(-2)), t.not(f)]);
    system.add_clause(vec![], init, Some(atom(p, &[u, f])));
    let sum = t.and(&[t.eq(w, t.add(&[u, v])), t.eq(f, g), t.eq(h, g)]);
    let body = vec![atom(p, &[u, f]), atom(p, &[v, g])];
    system.add_clause(body, sum, Some(atom(p, &[w, h])));
    let bad = t.and(&[t.lt(u, number(1)), f]);
    system.add_clause(vec![atom(p, &[u, f])], bad, None);
    let between = t.and(&[t.gt(u, number(-2)), t.lt(u, number(1))]);
    system.add_clause(vec![atom(p, &[u, f])], between, None);
    solved(&system, "invariants,cone");
}

#[test]
fn nothing_is_conjoined_twice() {
    let loops = TwoLoops {
        start: [0, 0, 0],
        step: [2, 1, 1],
        back: [-1, 0, 0],
    };
    let guard = |t: &TermStore, [_, _, z]: [TermId; 3]| t.lt(z, t.int(50));
    let system = loops.system(guard, |t, [x, y, _]| t.eq(t.mul(&[x, y]), t.int(77)));
    let mut cx = Context::new(system.terms.clone());
    let (once, stack) = run(&system, "invariants", &mut cx);
    assert_eq!(stack.len(), 1);
    let (twice, stack) = run(&once, "invariants", &mut cx);
    assert!(stack.is_empty());
    let constraints = |s: &System| s.clauses.iter().map(|c| c.constraint).collect::<Vec<_>>();
    assert_eq!(constraints(&once), constraints(&twice));
}

#[test]
fn other_sorts_pass_through() {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let array = t.array_sort(INT, INT);
    let bits = t.bitvec_sort(8);
    let p = system.add_predicate("p", &[array, bits]);
    let [m, n] = ["m", "n"].map(|s| t.var(s, array));
    let [x, y] = ["x", "y"].map(|s| t.var(s, bits));
    let value = |v: u8| t.bitvec(v.into(), 8);
    let ule = |a, b| t.rebuild(&Op::BvUle, &[a, b], SortId::BOOL);
    let init = t.and(&[t.eq(m, t.const_array(array, t.int(3))), t.eq(x, value(1))]);
    system.add_clause(vec![], init, Some(atom(p, &[m, x])));
    let next = t.rebuild(&Op::BvAdd, &[x, value(1)], bits);
    let step = t.and(&[
        t.eq(n, t.store(m, t.int(0), t.int(4))),
        t.eq(y, next),
        t.not(ule(value(9), x)),
    ]);
    system.add_clause(vec![atom(p, &[m, x])], step, Some(atom(p, &[n, y])));
    let bad = t.and(&[ule(value(10), x), t.eq(t.select(m, t.int(1)), t.int(3))]);
    system.add_clause(vec![atom(p, &[m, x])], bad, None);
    solved(&system, "invariants,cone");
}

/// Two phases of one loop: `y` is constant, then it changes together with `x`.
#[test]
fn phases_have_invariants_of_their_own() {
    for (last, sat) in [(100, true), (99, false)] {
        let t = Rc::new(TermStore::new());
        let mut system = System::new(t.clone());
        let p = system.add_predicate("p", &[INT, INT]);
        let [x, y, a, b] = ["x", "y", "a", "b"].map(|n| t.var(n, INT));
        let plus = |v, n: i64| t.add(&[v, t.int(n)]);
        let init = t.and(&[t.eq(a, t.int(0)), t.eq(b, t.int(50))]);
        system.add_clause(vec![], init, Some(atom(p, &[a, b])));
        let step = t.and(&[
            t.lt(x, t.int(100)),
            t.eq(a, plus(x, 1)),
            t.eq(b, t.ite(t.lt(x, t.int(50)), y, plus(y, 1))),
        ]);
        system.add_clause(vec![atom(p, &[x, y])], step, Some(atom(p, &[a, b])));
        let bad = t.and(&[t.ge(x, t.int(100)), t.not(t.eq(y, t.int(last)))]);
        system.add_clause(vec![atom(p, &[x, y])], bad, None);
        if sat {
            solved(&system, "invariants,cone");
        } else {
            let smt = Smt::new(system.terms.clone());
            assert!(!check_pipeline(&system, "invariants", &smt));
        }
    }
}

/// More variables than a polyhedron has: differences within pairs are found nevertheless.
#[test]
fn many_arguments_are_related_in_packs() {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let count = 60;
    let p = system.add_predicate("p", &vec![INT; count]);
    let old: Vec<TermId> = (0..count).map(|i| t.var(&format!("x{i}"), INT)).collect();
    let new: Vec<TermId> = (0..count).map(|i| t.var(&format!("y{i}"), INT)).collect();
    let start: Vec<TermId> = new.iter().map(|v| t.eq(*v, t.int(0))).collect();
    system.add_clause(vec![], t.and(&start), Some(atom(p, &new)));
    // The second of each pair may lag behind by three.
    let mut step = Vec::new();
    for i in (0..count).step_by(2) {
        let [x, y, a, b] = [old[i], old[i + 1], new[i], new[i + 1]];
        step.push(t.eq(a, t.add(&[x, t.int(1)])));
        step.push(t.ge(b, y));
        step.push(t.le(b, a));
        step.push(t.ge(b, t.add(&[a, t.int(-3)])));
    }
    system.add_clause(vec![atom(p, &old)], t.and(&step), Some(atom(p, &new)));
    for i in (0..count).step_by(2) {
        let bad = t.gt(t.sub(old[i], old[i + 1]), t.int(3));
        system.add_clause(vec![atom(p, &old)], bad, None);
    }
    solved(&system, "invariants,cone");
}

/// `x = 0; y = 7;` and, nondeterministically often, `x += k; y += 3k` for any k, modulo 2^32: the
/// passes alone find the equation, and do not find one that does not hold.
#[test]
fn equations_of_bit_vectors_decide_sums_that_wrap() {
    for (factor, holds) in [(3u32, true), (5, false)] {
        let t = Rc::new(TermStore::new());
        let mut system = System::new(t.clone());
        let sort = t.bitvec_sort(32);
        let p = system.add_predicate("p", &[sort, sort]);
        let [x, y, k, u, v] = ["x", "y", "k", "u", "v"].map(|n| t.var(n, sort));
        let word = |n: u32| t.bitvec(n.into(), 32);
        let times = |n: u32, a: TermId| t.bv_op(&Op::BvMul, &[word(n), a]);
        let sum = |a: TermId, b: TermId| t.bv_op(&Op::BvAdd, &[a, b]);
        let start = t.and(&[t.eq(x, word(0)), t.eq(y, word(7))]);
        system.add_clause(vec![], start, Some(atom(p, &[x, y])));
        let step = t.and(&[t.eq(u, sum(x, k)), t.eq(v, sum(y, times(3, k)))]);
        system.add_clause(vec![atom(p, &[x, y])], step, Some(atom(p, &[u, v])));
        let wrong = t.not(t.eq(y, sum(times(factor, x), word(7))));
        system.add_clause(vec![atom(p, &[x, y])], wrong, None);
        if holds {
            solved(&system, "invariants,cone");
        } else {
            let mut cx = Context::new(t.clone());
            let (after, _) = run(&system, "invariants,cone", &mut cx);
            assert!(after.clauses.iter().any(|c| c.head.is_none()));
        }
    }
}

/// A bound that is halved and increased by a parameter, next to more other, arbitrarily changing
/// arguments than a polyhedron has.
#[test]
fn arguments_that_change_by_themselves_have_their_relations() {
    const OTHERS: usize = 20;
    for planted in [true, false] {
        let t = Rc::new(TermStore::new());
        let mut system = System::new(t.clone());
        let sorts = [SortId::REAL; OTHERS + 2];
        let p = system.add_predicate("P", &sorts);
        let vars = |stem: &str| -> Vec<TermId> {
            let names = (0..sorts.len()).map(|n| format!("{stem}{n}"));
            names.map(|name| t.var(&name, SortId::REAL)).collect()
        };
        let (old, new) = (vars("x"), vars("y"));
        let zero = t.number(&Rational::from_integer(0.into()), SortId::REAL);
        let start = t.and(&[t.lt(zero, old[1]), t.lt(scaled(&t, 2, old[1]), old[0])]);
        system.add_clause(vec![], start, Some(atom(p, &old)));
        let half = Rational::new(1.into(), 2.into());
        let raised = t.add(&[t.scale(&half, old[0]), old[1]]);
        let mut step = vec![t.eq(new[0], raised), t.eq(new[1], old[1])];
        for at in 2..sorts.len() {
            let local = t.var(&format!("l{at}"), SortId::REAL);
            step.push(t.eq(new[at], t.add(&[old[at - 1], local])));
        }
        system.add_clause(vec![atom(p, &old)], t.and(&step), Some(atom(p, &new)));
        let twice = scaled(&t, 2, old[1]);
        // The bound converges.
        let bad = match planted {
            true => t.lt(old[0], twice),
            false => t.lt(old[0], scaled(&t, 3, old[1])),
        };
        system.add_clause(vec![atom(p, &old)], bad, None);
        if planted {
            solved(&system, "invariants,cone");
        } else {
            let mut cx = Context::new(t.clone());
            let (after, _) = run(&system, "invariants,cone", &mut cx);
            assert!(!after.clauses.is_empty());
        }
    }
}
