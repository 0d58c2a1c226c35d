//! `variants` on handwritten systems: datatypes whose constructors share variables, tags of two and
//! of more constructors, values that come from arrays or are arbitrary.

use std::rc::Rc;

use super::decide::{after, check};
use crate::normalize;
use alphorn_chc::System;
use alphorn_chc::frontend::parse;
use alphorn_term::{Sort, TermStore};

/// A system over shapes and boxes of two kinds, written as SMT-LIB.
fn system(text: &str) -> System {
    let head = "(set-logic HORN)
(declare-datatypes ((Pair 0)) (((pair (left Int) (right Bool)))))
(declare-datatypes ((Shape 0)) (((circle (radius Int)) (square (side Int) (open Bool))
    (both (sides Pair)) (named (name Int) (other Int)) (nothing))))";
    let terms = Rc::new(TermStore::new());
    let problem = parse(&format!("{head}\n{text}\n(check-sat)\n"), terms).unwrap();
    normalize(&problem).0
}

/// Lists of passes for systems that `variants` takes apart.
const LISTS: [&str; 5] = [
    "variants",
    "variants,simplify",
    "variants,records,propagate,simplify",
    "constructors,variants,simplify,inline",
    "default,variants",
];

/// Whether some predicate has an argument of a datatype with several constructors.
fn has_sums(system: &System) -> bool {
    let terms = &system.terms;
    let params = system.used_predicates().into_iter();
    params
        .flat_map(|p| &system.predicate(p).params)
        .any(|&v| match terms.sort(terms.sort_of(v)) {
            Sort::Datatype(id) => terms.datatype(id).constructors.len() > 1,
            _ => false,
        })
}

fn check_both(text: &str, good: &str, bad: &str) {
    for (value, sat) in [(good, true), (bad, false)] {
        let system = system(&text.replace("VALUE", value));
        assert!(has_sums(&system));
        assert!(!has_sums(&after(&system, "variants,records,variants")));
        check(&system, &LISTS, sat);
    }
}

/// A value that changes its constructor repeatedly, with four constructors; the fields are passed
/// along.
#[test]
fn from_constructor_to_constructor() {
    let text = "
(declare-fun P (Int Shape) Bool)
(assert (forall ((x Shape)) (=> (= x (circle 3)) (P 0 x))))
(assert (forall ((i Int) (x Shape) (y Shape)) (=> (and (P i x) (< i 4)
    (= y (ite ((_ is circle) x) (square (+ (radius x) 1) true)
         (ite ((_ is square) x) (both (pair (side x) (not (open x))))
         (ite ((_ is both) x) (named (left (sides x)) (ite (right (sides x)) 1 2))
         nothing)))))
    (P (+ i 1) y))))
(assert (forall ((x Shape)) (=> (and (P 3 x) (= x VALUE)) false)))";
    check_both(text, "(named 4 1)", "(named 4 2)");
    check_both(text, "nothing", "(named 4 2)");
}

/// Two constructors in arguments; one local variable has others, and one has any.
#[test]
fn two_constructors() {
    let text = "
(declare-fun P (Int Shape) Bool)
(declare-fun Q (Shape Shape) Bool)
(assert (forall ((x Shape)) (=> (= x nothing) (P 2 x))))
(assert (forall ((i Int) (x Shape) (y Shape) (z Shape)) (=> (and (P i x) (= y (named i 7))
    (or (= z y) (= z x) ((_ is square) z)) (not ((_ is square) z)) (< i 4)
    (or (= z nothing) (= (name z) 2)))
    (P (+ i 1) z))))
(assert (forall ((i Int) (x Shape) (y Shape)) (=> (and (P i x) (P 3 y)) (Q x y))))
(assert (forall ((x Shape) (y Shape)) (=> (and (Q x y) ((_ is named) x) ((_ is named) y)
    (or (distinct x y) VALUE)) false)))";
    check_both(text, "(= (other x) 8)", "(= (other x) 7)");
    check_both(text, "((_ is circle) x)", "((_ is named) x)");
}

/// Values that are read from an array, which is kept, and written to it.
#[test]
fn values_of_arrays() {
    let text = "
(declare-fun P (Int Shape (Array Int Shape)) Bool)
(assert (forall ((x Shape) (a (Array Int Shape)))
    (=> (and (= a (store ((as const (Array Int Shape)) nothing) 1 (circle 5))) (= x (circle 1)))
        (P 0 x a))))
(assert (forall ((i Int) (x Shape) (y Shape) (a (Array Int Shape)) (b (Array Int Shape)))
    (=> (and (P i x a) (< i 2) (= y (select a i)) (= b (store a (+ i 1) x))) (P (+ i 1) y b))))
(assert (forall ((x Shape) (y Shape) (a (Array Int Shape)))
    (=> (and (P 2 x a) (= y (select a 2)) (= x (circle 1)) VALUE) false)))";
    check_both(text, "(distinct y nothing)", "(= y nothing)");
}

/// Variables that nothing defines have one form for each value: unused parts are fixed.
#[test]
fn equal_values_have_equal_parts() {
    let text = "
(declare-fun P (Shape) Bool)
(assert (forall ((x Shape)) (=> (and ((_ is circle) x) (= (radius x) 2)) (P x))))
(assert (forall ((x Shape)) (=> (and ((_ is nothing) x)) (P x))))
(assert (forall ((x Shape) (y Shape)) (=> (and (P x) (P y) (distinct x y)
    VALUE) false)))";
    let same = "(= ((_ is circle) x) ((_ is circle) y))";
    check_both(text, same, "((_ is circle) x)");
}
