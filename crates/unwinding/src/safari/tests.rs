//! Array programs of known status: shapes of loops, by index sort and by element sort, safe and
//! unsafe.

use std::rc::Rc;
use std::time::Duration;

use super::transition::Transition;
use super::*;
use alphorn::{Config, solve};
use alphorn_chc::frontend::parse_bytes;
use alphorn_term::TermStore;
use alphorn_transform::normalize;
use alphorn_witness::check_refutation;

/// The sorts of a program, and its operations on them.
struct Sorts {
    index: &'static str,
    element: &'static str,
    zero: &'static str,
    one: &'static str,
    add: &'static str,
    less: &'static str,
    at_most: &'static str,
    /// Two different elements.
    elements: [&'static str; 2],
}

fn sorts() -> Vec<Sorts> {
    let mut found = Vec::new();
    for bit_vectors in [false, true] {
        for (element, elements) in [
            ("Int", ["7", "8"]),
            ("Bool", ["true", "false"]),
            ("Real", ["0.5", "1.5"]),
        ] {
            found.push(match bit_vectors {
                false => Sorts {
                    index: "Int",
                    element,
                    zero: "0",
                    one: "1",
                    add: "+",
                    less: "<",
                    at_most: "<=",
                    elements,
                },
                true => Sorts {
                    index: "(_ BitVec 8)",
                    element,
                    zero: "#x00",
                    one: "#x01",
                    add: "bvadd",
                    less: "bvult",
                    at_most: "bvule",
                    elements,
                },
            });
        }
    }
    found
}

/// What a program does, and how its unsafe version differs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    /// Every element gets a value; all are checked. Bug: the last one is skipped.
    Initialise,
    /// One array becomes a copy of another. Bug: the check goes one too far.
    Copy,
    /// A search for an element. Bug: the place before the one that is found is checked.
    Find,
    /// One loop writes, the other checks. Bug: the second loop goes one too far.
    WriteAndTest,
    /// `b[i]` follows from `a[i]`. Bug: nothing is written in one case.
    Conditional,
}

const SHAPES: [Shape; 5] = [
    Shape::Initialise,
    Shape::Copy,
    Shape::Find,
    Shape::WriteAndTest,
    Shape::Conditional,
];

