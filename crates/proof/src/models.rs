//! Definitions for models.
//!
//! Invariant: the definitions are candidates; the caller checks them.

use rustc_hash::FxHashMap;

use alphorn_chc::{Reachability, System};
use alphorn_witness::Model;

/// Defines the predicates that the model leaves out, which are on no path from entries to queries:
/// `false` if nothing derives the predicate, `true` otherwise. Then the clauses that contain them
/// are valid.
pub fn complete_by_reachability(system: &System, reachability: &Reachability, model: &mut Model) {
    for predicate in system.used_predicates() {
        let derivable = reachability.is_derivable(predicate);
        let definition = model.definitions.entry(predicate);
        definition.or_insert_with(|| system.terms.bool(derivable));
    }
}

/// Negates every definition: a set of states from which a query is reached becomes one from which
/// none is.
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
