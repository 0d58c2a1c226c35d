//! The command line: output on each stream, its order, and the exit status.

// Helpers of tests.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

/// x counts up from 0 and is never negative.
const COUNTER: &str = "(set-logic HORN)
(declare-fun P (Int) Bool)
(declare-fun |un used| (Int Bool) Bool)
(assert (forall ((x Int)) (=> (= x 0) (P x))))
(assert (forall ((x Int) (y Int)) (=> (and (P x) (= y (+ x 1))) (P y))))
(assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))
(check-sat)
";
/// A safe problem that each engine solves.
const SAFE: &str = "(set-logic HORN)
(declare-fun P (Int) Bool)
(declare-fun |un used| (Int Bool) Bool)
(assert (forall ((x Int)) (=> (= x 0) (P x))))
(assert (forall ((x Int)) (=> (and (P x) (> x 5)) (P x))))
(assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))
(check-sat)
";
/// x counts up from 0 and reaches 2.
const UNSAFE: &str = "(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (forall ((x Int)) (=> (= x 0) (P x))))
(assert (forall ((x Int) (y Int)) (=> (and (P x) (= y (+ x 1))) (P y))))
(assert (forall ((x Int)) (=> (and (P x) (> x 1)) false)))
(check-sat)
";
/// The problems `COUNTER` and `UNSAFE` as rules.
const RULES: &str = "(declare-rel P (Int))
(declare-rel bad ())
(declare-var x Int)
(rule (=> (= x 0) (P x)))
(rule (=> (P x) (P (+ x 1))))
(rule (=> (and (P x) LIMIT) bad))
(query bad)
";
/// The query is reached after a billion steps only.
const FAR: &str = "(set-logic HORN)
(declare-fun P (Int Int) Bool)
(assert (forall ((x Int)) (=> (= x 0) (P x 1))))
(assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (mod (* y y 7) 1000003)))))
(assert (forall ((x Int) (y Int)) (=> (and (P x y) (= x 1000000000)) false)))
(check-sat)
";
const SAFE_MODEL: &str = "(
  (define-fun P ((x!0 Int)) Bool (>= x!0 0))
  (define-fun |un used| ((x!0 Int) (x!1 Bool)) Bool true)
)
";
const UNSAFE_PROOF: &str = "1: P(0) by clause 1 [x = 0]
2: P(1) by clause 2 [x = 0, y = 1] from 1
3: P(2) by clause 2 [x = 1, y = 2] from 2
4: false by clause 3 [x = 2] from 3
";

/// A limit for a run that has to end with an answer: far more than it needs.
const PATIENCE: &str = "--timeout=600";

struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Files {
        Files {
            folder: TempDir::new().unwrap(),
        }
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// The program with one job, so that nothing depends on the number of cores; tests of the portfolio
/// are in `portfolio.rs`.
fn alphorn() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("alphorn"));
    command
        .args(["--jobs", "1"])
        .env_remove("RUST_LOG")
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null());
    command
}

