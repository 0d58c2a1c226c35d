//! Planted statements about recursive functions, which hold by construction or fail for some arguments,
//! and proofs of random candidates.

mod facts;

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use super::library::Library;
use super::literal::{Column, Lemma, Literal, Origin, Relation, column};
use super::prove::{Effort, Prover};
use super::space::Space;
use alphorn_chc::frontend::parse;
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Random, TermStore};
use alphorn_transform::normalize;

/// The engine's verdict on a task of the corpus.
fn answer(name: &str) -> &'static str {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../horn-benchmarks/relational");
    let path = folder.join(format!("{name}.smt2"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
    alphorn::internal::answer("relate", &text, Duration::from_secs(20))
}

/// Statements that need a round each.
#[test]
fn rounds_prove_what_they_are_for() {
    for name in [
        "parity",
        "fibonacci-monotone",
        "ackermann",
        "sum-monotone",
        "fibonacci-order",
        "powers-tree",
    ] {
        assert_eq!(answer(&format!("{name}-safe")), "sat", "{name}");
    }
}

/// Sums of the elements of one array, and arrays that a query reads at any index.
#[test]
fn arrays_are_arguments_and_results() {
    for name in ["arrays-sum", "arrays-written"] {
        assert_eq!(answer(&format!("{name}-safe")), "sat", "{name}");
        assert_ne!(answer(&format!("{name}-unsafe")), "sat", "{name}");
    }
}

/// A query about one fact, whose clause calls several programs.
#[test]
fn queries_are_unfolded() {
    for name in ["called-accumulator", "called-order"] {
        assert_eq!(answer(&format!("{name}-safe")), "sat", "{name}");
        assert_ne!(answer(&format!("{name}-unsafe")), "sat", "{name}");
    }
}

/// Queries that fix where their runs begin.
#[test]
fn premises_that_calls_preserve_take_the_place_of_starts() {
    for name in ["loop-strength", "loop-hoisted", "arrays-counted"] {
        assert_eq!(answer(&format!("{name}-safe")), "sat", "{name}");
        assert_ne!(answer(&format!("{name}-unsafe")), "sat", "{name}");
    }
}

/// Lemmas of four slots, equations of single facts whose inputs are bounded, and ghosts for weakened
/// queries.
#[test]
fn sums_of_remainders_and_loops_in_other_orders() {
    for name in ["remainders-sum", "loop-nested", "loop-reversed"] {
        assert_eq!(answer(&format!("{name}-safe")), "sat", "{name}");
        assert_ne!(answer(&format!("{name}-unsafe")), "sat", "{name}");
    }
}

/// The result of a tail call is the output, though it determines the accumulator, too.
#[test]
fn results_of_tail_calls_are_outputs() {
    let text = "(declare-fun f (Int Int Int Int) Bool)
        (assert (forall ((i Int) (n Int) (a Int)) (=> (>= i n) (f i n a a))))
        (assert (forall ((i Int) (n Int) (a Int) (b Int))
            (=> (and (< i n) (f (+ i 1) n (+ a i i) b)) (f i n a b))))
        (assert (forall ((n Int) (a Int)) (=> (and (f 0 n 0 a) (< a 0)) false)))
        (check-sat)";
    let problem = parse(text, Rc::new(TermStore::new())).expect("clauses");
    let (system, _) = normalize(&problem);
    let cx = Context::new(system.terms.clone());
    let space = Space::new(&system, &cx);
    assert_eq!(space.outputs(system.used_predicates()[0]), [3]);
}

/// Commutativity needs facts that no derivation has; squares are products of equal factors.
#[test]
fn ghosts_prove_what_needs_further_facts() {
    let clauses = "(declare-fun mult (Int Int Int) Bool)
(declare-fun sq (Int Int) Bool)
(assert (forall ((y Int)) (mult 0 y 0)))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (> x 0) (mult (- x 1) y z)) (mult x y (+ z y)))))
(assert (sq 0 0))
(assert (forall ((x Int) (y Int)) (=> (and (> x 0) (sq (- x 1) y)) (sq x (+ y x x (- 1))))))";
    let commutes = "(mult a b c) (mult b a d) (>= b 0)";
    let squares = "(sq a c) (mult a a d)";
    for (body, conclusion, expected) in [
        (commutes, "(distinct c d)", true),
        (commutes, "(<= c d)", false),
        (squares, "(distinct c d)", true),
        (squares, "(< c (+ d a))", false),
    ] {
        let query = format!(
            "(assert (forall ((a Int) (b Int) (c Int) (d Int)) (=> (and {body} {conclusion}) false)))"
        );
        let text = format!("(set-logic HORN)\n{clauses}\n{query}\n(check-sat)");
        let answer = alphorn::internal::answer("relate", &text, Duration::from_secs(20));
        assert_eq!(answer == "sat", expected, "{query}");
    }
}

