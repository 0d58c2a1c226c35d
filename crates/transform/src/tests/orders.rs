//! Orders of bit-vectors: planted ones are found, and others are not.

use std::rc::Rc;

use super::decide::{atom, check_model, check_pipeline, decide, run};
use crate::orders::{drop_violated, not_implied, orders};
use alphorn_chc::System;
use alphorn_proof::facts::{Checker, Facts};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Context;
use alphorn_term::{Op, Random, TermId, TermStore};
use alphorn_witness::{Model, Verdict};

/// A comparison of bit-vectors.
type Order = fn(&TermStore, TermId, TermId) -> TermId;

fn unsigned(t: &TermStore, x: TermId, y: TermId) -> TermId {
    t.bv_op(&Op::BvUle, &[x, y])
}

fn signed(t: &TermStore, x: TermId, y: TermId) -> TermId {
    t.bv_op(&Op::BvSle, &[x, y])
}

/// `x = least; n >= x;` and, while not `n <= x`, `x += step`. The error is that `x <= n` does not
/// hold.
fn counter(width: u32, order: Order, least: u32, step: u32) -> System {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let sort = t.bitvec_sort(width);
    let p = system.add_predicate("p", &[sort, sort]);
    let [x, y, n, m] = ["x", "y", "n", "m"].map(|name| t.var(name, sort));
    let constant = |value: u32| t.bitvec(value.into(), width);
    let start = t.and(&[t.eq(x, constant(least)), order(&t, x, n)]);
    system.add_clause(vec![], start, Some(atom(p, &[x, n])));
    let more = t.bv_op(&Op::BvAdd, &[x, constant(step)]);
    let next = t.and(&[t.not(order(&t, n, x)), t.eq(y, more), t.eq(m, n)]);
    system.add_clause(vec![atom(p, &[x, n])], next, Some(atom(p, &[y, m])));
    let bad = t.not(order(&t, x, n));
    system.add_clause(vec![atom(p, &[x, n])], bad, None);
    system
}

#[test]
fn a_planted_order_decides() {
    for (order, least) in [(unsigned as Order, 0), (signed as Order, 1 << 15)] {
        let system = counter(16, order, least, 1);
        let mut cx = Context::new(system.terms.clone());
        let (after, stack) = run(&system, "invariants,cone", &mut cx);
        assert!(after.clauses.is_empty(), "the passes solve the system");
        let model = stack.model(Model::default(), &mut cx).unwrap();
        check_model(&system, &model, &Smt::new(system.terms.clone()));
    }
}

#[test]
fn an_order_that_a_step_breaks_is_dropped() {
    // A step of two goes beyond an odd bound.
    for (order, least) in [(unsigned as Order, 0), (signed as Order, 4)] {
        let system = counter(3, order, least, 2);
        let smt = Smt::new(system.terms.clone());
        assert!(!check_pipeline(&system, "invariants", &smt));
        assert!(!check_pipeline(&system, "invariants,simplify,cone", &smt));
    }
}

/// Two predicates of three bit-vectors, with clauses that move, increase and compare them.
fn random_system(random: &mut Random, width: u32) -> System {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let sort = t.bitvec_sort(width);
    let predicates = ["P", "Q"].map(|name| system.add_predicate(name, &[sort; 3]));
    let vars = |mark: &str| ["x", "y", "z"].map(|name| t.var(&format!("{name}{mark}"), sort));
    let (old, new) = (vars(""), vars("'"));
    for index in 0..5 {
        let mut pick = |n: usize| random.below(n);
        let constant = |value: usize| t.bitvec(value.into(), width);
        let mut parts: Vec<TermId> = Vec::new();
        for &head in &new {
            let from = old[pick(3)];
            match pick(4) {
                0 if index > 0 => parts.push(t.eq(head, t.bv_op(&Op::BvAdd, &[from, constant(1)]))),
                1 => parts.push(unsigned(&t, head, constant(pick(1 << width)))),
                _ if index > 0 => parts.push(t.eq(head, from)),
                _ => parts.push(t.eq(head, constant(pick(1 << width)))),
            }
        }
        let order: Order = if pick(2) == 0 { unsigned } else { signed };
        let (a, b) = (old[pick(3)], old[pick(3)]);
        parts.push(t.not(order(&t, a, b)));
        let body = atom(predicates[pick(2)], &old);
        let head = atom(predicates[if index == 0 { 0 } else { pick(2) }], &new);
        match index {
            0 => system.add_clause(vec![], t.and(&parts[..3]), Some(head)),
            _ => system.add_clause(vec![body], t.and(&parts), Some(head)),
        };
    }
    system
}

