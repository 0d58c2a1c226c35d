//! `disequal` and `folds` on handwritten systems: relations that define equality or its
//! negation and others that only look like it, functions as codes.

use std::rc::Rc;

use super::decide::{after, check_pipeline};
use crate::normalize;
use alphorn_chc::System;
use alphorn_chc::frontend::parse;
use alphorn_smt::Smt;
use alphorn_term::TermStore;

/// A system over lists of Peano numerals, written as SMT-LIB.
fn system(text: &str) -> System {
    let head = "(set-logic HORN)
(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-datatypes ((Lst 0)) (((nil) (cons (head Nat) (tail Lst)))))";
    let terms = Rc::new(TermStore::new());
    let problem = parse(&format!("{head}\n{text}\n(check-sat)\n"), terms).unwrap();
    normalize(&problem).0
}

/// The relations have infinitely many facts, so only the system after the passes can be decided by
/// enumeration.
fn is_decided(system: &System, lists: &[&str], sat: bool) {
    let smt = Smt::new(system.terms.clone());
    for passes in lists {
        assert_eq!(check_pipeline(system, passes, &smt), sat, "{passes}");
    }
}

fn names(system: &System) -> Vec<String> {
    let predicates = system.used_predicates().into_iter();
    predicates
        .map(|p| system.predicate(p).name.clone())
        .collect()
}

const NUMBERS: &str = "
(declare-fun other (Nat Nat) Bool)
(assert (forall ((x Nat)) (other zero (succ x))))
(assert (forall ((x Nat)) (other (succ x) zero)))
(assert (forall ((x Nat) (y Nat)) (=> (other x y) (other (succ x) (succ y)))))";

const LISTS: &str = "
(declare-fun differ (Lst Lst) Bool)
(assert (forall ((h Nat) (t Lst)) (differ nil (cons h t))))
(assert (forall ((h Nat) (t Lst)) (differ (cons h t) nil)))
(assert (forall ((g Nat) (h Nat) (s Lst) (t Lst)) (=> (other g h) (differ (cons g s) (cons h t)))))
(assert (forall ((g Nat) (h Nat) (s Lst) (t Lst)) (=> (differ s t) (differ (cons g s) (cons h t)))))";

/// Facts about two lists, and a query whether one of them differs from VALUE.
const TWO: &str = "
(declare-fun P (Lst) Bool)
(assert (P nil))
(assert (P (cons (succ zero) (cons zero nil))))
(assert (forall ((x Lst) (y Lst)) (=> (and (P x) (P y) (differ x y) (= x VALUE)) false)))";

#[test]
fn disequality_by_recursion() {
    let text = format!("{NUMBERS}{LISTS}{TWO}");
    let values = [
        ("(cons (succ zero) (cons zero nil))", false),
        ("nil", false),
        ("(cons zero (cons zero nil))", true),
    ];
    for (value, sat) in values {
        let system = system(&text.replace("VALUE", value));
        assert_eq!(names(&after(&system, "disequal")), ["P"]);
        let lists = ["disequal", "disequal,simplify", "disequal,sizes"];
        is_decided(&system, &lists, sat);
    }
}

/// Without one of its clauses a relation satisfies the same literal, but derives less: it is kept.
#[test]
fn a_relation_that_derives_less_stays() {
    let cut = NUMBERS.replace("(assert (forall ((x Nat)) (other (succ x) zero)))", "");
    let system = system(&format!("{cut}{LISTS}{TWO}").replace("VALUE", "nil"));
    // It no longer distinguishes lists of different numerals.
    assert_eq!(names(&after(&system, "disequal")).len(), 3);
}

#[test]
fn truth_values_of_equality() {
    let text = "
(declare-fun same (Nat Nat Bool) Bool)
(assert (same zero zero true))
(assert (forall ((x Nat)) (same zero (succ x) false)))
(assert (forall ((x Nat)) (same (succ x) zero false)))
(assert (forall ((x Nat) (y Nat) (b Bool)) (=> (same x y b) (same (succ x) (succ y) b))))
(declare-fun P (Nat) Bool)
(assert (P zero))
(assert (forall ((x Nat)) (=> (and (P x) (same x zero true)) (P (succ (succ x))))))
(assert (forall ((x Nat) (b Bool)) (=> (and (P x) (same x (succ (succ zero)) b) (= b VALUE)
    (not (= x zero))) false)))";
    for (value, sat) in [("false", true), ("true", false)] {
        let system = system(&text.replace("VALUE", value));
        assert_eq!(names(&after(&system, "disequal")), ["P"]);
        is_decided(&system, &["disequal", "disequal,simplify"], sat);
    }
}

/// The sum of a list is one of its codes, and so is its length; every list gets both.
#[test]
fn functions_become_arguments() {
    let system = system(
        "
(declare-datatypes ((Ints 0)) (((end) (add (value Int) (rest Ints)))))
(declare-fun sum (Ints Int) Bool)
(assert (sum end 0))
(assert (forall ((h Int) (t Ints) (n Int)) (=> (sum t n) (sum (add h t) (+ h n)))))
(declare-fun P (Ints Int) Bool)
(assert (P end 0))
(assert (forall ((x Ints) (n Int)) (=> (P x n) (P (add 3 (add (- 2) x)) (+ n 1)))))
(assert (forall ((x Ints) (n Int) (s Int)) (=> (and (P x n) (sum x s) (not (= s n))) false)))",
    );
    let folded = after(&system, "folds");
    let arity = |system: &System, name: &str| {
        let mut predicates = system.used_predicates().into_iter();
        let found = predicates.find(|&p| system.predicate(p).name == name);
        system.predicate(found.expect("it is used")).arity()
    };
    assert_eq!((arity(&system, "P"), arity(&folded, "P")), (2, 4));
    assert_eq!((arity(&system, "sum"), arity(&folded, "sum")), (2, 4));
}
