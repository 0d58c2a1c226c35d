//! Several ways of solving side by side, each a process of its own: `--jobs N`.
//!
//! The process that the user started reads the text, starts the members and prints. It has one
//! thread, no solver, and nothing that can crash. The first member is what one job does. The others
//! follow after a moment ([`schedule`]), and stand back where other work leaves too few cores. Each
//! is a command line, shown in the log and in the statistics: whoever runs it alone has the same
//! member.
//!
//! What members get is the user's text, not a system after passes. Members differ in their passes,
//! ways back stay within a process, and what a witness is about is what its member has read itself.
//! Reading and passes cost each of them what they cost one job, but not the answer of the first.
//!
//! What comes back is what is to be printed: a verdict with its model, certificate or refutation.
//! Only `witness::validate` makes one, against the very bytes that the parent has read, in the very
//! code that it would run itself: members are forks of it. So the check of a member counts, and is
//! not done again. What is not said completely, in the form of [`message`], is not an answer.
//!
//! While they run, members tell each other lemmas through their parent ([`inbox`]). Who hears one
//! proves it, so none of them can make an answer wrong.
//!
//! Invariants: standard output gets one answer. Two members that contradict each other make it
//! `unknown`, as a defect ([`race`]). No member outlives this process ([`process`]), and none of
//! them makes a file.

mod inbox;
mod input;
mod message;
mod process;
mod race;
mod schedule;

use std::ffi::OsString;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use alphorn::run::Reason;
use alphorn::witness::{Output, ProofFormat, Wanted};
use serde_json::{Map, Value, json};

pub use inbox::Peers;
pub use message::{Answer as Said, Began, End, Message, Teller};
pub use schedule::Family;

use self::input::Input;
use self::process::{Parent, step_back};
use self::race::{Members, Outcome, Race};
use crate::cli::{Format, Invocation, Solve, Source};
use crate::dialogue::{self, is_script};
use crate::files::{create, write_all};
use crate::statistics::render;
use crate::supervise::{Answer, diagnose, exit, leave_for_crashes, publish};

/// How long members that were stopped have to say how far they came.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Which member a process is.
pub struct Place {
    /// From 1.
    pub number: usize,
    pub command: Vec<OsString>,
    /// When its run began.
    pub started: Instant,
    /// Whether it may keep a line on the terminal up to date.
    pub live: bool,
    /// What its parent has read.
    pub text: Vec<u8>,
    pub teller: Teller,
    /// What others have to say comes here.
    pub inbox: File,
}

/// What is to be solved, and with how many members at a time.
pub struct Portfolio<'a> {
    pub invocation: &'a Invocation,
    pub solve: &'a Solve,
    pub jobs: usize,
    pub started: Instant,
    /// Whether a line on the terminal may have to give way to the answer.
    pub live: bool,
}

