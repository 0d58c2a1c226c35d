use std::rc::Rc;
use std::time::Duration;

use super::*;
use crate::tests::{holds, random_program};
use alphorn_chc::Atom;
use alphorn_samples::{is_model, random_system};
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Random, SortId, TermStore};
use alphorn_witness::Model;

fn atom(predicate: PredicateId, args: &[TermId]) -> Atom {
    Atom {
        predicate,
        args: args.to_vec(),
    }
}

fn without_limit(system: &System) -> Analysis<'_> {
    analyse(system, &Context::new(system.terms.clone()).budget)
}

/// The system without its queries.
fn without_queries(system: &System) -> System {
    let mut rest = system.clone();
    rest.clauses.retain(|c| c.head.is_some());
    rest
}

fn model_of(system: &System, facts: FxHashMap<PredicateId, Vec<TermId>>) -> Model {
    let facts = facts.into_iter();
    Model {
        definitions: facts.map(|(p, all)| (p, system.terms.and(&all))).collect(),
        ..Model::default()
    }
}

/// All layers on random programs: states that are reached are inside, and the facts are inductive.
#[test]
fn states_stay_inside() {
    for seed in 0..60 {
        let (mut system, states) = random_program(seed);
        let t = &system.terms.clone();
        // A query that cannot be excluded makes all layers run.
        let (p, values) = &states[0];
        let args: Vec<TermId> = system.fresh_atom(*p).args;
        let pairs = args.iter().zip(values).map(|(&a, &v)| t.eq(a, v));
        let constraint = t.and(&pairs.collect::<Vec<TermId>>());
        system.add_clause(vec![atom(*p, &args)], constraint, None);
        let analysis = without_limit(&system);
        assert_eq!(analysis.open_queries(), [system.clauses.len() - 1]);
        let facts = analysis.facts();
        for state in &states {
            for &fact in facts.get(&state.0).into_iter().flatten() {
                assert!(holds(&system, state, fact), "seed {seed}: {fact:?}");
            }
        }
        let model = model_of(&system, facts);
        assert!(is_model(&without_queries(&system), &model), "seed {seed}");
    }
}

/// Queries are excluded only with a proof, and the proof is a model.
#[test]
fn proofs_are_models() {
    let mut proofs = 0;
    for seed in 0..200 {
        let system = random_system(&mut Random::new(seed));
        if let Some(proof) = without_limit(&system).proof() {
            let model = model_of(&system, proof);
            assert!(is_model(&system, &model), "seed {seed}");
            proofs += 1;
        }
    }
    assert!(proofs > 20, "{proofs}");
}

/// The facts that go with a neighbourhood are a model of the clauses but for open queries, and imply
/// what is assumed.
#[test]
fn facts_of_neighbourhoods_hold() {
    let mut found = 0;
    for seed in 0..300 {
        let system = random_system(&mut Random::new(seed));
        let analysis = without_limit(&system);
        let Some(near) = analysis.neighbourhood(1) else {
            continue;
        };
        found += 1;
        let mut rest = system.clone();
        let mut position = 0;
        rest.clauses.retain(|clause| {
            position += 1;
            clause.head.is_some() || !near.applicable[position - 1]
        });
        for (predicate, assumed) in &near.assumed {
            let all = &near.facts[predicate];
            assert!(assumed.iter().all(|fact| all.contains(fact)), "seed {seed}");
        }
        assert!(is_model(&rest, &model_of(&rest, near.facts)), "seed {seed}");
        assert_eq!(near.near.iter().filter(|&&is_near| is_near).count(), 1);
    }
    assert!(found > 20, "{found}");
}

