//! Scripts with several questions, and interactive sessions. Each question is answered by a new
//! process.
//!
//! The process receives the text of the question, and the last answers with their witnesses, of which
//! it uses what still holds. So a crash or a limit affects one question only, each question has the
//! limits of the command line, and each is solved as a single file would be.
//!
//! Invariant: at most one process answers at a time, and it ends when this process ends.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::Instant;

use alphorn::frontend::decode;
use alphorn::reply::{Answer, Request, error_line, reply};
use alphorn::session::{Action, Session, is_session, proof};
use alphorn::witness::ProofFormat;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU};
use signal_hook::iterator::Signals;

use crate::cli::{Form, Format, Invocation, ModelKind, Solve, Source};
use crate::files::{self, UNWRITTEN};
use crate::output::Publisher;
use crate::supervise::{self, RunResult, diagnose, exit};

/// How many earlier answers a question receives, the newest ones.
const MAX_EARLIER_ANSWERS: usize = 3;

/// Bytes read at a time.
const CHUNK_BYTES: usize = 1 << 16;

/// The id of the process that answers a question; 0 for none.
static ANSWERING: AtomicI32 = AtomicI32::new(0);
/// Whether a signal that ends the run has arrived.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Whether a text is a script with several questions.
pub fn is_script(text: &[u8]) -> bool {
    decode(text).is_ok_and(|(text, _)| is_session(&text))
}

/// The line after the witness with which the process of a question says what a refutation uses.
const USED: &str = "; used ";

/// That line for these numbers of assertions.
pub fn used_line(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("{USED}{}\n", numbers.join(" "))
}

/// Takes the line with what a refutation uses off a text.
fn take_used(details: &mut String) -> Vec<usize> {
    let start = details
        .trim_end()
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let Some(numbers) = details[start..].trim_end().strip_prefix(USED) else {
        return Vec::new();
    };
    let numbers = numbers.split(' ').filter_map(|n| n.parse().ok()).collect();
    details.truncate(start);
    numbers
}

/// Checks that no option is given that is for a single question.
///
/// # Errors
/// A message for the user that names such an option.
pub fn check_options(solve: &Solve) -> Result<(), String> {
    let options = [
        (solve.print.is_some(), "printing clauses"),
        (solve.graph.is_some(), "--graph"),
        (solve.report.is_some(), "--report"),
        (solve.certificate.is_some(), "--certificate"),
        (
            matches!(solve.form, Form::JsonFile(_)),
            "--output=json:FILE",
        ),
    ];
    match options.iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(format!("{option} is for a text with one question")),
        None => Ok(()),
    }
}

/// What a process that answers a question (`--hinted`) is told about the session before it.
pub struct Before<'a> {
    /// Earlier questions with their witnesses.
    pub answers: Vec<(String, String)>,
    /// The line and column of the last question: warnings about text before it have been shown.
    pub shown: (u32, u32),
    /// The text of the question.
    pub text: &'a [u8],
}

/// Divides the input of a process that answers a question into what its first line says about the
/// session, and the text of the question.
pub fn split_input(input: &[u8]) -> Before<'_> {
    let end = input.iter().position(|&b| b == b'\n');
    let (line, text) = end.map_or((input, &[][..]), |end| (&input[..end], &input[end + 1..]));
    let value = serde_json::from_slice::<Value>(line).unwrap_or_default();
    let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
    let pairs = value["answers"].as_array().into_iter().flatten();
    let number = |at: usize| value["shown"][at].as_u64().and_then(|n| n.try_into().ok());
    Before {
        answers: pairs.filter_map(pair).collect(),
        shown: (number(0).unwrap_or(0), number(1).unwrap_or(0)),
        text,
    }
}

/// Runs a script, or without one the commands on standard input, and ends the process.
pub fn run(invocation: &Invocation, solve: &Solve, script: Option<Vec<u8>>) -> ! {
    let mut dialogue = Dialogue {
        invocation,
        solve,
        session: match script {
            Some(_) => Session::default(),
            None => Session::interactive(),
        },
        interactive: script.is_none(),
        last: None,
        deferred: Vec::new(),
        shown: (0, 0),
        earlier: Vec::new(),
    };
    if let Err(message) = check_options(solve) {
        print_error(&message);
        exit(1);
    }
    watch_signals();
    let status = match script {
        Some(text) => dialogue.run_script(&text),
        None => dialogue.run_interactive(),
    };
    exit(status)
}

