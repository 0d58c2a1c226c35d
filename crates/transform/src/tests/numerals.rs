//! Peano numerals as integers: verdicts are kept and both witnesses are translated back.

use std::rc::Rc;

use proptest::prelude::*;

use super::decide::{after, agree, atom, constructor, run};
use super::random::config;
use alphorn_chc::{PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{DatatypeId, SortId, TermId, TermStore};

/// `S` is 0, `Z` is 1.
fn numerals(t: &TermStore) -> (DatatypeId, SortId) {
    let (id, sort) = t.declare_datatype("Nat", &[]);
    let successor = constructor("S", &[("previous", sort)]);
    t.define_datatype(id, vec![successor, constructor("Z", &[])]);
    (id, sort)
}

fn number(t: &TermStore, id: DatatypeId, n: usize) -> TermId {
    (0..n).fold(t.construct(id, 1, &[]), |v, _| t.construct(id, 0, &[v]))
}

/// Two numerals up to 3, and moves between them.
fn machine(rules: &[u8], last: usize, positive: bool) -> System {
    let t = Rc::new(TermStore::new());
    let (id, nat) = numerals(&t);
    let mut system = System::new(t.clone());
    let p = system.add_predicate("P", &[nat, nat]);
    let [x, y, a, b, l] = ["x", "y", "a", "b", "l"].map(|n| t.var(n, nat));
    let zero = number(&t, id, 0);
    let init = t.and(&[t.eq(x, zero), t.eq(y, zero)]);
    system.add_clause(vec![], init, Some(atom(p, &[x, y])));
    let small = |v| t.not(t.eq(v, number(&t, id, 3)));
    let next = |v| t.construct(id, 0, &[v]);
    for rule in rules {
        let step = match rule % 6 {
            0 => [small(x), t.eq(a, next(x)), t.eq(b, y)],
            1 => [small(y), t.eq(a, x), t.eq(b, next(y))],
            2 => [
                t.is(id, 0, x),
                t.eq(a, t.field(id, 0, 0, x)),
                t.eq(b, next(zero)),
            ],
            3 => [TermId::TRUE, t.eq(a, y), t.eq(b, x)],
            4 => [
                t.eq(x, next(l)),
                t.eq(a, t.ite(t.eq(l, y), zero, l)),
                t.eq(b, y),
            ],
            _ => [t.is(id, 1, y), t.eq(a, x), t.eq(next(b), x)],
        };
        system.add_clause(vec![atom(p, &[x, y])], t.and(&step), Some(atom(p, &[a, b])));
    }
    let root = t.is(id, u32::from(!positive), y);
    let bad = t.and(&[t.eq(x, number(&t, id, last)), root]);
    system.add_clause(vec![atom(p, &[x, y])], bad, None);
    system
}

#[test]
fn arguments_become_integers() {
    let system = machine(&[0, 1, 2, 3, 4, 5], 2, true);
    let terms = system.terms.clone();
    let after = after(&system, "numerals");
    for predicate in after.used_predicates() {
        let mut params = after.predicate(predicate).params.iter();
        assert!(params.all(|&p| terms.sort_of(p) == SortId::INT));
    }
    // Not if the sort is a field of another.
    let mut system = machine(&[0], 2, true);
    let t = system.terms.clone();
    let nat = t.sort_of(system.predicates[0].params[0]);
    let (id, pair) = t.declare_datatype("Box", &[]);
    t.define_datatype(id, vec![constructor("box", &[("inside", nat)])]);
    let (q, x, y) = (
        system.add_predicate("Q", &[pair]),
        t.var("x", nat),
        t.var("y", nat),
    );
    let whole = t.var("w", pair);
    let constraint = t.eq(whole, t.construct(id, 0, &[x]));
    let body = vec![atom(PredicateId(0), &[x, y])];
    system.add_clause(body, constraint, Some(atom(q, &[whole])));
    let (after, stack) = run(&system, "numerals", &mut Context::new(t.clone()));
    assert!(stack.is_empty());
    assert_eq!(after.predicates.len(), 2);
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn numerals_keep_their_verdict(
        rules in prop::collection::vec(any::<u8>(), 1..6),
        last in 0usize..4,
        positive in any::<bool>(),
    ) {
        let system = machine(&rules, last, positive);
        let lists = ["numerals", "sizes,numerals", "numerals,default", "simplify,numerals,inline"];
        prop_assume!(agree(&system, &lists).is_some());
    }
}
