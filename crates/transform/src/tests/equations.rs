//! Two programs in one predicate, or two functions in one, with planted relations of bit-vectors
//! that hold in each phase, and others that do not hold.

use std::rc::Rc;

use super::decide::{agree, atom, check_model, run};
use alphorn_chc::System;
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{BigUint, Op, Random, TermId, TermStore};
use alphorn_witness::Model;

/// A counter `i` up from `start` while it is at most `n` (signed), or down from `n` while it is at
/// least `start`, with a sum that grows by `step` each time.
#[derive(Clone, Copy, Debug)]
struct Loop {
    down: bool,
    start: u64,
    step: u64,
}

fn word(t: &TermStore, value: u64, width: u32) -> TermId {
    t.bitvec(BigUint::from(value % (1 << width)), width)
}

fn sum(t: &TermStore, a: TermId, b: TermId) -> TermId {
    t.bv_op(&Op::BvAdd, &[a, b])
}

/// Both loops for the same `n`, which is at most `most`, in lockstep while both run; at the end the
/// sums have to be equal.
fn pair(loops: [Loop; 2], width: u32, most: Option<u64>) -> System {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let sort = t.bitvec_sort(width);
    let p = system.add_predicate("p", &[sort; 5]);
    let old = ["n", "i", "s", "j", "r"].map(|n| t.var(n, sort));
    let new = ["m", "k", "t", "l", "q"].map(|n| t.var(n, sort));
    let number = |value: u64| word(&t, value, width);
    let goes_on = [0, 1].map(|at| {
        let counter = old[1 + 2 * at];
        let Loop { down, start, .. } = loops[at];
        match down {
            true => t.bv_op(&Op::BvSle, &[number(start), counter]),
            false => t.bv_op(&Op::BvSle, &[counter, old[0]]),
        }
    });
    let steps = [0, 1].map(|at| {
        let Loop { down, step, .. } = loops[at];
        let by = if down { (1 << width) - 1 } else { 1 };
        let counter = t.eq(new[1 + 2 * at], sum(&t, old[1 + 2 * at], number(by)));
        let total = t.eq(new[2 + 2 * at], sum(&t, old[2 + 2 * at], number(step)));
        t.and(&[counter, total])
    });
    let rests = [0, 1].map(|at| {
        let same = [1, 2].map(|place| t.eq(new[place + 2 * at], old[place + 2 * at]));
        t.and(&same)
    });
    let mut start = vec![];
    for (
        at,
        Loop {
            down, start: first, ..
        },
    ) in loops.iter().enumerate()
    {
        let from = if *down { new[0] } else { number(*first) };
        start.push(t.eq(new[1 + 2 * at], from));
        start.push(t.eq(new[2 + 2 * at], number(0)));
    }
    if let Some(most) = most {
        start.push(t.bv_op(&Op::BvUle, &[new[0], number(most)]));
    }
    system.add_clause(vec![], t.and(&start), Some(atom(p, &new)));
    let same = t.eq(new[0], old[0]);
    for (first, second) in [(true, true), (true, false), (false, true)] {
        let mut parts = vec![same];
        for (at, runs) in [first, second].into_iter().enumerate() {
            parts.extend(match runs {
                true => [goes_on[at], steps[at]],
                false => [t.not(goes_on[at]), rests[at]],
            });
        }
        system.add_clause(vec![atom(p, &old)], t.and(&parts), Some(atom(p, &new)));
    }
    let end = t.and(&[
        t.not(goes_on[0]),
        t.not(goes_on[1]),
        t.not(t.eq(old[2], old[4])),
    ]);
    system.add_clause(vec![atom(p, &old)], end, None);
    system
}

/// Asserts that the pass leaves no query, and that the back-translated model is one.
fn solved(system: &System) {
    let mut cx = Context::new(system.terms.clone());
    let (after, stack) = run(system, "equations,cone", &mut cx);
    assert!(after.clauses.is_empty(), "the pass solves the system");
    let model = stack.model(Model::default(), &mut cx).unwrap();
    check_model(system, &model, &Smt::new(system.terms.clone()));
}

