//! Texts of which the clauses are only one reading: sorts without definition, and `forall` over
//! predicates in bodies. An answer that the reading does not justify is `unknown`.

use std::rc::Rc;

use alphorn::frontend::parse;
use alphorn::run::Context;
use alphorn::term::TermStore;
use alphorn::witness::{CheckOutcome, ProofFormat, Wanted, check_claim, parse_witness};
use alphorn::{Config, solve};

/// The answer about a text and its witness, which has to pass the check when it is read back.
fn answer(text: &str) -> (&'static str, String) {
    let text = format!("(set-logic HORN)\n{text}\n(check-sat)\n");
    let terms = Rc::new(TermStore::new());
    let problem = parse(&text, terms.clone()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut cx = Context::new(terms);
    let answer = solve(&problem, &Config::default(), &mut cx).expect("no names");
    assert_eq!(cx.stats.count("witness.failures"), 0, "{text}");
    let wanted = Wanted {
        model: true,
        proof: Some(ProofFormat::Text),
        reason_unknown: true,
        ..Wanted::default()
    };
    let output = answer.output(&problem, wanted);
    if output.word() != "unknown" {
        let printed = format!("{}\n{}", output.word(), output.details());
        let claim = parse_witness(&problem, &printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
        let outcome = check_claim(&problem, &claim, &mut cx);
        assert_eq!(outcome, CheckOutcome::Valid, "{printed}\n{text}");
    }
    (output.word(), output.details().to_owned())
}

const GRAPH: &str = "(declare-sort Node 0)
    (declare-fun edge (Node Node) Bool)
    (declare-fun path (Node Node Int) Bool)
    (assert (forall ((a Node)) (path a a 0)))
    (assert (forall ((a Node) (b Node) (c Node) (n Int))
        (=> (and (path a b n) (edge b c)) (path a c (+ n 1)))))
    (assert (forall ((a Node) (b Node) (n Int)) (=> (and (path a b n) (< n 0)) false)))";

#[test]
fn sorts_without_definition() {
    let (word, model) = answer(GRAPH);
    assert_eq!(word, "sat");
    assert!(model.contains("(define-sort Node () Int)"), "{model}");
    // A path of two steps exists if there are edges everywhere.
    let more = "(assert (forall ((a Node) (b Node)) (edge a b)))
        (assert (forall ((a Node) (b Node)) (not (path a b 2))))";
    let (word, proof) = answer(&format!("{GRAPH}{more}"));
    assert_eq!(word, "unsat");
    assert!(proof.contains("(Node!of"), "{proof}");
}

#[test]
fn small_sets_are_tried_if_elements_have_to_be_equal() {
    // At most two elements.
    let two = "(declare-sort S 0) (declare-fun p (S) Bool) (declare-fun q (S (Array Int S)) Bool)
        (assert (forall ((x S) (y S) (z S)) (or (= x y) (= y z) (= x z))))
        (assert (forall ((x S) (a (Array Int S))) (=> (= x (select a 3)) (q x a))))
        (assert (forall ((x S) (a (Array Int S))) (=> (and (q x a) (distinct x (select a 3))) false)))";
    let (word, model) = answer(two);
    assert_eq!(word, "sat");
    assert!(model.contains("declare-datatypes ((S 0))"), "{model}");
    // Two values of a datatype over the sort.
    let pair = "(declare-sort S 0)
        (declare-datatypes ((Pair 0)) (((pair (first S) (second S)))))
        (declare-fun p (Pair) Bool)
        (assert (forall ((x S) (y S)) (p (pair x y))))
        (assert (forall ((a Pair)) (=> (and (p a) (distinct (first a) (second a))) false)))";
    assert_eq!(answer(pair).0, "sat");
    let unequal = "(assert (forall ((x S)) (not (p (pair x x)))))";
    assert_eq!(answer(&format!("{pair}{unequal}")).0, "unsat");
}

#[test]
fn one_element_has_all_open_values() {
    // The head of the empty list is some element; it is that of each list if there is only one.
    let text = "(declare-sort X 0) (declare-datatype L ((nil) (cons (hd X) (tl L))))
        (declare-fun p (L L) Bool) (assert (forall ((l L)) (p nil l)))
        (assert (forall ((l L) (k L)) (=> (p l k) (= (hd l) (hd k)))))";
    assert_eq!(answer(text).0, "sat");
    let two = format!(
        "{text} (declare-fun q (X) Bool) (assert (forall ((x X)) (exists ((y X))
        (and (distinct x y) (q y)))))"
    );
    assert_ne!(answer(&two).0, "sat");
}

#[test]
fn definitions_of_sorts_in_models_are_checked() {
    let terms = Rc::new(TermStore::new());
    let text = "(declare-sort S 0) (declare-fun p (S S) Bool)
        (assert (forall ((x S) (y S)) (p x y)))
        (assert (forall ((x S) (y S)) (=> (and (p x y) (distinct x y)) false)))
        (check-sat)";
    let problem = parse(text, terms.clone()).expect("a problem");
    let mut cx = Context::new(terms);
    let mut check = |model: &str| match parse_witness(&problem, model) {
        Ok(claim) => check_claim(&problem, &claim, &mut cx) == CheckOutcome::Valid,
        Err(_) => false,
    };
    let p = "(define-fun p ((x S) (y S)) Bool true)";
    assert!(check(&format!(
        "((declare-datatypes ((S 0)) (((only)))) {p})"
    )));
    assert!(!check(&format!("((define-sort S () Int) {p})")));
    assert!(!check(&format!(
        "((declare-datatypes ((S 0)) (((a) (b)))) {p})"
    )));
    // Constructors with arguments, names of the text, other sorts.
    assert!(!check(&format!(
        "((declare-datatypes ((S 0)) (((only (n Int))))) {p})"
    )));
    assert!(!check(&format!(
        "((declare-datatypes ((S 0)) (((p)))) {p})"
    )));
    assert!(!check(&format!("((define-sort T () Int) {p})")));
    assert!(!check(&format!("({p})")));
}

