//! Tests of frames and facts on systems whose derivable facts are known by height.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::ids::Node;
use super::levels::{INFINITE, Level};
use super::search::{Outcome, Search};
use super::{Options, Pdr};
use alphorn_chc::frontend::parse_bytes;
use alphorn_chc::{Atom, PredicateId, System};
use alphorn_engine::Engine;
use alphorn_proof::Stop;
use alphorn_proof::facts::Leveled;
use alphorn_samples::bus::context_with_bus;
use alphorn_samples::is_model;
use alphorn_term::run::{Budget, Context};
use alphorn_term::{Assignment, Evaluator, Op, Random, SortId, TermId, TermStore};
use alphorn_transform::normalize;
use alphorn_witness::{Verdict, check_refutation};

/// The first predicate of a system.
const P: Node = Node::Predicate(PredicateId(0));

/// `P(0, 0)`; `P(x, y) ⇒ P(x + 1, y + 2)`; `P(x, y) ∧ bad(x, y) ⇒ false`. The fact of height
/// `h` is `P(h, 2h)`.
fn stairs(bad: impl Fn(&TermStore, TermId, TermId) -> TermId) -> System {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let p = system.add_predicate("P", &[SortId::INT, SortId::INT]);
    let int = |n: &str| terms.var(n, SortId::INT);
    let [x, y, x1, y1] = ["x", "y", "x1", "y1"].map(int);
    let atom = |a, b| Atom {
        predicate: p,
        args: vec![a, b],
    };
    let zero = terms.int(0);
    let start = terms.and(&[terms.eq(x, zero), terms.eq(y, zero)]);
    system.add_clause(vec![], start, Some(atom(x, y)));
    let step = terms.and(&[
        terms.eq(x1, terms.add(&[x, terms.int(1)])),
        terms.eq(y1, terms.add(&[y, terms.int(2)])),
    ]);
    system.add_clause(vec![atom(x, y)], step, Some(atom(x1, y1)));
    system.add_clause(vec![atom(x, y)], bad(&terms, x, y), None);
    system
}

fn state(system: &System, height: i64) -> Assignment {
    let params = &system.predicates[0].params;
    let values = [height, 2 * height].map(|v| system.terms.int(v));
    params.iter().copied().zip(values).collect()
}

/// Runs the engine and checks lemmas and facts against the known facts, whatever the outcome.
fn run(system: &System, options: Options) -> (Result<Outcome, Stop>, usize) {
    let mut cx = Context::new(system.terms.clone());
    cx.budget = cx.budget.time(Duration::from_secs(20));
    let mut search = Search::new(system, options, &mut cx);
    let outcome = search.run();
    let frame = &search.frames[P];
    for height in 0..60 {
        let values = state(system, height);
        let mut evaluator = Evaluator::new(&system.terms, &values);
        for lemma in frame.lemmas.iter() {
            if lemma.level == INFINITE || i64::from(lemma.level) >= height {
                let value = evaluator.value(lemma.clause);
                assert_eq!(value, Some(TermId::TRUE), "a lemma cuts off P of {height}");
            }
        }
    }
    // A fact's formula has derivable states only.
    for x in -5..40 {
        for y in -5..80 {
            let params = &system.predicates[0].params;
            let values = [x, y].map(|v| system.terms.int(v));
            let values = params.iter().copied().zip(values).collect();
            let mut evaluator = Evaluator::new(&system.terms, &values);
            let derivable = x >= 0 && y == 2 * x;
            for fact in frame.facts.iter() {
                let holds = evaluator.value(fact.formula) == Some(TermId::TRUE);
                assert!(derivable || !holds, "a fact holds of P({x}, {y})");
            }
        }
    }
    let lemmas = frame.lemmas.len();
    (outcome, lemmas)
}

fn variants() -> Vec<Options> {
    let mut variants = Vec::new();
    for bits in 0..16 {
        variants.push(Options {
            split_equalities: bits & 1 != 0,
            trigger_pushes: bits & 2 != 0,
            guidance: bits & 4 != 0,
            older_simplex: bits & 8 != 0,
            max_level: Some(12),
            ..Options::default()
        });
    }
    variants
}