/// Wherever the budget ends, what is known holds: it is inductive, and no stronger than without an
/// end.
#[test]
fn a_cut_is_a_superset() {
    for seed in 0..12 {
        let (mut system, states) = random_program(seed);
        let args = system.fresh_atom(states[0].0).args;
        system.add_clause(vec![atom(states[0].0, &args)], TermId::TRUE, None);
        for nanoseconds in [0, 400, 2_000, 4_000, 10_000, 40_000, 100_000] {
            let budget = Context::new(system.terms.clone()).budget;
            let mut analysis = Analysis::new(&system, &budget);
            for layer in Layer::ALL {
                let work = Duration::from_nanos(nanoseconds);
                analysis.add(layer, &budget.work(work));
            }
            let facts = analysis.facts();
            for state in &states {
                for &fact in facts.get(&state.0).into_iter().flatten() {
                    assert!(holds(&system, state, fact), "seed {seed}, {nanoseconds}");
                }
            }
            let model = model_of(&system, facts);
            let rest = without_queries(&system);
            assert!(is_model(&rest, &model), "seed {seed}, {nanoseconds}");
        }
    }
}

/// Numbers that double leave the machine's integers.
#[test]
fn overflow_loses_bounds_only() {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let p = system.add_predicate("p", &[SortId::INT; 2]);
    let [x, y, u, v] = ["x", "y", "u", "v"].map(|n| t.var(n, SortId::INT));
    let two = alphorn_term::Rational::from_integer(2.into());
    let start = t.and(&[t.eq(x, t.int(i64::MAX / 8)), t.eq(y, t.int(-7))]);
    system.add_clause(vec![], start, Some(atom(p, &[x, y])));
    let doubled = t.and(&[t.eq(u, t.scale(&two, x)), t.eq(v, t.scale(&two, y))]);
    system.add_clause(vec![atom(p, &[x, y])], doubled, Some(atom(p, &[u, v])));
    let limit = t.int(alphorn_term::BigInt::from(u64::MAX));
    system.add_clause(vec![atom(p, &[x, y])], t.ge(x, limit), None);
    system.add_clause(vec![atom(p, &[x, y])], t.lt(x, t.int(0)), None);
    let analysis = without_limit(&system);
    assert_eq!(analysis.open_queries(), [2]);
    let model = model_of(&system, analysis.facts());
    assert!(is_model(&without_queries(&system), &model));
}

/// A system with a loop of one predicate over arguments of given sorts.
fn looping(
    sorts: &[SortId],
    t: &Rc<TermStore>,
    start: impl Fn(&[TermId]) -> TermId,
    step: impl Fn(&[TermId], &[TermId]) -> TermId,
    bad: impl Fn(&[TermId]) -> TermId,
) -> System {
    let mut system = System::new(t.clone());
    let p = system.add_predicate("p", sorts);
    let (old, new) = (system.fresh_atom(p), system.fresh_atom(p));
    system.add_clause(vec![], start(&old.args), Some(old.clone()));
    system.add_clause(vec![old.clone()], step(&old.args, &new.args), Some(new));
    system.add_clause(vec![old.clone()], bad(&old.args), None);
    system
}

/// Asserts that the analysis has a proof for `bad`, which Z3 confirms.
fn assert_closed(system: &System, what: &str) {
    let _ = Smt::new(system.terms.clone());
    let proof = without_limit(system).proof();
    let proof = proof.unwrap_or_else(|| panic!("{what} is open"));
    assert!(is_model(system, &model_of(system, proof)), "{what}");
}

