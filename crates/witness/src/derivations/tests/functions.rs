//! Models that define predicates by total functions, and broken ones.

use std::collections::BTreeSet;

use super::data::{FIB, PARITY, PRODUCT, Proof};
use super::{context, judge, problem, twin};
use crate::CheckOutcome;
use alphorn_smt::text::{TextCheck, valid_assertions};

/// A model before a proof, and what breaks it: a name, a part of the model, what replaces it, and a
/// part of the message.
struct Example {
    proof: &'static Proof,
    model: &'static str,
    breaks: &'static [(&'static str, &'static str, &'static str, &'static str)],
}

const FIB_MODEL: Example = Example {
    proof: &FIB,
    model: "(
  (define-fun-rec fib! ((x Int)) Int (ite (< x 2) 1 (+ (fib! (- x 1)) (fib! (- x 2)))))
  (define-fun fib ((x Int) (y Int)) Bool (= y (fib! x)))
)
; measure fib! (0)
; derived (fib x y) :measure (x) :unfold ((fib! x)) :cases ((0 x) (1 x (fib! (- x 1)) (fib! (- x 2))))
",
    breaks: &[
        ("a changed branch", "(< x 2) 1 (+", "(< x 2) 2 (+", "that facts of fib have derivations does not hold"),
        ("a changed call", "(fib! (- x 2)))))", "(fib! (- x 3)))))", "that facts of fib have derivations does not hold"),
        ("a changed condition", "(ite (< x 2)", "(ite (< x 3)", "that facts of fib have derivations does not hold"),
        ("a smaller condition", "(ite (< x 2)", "(ite (< x 1)", "have derivations does not hold"),
        ("a recursion that does not end", "(ite (< x 2) 1", "(ite (= x 1) 1", "smaller arguments does not hold"),
        ("a recursion that stays", "(fib! (- x 1)) (fib! (- x 2)))))", "(fib! x) (fib! (- x 2)))))", "smaller arguments does not hold"),
        ("no measure", "; measure fib! (0)", ";", "it is recursive and has no measure"),
        ("a smaller domain", "Bool (= y (fib! x))", "Bool (and (>= x 0) (= y (fib! x)))", "clause 0 in the model does not hold"),
        ("a domain with an end", "Bool (= y (fib! x))", "Bool (and (< x 9) (= y (fib! x)))", "clause 1 in the model does not hold"),
        ("a domain that calls leave", "Bool (= y (fib! x))", "Bool (and (distinct x 3) (= y (fib! x)))", "that facts of fib have derivations does not hold"),
        ("no facts", "Bool (= y (fib! x))", "Bool false", "clause 0 in the model does not hold"),
        ("all facts", "Bool (= y (fib! x))", "Bool true", "that facts of fib have derivations does not hold"),
        ("a missing case", "(0 x) (1", "(1", "that facts of fib have derivations does not hold"),
        ("a missing recursive case", " (1 x (fib! (- x 1)) (fib! (- x 2)))", "", "that facts of fib have derivations does not hold"),
        ("a case of a clause that is not there", "(0 x)", "(2 x)", "a clause that is not there"),
        ("a case with other values", "(1 x (fib! (- x 1)) (fib! (- x 2)))", "(1 x (fib! (- x 2)) (fib! (- x 1)))", "have derivations does not hold"),
        ("a case with too few values", "(0 x)", "(0)", "not as many values as variables"),
        ("no measure of facts", ":measure (x) ", "", "measures that do not suit each other"),
        ("a constant measure of facts", ":measure (x)", ":measure (3)", "that facts of fib have derivations does not hold"),
        ("a negative measure of facts", ":measure (x)", ":measure ((- x 3))", "that facts of fib have derivations does not hold"),
        ("a measure of facts that grows", ":measure (x)", ":measure ((- x))", "that facts of fib have derivations does not hold"),
        ("a measure of facts that is Boolean", ":measure (x)", ":measure ((< x 1))", "Z3 rejects"),
        ("no unfolding", ":unfold ((fib! x)) ", "", "that facts of fib have derivations does not hold"),
        ("an unfolding of another call", ":unfold ((fib! x))", ":unfold ((fib! y))", "that facts of fib have derivations does not hold"),
        ("an unfolding of no function", ":unfold ((fib! x))", ":unfold ((fib x y))", "there is no function fib"),
        ("an unfolding with other arguments", ":unfold ((fib! x))", ":unfold ((fib! x y))", "fib! with other arguments"),
        ("an argument like a function", "(fib x y) :measure", "(fib x fib!) :measure", "an argument with the name of a function"),
        ("a term that ends early", "(0 x)", "(0 x) (assert false)", "a number is needed"),
        ("tokens that solvers split", ":measure (x)", ":measure (0x)", "solvers may read this differently"),
        ("an unknown keyword", ":unfold", ":fold", "has no place here"),
        ("two lines about the facts", "; derived (fib x y)", "; derived (fib x y)\n; derived (fib x y)", "not one line about the facts"),
        ("a function of the other definitions", "  (define-fun fib (", "  (define-fun g ((x Int)) Int x)\n  (define-fun fib (", "g is neither a predicate nor recursive"),
        ("a predicate without definition", "  (define-fun fib ((x Int) (y Int)) Bool (= y (fib! x)))\n", "", "fib is not defined"),
        ("a measure that calls the function", "; measure fib! (0)", "; measure fib! ((fib! x))", "a measure that calls a recursive function"),
        ("a measure of the function that is constant", "; measure fib! (0)", "; measure fib! ((+ 1 2))", "smaller arguments does not hold"),
        ("a measure of the function that is negative", "; measure fib! (0)", "; measure fib! ((- x 3))", "smaller arguments does not hold"),
        ("another measure that falls", "; measure fib! (0)", "; measure fib! ((+ x 3))", ""),
        ("pairs that fall", ":measure (x)", ":measure (0 x)", ""),
        ("pairs that do not fall", ":measure (x)", ":measure ((- x) x)", "have derivations does not hold"),
        ("a lemma that the proof lacks", "; derived", "; lemma l ((x Int)) (> (fib! x) 0)\n; derived", "lemmas about functions"),
    ],
};

