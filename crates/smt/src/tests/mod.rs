//! Tests of encoding, decoding, solvers and models.

mod random;

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::{SatResult, Smt};
use alphorn_interpolation::project;
use alphorn_term::{Constructor, DatatypeId, Field, Op, SortId, TermId, TermStore, evaluate};

fn setup() -> (Rc<TermStore>, Rc<Smt>) {
    let terms = Rc::new(TermStore::new());
    let smt = Smt::new(Rc::clone(&terms));
    (terms, smt)
}

fn constructor(name: &str, fields: &[(&str, SortId)]) -> Constructor {
    Constructor {
        name: name.to_owned(),
        fields: fields
            .iter()
            .map(|&(selector, sort)| Field {
                selector: selector.to_owned(),
                sort,
            })
            .collect(),
    }
}

/// `List ::= nil | cons(head: element, tail: List)`.
fn list(terms: &TermStore, element: SortId) -> (DatatypeId, SortId) {
    let (id, sort) = terms.declare_datatype("List", &[element]);
    terms.define_datatype(
        id,
        vec![
            constructor("nil", &[]),
            constructor("cons", &[("head", element), ("tail", sort)]),
        ],
    );
    (id, sort)
}

/// Without an answer of the incremental solver, a second one decides, with the assertions of all
/// open scopes.
#[test]
fn a_second_solver_decides_bit_vectors() {
    let (t, smt) = setup();
    let sort = t.bitvec_sort(32);
    let [x, y, u, v] = ["x", "y", "u", "v"].map(|n| t.var(n, sort));
    let number = |n: u32| t.bitvec(n.into(), 32);
    let triple = |a: TermId| t.bv_op(&Op::BvMul, &[number(3), a]);
    let sum = |a: TermId, b: TermId| t.bv_op(&Op::BvAdd, &[a, b]);
    let mut solver = smt.solver();
    solver.assert(t.eq(y, triple(x)));
    solver.assert(t.eq(u, sum(x, number(5))));
    solver.push();
    solver.assert(t.eq(v, sum(y, number(15))));
    let wrong = t.not(t.eq(v, triple(u)));
    for limit in [None, Some(Duration::from_secs(60))] {
        let _limit = smt.limit_queries(limit);
        solver.push();
        solver.assert(wrong);
        assert_eq!(solver.check_in_turns(Duration::ZERO).0, SatResult::Unsat);
        solver.pop();
        assert_eq!(smt.query_limit(), limit);
    }
    let (answer, model) = solver.check_in_turns(Duration::ZERO);
    assert_eq!(answer, SatResult::Sat);
    assert!(!model.unwrap().satisfies(wrong));
    // Without the scope, v is unconstrained.
    solver.pop();
    solver.assert(wrong);
    let (answer, model) = solver.check_in_turns(Duration::ZERO);
    assert_eq!(answer, SatResult::Sat);
    assert!(model.unwrap().satisfies(wrong));
}

#[test]
fn answers_and_models() {
    let (t, smt) = setup();
    let (x, y) = (t.var("x", SortId::INT), t.var("y", SortId::INT));
    let mut solver = smt.solver();
    solver.assert(t.le(t.int(0), x));
    solver.assert(t.eq(t.add(&[x, y]), t.int(7)));
    assert_eq!(solver.check(&[]), SatResult::Sat);
    let model = solver.model().unwrap();
    let big = t.ge(x, t.int(5));
    let small = t.le(x, t.int(3));
    assert_eq!(solver.check(&[big, small]), SatResult::Unsat);
    assert_eq!(solver.core(), vec![big, small]);
    assert!(solver.model().is_none());
    // The model stays valid after the next query.
    assert_eq!(model.value(t.add(&[x, y])).unwrap(), t.int(7));
    let values = model.assignment(&[x, y]).unwrap();
    assert_eq!(evaluate(&t, t.add(&[x, y]), &values), Some(t.int(7)));
    assert_eq!(smt.usage().0, 2);
}

/// Calls with equal arguments are equal. They have no other properties, not their equation, and no
/// value.
#[test]
fn calls_are_uninterpreted() {
    let (t, smt) = setup();
    let (x, y) = (t.var("x", SortId::INT), t.var("y", SortId::INT));
    let f = t.declare_function("f!", &[SortId::INT], SortId::INT);
    let param = t.function(f).params[0];
    t.define_function(f, t.add(&[param, t.int(1)]), vec![]);
    let call = |x| t.call(f, &[x]);
    let mut solver = smt.solver();
    solver.assert(t.lt(call(x), call(y)));
    let equal = t.eq(x, y);
    assert_eq!(solver.check(&[equal]), SatResult::Unsat);
    assert_eq!(solver.check(&[t.lt(y, x)]), SatResult::Sat);
    let model = solver.model().unwrap();
    let values = model.assignment(&[x, y]).unwrap();
    assert_eq!(evaluate(&t, call(x), &values), None);
    // The equation holds only where it is asserted.
    for variable in [x, y] {
        solver.assert(t.eq(call(variable), t.unfold(call(variable))));
    }
    assert_eq!(solver.check(&[t.lt(y, x)]), SatResult::Unsat);
    // A literal without a value has no projection.
    let literal = t.ge(call(x), y);
    assert!(project(&t, &[literal], &[y], &values).is_none());
    // A variable or function of the same name is different.
    let constant = t.declare_function("f!", &[], SortId::INT);
    let others = [t.call(constant, &[]), t.var("f!", SortId::INT), call(x)];
    solver.assert(t.distinct(&others));
    assert_eq!(solver.check(&[]), SatResult::Sat);
}