#[test]
fn lemmas_and_facts_keep_their_promise() {
    let mut lemmas = 0;
    for options in variants() {
        // Safe; unsafe at height 7; safe by the relation of the two arguments.
        let safe = stairs(|t, x, _| t.lt(x, t.int(0)));
        let unsafe_ = stairs(|t, x, y| t.and(&[t.ge(x, t.int(7)), t.le(y, t.int(20))]));
        let related = stairs(|t, x, y| t.lt(t.add(&[y, t.int(3)]), x));
        let (outcome, n) = run(&safe, options.clone());
        assert!(matches!(outcome, Ok(Outcome::Safe(_))), "{options:?}");
        lemmas += n;
        let (outcome, n) = run(&unsafe_, options.clone());
        let Ok(Outcome::Refuted(refutation)) = outcome else {
            panic!("{options:?}");
        };
        assert_eq!(
            alphorn_witness::check_refutation(&unsafe_, &refutation),
            Ok(())
        );
        assert_eq!(refutation.steps.len(), 9);
        lemmas += n;
        let (outcome, n) = run(&related, options.clone());
        assert!(!matches!(outcome, Ok(Outcome::Refuted(_))), "{options:?}");
        lemmas += n;
    }
    assert!(lemmas > 0);
}

#[test]
fn relations_come_from_guidance() {
    // 2x = y + 5 is unreachable by 2x <= y, a relation that is in the cube of no obligation.
    let system = stairs(|t, x, y| t.eq(t.add(&[x, x]), t.add(&[y, t.int(5)])));
    let (outcome, _) = run(&system, Options::default());
    assert!(matches!(outcome, Ok(Outcome::Safe(_))));
}

/// `A(a, i, n)`: cells below `i` are set to 7; then one cell below `n` is not `wanted`.
fn filled(wanted: i64) -> System {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let array = terms.array_sort(SortId::INT, SortId::INT);
    let p = system.add_predicate("A", &[array, SortId::INT, SortId::INT]);
    let [a, b] = ["a", "b"].map(|n| terms.var(n, array));
    let [i, j, n, k] = ["i", "j", "n", "k"].map(|n| terms.var(n, SortId::INT));
    let atom = |a, i| Atom {
        predicate: p,
        args: vec![a, i, n],
    };
    system.add_clause(vec![], terms.eq(i, terms.int(0)), Some(atom(a, i)));
    let step = terms.and(&[
        terms.lt(i, n),
        terms.eq(b, terms.store(a, i, terms.int(7))),
        terms.eq(j, terms.add(&[i, terms.int(1)])),
    ]);
    system.add_clause(vec![atom(a, i)], step, Some(atom(b, j)));
    let bad = terms.and(&[
        terms.ge(i, n),
        terms.ge(k, terms.int(0)),
        terms.lt(k, n),
        terms.not(terms.eq(terms.select(a, k), terms.int(wanted))),
    ]);
    system.add_clause(vec![atom(a, i)], bad, None);
    system
}

#[test]
fn lemmas_about_all_cells() {
    for quantify in [true, false] {
        let options = Options {
            quantify,
            max_level: Some(8),
            ..Options::default()
        };
        let system = filled(7);
        let mut cx = Context::new(system.terms.clone());
        let outcome = Search::new(&system, options.clone(), &mut cx).run();
        // Without quantified lemmas each cell needs a separate lemma.
        assert_eq!(matches!(outcome, Ok(Outcome::Safe(_))), quantify);
        assert!(!matches!(outcome, Ok(Outcome::Refuted(_))));
        let system = filled(6);
        let mut cx = Context::new(system.terms.clone());
        let outcome = Search::new(&system, options, &mut cx).run();
        let Ok(Outcome::Refuted(refutation)) = outcome else {
            panic!("the first cell is 7");
        };
        assert_eq!(
            alphorn_witness::check_refutation(&system, &refutation),
            Ok(())
        );
    }
}