struct Dialogue<'a> {
    invocation: &'a Invocation,
    solve: &'a Solve,
    session: Session,
    interactive: bool,
    last: Option<Answer>,
    /// Requests of a file before its first question, which are about the answer to it.
    deferred: Vec<Request>,
    /// The line and column of the last question.
    shown: (u32, u32),
    /// The last questions with their witnesses, the newest first.
    earlier: Vec<(String, String)>,
}

impl Dialogue<'_> {
    /// Runs a whole script. Returns the exit status.
    fn run_script(&mut self, text: &[u8]) -> i32 {
        match decode(text) {
            Ok((text, _)) => self.session.feed(&text),
            Err(error) => {
                self.fail(&error.to_string());
                return 1;
            }
        }
        match self.run_commands() {
            Some(status) => status,
            None => self.end(),
        }
    }

    /// Runs commands as they arrive on standard input. Returns the exit status.
    fn run_interactive(&mut self) -> i32 {
        let mut input = std::io::stdin().lock();
        let mut bytes = Vec::new();
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            match input.read(&mut chunk) {
                Ok(0) => return self.end(),
                Ok(count) => bytes.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    print_error(&format!("cannot read standard input: {error}"));
                    return 1;
                }
            }
            // The last character may be incomplete.
            let valid = match std::str::from_utf8(&bytes) {
                Ok(text) => text.len(),
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                Err(_) => {
                    print_error("the input is not UTF-8 text");
                    return 1;
                }
            };
            let rest = bytes.split_off(valid);
            let text = std::mem::replace(&mut bytes, rest);
            self.session.feed(&String::from_utf8_lossy(&text));
            if let Some(status) = self.run_commands() {
                return status;
            }
        }
    }

    /// Checks that the script does not end within a command. Returns the exit status.
    fn end(&self) -> i32 {
        if self.session.is_within_a_command() {
            self.fail("the script ends within a command");
            return 1;
        }
        0
    }

    /// Runs the commands that are complete. Returns the exit status if the run ends. An error in a
    /// command or a question ends a script, but not an interactive session.
    fn run_commands(&mut self) -> Option<i32> {
        while let Some(action) = self.session.next_action() {
            let succeeded = match action {
                Err(error) => {
                    self.fail(&error.to_string());
                    false
                }
                Ok(Action::Exit) => return Some(0),
                Ok(action) => self.perform(action),
            };
            if ENDING.load(Ordering::SeqCst) {
                return Some(0);
            }
            if !succeeded && !self.interactive {
                return Some(1);
            }
        }
        None
    }

    /// Performs what a command asks for. Returns whether it succeeded.
    fn perform(&mut self, action: Action) -> bool {
        match action {
            Action::None | Action::Exit => {}
            // Objects have what requests ask for.
            Action::Print(_) | Action::Error(_) | Action::Request(_) if self.prints_objects() => {}
            Action::Print(text) => print(&format!("{text}\n")),
            Action::Check { text, of_rules } => return self.answer(text, of_rules),
            Action::Error(error) => print_error(&error.to_string()),
            Action::Request(request) => {
                let early = self.shown == (0, 0) && !self.interactive;
                if early && request.may_precede() {
                    self.deferred.push(request);
                } else {
                    if let Request::Values(terms) = &request {
                        self.find_values(terms);
                    }
                    print(&reply(&request, self.last.as_ref()));
                }
            }
        }
        true
    }

    /// Answers a question with a new process. Returns false if this or the question has an error.
    fn answer(&mut self, text: String, of_rules: bool) -> bool {
        self.last = None;
        let (word, mut details) = match self.run_process(&text) {
            Ok(answer) => answer,
            Err(message) => {
                self.fail(&message);
                return false;
            }
        };
        self.shown = end_of(&text);
        if word.starts_with("(error") {
            return false;
        }
        let used = take_used(&mut details);
        let earlier = details.clone();
        if self.speaks_expressions()
            && let Some(expression) = proof::written(&details)
        {
            details = expression;
        }
        let mut last = Answer {
            word,
            of_rules,
            details,
            printed: false,
            used,
            values: FxHashMap::default(),
        };
        if last.word != "unknown" {
            last.printed = match last.has_model() {
                true => self.solve.model.is_some(),
                false => self.solve.proof.is_some(),
            };
            if last.printed {
                print(&last.details);
            }
            if !self.prints_objects() {
                self.earlier.insert(0, (text, earlier));
                self.earlier.truncate(MAX_EARLIER_ANSWERS);
            }
        }
        for request in std::mem::take(&mut self.deferred) {
            if self.prints_objects() {
                break;
            }
            print(&reply(&request, Some(&last)));
        }
        self.last = Some(last);
        true
    }

    /// Finds the values of terms in the model of the last answer.
    fn find_values(&mut self, terms: &[String]) {
        let Some((question, _)) = self.earlier.first() else {
            return;
        };
        let Some(last) = self.last.as_ref().filter(|last| last.has_model()) else {
            return;
        };
        let mut found = Vec::with_capacity(terms.len());
        for term in terms {
            found.push((term.clone(), self.value(question, &last.details, term)));
        }
        if let Some(last) = &mut self.last {
            last.values.extend(found);
        }
    }

    /// The value of a term in a model of a question: what `alphorn check --value` prints.
    ///
    /// # Errors
    /// A message: there is no value, or it was not found.
    fn value(&self, question: &str, model: &str, term: &str) -> Result<String, String> {
        let program = std::env::current_exe()
            .map_err(|e| format!("cannot find the program of this process: {e}"))?;
        // The child has the text as a descriptor of a file in memory.
        let file = unnamed_file(question).map_err(|e| format!("cannot make a file: {e}"))?;
        let descriptor = file.as_raw_fd();
        let mut command = Command::new(program);
        command.arg("-qq");
        if let Some(limit) = self.invocation.timeout {
            command.arg(format!("--timeout={}", limit.as_secs_f64()));
        }
        if let Some(memory) = self.invocation.memory_mib {
            command.arg(format!("--memory={memory}"));
        }
        command
            .arg("check")
            .arg(format!("/proc/self/fd/{descriptor}"))
            .arg("-")
            .arg(format!("--value={term}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let pass_on = move || {
            // SAFETY: system calls without pointers, allowed between fork and exec. The second one leaves
            // the descriptor open for the new program.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
                libc::fcntl(descriptor, libc::F_SETFD, 0);
            }
            Ok(())
        };
        // SAFETY: the closure makes only calls that are allowed between fork and exec.
        unsafe { command.pre_exec(pass_on) };
        let mut child = command
            .spawn()
            .map_err(|e| format!("cannot start a process: {e}"))?;
        if let Some(mut to) = child.stdin.take() {
            // A process that ends before it has read everything has printed an error.
            let _ = to.write_all(format!("sat\n{model}").as_bytes());
        }
        let output = child
            .wait_with_output()
            .map_err(|e| format!("cannot wait for a process: {e}"))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let printed = printed.trim();
        match output.status.code() {
            Some(0) if !printed.is_empty() => Ok(printed.to_owned()),
            Some(1) => {
                let message = printed.strip_prefix("(error \"").unwrap_or(printed);
                let message = message.strip_suffix("\")").unwrap_or(message);
                Err(message.replace("\"\"", "\""))
            }
            _ => Err("the value was not found in time".to_owned()),
        }
    }

    /// Runs a process that answers a question, and prints the verdict as soon as the process has. The
    /// result is the verdict and the lines after it.
    ///
    /// # Errors
    /// A message that says why the process cannot be started.
    fn run_process(&self, text: &str) -> Result<(String, String), String> {
        let program = std::env::current_exe()
            .map_err(|e| format!("cannot find the program of this process: {e}"))?;
        let mut command = Command::new(program);
        command
            .args(self.options())
            .arg("--hinted")
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let end_with_parent = || {
            // SAFETY: a system call without pointers, allowed between fork and exec.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) };
            Ok(())
        };
        // SAFETY: the closure makes only calls that are allowed between fork and exec.
        unsafe { command.pre_exec(end_with_parent) };
        let mut child = command
            .spawn()
            .map_err(|e| format!("cannot start a process: {e}"))?;
        ANSWERING.store(child.id().cast_signed(), Ordering::SeqCst);
        let earlier: Vec<Value> = self.earlier.iter().map(|(t, w)| json!([t, w])).collect();
        let before = json!({"answers": earlier, "shown": [self.shown.0, self.shown.1]});
        let input = format!("{before}\n{text}");
        let to = child.stdin.take();
        let writer = thread::spawn(move || {
            // A process that ends before it has read everything has printed an error.
            to.map(|mut to| to.write_all(input.as_bytes()))
        });
        let mut verdict = String::new();
        let mut details = String::new();
        if let Some(from) = child.stdout.take() {
            let mut from = BufReader::new(from);
            let _ = from.read_line(&mut verdict);
            if verdict.trim_end().is_empty() {
                verdict = "unknown\n".to_owned();
            }
            if self.prints_objects() {
                verdict = match self.object_of(&verdict) {
                    Some((line, word)) => {
                        print(&line);
                        word
                    }
                    None => return Err("a question was not answered".to_owned()),
                };
            } else {
                print(&verdict);
            }
            let _ = from.read_to_string(&mut details);
        }
        let _ = child.wait();
        ANSWERING.store(0, Ordering::SeqCst);
        let _ = writer.join();
        Ok((verdict.trim_end().to_owned(), details))
    }

    /// Whether each answer is an object of JSON.
    fn prints_objects(&self) -> bool {
        self.solve.form == Form::Json
    }

    /// The object that the process of a question has printed, with the script as its source, as a
    /// line; and its verdict, or the beginning of an error. `None` if it is none.
    fn object_of(&self, line: &str) -> Option<(String, String)> {
        let mut object = serde_json::from_str::<Value>(line).ok()?;
        let word = object["verdict"].as_str().unwrap_or("(error").to_owned();
        if let (Source::File(path), Some(source)) = (&self.solve.source, object.get_mut("source")) {
            *source = path.display().to_string().into();
        }
        Some((format!("{object}\n"), word))
    }

    /// Prints an error of the script.
    fn fail(&self, message: &str) {
        match Publisher::new(self.invocation, 1, Instant::now()) {
            Ok(publisher) if self.prints_objects() => {
                let result = RunResult::of(supervise::Answer::Error(message.to_owned()));
                publisher.answer(&result);
            }
            _ => print_error(message),
        }
    }

    /// Whether refutations are replied as S-expressions: in a conversation whose user wants no format by
    /// name.
    fn speaks_expressions(&self) -> bool {
        self.interactive && self.solve.proof.is_none()
    }

    /// The options of this run, for a process that answers a question.
    fn options(&self) -> Vec<OsString> {
        let Invocation {
            timeout,
            deterministic,
            memory_mib,
            stats,
            strict,
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
        let expressions = self.speaks_expressions().then_some("--proof=json");
        let flags = [
            expressions,
            deterministic.then_some("--deterministic"),
            strict.then_some("--strict"),
            solve.model.map(ModelKind::option),
            proof,
            stats,
            self.prints_objects().then_some("--output=json"),
        ];
        words.extend(flags.into_iter().flatten().map(OsString::from));
        let letter = if *verbosity < 0 { "-q" } else { "-v" };
        let times = usize::try_from(verbosity.unsigned_abs()).unwrap_or(0);
        words.extend(std::iter::repeat_n(OsString::from(letter), times));
        words
    }
}

