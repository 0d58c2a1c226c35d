//! The portfolio from the outside: answers and output are those of one job, and no process is left
//! behind, however a run ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use alphorn_term::Random;

const SAFE: &str = "(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (forall ((x Int)) (=> (= x 0) (P x))))
(assert (forall ((x Int)) (=> (and (P x) (> x 5)) (P x))))
(assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))
(check-sat)
";
const UNSAFE: &str = "(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (forall ((x Int)) (=> (= x 0) (P x))))
(assert (forall ((x Int) (y Int)) (=> (and (P x) (= y (+ x 1))) (P y))))
(assert (forall ((x Int)) (=> (and (P x) (> x 1)) false)))
(check-sat)
";
/// A problem that no member solves.
const FAR: &str = "(set-logic HORN)
(declare-fun P (Int Int) Bool)
(assert (forall ((x Int)) (=> (= x 0) (P x 1))))
(assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (mod (* y y 7) 1000003)))))
(assert (forall ((x Int) (y Int)) (=> (and (P x y) (= x 1000000000)) false)))
(check-sat)
";
/// The environment variable that marks the processes of a test.
const MARK: &str = "ALPHORN_TEST_MARK";

fn alphorn(jobs: usize) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("alphorn"));
    command
        .env_remove("RUST_LOG")
        .args(["--jobs", &jobs.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn begin(command: &mut Command, input: &str) -> Child {
    let mut child = command.spawn().expect("the program runs");
    let mut to = child.stdin.take().expect("it is piped");
    // The program may end before it has read its whole input.
    let _ = to.write_all(input.as_bytes());
    child
}

fn run(jobs: usize, args: &[&str], input: &str) -> Output {
    let child = begin(alphorn(jobs).args(args), input);
    child.wait_with_output().expect("it ends")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The processes with this mark that have not ended.
fn marked(mark: &str) -> Vec<libc::pid_t> {
    let mark = format!("{MARK}={mark}");
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("a Linux").flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // The file of a process that has ended cannot be read.
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|&b| b == 0).any(|e| e == mark.as_bytes()) {
            found.push(pid);
        }
    }
    found
}

/// Waits until no process has the mark.
fn assert_nobody_is_left(mark: &str) {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let left = marked(mark);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < end, "{left:?} are left");
        sleep(Duration::from_millis(5));
    }
}

fn send(pid: libc::pid_t, signal: libc::c_int) {
    // SAFETY: `kill` sends a signal to a process that this test has started.
    unsafe { libc::kill(pid, signal) };
}

/// A run whose members are working, with its standard error and its log so far. It has no answer.
fn at_work(jobs: usize, mark: &str, args: &[&str]) -> (Child, BufReader<impl Read>, String) {
    let mut command = alphorn(jobs);
    command.env(MARK, mark).arg("-v").args(args);
    let mut child = begin(&mut command, FAR);
    let mut log = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut lines = String::new();
    let last = format!("member {jobs} begins");
    while !lines.contains(&last) {
        let count = log.read_line(&mut lines).expect("text");
        assert!(count > 0, "{lines}");
    }
    (child, log, lines)
}

fn pid(child: &Child) -> libc::pid_t {
    libc::pid_t::try_from(child.id()).expect("a small number")
}