fn with_input(args: &[&str], input: &str) -> Output {
    let mut command = alphorn();
    if !args
        .iter()
        .any(|a| a.starts_with("--timeout") || a.starts_with("-t:"))
    {
        command.arg(PATIENCE);
    }
    let mut child = command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program may end before it has read its whole input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    for line in stderr.lines() {
        assert!(!["sat", "unsat", "unknown"].contains(&line), "{stderr}");
    }
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn expect(output: &Output, text: &str, status: i32) {
    assert_eq!(stdout(output), text, "{}", stderr(output));
    assert_eq!(output.status.code(), Some(status), "{}", stderr(output));
}

// ---- verdicts ----

#[test]
fn horn_verdicts_from_file_and_standard_input() {
    let files = Files::new();
    for (name, text, verdict) in [("safe", SAFE, "sat\n"), ("unsafe", UNSAFE, "unsat\n")] {
        let path = files.file(name, text);
        expect(
            &alphorn().arg(PATIENCE).arg(path).output().unwrap(),
            verdict,
            0,
        );
        expect(&with_input(&[], text), verdict, 0);
        expect(&with_input(&["-"], text), verdict, 0);
    }
}

#[test]
fn sorts_may_be_declared_after_their_use() {
    let text = "(set-logic HORN)
        (declare-datatypes ((Box 0)) (((box (content Pair)))))
        (declare-datatypes ((Pair 0)) (((pair (left Int) (right Int)))))
        (declare-fun p (Box) Bool)
        (assert (forall ((b Box)) (=> (= (left (content b)) 0) (p b))))
        (assert (forall ((b Box)) (=> (and (p b) (LIMIT (left (content b)) 0)) false)))
        (check-sat)";
    expect(&with_input(&[], &text.replace("LIMIT", ">")), "sat\n", 0);
    expect(&with_input(&[], &text.replace("LIMIT", ">=")), "unsat\n", 0);
}

#[test]
fn queries_have_the_other_polarity() {
    let reachable = RULES.replace("LIMIT", "(> x 1)");
    let unreachable = RULES.replace("LIMIT", "(distinct x x)");
    expect(&with_input(&[], &reachable), "sat\n", 0);
    expect(&with_input(&[], &unreachable), "unsat\n", 0);
}

#[test]
fn models_follow_the_verdict_when_asked_for() {
    let asked = SAFE.replace("(check-sat)", "(check-sat)\n(get-model)");
    for (args, text) in [(vec!["--model"], SAFE), (vec![], &asked)] {
        let output = with_input(&args, text);
        let text = stdout(&output);
        assert!(
            text.starts_with("sat\n(\n  (define-fun P ((x!0 Int)) Bool "),
            "{text}"
        );
        assert!(
            text.contains("\n  (define-fun |un used| ((x!0 Int) (x!1 Bool)) Bool "),
            "{text}"
        );
        assert!(text.ends_with("\n)\n"), "{text}");
    }
    // There is no model for `unsat` and no proof for `sat`.
    expect(&with_input(&["--model"], UNSAFE), "unsat\n", 0);
    expect(&with_input(&["--proof"], SAFE), "sat\n", 0);
}

/// A relation that is a function of unbounded depth has no definition without recursion.
#[test]
fn a_plain_model_calls_no_recursive_functions() {
    let list = "(set-logic HORN) (declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))";
    let drop = format!(
        "{list} (declare-fun drop (L Int L) Bool)
        (assert (forall ((l L) (n Int)) (=> (<= n 0) (drop l n l))))
        (assert (forall ((n Int)) (drop nil n nil)))
        (assert (forall ((l L) (n Int) (x Int) (r L))
            (=> (and (> n 0) (drop l (- n 1) r)) (drop (cons x l) n r))))
        (assert (forall ((l L) (n Int) (x Int) (r L) (s L))
            (=> (and (>= n 0) (drop l n r) (drop (cons x l) (+ n 1) s) (distinct r s)) false)))
        (check-sat)"
    );
    let any = with_input(&["--model"], &drop);
    assert!(
        stdout(&any).starts_with("sat\n(\n  (define-fun-rec "),
        "{any:?}"
    );
    let plain = with_input(&["--model=plain"], &drop);
    assert_eq!(stdout(&plain), "unknown\n");
    assert!(stderr(&plain).contains("recursive functions"), "{plain:?}");

    let length = format!(
        "{list} (declare-fun len (L Int) Bool)
        (assert (len nil 0))
        (assert (forall ((l L) (n Int) (x Int)) (=> (len l n) (len (cons x l) (+ n 1)))))
        (assert (forall ((l L) (n Int)) (=> (and (len l n) (< n 0)) false)))
        (check-sat)"
    );
    let plain = with_input(&["--model=plain"], &length);
    assert!(
        stdout(&plain).starts_with("sat\n(\n  (define-fun len "),
        "{plain:?}"
    );
}

#[test]
fn models_of_rules_come_with_unsat_and_proofs_with_sat() {
    let unreachable = with_input(
        &["--model", "--proof"],
        &RULES.replace("LIMIT", "(distinct x x)"),
    );
    let text = stdout(&unreachable);
    assert!(text.starts_with("unsat\n(\n  (define-fun P "), "{text}");
    let reachable = with_input(&["--model", "--proof"], &RULES.replace("LIMIT", "(> x 1)"));
    let text = stdout(&reachable);
    assert!(
        text.starts_with("sat\n1: P(0) by clause 1 [x = 0]\n"),
        "{text}"
    );
    assert!(text.ends_with(" from 4\n"), "{text}");
}

#[test]
fn proofs_as_text_and_as_json() {
    let output = with_input(&["--proof"], UNSAFE);
    expect(&output, &format!("unsat\n{UNSAFE_PROOF}"), 0);
    let asked = UNSAFE.replace("(check-sat)", "(check-sat)\n(get-proof)");
    expect(
        &with_input(&[], &asked),
        &format!("unsat\n{UNSAFE_PROOF}"),
        0,
    );
    let output = with_input(&["--proof=json"], UNSAFE);
    let text = stdout(&output);
    let json: serde_json::Value =
        serde_json::from_str(text.strip_prefix("unsat\n").unwrap()).unwrap();
    let steps = json["refutation"].as_array().unwrap();
    assert_eq!(steps.len(), 4);
    assert_eq!(steps[1]["fact"]["predicate"], "P");
    assert_eq!(steps[1]["fact"]["arguments"][0], "1");
    assert_eq!(steps[1]["line"], 4);
    assert_eq!(steps[1]["premises"][0], 1);
    assert_eq!(steps[3]["fact"], serde_json::Value::Null);
}

/// Models in the form that Solidity's compiler reads.
#[test]
fn proofs_of_z3() {
    let output = with_input(&["--proof=z3"], UNSAFE);
    let text = stdout(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "unsat",
            "((set-logic HORN)",
            "(declare-fun query!0 () Bool)",
            "(proof"
        ]
    );
    assert_eq!(text.matches("hyper-res").count(), 4, "{text}");
    assert!(
        text.contains("((_ hyper-res 0 0) (asserted $c1) (P 0))"),
        "{text}"
    );
    assert!(
        lines
            .last()
            .unwrap()
            .starts_with("(mp ((_ hyper-res 0 0 0 1) (asserted $c3) ")
    );
    assert!(
        text.contains(" query!0) (asserted (=> query!0 false)) false)"),
        "{text}"
    );
    let (open, close) = (text.matches('(').count(), text.matches(')').count());
    assert_eq!(open, close);
    expect(&with_input(&["--proof=z3"], SAFE), "sat\n", 0);
}

