//! Disjunction splitting: useful splits are made, others are not, and both witnesses are translated
//! back.

use std::rc::Rc;

use proptest::prelude::*;

use super::decide::{after, agree, atom, check};
use super::random::config;
use crate::Transformation;
use crate::split::Split;
use alphorn_chc::{Clause, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{Op, SortId, TermId, TermStore};

const INT: SortId = SortId::INT;

/// `x = 0 ∧ y = 0 ⇒ P(x, y)`; `P(x, y) ∧ step ⇒ P(a, b)`; `P(x, y) ∧ y ≥ limit ⇒ false`.
fn looping(
    limit: i64,
    step: impl FnOnce(&TermStore, [TermId; 4]) -> TermId,
) -> (System, PredicateId) {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let p = system.add_predicate("P", &[INT, INT]);
    let [x, y, a, b] = ["x", "y", "a", "b"].map(|n| t.var(n, INT));
    let init = t.and(&[t.eq(x, t.int(0)), t.eq(y, t.int(0))]);
    system.add_clause(vec![], init, Some(atom(p, &[x, y])));
    let step = step(&t, [x, y, a, b]);
    system.add_clause(vec![atom(p, &[x, y])], step, Some(atom(p, &[a, b])));
    system.add_clause(vec![atom(p, &[x, y])], t.ge(y, t.int(limit)), None);
    (system, p)
}

fn has(system: &System, wanted: &Op) -> bool {
    let terms = &system.terms;
    let constraints: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
    let mut found = false;
    terms.post_order(&constraints, |t| found |= terms.op(t) == wanted);
    found
}

/// One step of the loop: `x < 4 ∧ a = x + 1 ∧ b = y + increment`.
fn move_by(t: &TermStore, [x, y, a, b]: [TermId; 4], increment: i64) -> TermId {
    t.and(&[
        t.lt(x, t.int(4)),
        t.eq(a, t.add(&[x, t.int(1)])),
        t.eq(b, t.add(&[y, t.int(increment)])),
    ])
}

fn stay(t: &TermStore, [x, y, a, b]: [TermId; 4]) -> TermId {
    t.and(&[t.eq(a, x), t.eq(b, y)])
}

#[test]
fn trivial_cases_are_dropped() {
    for (limit, sat) in [(9, true), (8, false)] {
        let (system, _) = looping(limit, |t, v| t.or(&[stay(t, v), move_by(t, v, 2)]));
        let split = after(&system, "split");
        assert_eq!(split.clauses.len(), 3);
        assert!(!has(&split, &Op::Or));
        check(&system, &["split"], sat);
        check(&system, &["default,split"], sat);
    }
}

#[test]
fn phases_become_clauses() {
    for (limit, sat) in [(9, true), (8, false)] {
        let (system, _) = looping(limit, |t, v| {
            let early = t.lt(v[0], t.int(2));
            let (fast, slow) = (move_by(t, v, 3), move_by(t, v, 1));
            t.or(&[t.and(&[early, fast]), t.and(&[t.not(early), slow])])
        });
        let split = after(&system, "split");
        assert_eq!(split.clauses.len(), 4);
        assert!(!has(&split, &Op::Or));
        // Another run of the pass has no effect.
        assert_eq!(after(&split, "split,simplify").clauses.len(), 4);
        check(&system, &["split"], sat);
        check(&system, &["split,simplify,subsume,inline"], sat);
    }
}

#[test]
fn conditionals_are_split_if_a_local_is_eliminated() {
    for (limit, sat) in [(9, true), (8, false)] {
        let (system, _) = looping(limit, |t, [x, y, a, b]| {
            // Twice the local is what is added: no equation defines it.
            let local = t.var("l", INT);
            let twice = t.mul(&[t.int(2), local]);
            let wanted = t.ite(t.lt(x, t.int(2)), t.int(4), t.mul(&[t.int(2), x]));
            let guard = t.lt(x, t.int(2));
            t.and(&[
                guard,
                t.eq(a, t.add(&[x, t.int(1)])),
                t.eq(twice, wanted),
                t.eq(b, t.add(&[y, twice])),
            ])
        });
        check(&system, &["split"], sat);
    }
}

#[test]
fn contradictory_cases_and_their_locals_are_dropped() {
    for (limit, sat) in [(5, true), (4, false)] {
        let (system, _) = looping(limit, |t, [x, y, a, b]| {
            let local = t.var("l", INT);
            let twice = t.mul(&[t.int(2), local]);
            // Only all three of these together contradict the guard.
            let far = t.and(&[
                t.eq(x, t.int(3)),
                t.eq(y, t.int(4)),
                t.eq(twice, t.add(&[x, t.int(2)])),
            ]);
            t.and(&[
                t.le(t.add(&[x, y]), t.int(4)),
                t.eq(a, t.add(&[x, t.int(1)])),
                t.or(&[far, t.eq(local, t.int(2))]),
                t.eq(b, t.add(&[y, twice])),
            ])
        });
        let split = after(&system, "split");
        assert_eq!(split.clauses.len(), 3);
        assert!(!has(&split, &Op::Or));
        let no_locals = |c: &Clause| c.locals(&split.terms).is_empty();
        assert!(split.clauses.iter().all(no_locals));
        check(&system, &["split"], sat);
    }
}

#[test]
fn equations_of_formulas_are_split() {
    let build = |limit: i64| {
        let t = Rc::new(TermStore::new());
        let mut system = System::new(t.clone());
        let p = system.add_predicate("P", &[SortId::BOOL, INT]);
        let [f, g] = ["f", "g"].map(|n| t.var(n, SortId::BOOL));
        let [x, y] = ["x", "y"].map(|n| t.var(n, INT));
        let init = t.and(&[f, t.eq(x, t.int(0))]);
        system.add_clause(vec![], init, Some(atom(p, &[f, x])));
        // The flag is true if x is small, and only then there is a change.
        let step = t.and(&[
            t.eq(f, t.lt(x, t.int(3))),
            t.or(&[t.not(f), t.eq(y, t.add(&[x, t.int(1)]))]),
            t.or(&[f, t.and(&[t.eq(y, t.sub(t.int(7), x)), t.not(g)])]),
        ]);
        system.add_clause(vec![atom(p, &[f, x])], step, Some(atom(p, &[g, y])));
        let bad = t.and(&[f, t.ge(x, t.int(limit))]);
        system.add_clause(vec![atom(p, &[f, x])], bad, None);
        system
    };
    for (limit, sat) in [(4, true), (3, false)] {
        let system = build(limit);
        let split = after(&system, "split");
        assert_eq!(split.clauses.len(), 4);
        assert!(!has(&split, &Op::Or));
        check(&system, &["split"], sat);
    }
}

#[test]
fn useless_splits_are_not_made() {
    // The disjunction does not concern the step.
    let (system, _) = looping(9, |t, v| {
        let either = t.or(&[t.ge(v[0], t.int(3)), t.le(v[1], t.int(7))]);
        t.and(&[either, move_by(t, v, 2)])
    });
    assert!(has(&after(&system, "split"), &Op::Or));
    assert_eq!(after(&system, "split").clauses.len(), 3);
}

#[test]
fn many_cases_stay_together() {
    // Each of twelve local variables has two values: no budget suffices for the product.
    let (system, _) = looping(9, |t, [x, y, a, b]| {
        let mut parts = vec![t.eq(a, t.add(&[x, t.int(1)]))];
        let mut sum = vec![y];
        for i in 0..12 {
            let local = t.var(&format!("l{i}"), INT);
            let scaled = t.mul(&[t.int(i + 2), local]);
            parts.push(t.or(&[t.eq(local, x), t.eq(scaled, y)]));
            sum.push(local);
        }
        parts.push(t.eq(b, t.add(&sum)));
        t.and(&parts)
    });
    assert_eq!(after(&system, "split").clauses.len(), 3);
}

/// A loop with many steps, all of which can be split.
fn steps(limits: std::ops::Range<i64>, terms: &Rc<TermStore>) -> System {
    let t = terms.clone();
    let mut system = System::new(t.clone());
    let p = system.add_predicate("P", &[INT, INT]);
    let v = ["x", "y", "a", "b"].map(|n| t.var(n, INT));
    let step = t.or(&[move_by(&t, v, 1), move_by(&t, v, 2)]);
    for i in limits {
        let more = t.and(&[step, t.le(v[2], t.int(i))]);
        system.add_clause(vec![atom(p, &v[..2])], more, Some(atom(p, &v[2..])));
    }
    system
}

#[test]
fn clauses_share_a_budget_that_follows_the_system() {
    let terms = Rc::new(TermStore::new());
    let mut cx = Context::new(terms.clone());
    let mut split = Split::default();
    let mut growth = |limits: std::ops::Range<i64>| {
        let system = Rc::new(steps(limits, &terms));
        let step = split.apply(&system, &mut cx);
        step.map_or(0, |s| s.system.clauses.len() - system.clauses.len())
    };
    // A small system first; clauses that are added later have a budget of their own.
    assert_eq!(growth(-10..-8), 2);
    let many = growth(0..1000);
    assert!((100..=600).contains(&many), "{many} clauses more");
    // As many others replace them: no budget is left.
    let others = growth(1000..2000);
    assert!(others <= 16, "{others} clauses more");
    // A system that is small again may grow again.
    assert_eq!(growth(3000..3004), 4);
}

/// A loop of phases, each with a range of x, increments of both arguments, and a local that the
/// increment of y comes from.
fn phases(phases: &[(i64, i64, i64, i64)], limit: i64, shape: u8) -> System {
    let (system, _) = looping(limit, |t, [x, y, a, b]| {
        let mut cases = Vec::new();
        for (i, &(low, high, dx, dy)) in phases.iter().enumerate() {
            let mut parts = vec![
                t.ge(x, t.int(low)),
                t.le(x, t.int(high)),
                t.eq(a, t.add(&[x, t.int(dx)])),
            ];
            if (shape >> i) & 1 == 1 {
                let local = t.var(&format!("l{}", i % 2), INT);
                parts.push(t.eq(t.mul(&[t.int(2), local]), t.int(2 * dy)));
                parts.push(t.eq(b, t.add(&[y, local])));
            } else {
                let condition = t.lt(y, t.int(2));
                let increment = t.ite(condition, t.int(dy), t.int(0));
                parts.push(t.eq(b, t.add(&[y, increment])));
            }
            cases.push(t.and(&parts));
        }
        if shape & 0x80 != 0 {
            cases.push(stay(t, [x, y, a, b]));
        }
        let bound = |v| t.and(&[t.ge(v, t.int(-4)), t.le(v, t.int(6))]);
        t.and(&[t.or(&cases), bound(a), bound(b)])
    });
    system
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn phases_keep_their_verdict(
        list in prop::collection::vec((-3i64..3, 0i64..5, -2i64..3, -2i64..3), 1..6),
        limit in 1i64..8,
        shape in any::<u8>(),
    ) {
        let system = phases(&list, limit, shape);
        let lists = ["split", "split,simplify,inline", "default,split"];
        prop_assume!(agree(&system, &lists).is_some());
    }
}