/// A goal holds only if it does for each set of elements: this one fails for one element.
#[test]
fn goals_about_sorts_without_definition_have_no_answer() {
    let text = "(declare-sort S 0)
        (define-fun-rec count ((n Int)) Int (ite (<= n 0) 0 (+ 1 (count (- n 1)))))
        (assert (not (forall ((x S) (n Int)) (=> (forall ((y S)) (= x y)) (< (count n) 0)))))";
    assert_eq!(answer(text).0, "unknown");
}

#[test]
fn universal_quantifiers_in_bodies() {
    // All elements are positive, and stay so.
    let text = "(declare-fun cell (Int Int) Bool)
        (assert (forall ((a (Array Int Int)))
            (=> (forall ((i Int)) (> (select a i) 0)) (forall ((i Int)) (cell i (select a i))))))
        (assert (forall ((a (Array Int Int)) (k Int))
            (=> (forall ((i Int)) (cell i (select a i)))
                (forall ((i Int)) (cell i (select (store a k 7) i))))))
        (assert (forall ((a (Array Int Int)) (k Int))
            (=> (and (forall ((i Int)) (cell i (select a i))) (<= (select a k) 0)) false)))";
    assert_eq!(answer(text).0, "sat");
    // The body holds for the array of zeros.
    let zeros = "(declare-fun cell (Int Int) Bool)
        (assert (forall ((i Int)) (cell i 0)))
        (assert (forall ((a (Array Int Int))) (not (forall ((i Int)) (cell i (select a i))))))";
    assert_eq!(answer(zeros).0, "unsat");
    // No array has a cell at each of two neighbours.
    let odd = "(declare-fun cell (Int Int) Bool)
        (assert (forall ((i Int)) (cell (+ 1 (* 2 i)) 0)))
        (assert (forall ((a (Array Int Int))) (not (forall ((i Int)) (cell i (select a i))))))";
    assert_eq!(answer(odd).0, "sat");
    // Instances are refuted, and the text is satisfiable: no array has a cell everywhere.
    let hole = odd.replace(
        "(cell (+ 1 (* 2 i)) 0)",
        "(=> (distinct i 12345) (cell i 0))",
    );
    let (word, reason) = answer(&hole);
    assert_eq!(word, "unknown");
    assert!(reason.contains("instances"), "{reason}");
}

#[test]
fn existential_quantifiers_in_heads() {
    let text = |head: &str, query: &str| {
        format!(
            "(declare-fun p (Int) Bool) (declare-fun q (Int Int) Bool) (declare-fun r (Real) Bool)
             (assert (p 0))
             (assert (forall ((x Int)) (=> (p x) {head})))
             (assert (forall ((x Int) (y Int)) (=> {query} false)))"
        )
    };
    for (head, query, verdict) in [
        // Equations determine the variable.
        (
            "(exists ((y Int)) (and (= (- y 1) x) (q x y)))",
            "(and (q x y) (= x y))",
            "sat",
        ),
        (
            "(exists ((y Int)) (and (= (- y 1) x) (q x y)))",
            "(and (q x y) (= (+ x 1) y))",
            "unsat",
        ),
        (
            "(exists ((y Int) (z Int)) (and (q y z) (= (+ y z) 4) (= y (+ x z (- z)))))",
            "(and (q x y) (> x 0))",
            "sat",
        ),
        // Bounds give a value.
        (
            "(exists ((y Int)) (and (> y x) (q x y)))",
            "(and (q x y) (<= y x))",
            "sat",
        ),
        (
            "(exists ((y Int)) (and (< y x) (q x y)))",
            "(and (q x y) (>= y x))",
            "sat",
        ),
        (
            "(exists ((y Int)) (and (distinct y x) (q x y)))",
            "(and (q x y) (= y x))",
            "sat",
        ),
        (
            "(exists ((y Int) (z Int)) (and (>= y x) (> z y) (q y z)))",
            "(and (q x y) (>= x y))",
            "sat",
        ),
        (
            "(exists ((y Real)) (and (> y 0.5) (r y)))",
            "(and (r 0.25) (p x))",
            "sat",
        ),
        // Another value than the one that is tried.
        (
            "(exists ((y Int)) (and (> y x) (q x y)))",
            "(and (q x y) (= y (+ x 1)))",
            "unknown",
        ),
        // No value: the check of the last step has the formula as it is written.
        (
            "(exists ((y Int)) (and (> y x) (q x y)))",
            "(q x y)",
            "unsat",
        ),
    ] {
        let (word, reason) = answer(&text(head, query));
        assert_eq!(word, verdict, "{head}, {query}");
        assert!(
            word != "unknown" || reason.contains("instances"),
            "{reason}"
        );
    }
}
