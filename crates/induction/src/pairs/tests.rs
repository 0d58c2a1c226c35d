//! Products of planted tasks, and their witnesses.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use super::product::{Joining, Product};
use alphorn_chc::frontend::parse;
use alphorn_smt::Smt;
use alphorn_term::TermStore;
use alphorn_term::run::Context;
use alphorn_transform::normalize;

fn text(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../horn-benchmarks/relational");
    let path = folder.join(format!("{name}.smt2"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The product of a task of the corpus.
fn product(name: &str, joining: Joining) -> Product {
    let problem = parse(&text(name), Rc::new(TermStore::new())).expect("a task");
    let (system, _) = normalize(&problem);
    let cx = Context::new(system.terms.clone());
    Product::of(&system, joining, &Smt::within(&cx.budget), &cx).expect("small")
}

/// The engine's verdict on a task of the corpus.
fn answer(name: &str) -> &'static str {
    alphorn::internal::answer("pairs", &text(name), Duration::from_secs(20))
}

#[test]
fn models_of_products_are_proofs() {
    for name in [
        "accumulator-start",
        "secret-counter",
        "loop-scaled",
        "product-sum-right",
    ] {
        assert_eq!(answer(&format!("{name}-safe")), "sat", "{name}");
    }
}

#[test]
fn refutations_of_products_are_refutations() {
    for name in [
        "accumulator",
        "secret-branch",
        "powers-of-four",
        "sum-monotone",
    ] {
        assert_eq!(answer(&format!("{name}-unsafe")), "unsat", "{name}");
    }
}

/// Premises at one position are joined; where a derivation has ended, the others go on.
#[test]
fn a_product_has_smaller_products() {
    let product = product("loop-unrolled-safe", Joining::Positions);
    let names: Vec<&str> = product.system.predicates.iter().map(|p| &*p.name).collect();
    assert_eq!(names[0], "sum&unrolled");
    assert!(names.contains(&"sum"), "{names:?}");
    assert!(product.joins());
    assert_eq!(product.system.check(), Ok(()));
}

/// A query about one fact whose clause calls several functions: premises at one position are not
/// enough.
#[test]
fn calls_of_a_clause_are_joined() {
    let apart = product("called-accumulator-safe", Joining::Positions);
    assert!(!apart.joins() && !apart.joins_calls());
    let joined = product("called-accumulator-safe", Joining::Calls);
    let tuples = &joined.system.predicates;
    assert!(tuples.iter().any(|p| p.name == "sum&acc"));
    assert!(joined.joins() && joined.joins_calls());
    assert_eq!(joined.system.check(), Ok(()));
    for name in ["called-accumulator", "called-loop"] {
        assert_eq!(answer(&format!("{name}-safe")), "sat", "{name}");
        assert_eq!(answer(&format!("{name}-unsafe")), "unsat", "{name}");
    }
}

/// Recursive calls stay apart: joined, they would make ever larger products.
#[test]
fn recursive_calls_are_not_joined() {
    let product = product("fibonacci-monotone-safe", Joining::Calls);
    assert!(product.joins() && !product.joins_calls());
}