const PRODUCT_MODEL: Example = Example {
    proof: &PRODUCT,
    model: "(
  (define-fun-rec m! ((x Int) (y Int)) Int (ite (>= x 0) (ite (= x 0) 0 (+ (m! (- x 1) y) y)) 0))
  (define-fun mult ((x Int) (y Int) (z Int)) Bool (and (>= x 0) (= z (m! x y))))
)
; measure m! (x)
; derived (mult x y z) :measure (x) :unfold ((m! x y)) :cases ((0 y) (1 x y (m! (- x 1) y)))
",
    breaks: &[
        (
            "a larger domain of the predicate",
            "(and (>= x 0) (= z",
            "(and (>= x (- 1)) (= z",
            "have derivations does not hold",
        ),
        (
            "no domain of the predicate",
            "(and (>= x 0) (= z",
            "(and true (= z",
            "have derivations does not hold",
        ),
        (
            "another domain",
            "(and (>= x 0) (= z",
            "(and (>= x 1) (= z",
            "have derivations does not hold",
        ),
        (
            "no domain of the function",
            "(ite (>= x 0) (ite",
            "(ite true (ite",
            "smaller arguments does not hold",
        ),
        (
            "another base",
            "(ite (= x 0) 0",
            "(ite (= x 0) y",
            "have derivations does not hold",
        ),
        ("another value outside", "y)) 0))", "y)) 7))", ""),
    ],
};

const PARITY_MODEL: Example = Example {
    proof: &PARITY,
    model: "(
  (define-funs-rec ((even! ((x Int)) Bool) (odd! ((x Int)) Bool))
    ((and (>= x 0) (or (= x 0) (odd! (- x 1)))) (and (> x 0) (even! (- x 1)))))
  (define-fun even ((x Int) (v Bool)) Bool (and (>= x 0) (= v (even! x))))
  (define-fun odd ((x Int) (v Bool)) Bool (and (>= x 0) (= v (odd! x))))
  (define-fun same () Bool false)
)
; measure even! (x)
; measure odd! (x)
; derived (even x v) :measure (x) :unfold ((even! x)) :cases ((0) (1 x v))
; derived (odd x v) :measure (x) :unfold ((odd! x)) :cases ((0) (1 x v))
; derived (same) :cases ()
",
    breaks: &[
        (
            "a fact of the error",
            "same () Bool false",
            "same () Bool true",
            "facts of same have derivations does not hold",
        ),
        (
            "measures of different lengths",
            "; measure odd! (x)",
            "; measure odd! (x x)",
            "does not suit that of",
        ),
        (
            "a fact's measures of different lengths",
            "(odd x v) :measure (x)",
            "(odd x v) :measure (x x)",
            "do not suit each other",
        ),
        (
            "a circle of two functions",
            "(even! (- x 1)))))",
            "(even! (+ x 1)))))",
            "smaller arguments does not hold",
        ),
        (
            "values exchanged",
            "((0) (1 x v))\n; derived (same)",
            "((0) (1 x (not v)))\n; derived (same)",
            "facts of odd have derivations does not hold",
        ),
        (
            "no line about the error",
            "; derived (same) :cases ()\n",
            "",
            "not one line about the facts of same",
        ),
    ],
};

