//! Sizes of recursive datatypes: added by the pass, used by other passes, translated back to
//! recursive functions in models.

use std::rc::Rc;

use proptest::prelude::*;

use super::decide::{after, agree, atom, check_model, constructor, run};
use super::random::config;
use crate::Pipeline;
use alphorn_chc::{PredicateId, System};
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{DatatypeId, SortId, TermId, TermStore, evaluate};
use alphorn_witness::{Lemma, Model};

const INT: SortId = SortId::INT;

/// Lists of integers: `cons` is 0, `nil` is 1.
fn lists(t: &TermStore) -> (DatatypeId, SortId) {
    let (id, sort) = t.declare_datatype("List", &[]);
    let cons = constructor("cons", &[("head", INT), ("tail", sort)]);
    t.define_datatype(id, vec![cons, constructor("nil", &[])]);
    (id, sort)
}

/// Trees with two kinds of leaves and two kinds of inner nodes.
fn trees(t: &TermStore) -> (DatatypeId, SortId) {
    let (id, sort) = t.declare_datatype("Tree", &[]);
    t.define_datatype(
        id,
        vec![
            constructor("empty", &[]),
            constructor("leaf", &[("value", INT)]),
            constructor("one", &[("only", sort)]),
            constructor("two", &[("left", sort), ("right", sort)]),
        ],
    );
    (id, sort)
}

/// `append(nil, y, y)`; `append(x, y, z) ⇒ append(cons(h, x), y, cons(h, z))`; `length(nil, 0)`;
/// `length(x, n) ⇒ length(cons(h, x), n + 1)`; no `append(x, y, z)` with lengths that do not add up
/// to `difference`.
fn append(difference: i64) -> System {
    let t = Rc::new(TermStore::new());
    let (id, list) = lists(&t);
    let mut system = System::new(t.clone());
    let append = system.add_predicate("append", &[list, list, list]);
    let length = system.add_predicate("length", &[list, INT]);
    let [x, y, z, a, b, c] = ["x", "y", "z", "a", "b", "c"].map(|n| t.var(n, list));
    let [h, n, m, k] = ["h", "n", "m", "k"].map(|n| t.var(n, INT));
    let nil = t.construct(id, 1, &[]);
    let base = t.and(&[t.eq(x, nil), t.eq(y, z)]);
    system.add_clause(vec![], base, Some(atom(append, &[x, y, z])));
    let step = t.and(&[
        t.eq(a, t.construct(id, 0, &[h, x])),
        t.eq(b, y),
        t.eq(c, t.construct(id, 0, &[h, z])),
    ]);
    let (from, to) = (atom(append, &[x, y, z]), atom(append, &[a, b, c]));
    system.add_clause(vec![from.clone()], step, Some(to));
    let base = t.and(&[t.eq(x, nil), t.eq(n, t.int(0))]);
    system.add_clause(vec![], base, Some(atom(length, &[x, n])));
    let step = t.and(&[
        t.eq(a, t.construct(id, 0, &[h, x])),
        t.eq(m, t.add(&[n, t.int(1)])),
    ]);
    system.add_clause(
        vec![atom(length, &[x, n])],
        step,
        Some(atom(length, &[a, m])),
    );
    let sum = t.add(&[n, m, t.int(difference)]);
    let bad = t.and(&[t.eq(a, x), t.eq(b, y), t.eq(c, z), t.not(t.eq(sum, k))]);
    let body = vec![
        from,
        atom(length, &[a, n]),
        atom(length, &[b, m]),
        atom(length, &[c, k]),
    ];
    system.add_clause(body, bad, None);
    system
}

#[test]
fn lengths_become_linear_arithmetic() {
    let system = append(0);
    let terms = system.terms.clone();
    let smt = Smt::new(terms.clone());
    let mut cx = Context::new(terms.clone());
    let (after, stack) = run(&system, "sizes", &mut cx);
    assert_eq!(after.predicates[2].arity(), 6);
    assert_eq!(after.predicates[3].arity(), 3);
    let [append, length] = [2, 3].map(|i| &after.predicates[i].params);
    let sum = terms.add(&[append[3], append[4]]);
    let definitions = [
        (PredicateId(2), terms.eq(append[5], sum)),
        (PredicateId(3), terms.eq(length[2], length[1])),
    ];
    let model = Model {
        definitions: definitions.into_iter().collect(),
        lemmas: vec![Lemma {
            name: "l".to_owned(),
            vars: Vec::new(),
            statement: TermId::TRUE,
            measure: Vec::new(),
            cases: Vec::new(),
        }],
    };
    check_model(&after, &model, &smt);
    let model = stack.model(model, &mut cx).unwrap();
    check_model(&system, &model, &smt);
    assert_eq!(model.lemmas.len(), 1);
}