#[test]
fn the_printed_witnesses_pass_the_check() {
    let files = Files::new();
    for (name, text, option) in [
        ("safe", SAFE, "--model"),
        ("unsafe", UNSAFE, "--proof"),
        ("unsafe", UNSAFE, "--proof=json"),
    ] {
        let problem = files.file(name, text);
        let answer = alphorn()
            .args([PATIENCE, option])
            .arg(&problem)
            .output()
            .unwrap();
        let witness = files.file("witness", &answer.stdout);
        let output = alphorn().arg("check").args([&problem, &witness]).output();
        expect(&output.unwrap(), "valid\n", 0);
    }
}

// ---- errors ----

#[test]
fn input_errors_are_one_line_with_a_place() {
    for (input, place) in [
        (
            "(set-logic HORN)\n(assert (P 0))\n(check-sat)\n",
            "line 2 column ",
        ),
        ("(set-logic HORN)\n(declare-fun P (Int) Bool\n", "line "),
        ("\u{0}\u{1}Bud1\u{0}", "line 1 column 1"),
    ] {
        let output = with_input(&[], input);
        let text = stdout(&output);
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.starts_with(&format!("(error \"{place}")), "{text}");
        assert!(text.ends_with("\")\n"), "{text}");
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn files_that_are_not_text_or_not_there() {
    let files = Files::new();
    let path = files.file("bytes", b"(set-logic HORN)\n  \xff\xfe");
    let output = alphorn().arg(path).output().unwrap();
    let text = stdout(&output);
    assert!(text.starts_with("(error \"line 2 column 3: "), "{text}");
    assert_eq!(output.status.code(), Some(1));
    let output = alphorn().arg("no/such/file").output().unwrap();
    let text = stdout(&output);
    assert!(
        text.starts_with("(error \"cannot read no/such/file"),
        "{text}"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn usage_errors() {
    for args in [
        &["--engine", "nonsense"][..],
        &["--passes", "nonsense"],
        &["--set", "pdr.nonsense=1"],
        &["--set", "nobody.guidance=true"],
        &["--set", "pdr.guidance=perhaps"],
        &["--set", "pdr"],
        &["--nonsense"],
        &["--timeout", "-3"],
        &["--proof=xml"],
        &["a", "b"],
        &["check", "a"],
    ] {
        let output = with_input(args, SAFE);
        let text = stdout(&output);
        assert!(
            text.starts_with("(error \"") && text.lines().count() == 1,
            "{args:?}: {text}"
        );
        assert_eq!(output.status.code(), Some(1), "{args:?}");
    }
}

#[test]
fn settings_are_listed_and_matter() {
    let output = alphorn().arg("--settings").output().unwrap();
    let list = stdout(&output);
    assert!(list.contains("pdr.guidance=true (true or false)"), "{list}");
    let run = |setting: &str| {
        let args = ["--engine", "pdr", "--set", setting, "--passes", "none"];
        stdout(&with_input(&args, SAFE))
    };
    assert_eq!(run("pdr.max-level=none"), "sat\n");
    assert_eq!(run("pdr.max-level=0"), "unknown\n");
}

/// On a terminal, a line shows the progress of the run and is erased before the answer; not with
/// `--quiet`, and not if standard error is no terminal.
#[test]
fn a_terminal_shows_how_it_goes() {
    let files = Files::new();
    let path = files.file("far", FAR);
    let spawn = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))";
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new("python3");
        command.args(["-c", spawn, env!("CARGO_BIN_EXE_alphorn")]);
        command
            .arg(&path)
            .args(["--engine", "kind", "--timeout", "3"]);
        let output = command
            .args(args)
            .stdin(std::process::Stdio::null())
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let shown = run(&[]);
    assert!(shown.contains(" s  kind"), "{shown:?}");
    assert!(shown.contains("\r\x1b[Kunknown\r\n"), "{shown:?}");
    assert_eq!(run(&["-q"]), "unknown\r\n");
}

#[test]
fn version_and_help_leave_standard_error_alone() {
    let output = alphorn().arg("--version").output().unwrap();
    expect(&output, "alphorn 0.1.0 (libz3 5.4.0)\n", 0);
    assert_eq!(stderr(&output), "");
    let output = alphorn().arg("--help").output().unwrap();
    assert!(stdout(&output).contains("--engine"));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
}

// ---- limits, signals ----

#[test]
fn the_time_limit_ends_the_run() {
    for args in [&["--timeout", "0.5"][..], &["-t:1", "-hsmt", "-in"]] {
        let output = with_input(args, FAR);
        expect(&output, "unknown\n", 0);
        assert!(stderr(&output).contains("timeout"), "{}", stderr(&output));
    }
}

/// All output and the exit status of a deterministic run on a file of the corpus.
fn deterministic(file: &str) -> (String, i32) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("horn-benchmarks")
        .join(file);
    let path = path.to_string_lossy().into_owned();
    let mut command = alphorn();
    command.args(["--deterministic", "--timeout", "2", "--model", "--proof"]);
    let output = command.arg(path).output().expect("the program runs");
    (stdout(&output), output.status.code().expect("a status"))
}

