//! Other solvers accept printed models and certificates: cvc5 and Z3's program, through
//! `scripts/validate`, which shares no code with the library.

#[path = "../crates/witness/src/certificate/tests/broken/mod.rs"]
mod broken;
#[path = "common/corpus.rs"]
mod corpus;

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use alphorn::Config;
use alphorn::run::Context;
use alphorn::witness::{Wanted, check_claim, parse_witness};
use corpus::trials::answers_at_least;
use corpus::{CheckOutcome, Task, run, tasks};

/// One of this number of safe files of the corpus is checked.
const STRIDE: usize = 6;

/// One of this number of broken certificates is checked.
const BROKEN_STRIDE: usize = 10;

/// Engines whose models are quantified, and the files of `horn-benchmarks/safari` for each.
const QUANTIFIED: [(&str, [&str; 3]); 3] = [
    ("pdr", ["partition", "strcpy", "vararg"]),
    ("safari", ["init-and-test", "max-in-array", "strcmp"]),
    ("morph", ["init-and-test", "max-in-array", "partition"]),
];

/// Whether another solver accepts the model that a run printed; false if it cannot decide; an error
/// if it rejects the model.
fn accepts(solver: &str, task: &Task, output: &str, limit: Duration) -> Result<bool, String> {
    let limit = limit.max(Duration::from_secs(10));
    match validated(solver, &task.path, output, limit).as_str() {
        "valid" => Ok(true),
        // The other solver cannot decide it, or does not support the task's text.
        text if text.starts_with("unknown") || text.starts_with("malformed") => Ok(false),
        text => Err(format!("{}, {solver}: {text}", task.name())),
    }
}

/// The output of `scripts/validate` for the output of a run.
fn validated(solver: &str, task: &Path, output: &str, limit: Duration) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("third_party/py/bin/python");
    assert!(
        python.exists(),
        "{} is missing: run scripts/setup --test",
        python.display()
    );
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    writeln!(file, "{output}").expect("writable");
    let result = Command::new(&python)
        .arg(root.join("scripts/validate"))
        .args([task, file.path()])
        .args(["--solver", solver, "--seconds"])
        .arg(limit.as_secs().to_string())
        .output()
        .expect("python runs");
    String::from_utf8_lossy(&result.stdout).trim().to_owned()
}

/// The verdict and the model that an engine prints, or the certificate of a proof without a model; `None`
/// if it has none.
fn printed(engine: &str, task: &Task, limit: Duration) -> Option<String> {
    let config = Config {
        engine: engine.to_owned(),
        ..Config::default()
    };
    let run = run(&task.path, &config, limit);
    let wanted = Wanted {
        model: true,
        ..Wanted::default()
    };
    let output = run.answer.output(&run.problem, wanted);
    if output.details().starts_with("; relational ") {
        let budget = Context::new(run.problem.terms.clone()).budget;
        return run.answer.certificate(&run.problem, &budget).ok();
    }
    (run.outcome == CheckOutcome::Sat).then(|| format!("{}\n{}", output.word(), output.details()))
}

fn check_with(solver: &str) {
    let files: Vec<_> = tasks()
        .into_iter()
        .filter(|t| t.safe && !t.hard)
        .step_by(STRIDE)
        .collect();
    answers_at_least(files.len() * 8 / 10, &files, |task, limit| {
        match printed(&Config::default().engine, task, limit) {
            Some(output) => accepts(solver, task, &output, limit),
            None => Ok(false),
        }
    });
}

/// Both solvers accept quantified models of each engine that makes them.
#[test]
fn quantified_models_are_accepted() {
    let all = tasks();
    let cases: Vec<(&str, &Task)> = QUANTIFIED
        .iter()
        .flat_map(|(engine, names)| names.iter().map(move |name| (*engine, name)))
        .map(|(engine, name)| {
            let name = format!("safari/{name}-safe");
            let task = all.iter().find(|t| t.name() == name);
            (engine, task.expect("a file of that name"))
        })
        .collect();
    answers_at_least(cases.len(), &cases, |(engine, task), limit| {
        let Some(output) = printed(engine, task, limit) else {
            return Ok(false);
        };
        assert!(output.contains("(forall "), "{engine}, {}", task.name());
        Ok(accepts("z3", task, &output, limit)? && accepts("cvc5", task, &output, limit)?)
    });
}

