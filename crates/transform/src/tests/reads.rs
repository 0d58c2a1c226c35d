//! `reads` on handwritten systems and on generated programs with a memory.

use std::rc::Rc;

use proptest::prelude::*;

use super::decide::{after, agree, atom, check, check_pipeline, pass_names};
use super::generate::Choices;
use super::random::config;
use alphorn_chc::{PredicateId, System};
use alphorn_smt::Smt;
use alphorn_term::{Sort, SortId, TermId, TermStore};

const INT: SortId = SortId::INT;

fn sorts(system: &System) -> Vec<SortId> {
    let used = system.used_predicates().into_iter();
    let params = used.flat_map(|p| system.predicate(p).params.clone());
    params.map(|v| system.terms.sort_of(v)).collect()
}

fn arrays(system: &System) -> usize {
    let array = |s: &SortId| matches!(system.terms.sort(*s), Sort::Array(..));
    sorts(system).iter().filter(|s| array(s)).count()
}

/// What a step of [`memory`] does to the memory `m` with the pointers `a` and `b`.
type Write = fn(&TermStore, TermId, TermId, TermId) -> TermId;

/// Two pointers, 1 and `other`, that all clauses pass on unchanged, and a memory of zeros; each of
/// three rounds adds one to the cell of the first pointer and then writes. The query reads that
/// cell.
fn memory(other: i64, write: Write, limit: i64) -> System {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let array = t.array_sort(INT, INT);
    let p = system.add_predicate("p", &[INT, INT, INT, array]);
    let [a, b, n, c, d, k] = ["a", "b", "n", "c", "d", "k"].map(|x| t.var(x, INT));
    let [m, w] = ["m", "w"].map(|x| t.var(x, array));
    let zeros = t.const_array(array, t.int(0));
    let init = [
        t.eq(a, t.int(1)),
        t.eq(b, t.int(other)),
        t.eq(n, t.int(0)),
        t.eq(m, zeros),
    ];
    let from = atom(p, &[a, b, n, m]);
    system.add_clause(vec![], t.and(&init), Some(from.clone()));
    let more = t.store(m, a, t.add(&[t.select(m, a), t.int(1)]));
    let step = [
        t.lt(n, t.int(3)),
        t.eq(k, t.add(&[n, t.int(1)])),
        t.eq(a, c),
        t.eq(b, d),
        t.eq(w, write(&t, more, a, b)),
    ];
    let to = atom(p, &[c, d, k, w]);
    system.add_clause(vec![from.clone()], t.and(&step), Some(to));
    let bad = t.ge(t.select(m, a), t.int(limit));
    system.add_clause(vec![from], bad, None);
    system
}

#[test]
fn a_pointer_that_is_passed_on_makes_a_cell() {
    for (other, limit, sat) in [(2, 3, false), (2, 4, true), (1, 3, true)] {
        // Another write, possibly to the same cell.
        let m = memory(other, |t, m, _, b| t.store(m, b, t.int(0)), limit);
        let small = after(&m, "reads");
        assert_eq!((arrays(&small), sorts(&small).len()), (0, 4));
        check(&m, &["reads"], sat);
        check(&m, &["reads,simplify,slice"], sat);
        check(&m, &["default"], sat);
    }
    // Writes that are never read: the memory is one cell.
    let far: Write = |t, m, a, _| t.store(m, t.add(&[a, t.int(5)]), t.select(m, t.int(0)));
    for (limit, sat) in [(3, false), (4, true)] {
        let m = memory(2, far, limit);
        let small = after(&m, "reads");
        assert_eq!((arrays(&small), sorts(&small).len()), (0, 4));
        check(&m, &["reads"], sat);
    }
    // One of the two cells, whichever has the larger value.
    let either: Write = |t, m, a, b| {
        let [x, y] = [t.select(m, a), t.select(m, b)];
        let less = t.ite(t.gt(x, y), b, a);
        t.store(m, less, t.add(&[y, t.int(1)]))
    };
    for (limit, sat) in [(3, false), (4, true)] {
        let m = memory(2, either, limit);
        let small = after(&m, "reads");
        assert_eq!((arrays(&small), sorts(&small).len()), (0, 5));
        check(&m, &["reads"], sat);
        check(&m, &["default"], sat);
    }
    // The value written comes from the other pointer's cell, which is then needed as well.
    let copy: Write = |t, m, a, b| t.store(m, a, t.add(&[t.select(m, b), t.select(m, a)]));
    for (limit, sat) in [(3, false), (4, true)] {
        let m = memory(2, copy, limit);
        let small = after(&m, "reads");
        assert_eq!((arrays(&small), sorts(&small).len()), (0, 5));
        check(&m, &["reads"], sat);
        check(&m, &["default"], sat);
    }
}