/// The cells of `a` are copied to `b`, those of `b` to `c`, up to `last`; then `c` is compared with
/// `a`.
fn copied_twice(last: &str) -> System {
    let text = format!(
        "(set-logic HORN)
         (define-sort A () (Array Int Int))
         (declare-fun P (A A A Int Int) Bool)
         (declare-fun Q (A A A Int Int) Bool)
         (declare-fun R (A A Int Int) Bool)
         (assert (forall ((a A) (b A) (c A) (n Int)) (P a b c 0 n)))
         (assert (forall ((a A) (b A) (c A) (i Int) (n Int))
           (=> (and (P a b c i n) (< i n)) (P a (store b i (select a i)) c (+ i 1) n))))
         (assert (forall ((a A) (b A) (c A) (i Int) (n Int))
           (=> (and (P a b c i n) (>= i n)) (Q a b c 0 n))))
         (assert (forall ((a A) (b A) (c A) (i Int) (n Int))
           (=> (and (Q a b c i n) (< i {last})) (Q a b (store c i (select b i)) (+ i 1) n))))
         (assert (forall ((a A) (b A) (c A) (i Int) (n Int))
           (=> (and (Q a b c i n) (>= i {last})) (R a c 0 n))))
         (assert (forall ((a A) (c A) (i Int) (n Int))
           (=> (and (R a c i n) (< i n) (= (select a i) (select c i))) (R a c (+ i 1) n))))
         (assert (forall ((a A) (c A) (i Int) (n Int))
           (=> (and (R a c i n) (< i n) (not (= (select a i) (select c i)))) false)))
         (check-sat)"
    );
    let problem = parse_bytes(text.as_bytes(), Rc::new(TermStore::new())).expect("it can be read");
    normalize(&problem).0
}

/// A lemma about all cells after one loop is a premise of such a lemma for the next one, and lemmas
/// contain no writes.
#[test]
fn lemmas_about_all_cells_go_from_loop_to_loop() {
    let options = Options {
        max_level: Some(12),
        ..Options::default()
    };
    for (last, safe) in [("n", true), ("(- n 1)", false)] {
        let system = copied_twice(last);
        let mut cx = Context::new(system.terms.clone());
        let mut search = Search::new(&system, options.clone(), &mut cx);
        match search.run() {
            Ok(Outcome::Safe(_)) => assert!(safe),
            Ok(Outcome::Refuted(refutation)) => {
                assert!(!safe);
                assert_eq!(check_refutation(&system, &refutation), Ok(()));
            }
            Err(_) => panic!("no answer for {last}"),
        }
        for frame in system.used_predicates().iter().map(|&p| &search.frames[p]) {
            for lemma in frame.lemmas.iter() {
                let terms = &system.terms;
                terms.post_order(&[lemma.clause], |t| assert_ne!(*terms.op(t), Op::Store));
            }
        }
    }
}

/// Two readers of one array: `P(a, i, j)` with `i = j` in all facts, a relation visible only by the
/// cells read.
fn readers() -> System {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let array = terms.array_sort(SortId::INT, SortId::INT);
    let p = system.add_predicate("P", &[array, SortId::INT, SortId::INT]);
    let a = terms.var("a", array);
    let [i, j, k, l] = ["i", "j", "k", "l"].map(|n| terms.var(n, SortId::INT));
    let atom = |i, j| Atom {
        predicate: p,
        args: vec![a, i, j],
    };
    system.add_clause(vec![], terms.eq(i, j), Some(atom(i, j)));
    let next = |x| terms.add(&[x, terms.int(1)]);
    let step = terms.and(&[
        terms.not(terms.eq(terms.select(a, i), terms.int(0))),
        terms.eq(k, next(i)),
        terms.eq(l, next(j)),
    ]);
    system.add_clause(vec![atom(i, j)], step, Some(atom(k, l)));
    let bad = terms.and(&[
        terms.eq(terms.select(a, i), terms.int(0)),
        terms.not(terms.eq(terms.select(a, j), terms.int(0))),
    ]);
    system.add_clause(vec![atom(i, j)], bad, None);
    system
}

#[test]
fn equations_of_indexes() {
    let system = readers();
    let [a, i, j] = [0, 1, 2].map(|n| system.predicates[0].params[n]);
    let mut cx = Context::new(system.terms.clone());
    let mut search = Search::new(&system, Options::default(), &mut cx);
    let terms = system.terms.clone();
    let zero = |index| terms.eq(terms.select(a, index), terms.int(0));
    let cube = [zero(i), terms.not(zero(j))];
    let found = search.disequality(P, &cube, None);
    let Ok(Some((cube, _))) = found else {
        panic!("the indexes are equal at the start");
    };
    assert_eq!(cube, [terms.not(terms.eq(i, j))]);
    assert!(matches!(search.run(), Ok(Outcome::Safe(_))));
}

