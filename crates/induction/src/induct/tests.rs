//! Theorems about random functions, which hold by construction or fail for small values; and parts
//! of the engine on clauses.

use std::rc::Rc;
use std::time::Duration;

use super::statement::{Statement, matches};
use alphorn_chc::frontend::parse;
use alphorn_proof::functions::define;
use alphorn_samples::planted::FAMILIES;
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Assignment, Random, SortId, TermId, TermStore};
use alphorn_transform::normalize;

const LISTS: &str = "(declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))";
const NUMBERS: &str = "(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))";

/// The engine's verdict on clauses.
fn answer(text: &str) -> &'static str {
    alphorn::internal::answer("induct", text, Duration::from_secs(20))
}

/// An atom of a relation for `result = name(args)`, the result first or last.
fn atom(name: &str, result: &str, args: &str, first: bool) -> String {
    match first {
        true => format!("({name} {result} {args})"),
        false => format!("({name} {args} {result})"),
    }
}

/// A numeral as SMT-LIB writes it.
fn number(value: i64) -> String {
    match value {
        0.. => value.to_string(),
        _ => format!("(- {})", -value),
    }
}

/// Clauses of a function on lists that adds something for each element.
fn sum(name: &str, base: i64, step: &str, first: bool) -> String {
    let atom = |result: &str, list: &str| atom(name, result, list, first);
    let sorts = if first { "Int Lst" } else { "Lst Int" };
    let (nil, cons) = (atom(&number(base), "nil"), "(cons h x)");
    let (rest, whole) = (atom("n", "x"), atom(step, cons));
    format!(
        "(declare-fun {name} ({sorts}) Bool)
(assert {nil})
(assert (forall ((h Int) (x Lst) (n Int)) (=> {rest} {whole})))\n"
    )
}

/// The same with an accumulator.
fn sum_from(name: &str, step: &str, first: bool) -> String {
    let sorts = if first { "Int Lst Int" } else { "Lst Int Int" };
    let nil = atom(name, "n", "nil n", first);
    let rest = atom(name, "r", &format!("x {step}"), first);
    let whole = atom(name, "r", "(cons h x) n", first);
    format!(
        "(declare-fun {name} ({sorts}) Bool)
(assert (forall ((n Int)) {nil}))
(assert (forall ((h Int) (x Lst) (n Int) (r Int)) (=> {rest} {whole})))\n"
    )
}

#[test]
fn copies_are_equal_and_mutants_are_not() {
    let mut random = Random::new(16);
    let steps = [
        "(+ n 1)",
        "(+ n h)",
        "(+ n (* 2 h) 1)",
        "(ite (> h 0) (+ n 1) n)",
        "(ite (= h 3) n (+ n h))",
    ];
    for round in 0..12 {
        let step = *random.pick(&steps);
        let base = random.between(-1, 2);
        let [first, other] = [random.one_in(2), random.one_in(2)];
        let f = sum("f", base, step, first);
        let goal = format!(
            "(assert (forall ((x Lst) (a Int) (b Int)) (=> (and {} {} (not (= a b))) false)))",
            atom("f", "a", "x", first),
            atom("g", "b", "x", other)
        );
        let equal = sum("g", base, step, other);
        assert_eq!(
            answer(&format!("{LISTS}\n{f}{equal}{goal}")),
            "sat",
            "{round}"
        );
        let different = match random.one_in(2) {
            true => sum("g", base + 1, step, other),
            false => sum("g", base, &format!("(+ {step} 1)"), other),
        };
        let verdict = answer(&format!("{LISTS}\n{f}{different}{goal}"));
        assert_eq!(verdict, "unknown", "{round}");
    }
}

/// Theorems of each planted family.
const ROUNDS: usize = 30;

#[test]
fn theorems_are_proven_and_mutants_are_not() {
    let mut random = Random::new(300);
    let mut open = Vec::new();
    for (name, family) in FAMILIES {
        for round in 0..ROUNDS {
            let (theorem, mutant) = family(&mut random);
            if answer(&theorem) != "sat" {
                open.push(format!("{name}, {round}:\n{theorem}"));
            }
            assert_ne!(answer(&mutant), "sat", "{name}, {round}:\n{mutant}");
        }
    }
    assert!(
        open.is_empty(),
        "{} not proven: {}",
        open.len(),
        open.join("\n")
    );
}