#[test]
fn output_is_that_of_one_job() {
    let asks = |text: &str, what: &str| text.replace("(check-sat)", &format!("(check-sat){what}"));
    let wrong = SAFE.replace("(P x)", "(Q x)");
    let cases: [(&[&str], &str, i32); 9] = [
        (&[], SAFE, 0),
        (&["--model"], SAFE, 0),
        (&["--model", "--proof", "-"], UNSAFE, 0),
        (&["--proof=json"], UNSAFE, 0),
        (&[], &asks(SAFE, "(get-model)"), 0),
        (&[], &asks(UNSAFE, "(get-proof)"), 0),
        (&["--print-system"], SAFE, 0),
        (&["--model"], &wrong, 1),
        (&[], "(set-logic HORN)", 1),
    ];
    for (args, text, status) in cases {
        let (one, two) = (run(1, args, text), run(2, args, text));
        assert_eq!(stdout(&one), stdout(&two), "{args:?}: {}", stderr(&two));
        assert_eq!(two.status.code(), Some(status), "{args:?}");
        assert_eq!(stderr(&two), "", "{args:?}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("-a file");
    std::fs::write(&path, UNSAFE).expect("it can be written");
    let two = alphorn(2)
        .current_dir(&folder)
        .args(["--", "-a file"])
        .output();
    let two = two.expect("it runs");
    assert_eq!(stdout(&two), "unsat\n", "{}", stderr(&two));
    let graph = folder.path().join("graph");
    let name = graph.to_str().expect("a plain name");
    assert_eq!(stdout(&run(2, &["--graph", name], SAFE)), "sat\n");
    assert!(graph.exists());
    let (one, two) = (
        run(1, &["/no/such/file"], ""),
        run(2, &["/no/such/file"], ""),
    );
    assert_eq!((stdout(&one), one.status), (stdout(&two), two.status));
}

#[test]
fn limits_and_the_reason_are_those_of_one_job() {
    let reason = FAR.replace("(check-sat)", "(check-sat)(get-info :reason-unknown)");
    let own = reason.replace("(declare", "(set-option :timeout 700) (declare");
    for (args, text) in [(&["--timeout=3"][..], &reason), (&[], &own)] {
        let output = run(2, args, text);
        let expected = "unknown\n(:reason-unknown \"timeout\")\n";
        assert_eq!(stdout(&output), expected, "{}", stderr(&output));
        assert!(stderr(&output).contains("alphorn: timeout\n"));
        assert_eq!(output.status.code(), Some(0));
    }
    let output = run(2, &["--memory=2"], FAR);
    assert_eq!(stdout(&output), "unknown\n");
    assert_eq!(stderr(&output), "alphorn: memout\n");
    // No process writes to this file.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pipe").display().to_string();
    let made = Command::new("mkfifo").arg(&path).status().expect("it runs");
    assert!(made.success());
    let output = run(2, &["--timeout=0.3", &path], "");
    assert_eq!(stdout(&output), "unknown\n", "{}", stderr(&output));
}

#[test]
fn members_are_shown() {
    let output = run(2, &["-v", "--stats=json", "--timeout=5"], FAR);
    assert_eq!(stdout(&output), "unknown\n");
    let log = stderr(&output);
    for shown in [
        "member 1 begins: alphorn --jobs 1 --timeout=5.000 --memory=",
        "member 2 begins: alphorn --jobs 1 --engine ",
        "member 1: ",
    ] {
        assert!(log.contains(shown), "{log}");
    }
    let last = log.lines().last().expect("a line");
    let json: serde_json::Value = serde_json::from_str(last).expect("an object");
    assert_eq!(json["portfolio.jobs"], 2);
    let members = json["portfolio.members"].as_array().expect("a list");
    assert!(members.len() >= 2, "{json}");
    let outcome = members[0]["outcome"].as_str().expect("a text");
    // The second one if the member had no time to report.
    assert!(
        ["unknown (timeout)", "stopped"].contains(&outcome),
        "{json}"
    );
    // In text form, and for a short run.
    let output = run(2, &["--stats"], SAFE);
    assert_eq!(stdout(&output), "sat\n");
    let stats = stderr(&output);
    for shown in [
        "frontend.clauses = 3",
        "portfolio.1 = sat, ",
        "total.seconds = ",
    ] {
        assert!(stats.contains(shown), "{stats}");
    }
}

/// The commands of members in the log can be run.
#[test]
fn members_can_be_run_alone() {
    let output = run(2, &["-v", "--timeout=5", "--model"], FAR);
    let log = stderr(&output);
    let line = log
        .lines()
        .find_map(|l| l.split_once("member 2 begins: alphorn "));
    let words: Vec<&str> = line.expect("it began").1.split(' ').collect();
    assert_eq!(&words[..2], ["--jobs", "1"], "{log}");
    let alone = run(1, &words[2..], UNSAFE);
    assert!(
        ["unsat\n", "unknown\n"].contains(&&*stdout(&alone)),
        "{words:?}"
    );
    assert!(stderr(&alone).len() < 100, "{}", stderr(&alone));
}

#[test]
fn what_is_named_is_for_one_process() {
    for args in [
        &["--deterministic"][..],
        &["--engine", "bmc"],
        &["--passes", "none"],
        &["--set", "pdr.guidance=false"],
    ] {
        let output = run(2, &[args, &["--stats", "-v"]].concat(), UNSAFE);
        assert_eq!(stdout(&output), "unsat\n");
        assert!(!stderr(&output).contains("portfolio"), "{args:?}");
        assert!(stderr(&output).contains("one job only"), "{args:?}");
    }
}

#[test]
fn signals_end_all_members() {
    for (signal, mark) in [(libc::SIGTERM, "term"), (libc::SIGINT, "int")] {
        let (child, mut log, mut lines) = at_work(3, mark, &["--stats"]);
        send(pid(&child), signal);
        log.read_to_string(&mut lines).expect("text");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(stdout(&output), "unknown\n", "{lines}");
        assert_eq!(output.status.code(), Some(0));
        assert!(lines.contains("alphorn: interrupted"), "{lines}");
        assert!(lines.contains("total.seconds"), "{lines}");
        assert_nobody_is_left(mark);
    }
}

#[test]
fn a_member_that_crashes_costs_only_itself() {
    for (signal, mark) in [(libc::SIGSEGV, "segv"), (libc::SIGKILL, "kill")] {
        let (child, mut log, mut lines) = at_work(2, mark, &["--timeout=6"]);
        let parent = pid(&child);
        let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).expect("it runs");
        assert_eq!(tasks.count(), 1, "only a process with one thread may fork");
        let members: Vec<_> = marked(mark).into_iter().filter(|&p| p != parent).collect();
        let first = *members.iter().min().expect("one at least");
        send(first, signal);
        log.read_to_string(&mut lines).expect("text");
        let output = child.wait_with_output().expect("it ends");
        // The run continued without the first member.
        assert_eq!(stdout(&output), "unknown\n", "{lines}");
        assert!(lines.contains("without an answer"), "{lines}");
        assert!(lines.contains("alphorn: timeout"), "{lines}");
        assert_nobody_is_left(mark);
    }
}

/// Members end for each way and each time at which the parent ends.
#[test]
fn members_end_with_their_parent() {
    let mut random = Random::new(7);
    for round in 0..16 {
        let mark = format!("round{round}");
        let mut command = alphorn(3);
        let mut child = begin(command.env(MARK, &mark), FAR);
        sleep(Duration::from_millis(random.below(600)));
        send(pid(&child), libc::SIGKILL);
        child.wait().expect("it has ended");
        assert_nobody_is_left(&mark);
    }
}

/// The reader of standard output is gone; a signal ends the run.
#[test]
fn an_answer_that_nobody_takes_is_no_obstacle() {
    let mut child = begin(alphorn(2).arg("--proof"), UNSAFE);
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
}