#[test]
fn loops_with_equal_sums_are_decided() {
    let up = Loop {
        down: false,
        start: 0,
        step: 3,
    };
    let down = Loop { down: true, ..up };
    for loops in [[up, down], [down, up], [up, up]] {
        solved(&pair(loops, 32, None));
    }
    // The second does one step less and starts with the increment of the first step, which is zero.
    let late = Loop { start: 1, ..up };
    let system = pair([up, late], 32, None);
    let mut cx = Context::new(system.terms.clone());
    let (after, _) = run(&system, "equations,cone", &mut cx);
    assert!(!after.clauses.is_empty(), "there is a step more");
}

#[test]
fn random_pairs_of_loops_keep_their_verdicts() {
    let mut random = Random::new(1);
    let mut seen = [0; 2];
    for _ in 0..24 {
        let step = random.below(32) as u64;
        let mut one = || Loop {
            down: random.below(2) == 0,
            start: random.below(3) as u64,
            step,
        };
        let mut loops = [one(), one()];
        if random.below(3) == 0 {
            loops[1].step = random.below(32) as u64;
        }
        let system = pair(loops, 5, Some(3));
        let verdict = agree(
            &system,
            &["equations", "equations,cone", "simplify,equations"],
        );
        let sat = verdict.unwrap_or_else(|| panic!("few facts: {loops:?}"));
        seen[usize::from(sat)] += 1;
        if sat {
            solved(&system);
        }
    }
    assert!(seen.iter().all(|n| *n >= 5), "{seen:?}");
}

/// `f(n) = n + f(n - 1)` and `g(n, s) = g(n - 1, n + s)`, with `f(0) = 0`, `g(0, s) = s`; both as
/// one predicate. The query calls both with equal numbers, and asks for results that differ by
/// `off`.
fn functions(width: u32, most: Option<u64>, off: u64) -> System {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let sort = t.bitvec_sort(width);
    let both = system.add_predicate("both", &[sort; 5]);
    let [n, r, m, s, q] = ["n", "r", "m", "s", "q"].map(|n| t.var(n, sort));
    let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|n| t.var(n, sort));
    let number = |value: u64| word(&t, value, width);
    let ends = |x| t.bv_op(&Op::BvSle, &[x, number(0)]);
    let less = |x| sum(&t, x, number((1 << width) - 1));
    let mut small = vec![];
    if let Some(most) = most {
        let bounded = [n, m, s].map(|x| t.bv_op(&Op::BvUle, &[x, number(most)]));
        small.extend(bounded);
    }
    let mut base = vec![ends(n), ends(m), t.eq(r, number(0)), t.eq(q, s)];
    base.extend(&small);
    system.add_clause(vec![], t.and(&base), Some(atom(both, &[n, r, m, s, q])));
    let mut step = vec![
        t.not(ends(n)),
        t.not(ends(m)),
        t.eq(a, less(n)),
        t.eq(c, less(m)),
        t.eq(d, sum(&t, m, s)),
        t.eq(r, sum(&t, n, b)),
        t.eq(q, e),
    ];
    step.extend(&small);
    let (body, head) = (atom(both, &[a, b, c, d, e]), atom(both, &[n, r, m, s, q]));
    system.add_clause(vec![body], t.and(&step), Some(head));
    let wrong = t.and(&[
        t.eq(n, m),
        t.eq(s, number(0)),
        t.not(t.eq(sum(&t, r, number(off)), q)),
    ]);
    system.add_clause(vec![atom(both, &[n, r, m, s, q])], wrong, None);
    system
}

#[test]
fn recursive_functions_are_related_where_inputs_are_equal() {
    solved(&functions(32, None, 0));
    assert_eq!(agree(&functions(5, Some(3), 0), &["equations"]), Some(true));
    assert_eq!(
        agree(&functions(5, Some(3), 1), &["equations"]),
        Some(false)
    );
}
