//! Which engines try a system, in which order, for how long.
//!
//! Invariant: a schedule knows engines by their names and traits only, and decides nothing itself:
//! what an engine says is handed on as it is.

use std::time::Duration;

use thiserror::Error;

use crate::chc::{Shape, System};
use crate::context::Context;
use crate::engine::EngineError;
use crate::engine::registry::{ENGINES, Entry, find};
use crate::engine::settings::apply;
use crate::witness::{Reason, Verdict};

/// The strategy when none is named.
pub const DEFAULT: &str = "auto";

/// How long the first, cheap search for a refutation takes at most, and which part of the time.
const FIRST_SEARCH: Duration = Duration::from_millis(500);
const FIRST_SEARCH_PART: u32 = 20;

/// A name that is no engine and no strategy.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("there is no engine {name}: the engines are {known}")]
pub struct UnknownEngine {
    pub name: String,
    pub known: String,
}

/// One engine's turn.
pub struct Turn {
    entry: &'static Entry,
    /// Whether it gets only the time of a first search.
    short: bool,
}

impl Turn {
    /// The engine's name.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// Runs the engine. Anything but an answer becomes `Unknown` with its reason.
    /// `settings` are checked already; those of other engines mean nothing here.
    pub fn run(&self, system: &System, settings: &[String], cx: &mut Context) -> Verdict {
        let mut engine = (self.entry.make)();
        if let Err(error) = apply(engine.as_mut(), settings) {
            return Verdict::Unknown(Reason::Incomplete(error.to_string()));
        }
        if let Err(unsupported) = engine.supports(&Shape::of(system)) {
            return Verdict::Unknown(Reason::Incomplete(unsupported.to_string()));
        }
        let start = std::time::Instant::now();
        let result = if self.short {
            let part = cx.remaining().map(|left| left / FIRST_SEARCH_PART);
            let limit = part.map_or(FIRST_SEARCH, |part| part.min(FIRST_SEARCH));
            cx.with_limit(limit, |cx| engine.solve(system, cx))
        } else {
            engine.solve(system, cx)
        };
        cx.stats
            .add_time(&format!("{}.seconds", self.name()), start.elapsed());
        match result {
            Ok(verdict) => verdict,
            Err(EngineError::Unsupported(what)) => {
                Verdict::Unknown(Reason::Incomplete(what.to_string()))
            }
            Err(error) => {
                log::error!("engine {}: {error}", self.name());
                Verdict::Unknown(Reason::Incomplete(format!("{}: {error}", self.name())))
            }
        }
    }
}

/// The turns of a strategy or a single engine. `auto` is a short `bmc`, then `pdr`, then `bmc` for
/// as long as there is time.
pub fn schedule(name: &str) -> Result<Vec<Turn>, UnknownEngine> {
    if name == DEFAULT {
        let turns = [("bmc", true), ("pdr", false), ("bmc", false)];
        return Ok(turns
            .into_iter()
            .filter_map(|(engine, short)| find(engine).map(|entry| Turn { entry, short }))
            .collect());
    }
    match find(name) {
        Some(entry) => Ok(vec![Turn {
            entry,
            short: false,
        }]),
        None => Err(UnknownEngine {
            name: name.to_owned(),
            known: names(),
        }),
    }
}

fn names() -> String {
    let mut names = vec![DEFAULT];
    names.extend(ENGINES.iter().map(|entry| entry.name));
    names.join(", ")
}