#[test]
fn assumptions_are_named_again_after_their_scope() {
    let (t, smt) = setup();
    let x = t.var("x", SortId::INT);
    let low = t.le(x, t.int(0));
    let high = t.ge(x, t.int(1));
    let mut solver = smt.solver();
    solver.push();
    assert_eq!(solver.check(&[low]), SatResult::Sat);
    solver.assert(high);
    assert_eq!(solver.check(&[low]), SatResult::Unsat);
    solver.pop();
    solver.assert(high);
    assert_eq!(solver.check(&[low]), SatResult::Unsat);
    assert_eq!(solver.core(), vec![low]);
    solver.push();
    assert_eq!(solver.check(&[t.not(low)]), SatResult::Sat);
    solver.pop();
    solver.pop();
    assert_eq!(solver.depth(), 0);
    assert_eq!(solver.check(&[TermId::FALSE]), SatResult::Unsat);
    assert_eq!(solver.core(), vec![TermId::FALSE]);
    let p = t.var("p", SortId::BOOL);
    assert_eq!(solver.check(&[p, t.not(p), TermId::TRUE]), SatResult::Unsat);
    assert_eq!(solver.core().len(), 2);
}

#[test]
fn datatypes_of_every_kind() {
    let (t, smt) = setup();
    let (id, lists) = list(&t, SortId::INT);
    // Mutually recursive, nested through arrays, and a constructor with the name of another.
    let (tree_id, tree) = t.declare_datatype("Tree", &[]);
    let (forest_id, forest) = t.declare_datatype("Forest", &[]);
    let trees = t.array_sort(SortId::INT, tree);
    t.define_datatype(
        tree_id,
        vec![
            constructor("leaf", &[("value", lists)]),
            constructor("node", &[("children", forest)]),
        ],
    );
    t.define_datatype(
        forest_id,
        vec![
            constructor("nil", &[]),
            constructor("all", &[("head", trees), ("rest", forest)]),
        ],
    );
    let x = t.var("x", tree);
    let l = t.var("l", lists);
    let mut solver = smt.solver();
    solver.assert(t.is(tree_id, 1, x));
    let children = t.field(tree_id, 1, 0, x);
    solver.assert(t.is(forest_id, 1, children));
    let third = t.select(t.field(forest_id, 1, 0, children), t.int(3));
    solver.assert(t.eq(third, t.construct(tree_id, 0, &[l])));
    solver.assert(t.is(id, 1, l));
    solver.assert(t.eq(t.field(id, 1, 0, l), t.int(42)));
    assert_eq!(solver.check(&[]), SatResult::Sat);
    let model = solver.model().unwrap();
    let value = model.value(x).unwrap();
    assert!(t.is_value(value));
    assert_eq!(model.value(t.field(id, 1, 0, l)).unwrap(), t.int(42));
    assert!(t.is_value(model.value(third).unwrap()));
    // A list is not its own tail.
    solver.assert(t.eq(t.field(id, 1, 1, l), l));
    assert_eq!(solver.check(&[]), SatResult::Unsat);
}

#[test]
fn arrays_indexed_by_datatypes_within_datatypes() {
    let (t, smt) = setup();
    // The outer datatype is encoded first and needs the inner one.
    let (outer_id, outer) = t.declare_datatype("Outer", &[]);
    let (key_id, key) = t.declare_datatype("Key", &[]);
    let map = t.array_sort(key, SortId::INT);
    t.define_datatype(outer_id, vec![constructor("outer", &[("map", map)])]);
    t.define_datatype(key_id, vec![constructor("key", &[("number", SortId::INT)])]);
    let x = t.var("x", outer);
    let one = t.construct(key_id, 0, &[t.int(1)]);
    let mut solver = smt.solver();
    solver.assert(t.eq(t.select(t.field(outer_id, 0, 0, x), one), t.int(5)));
    assert_eq!(solver.check(&[]), SatResult::Sat);
    let value = solver.model().unwrap().value(x).unwrap();
    assert!(t.is_value(value));
}

