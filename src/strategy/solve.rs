//! From a problem to a checked answer: all stages in a row.
//!
//! Invariant: whatever the stages say, what comes out has passed `witness::validate` or is
//! `unknown`.

use thiserror::Error;

use super::schedule::{DEFAULT, Phase, Strategy, UnknownEngine};
use crate::chc::{Shape, System};
use crate::engine::registry::check_settings;
use crate::engine::settings::SettingError;
use crate::frontend::Problem;
use crate::run::Context;
use crate::run::Reason;
use crate::transform::{
    BackError, BackStack, BackTranslation, Normalization, Pipeline, PipelineError, normalize,
};
use crate::witness::{Validated, Verdict, validate};

/// What to solve with.
#[derive(Clone, Debug)]
pub struct Config {
    /// An engine, or a strategy over engines.
    pub engine: String,
    /// Passes in the order of application, separated by commas; `None` for all.
    pub passes: Option<String>,
    /// Settings of engines, `ENGINE.NAME=VALUE`.
    pub settings: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            engine: DEFAULT.to_owned(),
            passes: None,
            settings: Vec::new(),
        }
    }
}

/// A name in the configuration that means nothing.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum ConfigError {
    #[error(transparent)]
    Engine(#[from] UnknownEngine),
    #[error(transparent)]
    Pass(#[from] PipelineError),
    #[error(transparent)]
    Setting(#[from] SettingError),
}

impl Config {
    /// Whether all names are known.
    pub fn check(&self) -> Result<(), ConfigError> {
        Strategy::find(&self.engine)?;
        self.pipeline()?;
        check_settings(&self.settings)?;
        Ok(())
    }

    /// The pipeline of passes.
    pub fn pipeline(&self) -> Result<Pipeline, ConfigError> {
        Ok(match &self.passes {
            Some(list) => Pipeline::parse(list)?,
            None => Pipeline::default(),
        })
    }
}

/// Decides a problem within the context's limits. An error is about the configuration only.
pub fn solve(
    problem: &Problem,
    config: &Config,
    cx: &mut Context,
) -> Result<Validated, ConfigError> {
    let strategy = Strategy::find(&config.engine)?;
    check_settings(&config.settings)?;
    let mut pipeline = config.pipeline()?;
    let (normal, normalization) = normalize(problem);
    let run = |system: &System, ways: &Ways, phase: Phase, cx: &mut Context| {
        let engines = Engines {
            strategy,
            settings: &config.settings,
            phase,
        };
        run(problem, system, ways, &engines, cx)
    };
    let mut ways = Ways {
        stack: None,
        normalization,
    };
    let system = match pipeline.quick() {
        Some(mut quick) => {
            let (system, stack) = quick.run(normal.clone(), cx);
            ways.stack = Some(stack);
            let (answer, _) = run(&system, &ways, Phase::Quick, cx);
            if answer.reason().is_none() || cx.stop().is_some() {
                return Ok(answer);
            }
            let stack = ways.stack.take().expect("it was put there");
            let (system, stack) = pipeline.go_on(system, stack, cx);
            ways.stack = Some(stack);
            system
        }
        None => {
            let (system, stack) = pipeline.run(normal.clone(), cx);
            ways.stack = Some(stack);
            system
        }
    };
    let translated = ways.stack.as_ref().is_some_and(|stack| !stack.is_empty());
    let (answer, failed) = run(&system, &ways, Phase::Main, cx);
    if !failed || !translated || cx.stop().is_some() {
        return Ok(answer);
    }
    // A defect, which was logged, or a model too hard to check. The clauses as they were may still
    // be solved, and their models be smaller.
    log::warn!("trying again without passes");
    let ways = Ways {
        stack: None,
        ..ways
    };
    Ok(run(&normal, &ways, Phase::Main, cx).0)
}

/// Who is to decide a system.
struct Engines<'a> {
    strategy: Strategy,
    settings: &'a [String],
    phase: Phase,
}

/// The ways back from the system that engines see to the problem.
struct Ways {
    stack: Option<BackStack>,
    normalization: Normalization,
}

impl Ways {
    fn back(&self, verdict: Verdict, cx: &mut Context) -> Result<Verdict, BackError> {
        Ok(match verdict {
            Verdict::Unknown(reason) => Verdict::Unknown(reason),
            Verdict::Sat(mut model) => {
                if let Some(stack) = &self.stack {
                    model = stack.model(model, cx)?;
                }
                Verdict::Sat(self.normalization.model(model, cx)?)
            }
            Verdict::Unsat(mut refutation) => {
                if let Some(stack) = &self.stack {
                    refutation = stack.refutation(refutation, cx)?;
                }
                Verdict::Unsat(self.normalization.refutation(refutation, cx)?)
            }
        })
    }
}

/// Lets engines take turns until one has an answer that passes its check. Also tells whether a
/// witness was lost on the way, by a check that it did not pass or a failed way back.
fn run(
    problem: &Problem,
    system: &System,
    ways: &Ways,
    engines: &Engines,
    cx: &mut Context,
) -> (Validated, bool) {
    let mut failed = false;
    let mut last: Option<Reason> = None;
    for turn in engines.strategy.turns(engines.phase, &Shape::of(system)) {
        if let Some(reason) = cx.stop() {
            return (Validated::unknown(reason), failed);
        }
        let verdict = turn.run(system, engines.settings, cx);
        cx.stats.set("smt.defects", cx.terms.defects());
        log::info!("engine {}: {}", turn.name(), describe(&verdict));
        let verdict = ways.back(verdict, cx).unwrap_or_else(|error| {
            if cx.stop().is_none() {
                log::error!("defect: {error}");
                cx.stats.add("witness.failures", 1);
                failed = true;
            }
            Verdict::Unknown(Reason::WitnessFailed(error.to_string()))
        });
        let undecided = cx.stats.count("witness.undecided");
        let validated = validate(problem, verdict, cx);
        match validated.reason() {
            None => return (validated, failed),
            Some(reason) => {
                failed |= matches!(reason, Reason::WitnessFailed(_))
                    || cx.stats.count("witness.undecided") > undecided;
                // The reason of a short turn says less than that of a later one.
                last = Some(reason.clone());
            }
        }
    }
    let reason = cx.stop().or(last);
    let reason = reason.unwrap_or_else(|| Reason::Incomplete("no engine".to_owned()));
    (Validated::unknown(reason), failed)
}

fn describe(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Sat(_) => "a model".to_owned(),
        Verdict::Unsat(refutation) => format!("a refutation of {} steps", refutation.steps.len()),
        Verdict::Unknown(reason) => reason.to_string(),
    }
}
