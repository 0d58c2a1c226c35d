//! Random systems compared with their least models, and planted counters.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashSet;

use super::{Ic3, Options};
use alphorn::{Config, normal_form, solve};
use alphorn_chc::frontend::parse;
use alphorn_chc::{Atom, Clause, PredicateId, System};
use alphorn_engine::{Engine, EngineError};
use alphorn_proof::facts::Leveled;
use alphorn_term::run::{Budget, Context};
use alphorn_term::{Assignment, BigUint, Op, Random, TermId, TermStore, evaluate};
use alphorn_witness::{Model, Verdict, Wanted};

/// A random bit-vector term over terms of a width.
fn word(t: &TermStore, random: &mut Random, vars: &[TermId]) -> TermId {
    let width = t.width(vars[0]);
    let leaf = |random: &mut Random| match random.one_in(3) {
        true => t.bitvec(BigUint::from(random.below(1_u64 << width)), width),
        false => *random.pick(vars),
    };
    let (a, b) = (leaf(random), leaf(random));
    let ops = [
        Op::BvAdd,
        Op::BvAnd,
        Op::BvXor,
        Op::BvMul,
        Op::BvUrem,
        Op::BvLshr,
    ];
    match random.below(ops.len() + 3) {
        at if at < ops.len() => t.bv_op(&ops[at], &[a, b]),
        _ => a,
    }
}

fn atom(t: &TermStore, random: &mut Random, vars: &[TermId]) -> TermId {
    let (a, b) = (word(t, random, vars), word(t, random, vars));
    let atom = match random.below(3) {
        0 => t.eq(a, b),
        1 => t.bv_op(&Op::BvUle, &[a, b]),
        _ => t.bv_op(&Op::BvSle, &[a, b]),
    };
    match random.one_in(2) {
        true => t.not(atom),
        false => atom,
    }
}

/// A constraint that defines the bit-vectors in `to`, or some of them, or restricts them.
fn constraint(t: &TermStore, random: &mut Random, from: &[TermId], to: &[TermId]) -> TermId {
    let mut parts = Vec::new();
    if random.one_in(2) {
        parts.push(atom(t, random, from));
    }
    for &var in to {
        if !random.one_in(8) {
            parts.push(t.eq(var, word(t, random, from)));
        }
    }
    if random.one_in(4) {
        let all = [from, to].concat();
        parts.push(atom(t, random, &all));
    }
    t.and(&parts)
}

/// Two predicates over two bit-vectors, three clauses between them, a fact and a query. All clauses
/// have a local bit-vector.
fn random_system(random: &mut Random, width: u32) -> System {
    let t = Rc::new(TermStore::new());
    let sort = t.bitvec_sort(width);
    let mut system = System::new(t.clone());
    let predicates = ["P", "Q"].map(|name| system.add_predicate(name, &[sort, sort]));
    for number in 0..6 {
        let fresh = |name: &str| t.fresh_var(name, sort);
        let pair = || [fresh("x"), fresh("y")];
        let applied = |predicate: PredicateId, args: [TermId; 2]| Atom {
            predicate,
            args: args.to_vec(),
        };
        let from = *random.pick(&predicates);
        let to = *random.pick(&predicates);
        let (before, after, local) = (pair(), pair(), fresh("z"));
        let own = [before[0], before[1], local];
        let (body, head) = match number {
            0 => (None, Some(applied(predicates[0], after))),
            1 => (Some(applied(from, before)), None),
            _ => (Some(applied(from, before)), Some(applied(to, after))),
        };
        let mut known: Vec<TermId> = own.to_vec();
        if body.is_none() {
            known = vec![local];
        }
        let defined: &[TermId] = if head.is_some() { &after } else { &[] };
        let mut branch = |t: &TermStore| {
            let formula = constraint(t, random, &known, defined);
            match head.is_some() {
                true => formula,
                // A query that rarely applies, so that some systems are safe.
                false => t.and(&[formula, t.eq(known[0], known[1]), atom(t, random, &known)]),
            }
        };
        let constraint = match number % 3 {
            0 => branch(&t),
            1 => t.or(&[branch(&t), branch(&t)]),
            _ => {
                let (then, otherwise) = (branch(&t), branch(&t));
                t.ite(t.eq(local, known[0]), then, otherwise)
            }
        };
        system.add_clause(body.into_iter().collect(), constraint, head);
    }
    system
}

