//! Models of the clauses from models of their scalar system.
//!
//! Invariant: the definition of a predicate holds for scalars and arrays iff the scalar one holds
//! for the scalars and every cell.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::translate::{Image, Morphed};
use alphorn_chc::{PredicateId, System};
use alphorn_proof::shrink::{shrink, size};
use alphorn_proof::weaken;
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Context;
use alphorn_term::{TermId, TermStore};
use alphorn_witness::Model;

/// The model, quantified over the cells. It is made smaller first: with quantifiers, each formula
/// that no clause needs makes the check of the model harder.
pub(super) fn quantified(
    system: &System,
    morphed: &Morphed,
    model: Model,
    smt: &Rc<Smt>,
    cx: &Context,
) -> Model {
    let scalar = &morphed.system;
    let mut definitions = model.definitions;
    let smaller = match scalar.clauses.iter().all(|c| c.body.len() <= 1) {
        true => weaken(scalar, &definitions, smt, cx),
        false => {
            let share = LIMITS.shrinking_share;
            let part = cx.budget.left().map(|left| left.mul_f64(share));
            let part = part.map_or(cx.budget.clone(), |part| cx.budget.time(part));
            shrink(scalar, &definitions, smt, &part)
        }
    };
    log::debug!(
        "morph: a scalar model: {} nodes, {:?} made smaller",
        size(&system.terms, &definitions),
        smaller.as_ref().map(|s| size(&system.terms, s))
    );
    definitions = smaller.unwrap_or(definitions);
    let mut result: FxHashMap<PredicateId, TermId> = FxHashMap::default();
    for (&predicate, image) in &morphed.images {
        // A predicate without a definition is true everywhere.
        let formula = definitions.get(&image.new).copied();
        let formula = formula.unwrap_or(TermId::TRUE);
        let parts: Vec<TermId> = system
            .terms
            .conjuncts(formula)
            .into_iter()
            .map(|conjunct| of_all_cells(&system.terms, image, conjunct, smt))
            .collect();
        result.insert(predicate, system.terms.and(&parts));
    }
    Model {
        definitions: result,
        ..Model::default()
    }
}

/// One conjunct of a definition, quantified over the cells that it mentions.
fn of_all_cells(terms: &TermStore, image: &Image, conjunct: TermId, smt: &Rc<Smt>) -> TermId {
    let free: FxHashSet<TermId> = terms.free_vars(&[conjunct]).into_iter().collect();
    let mut map: FxHashMap<TermId, TermId> =
        image.scalars.iter().map(|&(old, new)| (new, old)).collect();
    let mut bound = Vec::new();
    let mut reads = false;
    for group in &image.cells {
        let elements = &group.elements;
        let read = elements.iter().any(|e| free.contains(&e.1));
        if !read && !free.contains(&group.index) {
            continue;
        }
        reads |= read;
        let index = terms.fresh_var("k", terms.sort_of(group.index));
        bound.push(index);
        map.insert(group.index, index);
        map.extend(
            elements
                .iter()
                .map(|&(array, new)| (new, terms.select(array, index))),
        );
    }
    let formula = terms.substitute(conjunct, &map);
    // A formula about indexes alone is often valid.
    if !reads && !bound.is_empty() {
        let mut solver = smt.solver();
        solver.assert(terms.not(formula));
        if solver.check(&[]) == SatResult::Unsat {
            return TermId::TRUE;
        }
    }
    terms.forall(&bound, formula)
}
