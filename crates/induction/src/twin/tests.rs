//! Translations against evaluation at small widths, and systems of known status.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::readings::{Reading, Readings};
use super::translate::{Semantics, translate};
use super::{Hint, TwinEngine, back, counterexample};
use alphorn::internal::registry;
use alphorn::{Config, solve};
use alphorn_chc::frontend::parse;
use alphorn_chc::{Atom, System};
use alphorn_engine::Engine;
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::{Budget, Context, Statistics};
use alphorn_term::{Assignment, BigUint, Op, Printer, Random, SortId, TermId, TermStore, evaluate};
use alphorn_transform::normalize;
use alphorn_witness::{Model, Verdict, Wanted};

/// A random term over these bit-vectors of one width.
fn bit_vector(t: &TermStore, random: &mut Random, vars: &[TermId], depth: u32) -> TermId {
    let width = t.width(vars[0]);
    let numeral = |random: &mut Random| {
        let value = random.below(1 << width);
        t.bitvec(BigUint::from(u64::try_from(value).unwrap_or(0)), width)
    };
    if depth == 0 || random.one_in(5) {
        return match random.one_in(3) {
            true => numeral(random),
            false => vars[random.below(vars.len() as i64) as usize],
        };
    }
    let a = bit_vector(t, random, vars, depth - 1);
    let b = bit_vector(t, random, vars, depth - 1);
    let positive = |random: &mut Random| {
        let value = random.between(1, (1 << (width - 1)).max(2) - 1).max(1);
        t.bitvec(BigUint::from(u64::try_from(value).unwrap_or(1)), width)
    };
    match random.below(17) {
        0..=2 => t.bv_op(&Op::BvAdd, &[a, b]),
        3 => t.bv_op(&Op::BvNeg, &[a]),
        4 => t.bv_op(&Op::BvNot, &[a]),
        5 | 6 => t.bv_op(&Op::BvMul, &[numeral(random), b]),
        7 => {
            let condition = formula(t, random, vars, 0);
            t.ite(condition, a, b)
        }
        8 if width > 1 => {
            // Some bits, extended again.
            let high = random.below(i64::from(width)) as u32;
            let low = random.below(i64::from(high) + 1) as u32;
            let part = t.bv_op(&Op::BvExtract(high, low), &[a]);
            let more = width - (high - low + 1);
            match random.one_in(2) {
                true => t.bv_op(&Op::BvSignExtend(more), &[part]),
                false => t.bv_op(&Op::BvZeroExtend(more), &[part]),
            }
        }
        9 if width > 1 => {
            let cut = 1 + random.below(i64::from(width) - 1) as u32;
            let high = t.bv_op(&Op::BvExtract(width - 1, cut), &[a]);
            let low = t.bv_op(&Op::BvExtract(cut - 1, 0), &[b]);
            t.bv_op(&Op::BvConcat, &[high, low])
        }
        10 => {
            let by = t.bitvec(BigUint::from(random.below(i64::from(width)) as u64), width);
            let op = [Op::BvShl, Op::BvLshr, Op::BvAshr][random.below(3) as usize].clone();
            t.bv_op(&op, &[a, by])
        }
        11 => {
            let mask = (1_u64 << random.below(i64::from(width) + 1)) - 1;
            t.bv_op(&Op::BvAnd, &[a, t.bitvec(BigUint::from(mask), width)])
        }
        12 => t.bv_op(&Op::BvUdiv, &[a, positive(random)]),
        13 => t.bv_op(&Op::BvUrem, &[a, positive(random)]),
        14 if width > 1 => t.bv_op(&Op::BvSdiv, &[a, positive(random)]),
        15 if width > 1 => t.bv_op(&Op::BvSrem, &[a, positive(random)]),
        16 if width > 1 => t.bv_op(&Op::BvSmod, &[a, positive(random)]),
        _ => a,
    }
}

fn formula(t: &TermStore, random: &mut Random, vars: &[TermId], depth: u32) -> TermId {
    let a = bit_vector(t, random, vars, depth);
    let b = bit_vector(t, random, vars, depth);
    let atom = match random.below(3) {
        0 => t.bv_op(&Op::BvSle, &[a, b]),
        1 => t.bv_op(&Op::BvUle, &[a, b]),
        _ => t.eq(a, b),
    };
    match random.one_in(2) {
        true => t.not(atom),
        false => atom,
    }
}