/// Each layer where only it has a proof.
#[test]
fn layers_find_what_is_planted() {
    let t = Rc::new(TermStore::new());
    let int = SortId::INT;
    let one = t.int(1);
    let counter = looping(
        &[int],
        &t,
        |x| t.eq(x[0], t.int(0)),
        |x, y| t.and(&[t.lt(x[0], t.int(10)), t.eq(y[0], t.add(&[x[0], one]))]),
        |x| t.gt(x[0], t.int(10)),
    );
    assert_closed(&counter, "a range");
    let bounded = looping(
        &[int, int],
        &t,
        |x| t.and(&[t.eq(x[0], t.int(0)), t.ge(x[1], t.int(0))]),
        |x, y| {
            let next = t.eq(y[0], t.add(&[x[0], one]));
            t.and(&[t.lt(x[0], x[1]), next, t.eq(y[1], x[1])])
        },
        |x| t.gt(x[0], x[1]),
    );
    assert_closed(&bounded, "a difference");
    let sum = looping(
        &[int, int, int],
        &t,
        |x| t.and(&[t.eq(x[0], t.int(0)), t.eq(x[1], x[2])]),
        |x, y| {
            let up = t.eq(y[0], t.add(&[x[0], one]));
            t.and(&[up, t.eq(y[1], t.sub(x[1], one)), t.eq(y[2], x[2])])
        },
        |x| t.not(t.eq(t.add(&[x[0], x[1]]), x[2])),
    );
    assert_closed(&sum, "an equation");
    let mirror = looping(
        &[SortId::BOOL, int],
        &t,
        |x| t.eq(x[1], t.ite(x[0], one, t.int(0))),
        |_, y| t.eq(y[1], t.ite(y[0], one, t.int(0))),
        |x| t.and(&[x[0], t.not(t.eq(x[1], one))]),
    );
    assert_closed(&mirror, "an implication");
}

/// Implications between many flags are found within the budget of the layer.
#[test]
fn flags_that_follow_from_others() {
    for count in [8, 64] {
        assert_closed(&flags(count), "a chain of flags");
    }
}

/// Of the implications, of which there are as many as pairs of flags, a proof needs one for each
/// flag. They are found by work in proportion to the entries of the table for each clause.
#[test]
fn few_implications_are_needed() {
    let mut work = Vec::new();
    for count in [32, 64] {
        let system = flags(count);
        let analysis = without_limit(&system);
        let before = system.terms.work();
        let proof = analysis.proof().expect("the query is closed");
        work.push((system.terms.work() - before).as_secs_f64());
        let conjuncts: usize = proof.values().map(Vec::len).sum();
        assert!(conjuncts < count, "{conjuncts} of {count}");
    }
    let exponent = (work[1] / work[0]).log2();
    assert!(exponent < 3.2, "{work:?}");
}

/// Flags that are down at first; the first is raised at any time, another if the one before is up. The
/// last is not up while the first is down.
fn flags(count: usize) -> System {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let p = system.add_predicate("p", &vec![SortId::BOOL; count]);
    let flags = system.fresh_atom(p);
    let down: Vec<TermId> = flags.args.iter().map(|&flag| t.not(flag)).collect();
    system.add_clause(vec![], t.and(&down), Some(flags.clone()));
    for at in 0..count {
        let mut next = flags.clone();
        next.args[at] = t.var("raised", SortId::BOOL);
        let before = at.checked_sub(1).map(|before| flags.args[before]);
        let raised = before.map_or(TermId::TRUE, |before| t.or(&[flags.args[at], before]));
        let step = t.eq(next.args[at], raised);
        system.add_clause(vec![flags.clone()], step, Some(next));
    }
    let last = flags.args[count - 1];
    let bad = t.and(&[last, t.not(flags.args[0])]);
    system.add_clause(vec![flags], bad, None);
    system
}

/// Bit-vectors, reals and datatypes have ranges, too.
#[test]
fn other_sorts_have_ranges() {
    let t = Rc::new(TermStore::new());
    let word = t.bitvec_sort(8);
    let number = |value: u32| t.bitvec(value.into(), 8);
    let words = looping(
        &[word],
        &t,
        |x| t.eq(x[0], number(250)),
        |x, y| {
            let next = t.bv_op(&alphorn_term::Op::BvAdd, &[x[0], number(1)]);
            t.and(&[t.bv_ult(x[0], number(254)), t.eq(y[0], next)])
        },
        |x| t.bv_ult(x[0], number(250)),
    );
    assert_closed(&words, "a bit-vector");
    let real = |value: i64| t.to_real(t.int(value));
    let reals = looping(
        &[SortId::REAL],
        &t,
        |x| t.eq(x[0], real(0)),
        |x, y| t.and(&[t.lt(x[0], real(3)), t.eq(y[0], t.add(&[x[0], real(1)]))]),
        |x| t.gt(x[0], real(4)),
    );
    assert_closed(&reals, "a real");
    let (list, sort) = alphorn_samples::integer_lists(&t);
    let lists = looping(
        &[sort],
        &t,
        |x| t.is(list, 1, x[0]),
        |x, y| t.eq(y[0], t.construct(list, 1, &[t.int(3), x[0]])),
        |x| t.is(list, 0, x[0]),
    );
    assert_closed(&lists, "a constructor");
}