#[test]
fn an_array_of_which_unboundedly_many_elements_matter_is_kept() {
    // The first element becomes the second, which becomes the third, and so on.
    let shift: Write = |t, m, a, _| {
        let next = t.add(&[t.select(m, t.add(&[a, t.select(m, a)])), t.int(1)]);
        t.store(m, a, next)
    };
    let m = memory(2, shift, 4);
    assert_eq!(arrays(&after(&m, "reads")), 1);
    check(&m, &["reads"], true);
}

/// Memories by base: `p(a, m)`, the memory of `a` is written in one clause and read in another,
/// through a predicate of two body atoms.
#[test]
fn paths_go_into_arrays_of_arrays() {
    for (limit, sat) in [(4, true), (3, false)] {
        let t = Rc::new(TermStore::new());
        let mut system = System::new(t.clone());
        let inner = t.array_sort(INT, INT);
        let outer = t.array_sort(INT, inner);
        let p = system.add_predicate("p", &[INT, outer]);
        let q = system.add_predicate("q", &[INT]);
        let [a, b, x] = ["a", "b", "x"].map(|n| t.var(n, INT));
        let [m, w] = ["m", "w"].map(|n| t.var(n, outer));
        let zeros = t.const_array(outer, t.const_array(inner, t.int(0)));
        let init = t.and(&[t.eq(a, t.int(7)), t.eq(m, zeros)]);
        system.add_clause(vec![], init, Some(atom(p, &[a, m])));
        let one = t.eq(x, t.int(1));
        system.add_clause(vec![], one, Some(atom(q, &[x])));
        // m[a][2] := m[a][2] + x while that is at most two.
        let old = t.select(t.select(m, a), t.int(2));
        let new = t.store(t.select(m, a), t.int(2), t.add(&[old, x]));
        let step = [t.le(old, t.int(2)), t.eq(b, a), t.eq(w, t.store(m, a, new))];
        let body = vec![atom(q, &[x]), atom(p, &[a, m])];
        system.add_clause(body, t.and(&step), Some(atom(p, &[b, w])));
        let bad = t.ge(old, t.int(limit));
        system.add_clause(vec![atom(p, &[a, m])], bad, None);
        let small = after(&system, "reads");
        assert_eq!((arrays(&small), sorts(&small).len()), (0, 3));
        check(&system, &["reads"], sat);
        check(&system, &["default"], sat);
    }
}

/// An array that nothing defines has the elements that were read of it; equal indexes give equal
/// elements.
#[test]
fn undefined_arrays_have_equal_elements_at_equal_indexes() {
    for (same, sat) in [(true, true), (false, false)] {
        let t = Rc::new(TermStore::new());
        let mut system = System::new(t.clone());
        let array = t.array_sort(INT, INT);
        let p = system.add_predicate("p", &[INT, INT, array]);
        let [a, b] = ["a", "b"].map(|n| t.var(n, INT));
        let m = t.var("m", array);
        let bit = |i: TermId| {
            let element = t.select(m, i);
            t.and(&[t.ge(element, t.int(0)), t.le(element, t.int(1))])
        };
        let other = t.int(if same { 3 } else { 4 });
        let init = [t.eq(a, t.int(3)), t.eq(b, other), bit(a), bit(b)];
        // The other cells of the memory give infinitely many facts, but not after the pass.
        system.add_clause(vec![], t.and(&init), Some(atom(p, &[a, b, m])));
        let bad = t.not(t.eq(t.select(m, a), t.select(m, b)));
        system.add_clause(vec![atom(p, &[a, b, m])], bad, None);
        let small = after(&system, "reads");
        assert_eq!((arrays(&small), sorts(&small).len()), (0, 4));
        // So the system is not decided before the pass.
        let smt = Smt::new(t.clone());
        assert_eq!(check_pipeline(&system, "reads", &smt), sat);
    }
}