fn values(t: &TermStore, random: &mut Random, vars: &[TermId]) -> Assignment {
    let value = |&v: &TermId| {
        let width = t.width(v);
        let value = random.below(1 << width) as u64;
        (v, t.bitvec(BigUint::from(value), width))
    };
    vars.iter().map(value).collect()
}

/// The number for a value of a bit-vector in a reading.
fn number(t: &TermStore, value: TermId, reading: Reading) -> TermId {
    let numeral = t.as_bitvec(value).expect("a value").clone();
    t.int(reading.range(t.width(value)).wrapped(&numeral.into()))
}

/// The exact twin of a clause is equivalent to it over the values of bit-vectors, also without the
/// cases that it excludes.
#[test]
fn twins_say_the_same() {
    let mut random = Random::new(17);
    let (mut yes, mut no, mut free, mut shorter) = (0, 0, 0, 0);
    let mut unsigned = 0;
    for round in 0..400 {
        let t = Rc::new(TermStore::new());
        let width = 1 + round % 5;
        let sort = t.bitvec_sort(width);
        let mut original = System::new(t.clone());
        let vars: Vec<TermId> = ["a", "b", "c"].iter().map(|v| t.var(v, sort)).collect();
        let parts: Vec<TermId> = (0..2).map(|_| formula(&t, &mut random, &vars, 3)).collect();
        let constraint = match round % 3 {
            0 => t.and(&parts),
            _ => t.or(&parts),
        };
        original.add_clause(Vec::new(), constraint, None);
        let cx = Context::new(t.clone());
        let smt = Smt::within(&cx.budget);
        let exact = translate(&original, Semantics::Exact, &cx);
        let exact = exact.unwrap_or_else(|e| panic!("{e}"));
        let loose = translate(&original, Semantics::Free, &cx).expect("the same operators");
        let mut sharpened = translate(&original, Semantics::Free, &cx).expect("the same operators");
        sharpened.sharpen(0, &exact, &smt);
        assert!(sharpened.is_exact() && !loose.is_exact());
        let constraint_of = |twin: &super::Twin| twin.system.clauses[0].constraint;
        let is_unsigned = |v: &&TermId| exact.readings.of(**v) == Reading::Unsigned;
        unsigned += vars.iter().filter(is_unsigned).count();
        shorter += usize::from(constraint_of(&sharpened) != constraint_of(&exact));
        for _ in 0..6 {
            let point = values(&t, &mut random, &vars);
            let expected = evaluate(&t, constraint, &point) == Some(TermId::TRUE);
            let readings = &exact.readings;
            let of = |twin: &super::Twin| {
                let mut solver = smt.solver();
                solver.assert(constraint_of(twin));
                for (vector, &twin) in &twin.variables[0] {
                    let number = number(&t, point[vector], readings.of(*vector));
                    solver.assert(t.eq(twin, number));
                }
                solver.check(&[]) == SatResult::Sat
            };
            let shown = Printer::new(&t).term(constraint);
            assert_eq!(of(&exact), expected, "{shown}");
            assert_eq!(of(&sharpened), expected, "{shown}");
            yes += usize::from(expected);
            no += usize::from(!expected);
            free += usize::from(of(&loose) != expected);
        }
    }
    assert!(
        yes > 300 && no > 300 && free > 30 && shorter > 30,
        "{yes} {no} {free} {shorter}"
    );
    assert!(unsigned > 200 && unsigned < 1_000, "{unsigned}");
}

/// A random integer over these ones.
fn integer(t: &TermStore, random: &mut Random, vars: &[TermId], depth: u32) -> TermId {
    if depth == 0 || random.one_in(4) {
        return match random.one_in(3) {
            true => t.int(random.between(-20, 20)),
            false => vars[random.below(vars.len() as i64) as usize],
        };
    }
    let a = integer(t, random, vars, depth - 1);
    let b = integer(t, random, vars, depth - 1);
    match random.below(6) {
        0 | 1 => t.add(&[a, b]),
        2 => t.mul(&[t.int(random.between(-5, 5)), a]),
        3 => t.idiv(a, t.int(random.between(1, 6))),
        4 => t.modulo(a, t.int(random.between(1, 6))),
        _ => t.ite(t.le(a, b), b, a),
    }
}