#[test]
fn sorts_without_values_are_no_panic() {
    let (t, smt) = setup();
    let (id, stream) = t.declare_datatype("Stream", &[]);
    t.define_datatype(id, vec![constructor("next", &[("rest", stream)])]);
    let s = t.var("s", stream);
    let r = t.var("r", stream);
    let mut solver = smt.solver();
    solver.push();
    solver.assert(t.eq(s, r));
    assert!(matches!(solver.check(&[]), SatResult::Unknown(_)));
    solver.pop();
    assert_eq!(solver.check(&[]), SatResult::Sat);
}

/// A scope tightens the limit and never loosens it, and its end restores the outer one.
#[test]
fn limits_of_queries_are_scopes() {
    let (_, smt) = setup();
    let seconds = Duration::from_secs;
    assert_eq!(smt.query_limit(), None);
    let outer = smt.limit_queries(Some(seconds(5)));
    for (inner, least) in [(Some(2), 2), (Some(9), 5), (None, 5)] {
        let inner = smt.limit_queries(inner.map(seconds));
        assert_eq!(smt.query_limit(), Some(seconds(least)));
        drop(inner);
        assert_eq!(smt.query_limit(), Some(seconds(5)));
    }
    // The order in which scopes end does not matter.
    let inner = smt.limit_queries(Some(seconds(7)));
    drop(outer);
    assert_eq!(smt.query_limit(), Some(seconds(7)));
    let equal = smt.limit_queries(Some(seconds(7)));
    drop(inner);
    assert_eq!(smt.query_limit(), Some(seconds(7)));
    drop(equal);
    assert_eq!(smt.query_limit(), None);
}

#[test]
fn time_limits_and_interrupts() {
    let (t, smt) = setup();
    // Factors of a prime: hard, but Z3 looks at limits and interrupts often.
    let sort = t.bitvec_sort(64);
    let number = |n: u64| t.bitvec(n.into(), 64);
    let (x, y) = (t.var("x", sort), t.var("y", sort));
    let mut solver = smt.solver();
    for v in [x, y] {
        solver.assert(t.bv_ult(number(1), v));
        solver.assert(t.bv_ult(v, number(1 << 32)));
    }
    solver.assert(t.eq(t.bv_op(&Op::BvMul, &[x, y]), number((1 << 61) - 1)));
    let limit = smt.limit_queries(Some(Duration::from_millis(50)));
    let start = Instant::now();
    assert!(matches!(solver.check(&[]), SatResult::Unknown(_)));
    assert!(start.elapsed() < Duration::from_secs(60));
    drop(limit);
    let interrupter = smt.interrupter();
    let start = Instant::now();
    let watchdog = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        interrupter.interrupt(Duration::from_secs(10));
    });
    assert!(matches!(solver.check(&[]), SatResult::Unknown(_)));
    assert!(start.elapsed() < Duration::from_secs(60));
    watchdog.join().unwrap();
    // Later queries do not run until the interrupt is cleared.
    assert!(matches!(
        solver.check(&[t.eq(x, number(0))]),
        SatResult::Unknown(_)
    ));
    smt.clear_interrupt();
    assert_eq!(solver.check(&[t.eq(x, number(0))]), SatResult::Unsat);
    let late = smt.interrupter();
    drop(solver);
    drop(smt);
    late.interrupt(Duration::from_millis(1));
}

#[test]
fn values_where_evaluation_is_undefined() {
    let (t, smt) = setup();
    let x = t.var("x", SortId::INT);
    let by_zero = t.idiv(x, t.int(0));
    let mut solver = smt.solver();
    solver.assert(t.eq(by_zero, t.int(5)));
    assert_eq!(solver.check(&[]), SatResult::Sat);
    let model = solver.model().unwrap();
    assert_eq!(model.value(by_zero).unwrap(), t.int(5));
}

#[test]
fn deep_terms() {
    let (t, smt) = setup();
    let depth = 20_000;
    let (x, y) = (t.var("x", SortId::INT), t.var("y", SortId::BOOL));
    let mut deep = x;
    for i in 0..depth {
        deep = t.ite(y, t.modulo(deep, t.int(10 + i)), deep);
    }
    let mut solver = smt.solver();
    solver.assert(t.not(y));
    solver.assert(t.eq(deep, t.int(3)));
    assert_eq!(solver.check(&[]), SatResult::Sat);
    assert_eq!(solver.model().unwrap().value(deep).unwrap(), t.int(3));
}

#[test]
fn algebraic_numbers_are_an_error() {
    let (t, smt) = setup();
    let x = t.var("x", SortId::REAL);
    let mut solver = smt.solver();
    let two = t.real(alphorn_term::Rational::from_integer(2.into()));
    solver.assert(t.eq(t.mul(&[x, x]), two));
    assert_eq!(solver.check(&[]), SatResult::Sat);
    assert!(solver.model().unwrap().value(x).is_err());
}
