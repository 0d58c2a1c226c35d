//! Programs over arrays of known status: shapes by sorts of indexes and elements, both verdicts.

use std::rc::Rc;
use std::time::Duration;

use alphorn::{Config, solve};
use alphorn_chc::frontend::parse;
use alphorn_term::TermStore;
use alphorn_term::run::Context;
use alphorn_witness::Wanted;

/// The verdict of the engine alone and its statistics of this name; witnesses that fail are a
/// defect.
fn answer(text: &str, statistics: &str) -> (&'static str, u64) {
    answer_after("default", text, statistics)
}

/// The same after some passes.
fn answer_after(passes: &str, text: &str, statistics: &str) -> (&'static str, u64) {
    let terms = Rc::new(TermStore::new());
    let problem = parse(text, terms.clone()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut cx = Context::new(terms);
    cx.budget = cx.budget.work(Duration::from_secs(60));
    let config = Config {
        engine: "morph".to_owned(),
        passes: Some(passes.to_owned()),
        ..Config::default()
    };
    let answer = solve(&problem, &config, &mut cx).expect("the engine exists");
    assert_eq!(cx.stats.count("witness.failures"), 0, "{text}");
    let word = answer.output(&problem, Wanted::default()).word();
    (word, cx.stats.count(statistics))
}

/// How indexes and elements are written.
#[derive(Clone, Copy)]
struct Sorts {
    index: &'static str,
    element: &'static str,
    zero: &'static str,
    one: &'static str,
    less: &'static str,
    sum: &'static str,
    /// Two different elements.
    elements: [&'static str; 2],
}

const INTEGERS: Sorts = Sorts {
    index: "Int",
    element: "Int",
    zero: "0",
    one: "1",
    less: "<",
    sum: "+",
    elements: ["7", "8"],
};

const ALL: [Sorts; 4] = [
    INTEGERS,
    Sorts {
        element: "Bool",
        elements: ["true", "false"],
        ..INTEGERS
    },
    Sorts {
        element: "Real",
        elements: ["0.5", "1.5"],
        ..INTEGERS
    },
    Sorts {
        index: "(_ BitVec 3)",
        zero: "#b000",
        one: "#b001",
        less: "bvult",
        sum: "bvadd",
        ..INTEGERS
    },
];

/// A text with `I`, `E` and the other names of [`Sorts`] written out.
fn written(text: &str, sorts: Sorts) -> String {
    let names = [
        ("$I", sorts.index),
        ("$E", sorts.element),
        ("$0", sorts.zero),
        ("$1", sorts.one),
        ("$<", sorts.less),
        ("$+", sorts.sum),
        ("$x", sorts.elements[0]),
        ("$y", sorts.elements[1]),
    ];
    let text = names
        .iter()
        .fold(text.to_owned(), |text, (name, by)| text.replace(name, by));
    format!("(set-logic HORN)\n{text}\n(check-sat)\n")
}

/// A loop writes `x` to the cells below `n`, from `first` on; a second loop reads them.
fn initialise(first: &str, sorts: Sorts) -> String {
    let text = "
(declare-fun P ($I $I (Array $I $E)) Bool)
(declare-fun Q ($I $I (Array $I $E)) Bool)
(assert (forall ((i $I) (n $I) (a (Array $I $E))) (=> (= i FIRST) (P i n a))))
(assert (forall ((i $I) (n $I) (a (Array $I $E)))
    (=> (and (P i n a) ($< i n)) (P ($+ i $1) n (store a i $x)))))
(assert (forall ((i $I) (n $I) (j $I) (a (Array $I $E)))
    (=> (and (P i n a) (not ($< i n)) (= j $0)) (Q j n a))))
(assert (forall ((i $I) (n $I) (a (Array $I $E)))
    (=> (and (Q i n a) ($< i n)) (Q ($+ i $1) n a))))
(assert (forall ((i $I) (n $I) (a (Array $I $E)))
    (=> (and (Q i n a) ($< i n) (not (= (select a i) $x))) false)))";
    written(&text.replace("FIRST", first), sorts)
}

/// A loop copies an array to another, each at its base; `skew` is added to the index that is read.
fn copy(skew: &str, sorts: Sorts) -> String {
    let text = "
(declare-fun P ($I $I $I $I (Array $I $E) (Array $I $E)) Bool)
(assert (forall ((b $I) (c $I) (i $I) (n $I) (x (Array $I $E)) (y (Array $I $E)))
    (=> (= i $0) (P b c i n x y))))
(assert (forall ((b $I) (c $I) (i $I) (n $I) (x (Array $I $E)) (y (Array $I $E)))
    (=> (and (P b c i n x y) ($< i n))
        (P b c ($+ i $1) n x (store y ($+ c i) (select x ($+ b ($+ i SKEW))))))))
(assert (forall ((b $I) (c $I) (i $I) (n $I) (j $I) (x (Array $I $E)) (y (Array $I $E)))
    (=> (and (P b c i n x y) (not ($< i n)) (not ($< j $0)) ($< j n)
             (not (= (select x ($+ b j)) (select y ($+ c j))))) false)))";
    written(&text.replace("SKEW", skew), sorts)
}

#[test]
fn initialised_arrays() {
    for sorts in ALL {
        assert_eq!(answer(&initialise("$0", sorts), "").0, "sat");
        // The first cell is skipped.
        let skipped = initialise("$1", sorts);
        assert_eq!(answer(&skipped, "").0, "unsat");
    }
}

#[test]
fn copied_arrays() {
    let [integers, booleans, _, words] = ALL;
    for sorts in [integers, booleans] {
        assert_eq!(answer(&copy("$0", sorts), "").0, "sat");
    }
    // Over bit-vectors the safe one is hard for the engines.
    for sorts in [integers, words] {
        assert_eq!(answer(&copy("$1", sorts), "").0, "unsat");
    }
}

/// A copy in reverse order, which is no property of single cells.
fn reverse(last: &str) -> String {
    let text = "
(declare-fun P (Int Int (Array Int Int) (Array Int Int)) Bool)
(assert (forall ((i Int) (n Int) (x (Array Int Int)) (y (Array Int Int)))
    (=> (= i 0) (P i n x y))))
(assert (forall ((i Int) (n Int) (x (Array Int Int)) (y (Array Int Int)))
    (=> (and (P i n x y) (< i n)) (P (+ i 1) n x (store y i (select x (- (- n i) 1)))))))
(assert (forall ((i Int) (n Int) (j Int) (x (Array Int Int)) (y (Array Int Int)))
    (=> (and (P i n x y) (>= i n) (<= 0 j) (< j n)
             (not (= (select y j) (select x (- (- n j) LAST))))) false)))";
    written(&text.replace("LAST", last), INTEGERS)
}

#[test]
fn two_cells_on_demand() {
    assert_eq!(answer(&reverse("1"), "morph.cells"), ("sat", 2));
    assert_eq!(answer(&reverse("2"), "morph.cells").0, "unsat");
}

/// A loop reads an array of zeros: the cell that it reads has to be a premise.
#[test]
fn premises_on_demand() {
    let text = "
(declare-fun P (Int (Array Int Int) Int) Bool)
(assert (forall ((i Int) (a (Array Int Int)) (v Int)) (=> (and (= i 0) (= v 0)
    (= a ((as const (Array Int Int)) 0))) (P i a v))))
(assert (forall ((i Int) (a (Array Int Int)) (v Int))
    (=> (P i a v) (P (+ i 1) a (select a i)))))
(assert (forall ((i Int) (a (Array Int Int)) (v Int))
    (=> (and (P i a v) (not (= v LIMIT))) false)))";
    let sat = written(&text.replace("LIMIT", "0"), INTEGERS);
    // Other passes find that the array stays constant.
    assert_eq!(answer_after("none", &sat, "morph.spurious"), ("sat", 1));
    let unsat = written(&text.replace("LIMIT", "1"), INTEGERS);
    assert_eq!(answer_after("none", &unsat, "").0, "unsat");
}

/// The sum of three cells at indexes that stay: no two cells say that it is `SUM`.
#[test]
fn three_cells_are_too_many() {
    let text = "
(declare-fun P (Int Int Int (Array Int Int)) Bool)
(assert (forall ((x Int) (y Int) (z Int) (a (Array Int Int)))
    (=> (and (< x y) (< y z) (= (+ (select a x) (select a y) (select a z)) 1)) (P x y z a))))
(assert (forall ((x Int) (y Int) (z Int) (a (Array Int Int))) (=> (P x y z a)
    (P x y z (store (store a x (+ (select a x) 1)) y (- (select a y) 1))))))
(assert (forall ((x Int) (y Int) (z Int) (a (Array Int Int)))
    (=> (and (P x y z a) (not (= (+ (select a x) (select a y) (select a z)) SUM))) false)))";
    let of = |sum: &str| written(&text.replace("SUM", sum), INTEGERS);
    // Other passes would make the three cells arguments.
    assert_eq!(
        answer_after("none", &of("1"), "morph.cells"),
        ("unknown", 2)
    );
    assert_eq!(answer_after("none", &of("2"), "").0, "unsat");
}

/// An array read from another one, which no predicate has: its elements are no cells.
#[test]
fn arrays_within_arrays_are_no_cells() {
    let text = "
(declare-fun P (Int Int (Array Int Int)) Bool)
(assert (forall ((i Int) (n Int) (a (Array Int Int))) (=> (= i 0) (P i n a))))
(assert (forall ((i Int) (n Int) (j Int) (a (Array Int Int)) (c (Array Int Int))
        (m (Array Int (Array Int Int))))
    (=> (and (P i n a) (< i n) (= (select m j) (store a i 7)) (= c (select m (+ j SKEW)))
             (= (select (select m j) 0) 7))
        (P (+ i 1) n c))))
(assert (forall ((i Int) (n Int) (a (Array Int Int)))
    (=> (and (P i n a) (= i n) (> n 0) (not (= (select a 0) 7))) false)))";
    for (skew, wrong) in [("0", "unsat"), ("1", "sat")] {
        let text = written(&text.replace("SKEW", skew), INTEGERS);
        assert_ne!(answer_after("none", &text, "").0, wrong);
    }
}

/// A list of objects in a heap: nodes are allocated one after the other, each of which points to
/// the one before it, at `BACK`; then the list is freed from its end, node by node. Each object
/// that is freed has to be a node. The objects of a heap are of one of several types, or undefined.
fn list(back: &str) -> String {
    let text = "
(declare-datatypes ((Object 0)) (((number (value Int)) (node (next Int) (data Int))
    (range (first Int) (length Int)) (undefined))))
(declare-fun Build (Int (Array Int Object) Int) Bool)
(declare-fun Free (Int (Array Int Object) Int) Bool)
(assert (forall ((h (Array Int Object)))
    (=> (= h ((as const (Array Int Object)) undefined)) (Build 0 h 0))))
(assert (forall ((n Int) (h (Array Int Object)) (p Int) (d Int))
    (=> (Build n h p) (Build (+ n 1) (store h (+ n 1) (node BACK d)) (+ n 1)))))
(assert (forall ((n Int) (h (Array Int Object)) (p Int)) (=> (Build n h p) (Free n h p))))
(assert (forall ((n Int) (h (Array Int Object)) (p Int))
    (=> (and (Free n h p) (distinct p 0) ((_ is node) (select h p)))
        (Free n (store h p undefined) (next (select h p))))))
(assert (forall ((n Int) (h (Array Int Object)) (p Int))
    (=> (and (Free n h p) (distinct p 0) (not ((_ is node) (select h p)))) false)))";
    written(&text.replace("BACK", back), INTEGERS)
}

#[test]
fn lists_in_a_heap() {
    assert_eq!(answer(&list("p"), "").0, "sat");
    // The list ends outside of the heap; or each node points to itself and is freed twice.
    for back in ["(- p 1)", "(+ p 1)"] {
        assert_eq!(answer(&list(back), "").0, "unsat");
    }
}
