//! Replies to the commands of a file, in step with the answers; warnings; and checks of such output.

// Helpers of tests.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A limit for a run that has to end with an answer: far more than it needs.
const PATIENCE: &str = "--timeout=600";

fn run(args: &[&str], text: &[u8]) -> Output {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("task.smt2");
    std::fs::write(&path, text).unwrap();
    Command::new(assert_cmd::cargo::cargo_bin!("alphorn"))
        .args(args)
        .arg(&path)
        .env_remove("RUST_LOG")
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Standard output of a run with one job that ends with status 0.
#[track_caller]
fn printed(args: &[&str], text: &str) -> String {
    let mut all = vec![PATIENCE, "--jobs", "1"];
    all.extend(args);
    let output = run(&all, text.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output)
}

/// 0 is derived by two named clauses, of which there is a third.
const CLAUSES: &str = "(set-logic HORN)
(echo \"begin\")
(set-option :produce-unsat-cores true)
(declare-fun P (Int) Bool)
(assert (! (P 0) :named start))
(assert (! (forall ((x Int)) (=> (P x) (P (+ x 1)))) :named step))
(assert (! (P 7) :named |not used|))
(get-assertions)
";
const REQUESTS: &str = "(get-unsat-core)
(get-model)
(get-value ((P 0)))
(eval (P 0))
(get-info :name)
(get-info :reason-unknown)
(get-option :produce-unsat-cores)
(get-assignment)
(get-unsat-assumptions)
(echo \"done\")
";
const ASSERTIONS: &str = "(
(! (P 0) :named start)
(! (forall ((x Int)) (=> (P x) (P (+ x 1)))) :named step)
(! (P 7) :named |not used|)
)
";

fn replies(core: &str, model: &str, value: &str, assignment: &str, line: usize) -> String {
    format!(
        "{core}\n{model}\n{value}\n(error \"line {line} column 1: the command `eval` is not \
         supported\")\n(:name \"alphorn\")\n(error \"the last answer is not unknown\")\ntrue\n\
         {assignment}\nunsupported\n\"done\"\n"
    )
}

#[test]
fn requests_are_answered_in_step_with_one_question_as_with_two() {
    let none = |what: &str| format!("(error \"there is no {what}\")");
    let model = "(\n  (define-fun P ((x!0 Int)) Bool true)\n)";
    let assignment = "((start true) (step true) (|not used| true))";
    for (query, verdict, core, model, value, assignment) in [
        (
            "(assert (not (P 2)))",
            "unsat",
            "(start step)".to_owned(),
            none("model"),
            none("model"),
            none("assignment"),
        ),
        (
            "",
            "sat",
            none("unsat core"),
            model.to_owned(),
            "(((P 0) true))".to_owned(),
            assignment.to_owned(),
        ),
    ] {
        let one = format!("{CLAUSES}{query}\n(check-sat)\n{REQUESTS}");
        let before = format!("\"begin\"\n{ASSERTIONS}");
        let after = replies(&core, &model, &value, &assignment, 14);
        let expected = format!("{before}{verdict}\n{after}");
        assert_eq!(printed(&[], &one), expected);
        let twice = format!("{one}(check-sat)\n");
        assert_eq!(printed(&[], &twice), format!("{expected}{verdict}\n"));
        let members = run(&[PATIENCE, "--jobs", "2"], one.as_bytes());
        assert_eq!(stdout(&members), expected);
        // The witness follows the verdict if an option asks for it, and is not printed again.
        let with_option = printed(&["--model"], &one);
        assert_eq!(
            with_option.matches("define-fun").count(),
            model.matches("define-fun").count()
        );
    }
}

#[test]
fn terms_of_all_sorts_have_values() {
    let text = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
        (declare-const n Int)
        (declare-fun f (Int) Int)
        (declare-fun P (Int) Bool)
        (assert (= n 7)) (assert (= (f 0) (- 2)))
        (assert (forall ((x Int)) (= (P x) (> x n))))
        (check-sat)
        (get-value (n (f 0) (+ n 1) (P 8) (cons n nil) (/ 1.0 4.0) (not (P 7))))
        (get-value ((div n 0)))
        (get-value ((Q 1)))
        (get-value n)";
    let values = "((n 7) ((f 0) (- 2)) ((+ n 1) 8) ((P 8) true) ((cons n nil) (cons 7 nil)) \
        ((/ 1.0 4.0) (/ 1.0 4.0)) ((not (P 7)) true))";
    let one = printed(&["-q"], text);
    let lines: Vec<&str> = one.lines().collect();
    assert_eq!(lines[..2], ["sat", values], "{one}");
    assert_eq!(lines[2], "(error \"the model does not decide (div n 0)\")");
    assert!(
        lines[3].starts_with("(error \"(Q 1) is no term over the names of the text"),
        "{one}"
    );
    assert!(lines[4].contains("a list of terms is expected"), "{one}");
    let twice = printed(&["-q"], &format!("{text}(check-sat)"));
    assert_eq!(twice, format!("{one}sat\n"));
    let mut talk = Command::new(assert_cmd::cargo::cargo_bin!("alphorn"))
        .args([PATIENCE, "-q", "--interactive", "--jobs", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut commands = talk.stdin.take().unwrap();
    std::io::Write::write_all(&mut commands, text.as_bytes()).unwrap();
    drop(commands);
    assert_eq!(stdout(&talk.wait_with_output().unwrap()), one);
}

#[test]
fn witnesses_that_do_not_exist() {
    let unsat = "(declare-fun P (Int) Bool)(assert (P 0))(assert (not (P 0)))(check-sat)";
    assert_eq!(
        printed(&[], &format!("{unsat}(get-model)")),
        "unsat\n(error \"there is no model\")\n"
    );
    let proof = printed(&[], &format!("{unsat}(get-proof)"));
    assert!(
        proof.starts_with("unsat\n1: P(0) by clause 1\n2: false by "),
        "{proof}"
    );
    let sat = "(declare-fun P (Int) Bool)(assert (P 0))(check-sat)(get-proof)";
    assert_eq!(printed(&[], sat), "sat\n(error \"there is no proof\")\n");
    // Before the check it is a request about the answer to it.
    let early = sat.replace("(check-sat)(get-proof)", "(get-model)(check-sat)");
    let model = "(\n  (define-fun P ((x!0 Int)) Bool true)\n)\n";
    assert_eq!(printed(&[], &early), format!("sat\n{model}"));
    assert_eq!(
        printed(&[], &format!("{early}(check-sat)")),
        format!("sat\n{model}sat\n")
    );
    // A query is answered `sat` by a derivation.
    let rules = "(declare-rel p ())(rule p)(query p)(get-model)(get-unsat-core)(get-proof)";
    let text = printed(&[], rules);
    let none = "(error \"there is no model\")\n(error \"there is no unsat core\")\n";
    assert!(
        text.starts_with(&format!("sat\n{none}1: p by clause 1\n")),
        "{text}"
    );
}

#[test]
fn an_unknown_is_among_replies() {
    let far = "(set-logic HORN)(echo \"a\")(declare-fun P (Int Int) Bool)
        (assert (forall ((x Int)) (=> (= x 0) (P x 1))))
        (assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (mod (* y y 7) 1000003)))))
        (assert (forall ((x Int) (y Int)) (=> (and (P x y) (= x 1000000000)) false)))
        (check-sat)(get-info :reason-unknown)(get-model)(echo \"b\")";
    let expected = "\"a\"\nunknown\n(:reason-unknown \"timeout\")\n(error \"there is no model\")\n\
        \"b\"\n";
    for jobs in ["1", "2"] {
        let output = run(&["--timeout", "1", "--jobs", jobs], far.as_bytes());
        assert_eq!(stdout(&output), expected, "{}", stderr(&output));
    }
}

#[test]
fn success_is_printed_if_wanted() {
    let text = "(set-option :print-success true)(set-logic HORN)(declare-fun P () Bool)
        (assert P)(check-sat)(exit)";
    let expected = "success\nsuccess\nsuccess\nsuccess\nsat\n";
    assert_eq!(printed(&[], text), expected);
    let twice = text.replace("(exit)", "(check-sat)");
    assert_eq!(printed(&[], &twice), format!("{expected}sat\n"));
}

#[test]
fn a_command_that_is_not_known_ends_the_answers() {
    let text = "(declare-fun P () Bool)(assert P)(check-sat)\n(frob)\n";
    let error = "(error \"line 2 column 1: unknown command: frob\")\n";
    assert_eq!(printed(&[], text), format!("sat\n{error}"));
    let output = run(
        &[PATIENCE, "--jobs", "1"],
        format!("{text}(check-sat)").as_bytes(),
    );
    assert_eq!(output.status.code(), Some(1));
    let expected = format!("sat\n{error}(error \"line 3 column 1: there is no answer, since");
    assert!(
        stdout(&output).starts_with(&expected),
        "{}",
        stdout(&output)
    );
    let before = run(&[PATIENCE], b"(frob)(check-sat)");
    assert_eq!(before.status.code(), Some(1));
    assert!(stdout(&before).starts_with("(error \"line 1 column 1: the command `frob`"));
}

#[test]
fn warnings_are_shown_once() {
    let text = "(declare-fun P (Int) Bool)(assert (P -3))(assert (P -4))(check-sat)";
    let warning = "line 1 column 38: `-3` is read as a number: write `(- 3)`";
    let twice = format!("{text}(assert (P -5))(check-sat)");
    for (text, jobs, verdicts) in [
        (text, "1", "sat\n"),
        (text, "2", "sat\n"),
        (&*twice, "1", "sat\nsat\n"),
    ] {
        let output = run(&[PATIENCE, "--jobs", jobs], text.as_bytes());
        assert_eq!(stdout(&output), verdicts);
        let errors = stderr(&output);
        assert_eq!(errors.matches("is read as a number").count(), 1, "{errors}");
        assert!(errors.contains(warning), "{errors}");
        let output = run(&[PATIENCE, "--strict", "--jobs", jobs], text.as_bytes());
        assert_eq!(
            stdout(&output),
            format!(
                "(error \"{}\")\n",
                warning.replacen(": ", ": not standard: ", 1)
            )
        );
        assert_eq!(output.status.code(), Some(1));
        let output = run(&[PATIENCE, "-q", "--jobs", jobs], text.as_bytes());
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn latin1_and_a_check_at_the_end() {
    let text = b"; caf\xe9\n(declare-fun P () Bool)(assert P)".to_vec();
    let output = run(&[PATIENCE], &text);
    assert!(
        stdout(&output).contains("(`--check-at-end` adds one)"),
        "{}",
        stdout(&output)
    );
    for jobs in ["1", "2"] {
        let output = run(&[PATIENCE, "--check-at-end", "--jobs", jobs], &text);
        assert_eq!(stdout(&output), "sat\n");
        assert!(stderr(&output).contains("line 1 column 6: bytes that are not UTF-8"));
    }
    let twice = [&text[..], b"(check-sat)(check-sat)"].concat();
    assert_eq!(stdout(&run(&[PATIENCE], &twice)), "sat\nsat\n");
}

// ---- checks of output with several answers ----

#[track_caller]
fn checks(task: &str, output: &str, verdicts: &str, status: i32) -> String {
    let folder = TempDir::new().unwrap();
    let (task_path, output_path) = (folder.path().join("task"), folder.path().join("output"));
    std::fs::write(&task_path, task).unwrap();
    std::fs::write(&output_path, output).unwrap();
    let done = Command::new(assert_cmd::cargo::cargo_bin!("alphorn"))
        .args([PATIENCE, "check"])
        .args([&task_path, &output_path])
        .env_remove("RUST_LOG")
        .output()
        .unwrap();
    let errors = stderr(&done);
    assert_eq!(
        (&*stdout(&done), done.status.code()),
        (verdicts, Some(status)),
        "{errors}"
    );
    errors
}

#[test]
fn output_for_several_questions_is_checked() {
    let task = format!(
        "{CLAUSES}(check-sat)\n{REQUESTS}(push)(assert (not (P 2)))(check-sat)(get-unsat-core)
        (get-proof)(pop)(assert (forall ((x Int)) (=> (P x) (>= x 0))))(check-sat)(get-model)"
    );
    let output = printed(&[], &task);
    checks(&task, &output, "valid\nvalid\nvalid\n", 0);
    let with_options = printed(&["--model", "--proof=json"], &task);
    checks(&task, &with_options, "valid\nvalid\nvalid\n", 0);
    let wrong = output.replace("[x = 1] from", "[x = 3] from");
    assert_ne!(wrong, output);
    let why = checks(&task, &wrong, "valid\ninvalid\nvalid\n", 2);
    assert!(why.contains("question 2: "), "{why}");
    let verdict = output.replacen("\nunsat\n", "\nsat\n", 1);
    checks(&task, &verdict, "valid\ninvalid\nvalid\n", 2);
    // An answer that is missing is not known.
    let cut = &output[..output.rfind("sat\n").unwrap()];
    let why = checks(&task, cut, "valid\nvalid\nunknown\n", 3);
    assert!(why.contains("question 3: there is no answer"), "{why}");
    let more = format!("{output}sat\n");
    checks(
        &task,
        &more,
        "(error \"witness: 4 answers to 3 questions\")\n",
        1,
    );
}

#[test]
fn output_with_replies_is_checked() {
    let task = format!("{CLAUSES}(assert (not (P 2)))(check-sat)\n{REQUESTS}(get-proof)\n");
    let output = printed(&[], &task);
    checks(&task, &output, "valid\n", 0);
    // The witness alone, too.
    let proof = &output[output.find("1: P").unwrap()..];
    checks(&task, proof, "valid\n", 0);
    checks(&task, &proof.replace("P(1)", "P(5)"), "invalid\n", 2);
}

/// Proof terms of Z3 have no values of variables; they are looked for.
#[test]
fn proof_terms_are_checked() {
    let lists = "(set-logic HORN)
        (declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
        (declare-fun q () Bool)
        (declare-fun len (L Int) Bool)
        (assert (len nil 0))
        (assert (forall ((x Int) (l L) (n Int)) (=> (len l n) (len (cons x l) (+ n 1)))))
        (assert (forall ((l L) (n Int)) (=> (and (or (len l n) q) (= n 2)) false)))
        (check-sat)";
    let negated = "(set-logic HORN) (declare-fun p (Int) Bool) (declare-fun q (Int) Bool)
        (assert (or (p 0) (q 0))) (assert (not (and (p 3) (q 3))))
        (assert (not (p 0))) (assert (not (q 0))) (check-sat)";
    let functions = "(set-logic HORN)
        (define-fun-rec sum ((n Int)) Int (ite (<= n 0) 0 (+ n (sum (- n 1)))))
        (declare-fun p (Int) Bool) (assert (p 3))
        (assert (forall ((x Int)) (=> (and (p x) (= (sum x) 6)) false))) (check-sat)";
    let rules = "(declare-rel p (Int Int)) (declare-var x Int) (declare-var y Int)
        (rule (p 0 7)) (rule (=> (p x y) (p (+ x 1) y)))
        (query (and (p x y) (> x 40)))";
    for (task, from, to) in [
        (lists, " nil) 1)", " nil) 2)"),
        (negated, " 0)", " 1)"),
        (functions, "(p 3)", "(p 4)"),
        (rules, "(p 1 7)", "(p 2 7)"),
    ] {
        let output = printed(&["--proof=z3"], task);
        assert!(output.contains("hyper-res"), "{output}");
        checks(task, &output, "valid\n", 0);
        let wrong = output.replace(from, to);
        assert_ne!(wrong, output, "{output}");
        checks(task, &wrong, "invalid\n", 2);
    }
}

#[test]
fn several_questions_have_an_object_each() {
    let task =
        format!("{CLAUSES}(check-sat)\n{REQUESTS}(push)(assert (not (P 2)))(check-sat)(pop 3)");
    let output = run(&[PATIENCE, "--jobs", "1", "--output=json"], task.as_bytes());
    let objects: Vec<serde_json::Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(objects.len(), 3, "{objects:?}");
    assert_eq!(objects[0]["verdict"], "sat");
    assert_eq!(objects[0]["witness"]["kind"], "model");
    assert_eq!(objects[1]["verdict"], "unsat");
    assert_eq!(objects[1]["witness"]["kind"], "refutation");
    let error = objects[2]["error"]["message"].as_str().unwrap();
    assert!(error.contains("nothing to pop"), "{error}");
    assert_eq!(objects[0]["source"], objects[2]["source"]);
    assert_eq!(output.status.code(), Some(1));
}