fn program(shape: Shape, sorts: &Sorts, safe: bool) -> String {
    let Sorts {
        index: i,
        element: e,
        zero,
        one,
        add,
        less,
        at_most,
        elements: [x, y],
    } = sorts;
    let array = format!("(Array {i} {e})");
    let text = match shape {
        Shape::Initialise => {
            let bound = if safe { "i" } else { "(@add i @1)" };
            format!(
                "(declare-fun P (@A @I @I) Bool)
                (assert (forall ((a @A) (n @I)) (P a n @0)))
                (assert (forall ((a @A) (n @I) (i @I))
                  (=> (and (P a n i) (@< i n) (@< {bound} n)) (P (store a i @x) n (@add i @1)))))
                (assert (forall ((a @A) (n @I) (i @I) (k @I))
                  (=> (and (P a n i) (not (and (@< i n) (@< {bound} n)))
                    (@<= @0 k) (@< k n) (not (= (select a k) @x))) false)))"
            )
        }
        Shape::Copy => {
            let compare = if safe { "@<" } else { "@<=" };
            format!(
                "(declare-fun P (@A @A @I @I) Bool)
                (assert (forall ((a @A) (b @A) (n @I)) (P a b n @0)))
                (assert (forall ((a @A) (b @A) (n @I) (i @I))
                  (=> (and (P a b n i) (@< i n)) (P a (store b i (select a i)) n (@add i @1)))))
                (assert (forall ((a @A) (b @A) (n @I) (i @I) (k @I))
                  (=> (and (P a b n i) (not (@< i n)) (@<= @0 k) ({compare} k n)
                    (not (= (select a k) (select b k)))) false)))"
            )
        }
        Shape::Find => {
            let compare = if safe { "@<" } else { "@<=" };
            format!(
                "(declare-fun P (@A @I @I) Bool) (declare-fun Q (@A @I @I) Bool)
                (assert (forall ((a @A) (n @I)) (P a n @0)))
                (assert (forall ((a @A) (n @I) (i @I))
                  (=> (and (P a n i) (@< i n) (not (= (select a i) @x))) (P a n (@add i @1)))))
                (assert (forall ((a @A) (n @I) (i @I))
                  (=> (and (P a n i) (@< i n) (= (select a i) @x)) (Q a n i))))
                (assert (forall ((a @A) (n @I) (i @I) (k @I))
                  (=> (and (Q a n i) (@<= @0 k) ({compare} k i) (= (select a k) @x)) false)))"
            )
        }
        Shape::WriteAndTest => {
            let compare = if safe { "@<" } else { "@<=" };
            format!(
                "(declare-fun P (@A @I @I) Bool) (declare-fun Q (@A @I @I) Bool)
                (assert (forall ((a @A) (n @I)) (P a n @0)))
                (assert (forall ((a @A) (n @I) (i @I))
                  (=> (and (P a n i) (@< i n)) (P (store a i @y) n (@add i @1)))))
                (assert (forall ((a @A) (n @I) (i @I))
                  (=> (and (P a n i) (not (@< i n))) (Q a n @0))))
                (assert (forall ((a @A) (n @I) (i @I))
                  (=> (and (Q a n i) (@< i n) (= (select a i) @y)) (Q a n (@add i @1)))))
                (assert (forall ((a @A) (n @I) (i @I))
                  (=> (and (Q a n i) ({compare} i n) (not (= (select a i) @y))) false)))"
            )
        }
        Shape::Conditional => {
            let other = if safe { "(store b i @y)" } else { "b" };
            format!(
                "(declare-fun P (@A @A @I @I) Bool)
                (assert (forall ((a @A) (b @A) (n @I)) (P a b n @0)))
                (assert (forall ((a @A) (b @A) (c @A) (n @I) (i @I))
                  (=> (and (P a b n i) (@< i n)
                    (= c (ite (= (select a i) @x) {other} (store b i @x))))
                    (P a c n (@add i @1)))))
                (assert (forall ((a @A) (b @A) (n @I) (i @I) (k @I))
                  (=> (and (P a b n i) (@<= @0 k) (@< k i) (= (select a k) @x)
                    (= (select b k) @x)) false)))"
            )
        }
    };
    let mut text = text;
    for (name, meaning) in [
        ("@A", array.as_str()),
        ("@I", i),
        ("@0", zero),
        ("@1", one),
        ("@add", add),
        ("@<=", at_most),
        ("@<", less),
        ("@x", x),
        ("@y", y),
    ] {
        text = text.replace(name, meaning);
    }
    format!("(set-logic HORN) {text} (check-sat)")
}

/// The verdict of the program alphorn, with its witness validated.
fn decided(text: &str, settings: &[&str]) -> Verdict {
    decided_after("none", text, settings)
}

/// The verdict of the engine after some passes.
fn decided_after(passes: &str, text: &str, settings: &[&str]) -> Verdict {
    let terms = Rc::new(TermStore::new());
    let problem = parse_bytes(text.as_bytes(), terms.clone()).expect("it can be read");
    let mut cx = Context::new(terms);
    cx.budget = cx.budget.time(Duration::from_secs(60));
    let config = Config {
        engine: "safari".to_owned(),
        passes: Some(passes.to_owned()),
        settings: settings.iter().map(|s| s.to_string()).collect(),
        ..Config::default()
    };
    let answer = solve(&problem, &config, &mut cx).expect("a known configuration");
    assert_eq!(cx.stats.count("witness.failures"), 0, "{text}");
    answer.verdict().clone()
}

fn system(text: &str) -> System {
    let terms = Rc::new(TermStore::new());
    let problem = parse_bytes(text.as_bytes(), terms).expect("it can be read");
    normalize(&problem).0
}

fn engine(system: &System, labels: Labels) -> (Verdict, Context) {
    let mut cx = Context::new(system.terms.clone());
    cx.budget = cx.budget.time(Duration::from_secs(60));
    let options = Options {
        labels,
        ..Options::default()
    };
    let verdict = Safari { options }
        .solve(system, &mut cx)
        .expect("no defect");
    (verdict, cx)
}