/// Random clauses over Booleans, some with two body atoms, and whether `false` is derivable.
fn finite(seed: u64) -> (System, bool) {
    let mut random = Random::new(seed);
    let mut next = |bound: u64| random.below(bound);
    const WIDTH: usize = 4;
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let ids = ["P", "Q"].map(|n| system.add_predicate(n, &[SortId::BOOL; WIDTH]));
    let vars = |tag: &str| -> Vec<TermId> {
        let var = |i| terms.var(&format!("{tag}{i}"), SortId::BOOL);
        (0..WIDTH).map(var).collect()
    };
    let (x, y, z) = (vars("x"), vars("y"), vars("z"));
    // Facts as bit patterns, by explicit search over the same clauses.
    type Rule = (Vec<usize>, Option<usize>, Vec<(usize, usize, usize, bool)>);
    let mut rules: Vec<Rule> = Vec::new();
    for number in 0..7 {
        let body: Vec<usize> = match number {
            0 => vec![],
            1..=3 => vec![next(2) as usize],
            4..=5 => vec![next(2) as usize, next(2) as usize],
            _ => vec![next(2) as usize],
        };
        let head = (number < 6).then(|| next(2) as usize);
        // Each relates one argument to another, or to a value: (side, index, other index, equal).
        let count = if head.is_some() { 4 + next(2) } else { 3 };
        let parts = (0..count)
            .map(|_| {
                (
                    next(4) as usize,
                    next(4) as usize,
                    next(4) as usize,
                    next(2) == 0,
                )
            })
            .collect();
        rules.push((body, head, parts));
    }
    let sides = [&x, &y, &z];
    for (body, head, parts) in &rules {
        let mut literals = Vec::new();
        for &(side, a, b, equal) in parts {
            // Sides of missing atoms are free variables.
            let left = if head.is_some() { z[a] } else { x[a] };
            let right = match side {
                3 => terms.bool(b % 2 == 0),
                side => sides[side][b],
            };
            let equation = terms.eq(left, right);
            literals.push(if equal { equation } else { terms.not(equation) });
        }
        let atoms = body.iter().zip([&x, &y]).map(|(&p, args)| Atom {
            predicate: ids[p],
            args: args.clone(),
        });
        let head = head.map(|p| Atom {
            predicate: ids[p],
            args: z.clone(),
        });
        system.add_clause(atoms.collect(), terms.and(&literals), head);
    }
    let holds = |parts: &[(usize, usize, usize, bool)], head: bool, values: [usize; 3]| {
        parts.iter().all(|&(side, a, b, equal)| {
            let left = if head {
                values[2] >> a & 1
            } else {
                values[0] >> a & 1
            };
            let right = if side == 3 {
                usize::from(b % 2 == 0)
            } else {
                values[side] >> b & 1
            };
            (left == right) == equal
        })
    };
    let mut facts = [[false; 1 << WIDTH]; 2];
    let mut reached = false;
    loop {
        let before = (facts, reached);
        for (body, head, parts) in &rules {
            for code in 0..1_usize << (3 * WIDTH) {
                let mask = (1 << WIDTH) - 1;
                let values = [code & mask, code >> WIDTH & mask, code >> (2 * WIDTH)];
                let derived = body.iter().zip(values).all(|(&p, v)| facts[p][v])
                    && holds(parts, head.is_some(), values);
                match head {
                    Some(p) if derived => facts[*p][values[2]] = true,
                    None if derived => reached = true,
                    _ => {}
                }
            }
        }
        if before == (facts, reached) {
            return (system, reached);
        }
    }
}

#[test]
fn finite_domains_are_decided() {
    let (mut safe, mut refuted) = (0, 0);
    for seed in 0..60 {
        let (system, reached) = finite(seed);
        let mut cx = Context::new(system.terms.clone());
        match Search::new(&system, Options::default(), &mut cx).run() {
            Ok(Outcome::Safe(_)) => {
                assert!(!reached, "seed {seed}");
                safe += 1;
            }
            Ok(Outcome::Refuted(refutation)) => {
                assert!(reached, "seed {seed}");
                let checked = alphorn_witness::check_refutation(&system, &refutation);
                assert_eq!(checked, Ok(()));
                refuted += 1;
            }
            Err(_) => panic!("seed {seed} is not decided"),
        }
    }
    assert!(safe > 10 && refuted > 10, "{safe} safe, {refuted} refuted");
}