#[test]
fn a_deterministic_run_does_not_depend_on_how_busy_the_machine_is() {
    let files = [
        "papers/vinta-fig2a-safe.smt2",
        "papers/vinta-fig2a-unsafe.smt2",
        // There is no verdict within the limit: the runs have to end at the same point.
        "loops/collatz-safe.smt2",
    ];
    let idle = files.map(deterministic);
    let done = AtomicBool::new(false);
    let busy = std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| while !std::hint::black_box(done.load(Ordering::Relaxed)) {});
        }
        let busy = std::panic::catch_unwind(|| files.map(deterministic));
        done.store(true, Ordering::Relaxed);
        busy.expect("the program runs")
    });
    assert_eq!(idle, busy);
    assert!(idle[0].0.starts_with("sat\n") && idle[1].0.starts_with("unsat\n"));
}

#[test]
fn the_file_can_set_the_limit_and_ask_for_the_reason() {
    let text = FAR
        .replace("(check-sat)", "(check-sat)\n(get-info :reason-unknown)")
        .replace(
            "(set-logic HORN)",
            "(set-logic HORN)\n(set-option :timeout 400)",
        );
    expect(
        &with_input(&[], &text),
        "unknown\n(:reason-unknown \"timeout\")\n",
        0,
    );
}

#[test]
fn the_memory_limit_ends_the_run() {
    let output = with_input(&["--memory", "1"], FAR);
    expect(&output, "unknown\n", 0);
    assert!(stderr(&output).contains("memout"), "{}", stderr(&output));
}

