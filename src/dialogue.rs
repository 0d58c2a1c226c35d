//! Scripts with several questions, and commands as they come: each question is answered by a process
//! of its own.
//!
//! The process gets the text of the question, and the last answers with their witnesses, of which it
//! uses what still holds. So a question that crashes or runs out of time or memory costs only
//! itself, limits are for each, and a question has all that a run has: engines, passes, jobs.
//!
//! Invariant: nothing is decided here, and no more than one process runs at a time, which ends with
//! this one.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

use alphorn::session::{Action, Session, is_session};
use alphorn::witness::{ProofFormat, string_literal};
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU};
use signal_hook::iterator::Signals;

use crate::cli::{Format, Invocation, ModelKind, Solve};
use crate::supervise::{diagnose, exit};

/// Answers that a question may use.
const EARLIER: usize = 3;

/// Read at a time.
const CHUNK: usize = 1 << 16;

/// The process that answers; 0 for none.
static ANSWERING: AtomicI32 = AtomicI32::new(0);
/// Whether a signal has come that ends the run.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Whether an input has several questions.
pub fn is_script(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(is_session)
}

/// What is for one question only.
pub fn check(solve: &Solve) -> Result<(), String> {
    let options = [
        (solve.print.is_some(), "printing clauses"),
        (solve.graph.is_some(), "--graph"),
        (solve.report.is_some(), "--report"),
        (solve.certificate.is_some(), "--certificate"),
    ];
    match options.iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(format!("{option} is for a text with one question")),
        None => Ok(()),
    }
}

/// What the input of a question begins with, and the text.
pub fn earlier(input: &[u8]) -> (Vec<(String, String)>, &[u8]) {
    let end = input.iter().position(|&b| b == b'\n');
    let (line, text) = end.map_or((input, &[][..]), |end| (&input[..end], &input[end + 1..]));
    let pairs = serde_json::from_slice::<Value>(line).unwrap_or_default();
    let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
    let pairs = pairs.as_array().into_iter().flatten().filter_map(pair);
    (pairs.collect(), text)
}

/// Answers a script, or, without one, commands on standard input, and ends the process.
pub fn run(invocation: &Invocation, solve: &Solve, script: Option<Vec<u8>>) -> ! {
    let mut dialogue = Dialogue {
        invocation,
        solve,
        session: Session::default(),
        interactive: script.is_none(),
        shows: solve.model.is_some() || solve.proof.is_some(),
        last: None,
        earlier: Vec::new(),
    };
    if let Err(message) = check(solve) {
        complain(&message);
        exit(1);
    }
    watch_signals();
    let status = match script {
        Some(text) => dialogue.script(&text),
        None => dialogue.interactive(),
    };
    exit(status)
}

/// An answer.
struct Last {
    /// Whether the witness is a model.
    is_model: bool,
    /// What was printed after the verdict.
    details: String,
    is_unknown: bool,
}

struct Dialogue<'a> {
    invocation: &'a Invocation,
    solve: &'a Solve,
    session: Session,
    interactive: bool,
    /// Whether witnesses are printed unasked.
    shows: bool,
    last: Option<Last>,
    /// The last questions with their witnesses, the newest first.
    earlier: Vec<(String, String)>,
}