/// `P(a, b)` with `a = b` in all facts: both get the same stores.
fn twins() -> System {
    let terms = Rc::new(TermStore::new());
    let mut system = System::new(terms.clone());
    let array = terms.array_sort(SortId::INT, SortId::INT);
    let p = system.add_predicate("P", &[array, array]);
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|n| terms.var(n, array));
    let [i, v] = ["i", "v"].map(|n| terms.var(n, SortId::INT));
    let atom = |a, b| Atom {
        predicate: p,
        args: vec![a, b],
    };
    system.add_clause(vec![], terms.eq(a, b), Some(atom(a, b)));
    let step = terms.and(&[
        terms.eq(c, terms.store(a, i, v)),
        terms.eq(d, terms.store(b, i, v)),
    ]);
    system.add_clause(vec![atom(a, b)], step, Some(atom(c, d)));
    let differ = terms.lt(terms.select(a, i), terms.select(b, i));
    system.add_clause(vec![atom(a, b)], differ, None);
    system
}

#[test]
fn equations_of_arrays() {
    let system = twins();
    let [a, b] = [0, 1].map(|n| system.predicates[0].params[n]);
    let mut cx = Context::new(system.terms.clone());
    let mut search = Search::new(&system, Options::default(), &mut cx);
    let terms = system.terms.clone();
    let read = |array| terms.select(array, terms.int(4));
    let found = search.disequality(P, &[terms.lt(read(a), read(b))], None);
    let Ok(Some((cube, _))) = found else {
        panic!("the arrays are equal at the start");
    };
    assert_eq!(cube, [terms.not(terms.eq(a, b))]);
    // The reads are of one cell and equal: it is not implied that the arrays differ.
    let same = [terms.eq(read(a), read(b))];
    assert!(matches!(search.disequality(P, &same, None), Ok(None)));
    assert!(matches!(search.run(), Ok(Outcome::Safe(_))));
}

/// Which of the numbered lemmas the proof from `bad` on needs.
#[test]
fn models_hold_what_the_proof_uses() {
    // Lemmas: 0 is x >= 0, 1 is y >= 0, 2 is y >= 2x (inductive by itself), 3 is x + y >= 0.
    type Bad = fn(&TermStore, TermId, TermId) -> TermId;
    let cases: [(Bad, &[usize]); 4] = [
        (|t, x, _| t.lt(x, t.int(0)), &[0]),
        (|t, _, y| t.lt(y, t.int(-3)), &[1]),
        (|t, x, y| t.lt(t.add(&[y, t.int(3)]), t.add(&[x, x])), &[2]),
        (
            |t, x, y| t.or(&[t.lt(y, t.int(0)), t.lt(x, t.int(0))]),
            &[0, 1],
        ),
    ];
    for (bad, expected) in cases {
        let system = stairs(bad);
        let mut cx = Context::new(system.terms.clone());
        let mut search = Search::new(&system, Options::default(), &mut cx);
        let t = system.terms.clone();
        // Without lemmas there is no proof.
        assert_eq!(search.needed_lemmas(INFINITE), None);
        let [x, y] = [0, 1].map(|n| system.predicates[0].params[n]);
        let zero = t.int(0);
        let lemmas = [
            t.lt(x, zero),
            t.lt(y, zero),
            t.lt(y, t.add(&[x, x])),
            t.lt(t.add(&[x, y]), t.int(-100)),
        ]
        .map(|bad| search.learn(P, &[bad], INFINITE));
        let used = search.needed_lemmas(INFINITE).expect("a proof");
        let expected = expected
            .iter()
            .map(|&lemma| (PredicateId(0), lemmas[lemma]));
        assert_eq!(used, expected.collect());
        let model = search.model(INFINITE);
        let predicate = system.used_predicates()[0];
        let mut solver = search.smt.solver();
        solver.assert(t.and(&[model.definitions[&predicate], bad(&t, x, y)]));
        assert_eq!(solver.check(&[]), alphorn_smt::SatResult::Unsat);
    }
}