#[test]
fn the_sizes_are_found_by_interpretation() {
    // Without sizes nothing is found; with them the query is dropped.
    let queries = |passes: &str| {
        let after = after(&append(0), passes);
        after.clauses.iter().filter(|c| c.head.is_none()).count()
    };
    let mut others = Pipeline::default().names();
    others.retain(|name| *name != "sizes");
    assert_eq!(queries(&others.join(",")), 1);
    assert_eq!(queries("default"), 0);
}

#[test]
fn sizes_of_values_and_terms() {
    let t = Rc::new(TermStore::new());
    let (list, list_sort) = lists(&t);
    let (tree, tree_sort) = trees(&t);
    assert_eq!(t.sized(INT), None);
    let mut long = t.construct(list, 1, &[]);
    for i in 0..100_000 {
        long = t.construct(list, 0, &[t.int(i), long]);
    }
    assert_eq!(t.size(long), t.int(100_000));
    let (empty, leaf) = (t.construct(tree, 0, &[]), t.construct(tree, 1, &[t.int(7)]));
    let mut big = t.construct(tree, 3, &[empty, leaf]);
    for _ in 0..10 {
        // Shared parts count as often as they occur.
        big = t.construct(tree, 3, &[big, big]);
    }
    assert_eq!(t.size(big), t.int(2047));
    // The evaluator, the store and Z3 agree.
    let (x, y) = (t.var("x", list_sort), t.var("y", tree_sort));
    let sum = t.add(&[
        t.size(t.construct(list, 0, &[t.int(1), x])),
        t.size(t.construct(tree, 2, &[y])),
    ]);
    let two = t.construct(list, 0, &[t.int(5), t.construct(list, 1, &[])]);
    let small = t.construct(tree, 3, &[leaf, t.construct(tree, 2, &[empty])]);
    let values = [(x, two), (y, small)].into_iter().collect();
    let value = evaluate(&t, sum, &values).unwrap();
    assert_eq!(value, t.int(5));
    let smt = Smt::new(t.clone());
    let valid = |formula: TermId| {
        let mut solver = smt.solver();
        solver.assert(t.not(formula));
        solver.check(&[]) == alphorn_smt::SatResult::Unsat
    };
    let bound = t.and(&[t.eq(x, two), t.eq(y, small)]);
    assert!(valid(t.implies(bound, t.eq(sum, value))));
    assert!(valid(t.ge(t.size(x), t.int(0))));
    assert!(valid(t.eq(t.eq(t.size(x), t.int(0)), t.is(list, 1, x))));
}

/// A tree machine: each rule is a context around the current tree; the query is about its size and
/// its root at the end.
fn machine(rules: &[(u8, bool)], bound: i64, wanted: u32) -> System {
    let t = Rc::new(TermStore::new());
    let (id, tree) = trees(&t);
    let mut system = System::new(t.clone());
    let p = system.add_predicate("P", &[tree, INT]);
    let [x, y] = ["x", "y"].map(|n| t.var(n, tree));
    let [n, m] = ["n", "m"].map(|n| t.var(n, INT));
    let empty = t.construct(id, 0, &[]);
    let init = t.and(&[t.eq(x, empty), t.eq(n, t.int(0))]);
    system.add_clause(vec![], init, Some(atom(p, &[x, n])));
    for &(rule, counts) in rules {
        let leaf = t.construct(id, 1, &[n]);
        let new = match rule % 6 {
            0 => t.construct(id, 2, &[x]),
            1 => t.construct(id, 3, &[x, leaf]),
            2 => t.construct(id, 3, &[t.construct(id, 2, &[leaf]), x]),
            3 => t.ite(t.is(id, 2, x), t.field(id, 2, 0, x), leaf),
            4 => t.ite(t.is(id, 3, x), t.field(id, 3, 1, x), x),
            _ => empty,
        };
        let step = t.and(&[
            t.lt(n, t.int(3)),
            t.eq(y, new),
            t.eq(m, t.add(&[n, t.int(i64::from(counts))])),
            t.le(t.int(1), t.add(&[m, t.int(rule / 6 % 2)])),
        ]);
        // Only rules that increase the count may be repeated without bound.
        if counts || rule % 6 >= 3 {
            system.add_clause(vec![atom(p, &[x, n])], step, Some(atom(p, &[y, m])));
        }
    }
    let bad = t.and(&[t.ge(n, t.int(bound)), t.is(id, wanted, x)]);
    system.add_clause(vec![atom(p, &[x, n])], bad, None);
    system
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn trees_keep_their_verdict(
        rules in prop::collection::vec((any::<u8>(), any::<bool>()), 1..5),
        bound in 0i64..4,
        wanted in 0u32..4,
    ) {
        let system = machine(&rules, bound, wanted);
        let lists = ["sizes", "sizes,default", "sizes,simplify,slice,constructors"];
        prop_assume!(agree(&system, &lists).is_some());
    }
}