#[test]
fn orders_hold_of_all_reachable_facts() {
    let mut random = Random::new(3);
    let (mut proven, mut dropped, mut early, mut relations) = (0, 0, 0, 0);
    for round in 0..60 {
        let system = random_system(&mut random, 2 + round % 2);
        let terms = system.terms.clone();
        let cx = Context::new(terms.clone());
        let smt = Smt::new(terms.clone());
        let Verdict::Sat(least) = decide(&system, &smt) else {
            continue;
        };
        let candidates = orders(&system);
        let size = |facts: &Facts| facts.values().map(Vec::len).sum::<usize>();
        let mut checker = Checker::new(&system, &cx);
        let inductive = checker.inductive(&candidates, &cx).unwrap();
        // Points violate only what Houdini drops.
        let none = Facts::default();
        let left = drop_violated(&system, &none, candidates.clone(), &cx);
        assert!(size(&left) >= size(&inductive));
        early += size(&candidates) - size(&left);
        assert_eq!(
            checker.inductive(&left, &cx).unwrap(),
            inductive,
            "round {round}"
        );
        let kept = not_implied(&system, &Facts::default(), inductive.clone(), &cx);
        proven += size(&inductive);
        dropped += size(&candidates) - size(&inductive);
        for (&predicate, facts) in &inductive {
            let few = kept.get(&predicate).cloned().unwrap_or_default();
            assert!(few.iter().all(|fact| facts.contains(fact)));
            relations += few
                .iter()
                .filter(|fact| terms.free_vars(&[**fact]).len() > 1)
                .count();
            let implies = |premise: TermId, conclusions: &[TermId]| {
                let mut solver = smt.solver();
                solver.assert(premise);
                solver.check(&[terms.not(terms.and(conclusions))]) == SatResult::Unsat
            };
            assert!(
                implies(least.definitions[&predicate], facts),
                "round {round}"
            );
            assert!(implies(terms.and(&few), facts), "round {round}");
            for at in 0..few.len() {
                let mut others = few.clone();
                let fact = others.remove(at);
                assert!(!implies(terms.and(&others), &[fact]), "round {round}");
            }
        }
    }
    assert!(proven > 500 && dropped > 500, "{proven}, {dropped}");
    assert!(2 * early > dropped, "{early} of {dropped}");
    assert!(relations > 20, "{relations}");
}

#[test]
fn candidates_are_about_bit_vectors_of_one_width() {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let sorts = [8, 16, 8, 1].map(|width| t.bitvec_sort(width));
    let p = system.add_predicate("p", &sorts);
    let args = system.predicate(p).params.clone();
    let seven = t.bitvec(7u32.into(), 8);
    let seven_is_compared = unsigned(&t, args[0], seven);
    system.add_clause(vec![], seven_is_compared, Some(atom(p, &args)));
    let found = &orders(&system)[&p];
    let [a, b, c, d] = args[..] else {
        unreachable!("four arguments");
    };
    let constant = |value: u32| t.bitvec(value.into(), 8);
    for expected in [
        unsigned(&t, a, c),
        unsigned(&t, c, a),
        signed(&t, c, a),
        t.not(t.eq(a, c)),
        unsigned(&t, c, constant(8)),
        signed(&t, constant(6), c),
    ] {
        assert!(found.contains(&expected));
    }
    let mixed = found
        .iter()
        .filter(|f| t.free_vars(&[**f]).len() > 1)
        .any(|f| t.free_vars(&[*f]).contains(&b));
    assert!(!mixed && !t.free_vars(found).contains(&d));
    // With very many arguments there are none.
    let many = system.add_predicate("q", &[sorts[0]; 100]);
    let args = system.predicate(many).params.clone();
    system.add_clause(vec![], TermId::TRUE, Some(atom(many, &args)));
    assert!(orders(&system).is_empty());
}
