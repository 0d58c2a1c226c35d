//! The files of `horn-benchmarks/`, and solving them inside the process of the test.

#![allow(dead_code)]

#[path = "trials.rs"]
pub mod trials;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use alphorn::frontend::{Problem, parse_bytes};
use alphorn::run::Context;
use alphorn::term::TermStore;
use alphorn::witness::{Validated, Verdict};
use alphorn::{Config, solve};

/// A file with its recorded verdict.
#[derive(Clone, Debug)]
pub struct Task {
    /// The file.
    pub path: PathBuf,
    /// Whether the clauses have a model.
    pub safe: bool,
    /// Whether it is marked as hard: not expected to be solved in a few seconds.
    pub hard: bool,
}

impl Task {
    /// The family and the name of the file.
    pub fn name(&self) -> String {
        let family = self
            .path
            .parent()
            .and_then(Path::file_name)
            .unwrap_or_default();
        let name = self.path.file_stem().unwrap_or_default();
        format!("{}/{}", family.display(), name.display())
    }
}

/// All files of `horn-benchmarks/`, by name.
pub fn tasks() -> Vec<Task> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("horn-benchmarks");
    let mut tasks = Vec::new();
    for family in std::fs::read_dir(root).expect("the corpus is there") {
        let family = family.expect("readable").path();
        let Ok(files) = std::fs::read_dir(&family) else {
            continue;
        };
        for file in files {
            let path = file.expect("readable").path();
            if path.extension().is_none_or(|e| e != "smt2") {
                continue;
            }
            let description = std::fs::read_to_string(path.with_extension("yml")).expect("a yml");
            let verdict = |v| description.contains(&format!("expected_verdict: {v}"));
            assert_ne!(verdict(true), verdict(false), "{}", path.display());
            tasks.push(Task {
                safe: verdict(true),
                hard: description.contains("# hard"),
                path,
            });
        }
    }
    tasks.sort_by(|a, b| a.path.cmp(&b.path));
    tasks
}

/// The result of a run on a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckOutcome {
    Sat,
    Unsat,
    Unknown(String),
}

/// A run from the text to the validated answer.
pub struct Run {
    pub outcome: CheckOutcome,
    /// The number of witnesses that failed their check.
    pub failures: u64,
    pub problem: Problem,
    pub answer: Validated,
}

impl Run {
    /// Whether there is an answer; an error if it is not the recorded one or a witness failed.
    pub fn agrees(&self, task: &Task) -> Result<bool, String> {
        let answer = match self.outcome {
            CheckOutcome::Sat => Some(true),
            CheckOutcome::Unsat => Some(false),
            CheckOutcome::Unknown(_) => None,
        };
        if self.failures > 0 || answer.is_some_and(|safe| safe != task.safe) {
            return Err(format!(
                "{}: {:?}, {} failed witnesses",
                task.name(),
                self.outcome,
                self.failures
            ));
        }
        Ok(answer.is_some())
    }
}

/// Solves a file within a time limit.
pub fn run(path: &Path, config: &Config, limit: Duration) -> Run {
    let bytes = std::fs::read(path).expect("readable");
    let terms = Rc::new(TermStore::new());
    let problem =
        parse_bytes(&bytes, terms.clone()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut cx = Context::new(terms);
    cx.budget = cx.budget.time(limit);
    let answer = solve(&problem, config, &mut cx).expect("a known configuration");
    let outcome = match answer.verdict() {
        Verdict::Sat(_) | Verdict::Proven(_) => CheckOutcome::Sat,
        Verdict::Unsat(_) => CheckOutcome::Unsat,
        Verdict::Unknown(reason) => CheckOutcome::Unknown(reason.to_string()),
    };
    Run {
        outcome,
        failures: cx.stats.count("witness.failures"),
        problem,
        answer,
    }
}