/// A lemma of another process is used once it is proven, and is in the model; a wrong lemma is not.
#[test]
fn lemmas_of_others_are_proven_and_learned() {
    // The lemmas of single levels differ, so there is no fixpoint without the received lemma.
    let system =
        stairs(|terms, x, y| terms.and(&[terms.le(y, terms.int(6)), terms.le(terms.int(100), x)]));
    let terms = &system.terms;
    let params = &system.predicates[0].params;
    let (x, y) = (params[0], params[1]);
    let double = terms.eq(y, terms.add(&[x, x]));
    let wrong = terms.le(x, terms.int(50));
    let options = Options {
        max_level: Some(1),
        guidance: false,
        ..Options::default()
    };
    let solve = |lemmas: &[(PredicateId, TermId)]| {
        let (mut cx, mailbox) = context_with_bus(&system, lemmas, &[]);
        let mut engine = Pdr {
            options: options.clone(),
            ..Pdr::default()
        };
        let verdict = engine.solve(&system, &mut cx).expect("no defect");
        let counts =
            ["pdr.received", "pdr.received-lemmas-learned"].map(|name| cx.stats.count(name));
        (verdict, counts, mailbox.told.take())
    };
    let (verdict, counts, sent) = solve(&[]);
    assert!(matches!(verdict, Verdict::Unknown(_)), "{verdict:?}");
    assert_eq!(counts, [0, 0]);
    assert!(sent.is_empty(), "nothing was known when the run began");
    let p = PredicateId(0);
    let (verdict, counts, _) = solve(&[(p, wrong), (p, double)]);
    let Verdict::Sat(model) = verdict else {
        panic!("{verdict:?}");
    };
    assert!(is_model(&system, &model));
    // The wrong lemma holds of the entry's fact, and is not pushed.
    assert_eq!(counts, [2, 2]);
}

/// Facts of another process are derived again, each from earlier ones; others are not used.
#[test]
fn facts_of_others_are_derived_again() {
    let system = stairs(|terms, x, _| terms.eq(x, terms.int(5)));
    let terms = &system.terms;
    let params = &system.predicates[0].params;
    let (x, y) = (params[0], params[1]);
    let at = |a: i64, b: i64| {
        let place = [terms.eq(x, terms.int(a)), terms.eq(y, terms.int(b))];
        (PredicateId(0), terms.and(&place))
    };
    let facts: Vec<(PredicateId, TermId)> = (0..=5).map(|height| at(height, 2 * height)).collect();
    let solve = |facts: &[(PredicateId, TermId)]| {
        let (mut cx, _) = context_with_bus(&system, &[], facts);
        let verdict = Pdr::default().solve(&system, &mut cx).expect("no defect");
        let Verdict::Unsat(refutation) = verdict else {
            panic!("{verdict:?}");
        };
        assert_eq!(check_refutation(&system, &refutation), Ok(()));
        ["pdr.received-facts-derived", "pdr.obligations"].map(|name| cx.stats.count(name))
    };
    // Only the query is left.
    assert_eq!(solve(&facts), [6, 1]);
    // Without the first fact, and with a wrong one, nothing can be derived.
    for facts in [&facts[1..], &[at(5, 7)]] {
        let [derived, obligations] = solve(facts);
        assert!(derived == 0 && obligations > 1, "{derived} {obligations}");
    }
}

/// A search that begins with the frames of an earlier one has all their lemmas, and needs fewer
/// queries.
#[test]
fn a_search_goes_on_from_earlier_frames() {
    let system =
        stairs(|terms, x, y| terms.and(&[terms.le(y, terms.int(6)), terms.le(terms.int(100), x)]));
    let solve = |earlier: Vec<Leveled>| {
        let mut cx = Context::new(system.terms.clone());
        let mut engine = Pdr {
            options: Options {
                max_level: Some(1),
                guidance: false,
                ..Options::default()
            },
            ..Pdr::default()
        };
        engine.resume(earlier);
        let verdict = engine.solve(&system, &mut cx).expect("no defect");
        assert!(matches!(verdict, Verdict::Unknown(_)), "{verdict:?}");
        let counts = ["pdr.lemmas-resumed", "pdr.obligations", "pdr.lemmas"];
        (
            engine.lemmas().frames,
            counts.map(|name| cx.stats.count(name)),
        )
    };
    let (frames, [resumed, obligations, lemmas]) = solve(Vec::new());
    assert!(
        resumed == 0 && frames.len() > 1 && obligations > 2,
        "{frames:?}"
    );
    let (_, [resumed, again, more]) = solve(frames.clone());
    assert_eq!(resumed, frames.len() as u64);
    assert!(again < obligations && more < lemmas, "{again} {more}");
}