impl Portfolio<'_> {
    /// Solves the problem and ends the process. Only without the means for it does this return;
    /// `member` does not, as it is run in processes of their own.
    pub fn run(&self, member: &dyn Fn(Place)) {
        let parent = match Parent::new() {
            Ok(parent) => parent,
            Err(error) => {
                log::warn!("one job only: {error}");
                return;
            }
        };
        leave_for_crashes(self.live);
        let limit = self.invocation.timeout;
        let deadline = limit.and_then(|limit| self.started.checked_add(limit));
        let text = match input::read(&self.solve.source, deadline, parent.signals()) {
            Input::Text(text) => text,
            Input::Error(message) => exit(publish(Answer::Error(message), None)),
            Input::Timeout => self.stop(&parent, Reason::Timeout, &mut Members::default()),
            Input::Signal => self.stop(&parent, Reason::Interrupted, &mut Members::default()),
        };
        if !self.solve.hinted && is_script(&text) {
            drop(parent);
            dialogue::run(self.invocation, self.solve, Some(text));
        }
        let certificate = match self.solve.certificate.as_deref().map(create).transpose() {
            Ok(certificate) => certificate,
            Err(message) => exit(publish(Answer::Error(message), None)),
        };
        let mut members = Members::default();
        let mut race = Race {
            started: self.started,
            deadline,
            jobs: self.jobs,
            first: self.command(&[], limit),
            next: &|family, position, left| self.later(family, position, left),
            start: &mut |number, command, foreign| {
                let child = parent.start(foreign, |pipe: File, inbox: File| {
                    if number > 1 {
                        step_back();
                    }
                    member(Place {
                        number,
                        command: command.to_vec(),
                        started: if number == 1 {
                            self.started
                        } else {
                            Instant::now()
                        },
                        live: self.live && number == 1,
                        text: text.clone(),
                        teller: Teller::new(pipe),
                        inbox,
                    });
                })?;
                log::info!("member {number} begins: {}", shown(command));
                Ok(child)
            },
            signals: Some(parent.signals()),
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| race.run(&mut members)));
        let Ok(outcome) = outcome else {
            let reason = Reason::Defect("the portfolio panicked".to_owned());
            self.stop(&parent, reason, &mut members)
        };
        self.conclude(&parent, outcome, &mut members, certificate)
    }

    /// Prints what came of it, and ends.
    fn conclude(
        &self,
        parent: &Parent,
        outcome: Outcome,
        members: &mut Members,
        certificate: Option<File>,
    ) -> ! {
        let end = |at: usize| members.all[at].end.clone();
        let (answer, note, from) = match outcome {
            Outcome::Timeout => self.stop(parent, Reason::Timeout, members),
            Outcome::Signal => self.stop(parent, Reason::Interrupted, members),
            Outcome::Contradiction(a, b) => {
                let [a, b] = [a, b].map(|at| {
                    let one = &members.all[at];
                    format!("member {} ({})", one.number, shown(&one.command))
                });
                let what = format!("{a} says sat, and {b} says unsat");
                log::error!("defect: {what}");
                self.stop(parent, Reason::Defect(what), members)
            }
            Outcome::Unknown(None) => {
                let lost = members.all.iter().find_map(|r| r.lost.clone());
                let why = lost.unwrap_or_else(|| "there is no process to be had".to_owned());
                self.stop(parent, Reason::Defect(format!("the member {why}")), members)
            }
            Outcome::Answer(at) | Outcome::Unknown(Some(at)) | Outcome::Error(at) => {
                match end(at) {
                    Some(end) => {
                        if let (Some(file), Some(text)) = (certificate, &end.certificate) {
                            write_all(file, text, "certificate");
                        }
                        match end.answer {
                            Said::Verdict(word, details) => {
                                (Answer::Text(format!("{word}\n{details}"), 0), end.note, at)
                            }
                            Said::Error(message) => (Answer::Error(message), None, at),
                        }
                    }
                    None => unreachable!("the outcome is of a member that has ended"),
                }
            }
        };
        parent.last_words();
        let is_error = matches!(answer, Answer::Error(_));
        let status = publish(answer, note);
        members.end();
        self.log(members);
        if !is_error {
            self.report(members, from);
        }
        exit(status)
    }

    /// Prints that there is no answer, and ends.
    fn stop(&self, parent: &Parent, reason: Reason, members: &mut Members) -> ! {
        let reason_unknown = members.began.as_ref().is_some_and(|b| b.reason_unknown);
        let reason_unknown = reason_unknown || self.solve.hinted;
        let wanted = Wanted {
            reason_unknown,
            ..Wanted::default()
        };
        parent.last_words();
        let answer = Answer::Verdict(Output::unknown(&reason, wanted));
        let status = publish(answer, Some(reason.to_string()));
        if self.invocation.stats.is_some() {
            if reason != Reason::Timeout {
                members.signal(libc::SIGTERM);
            }
            members.hear_out(LAST_WORDS);
        }
        members.end();
        self.log(members);
        self.report(members, 0);
        exit(status)
    }

    /// The command of a member: its own options, the limits, what the user wants to see.
    fn command(&self, own: &[&str], limit: Option<Duration>) -> Vec<OsString> {
        let mut words: Vec<String> = ["alphorn", "--jobs", "1"].map(str::to_owned).into();
        words.extend(own.iter().map(|&word| word.to_owned()));
        if let Some(limit) = limit {
            words.push(format!("--timeout={:.3}", limit.as_secs_f64().max(0.001)));
        }
        if let Some(whole) = self.invocation.memory_mib.or_else(physical_memory_mib) {
            let part = whole / u64::try_from(self.jobs).unwrap_or(u64::MAX).max(1);
            words.push(format!("--memory={}", part.max(1)));
        }
        words.extend(self.solve.model.map(|kind| kind.option().to_owned()));
        match self.solve.proof {
            Some(ProofFormat::Text) => words.push("--proof".to_owned()),
            Some(ProofFormat::Json) => words.push("--proof=json".to_owned()),
            Some(ProofFormat::Z3) => words.push("--proof=z3".to_owned()),
            None => {}
        }
        if self.invocation.stats.is_some() {
            words.push("--stats=json".to_owned());
        }
        let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        if let (Some(path), true) = (&self.solve.graph, own.is_empty()) {
            words.push("--graph".into());
            words.push(path.into());
        }
        if self.solve.hinted {
            words.push("--hinted".into());
        }
        if let Some(folder) = &self.solve.cache {
            words.push("--cache".into());
            words.push(folder.into());
        }
        if let Some(path) = &self.solve.certificate {
            words.push("--certificate".into());
            words.push(path.into());
        }
        match &self.solve.source {
            Source::Stdin => words.push("-".into()),
            Source::File(path) => {
                if !Path::new(path).is_absolute() {
                    words.push("--".into());
                }
                words.push(path.into());
            }
        }
        words
    }

    /// The command of a member after the first.
    fn later(
        &self,
        family: Family,
        position: usize,
        left: Option<Duration>,
    ) -> Option<Vec<OsString>> {
        let member = family.members().get(position)?;
        let limit = member.timeout(left, self.jobs - 1);
        Some(self.command(member.args, limit))
    }

    fn log(&self, members: &Members) {
        for one in &members.all {
            let took = one.took.unwrap_or_default().as_secs_f64();
            log::info!("member {}: {}, {took:.3} s", one.number, one.outcome());
        }
    }

    /// Statistics, if they are wanted: those of one member, and who took part.
    fn report(&self, members: &Members, from: usize) {
        let Some(format) = self.invocation.stats else {
            return;
        };
        let end = members.all.get(from).and_then(|r| r.end.as_ref());
        let mut numbers: Map<String, Value> = end.and_then(|e| e.stats.clone()).unwrap_or_default();
        let total = self.started.elapsed().as_secs_f64();
        numbers.insert("total.seconds".to_owned(), total.into());
        numbers.insert("portfolio.jobs".to_owned(), self.jobs.into());
        let mut shown_members = Vec::new();
        for one in &members.all {
            let seconds = one.took.unwrap_or_default().as_secs_f64();
            let (number, outcome) = (one.number, one.outcome());
            let command = shown(&one.command);
            numbers.insert(format!("portfolio.{number}.seconds"), seconds.into());
            shown_members.push(match format {
                Format::Json => json!({
                    "command": command, "outcome": outcome, "seconds": seconds,
                }),
                Format::Text => {
                    format!("portfolio.{number} = {outcome}, {seconds:.3} s: {command}").into()
                }
            });
        }
        match format {
            Format::Json => {
                numbers.insert("portfolio.members".to_owned(), shown_members.into());
                diagnose(&render(&numbers, format));
            }
            Format::Text => {
                let lines = shown_members.iter().filter_map(Value::as_str);
                let lines: Vec<&str> = lines.collect();
                diagnose(&format!(
                    "{}\n{}",
                    render(&numbers, format),
                    lines.join("\n")
                ));
            }
        }
    }
}

/// As many of the jobs as have something to do.
pub fn useful_jobs(jobs: usize) -> usize {
    jobs.min(schedule::most_jobs())
}

/// The memory of the machine, if it says.
fn physical_memory_mib() -> Option<u64> {
    // SAFETY: asks for numbers.
    let (pages, size) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    let bytes = u64::try_from(pages).ok()? * u64::try_from(size).ok()?;
    Some(bytes >> 20).filter(|&mib| mib > 0)
}

/// A command as a shell takes it.
fn shown(command: &[OsString]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+".contains(c);
    let words = command.iter().map(|word| {
        let word = word.to_string_lossy();
        if !word.is_empty() && word.chars().all(plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