impl Dialogue<'_> {
    /// Answers a whole script; the status to exit with.
    fn script(&mut self, text: &[u8]) -> i32 {
        self.session.feed(&String::from_utf8_lossy(text));
        match self.go_on() {
            Some(status) => status,
            None => self.end(),
        }
    }

    /// Answers commands as they come.
    fn interactive(&mut self) -> i32 {
        let mut input = std::io::stdin().lock();
        let mut bytes = Vec::new();
        let mut chunk = vec![0; CHUNK];
        loop {
            match input.read(&mut chunk) {
                Ok(0) => return self.end(),
                Ok(count) => bytes.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    complain(&format!("cannot read standard input: {error}"));
                    return 1;
                }
            }
            // A character may be cut in two.
            let valid = match std::str::from_utf8(&bytes) {
                Ok(text) => text.len(),
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                Err(_) => {
                    complain("this is not UTF-8 text");
                    return 1;
                }
            };
            let rest = bytes.split_off(valid);
            let text = std::mem::replace(&mut bytes, rest);
            self.session.feed(&String::from_utf8_lossy(&text));
            if let Some(status) = self.go_on() {
                return status;
            }
        }
    }

    /// What follows from the end of the script.
    fn end(&self) -> i32 {
        if self.session.is_within_a_command() {
            complain("the script ends within a command");
            return 1;
        }
        0
    }

    /// Does what the commands so far ask for; the status, if that ends the run. A mistake in a command
    /// or a question ends a script, and no conversation.
    fn go_on(&mut self) -> Option<i32> {
        while let Some(action) = self.session.next_action() {
            let well = match action {
                Err(error) => {
                    complain(&error.to_string());
                    false
                }
                Ok(Action::Exit) => return Some(0),
                Ok(action) => self.act(action),
            };
            if ENDING.load(Ordering::SeqCst) {
                return Some(0);
            }
            if !well && !self.interactive {
                return Some(1);
            }
        }
        None
    }

    /// Whether it went well.
    fn act(&mut self, action: Action) -> bool {
        match action {
            Action::None | Action::Exit => {}
            Action::Print(text) => say(&format!("{text}\n")),
            Action::Check { text, of_rules } => return self.answer(text, of_rules),
            // It was printed with the verdict.
            Action::GetModel | Action::GetProof if self.shows => {}
            Action::GetModel | Action::GetProof => {
                let wants_model = action == Action::GetModel;
                match &self.last {
                    Some(last) if !last.is_unknown && last.is_model == wants_model => {
                        say(&last.details);
                    }
                    _ => {
                        let what = if wants_model { "model" } else { "proof" };
                        complain(&format!("there is no {what}"));
                    }
                }
            }
            Action::ReasonUnknown => match &self.last {
                Some(last) if last.is_unknown => say(&last.details),
                _ => complain("the last answer is not unknown"),
            },
        }
        true
    }

    /// Lets a process answer a question; whether it could be asked.
    fn answer(&mut self, text: String, of_rules: bool) -> bool {
        self.last = None;
        let (word, details) = match self.ask(&text) {
            Ok(answer) => answer,
            Err(message) => {
                complain(&message);
                return false;
            }
        };
        if word.starts_with("(error") {
            return false;
        }
        let is_unknown = word == "unknown";
        let is_model = (word == "sat") != of_rules;
        let shown = match is_model {
            true => self.solve.model.is_some(),
            false => self.solve.proof.is_some(),
        };
        if shown && !is_unknown {
            say(&details);
        }
        if !is_unknown {
            self.earlier.insert(0, (text, details.clone()));
            self.earlier.truncate(EARLIER);
        }
        self.last = Some(Last {
            is_model,
            details,
            is_unknown,
        });
        true
    }

    /// The line with the verdict, which is printed at once, and what follows it.
    fn ask(&self, text: &str) -> Result<(String, String), String> {
        let program = std::env::current_exe().map_err(|e| format!("cannot find myself: {e}"))?;
        let mut command = Command::new(program);
        command
            .args(self.options())
            .arg("--hinted")
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let ending = || {
            // SAFETY: a plain call, allowed between fork and exec.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) };
            Ok(())
        };
        // SAFETY: the closure does nothing that is forbidden there.
        unsafe { command.pre_exec(ending) };
        let mut child = command
            .spawn()
            .map_err(|e| format!("there is no process to be had: {e}"))?;
        ANSWERING.store(child.id().cast_signed(), Ordering::SeqCst);
        let earlier: Vec<Value> = self.earlier.iter().map(|(t, w)| json!([t, w])).collect();
        let input = format!("{}\n{text}", Value::from(earlier));
        let to = child.stdin.take();
        let writer = thread::spawn(move || {
            // A process that ends before it has read everything has said why.
            to.map(|mut to| to.write_all(input.as_bytes()))
        });
        let mut word = String::new();
        let mut details = String::new();
        if let Some(from) = child.stdout.take() {
            let mut from = BufReader::new(from);
            let _ = from.read_line(&mut word);
            if word.trim_end().is_empty() {
                word = "unknown\n".to_owned();
            }
            say(&word);
            let _ = from.read_to_string(&mut details);
        }
        let _ = child.wait();
        ANSWERING.store(0, Ordering::SeqCst);
        let _ = writer.join();
        Ok((word.trim_end().to_owned(), details))
    }

    /// The options of this run, for a question.
    fn options(&self) -> Vec<OsString> {
        let Invocation {
            timeout,
            deterministic,
            memory_mib,
            stats,
            verbosity,
            ..
        } = self.invocation;
        let solve = self.solve;
        let mut words: Vec<OsString> = Vec::new();
        let mut option = |name: &str, value: &dyn AsRef<OsStr>| {
            words.push(name.into());
            words.push(value.as_ref().to_owned());
        };
        option("--engine", &solve.engine);
        if !solve.without.is_empty() {
            option("--without", &solve.without.join(","));
        }
        if let Some(jobs) = solve.jobs {
            option("--jobs", &jobs.to_string());
        }
        if let Some(passes) = &solve.passes {
            option("--passes", passes);
        }
        for setting in &solve.settings {
            option("--set", setting);
        }
        if let Some(limit) = timeout {
            option("--timeout", &limit.as_secs_f64().to_string());
        }
        if let Some(memory) = memory_mib {
            option("--memory", &memory.to_string());
        }
        if let Some(folder) = &solve.cache {
            option("--cache", folder);
        }
        let proof = solve.proof.map(|format| match format {
            ProofFormat::Text => "--proof=text",
            ProofFormat::Json => "--proof=json",
            ProofFormat::Z3 => "--proof=z3",
        });
        let stats = stats.map(|format| match format {
            Format::Text => "--stats=text",
            Format::Json => "--stats=json",
        });
        let flags = [
            deterministic.then_some("--deterministic"),
            solve.model.map(ModelKind::option),
            proof,
            stats,
        ];
        words.extend(flags.into_iter().flatten().map(OsString::from));
        let letter = if *verbosity < 0 { "-q" } else { "-v" };
        let times = usize::try_from(verbosity.unsigned_abs()).unwrap_or(0);
        words.extend(std::iter::repeat_n(OsString::from(letter), times));
        words
    }
}

fn complain(message: &str) {
    say(&format!("(error {})\n", string_literal(message)));
}

/// Prints and flushes. Nobody listening is no reason to complain.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// On a signal that ends the run, the process that answers ends with `unknown`, and then this one.
fn watch_signals() {
    let mut pending = match Signals::new([SIGTERM, SIGINT, SIGHUP, SIGXCPU]) {
        Ok(pending) => pending,
        Err(error) => return diagnose(&format!("signals are not handled: {error}")),
    };
    thread::spawn(move || {
        for _ in pending.forever() {
            ENDING.store(true, Ordering::SeqCst);
            match ANSWERING.load(Ordering::SeqCst) {
                0 => exit(0),
                // SAFETY: sends a signal to a process of ours that has not been waited for.
                pid => unsafe { libc::kill(pid, SIGTERM) },
            };
        }
    });
}