/// A loop of `width` counters of which each step changes one by a choice, and a query that no walk
/// reaches.
fn counters(width: usize) -> System {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(Rc::clone(&terms));
    let p = system.add_predicate("P", &vec![SortId::INT; width]);
    let vars = |name: &str| -> Vec<TermId> {
        let names = (0..width).map(|n| format!("{name}{n}"));
        names.map(|name| terms.var(&name, SortId::INT)).collect()
    };
    let (old, new) = (vars("x"), vars("y"));
    let zero = old.iter().map(|&v| terms.eq(v, terms.int(0)));
    system.add_clause(
        vec![],
        terms.and(&zero.collect::<Vec<_>>()),
        Some(atom(p, &old)),
    );
    let step = old.iter().zip(&new).map(|(&old, &new)| {
        let more = terms.eq(new, terms.add(&[old, terms.int(2)]));
        terms.or(&[terms.eq(new, old), more])
    });
    let step = terms.and(&step.collect::<Vec<_>>());
    system.add_clause(vec![atom(p, &old)], step, Some(atom(p, &new)));
    let sum = terms.eq(terms.add(&old), terms.int(7));
    system.add_clause(vec![atom(p, &old)], sum, None);
    system
}

/// Walks take work in proportion to the clauses, however many arguments there are.
#[test]
fn walks_end() {
    let system = counters(60);
    let analysis = without_limit(&system);
    assert_eq!(analysis.open_queries(), [2]);
    let before = system.terms.work();
    assert!(analysis.walk(1, 37, |_| None::<()>).is_none());
    let work = system.terms.work() - before;
    let most = LIMITS.walk_work_per_clause * 3;
    assert!(work <= 2 * most, "{work:?}");
}

/// The way to the query that is nearest makes a condition false that comes later.
#[test]
fn a_walk_goes_back_from_where_it_cannot_go_on() {
    let mut system = System::new(Rc::new(TermStore::new()));
    let t = system.terms.clone();
    let [start, far, farther, join, end] =
        ["S", "M", "N", "B", "Q"].map(|name| system.add_predicate(name, &[SortId::INT]));
    let [x, y] = ["x", "y"].map(|name| t.var(name, SortId::INT));
    let is = |value: i64| t.eq(y, t.int(value));
    let copy = t.eq(x, y);
    let small = t.and(&[copy, t.lt(x, t.int(3))]);
    let edges = [
        (start, is(5), join),
        (start, copy, far),
        (far, copy, farther),
        (farther, is(1), join),
        (join, small, end),
    ];
    system.add_clause(vec![], is(0), Some(atom(start, &[y])));
    for (from, constraint, to) in edges {
        system.add_clause(vec![atom(from, &[x])], constraint, Some(atom(to, &[y])));
    }
    // Nothing excludes the query, since the ranges at `join` are joined.
    system.add_clause(vec![atom(end, &[x])], TermId::TRUE, None);
    let mut walks = Vec::new();
    let analysis = without_limit(&system);
    analysis.walk(1, 4, |skeleton| {
        walks.push(skeleton.iter().map(|step| step.0).collect::<Vec<_>>());
        None::<()>
    });
    // The cheapest derivation has no values; each of the three kinds of runs finds the other way.
    assert_eq!(walks.remove(0), [0, 1, 5, 6]);
    assert_eq!(walks, vec![vec![0, 2, 3, 4, 5, 6]; 3]);
}
