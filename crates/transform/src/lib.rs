//! Passes: transformations of systems of clauses that keep the verdict, with back-translations of
//! both witnesses.
//!
//! [`Pipeline`] iterates the passes to a fixpoint and keeps their back-translations on a
//! [`BackTranslations`]. The table of all passes is [`PASSES`]. The crate depends on no engine.
//!
//! # Invariant
//!
//! A predicate that a pass leaves as it is keeps its id; a predicate whose arguments a pass changes is
//! replaced by a new one, and no id is reused. The [`BackTranslation`] of a pass maps a model of
//! the new system to a model of the old one, and a refutation likewise; if it cannot, it returns an
//! error.

mod addresses;
mod candidates;
mod cells;
mod classes;
mod components;
mod cone;
mod constructors;
mod control;
mod equalities;
mod equations;
mod exclude;
mod finite_values;
mod folds;
mod inline;
mod invariants;
pub mod isolate;
mod links;
mod narrow;
mod near;
mod normalize;
mod numerals;
mod orders;
mod pipeline;
mod propagate;
mod reads;
mod rebase;
mod records;
mod reduce;
mod registry;
mod replacement;
mod replay;
mod shared_lemmas;
mod shifted;
mod simplify;
mod single_loop;
mod sizes;
mod slice;
mod split;
mod strongest;
mod subsume;
mod unconstrained;
mod values;
mod variants;
mod visits;

#[cfg(test)]
mod tests;

pub use classes::Classes;
pub use normalize::{Normalization, normalize};
pub use pipeline::{BackTranslations, Pipeline, PipelineError};
pub use pipeline::{exclude_clauses, keep_near_clauses, share_lemmas};
pub use reads::{Reader as ArrayReader, View as ArrayView};
pub use registry::PASSES;

use std::rc::Rc;

use rustc_hash::FxHashMap;
use thiserror::Error;

use alphorn_chc::{Clause, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{SortId, TermId, TermStore};
use alphorn_witness::{Model, Refutation};

/// A witness could not be translated back; the verdict becomes `unknown`. The text says why.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct BackTranslationError(pub String);

/// The result of a pass that changed the system.
pub struct Step {
    /// The new system.
    pub system: System,
    /// The back-translation to the old system.
    pub back: Box<dyn BackTranslation>,
}

/// A transformation of systems that keeps the verdict. It may keep state during one run of a
/// pipeline.
pub trait Transformation {
    /// The new system and its back-translation; `None` if there is nothing to do, or the budget has
    /// ended.
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step>;
}

/// The back-translation from a new system to the system before it. Neither method has a default
/// body, since each pass has to translate both witnesses.
pub trait BackTranslation {
    /// A model of the old system from a model of the new one.
    ///
    /// # Errors
    /// There is no model, or none was found within the budget.
    fn model(&self, model: Model, cx: &mut Context) -> Result<Model, BackTranslationError>;

    /// A refutation of the old system from a refutation of the new one.
    ///
    /// # Errors
    /// A step could not be replayed by clauses of the old system.
    fn refutation(
        &self,
        refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackTranslationError>;
}

/// A position of a predicate.
type Place = (PredicateId, usize);

/// The positions of the clause's body variables.
fn body_places(clause: &Clause) -> FxHashMap<TermId, Place> {
    let mut places = FxHashMap::default();
    for atom in &clause.body {
        for (position, &arg) in atom.args.iter().enumerate() {
            places.insert(arg, (atom.predicate, position));
        }
    }
    places
}

/// The size of a clause with this constraint: its arguments, its atoms and the nodes of the
/// constraint.
fn clause_size(terms: &TermStore, clause: &Clause, constraint: TermId) -> usize {
    let arguments: usize = clause.atoms().map(|a| a.args.len() + 1).sum();
    arguments + terms.dag_size(&[constraint])
}

/// A fresh variable `x.part` for a part of the value of the variable `whole`, named `x`.
fn part_var(terms: &TermStore, whole: TermId, part: &str, sort: SortId) -> TermId {
    terms.fresh_var(&format!("{}.{part}", stem(terms.var_name(whole))), sort)
}

/// The name of a variable without the suffix that made it fresh.
fn stem(name: &str) -> &str {
    name.split('!').next().unwrap_or(name)
}
