//! The corpus: every engine agrees with the recorded verdicts, and the default solves nearly all.

#[path = "common/corpus.rs"]
mod corpus;

use std::time::Duration;

use alphorn::engine::registry::ENGINES;
use alphorn::strategy::Config;
use corpus::{Outcome, Run, Task, on_all, run, tasks};

/// Files that are not marked as hard and that the default does not solve (yet).
const NOT_SOLVED: &[&str] = &[
    "arrays/array-sum-procedure-safe",
    "arrays/stack-safe",
    "recursion/three-bodies-safe",
];

fn config(engine: &str) -> Config {
    Config {
        engine: engine.to_owned(),
        ..Config::default()
    }
}

/// No witness may fail, and no answer contradict the recorded one.
fn agrees(task: &Task, who: &str, run: &Run) -> Result<(), String> {
    let wrong = match run.outcome {
        Outcome::Sat => !task.safe,
        Outcome::Unsat => task.safe,
        Outcome::Unknown(_) => false,
    };
    if wrong || run.failures > 0 {
        let Run {
            outcome, failures, ..
        } = run;
        let name = task.name();
        return Err(format!(
            "{name}, {who}: {outcome:?}, {failures} failed witnesses"
        ));
    }
    Ok(())
}

#[test]
fn the_default_solves_the_corpus() {
    let tasks = tasks();
    assert!(tasks.len() >= 80);
    on_all(&tasks, |task| {
        let exempt = task.hard || NOT_SOLVED.contains(&task.name().as_str());
        let limit = Duration::from_secs(if exempt { 1 } else { 30 });
        let run = run(&task.path, &config("auto"), limit);
        agrees(task, "auto", &run)?;
        match run.outcome {
            Outcome::Unknown(reason) if !exempt => Err(format!("{}: {reason}", task.name())),
            _ => Ok(()),
        }
    });
}

#[test]
fn every_engine_agrees() {
    let tasks = tasks();
    for engine in ENGINES {
        on_all(&tasks, |task| {
            let run = run(&task.path, &config(engine.name), Duration::from_millis(300));
            agrees(task, engine.name, &run)
        });
    }
}