#[test]
fn safe_programs_get_quantified_models() {
    for sorts in sorts() {
        for shape in SHAPES {
            let text = program(shape, &sorts, true);
            let Verdict::Sat(_) = decided(&text, &[]) else {
                panic!("{shape:?}: {text}");
            };
        }
    }
}

#[test]
fn unsafe_programs_are_refuted() {
    for sorts in sorts() {
        for shape in SHAPES {
            let text = program(shape, &sorts, false);
            let system = system(&text);
            for labels in [Labels::Lazy, Labels::Indexed, Labels::Exact] {
                let (verdict, _) = engine(&system, labels);
                let Verdict::Unsat(refutation) = verdict else {
                    panic!("{shape:?}, {labels:?}: {verdict:?} {text}");
                };
                assert_eq!(check_refutation(&system, &refutation), Ok(()), "{text}");
            }
        }
    }
}

/// With labels that begin as `true` and Craig interpolants alone, as in the paper.
#[test]
fn as_in_the_paper() {
    for sorts in sorts() {
        let text = program(SHAPES[0], &sorts, false);
        let system = system(&text);
        let mut engine = Safari::default();
        engine
            .configure(&["safari.as-in-paper=true".to_owned()])
            .expect("it is known");
        let mut cx = Context::new(system.terms.clone());
        cx.budget = cx.budget.time(Duration::from_secs(60));
        let verdict = engine.solve(&system, &mut cx).expect("no defect");
        let Verdict::Unsat(refutation) = verdict else {
            panic!("{verdict:?} {text}");
        };
        assert_eq!(check_refutation(&system, &refutation), Ok(()), "{text}");
        assert_eq!(cx.stats.count("safari.comparisons"), 0, "{text}");
    }
}

/// A loop with three rounds that writes, and a check of the written elements.
fn three_rounds(sorts: &Sorts, safe: bool) -> String {
    let Sorts {
        index,
        element,
        zero,
        one,
        add,
        less,
        at_most,
        elements: [x, y],
    } = sorts;
    let array = format!("(Array {index} {element})");
    let three = format!("({add} {one} ({add} {one} {one}))");
    let written = if safe { x } else { y };
    format!(
        "(set-logic HORN) (declare-fun P ({array} {index}) Bool)
        (assert (forall ((a {array})) (P a {zero})))
        (assert (forall ((a {array}) (i {index}))
          (=> (and (P a i) ({at_most} {zero} i) ({less} i {three}))
            (P (store a i {written}) ({add} i {one})))))
        (assert (forall ((a {array}) (i {index}) (k {index}))
          (=> (and (P a i) (= i {three}) ({at_most} {zero} k) ({less} k i)
            (not (= (select a k) {x}))) false)))
        (check-sat)"
    )
}

#[test]
fn all_kinds_of_labels_agree() {
    for sorts in sorts() {
        for safe in [true, false] {
            let text = three_rounds(&sorts, safe);
            for labels in ["lazy", "indexed", "exact"] {
                let verdict = decided(&text, &[&format!("safari.labels={labels}")]);
                let agrees = match safe {
                    true => matches!(verdict, Verdict::Sat(_)),
                    false => matches!(verdict, Verdict::Unsat(_)),
                };
                assert!(agrees, "{labels}: {verdict:?} {text}");
            }
        }
    }
}

/// Bubble sort: two nested loops, the inner one swaps neighbours. Bug: it swaps those that are in
/// order.
fn bubble_sort(element: &str, safe: bool) -> String {
    let array = format!("(Array Int {element})");
    let (swap, keep) = if safe { (">", "<=") } else { ("<", ">=") };
    format!(
        "(set-logic HORN)
        (declare-fun Outer ({array} Int Int) Bool)
        (declare-fun Inner ({array} Int Int Int) Bool)
        (assert (forall ((a {array}) (n Int)) (Outer a n n)))
        (assert (forall ((a {array}) (n Int) (e Int))
          (=> (and (Outer a n e) (> e 0)) (Inner a n e 0))))
        (assert (forall ((a {array}) (n Int) (e Int) (j Int))
          (=> (and (Inner a n e j) (< (+ j 1) e) ({swap} (select a j) (select a (+ j 1))))
            (Inner (store (store a j (select a (+ j 1))) (+ j 1) (select a j)) n e (+ j 1)))))
        (assert (forall ((a {array}) (n Int) (e Int) (j Int))
          (=> (and (Inner a n e j) (< (+ j 1) e) ({keep} (select a j) (select a (+ j 1))))
            (Inner a n e (+ j 1)))))
        (assert (forall ((a {array}) (n Int) (e Int) (j Int))
          (=> (and (Inner a n e j) (>= (+ j 1) e)) (Outer a n (- e 1)))))
        (assert (forall ((a {array}) (n Int) (e Int) (x Int) (y Int))
          (=> (and (Outer a n e) (<= e 0) (<= 0 x) (< x y) (< y n)
            (> (select a x) (select a y))) false)))
        (check-sat)"
    )
}

