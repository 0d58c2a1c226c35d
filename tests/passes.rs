//! Passes, alone and in pairs, preserve verdicts and witnesses, on the corpus and on generated
//! systems.

#[path = "common/corpus.rs"]
mod corpus;

use alphorn::Config;
use alphorn_transform::PASSES;
use corpus::trials::answers_at_least;
use corpus::{run, tasks};

/// One of this number of files of the corpus is tried.
const STRIDE: usize = 29;

/// Each file is tried with one of this number of lists of passes, the next file with others.
const ROTATION: usize = 24;

#[test]
fn passes_alone_and_in_pairs_keep_the_answer() {
    let names = || PASSES.iter().map(|p| p.name);
    let mut lists: Vec<String> = vec![String::new()];
    for a in names() {
        lists.push(a.to_owned());
        lists.extend(names().map(|b| format!("{a},{b}")));
    }
    // Proofs about several facts need no pass, and heaps are hard without most of them.
    let others = ["heaps/", "relational/"];
    let files: Vec<_> = tasks()
        .into_iter()
        .filter(|t| !t.hard && !others.iter().any(|family| t.name().starts_with(family)))
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
    // Some systems are hard without the other passes.
    answers_at_least(cases.len() * 9 / 10, &cases, |(task, list), limit| {
        let config = Config {
            passes: Some((*list).clone()),
            ..Config::default()
        };
        let answered = run(&task.path, &config, limit).agrees(task);
        answered.map_err(|error| format!("passes {list:?}: {error}"))
    });
}
