//! Systems that are inductive over a known number of steps, and Boolean systems compared with
//! explicit search.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use alphorn_samples::{is_model, shift_register};
use alphorn_term::run::Budget;
use alphorn_term::{Assignment, Random, SortId, TermStore, evaluate};
use alphorn_witness::check_refutation;

fn solve(system: &System) -> (Verdict, Context) {
    let mut cx = Context::new(system.terms.clone());
    let verdict = Pdkind::default().solve(system, &mut cx).expect("no defect");
    (verdict, cx)
}

#[test]
fn registers_of_any_length() {
    for length in 2..=9 {
        let system = shift_register(length, true);
        let (verdict, _) = solve(&system);
        let Verdict::Sat(model) = verdict else {
            panic!("{length}: {verdict:?}");
        };
        assert!(is_model(&system, &model), "{length}");
        let system = shift_register(length, false);
        let (verdict, _) = solve(&system);
        let Verdict::Unsat(refutation) = verdict else {
            panic!("{length}: {verdict:?}");
        };
        assert_eq!(check_refutation(&system, &refutation), Ok(()));
        // The fact, the steps that move the first bit to the last place, the query.
        assert!(refutation.steps.len() >= length + 2);
    }
}

/// A timer: time jumps to the next of two events, each of which recurs after its period. The query
/// is a state in which an event is overdue by its part of `late`.
fn calendar(periods: [i64; 2], late: [i64; 2]) -> System {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let p = system.add_predicate("P", &[SortId::REAL; 3]);
    let vars = |mark: &str| -> Vec<TermId> {
        let names = ["now", "first", "second"].map(|n| format!("{n}{mark}"));
        names.iter().map(|n| terms.var(n, SortId::REAL)).collect()
    };
    let (old, new) = (vars(""), vars("'"));
    let atom = |args: &[TermId]| Atom {
        predicate: p,
        args: args.to_vec(),
    };
    let number = |n: i64| terms.to_real(terms.int(n));
    let mut begin = vec![terms.eq(old[0], number(0))];
    begin.extend((0..2).map(|e| terms.eq(old[e + 1], number(periods[e]))));
    system.add_clause(vec![], terms.and(&begin), Some(atom(&old)));
    // Time advances to the earlier one.
    let earlier = terms.ite(terms.le(old[1], old[2]), old[1], old[2]);
    let jump = [
        terms.lt(old[0], earlier),
        terms.eq(new[0], earlier),
        terms.eq(new[1], old[1]),
        terms.eq(new[2], old[2]),
    ];
    system.add_clause(vec![atom(&old)], terms.and(&jump), Some(atom(&new)));
    for event in 1..=2 {
        let next = terms.add(&[old[0], number(periods[event - 1])]);
        let happen = [
            terms.eq(old[0], old[event]),
            terms.eq(new[0], old[0]),
            terms.eq(new[event], next),
            terms.eq(new[3 - event], old[3 - event]),
        ];
        system.add_clause(vec![atom(&old)], terms.and(&happen), Some(atom(&new)));
    }
    let overdue = [0, 1].map(|e| terms.ge(old[0], terms.add(&[old[e + 1], number(late[e])])));
    system.add_clause(vec![atom(&old)], terms.or(&overdue), None);
    system
}

#[test]
fn calendars() {
    for periods in [[2, 3], [5, 1], [7, 7]] {
        let system = calendar(periods, [1, 2]);
        let (verdict, _) = solve(&system);
        let Verdict::Sat(model) = verdict else {
            panic!("{verdict:?}");
        };
        assert!(is_model(&system, &model));
        for late in [[0, 1], [1, 0]] {
            let system = calendar(periods, late);
            let (verdict, _) = solve(&system);
            let Verdict::Unsat(refutation) = verdict else {
                panic!("{verdict:?}");
            };
            assert_eq!(check_refutation(&system, &refutation), Ok(()));
        }
    }
}

const BITS: usize = 4;

/// Two predicates of some bits, clauses between them, and a query, possibly with a local variable.
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
        match random.below(2) {
            0 => bit,
            _ => t.not(bit),
        }
    };
    let atom = |predicate, args: &[TermId]| Atom {
        predicate,
        args: args.to_vec(),
    };
    let start: Vec<TermId> = (0..BITS).map(|n| t.eq(new[n], t.bool(n == 0))).collect();
    system.add_clause(vec![], t.and(&start), Some(atom(predicates[0], &new)));
    for _ in 0..4 {
        let mut parts = vec![literal(&old, random)];
        for &bit in &new {
            let value = match random.below(4) {
                0 => literal(&old, random),
                1 => t.and(&[literal(&old, random), literal(&old, random)]),
                2 => t.or(&[literal(&old, random), literal(&old, random)]),
                _ => old[random.below(BITS as i64) as usize],
            };
            parts.push(t.eq(bit, value));
        }
        let [from, to] = [0, 1].map(|_| predicates[random.below(2) as usize]);
        system.add_clause(vec![atom(from, &old)], t.and(&parts), Some(atom(to, &new)));
    }
    let mut query: Vec<TermId> = (0..3).map(|_| literal(&old, random)).collect();
    if random.below(2) == 0 {
        query.push(t.eq(t.var("local", SortId::BOOL), old[0]));
    }
    let from = predicates[random.below(2) as usize];
    system.add_clause(vec![atom(from, &old)], t.and(&query), None);
    system
}

