//! Systems of known status in both modes: registers, ladders of several predicates, and Boolean
//! systems compared with explicit search.

use rustc_hash::FxHashSet;

use super::*;
use alphorn_chc::Atom;
use alphorn_samples::{is_model, shift_register};
use alphorn_term::{Assignment, Random, SortId, TermId, TermStore, evaluate};
use alphorn_witness::check_refutation;

/// Both modes.
fn engines() -> [Dar; 2] {
    [Mode::Dar, Mode::Isb].map(|mode| Dar {
        options: Options { mode },
    })
}

/// Whether the system is safe, with a checked witness; the bound that was reached; and the number
/// of steps of a refutation.
fn solve(engine: &mut Dar, system: &System) -> (bool, u64, usize) {
    let mut cx = Context::new(system.terms.clone());
    let verdict = engine.solve(system, &mut cx).expect("no defect");
    let bound = cx.stats.count("dar.bound");
    match verdict {
        Verdict::Sat(model) => {
            assert!(is_model(system, &model), "{:?}", engine.options);
            (true, bound, 0)
        }
        Verdict::Unsat(refutation) => {
            assert_eq!(check_refutation(system, &refutation), Ok(()));
            (false, bound, refutation.steps.len())
        }
        Verdict::Unknown(reason) => panic!("{:?}: {reason}", engine.options),
    }
}

#[test]
fn registers_of_any_length() {
    for mut engine in engines() {
        for length in 2..=6 {
            let (safe, ..) = solve(&mut engine, &shift_register(length, true));
            assert!(safe, "{length}: {:?}", engine.options);
            let (safe, bound, steps) = solve(&mut engine, &shift_register(length, false));
            assert!(!safe, "{length}: {:?}", engine.options);
            // The fact, the steps that move the first bit to the last place, the query; none is
            // shorter.
            assert_eq!((bound as usize, steps), (length + 1, length + 2));
        }
    }
}

/// A number increases by one from each predicate to the next, and in a loop of the last one by two,
/// from 0 up to a limit. The query is `bad` in the last one.
fn ladder(predicates: usize, limit: u64, bad: u64, with_locals: bool) -> System {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let names = (0..predicates).map(|n| format!("P{n}"));
    let all: Vec<_> = names
        .map(|name| system.add_predicate(&name, &[SortId::INT]))
        .collect();
    let [x, y, z] = ["x", "y", "z"].map(|name| terms.var(name, SortId::INT));
    let atom = |predicate: usize, var| Atom {
        predicate: all[predicate],
        args: vec![var],
    };
    let up = |by: u64| terms.eq(y, terms.add(&[x, terms.int(by)]));
    let start = match with_locals {
        true => terms.and(&[
            terms.eq(x, terms.add(&[z, z])),
            terms.ge(z, terms.int(0)),
            terms.le(z, terms.int(0)),
        ]),
        false => terms.eq(x, terms.int(0)),
    };
    system.add_clause(vec![], start, Some(atom(0, x)));
    for at in 1..predicates {
        system.add_clause(vec![atom(at - 1, x)], up(1), Some(atom(at, y)));
    }
    let last = predicates - 1;
    let around = terms.and(&[terms.lt(x, terms.int(limit)), up(2)]);
    system.add_clause(vec![atom(last, x)], around, Some(atom(last, y)));
    let query = match with_locals {
        true => terms.and(&[
            terms.eq(x, terms.add(&[z, terms.int(bad)])),
            terms.eq(z, terms.int(0)),
        ]),
        false => terms.eq(x, terms.int(bad)),
    };
    system.add_clause(vec![atom(last, x)], query, None);
    system
}

