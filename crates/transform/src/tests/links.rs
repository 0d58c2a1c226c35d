//! `links` on handwritten systems about one cell: facts that hold are found, and facts that hold
//! only at first are not.

use std::rc::Rc;

use super::decide::{after, check};
use crate::normalize;
use alphorn_chc::System;
use alphorn_chc::frontend::parse;
use alphorn_term::TermStore;

fn system(text: &str) -> System {
    let terms = Rc::new(TermStore::new());
    let problem = parse(&format!("(set-logic HORN)\n{text}\n(check-sat)\n"), terms).unwrap();
    normalize(&problem).0
}

/// The cell `k` of a list of `n` nodes: each leads to the node before it, and has a tag 1. Cells
/// that are not allocated have tag 0 and lead to 0.
const PUSHED: &str = "
(declare-fun Build (Int Int Int Int Int) Bool) ; n, last, k, tag, next
(declare-fun Walk (Int Int Int Int Int) Bool)  ; n, at, k, tag, next
(assert (forall ((k Int)) (=> (and (<= 0 k) (<= k 5)) (Build 0 0 k 0 0))))
(assert (forall ((n Int) (last Int) (k Int) (tag Int) (next Int))
  (=> (and (Build n last k tag next) (< n 3))
      (Build (+ n 1) (+ n 1) k (ite (= k (+ n 1)) 1 tag) (ite (= k (+ n 1)) FIRST next)))))
(assert (forall ((n Int) (last Int) (k Int) (tag Int) (next Int))
  (=> (Build n last k tag next) (Walk n last k tag next))))
(assert (forall ((n Int) (at Int) (k Int) (tag Int) (next Int) (t Int) (to Int))
  (=> (and (Walk n at k tag next) (Walk n at at t to) (not (= at 0)) (= t 1)) (Walk n to k tag next))))
(assert (forall ((n Int) (at Int) (t Int) (to Int))
  (=> (and (Walk n at at t to) (not (= at 0)) (not (= t 1))) false)))";

#[test]
fn a_list_is_walked_to_its_end() {
    let safe = system(&PUSHED.replace("FIRST", "last"));
    // The facts exclude the query.
    assert!(
        after(&safe, "links")
            .clauses
            .iter()
            .all(|c| c.head.is_some())
    );
    check(&safe, &["links", "default,links"], true);
}

/// The same list, where only cells that are allocated are facts: the clause that allocates one
/// defines the index.
const ALLOCATED: &str = "
(declare-fun Build (Int Int Int Int Int) Bool) ; n, last, k, tag, next
(declare-fun Walk (Int Int Int Int Int) Bool)  ; n, at, k, tag, next
(assert (Build 1 1 1 1 0))
(assert (forall ((n Int) (last Int) (k Int) (tag Int) (next Int))
  (=> (and (Build n last k tag next) (< n 3)) (Build (+ n 1) (+ n 1) (+ n 1) 1 FIRST))))
(assert (forall ((n Int) (last Int) (k Int) (tag Int) (next Int))
  (=> (and (Build n last k tag next) (< n 3) (<= k n)) (Build (+ n 1) (+ n 1) k tag next))))
(assert (forall ((n Int) (last Int) (k Int) (tag Int) (next Int))
  (=> (Build n last k tag next) (Walk n last k tag next))))
(assert (forall ((n Int) (at Int) (k Int) (tag Int) (next Int) (t Int) (to Int))
  (=> (and (Walk n at k tag next) (Walk n at at t to) (not (= at 0))) (Walk n to k tag next))))
(assert (forall ((n Int) (at Int) (t Int) (to Int))
  (=> (and (Walk n at at t to) (not (= at 0)) (not (and (<= 0 to) (< to at)))) false)))";

#[test]
fn clauses_about_one_cell_may_define_its_index() {
    let safe = system(&ALLOCATED.replace("FIRST", "last"));
    let facts = after(&safe, "links");
    assert!(facts.clauses.iter().all(|c| c.head.is_some()));
    check(&safe, &["links", "default,links"], true);
    let wrong = system(&ALLOCATED.replace("FIRST", "(ite (< n 2) last (+ n 1))"));
    let facts = after(&wrong, "links");
    assert!(facts.clauses.iter().any(|c| c.head.is_none()));
    check(&wrong, &["links", "default,links"], false);
}

/// From the third node on, a node leads to a cell that is not allocated.
#[test]
fn facts_that_hold_at_first_are_dropped() {
    let wrong = system(&PUSHED.replace("FIRST", "(ite (< n 2) last (+ n 3))"));
    assert!(
        after(&wrong, "links")
            .clauses
            .iter()
            .any(|c| c.head.is_none())
    );
    check(&wrong, &["links", "default,links"], false);
}

/// Without a cell there is nothing to do.
#[test]
fn other_systems_are_left_alone() {
    let counter = system(
        "
(declare-fun P (Int) Bool)
(assert (P 0))
(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
(assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))",
    );
    let same = after(&counter, "links");
    assert_eq!(same.clauses.len(), counter.clauses.len());
    let constraints = |s: &System| s.clauses.iter().map(|c| c.constraint).collect::<Vec<_>>();
    assert_eq!(constraints(&same), constraints(&counter));
}