/// Selection sort: the inner loop finds the index of a least element, then it is swapped; or it
/// swaps each smaller element at once (exchange sort). Bug: the last element is not compared.
fn selection_sort(element: &str, at_once: bool, safe: bool) -> String {
    let array = format!("(Array Int {element})");
    let bound = if safe { "n" } else { "(- n 1)" };
    let swap = |x, y| format!("(store (store a {x} (select a {y})) {y} (select a {x}))");
    let (least, next, swapped) = match at_once {
        false => ("m", "a n i j (+ j 1)".to_owned(), swap("i", "m")),
        true => (
            "i",
            format!("{} n i m (+ j 1)", swap("i", "j")),
            "a".to_owned(),
        ),
    };
    format!(
        "(set-logic HORN)
        (declare-fun Outer ({array} Int Int) Bool)
        (declare-fun Inner ({array} Int Int Int Int) Bool)
        (assert (forall ((a {array}) (n Int)) (Outer a n 0)))
        (assert (forall ((a {array}) (n Int) (i Int))
          (=> (and (Outer a n i) (< i n)) (Inner a n i i (+ i 1)))))
        (assert (forall ((a {array}) (n Int) (i Int) (m Int) (j Int))
          (=> (and (Inner a n i m j) (< j {bound}) (< (select a j) (select a {least})))
            (Inner {next}))))
        (assert (forall ((a {array}) (n Int) (i Int) (m Int) (j Int))
          (=> (and (Inner a n i m j) (< j {bound}) (>= (select a j) (select a {least})))
            (Inner a n i m (+ j 1)))))
        (assert (forall ((a {array}) (n Int) (i Int) (m Int) (j Int))
          (=> (and (Inner a n i m j) (>= j {bound})) (Outer {swapped} n (+ i 1)))))
        (assert (forall ((a {array}) (n Int) (i Int) (x Int) (y Int))
          (=> (and (Outer a n i) (>= i n) (<= 0 x) (< x y) (< y n)
            (> (select a x) (select a y))) false)))
        (check-sat)"
    )
}

/// Insertion sort: greater elements make room for the next one. Bug: the first element never does.
fn insertion_sort(safe: bool) -> String {
    let first = if safe { "0" } else { "1" };
    let array = "(Array Int Int)";
    format!(
        "(set-logic HORN)
        (declare-fun Outer ({array} Int Int) Bool)
        (declare-fun Shift ({array} Int Int Int Int) Bool)
        (assert (forall ((a {array}) (n Int)) (Outer a n 1)))
        (assert (forall ((a {array}) (n Int) (i Int) (e Int))
          (=> (and (Outer a n i) (< i n) (= e (select a i))) (Shift a n i e i))))
        (assert (forall ((a {array}) (n Int) (i Int) (e Int) (j Int))
          (=> (and (Shift a n i e j) (> j {first}) (> (select a (- j 1)) e))
            (Shift (store a j (select a (- j 1))) n i e (- j 1)))))
        (assert (forall ((a {array}) (n Int) (i Int) (e Int) (j Int))
          (=> (and (Shift a n i e j) (or (<= j {first}) (<= (select a (- j 1)) e)))
            (Outer (store a j e) n (+ i 1)))))
        (assert (forall ((a {array}) (n Int) (i Int) (x Int) (y Int))
          (=> (and (Outer a n i) (>= i n) (<= 0 x) (< x y) (< y n)
            (> (select a x) (select a y))) false)))
        (check-sat)"
    )
}

