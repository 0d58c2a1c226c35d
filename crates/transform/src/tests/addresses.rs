//! `addresses` on handwritten systems with a size and an array of cells: what holds of all addresses
//! is found, and what holds only at first is not.

use std::rc::Rc;

use super::decide::{after, check_model, run};
use crate::normalize;
use alphorn_chc::System;
use alphorn_chc::frontend::parse;
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{TermId, TermStore};
use alphorn_witness::Model;

/// A list of nodes is built, each of which leads to the one before it, and walked; the number of a
/// node is never below 0 and never above the size. `Walk` has a node in a variable, too.
const LIST: &str = "
(set-logic HORN)
(declare-datatypes ((Object 0)) (((node (next Int)) (number (value Int)) (nothing))))
(declare-fun Build (Int (Array Int Object) Int) Bool) ; n, cells, last
(declare-fun Walk (Int (Array Int Object) Int Object) Bool) ; n, cells, at, object
(assert (forall ((n Int) (cells (Array Int Object)))
  (=> (and (= n 0) (= cells ((as const (Array Int Object)) nothing))) (Build n cells 0))))
(assert (forall ((n Int) (cells (Array Int Object)) (last Int) (more (Array Int Object)))
  (=> (and (Build n cells last) (= more (store cells (+ n 1) (node FIRST)))) (Build (+ n 1) more (+ n 1)))))
(assert (forall ((n Int) (cells (Array Int Object)) (last Int) (x Int) (more (Array Int Object)))
  (=> (and (Build n cells last) (= more (store cells (+ n 1) (number x)))) (Build (+ n 1) more last))))
(assert (forall ((n Int) (cells (Array Int Object)) (last Int) (o Object))
  (=> (and (Build n cells last) (= o (ite (and (<= 1 last) (<= last n)) (select cells last) nothing)))
      (Walk n cells last o))))
(assert (forall ((n Int) (cells (Array Int Object)) (at Int) (o Object) (to Object))
  (=> (and (Walk n cells at o) ((_ is KIND) o)
           (= to (ite (and (<= 1 STEP) (<= STEP n)) (select cells STEP) nothing)))
      (Walk n cells STEP to))))
(assert (forall ((n Int) (cells (Array Int Object)) (at Int) (o Object))
  (=> (and (Walk n cells at o) (or (< at 0) (> at n))) false)))
(check-sat)";

/// The list with this content of the field of a new node, and with this way on from an object of a kind.
fn system(first: &str, kind: &str, step: &str) -> System {
    let terms = Rc::new(TermStore::new());
    let text = LIST
        .replace("FIRST", first)
        .replace("KIND", kind)
        .replace("STEP", step);
    let problem = parse(&text, terms).expect("a problem");
    normalize(&problem).0
}

fn has_query(system: &System) -> bool {
    system.clauses.iter().any(|clause| clause.head.is_none())
}

#[test]
fn addresses_are_null_or_valid() {
    let safe = system("last", "node", "(next o)");
    let mut cx = Context::new(safe.terms.clone());
    let (after, back) = run(&safe, "addresses", &mut cx);
    assert!(!has_query(&after));
    // Any facts will do then; the model has what is known of all cells.
    let model = Model {
        definitions: after
            .used_predicates()
            .into_iter()
            .map(|p| (p, TermId::TRUE))
            .collect(),
        ..Model::default()
    };
    let model = back.model(model, &mut cx).expect("a model");
    check_model(&safe, &model, &Smt::new(safe.terms.clone()));
}

#[test]
fn an_address_of_no_cell_is_no_fact() {
    assert!(has_query(&after(
        &system("(+ n 2)", "node", "(next o)"),
        "addresses"
    )));
}

#[test]
fn a_number_in_a_cell_is_no_address() {
    // What is walked to is the number in a cell, which may be anything.
    assert!(has_query(&after(
        &system("last", "number", "(value o)"),
        "addresses"
    )));
}
