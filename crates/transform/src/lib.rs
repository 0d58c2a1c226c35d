//! Passes: each makes a system smaller or simpler and knows the way back for both witnesses.
//!
//! [`Pipeline`] iterates the passes to a fixpoint and keeps the ways back on a [`BackStack`].
//! Invariant: a pass knows no engine. It keeps the verdict, and its [`BackTranslation`] maps a
//! model of the new system to one of the old, and a refutation likewise.

mod candidates;
mod cells;
mod columns;
mod components;
mod cone;
mod constructors;
mod control;
mod disequal;
mod equalities;
mod equations;
mod finite_values;
mod folds;
mod inline;
mod invariants;
pub mod isolate;
mod merge;
mod narrow;
mod normalize;
mod numerals;
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
mod simplify;
mod single_loop;
mod sizes;
mod slice;
mod split;
mod strongest;
mod subsume;
mod unconstrained;
mod unzip;
mod values;
mod variants;
mod visits;

#[cfg(test)]
mod tests;

pub use normalize::{Normalization, normalize};
pub use pipeline::share_lemmas;
pub use pipeline::{BackStack, Pipeline, PipelineError};
pub use reads::{Reader as ArrayReader, View as ArrayView};
pub use registry::PASSES;
pub use single_loop::SingleLoop;

use std::rc::Rc;

use rustc_hash::FxHashMap;
use thiserror::Error;

use alphorn_chc::{Clause, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{SortId, TermId, TermStore};
use alphorn_witness::{Model, Refutation};

/// A witness that could not be brought back; the verdict becomes `unknown`.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct BackError(pub String);

/// What a pass returns.
pub struct Step {
    pub system: System,
    pub back: Box<dyn BackTranslation>,
}

/// A rewriting of systems that keeps the verdict. A pass may remember what it did in a run.
pub trait Transformation {
    /// The new system and the way back; `None` if there is nothing to do, or no time for it.
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step>;
}

/// The way back from a new system to the one before it. No default bodies: a pass must think of
/// both witnesses.
pub trait BackTranslation {
    /// A model of the old system from one of the new.
    fn model(&self, model: Model, cx: &mut Context) -> Result<Model, BackError>;

    /// A refutation of the old system from one of the new.
    fn refutation(&self, refutation: Refutation, cx: &mut Context)
    -> Result<Refutation, BackError>;
}

/// An argument of a predicate, by its position.
type Place = (PredicateId, usize);

/// Which arguments of the body's predicates a clause's variables are.
fn body_places(clause: &Clause) -> FxHashMap<TermId, Place> {
    let mut places = FxHashMap::default();
    for atom in &clause.body {
        for (position, &arg) in atom.args.iter().enumerate() {
            places.insert(arg, (atom.predicate, position));
        }
    }
    places
}

/// The size of a clause that has this constraint.
fn clause_size(terms: &TermStore, clause: &Clause, constraint: TermId) -> usize {
    let arguments: usize = clause.atoms().map(|a| a.args.len() + 1).sum();
    arguments + terms.dag_size(&[constraint])
}

/// A new variable for a part of what another one stands for: `x.field`.
fn part_var(terms: &TermStore, whole: TermId, part: &str, sort: SortId) -> TermId {
    terms.fresh_var(&format!("{}.{part}", stem(terms.var_name(whole))), sort)
}

/// A variable's name without the number that made it a new one.
fn stem(name: &str) -> &str {
    name.split('!').next().unwrap_or(name)
}
