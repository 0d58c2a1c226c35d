//! Printed models are accepted by solvers that are not us: cvc5, and Z3's own program, through
//! `scripts/validate`, which shares no code with the library.

#[path = "common/corpus.rs"]
mod corpus;

use std::io::Write;
use std::path::Path;
use std::process::Command;

use alphorn::Config;
use alphorn::witness::Wanted;
use corpus::trials::answers_at_least;
use corpus::{Outcome, run, tasks};

/// Every so many safe files of the corpus are checked.
const STRIDE: usize = 3;

fn check_with(solver: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("third_party/py/bin/python");
    assert!(
        python.exists(),
        "{} is missing: run scripts/setup --test",
        python.display()
    );
    let files: Vec<_> = tasks()
        .into_iter()
        .filter(|t| t.safe && !t.hard)
        .step_by(STRIDE)
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    answers_at_least(files.len() * 8 / 10, &files, |task, limit| {
        let run = run(&task.path, &Config::default(), limit);
        if run.outcome != Outcome::Sat {
            return Ok(false);
        }
        let wanted = Wanted {
            model: true,
            ..Wanted::default()
        };
        let output = run.answer.output(&run.problem, wanted);
        let name = task.name().replace('/', "-");
        let path = folder.path().join(format!("{solver}-{name}.out"));
        let mut file = std::fs::File::create(&path).expect("writable");
        writeln!(file, "{}\n{}", output.word(), output.details()).expect("writable");
        let result = Command::new(&python)
            .arg(root.join("scripts/validate"))
            .args([&task.path, &path])
            .args([
                "--solver",
                solver,
                "--seconds",
                &limit.as_secs().max(10).to_string(),
            ])
            .output()
            .expect("python runs");
        let text = String::from_utf8_lossy(&result.stdout).into_owned();
        match text.trim() {
            "valid" => Ok(true),
            // The other solver gave up, or does not read what the task itself is written in.
            text if text.starts_with("unknown") || text.starts_with("malformed") => Ok(false),
            text => Err(format!("{}, {solver}: {text}", task.name())),
        }
    });
}

#[test]
fn cvc5_accepts_printed_models() {
    check_with("cvc5");
}

#[test]
fn z3_accepts_printed_models() {
    check_with("z3");
}
