//! Products of planted tasks, and their witnesses.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use super::product::Product;
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
    let problem = parse(&text("loop-unrolled-safe"), Rc::new(TermStore::new())).expect("a task");
    let (system, _) = normalize(&problem);
    let cx = Context::new(system.terms.clone());
    let product = Product::of(&system, &Smt::within(&cx.budget), &cx).expect("small");
    let names: Vec<&str> = product.system.predicates.iter().map(|p| &*p.name).collect();
    assert_eq!(names[0], "sum&unrolled");
    assert!(names.contains(&"sum"), "{names:?}");
    assert!(product.joins());
    assert_eq!(product.system.check(), Ok(()));
}
