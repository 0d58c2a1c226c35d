//! The corpus: each engine agrees with the recorded verdicts and answers at least its number of
//! tasks, and the default strategy solves all but a few.

#[path = "common/corpus.rs"]
mod corpus;

use std::process::Command;
use std::time::Duration;

use alphorn::Config;
use alphorn::internal::ENGINES;
use corpus::trials::{PATIENCE, answers_at_least, on_all};
use corpus::{CheckOutcome, Task, run, tasks};

/// Tasks that are not marked as hard and that the default strategy does not solve.
const NOT_SOLVED: &[&str] = &[
    // `pdr` soon has a model with sizes, whose check does not end in time.
    "induction/plus-associative-safe",
    "induction/plus-commutative-safe",
    "recursion/three-bodies-safe",
];

/// Each engine runs on one of this number of files, the next engine on others.
const ROTATION: usize = 3;

/// The least number of tasks of the whole corpus that an engine has to answer: about those of its first
/// round.
const FLOORS: &[(&str, usize)] = &[
    ("bmc", 150),
    ("cata", 30),
    ("enum", 34),
    ("ic3", 10),
    ("induct", 12),
    ("interp", 150),
    ("kind", 100),
    ("morph", 8),
    ("muz", 100),
    ("pairs", 30),
    ("pdkind", 100),
    ("pdr", 300),
    ("relate", 36),
    ("safari", 150),
    ("spacer", 200),
    ("templates", 100),
    ("trl", 100),
    ("twin", 20),
    ("vinta", 200),
];

fn config(engine: &str) -> Config {
    Config {
        engine: engine.to_owned(),
        ..Config::default()
    }
}

#[test]
fn the_default_solves_the_corpus() {
    let tasks = tasks();
    assert!(tasks.len() >= 80);
    on_all(&tasks, |task| {
        let exempt = task.hard || NOT_SOLVED.contains(&task.name().as_str());
        let limit = if exempt {
            Duration::from_secs(1)
        } else {
            PATIENCE
        };
        let run = run(&task.path, &config("auto"), limit);
        run.agrees(task)?;
        match run.outcome {
            CheckOutcome::Unknown(reason) if !exempt => Err(format!("{}: {reason}", task.name())),
            _ => Ok(()),
        }
    });
}

#[test]
fn every_engine_agrees() {
    let all = tasks();
    for (number, engine) in ENGINES.iter().enumerate() {
        let floor = FLOORS.iter().find(|floor| floor.0 == engine.name);
        let floor = floor.unwrap_or_else(|| panic!("{} has no floor", engine.name));
        let own = all.iter().skip(number % ROTATION).step_by(ROTATION);
        let own: Vec<&Task> = own.collect();
        // A part of the files has not exactly its share of the answers.
        let floor = floor.1 * 3 / (ROTATION * 4);
        answers_at_least(floor, &own, |task, limit| {
            let agrees = if engine.name == "muz" {
                agrees_apart(task, engine.name, limit)
            } else {
                run(&task.path, &config(engine.name), limit).agrees(task)
            };
            agrees.map_err(|error| format!("{}: {error}", engine.name))
        });
    }
}

/// Whether an engine has an answer, in a separate process; an error if the answer is not the recorded
/// one or a witness failed. An engine that crashes has no answer.
///
/// For `muz`: an interrupt may crash Z3's fixedpoint engine (see its `mod.rs`).
fn agrees_apart(task: &Task, engine: &str, limit: Duration) -> Result<bool, String> {
    let seconds = limit.as_secs_f64().to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_alphorn"))
        .args(["--jobs", "1", "--stats", "--engine", engine, "--timeout"])
        .arg(&seconds)
        .arg(&task.path)
        .output()
        .expect("the program is there");
    // In the dialect of rules, `sat` means that the query is reachable.
    let text = std::fs::read_to_string(&task.path).expect("readable");
    let query = text.contains("(query ");
    let printed = String::from_utf8_lossy(&output.stdout);
    let answer = match printed.lines().next() {
        Some("sat") => Some(!query),
        Some("unsat") => Some(query),
        Some("unknown") => None,
        _ => return Err(format!("{}: {printed}", task.name())),
    };
    let messages = String::from_utf8_lossy(&output.stderr);
    if messages.contains("witness.failures") || answer.is_some_and(|safe| safe != task.safe) {
        return Err(format!("{}: {answer:?}\n{messages}", task.name()));
    }
    Ok(answer.is_some())
}

/// The programs of the paper of `safari` (LPAR 2012), and variants with a bug. The two sorting
/// programs take longer than the others.
#[test]
fn safari_solves_the_programs_of_its_paper() {
    let mut tasks = tasks();
    tasks.retain(|task| task.name().starts_with("safari/"));
    assert_eq!(tasks.len(), 24);
    answers_at_least(24, &tasks, |task, limit| {
        run(&task.path, &config("safari"), limit).agrees(task)
    });
}