/// Sends a signal when a line of the log contains `awaited`.
fn signalled(signal: i32, text: &str, args: &[&str], awaited: &str) -> Output {
    let files = Files::new();
    let path = files.file("task", text);
    let mut child = alphorn()
        .args(args)
        .arg(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut lines = String::new();
    while !lines.contains(awaited) {
        assert!(log.read_line(&mut lines).unwrap() > 0, "{lines}");
    }
    // SAFETY: `kill` sends a signal to our own child.
    unsafe { libc::kill(i32::try_from(child.id()).unwrap(), signal) };
    log.read_to_string(&mut lines).unwrap();
    let mut output = child.wait_with_output().unwrap();
    output.stderr = lines.into_bytes();
    output
}

#[test]
fn signals_end_the_run() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let output = signalled(signal, FAR, &["-v"], "[INFO");
        expect(&output, "unknown\n", 0);
        assert!(
            stderr(&output).contains("interrupted"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn a_crash_is_an_unknown() {
    for signal in [libc::SIGSEGV, libc::SIGABRT] {
        let output = signalled(signal, FAR, &["-v"], "[INFO");
        expect(&output, "unknown\n", 0);
        assert!(stderr(&output).contains("defect"), "{}", stderr(&output));
    }
}

/// The run may have ended or not when the signal comes.
#[test]
fn a_run_that_is_stopped_prints_its_provisional_answer() {
    for signal in [libc::SIGTERM, libc::SIGSEGV] {
        let args = ["-vv", "--model"];
        let output = signalled(signal, COUNTER, &args, "there is an answer");
        let out = stdout(&output);
        assert!(out.starts_with("sat\n(\n  (define-fun P "), "{out}");
        assert!(out.ends_with("\n)\n"), "{out}");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn a_reader_that_is_gone_is_no_failure() {
    let mut child = alphorn()
        .args(["--proof", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child
        .stdin
        .take()
        .unwrap()
        .write_all(UNSAFE.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
}

/// A device that is always full.
const FULL: &str = "/dev/full";

#[test]
fn what_cannot_be_written_is_a_failure() {
    let files = Files::new();
    let problem = files.file("unsafe.smt2", UNSAFE);
    let script = files.file("script.smt2", format!("{UNSAFE}(check-sat)\n"));
    let problem = problem.to_str().unwrap();
    let script = script.to_str().unwrap();
    let full = || Stdio::from(std::fs::File::create(FULL).unwrap());
    let run = |args: &[&str], out: Stdio| {
        let output = alphorn().arg(PATIENCE).args(args).stdout(out).output();
        let output = output.unwrap();
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(4), "{args:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{args:?}: {message}");
        assert!(message.starts_with("alphorn: cannot write"), "{message}");
    };
    for args in [
        &[problem][..],
        &[problem, "--proof"],
        &[problem, "--output=json"],
        &[problem, "--jobs", "2"],
        &[problem, "--print-system"],
        &[script],
        &["--help"],
    ] {
        run(args, full());
    }
    let output = format!("json:{FULL}");
    for args in [
        &[problem, "--report", FULL][..],
        &[problem, "--certificate", FULL],
        &[problem, "--certificate", FULL, "--jobs", "2"],
        &[problem, "--output", &output],
        &[problem, "--output", &output, "--jobs", "2"],
    ] {
        run(args, Stdio::null());
    }
    // The verdict is there all the same.
    let output = with_input(&["--report", FULL], UNSAFE);
    assert_eq!(stdout(&output), "unsat\n");
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn compressed_input() {
    let files = Files::new();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(UNSAFE.as_bytes()).unwrap();
    let data = encoder.finish().unwrap();
    // The format is known by the content.
    for name in ["a.smt2.gz", "b.smt2"] {
        let path = files.file(name, &data);
        let path = path.to_str().unwrap();
        for jobs in ["1", "2"] {
            let output = alphorn()
                .args([path, "--proof", PATIENCE, "--jobs", jobs])
                .output();
            expect(&output.unwrap(), &format!("unsat\n{UNSAFE_PROOF}"), 0);
        }
    }
    let witness = files.file("witness", format!("unsat\n{UNSAFE_PROOF}"));
    let whole = files.file("whole.gz", &data);
    let output = alphorn().arg("check").args([&whole, &witness]).output();
    expect(&output.unwrap(), "valid\n", 0);
    let short = files.file("short.gz", &data[..data.len() / 2]);
    let output = alphorn().arg(&short).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = stdout(&output);
    assert!(
        message.contains("the compressed data are damaged"),
        "{message}"
    );
}

#[test]
fn closed_systems_without_their_engines() {
    let text = "(set-logic HORN)
        (assert (forall ((x Int)) (=> (> x 3) (> x LIMIT))))
        (check-sat)\n";
    for (limit, verdict) in [("2", "sat\n"), ("4", "unsat\n")] {
        let text = text.replace("LIMIT", limit);
        for without in ["bmc,pdr", "bmc,pdr,trl,kind,templates"] {
            expect(&with_input(&["--without", without], &text), verdict, 0);
        }
    }
}

// ---- answers as JSON ----

fn object(output: &Output) -> serde_json::Value {
    let text = stdout(output);
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn an_answer_is_one_object() {
    for jobs in ["1", "2"] {
        let json = ["--output=json", "--jobs", jobs];
        let answer = object(&with_input(&json, UNSAFE));
        assert_eq!(answer["verdict"], "unsat");
        assert_eq!(answer["safe"], false);
        assert_eq!(answer["dialect"], "horn");
        assert_eq!(answer["source"], "-");
        assert_eq!(answer["witness"]["kind"], "refutation");
        assert_eq!(answer["witness"]["steps"].as_array().unwrap().len(), 4);
        assert_eq!(answer["checks"]["passed"], true);
        assert!(answer["answered_by"]["engine"].is_string(), "{answer}");
        assert_eq!(answer["limits"]["jobs"].to_string(), jobs);
        let answer = object(&with_input(&json, SAFE));
        let model = answer["witness"]["text"].as_str().unwrap();
        assert!(
            model.starts_with("(\n  (define-fun P ((x!0 Int)) Bool "),
            "{model}"
        );
        assert_eq!(answer["error"], serde_json::Value::Null);
        // What the verdict says depends on the dialect, and `safe` does not.
        let answer = object(&with_input(&json, &RULES.replace("LIMIT", "(> x 1)")));
        assert_eq!(
            (&answer["verdict"], &answer["safe"]),
            (&"sat".into(), &false.into())
        );
        assert_eq!(answer["dialect"], "fixedpoint");
        let output = with_input(&json, "(set-logic HORN)\n(assert (P 1))\n(check-sat)");
        assert_eq!(output.status.code(), Some(1));
        let answer = object(&output);
        assert_eq!(answer["verdict"], serde_json::Value::Null);
        assert_eq!(answer["error"]["line"], 2);
        let json = [&json[..], &["--timeout", "0.5"]].concat();
        let answer = object(&with_input(&json, FAR));
        assert_eq!(answer["verdict"], "unknown");
        assert_eq!(answer["reason"], "timeout");
        assert_eq!(answer["limits"]["seconds"], 0.5);
        assert_eq!(answer["witness"], serde_json::Value::Null);
    }
}

#[test]
fn an_object_beside_the_text_and_in_the_statistics() {
    let files = Files::new();
    let path = files.folder.path().join("answer.json");
    let option = format!("--output=json:{}", path.display());
    let output = with_input(&[&option, "--proof", "--stats=json"], UNSAFE);
    expect(&output, &format!("unsat\n{UNSAFE_PROOF}"), 0);
    let text = std::fs::read_to_string(&path).unwrap();
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        answer["witness"]["steps"][3]["fact"],
        serde_json::Value::Null
    );
    let stats: serde_json::Value = serde_json::from_str(&stderr(&output)).unwrap();
    assert_eq!(stats["answer"]["verdict"], "unsat");
    assert_eq!(stats["answer"]["witness"], serde_json::Value::Null);
    assert!(stats["frontend.clauses"].is_number());
    // Without times an object is the same each time.
    let json = ["--output=json", "--deterministic", "--timeout", "60"];
    let (one, two) = (with_input(&json, SAFE), with_input(&json, SAFE));
    assert_eq!(stdout(&one), stdout(&two));
    assert_eq!(object(&one)["times"], serde_json::Value::Null);
    let script = format!("{SAFE}(check-sat)");
    let output = with_input(&["--output=json"], &script);
    assert_eq!(stdout(&output).lines().count(), 2);
    let output = with_input(&["--output=json:/dev/null"], &script);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("for a text with one question"));
}

#[test]
fn a_crash_is_an_object_too() {
    // The signal is sent while the run is under way.
    let output = signalled(libc::SIGSEGV, FAR, &["--output=json", "-v"], "engine");
    let answer = object(&output);
    assert_eq!(answer["verdict"], "unknown");
    assert_eq!(answer["reason"], "defect: crashed");
}

// ---- other output ----

#[test]
fn statistics_go_to_standard_error() {
    let output = with_input(&["--stats"], SAFE);
    expect(&output, "sat\n", 0);
    assert!(
        stderr(&output).contains("frontend.clauses = 3"),
        "{}",
        stderr(&output)
    );
    let output = with_input(&["--stats=json"], SAFE);
    expect(&output, "sat\n", 0);
    let json: serde_json::Value = serde_json::from_str(stderr(&output).trim()).unwrap();
    assert_eq!(json["frontend.clauses"], 3);
    // Which engine answered, and where.
    let by_pdr = with_input(
        &["--stats=json", "--engine", "pdr", "--passes", "none"],
        SAFE,
    );
    let json: serde_json::Value = serde_json::from_str(stderr(&by_pdr).trim()).unwrap();
    assert_eq!(json["answer.engine"], "pdr");
    assert_eq!(json["answer.stage"], "main");
    assert_eq!(json["answer.lemmas"], "no engine");
    assert!(json["answer.seconds"].is_f64() && json["answer.check.seconds"].is_f64());
    // Also those of a run that was stopped.
    let output = with_input(&["--stats", "--timeout", "0.5"], FAR);
    assert!(
        stderr(&output).contains("total.seconds"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_normal_form_is_a_problem_again() {
    for (text, verdict) in [(SAFE, "sat\n"), (UNSAFE, "unsat\n")] {
        let output = with_input(&["--print-system"], text);
        let printed = stdout(&output);
        assert_eq!(output.status.code(), Some(0));
        assert!(printed.starts_with("(set-logic HORN)\n"), "{printed}");
        expect(&with_input(&[], &printed), verdict, 0);
        let output = with_input(&["--dump-after", "simplify"], text);
        expect(&with_input(&[], &stdout(&output)), verdict, 0);
    }
    // Rules become Horn clauses, where an unreachable query means `sat`.
    let output = with_input(
        &["--print-system"],
        &RULES.replace("LIMIT", "(distinct x x)"),
    );
    expect(&with_input(&[], &stdout(&output)), "sat\n", 0);
}

/// The tags of a page that are not closed, in order; an error if tags are not nested properly.
fn unclosed(page: &str) -> Result<Vec<&str>, String> {
    let mut open: Vec<&str> = Vec::new();
    for tag in page.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').ok_or("a tag without an end")?;
        let word = tag.split_whitespace().next().unwrap_or_default();
        match word.strip_prefix('/') {
            Some(closed) if open.last() == Some(&closed) => {
                open.pop();
            }
            Some(closed) => return Err(format!("</{closed}> in {open:?}")),
            None if tag.ends_with('/') || matches!(word, "!DOCTYPE" | "meta") => {}
            None => open.push(word),
        }
    }
    Ok(open)
}

#[test]
fn a_page_explains_the_answer() {
    let files = Files::new();
    let page = files.folder.path().join("page.html");
    let shown = |text: &str, args: &[&str]| {
        let args = [&["--report", page.to_str().unwrap()], args].concat();
        let output = with_input(&args, text);
        let page = std::fs::read_to_string(&page).unwrap();
        assert_eq!(unclosed(&page), Ok(vec![]), "{page}");
        assert!(!page.contains("http"), "nothing comes from elsewhere");
        (stdout(&output), page)
    };
    let (answer, page) = shown(SAFE, &[]);
    assert_eq!(answer, "sat\n");
    // The node of the graph links to the invariant.
    for part in [
        "href=\"#p-P\"",
        "id=\"p-P\"",
        "(define-fun P ",
        "class=\"check\"",
        "(=&gt; (= x 0) (P x))",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let (answer, page) = shown(UNSAFE, &[]);
    assert_eq!(answer, "unsat\n");
    for part in [
        "class=\"used\"",
        "id=\"step2\"",
        "href=\"#step1\"",
        "<code>false</code>",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    // A run that reaches its limit writes a page, too.
    let (answer, page) = shown(FAR, &["--engine", "kind", "--timeout", "0.5"]);
    assert_eq!(answer, "unknown\n");
    assert!(page.contains("No answer: timeout"), "{page}");
    assert!(page.contains("class=\"engine\""), "{page}");
    let output = with_input(&["--report", "/no/such/folder/page.html"], SAFE);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).starts_with("(error \"cannot write"));
}

#[test]
fn a_certificate_is_written() {
    let files = Files::new();
    let path = files.folder.path().join("certificate.smt2");
    let written = |text: &str, args: &[&str]| {
        let args = [&["--certificate", path.to_str().unwrap()], args].concat();
        let answer = stdout(&with_input(&args, text));
        (answer, std::fs::read_to_string(&path).unwrap())
    };
    let (answer, certificate) = written(SAFE, &[]);
    assert_eq!(answer, "sat\n");
    let title = "; alphorn certificate 1: a model\n";
    assert!(certificate.starts_with(title), "{certificate}");
    let (answer, certificate) = written(UNSAFE, &[]);
    assert_eq!(answer, "unsat\n");
    let title = "; alphorn certificate 1: a refutation\n";
    assert!(certificate.starts_with(title), "{certificate}");
    assert_eq!(certificate.matches("(check-sat)").count(), 1);
    // A certificate of an earlier run is removed.
    let (answer, certificate) = written(FAR, &["--timeout", "0.4"]);
    assert_eq!(answer, "unknown\n");
    assert!(!certificate.contains("(check-sat)"), "{certificate}");
    let output = with_input(&["--certificate", "/no/such/folder/c.smt2"], SAFE);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).starts_with("(error \"cannot write"));
}

#[test]
fn the_graph_is_written() {
    let files = Files::new();
    let graph = files.folder.path().join("graph.dot");
    let output = with_input(&["--graph", graph.to_str().unwrap()], SAFE);
    expect(&output, "sat\n", 0);
    let text = std::fs::read_to_string(graph).unwrap();
    assert!(
        text.starts_with("digraph") && text.contains("label=\"P\""),
        "{text}"
    );
}

#[test]
fn logs_go_to_standard_error() {
    let output = with_input(&["-vv"], SAFE);
    expect(&output, "sat\n", 0);
    assert!(
        stderr(&output).contains("[INFO alphorn"),
        "{}",
        stderr(&output)
    );
    let output = with_input(&["-qq", "--timeout", "0.3"], FAR);
    expect(&output, "unknown\n", 0);
    assert_eq!(stderr(&output), "");
    // The environment variable has precedence.
    let run = |level: &str| {
        let mut command = alphorn();
        let file = Files::new();
        let path = file.file("safe", SAFE);
        command.env("RUST_LOG", level).args([PATIENCE, "-v"]);
        let output = command.arg(path).output().unwrap();
        expect(&output, "sat\n", 0);
        stderr(&output)
    };
    assert!(!run("off").contains("[INFO"));
    assert!(run("alphorn=debug").contains("[DEBUG alphorn"));
}

#[test]
fn poses_as_eld() {
    let output = with_input(&["-hsmt", "-in", "-t:600", "-ssol"], SAFE);
    let text = stdout(&output);
    assert!(text.starts_with("sat\n(\n  (define-fun P "), "{text}");
}

// ---- check ----

#[track_caller]
fn checked(problem: &str, witness: &str) -> (String, i32) {
    let files = Files::new();
    let problem = files.file("problem", problem);
    let witness = files.file("witness", witness);
    let output = alphorn()
        .arg("check")
        .args([problem, witness])
        .output()
        .unwrap();
    (
        stdout(&output).trim_end().to_owned(),
        output.status.code().unwrap(),
    )
}

#[track_caller]
fn accepts(problem: &str, witness: &str) {
    assert_eq!(checked(problem, witness), ("valid".to_owned(), 0));
}

#[track_caller]
fn rejects(problem: &str, witness: &str) {
    assert_eq!(
        checked(problem, witness),
        ("invalid".to_owned(), 2),
        "{witness}"
    );
}

#[track_caller]
fn cannot_read(problem: &str, witness: &str) {
    let (text, status) = checked(problem, witness);
    assert!(text.starts_with("(error \"witness: "), "{witness}: {text}");
    assert_eq!(status, 1);
}

#[test]
fn check_accepts_models_in_many_forms() {
    accepts(COUNTER, SAFE_MODEL);
    accepts(COUNTER, &format!("sat\n{SAFE_MODEL}"));
    let bare = SAFE_MODEL
        .trim()
        .strip_prefix('(')
        .unwrap()
        .strip_suffix(')')
        .unwrap();
    accepts(COUNTER, bare);
    accepts(COUNTER, &format!("sat\n(model {bare})"));
    // Negative numerals as other solvers print them, an auxiliary function, a comment.
    accepts(
        COUNTER,
        "; mine\n(define-fun low ((x Int)) Bool (> x -1)) (define-fun P ((A Int)) Bool (low A))
         (define-fun |un used| ((x Int) (y Bool)) Bool y)",
    );
}

/// A model with a recursive function is accepted only with its proof.
#[test]
fn check_reads_proofs_by_induction() {
    let problem = "(set-logic HORN)
        (declare-fun P (Int Int) Bool)
        (assert (P 0 0))
        (assert (forall ((n Int) (r Int)) (=> (and (P n r) (>= n 0)) (P (+ n 1) (+ r n 1)))))
        (assert (forall ((n Int) (r Int)) (=> (and (P n r) (>= n 0) (< r n)) false)))
        (check-sat)";
    let sum = "(define-fun-rec sum! ((n Int)) Int (ite (<= n 0) 0 (+ n (sum! (- n 1)))))";
    let definition = "(define-fun P ((n Int) (r Int)) Bool (= r (sum! n)))";
    let measure = "; measure sum! (0)";
    let lemma = "; lemma grows ((n Int)) (=> (>= n 0) (>= (sum! n) n)) :measure (0) \
        :case ((> n 0) :induction (((- n 1))) :unfold ((sum! n))) \
        :case ((= n 0) :unfold ((sum! n)))";
    accepts(
        problem,
        &format!("sat\n({sum}\n{definition})\n{measure}\n{lemma}\n"),
    );
    // A step below zero is the last one.
    let zero = lemma.replace("(> n 0)", "(>= n 0)");
    accepts(problem, &format!("({sum} {definition})\n{measure}\n{zero}"));
    let same = lemma.replace("((- n 1))", "(n)");
    assert_ne!(same, lemma);
    rejects(problem, &format!("({sum} {definition})\n{measure}\n{same}"));
    let absurd = sum.replace("(- n 1)", "(+ n 1)");
    rejects(
        problem,
        &format!("({absurd} {definition})\n{measure}\n{lemma}"),
    );
    cannot_read(problem, &format!("({sum} {definition})"));
    let open = lemma.replace(":case", "case");
    cannot_read(problem, &format!("({sum} {definition})\n{measure}\n{open}"));
}

#[test]
fn check_rejects_wrong_models() {
    for (from, to) in [
        ("(>= x!0 0)", "(>= x!0 1)"),
        ("(>= x!0 0)", "(>= x!0 (- 1))"),
        ("(>= x!0 0)", "(<= x!0 0)"),
        ("(>= x!0 0)", "true"),
        ("(>= x!0 0)", "false"),
        ("(>= x!0 0)", "x!0"),
        ("(>= x!0 0)", "(P x!0)"),
        ("(>= x!0 0)", "(>= y 0)"),
        ("((x!0 Int)) Bool", "((x!0 Int) (x!1 Int)) Bool"),
        ("|un used|", "other"),
    ] {
        assert!(SAFE_MODEL.contains(from));
        rejects(COUNTER, &SAFE_MODEL.replacen(from, to, 1));
    }
    // An unsatisfiable problem has no model, and `unsat` alone is not a refutation.
    rejects(UNSAFE, SAFE_MODEL);
    rejects(COUNTER, &format!("unsat\n{SAFE_MODEL}"));
    // A witness may not redefine operators.
    let all =
        "(define-fun P ((x Int)) Bool true) (define-fun |un used| ((x Int) (y Bool)) Bool true)";
    rejects(
        SAFE,
        &format!("(define-fun < ((x Int) (y Int)) Bool false) {all}"),
    );
    rejects(
        SAFE,
        &format!("{all} (define-fun and ((x Bool) (y Bool)) Bool false)"),
    );
}

#[test]
fn check_reads_only_models_and_refutations() {
    for witness in [
        "",
        "sat\n",
        "unknown\n",
        "((define-fun P ((x Int)) Bool true",
        "(assert false)",
        "(define-fun P ((x Int)) Bool true) (assert false)",
        "(define-fun-rec P ((x Int)) Bool (P x))",
        "(define-fun P ((x Int)) Bool true) (define-fun |P| ((x Int)) Bool false)",
        "((define-fun P))",
        "nonsense",
        "{\"refutation\": 1}",
        "{",
    ] {
        cannot_read(COUNTER, witness);
    }
    for (from, to) in [
        ("2: P(1)", "2: Q(1)"),
        ("2: P(1)", "2: P(1, 2)"),
        ("2: P(1)", "2: P(true)"),
        ("2: P(1)", "2: P(1"),
        ("clause 3", "clause 4"),
        ("clause 3", "clause 3.2"),
        ("[x = 0, y = 1]", "[x = 0]"),
        ("[x = 0, y = 1]", "[y = 0, x = 1]"),
        ("from 3", "from 4"),
        ("4: false", "3: false"),
        ("4: false", "4: false false"),
    ] {
        assert!(UNSAFE_PROOF.contains(from));
        cannot_read(UNSAFE, &UNSAFE_PROOF.replacen(from, to, 1));
    }
}

#[test]
fn check_judges_refutations() {
    accepts(UNSAFE, UNSAFE_PROOF);
    accepts(UNSAFE, &format!("unsat\n{UNSAFE_PROOF}"));
    accepts(
        UNSAFE,
        &UNSAFE_PROOF.replace(' ', "\n").replace("by", "  by"),
    );
    rejects(UNSAFE, &format!("sat\n{UNSAFE_PROOF}"));
    rejects(COUNTER, UNSAFE_PROOF);
    rejects(UNSAFE, "1: P(0) by clause 1 [x = 0]\n");
    for (from, to) in [
        ("3: P(2)", "3: P(3)"),
        ("y = 2", "y = 3"),
        ("x = 1, y = 2", "x = 0, y = 2"),
        ("from 3", "from 2"),
        (" from 3", ""),
        ("4: false", "4: P(2)"),
        ("clause 1 [x = 0]", "clause 3 [x = 0]"),
        ("P(0) by", "false by"),
    ] {
        assert!(UNSAFE_PROOF.contains(from));
        rejects(UNSAFE, &UNSAFE_PROOF.replacen(from, to, 1));
    }
}

#[test]
fn check_knows_the_polarity_of_rules() {
    let model = "((define-fun P ((x Int)) Bool (>= x 0)) (define-fun bad () Bool false))";
    let unreachable = RULES.replace("LIMIT", "(< x 0)");
    accepts(&unreachable, model);
    accepts(&unreachable, &format!("unsat\n{model}"));
    rejects(&unreachable, &format!("sat\n{model}"));
    rejects(&RULES.replace("LIMIT", "(> x 1)"), model);
    rejects(&unreachable, &model.replace("Bool false", "Bool true"));
}