#[test]
fn what_no_run_of_so_many_steps_comes_to_is_in_no_frame() {
    for mut engine in engines() {
        for predicates in 1..=4 {
            for with_locals in [false, true] {
                let first = predicates as u64 - 1;
                for bad in [first, first + 4] {
                    let system = ladder(predicates, 6, bad, with_locals);
                    let (safe, bound, steps) = solve(&mut engine, &system);
                    assert!(!safe, "{predicates}, {bad}: {:?}", engine.options);
                    let expected = predicates + 1 + (bad - first) as usize / 2;
                    assert_eq!((bound as usize, steps), (expected - 1, expected));
                }
                for bad in [first + 1, first + 20] {
                    let system = ladder(predicates, 6, bad, with_locals);
                    let (safe, ..) = solve(&mut engine, &system);
                    assert!(safe, "{predicates}, {bad}: {:?}", engine.options);
                }
            }
        }
    }
}

const BITS: usize = 3;

/// Two predicates of some bits with steps between them, facts and a query.
fn boolean_system(random: &mut Random) -> System {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let predicates = ["P", "Q"].map(|name| system.add_predicate(name, &[SortId::BOOL; BITS]));
    let vars = |mark: &str| -> Vec<TermId> {
        let names = (0..BITS).map(|n| format!("b{n}{mark}"));
        names.map(|n| t.var(&n, SortId::BOOL)).collect()
    };
    let (old, new) = (vars(""), vars("'"));
    let literal = |of: &[TermId], random: &mut Random| {
        let bit = of[random.below(BITS as i64) as usize];
        t.xor(bit, t.bool(random.one_in(2)))
    };
    let atom = |predicate, args: &[TermId]| Atom {
        predicate,
        args: args.to_vec(),
    };
    let start = [0, 1].map(|_| literal(&new, random));
    system.add_clause(vec![], t.and(&start), Some(atom(predicates[0], &new)));
    for _ in 0..4 {
        let mut parts = vec![literal(&old, random)];
        for &bit in &new {
            let value = t.or(&[literal(&old, random), literal(&old, random)]);
            parts.push(t.eq(bit, value));
        }
        let [from, to] = [0, 1].map(|_| predicates[random.below(2) as usize]);
        system.add_clause(vec![atom(from, &old)], t.and(&parts), Some(atom(to, &new)));
    }
    let query = [0, 1].map(|_| literal(&old, random));
    let from = predicates[random.below(2) as usize];
    system.add_clause(vec![atom(from, &old)], t.and(&query), None);
    system
}

/// Whether a query is reached, by search through all states.
fn is_reached(system: &System) -> bool {
    let t = &system.terms;
    let value = |state: usize, bit: usize| t.bool(state >> bit & 1 == 1);
    let mut seen = FxHashSet::default();
    let mut open = vec![(None, 0)];
    while let Some((from, state)) = open.pop() {
        for clause in &system.clauses {
            if clause.body.first().map(|a| a.predicate) != from {
                continue;
            }
            for target in 0..1 << BITS {
                let mut point = Assignment::default();
                let before = clause.body.iter().flat_map(|a| &a.args).enumerate();
                point.extend(before.map(|(bit, &v)| (v, value(state, bit))));
                let after = clause.head.iter().flat_map(|a| &a.args).enumerate();
                point.extend(after.map(|(bit, &v)| (v, value(target, bit))));
                if evaluate(t, clause.constraint, &point) != Some(TermId::TRUE) {
                    continue;
                }
                let Some(head) = &clause.head else {
                    return true;
                };
                if seen.insert((head.predicate, target)) {
                    open.push((Some(head.predicate), target));
                }
            }
        }
    }
    false
}

#[test]
fn as_explicit_search_says() {
    let mut random = Random::new(29);
    let mut counts = [0, 0];
    for round in 0..60 {
        let system = boolean_system(&mut random);
        let reached = is_reached(&system);
        counts[usize::from(reached)] += 1;
        for mut engine in engines() {
            let (safe, ..) = solve(&mut engine, &system);
            assert_eq!(safe, !reached, "{round}: {:?}", engine.options);
        }
    }
    assert!(counts.iter().all(|&count| count > 10), "{counts:?}");
}
