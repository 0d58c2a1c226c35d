//! Constants without definition: some value makes the text satisfiable.

#[path = "common/corpus.rs"]
mod corpus;

use std::rc::Rc;

use alphorn::frontend::{Options, Problem, parse, parse_with_options};
use alphorn::run::Context;
use alphorn::term::TermStore;
use alphorn::witness::{CheckOutcome, ProofFormat, Wanted, check_claim, parse_witness};
use alphorn::{Config, solve};
use corpus::trials::PATIENCE;

fn read(text: &str) -> Problem {
    let text = format!("{text}\n(check-sat)");
    parse(&text, Rc::new(TermStore::new())).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn context(problem: &Problem) -> Context {
    let mut cx = Context::new(problem.terms.clone());
    cx.budget = cx.budget.time(PATIENCE);
    cx
}

/// The verdict with its witness; no witness may fail its check, and a printed one passes it.
#[track_caller]
fn answer(text: &str) -> String {
    let problem = read(text);
    let mut cx = context(&problem);
    let answer = solve(&problem, &Config::default(), &mut cx).expect("a configuration");
    assert_eq!(cx.stats.count("witness.failures"), 0, "{text}");
    let wanted = Wanted {
        model: true,
        proof: Some(ProofFormat::Text),
        reason_unknown: true,
        ..Wanted::default()
    };
    let output = answer.output(&problem, wanted);
    let shown = format!("{}\n{}", output.word(), output.details());
    if output.word() != "unknown" {
        assert_eq!(judge(text, &shown), Some(CheckOutcome::Valid), "{shown}");
    }
    shown
}

/// The outcome of the check of a witness; `None` if it is not read.
fn judge(text: &str, witness: &str) -> Option<CheckOutcome> {
    let problem = read(text);
    let claim = parse_witness(&problem, witness).ok()?;
    Some(check_claim(&problem, &claim, &mut context(&problem)))
}

const COUNTER: &str = "(declare-const n Int) (declare-fun p (Int) Bool) (assert (p 0))
    (assert (forall ((x Int)) (=> (p x) (p (+ x 1)))))
    (assert (forall ((x Int)) (=> (p x) (not (= x n)))))";

#[test]
fn some_value_is_enough() {
    for (text, value) in [
        (
            "(declare-const n Int) (declare-fun p (Int) Bool)
             (assert (forall ((x Int)) (=> (distinct x 12345) (p x))))
             (assert (forall ((x Int)) (=> (p x) (distinct x n))))",
            "(define-fun n () Int 12345)",
        ),
        // No value that the counter reaches.
        (COUNTER, "(define-fun n () Int (- "),
        (
            "(declare-fun n () Int) (assert (and (> n 1) (not (= (- n 1) 1))))",
            "(define-fun n () Int ",
        ),
        (
            "(declare-const a Int) (declare-const b Int) (assert (> a b)) (assert (> b 7))
             (declare-fun p (Int) Bool) (assert (p b))
             (assert (forall ((x Int)) (=> (and (p x) (< x a)) (p (+ x 1)))))
             (assert (forall ((x Int)) (=> (p x) (<= x a))))",
            "(define-fun b () Int ",
        ),
        (
            "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
             (declare-const l L) (declare-fun p (L) Bool) (assert (p l))
             (assert (forall ((x Int) (y L)) (=> (p (cons x y)) false)))",
            "(define-fun l () L nil)",
        ),
        (
            "(declare-const v (_ BitVec 4)) (define-fun twice () (_ BitVec 4) (bvshl v #x1))
             (declare-fun p ((_ BitVec 4)) Bool) (assert (p twice))
             (assert (forall ((x (_ BitVec 4))) (=> (p x) (= x #x6))))
             (assert (bvult v #x4))",
            "(define-fun v () (_ BitVec 4) #x3)",
        ),
        // Functions.
        (
            "(declare-fun f (Int) Int) (assert (= (f 1) 3)) (assert (= (f 2) 4))
             (declare-fun p (Int) Bool) (assert (p (f 1)))
             (assert (forall ((x Int)) (=> (p x) (< x (f 2)))))",
            "(define-fun f ((x!0 Int)) Int ",
        ),
        (
            "(declare-fun g (Int Bool) Int) (declare-fun p (Int) Bool)
             (assert (forall ((x Int) (b Bool)) (=> (distinct (g x b) 5) (p x))))
             (assert (forall ((x Int)) (not (p x))))",
            "(define-fun g ((x!0 Int) (x!1 Bool)) Int 5)",
        ),
        (
            "(declare-sort X 0) (declare-fun h (X) X) (declare-fun p (X X) Bool)
             (assert (forall ((x X)) (p x (h x))))
             (assert (forall ((x X)) (=> (p x x) (= x (h x)))))",
            "(define-fun h ((x!0 X)) X ",
        ),
        (
            "(declare-sort X 0) (declare-const a X) (declare-const b X)
             (declare-fun p (X) Bool) (assert (p a)) (assert (not (p b)))",
            "(define-fun b () X ",
        ),
    ] {
        let shown = answer(text);
        assert!(shown.starts_with("sat"), "{text}\n{shown}");
        assert!(shown.contains(value), "{text}\n{shown}");
    }
}

#[test]
fn outermost_existential_quantifiers_are_constants() {
    for text in [
        "(declare-fun p (Int) Bool) (assert (exists ((x Int)) (and (p x) (> x 3))))
         (assert (forall ((x Int)) (=> (p x) (< x 10))))",
        "(declare-fun p (Int) Bool) (assert (not (forall ((x Int)) (or (p x) (< x 3)))))
         (assert (p 0))",
    ] {
        let shown = answer(text);
        assert!(shown.starts_with("sat"), "{text}\n{shown}");
    }
}

/// Refuted for each value, by a derivation of the same form.
#[test]
fn a_refutation_for_all_values_counts() {
    for text in [
        "(declare-const n Int) (declare-fun p (Int) Bool) (assert (p n))
         (assert (forall ((x Int)) (=> (p x) (distinct x n))))",
        "(declare-fun f (Int) Int) (declare-fun p (Int) Bool) (assert (p (f 0)))
         (assert (forall ((x Int)) (=> (p x) (distinct x (f 0)))))",
        "(declare-fun f (Int Int) Real) (declare-fun p (Real) Bool)
         (assert (forall ((x Int)) (p (f x 1)))) (assert (not (p (f 2 1))))",
        "(declare-const n Int) (declare-fun p (Int) Bool) (assert (p 0)) (assert (> n 4))
         (assert (forall ((x Int)) (=> (p x) (distinct x 0))))",
        "(declare-const n Int) (declare-fun p (Int) Bool) (assert (p 0))
         (assert (forall ((x Int)) (=> (and (p x) (< x n)) (p (+ x 1)))))
         (assert (forall ((x Int)) (=> (p x) (> x 5))))",
    ] {
        let shown = answer(text);
        assert!(shown.starts_with("unsat"), "{text}\n{shown}");
    }
}

/// There is a model for 12345 only, which the region of the first refutation leaves.
#[test]
fn a_refutation_for_some_values_does_not_count() {
    let text = "(declare-const n Int) (declare-fun p (Int) Bool)
        (assert (forall ((x Int)) (=> (distinct (* x x x) 1881365963625) (p x))))
        (assert (forall ((x Int)) (=> (p x) (distinct x n))))";
    let shown = answer(text);
    assert!(shown.contains("(define-fun n () Int 12345)"), "{shown}");
}

#[test]
fn witnesses_with_wrong_values_are_refused() {
    let model = "sat\n(\n(define-fun n () Int (- 1))\n(define-fun p ((x Int)) Bool (>= x 0))\n)";
    assert_eq!(judge(COUNTER, model), Some(CheckOutcome::Valid));
    for (from, to) in [
        ("(- 1)", "1"),
        ("Int (- 1)", "Real (- 0.5)"),
        ("Int (- 1)", "Real (- 1.0)"),
        ("n () Int", "n ((x Int)) Int"),
        ("(define-fun n () Int (- 1))", ""),
        (
            "(define-fun n () Int (- 1))",
            "(define-fun = ((x Int) (y Int)) Bool false)",
        ),
    ] {
        let wrong = model.replace(from, to);
        assert_ne!(wrong, model);
        assert_ne!(judge(COUNTER, &wrong), Some(CheckOutcome::Valid), "{wrong}");
    }
    // With a value for which the clauses are refuted, a refutation of them is none of the text.
    let steps = "unsat\n1: p(0) by clause 1\n2: false by clause 3 [n = 0, x = 0] from 1";
    let outcome = judge(COUNTER, steps);
    assert!(
        matches!(outcome, Some(CheckOutcome::Invalid(_))),
        "{outcome:?}"
    );
    // Other sorts than those of the declaration.
    let function = "(declare-fun f (Int) Int) (declare-fun p (Int) Bool) (assert (p (f 1)))
        (assert (= (f 1) 3))";
    let model = "sat\n((define-fun f ((x Int)) Int 3) (define-fun p ((x Int)) Bool (= x 3)))";
    assert_eq!(judge(function, model), Some(CheckOutcome::Valid));
    for (from, to) in [
        ("Int 3", "Int 4"),
        ("f ((x Int))", "f ((x Real))"),
        ("f ((x Int))", "f ((x Int) (y Int))"),
        ("f ((x Int))", "f ()"),
        ("f ((x Int)) Int 3", "f ((x Int)) Real 3.0"),
        ("(define-fun f ((x Int)) Int 3)", ""),
    ] {
        let wrong = model.replacen(from, to, 1);
        assert_ne!(
            judge(function, &wrong),
            Some(CheckOutcome::Valid),
            "{wrong}"
        );
    }
    // Three different values of a sort with two elements.
    let bits = "(declare-const a (_ BitVec 1)) (declare-const b (_ BitVec 1))
        (declare-const c (_ BitVec 1)) (declare-fun p () Bool) (assert (distinct a b c))";
    let model = "sat\n((define-fun a () Int 0) (define-fun b () Int 1) (define-fun c () Int 2)
        (define-fun p () Bool true))";
    assert_ne!(judge(bits, model), Some(CheckOutcome::Valid));
    assert!(!answer(bits).starts_with("sat"));
}

#[test]
fn what_stays_refused() {
    for (text, message) in [
        (
            "(declare-const n Int) (define-fun-rec f ((x Int)) Int (ite (<= x n) 0 (f (- x 1))))
             (assert (= (f 1) 0)) (check-sat)",
            "line 1 column 1: the constant `n` in a text with recursive functions",
        ),
        (
            "(declare-fun f (Int) Int) (assert (= (f 1 2) 0)) (check-sat)",
            "`f` takes 1 arguments, not 2",
        ),
        (
            "(declare-rel p (Int)) (declare-fun f (Int) Int) (rule (p (f 1))) (query p)",
            "`f` is neither predicate",
        ),
        (
            "(declare-const n Int) (assert (= (n 1) 0)) (check-sat)",
            "`n` takes no arguments",
        ),
    ] {
        let error = parse(text, Rc::new(TermStore::new()))
            .err()
            .expect("refused");
        assert!(
            error.to_string().contains(message),
            "{error}, expected: {message}"
        );
    }
    let strict = Options {
        strict: true,
        ..Options::default()
    };
    let text = format!("{COUNTER}(check-sat)");
    let error = parse_with_options(&text, Rc::new(TermStore::new()), strict).err();
    assert!(
        error
            .expect("refused")
            .to_string()
            .contains("is read as in SMT-LIB")
    );
    // Each construct is reported once, and unused constants are not.
    assert_eq!(read(COUNTER).warnings.len(), 1);
    let unused = read("(declare-const n Int) (declare-fun p () Bool) (assert p)");
    assert!(unused.constants.is_empty() && unused.warnings.is_empty());
}

/// A refutation for some values excludes all values for which its steps hold, until few are left.
#[test]
fn values_outside_of_refuted_regions() {
    for text in [
        // m = 99 and n = 100.
        "(declare-const n Int) (declare-const m Int) (assert (> n m)) (declare-fun p (Int) Bool)
         (assert (forall ((x Int)) (=> (and (<= m x) (<= x n)) (p x))))
         (assert (forall ((x Int)) (=> (and (p x) (> x 100)) false)))
         (assert (forall ((x Int)) (=> (and (p x) (< x 99)) false)))",
        "(declare-const r Real) (declare-fun p (Real) Bool) (assert (p r))
         (assert (forall ((x Real)) (=> (and (p x) (or (< x 0.25) (> x 0.375))) false)))",
        // The first three cells are 0, 2, 4.
        "(declare-const a (Array Int Int)) (declare-fun q (Int Int) Bool)
         (assert (forall ((i Int)) (=> (and (<= 0 i) (< i 3)) (q i (select a i)))))
         (assert (forall ((i Int) (v Int)) (=> (and (q i v) (not (= v (* 2 i)))) false)))",
        "(declare-datatype L ((nil) (cons (hd Int) (tl L)))) (declare-fun p (L) Bool)
         (declare-const l L) (assert (p l))
         (assert (forall ((a L)) (=> (p a)
            (and ((_ is cons) a) ((_ is cons) (tl a)) (> (hd a) 10) (< (hd a) (hd (tl a)))))))",
    ] {
        let shown = answer(text);
        assert!(shown.starts_with("sat"), "{shown}\n{text}");
    }
    // Each value is refuted, by three derivations.
    let shown = answer(
        "(declare-const n Int) (declare-fun p (Int) Bool) (assert (p n))
         (assert (forall ((x Int)) (=> (and (p x) (> x 5)) false)))
         (assert (forall ((x Int)) (=> (and (p x) (< x 5)) false)))
         (assert (forall ((x Int)) (=> (and (p x) (= x 5)) false)))",
    );
    assert!(!shown.starts_with("sat"), "{shown}");
}