/// A model and its back-translation agree on the values of bit-vectors.
#[test]
fn models_come_back() {
    let mut random = Random::new(23);
    let (mut yes, mut no, mut unsigned) = (0, 0, 0);
    for round in 0..400 {
        let t = Rc::new(TermStore::new());
        let sort = t.bitvec_sort(1 + round % 6);
        let mut original = System::new(t.clone());
        let predicate = original.add_predicate("P", &[sort, SortId::BOOL, sort]);
        // The reading of the first argument is that of the order.
        let own = original.predicate(predicate).params.clone();
        let order = [Op::BvSle, Op::BvUle][random.below(2) as usize].clone();
        let zero = t.bitvec(BigUint::ZERO, t.width(own[0]));
        original.add_clause(Vec::new(), t.bv_op(&order, &[own[0], zero]), None);
        let cx = Context::new(t.clone());
        let twin = translate(&original, Semantics::Free, &cx).expect("one order");
        let params = twin.system.predicate(predicate).params.clone();
        let numbers = [params[0], params[2]];
        let mut part = || {
            let a = integer(&t, &mut random, &numbers, 3);
            let b = integer(&t, &mut random, &numbers, 3);
            match random.below(3) {
                0 => t.le(a, b),
                1 => t.ge(a, b),
                _ => t.eq(a, b),
            }
        };
        let definition = t.or(&[t.and(&[part(), params[1]]), t.not(part())]);
        let found = Model {
            definitions: FxHashMap::from_iter([(predicate, definition)]),
            ..Model::default()
        };
        let made = back::model(&twin, &found).expect("it can be expressed");
        let made = made.definitions[&predicate];
        let readings = own.iter().map(|&own| twin.readings.of(own));
        let readings: Vec<Reading> = readings.collect();
        unsigned += usize::from(readings[0] == Reading::Unsigned);
        for _ in 0..8 {
            let mut point = values(&t, &mut random, &[own[0], own[2]]);
            let flag = t.bool(random.one_in(2));
            let integers = Assignment::from_iter([
                (params[0], number(&t, point[&own[0]], readings[0])),
                (params[1], flag),
                (params[2], number(&t, point[&own[2]], readings[2])),
            ]);
            point.insert(own[1], flag);
            let expected = evaluate(&t, definition, &integers);
            assert_eq!(
                evaluate(&t, made, &point),
                expected,
                "{} for {}",
                Printer::new(&t).term(made),
                Printer::new(&t).term(definition)
            );
            yes += usize::from(expected == Some(TermId::TRUE));
            no += usize::from(expected == Some(TermId::FALSE));
        }
    }
    assert!(yes > 300 && no > 300, "{yes} {no}");
    assert!(unsigned > 150 && unsigned < 250, "{unsigned}");
}

/// Operations that are hard for solvers are avoided: a quotient that is compared with a numeral,
/// and division by a power of two.
#[test]
fn models_divide_only_where_they_must() {
    let t = Rc::new(TermStore::new());
    let sort = t.bitvec_sort(4);
    let mut original = System::new(t.clone());
    let predicate = original.add_predicate("P", &[sort, sort]);
    let cx = Context::new(t.clone());
    let twin = translate(&original, Semantics::Free, &cx).expect("no clause");
    let numbers = twin.system.predicate(predicate).params.clone();
    let own = original.predicate(predicate).params.clone();
    let divides = |formula: TermId| {
        let mut found = false;
        t.post_order(&[formula], |s| {
            found |= matches!(t.op(s), Op::BvSdiv | Op::BvSmod | Op::BvUdiv | Op::BvUrem);
        });
        found
    };
    let check = |definition: TermId, may_divide: bool| {
        let found = Model {
            definitions: FxHashMap::from_iter([(predicate, definition)]),
            ..Model::default()
        };
        let made = back::model(&twin, &found).expect("it can be expressed");
        let made = made.definitions[&predicate];
        assert_eq!(divides(made), may_divide, "{}", Printer::new(&t).term(made));
        for values in 0..256u32 {
            let value = |at: u32| t.bitvec(BigUint::from(values >> (4 * at)), 4);
            let point = [(own[0], value(0)), (own[1], value(1))];
            let integers = [0, 1].map(|at| (numbers[at], number(&t, point[at].1, Reading::Signed)));
            assert_eq!(
                evaluate(&t, made, &point.into_iter().collect()),
                evaluate(&t, definition, &integers.into_iter().collect()),
                "{}",
                Printer::new(&t).term(made)
            );
        }
    };
    let sum = t.add(&[numbers[0], numbers[1]]);
    for by in [2, 3, 4, 5] {
        let (quotient, rest) = (t.idiv(sum, t.int(by)), t.modulo(sum, t.int(by)));
        for bound in -3..=3 {
            check(t.le(t.int(bound), quotient), false);
            check(t.le(quotient, t.int(bound)), false);
        }
        let is_power = by == 2 || by == 4;
        check(t.le(quotient, numbers[1]), !is_power);
        check(t.le(rest, numbers[1]), !is_power);
    }
}