#[test]
fn accumulators_need_a_lemma() {
    for (step, first) in [("(+ n 1)", true), ("(+ n h)", false)] {
        let (f, g) = (sum("f", 0, step, first), sum_from("g", step, first));
        let goal = |start: i64| {
            format!(
                "(assert (forall ((x Lst) (a Int) (b Int)) (=> (and {} {} (not (= a b))) false)))",
                atom("f", "a", "x", first),
                atom("g", "b", &format!("x {start}"), first)
            )
        };
        assert_eq!(answer(&format!("{LISTS}\n{f}{g}{}", goal(0))), "sat");
        assert_eq!(answer(&format!("{LISTS}\n{f}{g}{}", goal(1))), "unknown");
    }
}

/// The definitions of predicates, by clauses whose only query needs all of them.
fn defined(text: &str) -> Vec<String> {
    let terms = Rc::new(TermStore::new());
    let text = format!("(set-logic HORN)\n{text}\n(check-sat)\n");
    let problem = parse(&text, terms.clone()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let (system, _) = normalize(&problem);
    let cx = Context::new(terms.clone());
    let smt = Smt::within(&cx.budget);
    let definitions = define(&system, true, &smt, &cx);
    let show = |p| {
        let formula = definitions.formula(&system, p);
        alphorn_term::Printer::new(&terms).term(formula)
    };
    let formulas = system.used_predicates().into_iter().map(show);
    formulas
        .map(|f| f.split('!').next().unwrap_or_default().to_owned())
        .collect()
}

/// Over Peano numbers the order is a test, and exactly one of `le` and `gt` holds. Over integers
/// that may be negative, `gt` as it is defined here holds in some cases in which `le` holds, too.
#[test]
fn relations_are_distinguished_from_functions() {
    let difference = format!(
        "{NUMBERS}
(declare-fun differ (Nat Nat) Bool)
(assert (forall ((x Nat)) (differ zero (succ x))))
(assert (forall ((x Nat)) (differ (succ x) zero)))
(assert (forall ((x Nat) (y Nat)) (=> (differ x y) (differ (succ x) (succ y)))))
(assert (forall ((x Nat)) (=> (differ x x) false)))"
    );
    assert_eq!(defined(&difference), ["(not (= differ_"]);
    let order = format!(
        "{NUMBERS}
(declare-fun less (Nat Nat) Bool)
(assert (forall ((x Nat)) (less zero (succ x))))
(assert (forall ((x Nat) (y Nat)) (=> (less x y) (less (succ x) (succ y)))))
(assert (forall ((x Nat)) (=> (less x x) false)))"
    );
    assert_eq!(defined(&order), ["(less"]);
    assert_eq!(answer(&order), "sat");
    // Two results for one argument.
    let choice = format!(
        "{NUMBERS}
(declare-fun some (Nat Nat) Bool)
(assert (forall ((x Nat)) (some zero x)))
(assert (forall ((x Nat) (y Nat)) (=> (some x y) (some (succ x) y))))
(assert (forall ((x Nat)) (=> (and (some zero x) (some (succ zero) x)) false)))"
    );
    assert_eq!(answer(&choice), "unknown");
}

/// `f(n) = 1 + f(n)` defines no function; but these clauses have a model.
#[test]
fn recursion_that_does_not_end_is_no_definition() {
    let text = format!(
        "{NUMBERS}
(declare-fun f (Int Nat) Bool)
(assert (forall ((r Int) (n Nat)) (=> (f r n) (f (+ r 1) n))))
(assert (forall ((r Int) (n Nat)) (=> (f r n) (f (- r 1) n))))
(assert (forall ((r Int) (n Nat)) (=> (f r n) false)))"
    );
    assert_eq!(answer(&text), "unknown");
}

#[test]
fn matching_agrees_with_itself() {
    let terms = TermStore::new();
    let f = terms.declare_function("f!", &[SortId::INT, SortId::INT], SortId::INT);
    let [x, y, a] = ["x", "y", "a"].map(|n| terms.var(n, SortId::INT));
    let call = |s: TermId, t: TermId| terms.call(f, &[s, t]);
    let mut found = Assignment::default();
    assert!(matches(
        &terms,
        call(x, y),
        call(a, terms.int(1)),
        &[x, y],
        &mut found
    ));
    assert_eq!((found[&x], found[&y]), (a, terms.int(1)));
    assert!(!matches(
        &terms,
        call(x, x),
        call(a, terms.int(1)),
        &[x],
        &mut Assignment::default()
    ));
    let equation = terms.eq(call(x, y), call(y, x));
    let statement = Statement::new(&terms, Vec::new(), equation);
    assert_eq!(statement.triggers(&terms).len(), 2);
}