const EXAMPLES: [&Example; 3] = [&FIB_MODEL, &PRODUCT_MODEL, &PARITY_MODEL];

fn witness(example: &Example) -> String {
    format!("{}{}\n", example.model, example.proof.witness)
}

#[test]
fn models_by_functions_are_accepted() {
    for example in EXAMPLES {
        let problem = problem(example.proof.clauses);
        let outcome = judge(&problem, &witness(example));
        assert_eq!(outcome, CheckOutcome::Valid, "{}", example.proof.name);
    }
}

#[test]
fn broken_models_by_functions_are_refused() {
    let mut wrong = String::new();
    let mut names = BTreeSet::new();
    for example in EXAMPLES {
        let problem = problem(example.proof.clauses);
        for (name, part, instead, message) in example.breaks {
            assert!(names.insert(*name), "{name}");
            assert!(example.model.contains(part), "{name}: {part}");
            let witness = witness(example).replacen(part, instead, 1);
            let outcome = judge(&problem, &witness);
            let is_expected = match &outcome {
                CheckOutcome::Invalid(found) => !message.is_empty() && found.contains(message),
                // A change that leaves a model.
                CheckOutcome::Valid => message.is_empty(),
                CheckOutcome::Undecided { .. } => false,
            };
            if !is_expected {
                wrong += &format!("{name}: {outcome:?}, expected: {message}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(names.len() >= 45, "{}", names.len());
}

/// Other numbers in the place of each number of a model: what is accepted has the same facts.
#[test]
fn accepted_changes_keep_the_facts() {
    let mut accepted = 0;
    for (example, fact) in [
        (
            &FIB_MODEL,
            "(and (fib 6 13) (not (fib 6 12)) (fib (- 3) 1))",
        ),
        (
            &PRODUCT_MODEL,
            "(and (mult 3 5 15) (not (mult 3 5 14)) (not (mult (- 1) 0 0)))",
        ),
    ] {
        let problem = problem(example.proof.clauses);
        let digits = example.model.char_indices();
        for (at, digit) in digits.filter(|(_, c)| c.is_ascii_digit()) {
            for other in ('0'..='4').filter(|&other| other != digit) {
                let (before, after) = (&example.model[..at], &example.model[at + 1..]);
                let model = format!("{before}{other}{after}");
                let outcome = judge(&problem, &format!("{model}{}\n", example.proof.witness));
                if outcome != CheckOutcome::Valid {
                    continue;
                }
                accepted += 1;
                let definitions = model.trim_start_matches('(').split("\n)\n").next();
                let text = format!("{}\n(assert {fact})", definitions.unwrap_or_default());
                let found = valid_assertions(&text, &context(&problem).budget);
                assert_eq!(found, TextCheck::Valid { assertions: 1 }, "{model}");
            }
        }
    }
    assert!(accepted > 0);
}

/// The proof is checked with the model: that of other queries does not pass.
#[test]
fn a_model_by_functions_needs_the_proof() {
    for example in EXAMPLES {
        let problem = twin(example.proof);
        let outcome = judge(&problem, &witness(example));
        assert!(matches!(outcome, CheckOutcome::Invalid(_)), "{outcome:?}");
    }
    let problem = problem(FIB.clauses);
    let queries = FIB.witness.find("; query").expect("a query");
    let without = format!("{}{}", FIB_MODEL.model, &FIB.witness[..queries]);
    let outcome = judge(&problem, &without);
    assert!(
        matches!(&outcome, CheckOutcome::Invalid(why) if why.contains("0 queries")),
        "{outcome:?}"
    );
    // Without a proof it is a model with a certificate, whose query does not follow.
    let outcome = judge(&problem, FIB_MODEL.model);
    assert_ne!(outcome, CheckOutcome::Valid);
}