/// Calls `each` with all values of the clause's variables.
fn all_values(system: &System, clause: &Clause, mut each: impl FnMut(&Assignment)) {
    let t = &system.terms;
    let vars = clause.vars(t);
    let width = vars.first().map_or(1, |&v| t.width(v));
    for number in 0_u64..1 << (vars.len() as u32 * width) {
        let value = |at: usize| number >> (at as u32 * width) & ((1 << width) - 1);
        let values = vars.iter().enumerate();
        let values = values.map(|(at, &v)| (v, t.bitvec(BigUint::from(value(at)), width)));
        each(&values.collect());
    }
}

type Fact = (PredicateId, Vec<TermId>);

fn fact(atom: &Atom, values: &Assignment) -> Fact {
    (
        atom.predicate,
        atom.args.iter().map(|v| values[v]).collect(),
    )
}

/// Whether a query applies to the least model.
fn is_unsafe(system: &System) -> bool {
    let t = &system.terms;
    // The instances whose constraint holds, without repetitions.
    let mut instances: Vec<(Option<Fact>, Option<Fact>)> = Vec::new();
    for clause in &system.clauses {
        all_values(system, clause, |values| {
            if evaluate(t, clause.constraint, values) == Some(TermId::TRUE) {
                let body = clause.body.first().map(|a| fact(a, values));
                let head = clause.head.as_ref().map(|a| fact(a, values));
                instances.push((body, head));
            }
        });
    }
    let mut facts: FxHashSet<Fact> = FxHashSet::default();
    loop {
        let before = facts.len();
        for (body, head) in &instances {
            if body.as_ref().is_none_or(|body| facts.contains(body)) {
                match head {
                    Some(head) => facts.insert(head.clone()),
                    None => return true,
                };
            }
        }
        if facts.len() == before {
            return false;
        }
    }
}

/// Whether all instances of the clauses hold in the model.
fn is_model(system: &System, model: &Model) -> bool {
    let t = &system.terms;
    let mut holds = true;
    let meaning = |atom: &Atom, values: &Assignment| {
        let formula = system.instantiate(model.definitions[&atom.predicate], atom);
        evaluate(t, formula, values) == Some(TermId::TRUE)
    };
    for clause in &system.clauses {
        all_values(system, clause, |values| {
            let applies = evaluate(t, clause.constraint, values) == Some(TermId::TRUE)
                && clause.body.iter().all(|a| meaning(a, values));
            holds &= !applies || clause.head.as_ref().is_some_and(|a| meaning(a, values));
        });
    }
    holds
}

/// A claim that some states are not reached, which may be wrong.
fn claim(system: &System, random: &mut Random) -> Leveled {
    let t = &system.terms;
    let predicate = *random.pick(&system.used_predicates());
    let params = &system.predicate(predicate).params;
    let excluded = params.iter().map(|&param| {
        let width = t.width(param);
        t.eq(
            param,
            t.bitvec(BigUint::from(random.below(1_u64 << width)), width),
        )
    });
    Leveled {
        predicate,
        formula: t.not(t.and(&excluded.collect::<Vec<TermId>>())),
        level: random.below(5) as u32,
    }
}

#[test]
fn answers_are_those_of_the_least_model() {
    let mut random = Random::new(3);
    let (mut safe, mut bad) = (0, 0);
    for round in 0..150 {
        let width = 1 + round % 2;
        let system = random_system(&mut random, width);
        let expected = is_unsafe(&system);
        for off in 0..3 {
            let options = Options {
                counterexamples: off != 1,
                dynamic: off != 2,
            };
            let mut cx = Context::new(system.terms.clone());
            let mut engine = Ic3 {
                options,
                ..Ic3::default()
            };
            // Whatever is claimed, the answer is the same.
            engine.resume((0..off).map(|_| claim(&system, &mut random)).collect());
            let verdict = engine.solve(&system, &mut cx).expect("words");
            match verdict {
                Verdict::Sat(model) => {
                    assert!(!expected && is_model(&system, &model), "{round}");
                    safe += 1;
                }
                // The refutation was checked.
                Verdict::Unsat(_) => {
                    assert!(expected, "{round}");
                    bad += 1;
                }
                Verdict::Proven(_) => panic!("{round}: a proof by another engine"),
                Verdict::Unknown(reason) => panic!("{round}: {reason}"),
            }
        }
    }
    assert!(safe > 90 && bad > 90, "{safe}, {bad}");
}

