//! Passes: each makes a system smaller or simpler and knows the way back for both witnesses.
//!
//! [`Pipeline`] iterates the passes to a fixpoint and keeps the ways back on a [`BackStack`].
//! Invariant: a pass knows no engine. It keeps the verdict, and its [`BackTranslation`] maps a
//! model of the new system to one of the old, and a refutation likewise.

mod arguments;
mod candidates;
mod cells;
mod components;
mod cone;
mod constructors;
mod control;
mod essential;
mod few;
mod inline;
mod invariants;
mod narrow;
mod normalize;
mod numerals;
mod pipeline;
mod propagate;
mod reads;
mod records;
mod reduce;
mod replay;
mod simplify;
mod single_loop;
mod sizes;
mod slice;
mod solve;
mod split;
mod strongest;
mod subsume;
mod unzip;

#[cfg(test)]
mod tests;

pub use cells::Cells;
pub use cone::Cone;
pub use constructors::Constructors;
pub use control::Control;
pub use inline::Inline;
pub use invariants::Invariants;
pub use narrow::Narrow;
pub use normalize::{Normalization, normalize};
pub use numerals::Numerals;
pub use pipeline::{BackStack, NAMED_PASSES, PASSES, Pipeline, PipelineError};
pub use propagate::Propagate;
pub use reads::Reads;
pub use records::Records;
pub use simplify::Simplify;
pub use single_loop::SingleLoop;
pub use sizes::Sizes;
pub use slice::Slice;
pub use split::Split;
pub use subsume::Subsume;
pub use unzip::Unzip;

use thiserror::Error;

use crate::chc::System;
use crate::run::Context;
use crate::term::TermId;
use crate::witness::{Model, Refutation};

/// A pass that could not do its work; the system it was given stays as it was.
#[derive(Debug, Error)]
#[error("pass {pass}: {message}")]
pub struct TransformError {
    pub pass: &'static str,
    pub message: String,
}

/// A witness that could not be brought back; the verdict becomes `unknown`.
#[derive(Debug, Error)]
#[error("back-translation of {pass}: {message}")]
pub struct BackError {
    pub pass: &'static str,
    pub message: String,
}

/// What a pass returns.
pub struct Step {
    pub system: System,
    pub back: Box<dyn BackTranslation>,
    pub changed: bool,
}

/// A rewriting of systems that keeps the verdict.
pub trait Transformation {
    /// The name on the command line and in logs.
    fn name(&self) -> &'static str;

    /// Whether the pass is tried only when the others change nothing any more, being costly.
    fn waits(&self) -> bool {
        false
    }

    /// Whether one application is all there is to do in a run, though another would change
    /// something again.
    fn once(&self) -> bool {
        false
    }

    /// The new system and the way back.
    fn apply(&self, system: System, cx: &mut Context) -> Result<Step, TransformError>;
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

/// The way back of a pass that changed nothing: both witnesses are the old system's.
struct Unchanged;

impl BackTranslation for Unchanged {
    fn model(&self, model: Model, _cx: &mut Context) -> Result<Model, BackError> {
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        _cx: &mut Context,
    ) -> Result<Refutation, BackError> {
        Ok(refutation)
    }
}

/// Gives `true` to predicates of `system` that the model leaves out: a pass dropped all their
/// clauses because these hold whatever the predicates mean.
fn complete_model(system: &System, model: &mut Model) {
    for predicate in system.used_predicates() {
        model.definitions.entry(predicate).or_insert(TermId::TRUE);
    }
}