/// A program over pointers that mostly do not change and a memory that all clauses pass on.
fn program(mut c: Choices) -> System {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let array = t.array_sort(INT, INT);
    let deep = t.array_sort(INT, array);
    let nested = c.below(3) == 0;
    let memory = if nested { deep } else { array };
    let count = 1 + c.below(3);
    let predicates: Vec<PredicateId> = (0..count)
        .map(|i| system.add_predicate(&format!("p{i}"), &[INT, INT, memory]))
        .collect();
    // Indexes: one of the pointers, perhaps with an offset, or a number.
    let index = |c: &mut Choices, pointers: &[TermId]| match c.below(8) {
        0 => t.int(c.below(3) as i64),
        1 => t.add(&[pointers[c.below(2)], t.int(1)]),
        2 => t.ite(t.le(pointers[0], t.int(0)), pointers[1], pointers[0]),
        n => pointers[n % 2],
    };
    let read = |c: &mut Choices, m: TermId, pointers: &[TermId]| {
        let row = t.select(m, index(c, pointers));
        if nested {
            t.select(row, index(c, pointers))
        } else {
            row
        }
    };
    let write = |c: &mut Choices, m: TermId, pointers: &[TermId]| {
        let mut value = match c.below(3) {
            0 => t.int(c.below(2) as i64),
            1 => read(c, m, pointers),
            _ => t.sub(t.int(1), read(c, m, pointers)),
        };
        let first = index(c, pointers);
        if nested {
            value = t.store(t.select(m, first), index(c, pointers), value);
        }
        let written = t.store(m, first, value);
        match c.below(4) {
            0 => t.ite(t.eq(read(c, m, pointers), t.int(0)), written, m),
            _ => written,
        }
    };
    let clauses = 1 + c.below(4);
    for number in 0..=clauses {
        let mut constraint = Vec::new();
        let head = system.fresh_atom(predicates[c.below(count)]);
        let mut body = Vec::new();
        if number == 0 {
            let empty = if nested {
                t.const_array(deep, t.const_array(array, t.int(0)))
            } else {
                t.const_array(array, t.int(c.below(2) as i64))
            };
            for &pointer in &head.args[..2] {
                constraint.push(t.eq(pointer, t.int(c.below(2) as i64)));
            }
            constraint.push(t.eq(head.args[2], empty));
        } else {
            let from = system.fresh_atom(predicates[c.below(count)]);
            let pointers = from.args[..2].to_vec();
            let swap = match c.below(6) {
                0 => TermId::TRUE,
                1 => t.eq(read(&mut c, from.args[2], &pointers), t.int(0)),
                _ => TermId::FALSE,
            };
            for i in 0..2 {
                let next = t.ite(swap, pointers[1 - i], pointers[i]);
                constraint.push(t.eq(head.args[i], next));
            }
            let mut m = from.args[2];
            for _ in 0..c.below(3) {
                m = write(&mut c, m, &pointers);
            }
            constraint.push(t.eq(head.args[2], m));
            if c.below(2) == 0 {
                let value = t.int(c.below(2) as i64);
                constraint.push(t.eq(read(&mut c, from.args[2], &pointers), value));
            }
            body.push(from);
            // Another memory is read, and must have the same element there.
            if c.below(4) == 0 {
                let other = system.fresh_atom(predicates[c.below(count)]);
                let [x, y] = [body[0].args[2], other.args[2]];
                let at = index(&mut c, &pointers);
                constraint.push(t.eq(t.select(x, at), t.select(y, at)));
                if c.below(3) == 0 {
                    constraint.push(t.eq(x, y));
                }
                body.push(other);
            }
        }
        system.add_clause(body, t.and(&constraint), Some(head));
    }
    let from = system.fresh_atom(predicates[c.below(count)]);
    let pointers = from.args[..2].to_vec();
    let mut bad = vec![t.eq(read(&mut c, from.args[2], &pointers), t.int(1))];
    if c.below(2) == 0 {
        bad.push(t.eq(read(&mut c, from.args[2], &pointers), t.int(0)));
    }
    system.add_clause(vec![from], t.and(&bad), None);
    system
}

proptest! {
    #![proptest_config(config(8))]

    #[test]
    fn programs_with_a_memory(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let mut lists = vec!["reads".to_owned(), "default".to_owned()];
        for other in pass_names().into_iter().filter(|n| *n != "invariants") {
            lists.push(format!("reads,{other}"));
            lists.push(format!("{other},reads"));
        }
        prop_assume!(agree(&program(Choices::new(&bytes)), &lists).is_some());
    }
}