/// Claims get the levels at which they hold, or are dropped.
#[test]
fn claims_about_frames_are_proven() {
    let system = stairs(|terms, x, _| terms.eq(x, terms.int(40)));
    let terms = &system.terms;
    let params = &system.predicates[0].params;
    let (x, y) = (params[0], params[1]);
    let claim = |formula, level| Leveled {
        predicate: PredicateId(0),
        formula,
        level,
    };
    let resumed = |claims: &[Leveled]| {
        let mut cx = Context::new(system.terms.clone());
        let mut search = Search::new(&system, Options::default(), &mut cx);
        search.resume(claims).expect("no limit");
        let frame = &search.frames[P];
        let lemmas = frame.at(0).map(|l| {
            let lemma = &frame.lemmas[l];
            // The fact of this height.
            for height in 0..=lemma.level.min(60) {
                let place = [(x, height), (y, 2 * height)].map(|(v, n)| (v, terms.int(n)));
                let fact: Assignment = place.into_iter().collect();
                let value = Evaluator::new(terms, &fact).value(lemma.clause);
                assert_eq!(value, Some(TermId::TRUE), "{} at {height}", lemma.level);
            }
            (lemma.clause, lemma.level)
        });
        let lemmas: FxHashMap<TermId, Level> = lemmas.collect();
        drop(search);
        // There is a refutation whatever is claimed.
        let mut engine = Pdr::default();
        engine.resume(claims.to_vec());
        let verdict = engine.solve(&system, &mut cx).expect("no defect");
        let Verdict::Unsat(refutation) = verdict else {
            panic!("{verdict:?}");
        };
        assert_eq!(check_refutation(&system, &refutation), Ok(()));
        lemmas
    };
    let at_most = |n: u32| terms.le(x, terms.int(n));
    let double = terms.eq(y, terms.add(&[x, x]));
    let wrong = terms.le(terms.int(1), y);
    // Each but the first two is claimed one level too high.
    let mut claims = vec![claim(double, INFINITE), claim(at_most(0), 0)];
    claims.extend([claim(at_most(1), 2), claim(at_most(2), 3), claim(wrong, 7)]);
    let lemmas = resumed(&claims);
    let expected = [
        (double, INFINITE),
        (at_most(0), 0),
        (at_most(1), 1),
        (at_most(2), 2),
    ];
    assert_eq!(lemmas, expected.into_iter().collect());
    // Claims that do not settle in time are kept for the entries.
    let claims: Vec<Leveled> = (0..20).map(|n| claim(at_most(n), n + 1)).collect();
    let lemmas = resumed(&claims);
    assert_eq!(lemmas, (0..20).map(|n| (at_most(n), 0)).collect());
    // A wrong claim holds at no level, or up to some level.
    let claims = [claim(wrong, INFINITE), claim(at_most(5), INFINITE)];
    assert_eq!(resumed(&claims), [(at_most(5), 0)].into_iter().collect());
}

/// An interrupted search does not leave unproven claims as its lemmas.
#[test]
fn claims_that_were_not_proven_are_not_left() {
    let system = stairs(|terms, x, _| terms.eq(x, terms.int(40)));
    let left = |interrupted: bool| {
        let terms = &system.terms;
        let flag = Arc::new(AtomicBool::new(interrupted));
        let mut cx = Context::with_budget(terms.clone(), Budget::new(terms.clone(), flag, false));
        let mut engine = Pdr {
            options: Options {
                max_level: Some(1),
                ..Options::default()
            },
            ..Pdr::default()
        };
        engine.resume(vec![Leveled {
            predicate: PredicateId(0),
            formula: terms.le(system.predicates[0].params[0], terms.int(5)),
            level: 5,
        }]);
        let verdict = engine.solve(&system, &mut cx);
        assert!(matches!(verdict, Ok(Verdict::Unknown(_))), "{verdict:?}");
        engine.lemmas().frames.len()
    };
    assert_eq!(left(true), 0);
    assert!(left(false) > 0);
}