/// A clause holds in a model of integers, with wrapping, iff it holds in that of bit-vectors; exact
/// clauses are not checked.
#[test]
fn hints_fail_where_words_do() {
    let mut random = Random::new(29);
    let (mut holding, mut failing) = (0, 0);
    for round in 0..200 {
        let t = Rc::new(TermStore::new());
        let sort = t.bitvec_sort(2 + round % 4);
        let mut original = System::new(t.clone());
        let predicate = original.add_predicate("P", &[sort, sort]);
        let vars: Vec<TermId> = ["a", "b", "c", "d"]
            .iter()
            .map(|v| t.var(v, sort))
            .collect();
        let atom = |args: &[TermId]| Atom {
            predicate,
            args: args.to_vec(),
        };
        let step = [
            t.eq(vars[2], bit_vector(&t, &mut random, &vars[..2], 2)),
            t.eq(vars[3], bit_vector(&t, &mut random, &vars[..2], 1)),
            formula(&t, &mut random, &vars[..2], 1),
        ];
        original.add_clause(vec![atom(&vars[..2])], t.and(&step), Some(atom(&vars[2..])));
        let query = formula(&t, &mut random, &vars[..2], 1);
        original.add_clause(vec![atom(&vars[..2])], query, None);
        let mut cx = Context::new(t.clone());
        let twin = translate(&original, Semantics::Free, &cx).expect("such operators");
        let exact = translate(&original, Semantics::Exact, &cx).expect("the same");
        let numbers = twin.system.predicate(predicate).params.clone();
        let bound = |random: &mut Random| {
            let number = numbers[random.below(2) as usize];
            t.le(number, t.int(random.between(-3, 3)))
        };
        let definition = t.or(&[bound(&mut random), t.not(bound(&mut random))]);
        let found = Model {
            definitions: FxHashMap::from_iter([(predicate, definition)]),
            ..Model::default()
        };
        let model = back::model(&twin, &found).expect("it can be expressed");
        let hint = Hint {
            bit_vectors: (&original, &model),
            integers: (&twin.system, &found),
            exact: &exact.system,
        };
        let smt = Smt::within(&cx.budget);
        let own = (&original, &model);
        let fails =
            |at: &usize| counterexample(&original.clauses[*at], own, &smt) == SatResult::Sat;
        let expected: Vec<usize> = (0..2).filter(fails).collect();
        let answer = hint.failing(&[false; 2], &mut cx);
        assert_eq!(answer.ok(), Some(expected.clone()), "{round}");
        let second = expected.iter().copied().filter(|&at| at == 1).collect();
        assert_eq!(hint.failing(&[true, false], &mut cx).ok(), Some(second));
        failing += expected.len();
        holding += 2 - expected.len();
    }
    assert!(holding > 40 && failing > 40, "{holding} {failing}");
}

/// The engine's verdict, and the number of rounds.
fn answer(text: &str) -> (&'static str, u64) {
    let (verdict, stats) = answer_and_stats(text);
    (verdict, stats.count("twin.rounds"))
}