/// The number of facts on the shortest path to a query, by search through all states.
fn shortest_way(system: &System) -> Option<usize> {
    let t = &system.terms;
    let value = |state: usize, bit: usize| t.bool(state >> bit & 1 == 1);
    let mut seen = rustc_hash::FxHashMap::default();
    let mut queue: VecDeque<(Option<PredicateId>, usize, usize)> = VecDeque::from([(None, 0, 0)]);
    while let Some((from, state, length)) = queue.pop_front() {
        for clause in &system.clauses {
            if clause.body.first().map(|a| a.predicate) != from {
                continue;
            }
            for target in 0..1 << BITS {
                let mut point = Assignment::default();
                let args = clause.body.iter().flat_map(|a| &a.args).enumerate();
                point.extend(args.map(|(bit, &v)| (v, value(state, bit))));
                let head = clause.head.iter().flat_map(|a| &a.args).enumerate();
                point.extend(head.map(|(bit, &v)| (v, value(target, bit))));
                let holds = [TermId::TRUE, TermId::FALSE].iter().any(|&local| {
                    point.insert(t.var("local", SortId::BOOL), local);
                    evaluate(t, clause.constraint, &point) == Some(TermId::TRUE)
                });
                if !holds {
                    continue;
                }
                let Some(head) = &clause.head else {
                    return Some(length);
                };
                let key = (head.predicate, target);
                if seen.insert(key, ()).is_none() {
                    queue.push_back((Some(head.predicate), target, length + 1));
                }
            }
        }
    }
    None
}

/// A claim that some states are not reached within some steps, which may be wrong.
fn claim(system: &System, random: &mut Random) -> Leveled {
    let t = &system.terms;
    let predicate = *random.pick(&system.used_predicates());
    let params = &system.predicate(predicate).params;
    let excluded = params.iter().filter_map(|&param| match random.below(3) {
        0 => None,
        bit => Some(t.eq(param, t.bool(bit == 1))),
    });
    let excluded: Vec<TermId> = excluded.collect();
    Leveled {
        predicate,
        formula: t.not(t.and(&excluded)),
        level: random.below(4) as u32,
    }
}

/// A search that was stopped leaves lemmas in the form in which another begins with them, and the other
/// has less to do.
#[test]
fn a_search_goes_on_from_the_lemmas_of_one_that_was_stopped() {
    let system = shift_register(10, true);
    let terms = system.terms.clone();
    let run = |earlier: Vec<Leveled>, work: u64| {
        let budget = Budget::new(terms.clone(), Arc::default(), true);
        let budget = budget.work(Duration::from_millis(work));
        let mut cx = Context::with_budget(terms.clone(), budget);
        let mut engine = Pdkind::default();
        engine.resume(earlier);
        let verdict = engine.solve(&system, &mut cx).expect("no defect");
        let counts = ["pdkind.queries", "pdkind.lemmas-resumed"];
        let counts = counts.map(|name| cx.stats.count(name));
        (verdict, engine.lemmas().frames, counts)
    };
    let (verdict, left, [whole, ..]) = run(Vec::new(), 60_000);
    assert!(matches!(verdict, Verdict::Sat(_)) && left.is_empty());
    let (verdict, left, _) = run(Vec::new(), 5);
    assert!(
        matches!(verdict, Verdict::Unknown(_)) && left.len() > 5,
        "{left:?}"
    );
    let (verdict, _, [queries, resumed]) = run(left.clone(), 60_000);
    assert!(matches!(verdict, Verdict::Sat(_)));
    assert_eq!(resumed, left.len() as u64);
    assert!(queries * 4 < whole * 3, "{queries} {whole}");
}

#[test]
fn as_explicit_search_says() {
    let mut random = Random::new(17);
    let (mut safe, mut deep) = (0, 0);
    for round in 0..150 {
        let system = boolean_system(&mut random);
        let expected = shortest_way(&system);
        let mut cx = Context::new(system.terms.clone());
        let mut engine = Pdkind::default();
        // Whatever is claimed, the answer is the same.
        engine.resume(
            (0..round % 3)
                .map(|_| claim(&system, &mut random))
                .collect(),
        );
        let verdict = engine.solve(&system, &mut cx).expect("no defect");
        match (verdict, expected) {
            (Verdict::Sat(model), None) => {
                assert!(is_model(&system, &model), "{round}");
                safe += 1;
            }
            (Verdict::Unsat(refutation), Some(length)) => {
                assert_eq!(check_refutation(&system, &refutation), Ok(()), "{round}");
                assert!(refutation.steps.len() > length, "{round}");
                deep += usize::from(length > 2);
            }
            other => panic!("{round}: {other:?}"),
        }
    }
    assert!(safe > 10 && deep > 5, "{safe}, {deep}");
}
