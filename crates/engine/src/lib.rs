//! The trait of engines, which decide systems, and what several of them need to run.
//!
//! Invariant: an engine sees a [`System`] and nothing of where it came from: no syntax, no passes
//! before it, no other engine except through a [`Registry`] that it is given.

pub mod derived;
pub mod driver;
pub mod schedule;
pub mod settings;

use thiserror::Error;

use self::settings::{Setting, SettingError};
use alphorn_chc::{Shape, System};
use alphorn_proof::Failure;
use alphorn_proof::facts::{Lemmas, Leveled};
use alphorn_term::run::Context;
use alphorn_witness::Verdict;

/// A system that an engine does not decide, with the construct named.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("engine {engine} does not support {what}")]
pub struct Unsupported {
    pub engine: &'static str,
    pub what: String,
}

/// Why an engine has no verdict, not even `Unknown`.
#[derive(Debug, Error)]
pub enum EngineError {
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A defect, or an oracle whose model cannot be read.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// A decision procedure for systems of constrained Horn clauses.
pub trait Engine {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// Which shapes and sorts the engine decides; anything else is refused, not guessed.
    fn supports(&self, shape: &Shape) -> Result<(), Unsupported>;

    /// The choices that the command line may change.
    fn settings(&mut self) -> Vec<Setting<'_>>;

    /// Takes over those of the settings `ENGINE.NAME=VALUE` that are the engine's own.
    ///
    /// # Errors
    /// The first setting that means nothing, of any engine.
    fn configure(&mut self, settings: &[String]) -> Result<(), SettingError> {
        let name = self.name();
        settings::apply(name, self.settings(), settings)
    }

    /// Decides the system within the context's limits; at a limit the verdict is `Unknown`.
    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError>;

    /// What the last [`Engine::solve`] leaves about the predicates of its system if it had no
    /// answer.
    fn lemmas(&mut self) -> Lemmas {
        Lemmas::default()
    }

    /// Hands over what an earlier turn of the engine left as `Lemmas::frames`, as claims about the
    /// predicates of the system that is solved next. Engines without levels ignore it.
    fn resume(&mut self, _earlier: Vec<Leveled>) {}

    /// Whether [`Engine::resume`] has an effect.
    fn resumes_frames(&self) -> bool {
        false
    }
}

/// An engine on the command line.
pub struct Entry {
    /// The name on the command line.
    pub name: &'static str,
    /// What the engine is, in one line.
    pub about: &'static str,
    /// A new engine with default settings.
    pub make: fn() -> Box<dyn Engine>,
}

/// Engines by name, for engines that put systems derived from theirs to others.
#[derive(Clone, Copy)]
pub struct Registry(pub &'static [Entry]);

impl Registry {
    /// The engine of this name.
    pub fn find(self, name: &str) -> Option<&'static Entry> {
        self.0.iter().find(|entry| entry.name == name)
    }
}
