//! Checks that relations hold of the runs they are about, and that runs and proofs are found with
//! all settings.

use std::rc::Rc;

use super::system::any;
use super::*;
use alphorn_chc::{Atom, PredicateId};
use alphorn_smt::SatResult;
use alphorn_term::{SortId, TermId, TermStore};
use alphorn_witness::check_refutation;

/// Phases of `length` steps: a number counts up, another one counts up in every second phase and
/// down in the others. The query is that the second is `end` after all phases.
fn phases(count: u64, length: u64, end: i64) -> System {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let p = system.add_predicate("P", &[SortId::INT, SortId::INT]);
    let atom = |args: &[TermId]| Atom {
        predicate: p,
        args: args.to_vec(),
    };
    let [x, y, x1, y1] = ["x", "y", "x'", "y'"].map(|n| terms.var(n, SortId::INT));
    let (zero, one) = (terms.int(0), terms.int(1));
    let start = terms.and(&[terms.eq(x, zero), terms.eq(y, zero)]);
    system.add_clause(vec![], start, Some(atom(&[x, y])));
    let mut after = y;
    for phase in (0..count).rev() {
        let here = terms.lt(x, terms.int((phase + 1) * length));
        let change = match phase % 2 {
            0 => terms.add(&[y, one]),
            _ => terms.sub(y, one),
        };
        after = terms.ite(here, change, after);
    }
    let whole = terms.int(count * length);
    let step = terms.and(&[
        terms.lt(x, whole),
        terms.eq(x1, terms.add(&[x, one])),
        terms.eq(y1, after),
    ]);
    system.add_clause(vec![atom(&[x, y])], step, Some(atom(&[x1, y1])));
    let bad = terms.and(&[terms.ge(x, whole), terms.eq(y, terms.int(end))]);
    system.add_clause(vec![atom(&[x, y])], bad, None);
    system
}

/// The same with a predicate for each phase and one more argument in the second.
fn places(length: u64, wrong: bool) -> System {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let [a, b]: [PredicateId; 2] = [
        system.add_predicate("A", &[SortId::INT]),
        system.add_predicate("B", &[SortId::INT, SortId::BOOL]),
    ];
    let [x, y] = ["x", "y"].map(|n| terms.var(n, SortId::INT));
    let [flag, same] = ["f", "f'"].map(|n| terms.var(n, SortId::BOOL));
    let one = terms.int(1);
    let at = |predicate, args: &[TermId]| Atom {
        predicate,
        args: args.to_vec(),
    };
    let (bound, zero) = (terms.int(length), terms.int(0));
    system.add_clause(vec![], terms.eq(x, zero), Some(at(a, &[x])));
    let up = terms.and(&[terms.lt(x, bound), terms.eq(y, terms.add(&[x, one]))]);
    system.add_clause(vec![at(a, &[x])], up, Some(at(a, &[y])));
    let turn = terms.and(&[terms.ge(x, bound), terms.eq(y, x), flag]);
    system.add_clause(vec![at(a, &[x])], turn, Some(at(b, &[y, flag])));
    let down = terms.and(&[
        terms.gt(x, zero),
        terms.eq(y, terms.sub(x, one)),
        terms.eq(flag, same),
    ]);
    system.add_clause(vec![at(b, &[x, flag])], down, Some(at(b, &[y, same])));
    let bad = match wrong {
        true => terms.and(&[flag, terms.le(x, zero)]),
        false => terms.or(&[terms.not(flag), terms.lt(x, zero)]),
    };
    system.add_clause(vec![at(b, &[x, flag])], bad, None);
    system
}

fn solve(system: &System, settings: &[&str]) -> (Verdict, Context) {
    let mut cx = Context::new(system.terms.clone());
    cx.budget = cx.budget.time(std::time::Duration::from_secs(60));
    let mut engine = Tpa::default();
    let settings: Vec<String> = settings.iter().map(|s| format!("tpa.{s}")).collect();
    engine.configure(&settings).expect("settings are known");
    let verdict = engine.solve(system, &mut cx).expect("no defect");
    (verdict, cx)
}

fn refuted(system: &System, settings: &[&str], steps: usize) {
    let (verdict, _) = solve(system, settings);
    let Verdict::Unsat(refutation) = verdict else {
        panic!("{settings:?}: {verdict:?}");
    };
    assert_eq!(check_refutation(system, &refutation), Ok(()));
    assert_eq!(refutation.steps.len(), steps);
}

fn proved(system: &System, settings: &[&str]) {
    let (verdict, _) = solve(system, settings);
    let Verdict::Sat(model) = verdict else {
        panic!("{settings:?}: {verdict:?}");
    };
    assert_model(system, &model);
}

