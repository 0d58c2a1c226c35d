//! Regression tests: each file of `tests/regress/` is named after a bug that was mended. Its first
//! line has the expected result: `; expect: sat`, `unsat`, `answer` (either one, checked) or
//! `error TEXT`. The second line may have the configuration: `; with:`, then `engine=NAME`,
//! `passes=LIST` and settings.

#[path = "common/corpus.rs"]
mod corpus;

use std::path::Path;
use std::rc::Rc;

use alphorn::Config;
use alphorn::frontend::parse_bytes;
use alphorn::term::TermStore;
use corpus::trials::PATIENCE;
use corpus::{CheckOutcome, run};

#[test]
fn old_bugs_stay_away() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/regress");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|f| f.expect("readable").path())
        .filter(|p| p.extension().is_some_and(|e| e == "smt2"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for path in files {
        let text = std::fs::read_to_string(&path).expect("readable");
        let expected = text
            .lines()
            .next()
            .and_then(|l| l.strip_prefix("; expect: "));
        let expected = expected.unwrap_or_else(|| panic!("{}: no expectation", path.display()));
        if let Some(message) = expected.strip_prefix("error ") {
            let error = parse_bytes(text.as_bytes(), Rc::new(TermStore::new())).err();
            let error = error.unwrap_or_else(|| panic!("{} is read", path.display()));
            assert!(
                error.to_string().contains(message),
                "{}: {error}",
                path.display()
            );
            continue;
        }
        let run = run(&path, &config(&text), PATIENCE);
        assert_eq!(run.failures, 0, "{}", path.display());
        match (expected, &run.outcome) {
            ("sat", CheckOutcome::Sat) | ("unsat", CheckOutcome::Unsat) => {}
            ("answer", CheckOutcome::Sat | CheckOutcome::Unsat) => {}
            (_, outcome) => panic!("{}: {outcome:?}", path.display()),
        }
    }
}

/// The configuration in the second line, or the default.
fn config(text: &str) -> Config {
    let mut config = Config::default();
    let second = text.lines().nth(1);
    let words = second.and_then(|line| line.strip_prefix("; with: "));
    for word in words.into_iter().flat_map(str::split_whitespace) {
        match word.split_once('=') {
            Some(("engine", name)) => config.engine = name.to_owned(),
            Some(("passes", list)) => config.passes = Some(list.to_owned()),
            _ => config.settings.push(word.to_owned()),
        }
    }
    config
}
