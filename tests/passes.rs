//! Passes alone and in pairs keep verdicts and witnesses, on the corpus and on generated systems.

#[path = "common/corpus.rs"]
mod corpus;

use std::time::Duration;

use alphorn::strategy::Config;
use alphorn::transform::PASSES;
use corpus::{Outcome, on_all, run, tasks};

/// Every so many files of the corpus are tried.
const STRIDE: usize = 19;

/// Each of them with every so many of the lists, other ones for the next file.
const ROTATION: usize = 3;

#[test]
fn passes_alone_and_in_pairs_keep_the_answer() {
    let names = || PASSES.iter().map(|p| p.name);
    let mut lists: Vec<String> = vec![String::new()];
    for a in names() {
        lists.push(a.to_owned());
        lists.extend(names().map(|b| format!("{a},{b}")));
    }
    let files: Vec<_> = tasks()
        .into_iter()
        .filter(|t| !t.hard)
        .step_by(STRIDE)
        .collect();
    let cases: Vec<_> = files
        .iter()
        .enumerate()
        .flat_map(|(at, t)| {
            let turn = lists.iter().skip(at % ROTATION).step_by(ROTATION);
            turn.map(move |l| (t, l))
        })
        .collect();
    let mut solved = std::sync::atomic::AtomicUsize::new(0);
    on_all(&cases, |(task, list)| {
        let config = Config {
            engine: "auto".to_owned(),
            settings: Vec::new(),
            passes: Some((*list).clone()),
        };
        let run = run(&task.path, &config, Duration::from_secs(2));
        let name = task.name();
        if run.failures > 0 {
            return Err(format!(
                "{name}, passes {list:?}: a witness failed its check"
            ));
        }
        let expected = if task.safe {
            Outcome::Sat
        } else {
            Outcome::Unsat
        };
        match run.outcome {
            // Without the other passes a system may be hard.
            Outcome::Unknown(_) => Ok(()),
            outcome if outcome == expected => {
                solved.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                Ok(())
            }
            outcome => Err(format!("{name}, passes {list:?}: {outcome:?}")),
        }
    });
    assert!(
        *solved.get_mut() * 10 > cases.len() * 9,
        "most must be solved"
    );
}

#[test]
fn the_readme_lists_the_default_passes() {
    let default: Vec<&str> = PASSES
        .iter()
        .filter(|p| p.default)
        .map(|p| p.name)
        .collect();
    let readme = include_str!("../README.md");
    assert!(readme.contains(&format!("`{}`", default.join(","))));
}
