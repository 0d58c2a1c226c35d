//! Systems that are inductive at a known depth.

use std::rc::Rc;

use super::*;
use alphorn_chc::Atom;
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
