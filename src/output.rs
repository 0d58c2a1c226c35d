//! Prints the result of a run: the answer as text or as an object of JSON, notes and statistics.
//!
//! Invariant: standard output gets the answer in one piece, and nothing else; notes and statistics go
//! to standard error. A run whose answer cannot be written does not end with status 0.

use std::fs::File;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use alphorn::record::{self, Ending, Limits};
use alphorn::reply::error_line;
use alphorn::witness::Output;
use serde_json::{Map, Value};

use crate::cli::{Form, Format, Invocation, Source, Task};
use crate::files::{UNWRITTEN, create, print, write_all};
use crate::statistics::render;
use crate::supervise::{Answer, RunResult, diagnose};

/// Prints results of a run.
pub struct Publisher {
    form: Form,
    /// The file for the object, if it goes to one.
    file: Mutex<Option<File>>,
    stats: Option<Format>,
    source: String,
    limits: Limits,
    started: Instant,
}

impl Publisher {
    /// A publisher for a run with this many jobs. Creates the file for the object, if there is one.
    ///
    /// # Errors
    /// A message for the user: the file cannot be written.
    pub fn new(
        invocation: &Invocation,
        jobs: usize,
        started: Instant,
    ) -> Result<Publisher, String> {
        let (form, source) = match &invocation.task {
            Task::Solve(args) => (args.form.clone(), &args.source),
            Task::Check { problem, .. } => (Form::Text, problem),
        };
        let file = match &form {
            Form::JsonFile(path) => Some(create(path)?),
            Form::Text | Form::Json => None,
        };
        Ok(Publisher {
            form,
            file: Mutex::new(file),
            stats: invocation.stats,
            source: match source {
                Source::File(path) => path.display().to_string(),
                Source::Stdin => "-".to_owned(),
            },
            limits: Limits {
                timeout: invocation.timeout,
                memory_mib: invocation.memory_mib,
                deterministic: invocation.deterministic,
                jobs,
            },
            started,
        })
    }

    /// Whether the answer is an object on standard output, which has the statistics in it.
    pub fn waits_for_statistics(&self) -> bool {
        self.form == Form::Json
    }

    /// Whether statistics are printed or part of an object.
    pub fn uses_statistics(&self) -> bool {
        self.stats.is_some() || self.form != Form::Text
    }

    /// What a crash prints if the run has this output so far.
    pub fn crash_text(&self, output: &Output, found: Option<&Value>) -> String {
        match self.form {
            Form::Json => {
                let reason = (output.word() == "unknown").then_some("defect: crashed");
                let ending = Ending::Verdict(output.word(), reason);
                format!("{}\n", self.made(ending, found, &Map::new()))
            }
            Form::Text | Form::JsonFile(_) => {
                format!("{}{}\n{}", output.before(), output.word(), output.details())
            }
        }
    }

    fn object(&self, ending: Ending<'_>, result: &RunResult) -> Value {
        let empty = Map::new();
        let numbers = result.stats.as_ref().unwrap_or(&empty);
        self.made(ending, result.found.as_ref(), numbers)
    }

    fn made(
        &self,
        ending: Ending<'_>,
        found: Option<&Value>,
        numbers: &Map<String, Value>,
    ) -> Value {
        let total = self.started.elapsed();
        record::object(&self.source, &self.limits, ending, found, total, numbers)
    }

    /// Prints the answer and the note of a result. Returns the exit status.
    pub fn answer(&self, result: &RunResult) -> i32 {
        let note = result.note.as_deref();
        let (status, written) = match (ending(result), &self.form) {
            (Some(ending), Form::Json) => {
                let object = self.object(ending, result);
                let written = print(&[&format!("{object}\n")]);
                print_note(note);
                (i32::from(matches!(ending, Ending::Error(_))), written)
            }
            _ => print_text(&result.answer, note),
        };
        match written && !result.unwritten {
            true => status,
            false => UNWRITTEN,
        }
    }

    /// Writes the object to its file, and prints the statistics. Returns the exit status: `status`, or
    /// that of a failure to write.
    pub fn rest(&self, result: &RunResult, status: i32) -> i32 {
        let ending = ending(result);
        let mut status = status;
        if result.unwritten {
            status = UNWRITTEN;
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(file), Some(ending)) = (file.take(), ending) {
            let object = self.object(ending, result);
            if !write_all(file, &format!("{object}\n"), "answer") {
                status = UNWRITTEN;
            }
        }
        if let (Some(format), Some(numbers)) = (self.stats, &result.stats) {
            let mut shown = numbers.clone();
            if let (Format::Json, Some(ending)) = (format, ending) {
                let object = self.object(ending, result);
                shown.insert("answer".to_owned(), record::summary(object));
            }
            diagnose(&render(&shown, format));
        }
        status
    }

    /// Prints a whole result. Returns the exit status.
    pub fn publish(&self, result: &RunResult) -> i32 {
        let status = self.answer(result);
        self.rest(result, status)
    }
}

/// How a run ended; `None` for text without a verdict.
fn ending(result: &RunResult) -> Option<Ending<'_>> {
    match (&result.answer, result.answer.verdict()) {
        (_, Some((_, word, _))) => Some(Ending::Verdict(word, result.note.as_deref())),
        (Answer::Error(message), None) => Some(Ending::Error(message)),
        (_, None) => None,
    }
}

/// Prints an answer as text, and the note after its first part. Returns the exit status, and whether
/// everything was written.
fn print_text(answer: &Answer, note: Option<&str>) -> (i32, bool) {
    let (status, written, rest) = match (answer, answer.verdict()) {
        (_, Some((before, word, details))) => (0, print(&[before, word, "\n"]), details),
        (Answer::Text(text, status), None) => (*status, print(&[text]), ""),
        (Answer::Error(message), None) => (1, print(&[&error_line(message)]), ""),
        (_, None) => unreachable!("the questions of a script are answered one by one"),
    };
    print_note(note);
    // What comes after a failure would fail in the same way.
    (status, written && (rest.is_empty() || print(&[rest])))
}

/// The numbers of a run that has no others.
pub fn total_only(total: Duration) -> Map<String, Value> {
    let mut stats = alphorn::run::Statistics::default();
    stats.add_time("total.seconds", total);
    record::numbers(&stats)
}

/// Prints a note on standard error, unless the user wants none.
fn print_note(note: Option<&str>) {
    if let Some(text) = note
        && log::max_level() >= log::LevelFilter::Warn
    {
        diagnose(&format!("alphorn: {text}"));
    }
}