fn answer_and_stats(text: &str) -> (&'static str, Statistics) {
    let terms = Rc::new(TermStore::new());
    let text = format!("(set-logic HORN)\n{text}\n(check-sat)\n");
    let problem = parse(&text, terms.clone()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let budget = Budget::new(terms.clone(), Arc::default(), true);
    let mut cx = Context::with_budget(terms, budget.work(Duration::from_secs(60)));
    let config = Config {
        engine: "twin".to_owned(),
        ..Config::default()
    };
    let answer = solve(&problem, &config, &mut cx).expect("the engine exists");
    assert_eq!(cx.stats.count("witness.failures"), 0, "{text}");
    let verdict = answer.output(&problem, Wanted::default()).word();
    (verdict, cx.stats)
}

const LOOP: &str = "(declare-fun P ((_ BitVec 16) (_ BitVec 16)) Bool)
(assert (P #x0000 #x0000))
(assert (forall ((x (_ BitVec 16)) (y (_ BitVec 16)))
  (=> (and (P x y) GUARD) (P (bvadd x #x0001) (bvadd y #x0003)))))
(assert (forall ((x (_ BitVec 16)) (y (_ BitVec 16))) (=> (and (P x y) GOAL) false)))";

fn of_loop(guard: &str, goal: &str) -> (&'static str, u64) {
    answer(&LOOP.replace("GUARD", guard).replace("GOAL", goal))
}

#[test]
fn what_does_not_wrap_is_solved_at_once() {
    let guard = "(bvslt x #x0100)";
    assert_eq!(of_loop(guard, "(bvslt y x)").0, "sat");
    assert_eq!(of_loop(guard, "(bvslt x #x0000)"), ("sat", 1));
    assert_eq!(of_loop(guard, "(= y #x002d)"), ("unsat", 1));
}

/// Without a guard the sums wrap: `y = 3x` holds modulo the size of bit-vectors, `x <= y` does not.
#[test]
fn what_wraps_becomes_exact() {
    let triple = "(not (= y (bvmul #x0003 x)))";
    assert_eq!(of_loop("true", triple).0, "sat");
    let text = LOOP.replace("GUARD", "true");
    let (verdict, stats) =
        answer_and_stats(&text.replace("GOAL", "(and (= x #x7fff) (not (= y #x7ffd)))"));
    assert_eq!(verdict, "sat");
    assert!(stats.count("twin.exact") > 0);
    let text = LOOP.replace("16", "4").replace("#x000", "#x");
    let text = text.replace("GUARD", "true").replace("GOAL", "(bvslt y x)");
    let (verdict, stats) = answer_and_stats(&text);
    assert_eq!(verdict, "unsat");
    assert!(stats.count("twin.exact") > 0);
}

/// Numbers without ranges have derivations that bit-vectors do not have; these refute nothing.
#[test]
fn numbers_that_are_no_words_refute_nothing() {
    let text = LOOP.replace("16", "4").replace("#x000", "#x");
    let text = text.replace("GUARD", "true");
    let far = "(= ((_ zero_extend 4) x) #x1f)";
    assert_eq!(answer(&text.replace("GOAL", far)).0, "sat");
    let near = "(= ((_ zero_extend 4) x) #x0f)";
    assert_eq!(answer(&text.replace("GOAL", near)).0, "unsat");
}

/// The values `x` from `m` to `n` are counted in `y`, from `m` on.
const COUNTED: &str =
    "(declare-fun P ((_ BitVec 32) (_ BitVec 32) (_ BitVec 32) (_ BitVec 32)) Bool)
(assert (forall ((n (_ BitVec 32)) (m (_ BitVec 32)))
  (=> (and (bvsle #x00000000 n) (bvsle #x00000000 m) (bvsle #x00000001 (bvsub n m)))
      (P n m #x00000000 m))))
(assert (forall ((n (_ BitVec 32)) (m (_ BitVec 32)) (x (_ BitVec 32)) (y (_ BitVec 32))
                 (z (_ BitVec 32)))
  (=> (and (P n m x y) (bvsle #x00000001 (bvsub n x))
           (= z (ite (bvsle STEP (bvsub x m)) (bvadd y #x00000001) y)))
      (P n m (bvadd x #x00000001) z))))
(assert (forall ((n (_ BitVec 32)) (m (_ BitVec 32)) (x (_ BitVec 32)) (y (_ BitVec 32)))
  (=> (and (P n m x y) (bvsle (bvsub n x) #x00000000) (not (= n y))) false)))";

/// A sum of a clause could wrap by the model without ranges, but never does.
#[test]
fn what_could_wrap_and_does_not() {
    let (verdict, stats) = answer_and_stats(&COUNTED.replace("STEP", "#x00000000"));
    assert_eq!(verdict, "sat");
    assert!(stats.count("twin.exact") > 0);
    assert_eq!(answer(&COUNTED.replace("STEP", "#x00000001")).0, "unsat");
}

/// Unsigned orders, extraction, and division.
#[test]
fn operators_of_words_are_those_of_integers() {
    let text = "(declare-fun P ((_ BitVec 8) (_ BitVec 8)) Bool)
(assert (P #xf0 #x00))
(assert (forall ((x (_ BitVec 8)) (n (_ BitVec 8)))
  (=> (and (P x n) (bvult #x10 x)) (P (bvudiv x #x02) (bvadd n #x01)))))
(assert (forall ((x (_ BitVec 8)) (n (_ BitVec 8)))
  (=> (and (P x n) (or (bvult LIMIT n) (= ((_ extract 7 7) n) #b1))) false)))";
    assert_eq!(answer(&text.replace("LIMIT", "#x04")).0, "sat");
    assert_eq!(answer(&text.replace("LIMIT", "#x03")).0, "unsat");
}

#[test]
fn products_of_words_are_refused() {
    let text = "(declare-fun P ((_ BitVec 8)) Bool)
(assert (P #x02))
(assert (forall ((x (_ BitVec 8)) (y (_ BitVec 8))) (=> (and (P x) (P y)) (P (bvmul x y)))))
(assert (forall ((x (_ BitVec 8))) (=> (and (P x) (= x #x03)) false)))";
    assert_eq!(answer(text).0, "unknown");
}

/// A counter of 16 bits, which is unsigned.
const UNSIGNED: &str = "(declare-fun P ((_ BitVec 16)) Bool)
(assert (P FIRST))
(assert (forall ((x (_ BitVec 16))) (=> (and (P x) GUARD) (P (bvadd x STEP)))))
(assert (forall ((x (_ BitVec 16))) (=> (and (P x) BAD) false)))";

/// The verdict, and whether it was found without an exact clause.
fn of_counter(first: &str, guard: &str, step: &str, bad: &str) -> (&'static str, bool) {
    let text = UNSIGNED.replace("FIRST", first).replace("GUARD", guard);
    let text = text.replace("STEP", step).replace("BAD", bad);
    let (verdict, stats) = answer_and_stats(&text);
    (verdict, stats.count("twin.exact") == 0)
}

/// At both ends of the range unsigned values wrap, in its middle they do not.
#[test]
fn unsigned_values_wrap_at_their_ends() {
    let (up, down) = ("#x0001", "#xffff");
    for (first, guard, step, bad, expected) in [
        (
            "#x7ff0",
            "(bvult x #x8010)",
            up,
            "(bvult #x8010 x)",
            ("sat", true),
        ),
        (
            "#x7ff0",
            "(bvult x #x8010)",
            up,
            "(= x #x8010)",
            ("unsat", true),
        ),
        (
            "#x7ff0",
            "(bvult x #x8010)",
            up,
            "(= x #x8011)",
            ("sat", true),
        ),
        (
            "#x8010",
            "(bvult #x7ff0 x)",
            down,
            "(bvult x #x7ff0)",
            ("sat", true),
        ),
        (
            "#x8010",
            "(bvult #x0000 x)",
            down,
            "(bvult #x8010 x)",
            ("sat", true),
        ),
        ("#x0010", "true", down, "(bvult #x0010 x)", ("unsat", false)),
        (
            "#x0010",
            "(bvult x #x0020)",
            "#xfffe",
            "(= x #xfffe)",
            ("unsat", false),
        ),
        (
            "#xfff0",
            "(bvult x #xffff)",
            up,
            "(bvult x #xfff0)",
            ("sat", true),
        ),
        (
            "#xfff0",
            "(bvule x #xffff)",
            up,
            "(bvult x #xfff0)",
            ("unsat", false),
        ),
        // As many orders of both kinds: signed.
        (
            "#x0000",
            "(bvult x #x8000)",
            up,
            "(bvslt x #x0000)",
            ("unsat", false),
        ),
        (
            "#x0000",
            "(bvult x #x7fff)",
            up,
            "(bvslt x #x0000)",
            ("sat", true),
        ),
        (
            "#x0003",
            "(bvult #x0000 x)",
            down,
            "(bvslt x #x0000)",
            ("sat", true),
        ),
    ] {
        let what = format!("{first} {guard} {step} {bad}");
        assert_eq!(of_counter(first, guard, step, bad), expected, "{what}");
    }
}

/// The reading follows the operators, over the places of a predicate.
#[test]
fn arguments_are_read_as_operators_want() {
    let t = Rc::new(TermStore::new());
    let sort = t.bitvec_sort(8);
    let mut system = System::new(t.clone());
    let predicate = system.add_predicate("P", &[sort; 5]);
    let vars: Vec<TermId> = (0..5).map(|at| t.var(&format!("x{at}"), sort)).collect();
    let (seven, wide) = (t.bitvec(BigUint::from(7_u8), 8), t.bitvec_sort(16));
    let w = t.var("w", wide);
    let atom = Atom {
        predicate,
        args: vars.clone(),
    };
    let constraint = t.and(&[
        t.bv_op(&Op::BvUle, &[vars[0], seven]),
        t.eq(vars[1], t.bv_op(&Op::BvAdd, &[vars[0], seven])),
        t.bv_op(&Op::BvSle, &[seven, vars[2]]),
        t.eq(vars[3], seven),
        t.eq(w, t.bv_op(&Op::BvZeroExtend(8), &[vars[4]])),
        t.bv_op(&Op::BvSle, &[w, t.bitvec(BigUint::from(7_u8), 16)]),
    ]);
    system.add_clause(vec![atom], constraint, None);
    let readings = Readings::of_system(&system);
    let params = &system.predicate(predicate).params;
    let (s, u) = (Reading::Signed, Reading::Unsigned);
    for (at, expected) in [u, u, s, s, u].into_iter().enumerate() {
        assert_eq!(readings.of(vars[at]), expected, "{at}");
        assert_eq!(readings.of(params[at]), expected, "{at}");
    }
    assert_eq!((readings.of(w), readings.of(seven)), (s, s));
}

/// A loop over two bit-vectors, with orders of both kinds.
fn random_loop(random: &mut Random, width: u32) -> System {
    let t = Rc::new(TermStore::new());
    let sort = t.bitvec_sort(width);
    let mut system = System::new(t.clone());
    let predicate = system.add_predicate("P", &[sort, sort]);
    let atom = |args: &[TermId]| Atom {
        predicate,
        args: args.to_vec(),
    };
    let fresh = |name: &str| t.fresh_var(name, sort);
    let value = |random: &mut Random| {
        let value = random.below(1 << width) as u64;
        t.bitvec(BigUint::from(value), width)
    };
    let first = [fresh("a"), fresh("b")];
    let start = first.map(|v| t.eq(v, value(random)));
    system.add_clause(Vec::new(), t.and(&start), Some(atom(&first)));
    let (from, to) = ([fresh("a"), fresh("b")], [fresh("c"), fresh("d")]);
    let step = [
        t.eq(to[0], bit_vector(&t, random, &from, 2)),
        t.eq(to[1], bit_vector(&t, random, &from, 1)),
        formula(&t, random, &from, 1),
    ];
    system.add_clause(vec![atom(&from)], t.and(&step), Some(atom(&to)));
    let bad = [fresh("a"), fresh("b")];
    let query = [t.eq(bad[0], value(random)), formula(&t, random, &bad, 1)];
    system.add_clause(vec![atom(&bad)], t.and(&query), None);
    system
}

/// Whether the query of such a loop applies to a fact.
fn is_unsafe(system: &System) -> bool {
    let t = &system.terms;
    let holds = |at: usize, values: &Assignment| {
        evaluate(t, system.clauses[at].constraint, values) == Some(TermId::TRUE)
    };
    let width = t.width(system.predicates[0].params[0]);
    let all = 0..1_u32 << width;
    let pairs = || {
        let pair = |a: u32| all.clone().map(move |b| [a, b]);
        all.clone().flat_map(pair)
    };
    let values = |args: &[TermId], pair: [u32; 2]| {
        let value = |at: usize| t.bitvec(BigUint::from(pair[at]), width);
        [(args[0], value(0)), (args[1], value(1))]
    };
    let args = |at: usize, of_head: bool| {
        let clause = &system.clauses[at];
        let atom = if of_head {
            clause.head.as_ref()
        } else {
            clause.body.first()
        };
        atom.expect("it has one").args.clone()
    };
    let is_first = |pair: &[u32; 2]| holds(0, &values(&args(0, true), *pair).into_iter().collect());
    let mut seen: Vec<[u32; 2]> = pairs().filter(is_first).collect();
    let mut next = 0;
    while let Some(&from) = seen.get(next) {
        next += 1;
        let before = values(&args(1, false), from);
        for to in pairs() {
            let after = values(&args(1, true), to);
            if !seen.contains(&to) && holds(1, &before.into_iter().chain(after).collect()) {
                seen.push(to);
            }
        }
    }
    let is_bad = |pair: &[u32; 2]| holds(2, &values(&args(2, false), *pair).into_iter().collect());
    seen.iter().any(is_bad)
}

/// An engine's verdict within this work; witnesses are checked.
fn verdict_of(engine: &mut TwinEngine, system: &System, work: Duration) -> (Option<bool>, Context) {
    let terms = system.terms.clone();
    let budget = Budget::new(terms.clone(), Arc::default(), true).work(work);
    let mut cx = Context::with_budget(terms, budget);
    let verdict = engine.solve(system, &mut cx).expect("bit-vectors");
    let smt = Smt::new(system.terms.clone());
    let safe = match verdict {
        Verdict::Sat(model) => {
            for clause in &system.clauses {
                let answer = counterexample(clause, (system, &model), &smt);
                assert_eq!(answer, SatResult::Unsat);
            }
            Some(true)
        }
        Verdict::Unsat(_) => Some(false),
        _ => None,
    };
    (safe, cx)
}

/// Verdicts are those of all values tried, whether the engine begins anew, goes on, or has the state
/// of a search about other clauses.
#[test]
fn verdicts_are_those_of_brute_force() {
    let mut random = Random::new(41);
    let (mut safe, mut bad, mut resumed, mut unsigned) = (0, 0, 0, 0);
    let mut engine = TwinEngine::new(registry());
    let (short, long) = (Duration::from_micros(300), Duration::from_secs(5));
    for round in 0..60 {
        let system = random_loop(&mut random, 2 + round % 3);
        let expected = !is_unsafe(&system);
        let readings = Readings::of_system(&system);
        let params = &system.predicates[0].params;
        unsigned += params
            .iter()
            .filter(|&&p| readings.of(p) == Reading::Unsigned)
            .count();
        // Stopped at several points, it goes on.
        for work in [short, short * 10, long] {
            let (answer, cx) = verdict_of(&mut engine, &system, work);
            assert!(answer.is_none_or(|answer| answer == expected), "{round}");
            resumed += cx.stats.count("twin.resumed");
            safe += usize::from(answer == Some(true));
            bad += usize::from(answer == Some(false));
        }
    }
    assert!(safe > 60 && bad > 10, "{safe} {bad}");
    assert!(resumed > 15 && unsigned > 20, "{resumed} {unsigned}");
}

/// A search that was stopped leaves a state from which another has less to do; about other clauses
/// the engine begins anew.
#[test]
fn a_search_goes_on_where_one_was_stopped() {
    let text = format!("(set-logic HORN)\n{COUNTED}\n(check-sat)\n").replace("STEP", "#x00000000");
    let terms = Rc::new(TermStore::new());
    let problem = parse(&text, terms.clone()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let (system, _) = normalize(&problem);
    let (short, long) = (Duration::from_millis(60), Duration::from_secs(20));
    // The queries of `pdr`, the work, and whether the engine went on.
    let run = |engine: &mut TwinEngine, system: &System, work: Duration| {
        let (answer, cx) = verdict_of(engine, system, work);
        let used = work.saturating_sub(cx.remaining().unwrap_or_default());
        let queries = cx.stats.count("pdr.queries");
        (answer, (queries, used, cx.stats.count("twin.resumed") == 1))
    };
    let mut engine = TwinEngine::new(registry());
    let (answer, whole) = run(&mut engine, &system, long);
    assert!(answer == Some(true) && !whole.2 && !engine.goes_on());
    let (answer, stopped) = run(&mut engine, &system, short);
    assert!(answer.is_none() && !stopped.2 && engine.goes_on());
    let (answer, rest) = run(&mut engine, &system, long);
    assert!(answer == Some(true) && rest.2 && !engine.goes_on());
    assert!(
        rest.0 < whole.0 && rest.1 < whole.1 / 2,
        "{rest:?} {whole:?}"
    );

    let (answer, _) = run(&mut engine, &system, short);
    assert_eq!(answer, None);
    let mut other = system.clone();
    let query = other.clauses.pop().expect("the query");
    other.add_clause(query.body, TermId::TRUE, None);
    let (answer, anew) = run(&mut engine, &other, long);
    assert!(answer == Some(false) && !anew.2);
}