/// The engine's verdict about clauses, with a checked witness: the length of a refutation.
fn answer(text: &str) -> (&'static str, Option<usize>) {
    let terms = Rc::new(TermStore::new());
    let problem = parse(text, terms.clone()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut cx = Context::new(terms);
    cx.budget = cx.budget.work(Duration::from_secs(60));
    let config = Config {
        engine: "ic3".to_owned(),
        // Without `equations`, which solves sums without the engine.
        passes: Some("simplify,propagate,inline,control,values,slice,narrow".to_owned()),
        ..Config::default()
    };
    let answer = solve(&problem, &config, &mut cx).expect("the engine exists");
    assert_eq!(cx.stats.count("witness.failures"), 0, "{text}");
    assert!(cx.stats.count("ic3.queries") > 0, "{text}");
    let word = answer.output(&problem, Wanted::default()).word();
    match answer.verdict() {
        Verdict::Unsat(refutation) => (word, Some(refutation.steps.len())),
        _ => (word, None),
    }
}

/// A counter of 16 bits that increases by `STEP` up to the limit, and whose query is `BAD`.
const COUNTER: &str = "(set-logic HORN)
(declare-fun P ((_ BitVec 16) Bool) Bool)
(assert (P #x0000 false))
(assert (forall ((x (_ BitVec 16)) (b Bool))
    (=> (and (P x b) (bvult x #x0100)) (P (bvadd x STEP) (not b)))))
(assert (forall ((x (_ BitVec 16)) (b Bool)) (=> (and (P x b) BAD) false)))
(check-sat)";

#[test]
fn counters() {
    for (step, bad, expected) in [
        // The fact, the steps of the counter, the query.
        ("#x0001", "(= x #x0080)", ("unsat", Some(130))),
        ("#x0003", "(= x #x0102)", ("unsat", Some(88))),
        ("#x0001", "(and b (= x #x0080))", ("sat", None)),
        ("#x0002", "(= ((_ extract 0 0) x) #b1)", ("sat", None)),
        ("#x0003", "(bvugt x #x0102)", ("sat", None)),
    ] {
        let text = COUNTER.replace("STEP", step).replace("BAD", bad);
        assert_eq!(answer(&text), expected, "{step} {bad}");
    }
}

/// A search that was stopped leaves lemmas in the form in which another begins with them, and the other
/// has less to do.
#[test]
fn a_search_goes_on_from_the_lemmas_of_one_that_was_stopped() {
    let text = COUNTER.replace("STEP", "#x0003");
    let terms = Rc::new(TermStore::new());
    let text = text.replace("BAD", "(= x #x0101)");
    let problem = parse(&text, terms.clone()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let system = normal_form(&problem);
    let run = |earlier: Vec<Leveled>, work: Duration| {
        let mut cx = Context::with_budget(
            terms.clone(),
            Budget::new(terms.clone(), Arc::default(), true).work(work),
        );
        let mut engine = Ic3::default();
        engine.resume(earlier);
        let verdict = engine.solve(&system, &mut cx).expect("words");
        let counts = ["ic3.queries", "ic3.lemmas-resumed"];
        let counts = counts.map(|name| cx.stats.count(name));
        (verdict, engine.lemmas().frames, counts)
    };
    let (verdict, left, whole) = run(Vec::new(), Duration::from_secs(60));
    assert!(matches!(verdict, Verdict::Sat(_)) && left.is_empty());
    let (verdict, left, _) = run(Vec::new(), Duration::from_millis(1_600));
    assert!(
        matches!(verdict, Verdict::Unknown(_)) && left.len() > 5,
        "{left:?}"
    );
    let (verdict, _, counts) = run(left.clone(), Duration::from_secs(60));
    assert!(matches!(verdict, Verdict::Sat(_)));
    let ([queries, resumed], [from_the_start, _]) = (counts, whole);
    assert_eq!(resumed, left.len() as u64);
    assert!(queries < from_the_start / 4, "{queries} {from_the_start}");
}

#[test]
fn other_sorts_are_refused() {
    let text = COUNTER.replace("(_ BitVec 16) Bool", "(_ BitVec 16) Int");
    let text = text
        .replace("false))\n", "0))\n")
        .replace("(b Bool)", "(b Int)")
        .replace("(not b)", "(+ b 1)")
        .replace("STEP", "#x0001")
        .replace("BAD", "(= b 3)");
    let terms = Rc::new(TermStore::new());
    let problem = parse(&text, terms.clone()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let result = Ic3::default().solve(&normal_form(&problem), &mut Context::new(terms));
    assert!(matches!(result, Err(EngineError::Unsupported(_))));
}