/// A file in memory that has this text.
fn unnamed_file(text: &str) -> std::io::Result<std::fs::File> {
    // SAFETY: the name is a string of C, and the result is checked.
    let descriptor = unsafe { libc::memfd_create(c"alphorn".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open, and nothing else has it.
    let mut file = unsafe { std::fs::File::from_raw_fd(descriptor) };
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// The line and column of the end of a text.
pub fn end_of(text: &str) -> (u32, u32) {
    let text = text.trim_end();
    let last = text.rfind('\n').map_or(0, |newline| newline + 1);
    let lines = text.bytes().filter(|&b| b == b'\n').count() + 1;
    let column = text[last..].chars().count() + 1;
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    (number(lines), number(column))
}

/// Prints an error in the form of SMT-LIB.
fn print_error(message: &str) {
    print(&error_line(message));
}

/// Writes to standard output. If that is not possible the run ends, after a line on standard error.
fn print(text: &str) {
    if !files::print(&[text]) {
        exit(UNWRITTEN);
    }
}

/// On a signal that ends the run, stops the process that answers, which then prints `unknown`; this
/// process ends after it.
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
                // SAFETY: the id is that of a child process that has not been waited for.
                pid => unsafe { libc::kill(pid, SIGTERM) },
            };
        }
    });
}