#[test]
fn what_is_false_is_not_proven() {
    for name in [
        "accumulator",
        "accumulator-monotone",
        "fibonacci-monotone",
        "fibonacci-tribonacci",
        "factorial-powers",
        "loop-scaled",
        "mccarthy",
        "product-sum-right",
        "secret-branch",
        "lists-total",
    ] {
        assert_ne!(answer(&format!("{name}-unsafe")), "sat", "{name}");
    }
}

/// Clauses of a recursive function with random numbers.
fn program(random: &mut Random) -> String {
    let (base, stop, step) = (
        random.between(-1, 2),
        random.between(0, 2),
        random.between(1, 2),
    );
    let number = |value: i64| match value {
        0.. => value.to_string(),
        _ => format!("(- {})", -value),
    };
    let result = *random.pick(&["(+ y 1)", "(+ y x)", "(+ y y)", "(+ y z)", "(- y 1)"]);
    let second = if result == "(+ y z)" {
        format!("(p (- x {}) z)", step + 1)
    } else {
        String::new()
    };
    format!(
        "(declare-fun p (Int Int) Bool)
         (assert (forall ((x Int)) (=> (<= x {stop}) (p x {}))))
         (assert (forall ((x Int) (y Int) (z Int))
            (=> (and (> x {stop}) (p (- x {step}) y) {second}) (p x {result}))))
         (assert (forall ((x Int) (y Int) (z Int) (w Int))
            (=> (and (p x y) (p z w) (< x z) (> y w)) false)))
         (check-sat)",
        number(base)
    )
}

/// A random lemma about one or two facts.
fn candidate(random: &mut Random, predicate: alphorn_chc::PredicateId) -> Lemma {
    let slots = 1 + random.below(2usize);
    let any = |random: &mut Random| column(random.below(slots), random.below(2usize));
    let literal = |random: &mut Random| {
        let parts: Vec<(Column, i64)> = (0..1 + random.below(2usize))
            .map(|_| (any(random), random.between(-1, 1)))
            .collect();
        let relation = *random.pick(&[Relation::AtLeast, Relation::AtLeast, Relation::Equal]);
        Literal::sum(relation, parts, random.between(-2, 2))
    };
    let premises = (0..random.below(3usize)).map(|_| literal(random)).collect();
    let conclusions = vec![literal(random)];
    Lemma::new(vec![predicate; slots], premises, conclusions, Origin::Pair)
}

/// Whatever is proven, alone or in a group of candidates of which many are false, holds of all facts
/// that were derived.
#[test]
fn proven_lemmas_hold_of_all_facts() {
    let mut random = Random::new(59);
    let (mut proven, mut refused) = (0, 0);
    for round in 0..30 {
        let text = program(&mut random);
        let problem = parse(&text, Rc::new(TermStore::new())).expect("clauses");
        let (system, _) = normalize(&problem);
        let mut cx = Context::new(system.terms.clone());
        cx.budget = cx.budget.work(Duration::from_secs(5));
        let space = Space::new(&system, &cx);
        let predicate = system.used_predicates()[0];
        assert!(space.tables.rows(predicate).len() > 3, "{text}");
        let candidates: Vec<Lemma> = (0..24).map(|_| candidate(&mut random, predicate)).collect();
        let mut prover = Prover::new(&space, &Smt::within(&cx.budget));
        let mut library = Library::default();
        let effort = Effort {
            depth: 1,
            nodes: 30,
            facts: false,
        };
        library.houdini(
            candidates.clone(),
            &mut prover,
            effort,
            &mut Vec::new(),
            &cx,
        );
        for candidate in candidates {
            let number = library.number(candidate.clone());
            match library.is_known(number) {
                true => {
                    let shown = space.show(&candidate);
                    assert!(space.holds(&candidate), "{round}: {shown}\n{text}");
                    proven += 1;
                }
                false => refused += usize::from(!space.holds(&candidate)),
            }
        }
    }
    assert!(proven > 60 && refused > 60, "{proven} {refused}");
}

/// Arguments that the others determine, and facts of the tables.
#[test]
fn tables_have_facts_and_outputs() {
    let text = "(declare-fun fib (Int Int) Bool)
        (declare-fun swap (Int Int Int) Bool)
        (assert (forall ((x Int)) (=> (< x 2) (fib x 1))))
        (assert (forall ((x Int) (y Int) (z Int))
            (=> (and (>= x 2) (fib (- x 1) y) (fib (- x 2) z)) (fib x (+ y z)))))
        (assert (forall ((x Int) (y Int)) (=> (> x 0) (swap (+ x y 1) x y))))
        (assert (forall ((x Int) (y Int)) (not (and (fib x y) (fib y x) (> x 90)))))
        (check-sat)";
    let problem = parse(text, Rc::new(TermStore::new())).expect("clauses");
    let (system, _) = normalize(&problem);
    let cx = Context::new(system.terms.clone());
    let space = Space::new(&system, &cx);
    let named = |name: &str| {
        let mut used = system.used_predicates().into_iter();
        used.find(|&p| system.predicate(p).name == name)
            .expect("it is used")
    };
    assert_eq!(space.outputs(named("fib")), [1]);
    // Each of its arguments follows from the others.
    assert_eq!(space.outputs(named("swap")).len(), 1);
    let has = |x: i64, y: i64| {
        let rows = space.tables.rows(named("fib"));
        rows.iter().any(|row| row[..] == [x, y])
    };
    assert!(has(0, 1) && has(10, 89) && has(12, 233));
    assert!(!has(10, 88));
}