/// Both solvers accept models with recursive functions and inductive proofs of their lemmas, and
/// reject them if a part of a proof is missing.
#[test]
fn inductive_models_are_accepted() {
    let all: Vec<Task> = tasks();
    let cases: Vec<&Task> = all
        .iter()
        .filter(|t| t.safe && t.name().starts_with("induction/"))
        .step_by(2)
        .collect();
    assert!(cases.len() >= 6);
    answers_at_least(cases.len(), &cases, |task, limit| {
        let Some(output) = printed("induct", task, limit) else {
            return Ok(false);
        };
        assert!(output.contains("\n; lemma "), "{}", task.name());
        // Without a measure, no instance of an induction hypothesis is smaller.
        let without: Vec<&str> = output
            .lines()
            .map(|line| match line.split_once(" :measure (") {
                Some((lemma, rest)) if line.contains(":induction") => {
                    let cases = rest.split_once(')').map_or("", |r| r.1);
                    (lemma, cases)
                }
                _ => (line, ""),
            })
            .flat_map(|(lemma, cases)| [lemma, cases, "\n"])
            .collect();
        let without = without.concat();
        for solver in ["z3", "cvc5"] {
            if !accepts(solver, task, &output, limit)? {
                return Ok(false);
            }
            if output.contains(":induction") {
                let answer = accepts(solver, task, &without, limit);
                assert_ne!(answer, Ok(true), "{}, {solver}", task.name());
            }
        }
        Ok(true)
    });
}

/// Broken certificates that the library refuses are refused here, too, and valid proofs are accepted.
#[test]
fn broken_certificates_are_refused() {
    let answer = |clauses: &str, witness: &str, seconds: u64| {
        let mut task = tempfile::NamedTempFile::new().expect("a file");
        writeln!(task, "{clauses}\n(check-sat)").expect("writable");
        let lines: Vec<&str> = witness.lines().map(str::trim_start).collect();
        let output = format!("sat\n{}", lines.join("\n"));
        validated("z3", task.path(), &output, Duration::from_secs(seconds))
    };
    for proof in broken::PROOFS {
        let found = answer(proof.clauses, proof.witness, 30);
        assert_eq!(found, "valid", "{}", proof.name);
    }
    let all = broken::all();
    assert!(all.len() >= 10 * BROKEN_STRIDE);
    for broken in all.iter().step_by(BROKEN_STRIDE) {
        let (name, expected) = (&broken.name, broken.message);
        let found = answer(broken.clauses, &broken.witness, 3);
        let kinds = ["invalid: ", "malformed: ", "unknown: "];
        assert!(
            kinds.iter().any(|kind| found.starts_with(kind)),
            "{name}: {found:?}, where the library says: {expected}"
        );
    }
}

/// Both solvers accept models with folds.
#[test]
fn models_of_codes_are_accepted() {
    let all: Vec<Task> = tasks();
    let cases: Vec<&Task> = all
        .iter()
        .filter(|t| t.safe && t.name().starts_with("folds/"))
        .collect();
    assert!(cases.len() >= 6);
    answers_at_least(cases.len(), &cases, |task, limit| {
        let Some(output) = printed("cata", task, limit) else {
            return Ok(false);
        };
        assert!(output.contains("-rec "), "{}", task.name());
        Ok(accepts("z3", task, &output, limit)? && accepts("cvc5", task, &output, limit)?)
    });
}

/// Tasks whose proofs have lemmas that conclude a fact.
const CONCLUDING: [&str; 4] = [
    "lists-drop-safe",
    "lists-reverse-safe",
    "lists-rotate-safe",
    "lists-sort-safe",
];

/// Both solvers confirm proofs about several runs, and what breaks such a proof is refused.
#[test]
fn proofs_about_several_runs_are_confirmed() {
    let all: Vec<Task> = tasks();
    let relational = |t: &&Task| t.safe && !t.hard && t.name().starts_with("relational/");
    let concludes = |t: &Task| CONCLUDING.iter().any(|name| t.name().ends_with(name));
    let mut cases: Vec<&Task> = all.iter().filter(relational).step_by(5).collect();
    cases.retain(|task| !concludes(task));
    assert!(cases.len() >= 7);
    cases.extend(all.iter().filter(|task| concludes(task)));
    answers_at_least(cases.len() - 2, &cases, |task, limit| {
        let Some(output) = printed("relate", task, limit) else {
            return Ok(false);
        };
        if concludes(task) {
            assert!(output.contains(":concludes"), "{}", task.name());
        }
        if !output.contains("an induction on derivations") {
            return accepts("z3", task, &output, limit);
        }
        // Each number of the first line of the proof is another one.
        let at = output.find(";   ; relational ").expect("a lemma");
        let end = at + output[at..].find('\n').expect("a line");
        let proof = at + output[at..end].find(":proof").expect("a proof");
        let digits = output[proof..end].char_indices();
        for (digit, _) in digits.filter(|(_, c)| c.is_ascii_digit()).take(3) {
            let place = proof + digit;
            let other = format!("{}9{}", &output[..place], &output[place + 1..]);
            let found = validated("z3", &task.path, &other, limit);
            assert!(found.starts_with("malformed"), "{}: {found}", task.name());
        }
        Ok(accepts("z3", task, &output, limit)? && accepts("cvc5", task, &output, limit)?)
    });
}

