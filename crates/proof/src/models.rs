//! Models from what a search has found.
//!
//! Invariant: predicates get definitions, but nothing is checked here.

use rustc_hash::FxHashMap;

use alphorn_chc::{Reachability, System};
use alphorn_witness::Model;

/// Defines the predicates that the model leaves out, which are on no way from facts to queries:
/// `false` where nothing derives them, else `true`. That makes the clauses off these ways hold.
pub fn complete_by_reachability(system: &System, reachability: &Reachability, model: &mut Model) {
    for predicate in system.used_predicates() {
        let derivable = reachability.is_derivable(predicate);
        let definition = model.definitions.entry(predicate);
        definition.or_insert_with(|| system.terms.bool(derivable));
    }
}

/// Every definition negated: from the states that reach a query to those that do not.
pub fn negated(system: &System, model: Model) -> Model {
    let terms = &system.terms;
    let definitions: FxHashMap<_, _> = model
        .definitions
        .into_iter()
        .map(|(predicate, formula)| (predicate, terms.not(formula)))
        .collect();
    Model {
        definitions,
        lemmas: model.lemmas,
    }
}