/// A search for facts that has no budget left ends within a round.
#[test]
fn tables_end_with_the_budget() {
    let text = "
        (set-logic HORN)
        (declare-fun P (Int) Bool)
        (assert (forall ((x Int)) (=> (= x 0) (P x))))
        (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
        (check-sat)";
    let mut cx = Context::new(Rc::new(TermStore::new()));
    let problem = parse(text, cx.terms.clone()).expect("a problem");
    let (system, _) = normalize(&problem);
    let p = alphorn_chc::PredicateId(0);
    let facts = |cx: &Context| Space::new(&system, cx).tables.rows(p).len();
    assert!(facts(&cx) > 10);
    cx.budget = cx.budget.work(Duration::ZERO);
    assert_eq!(facts(&cx), 1);
}

/// The model by functions of clauses, as it is printed.
fn functions(clauses: &str) -> Option<String> {
    let problem = parse(clauses, Rc::new(TermStore::new())).expect("clauses");
    let (system, _) = normalize(&problem);
    let mut cx = Context::new(problem.terms.clone());
    let model = super::function_model(&problem, &system, &mut cx)?;
    let printer = alphorn_term::Printer::new(&problem.terms);
    let mut ids: Vec<_> = model.measures.keys().copied().collect();
    ids.sort_by_key(|id| id.0);
    let bodies = ids.iter().map(|&id| {
        let function = problem.terms.function(id);
        let measure = model.measures[&id].iter().map(|&sum| printer.term(sum));
        let measure: Vec<String> = measure.collect();
        let text = format!(
            "{} {}: {}",
            function.name,
            measure.join(" "),
            printer.term(function.body)
        );
        (function.params.clone(), text)
    });
    let mut lines = Vec::new();
    for (params, mut text) in bodies {
        for (at, &param) in params.iter().enumerate() {
            text = text.replace(&printer.term(param), &format!("x{at}"));
        }
        lines.push(text);
    }
    Some(lines.join("\n"))
}

#[test]
fn predicates_are_functions() {
    let declared = |clauses: &str| {
        let text = "(declare-fun p (Int Int) Bool) (declare-fun q (Int Int Int) Bool)
            (declare-fun b (Int Bool) Bool)";
        functions(&format!("{text} {clauses} (check-sat)"))
    };
    // One that counts up to a bound, and one without end.
    let up = "(assert (forall ((x Int)) (=> (>= x 9) (p x 0))))
        (assert (forall ((x Int) (y Int)) (=> (and (< x 9) (p (+ x 1) y)) (p x (+ y 2)))))";
    let found = declared(up).expect("functions");
    assert!(found.starts_with("p! "), "{found}");
    assert_eq!(declared(&up.replace("(< x 9)", "(> x 9)")), None);
    // Outputs that are not determined.
    assert_eq!(
        declared(
            &up.replace("(p x 0)", "(p x x)")
                .replace("(< x 9)", "(< x 10)")
        ),
        None
    );
    // Two outputs, one of them of another predicate.
    let two = "(assert (forall ((x Int)) (=> (<= x 0) (q x 0 1))))
        (assert (forall ((x Int) (y Int) (z Int)) (=> (and (> x 0) (q (- x 1) y z)) (q x z (+ y z)))))
        (assert (forall ((x Int) (y Int) (z Int)) (=> (q x y z) (p x z))))";
    let found = declared(two).expect("functions");
    assert!(
        found.contains("q!1! ") && found.contains("q!2! "),
        "{found}"
    );
    // Booleans.
    let even = "(assert (b 0 true))
        (assert (forall ((x Int) (v Bool)) (=> (and (> x 0) (b (- x 1) v)) (b x (not v)))))";
    let found = declared(even).expect("functions");
    assert!(found.starts_with("b! "), "{found}");
    // An error that is not reached.
    let error = "(declare-fun e () Bool) (assert (=> e false))
        (assert (forall ((x Int) (v Bool) (w Bool)) (=> (and (b x v) (b x w) (distinct v w)) e)))";
    assert_eq!(declared(&format!("{even} {error}")), Some(found));
    // A predicate that is no function.
    let no = "(assert (forall ((x Int) (y Int)) (=> (< x y) (p x y))))
        (assert (forall ((x Int) (y Int) (z Int)) (=> (and (p x y) (p y z)) (p (- x 1) z))))";
    assert_eq!(declared(no), None);
}
