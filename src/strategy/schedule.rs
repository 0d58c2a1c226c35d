//! Which engines try a system, in which order, for how long.
//!
//! Invariant: a schedule knows engines by their names and traits only, and decides nothing itself:
//! what an engine says is handed on as it is.

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

use std::time::Duration;

use thiserror::Error;

use crate::chc::{Shape, System};
use crate::engine::EngineError;
use crate::engine::registry::{ENGINES, Entry, find};
use crate::run::Context;
use crate::run::Reason;
use crate::witness::Verdict;

/// The strategy when none is named.
pub const DEFAULT: &str = "auto";

/// A turn of the default strategy: the engine, its share of the time that is left when its turn
/// comes, and seconds at most.
type Slice = (&'static str, f64, f64);

/// Seconds for an engine asked for by name before the passes that may take longer: enough for four
/// of five systems that are solved at all.
const QUICK_TRY: f64 = 0.1;

/// Before the passes that may take longer. Measured over linear integer and real arithmetic
/// (CHC-COMP 2025, 100 tasks): `pdr` needs less than this for most of what it solves, and what
/// `trl` and `kind` solve sooner, they solve at once; so they come after it here.
const QUICK: &[Slice] = &[
    ("bmc", 0.05, 0.01),
    ("pdr", 1.0, QUICK_TRY),
    ("trl", 1.0, QUICK_TRY),
    ("kind", 1.0, QUICK_TRY / 2.0),
];

/// After all passes. What `pdr` solves at all it solves in most of the time given (by the same
/// measurement); deep refutations are for `trl`.
const MAIN: &[Slice] = &[
    ("bmc", 0.05, 0.5),
    ("trl", 0.05, 0.5),
    ("kind", 0.03, 0.3),
    ("pdr", 0.85, 1200.0),
    ("tpa", 0.4, 300.0),
    ("vinta", 0.5, 300.0),
    ("trl", 0.5, 300.0),
    ("pdr", 0.8, f64::INFINITY),
    ("bmc", 1.0, f64::INFINITY),
];

/// A name that is no engine and no strategy.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("there is no engine {name}: the engines are {known}")]
pub struct UnknownEngine {
    pub name: String,
    pub known: String,
}

/// When in a run engines take turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Before the passes that may take longer than a moment.
    Quick,
    /// After all passes.
    Main,
}

/// Who is to solve: an engine by its name, or several in turn.
#[derive(Clone, Copy)]
pub enum Strategy {
    Auto,
    Single(&'static Entry),
}

impl Strategy {
    /// The strategy or engine of this name.
    pub fn find(name: &str) -> Result<Strategy, UnknownEngine> {
        if name == DEFAULT {
            return Ok(Strategy::Auto);
        }
        find(name)
            .map(Strategy::Single)
            .ok_or_else(|| UnknownEngine {
                name: name.to_owned(),
                known: names(),
            })
    }

    /// The turns for a system of this shape, in order: of several engines those that support it.
    pub fn turns(self, phase: Phase, shape: &Shape) -> Vec<Turn> {
        match self {
            Strategy::Single(entry) => {
                let most = match phase {
                    Phase::Quick => QUICK_TRY,
                    Phase::Main => f64::INFINITY,
                };
                vec![Turn::new(entry, 1.0, most)]
            }
            Strategy::Auto => {
                let slices = match phase {
                    Phase::Quick => QUICK,
                    Phase::Main => MAIN,
                };
                let turn = |&(name, share, most): &Slice| {
                    let entry = find(name)?;
                    (entry.make)().supports(shape).ok()?;
                    Some(Turn::new(entry, share, most))
                };
                slices.iter().filter_map(turn).collect()
            }
        }
    }
}

/// One engine's turn.
pub struct Turn {
    entry: &'static Entry,
    /// Its share of the time that is left when it begins,
    share: f64,
    /// and so long at most.
    most: Duration,
}

impl Turn {
    fn new(entry: &'static Entry, share: f64, most: f64) -> Turn {
        Turn {
            entry,
            share,
            most: Duration::try_from_secs_f64(most).unwrap_or(Duration::MAX),
        }
    }

    /// The engine's name.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// Runs the engine. Anything but an answer becomes `Unknown` with its reason.
    /// `settings` are checked already; those of other engines mean nothing here.
    pub fn run(&self, system: &System, settings: &[String], cx: &mut Context) -> Verdict {
        let mut engine = (self.entry.make)();
        if let Err(error) = engine.configure(settings) {
            return Verdict::Unknown(Reason::Incomplete(error.to_string()));
        }
        if let Err(unsupported) = engine.supports(&Shape::of(system)) {
            return Verdict::Unknown(Reason::Incomplete(unsupported.to_string()));
        }
        let start = std::time::Instant::now();
        let share = cx.remaining().map(|left| left.mul_f64(self.share));
        let limit = share.map_or(self.most, |share| share.min(self.most));
        let result = cx.within(cx.budget.time(limit), |cx| engine.solve(system, cx));
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

fn names() -> String {
    let mut names = vec![DEFAULT];
    names.extend(ENGINES.iter().map(|entry| entry.name));
    names.join(", ")
}