fn is_decided(text: &str, safe: bool) {
    let verdict = decided_after("default", text, &[]);
    let agrees = match safe {
        true => matches!(verdict, Verdict::Sat(_)),
        false => matches!(verdict, Verdict::Unsat(_)),
    };
    assert!(agrees, "{verdict:?} {text}");
}

/// Steps with many cases, and nested loops: with labels that begin as `true` the search does not
/// terminate.
#[test]
fn programs_that_sort_are_decided() {
    for element in ["Int", "Real"] {
        for safe in [true, false] {
            is_decided(&bubble_sort(element, safe), safe);
        }
    }
    for safe in [true, false] {
        is_decided(&insertion_sort(safe), safe);
    }
}

/// An argument at which a label reads is compared in it: with its bound, and with another argument
/// at which the step reads and which may be equal to it.
#[test]
fn programs_that_swap_at_arguments_are_decided() {
    for at_once in [true, false] {
        for safe in [true, false] {
            is_decided(&selection_sort("Int", at_once, safe), safe);
        }
    }
    is_decided(&selection_sort("Real", false, true), true);
}

#[test]
fn what_is_not_supported_is_refused() {
    let nested = "(set-logic HORN)
        (declare-fun P ((Array Int (Array Int Int))) Bool)
        (assert (forall ((a (Array Int (Array Int Int)))) (P a)))
        (assert (forall ((a (Array Int (Array Int Int))))
          (=> (and (P a) (= (select (select a 0) 0) 1)) false)))
        (check-sat)";
    let system = system(nested);
    let mut cx = Context::new(system.terms.clone());
    let result = Safari::default().solve(&system, &mut cx);
    assert!(matches!(result, Err(EngineError::Unsupported(_))));
}

/// Equations of whole arrays: one in a choice is a case of its own, one that is no definition is
/// instantiated at the indexes that are read, and a disequality has an index.
#[test]
fn equations_of_arrays_are_taken_apart() {
    let text = |query: &str| {
        format!(
            "(set-logic HORN)
            (declare-fun P ((Array Int Int) (Array Int Int) Int) Bool)
            (assert (forall ((a (Array Int Int)) (b (Array Int Int)) (i Int))
              (=> (or (and (= b a) (> i 0)) (and (= b (store a i 3)) (<= i 0))) (P a b i))))
            (assert (forall ((a (Array Int Int)) (b (Array Int Int)) (i Int) (k Int))
              (=> (and (P a b i) {query}) false)))
            (check-sat)"
        )
    };
    for (query, safe) in [
        ("(> i 0) (not (= (select a k) (select b k)))", true),
        ("(<= i 0) (not (= (select a k) (select b k)))", false),
        ("(> i 0) (not (= a b))", true),
        ("(<= i 0) (not (= a b))", false),
        ("(= a b) (<= i 0) (= (select a i) 4)", true),
        ("(= a b) (<= i 0) (= (select a i) 3)", false),
    ] {
        let verdict = decided(&text(query), &[]);
        let agrees = match safe {
            true => matches!(verdict, Verdict::Sat(_)),
            false => matches!(verdict, Verdict::Unsat(_)),
        };
        assert!(agrees, "{query}: {verdict:?}");
    }
}

/// Choices that exclude each other only at their ends are not all tried.
#[test]
fn cases_of_a_clause_are_limited() {
    let choices = |written: fn(u32) -> String| (0..30).map(written).collect::<Vec<_>>().join(" ");
    let vars = choices(|i| format!("(a{i} (Array Int Int)) (r{i} Bool)"));
    let open = choices(|i| format!("(or (= b a{i}) r{i})"));
    let text = |last: &str| {
        format!(
            "(set-logic HORN)
            (declare-fun P ((Array Int Int)) Bool)
            (assert (forall ((a (Array Int Int)) (b (Array Int Int)) (p Bool) (q Bool) {vars})
              (=> (and {last} (or (= a b) p) (or (= a b) (not p))
                (or (not (= a b)) q) (or (not (= a b)) (not q))) (P b))))
            (check-sat)"
        )
    };
    let none = Transition::of(&system(&text("true")), 0).expect("few cases");
    assert!(none.is_empty());
    assert!(Transition::of(&system(&text(&open)), 0).is_err());
}
