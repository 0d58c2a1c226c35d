//! The example in C, built with the header and run with the library.

// Helpers of tests.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

const SAFE: &str = "(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (forall ((x Int)) (=> (= x 0) (P x))))
(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
(assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))
(check-sat)
";
const UNSAFE: &str = "(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (P 0))
(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
(assert (forall ((x Int)) (=> (and (P x) (> x 1)) false)))
(check-sat)
";
/// The query is reached after a billion steps only.
const FAR: &str = "(set-logic HORN)
(declare-fun P (Int Int) Bool)
(assert (P 0 1))
(assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (mod (* y y 7) 1000003)))))
(assert (forall ((x Int) (y Int)) (=> (and (P x y) (= x 1000000000)) false)))
(check-sat)
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder with the library that cargo has built beside this test.
fn library() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let deps = own.parent().unwrap();
    let folders = [deps, deps.parent().unwrap()];
    let found = folders
        .into_iter()
        .find(|folder| folder.join("libalphorn_c.so").exists());
    found.expect("libalphorn_c.so").to_owned()
}

/// The example, compiled without warnings.
fn example(folder: &Path) -> PathBuf {
    let (program, library) = (folder.join("solve"), library());
    let done = Command::new("cc")
        .args([
            "-std=c99",
            "-D_POSIX_C_SOURCE=200809L",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-I",
        ])
        .arg(root().join("include"))
        .arg(root().join("examples/c/solve.c"))
        .arg("-L")
        .arg(&library)
        .args(["-lalphorn_c", "-lpthread"])
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    program
}

#[test]
fn the_example_in_c_solves() {
    let folder = tempfile::tempdir().unwrap();
    let program = example(folder.path());
    let run = |text: &str, seconds: &[&str]| {
        let file = folder.path().join("task.smt2");
        std::fs::write(&file, text).unwrap();
        let output = Command::new(&program)
            .arg(&file)
            .args(seconds)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (text, output.status.code())
    };
    let (text, status) = run(SAFE, &[]);
    assert_eq!(status, Some(0), "{text}");
    assert!(
        text.starts_with("sat\nsafe: 1\n(\n  (define-fun P ((x!0 Int)) Bool "),
        "{text}"
    );
    let (text, status) = run(UNSAFE, &[]);
    assert_eq!(status, Some(0), "{text}");
    assert!(
        text.starts_with("unsat\nsafe: 0\n1: P(0) by clause 1\n"),
        "{text}"
    );
    let json = text.lines().last().unwrap();
    assert!(json.contains("\"verdict\":\"unsat\""), "{json}");
    let (text, status) = run("(set-logic HORN)\n(assert (P 1))\n(check-sat)", &[]);
    assert_eq!(text, "error: line 2 column 10: `P` is not declared\n");
    assert_eq!(status, Some(1));
    // Another thread ends the run.
    let (text, status) = run(FAR, &["0.3"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(
        text.starts_with("unknown\nsafe: -1\nreason: interrupted\n{"),
        "{text}"
    );
}

/// The header declares what the library exports, and nothing else.
#[test]
fn the_header_has_every_function() {
    let functions = |text: &str, before: &str| -> Vec<String> {
        let names = text.split(before).skip(1).map(|rest| {
            let end = rest.find('(').unwrap();
            rest[..end].trim().trim_start_matches('*').to_owned()
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    let source = std::fs::read_to_string(root().join("crates/capi/src/lib.rs")).unwrap();
    let header = std::fs::read_to_string(root().join("include/alphorn.h")).unwrap();
    let exported = functions(&source, "extern \"C\" fn ");
    let (_, declared) = header.split_once("typedef struct").unwrap();
    let lines = declared
        .lines()
        .filter(|line| !line.starts_with(['/', ' ']) && line.contains('('));
    let mut declared: Vec<String> = lines
        .filter_map(|line| {
            let (before, _) = line.split_once('(')?;
            Some(before.rsplit([' ', '*']).next()?.to_owned())
        })
        .collect();
    declared.sort();
    assert_eq!(exported, declared);
    assert!(exported.len() > 8, "{exported:?}");
}