/// Other solvers read the functions of models beside proofs about several runs, and compute facts.
#[test]
fn functions_beside_proofs_are_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all: Vec<Task> = tasks();
    for (name, holds, fails) in [
        ("fibonacci-monotone", "(fib 10 89)", "(fib 10 88)"),
        ("divisor-commutes", "(gcd 12 18 6)", "(gcd 12 18 3)"),
        ("factorial-powers", "(fact 5 120)", "(fact 5 121)"),
        ("parity", "(odd 7 1)", "(even 7 1)"),
    ] {
        let name = format!("relational/{name}-safe");
        let task = all.iter().find(|t| t.name() == name);
        let path = &task.expect("a file of that name").path;
        let mut config = Config {
            engine: "relate".to_owned(),
            ..Config::default()
        };
        let wanted = Wanted {
            model: true,
            ..Wanted::default()
        };
        let limit = Duration::from_secs(60);
        let without = run(path, &config, limit);
        let printed = without.answer.output(&without.problem, wanted);
        assert!(printed.details().starts_with("; "), "{name}");
        config.model = true;
        let with = run(path, &config, limit);
        let printed = with.answer.output(&with.problem, wanted);
        let claim = parse_witness(&with.problem, printed.details()).expect("a witness");
        let mut cx = Context::new(with.problem.terms.clone());
        let outcome = check_claim(&with.problem, &claim, &mut cx);
        assert_eq!(outcome, alphorn::witness::CheckOutcome::Valid, "{name}");
        // A plain model has no recursive functions.
        config.plain = true;
        let plain = run(path, &config, limit).outcome;
        assert!(matches!(plain, CheckOutcome::Unknown(_)), "{name}");
        let (model, proof) = printed.details().split_once("\n)\n").expect("a model");
        assert!(
            proof.contains("; derived (") && proof.contains("; relational "),
            "{name}"
        );
        let definitions = model.trim_start_matches('(');
        let script = format!(
            "(set-logic ALL){definitions}(push 1)(assert (not {holds}))(check-sat)(pop 1)\n\
             (push 1)(assert {fails})(check-sat)(pop 1)\n"
        );
        for solver in ["z3", "cvc5"] {
            let mut file = tempfile::NamedTempFile::new().expect("a file");
            file.write_all(script.as_bytes()).expect("writable");
            let code = "import sys, models; print(*models.answers(sys.argv[1], open(sys.argv[2]).read(), 60))";
            let result = Command::new(root.join("third_party/py/bin/python"))
                .current_dir(root.join("scripts"))
                .args(["-c", code, solver])
                .arg(file.path())
                .output()
                .expect("python runs");
            let answers = String::from_utf8_lossy(&result.stdout).trim().to_owned();
            assert_eq!(answers, "unsat unsat", "{name}, {solver}: {script}");
        }
    }
}

/// The certificate of one of this number of files is checked.
const CERTIFIED_STRIDE: usize = 8;

/// Both solvers confirm certificates of `sat` and of `unsat`, without the task.
#[test]
fn certificates_are_confirmed() {
    let files: Vec<_> = tasks()
        .into_iter()
        .filter(|t| !t.hard)
        .step_by(CERTIFIED_STRIDE)
        .collect();
    answers_at_least(files.len() * 9 / 10, &files, |task, limit| {
        let run = run(&task.path, &Config::default(), limit);
        if matches!(run.outcome, CheckOutcome::Unknown(_)) {
            return Ok(false);
        }
        let budget = Context::new(run.problem.terms.clone()).budget;
        let certificate = run.answer.certificate(&run.problem, &budget.time(limit))?;
        // cvc5 does not support all constructs in tasks of Z3's dialect.
        accepts("cvc5", task, &certificate, limit)?;
        accepts("z3", task, &certificate, limit)
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