/// Whether each clause holds in the model.
fn assert_model(system: &System, model: &Model) {
    let terms = &system.terms;
    let smt = Smt::new(terms.clone());
    for clause in &system.clauses {
        let formula = |a: &Atom| system.instantiate(model.definitions[&a.predicate], a);
        let mut solver = smt.solver();
        solver.assert(clause.constraint);
        clause.body.iter().for_each(|a| solver.assert(formula(a)));
        if let Some(head) = &clause.head {
            solver.assert(terms.not(formula(head)));
        }
        assert_eq!(solver.check(&[]), SatResult::Unsat);
    }
}

const CHOICES: &[&[&str]] = &[&[], &["unroll=0"], &["unroll=6"]];

#[test]
fn runs_are_found_whatever_the_choices() {
    for settings in CHOICES {
        refuted(&phases(1, 20, 20), settings, 22);
        refuted(&phases(2, 9, 0), settings, 20);
        refuted(&places(8, true), settings, 19);
    }
}

#[test]
fn proofs_are_found_whatever_the_choices() {
    for settings in CHOICES {
        for system in [phases(1, 9, 10), phases(2, 5, 2), places(5, false)] {
            proved(&system, settings);
        }
    }
}

#[test]
fn a_run_of_five_thousand_steps() {
    refuted(&phases(1, 5_000, 5_000), &[], 5_002);
}

#[test]
fn phases_are_proved() {
    proved(&phases(2, 30, 1), &[]);
    proved(&phases(3, 12, 11), &[]);
}

#[test]
fn limits_are_kept() {
    let deep = phases(1, 300, 300);
    let (verdict, _) = solve(&deep, &["max-level=7"]);
    assert!(matches!(verdict, Verdict::Unknown(_)), "{verdict:?}");
    refuted(&deep, &["max-level=9"], 302);
    let mut cx = Context::new(deep.terms.clone());
    cx.interrupt()
        .store(true, std::sync::atomic::Ordering::Relaxed);
    let verdict = Tpa::default().solve(&deep, &mut cx).expect("no defect");
    assert!(matches!(verdict, Verdict::Unknown(_)), "{verdict:?}");
}

#[test]
fn queries_at_once_and_never() {
    let mut none = phases(1, 3, 3);
    none.clauses.remove(0);
    proved(&none, &[]);
    refuted(&phases(0, 0, 0), &[], 2);
    let mut constraint = phases(1, 3, 4);
    let terms = constraint.terms.clone();
    let z = terms.var("z", SortId::INT);
    constraint.add_clause(vec![], terms.gt(z, terms.int(3)), None);
    refuted(&constraint, &[], 1);
}

/// Relations, and conjuncts shared by all levels, hold of the runs they are about.
#[test]
fn relations_hold_of_runs() {
    for (count, length, end) in [(1, 9, 12), (2, 5, 2), (2, 4, -1), (3, 3, 5)] {
        let system = phases(count, length, end);
        let terms = &system.terms;
        let steps = Steps::new(&system, &Reachability::new(&system));
        let ts = TransitionSystem::new(&system, &steps, PredicateId(0));
        let options = Options::default();
        let smt = Smt::new(terms.clone());
        let mut cx = Context::new(terms.clone());
        let mut search = Search::new(&ts, &smt, &options, &cx);
        for level in 0..=5 {
            for kind in [Kind::Less, Kind::Exact] {
                let found = search.reach(kind, level, &ts.init, &ts.query, &cx);
                assert!(matches!(found, Ok(None)));
                if level == 0 {
                    continue;
                }
                for side in kind.sides() {
                    let proof = search.fixpoint(kind, side, level, &cx);
                    if let Ok(Some(proof)) = proof
                        && let Ok(invariant) = search.invariant(&proof, &mut cx)
                    {
                        assert_ne!(invariant, TermId::TRUE);
                    }
                }
            }
        }
        let states: Vec<Vec<TermId>> = (0..=8)
            .map(|_| system.fresh_atom(ts.predicate).args)
            .collect();
        let run: Vec<TermId> = states
            .windows(2)
            .map(|pair| any(terms, &ts.transitions(&pair[0], &pair[1])))
            .collect();
        for level in 1..=3 {
            let whole = 1 << level;
            let relations = [(Kind::Less, 0, whole - 1), (Kind::Exact, whole, whole)];
            for (kind, least, most) in relations {
                for length in least..=most {
                    let mut solver = smt.solver();
                    run[..length].iter().for_each(|&s| solver.assert(s));
                    let pairs = search.relation(kind, level).conjuncts.iter().map(|c| {
                        let from = [&ts.copies[0][..], &ts.copies[1]].concat();
                        let to = [&states[0][..], &states[length]].concat();
                        terms.not(ts.over(c.left, &from, &to))
                    });
                    let broken: Vec<TermId> = pairs.collect();
                    solver.assert(terms.or(&broken));
                    assert_eq!(
                        solver.check(&[]),
                        SatResult::Unsat,
                        "{kind:?} {level} {length}"
                    );
                }
            }
        }
    }
}
