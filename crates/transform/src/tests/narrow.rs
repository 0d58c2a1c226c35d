//! Bit-vectors with upper bits that are constant or a sign by construction, and others.

use std::rc::Rc;

use super::decide::{check_pipeline, run};
use alphorn_chc::{Atom, System};
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{BigUint, Op, TermId, TermStore};

/// A counter of a number of bits, with a start and a step, that counts until its end; it is an
/// error to reach `bad`.
struct Counter {
    width: u32,
    start: i64,
    step: i64,
    end: i64,
    bad: i64,
}

fn number(t: &TermStore, value: i64, width: u32) -> TermId {
    let bits = i128::from(value).rem_euclid(1 << width);
    t.bitvec(BigUint::from(bits as u128), width)
}

impl Counter {
    fn system(&self) -> System {
        let t = Rc::new(TermStore::new());
        let mut system = System::new(t.clone());
        let sort = t.bitvec_sort(self.width);
        // The second argument is a copy to which other bits are added.
        let p = system.add_predicate("p", &[sort, sort]);
        let [x, y, a, b] = ["x", "y", "a", "b"].map(|n| t.var(n, sort));
        let value = |n: i64| number(&t, n, self.width);
        let atom = |args: &[TermId]| Atom {
            predicate: p,
            args: args.to_vec(),
        };
        let tagged = |v| t.bv_op(&Op::BvOr, &[v, value(1 << (self.width - 2))]);
        let init = t.and(&[t.eq(a, value(self.start)), t.eq(b, tagged(a))]);
        system.add_clause(vec![], init, Some(atom(&[a, b])));
        // Signed comparisons, by the direction of the step.
        let (small, large) = if self.step > 0 {
            (x, value(self.end))
        } else {
            (value(self.end), x)
        };
        let step = t.and(&[
            t.bv_slt(small, large),
            t.eq(a, t.bv_op(&Op::BvAdd, &[x, value(self.step)])),
            t.eq(b, tagged(a)),
        ]);
        system.add_clause(vec![atom(&[x, y])], step, Some(atom(&[a, b])));
        let bad = t.and(&[t.eq(x, value(self.bad)), t.eq(y, tagged(x))]);
        system.add_clause(vec![atom(&[x, y])], bad, None);
        system
    }
}

/// The bits of the arguments in the heads of all clauses.
fn bits(system: &System) -> u32 {
    let heads = system.clauses.iter().filter_map(|c| c.head.as_ref());
    heads
        .flat_map(|h| h.args.iter().map(|a| system.terms.width(*a)))
        .sum()
}

#[test]
fn upper_bits_are_removed_and_translated_back() {
    let counters = [
        // Zeros above four bits.
        (
            Counter {
                width: 32,
                start: 0,
                step: 1,
                end: 12,
                bad: 13,
            },
            true,
        ),
        (
            Counter {
                width: 32,
                start: 0,
                step: 1,
                end: 12,
                bad: 12,
            },
            false,
        ),
        (
            Counter {
                width: 16,
                start: 2,
                step: 2,
                end: 30,
                bad: 7,
            },
            true,
        ),
        // Signs above five bits.
        (
            Counter {
                width: 24,
                start: -9,
                step: 3,
                end: 10,
                bad: 2,
            },
            true,
        ),
        (
            Counter {
                width: 24,
                start: -9,
                step: 3,
                end: 10,
                bad: 6,
            },
            false,
        ),
        (
            Counter {
                width: 24,
                start: 5,
                step: -1,
                end: -5,
                bad: -6,
            },
            true,
        ),
        (
            Counter {
                width: 24,
                start: 5,
                step: -1,
                end: -5,
                bad: -5,
            },
            false,
        ),
    ];
    for (counter, sat) in counters {
        let system = counter.system();
        let smt = Smt::new(system.terms.clone());
        let mut cx = Context::new(system.terms.clone());
        let (after, stack) = run(&system, "narrow", &mut cx);
        assert_eq!(stack.len(), 1, "the width {} shrinks", counter.width);
        assert!(3 * bits(&after) < 2 * bits(&system));
        let (again, stack) = run(&after, "narrow", &mut cx);
        assert_eq!(bits(&again), bits(&after));
        assert!(stack.is_empty(), "nothing is left to drop");
        for passes in [
            "narrow",
            "narrow,simplify,propagate",
            "invariants,narrow",
            "default",
        ] {
            assert_eq!(check_pipeline(&system, passes, &smt), sat, "{passes}");
        }
    }
}

#[test]
fn bits_that_are_used_stay() {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let sort = t.bitvec_sort(8);
    let p = system.add_predicate("p", &[sort]);
    let [x, y] = ["x", "y"].map(|n| t.var(n, sort));
    let value = |n: i64| number(&t, n, 8);
    let atom = |v| Atom {
        predicate: p,
        args: vec![v],
    };
    system.add_clause(vec![], t.eq(y, value(1)), Some(atom(y)));
    // It wraps around: no bit can be removed.
    let step = t.eq(y, t.bv_op(&Op::BvAdd, &[x, value(3)]));
    system.add_clause(vec![atom(x)], step, Some(atom(y)));
    system.add_clause(vec![atom(x)], t.eq(x, value(0)), None);
    let mut cx = Context::new(t.clone());
    let (_, stack) = run(&system, "narrow", &mut cx);
    assert!(stack.is_empty());
}
