//! The trait of engines, which decide systems of clauses, and code that several engines need:
//! [`settings`](mod@settings), the frame of a search ([`driver`]) and runs of other engines on derived
//! systems ([`derived`]).
//!
//! Invariant: an engine sees a [`System`], neither its text nor the passes that it came from. It
//! reaches engines of other crates only through a [`Registry`] that it is given; within
//! `alphorn-pdr`, `spacer` uses `pdr` and `muz` directly.

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

/// The error for a system that an engine does not support.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("engine {engine} does not support {what}")]
pub struct Unsupported {
    /// The engine's name.
    pub engine: &'static str,
    /// The unsupported feature, as a noun phrase.
    pub what: String,
}

/// The reason why an engine has no verdict, not even `Unknown`.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The engine does not support the system.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A defect, or a model of the oracle that cannot be read.
    #[error(transparent)]
    Failed(#[from] Failure),
}

/// A decision procedure for systems of constrained Horn clauses.
pub trait Engine {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// Checks that the engine supports systems of this shape.
    ///
    /// # Errors
    /// The first feature that is not supported.
    fn supports(&self, shape: &Shape) -> Result<(), Unsupported>;

    /// The engine's settings, with references to their values.
    fn settings(&mut self) -> Vec<Setting<'_>>;

    /// Sets the engine's own settings from texts `ENGINE.NAME=VALUE`; those of other engines are
    /// ignored.
    ///
    /// # Errors
    /// The first text that has another form, or names no setting of this engine, or no value that
    /// it may have.
    fn configure(&mut self, settings: &[String]) -> Result<(), SettingError> {
        let name = self.name();
        settings::apply(name, self.settings(), settings)
    }

    /// Decides the system within the context's budget; when the budget ends, the verdict is
    /// `Unknown`.
    ///
    /// # Errors
    /// The engine does not support the system, or it fails.
    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError>;

    /// Lemmas about the predicates of the system that the last [`Engine::solve`] found without
    /// deciding it.
    fn lemmas(&mut self) -> Lemmas {
        Lemmas::default()
    }

    /// Gives the engine the `Lemmas::frames` of an earlier turn, as candidates for the predicates
    /// of the system that it solves next. Engines without levels ignore them.
    fn resume(&mut self, _earlier: Vec<Leveled>) {}

    /// The engines whose frames [`Engine::resume`] makes use of; it and they leave frames of one kind.
    fn resumes(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether the last [`Engine::solve`] left a state in the engine itself, so that the next one goes
    /// on from it if the clauses are the same.
    fn goes_on(&self) -> bool {
        false
    }
}

/// A registered engine.
pub struct Entry {
    /// The name on the command line.
    pub name: &'static str,
    /// What the engine is, in one line.
    pub about: &'static str,
    /// Makes an engine with default settings.
    pub make: fn() -> Box<dyn Engine>,
}

/// All engines by name, for engines that run other engines on derived systems.
#[derive(Clone, Copy)]
pub struct Registry(pub &'static [Entry]);

impl Registry {
    /// The entry of the engine with this name.
    pub fn find(self, name: &str) -> Option<&'static Entry> {
        self.0.iter().find(|entry| entry.name == name)
    }
}
