//! `folds` on a handwritten system: functions as codes.

use std::rc::Rc;

use super::decide::after;
use crate::normalize;
use alphorn_chc::System;
use alphorn_chc::frontend::parse;
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
