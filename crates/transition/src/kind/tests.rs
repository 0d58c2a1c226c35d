//! Systems that are inductive at a known depth.

use std::rc::Rc;

use super::*;
use alphorn_chc::Atom;
use alphorn_samples::is_model;
use alphorn_term::{SortId, TermStore};
use alphorn_witness::check_refutation;

/// States `0` to `length` form a ring, the fact is `start`; from the unreachable state `length +
/// 1`, a path of `away` steps leads into a query: safe, and inductive at `away`.
fn ring(length: u64, away: u64, start: u64) -> System {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let p = system.add_predicate("P", &[SortId::INT]);
    let (x, y) = (terms.var("x", SortId::INT), terms.var("y", SortId::INT));
    let atom = |v| Atom {
        predicate: p,
        args: vec![v],
    };
    let one = terms.int(1);
    let at = |n: u64| terms.eq(x, terms.int(n));
    system.add_clause(vec![], at(start), Some(atom(x)));
    let around = terms.ite(
        at(length),
        terms.eq(y, terms.int(0)),
        terms.eq(y, terms.add(&[x, one])),
    );
    let bounded = terms.and(&[terms.ge(x, terms.int(0)), around]);
    system.add_clause(vec![atom(x)], bounded, Some(atom(y)));
    system.add_clause(vec![atom(x)], at(length + 1 + away), None);
    system
}

/// The same with a query that has several alternatives, each so many steps away.
fn ring_with(length: u64, away: &[u64]) -> System {
    let mut system = ring(length, 0, 0);
    let terms = system.terms.clone();
    let query = system.clauses.last_mut().expect("the query");
    let x = query.body[0].args[0];
    let at = |n: u64| terms.eq(x, terms.int(length + 1 + n));
    query.constraint = terms.or(&away.iter().map(|&n| at(n)).collect::<Vec<TermId>>());
    system
}

fn solve(system: &System, options: Options) -> (Verdict, u64) {
    let mut cx = Context::new(system.terms.clone());
    let verdict = Kind { options }.solve(system, &mut cx).expect("no defect");
    (verdict, cx.stats.count("kind.depth"))
}

#[test]
fn the_depth_is_that_of_the_states_that_are_not_reached() {
    for away in 0..4 {
        let system = ring(30, away, 0);
        let (verdict, depth) = solve(&system, Options::default());
        assert!(matches!(verdict, Verdict::Sat(_)), "{verdict:?}");
        assert_eq!(depth, away + 1);
    }
}

/// Each alternative of a query is excluded by itself, at its own depth. A run has no other alternative
/// before its end.
#[test]
fn the_depth_is_that_of_the_last_alternative() {
    for (away, expected) in [(&[1, 3, 2][..], 2), (&[4, 0], 4), (&[1, 6, 3, 0], 3)] {
        let system = ring_with(30, away);
        let (verdict, depth) = solve(&system, Options::default());
        let Verdict::Sat(model) = verdict else {
            panic!("{verdict:?}");
        };
        assert!(is_model(&system, &model));
        assert_eq!(depth, expected);
    }
    // Without the first alternative, which is beyond the ring, the last state of the ring.
    let mut system = ring_with(5, &[7, 9, 8]);
    let terms = system.terms.clone();
    let query = system.clauses.last_mut().expect("the query");
    let last = terms.eq(query.body[0].args[0], terms.int(5));
    query.constraint = terms.or(&[query.constraint, last]);
    let (verdict, _) = solve(&system, Options::default());
    let Verdict::Unsat(refutation) = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(check_refutation(&system, &refutation), Ok(()));
}

#[test]
fn simple_paths_end_where_others_go_around() {
    // Forward the ring has four states; backward there is no end.
    let system = ring(3, 40, 0);
    let (verdict, depth) = solve(&system, Options::default());
    assert!(matches!(verdict, Verdict::Sat(_)), "{verdict:?}");
    assert_eq!(depth, 4);
    let system = ring(3, 40, 1);
    let mut entered = system.clone();
    // A start outside of the ring, from which the ring is entered: the runs end only since no state
    // occurs twice.
    let terms = system.terms.clone();
    entered.clauses[0].constraint = terms.eq(terms.var("x", SortId::INT), terms.int(0));
    entered.clauses[1].constraint = {
        let (x, y) = (terms.var("x", SortId::INT), terms.var("y", SortId::INT));
        let ring = terms.ite(
            terms.eq(x, terms.int(3)),
            terms.eq(y, terms.int(1)),
            terms.eq(y, terms.add(&[x, terms.int(1)])),
        );
        terms.and(&[terms.ge(x, terms.int(0)), ring])
    };
    let (verdict, depth) = solve(&entered, Options::default());
    assert!(matches!(verdict, Verdict::Sat(_)), "{verdict:?}");
    assert_eq!(depth, 4);
}

#[test]
fn a_query_that_is_reached_is_refuted() {
    let system = ring(3, 7, 5);
    let (verdict, depth) = solve(&system, Options::default());
    let Verdict::Unsat(refutation) = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(check_refutation(&system, &refutation), Ok(()));
    assert_eq!((refutation.steps.len(), depth), (8, 6));
}
