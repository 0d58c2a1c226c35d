//! The portfolio: several members solve the same problem side by side (`--jobs N`).
//!
//! The process that the user started is the parent. It reads the text, starts the members, forwards
//! lemmas between them ([`bus`]), and prints the first answer ([`race`]). It has one thread and no
//! solver. Each member is a process with a command line of alphorn ([`command`]), which the log and
//! the statistics show. The first member is the default strategy, as with one job; the others
//! ([`schedule`]) start a little later.
//!
//! Members are forks of the parent ([`process`]). So they need no start-up, have the text of the
//! parent in memory, and run the same code. A member checks its answer with `witness::validate`
//! against this text, so the parent need not check it again. All members after the first lower their
//! priority (`nice`): where there are fewer free cores than members, the first member keeps most of
//! the processor time.
//!
//! Members start from the user's text, not from a system after passes, since their passes differ and
//! back-translations stay within a process. A member sends the text that it would print
//! ([`message`]); an incomplete result is not an answer. A member proves each lemma that it receives,
//! so a wrong lemma cannot make an answer wrong.
//!
//! # Invariants
//!
//! - Standard output gets one answer. If two members contradict each other, it is `unknown`, and a
//!   defect is logged.
//! - No member outlives the parent.
//! - Of the files that the user asked for, the first member writes that of `--graph`, each member may
//!   write entries of `--cache`, and the parent writes that of `--certificate`. Members write no other
//!   files.

mod bus;
mod command;
mod limits;
mod member;
mod message;
mod process;
mod race;
mod schedule;
mod text;

use std::ffi::OsString;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use alphorn::reply::{Replies, UnknownReplies};
use alphorn::run::Reason;
use alphorn::witness::Wanted;
use serde_json::{Map, Value, json};

pub use bus::MemberBus;
pub use message::{MemberAnswer, MemberResult, Message, MessageWriter, TextRead};

use self::command::shell_text;
use self::limits::LIMITS;
use self::member::{Member, Members};
use self::process::{Child, Parent, lower_priority};
use self::race::{NewMember, Race, RaceResult};
use self::text::Input;
use crate::cli::{Invocation, Solve};
use crate::dialogue::{self, is_script};
use crate::files::{create, write_all};
use crate::output::Publisher;
use crate::supervise::{Answer, RunResult, claim_answer, exit, prepare_answer_for_crash};

/// What a member's process starts from.
pub struct MemberStart {
    /// The number of the member, from 1.
    pub number: usize,
    /// Its command line.
    pub command: Vec<OsString>,
    /// When its run started; for the first member this is when the program started.
    pub started: Instant,
    /// Whether it may keep a status line on the terminal.
    pub live: bool,
    /// The text that the parent has read.
    pub text: Vec<u8>,
    /// Sends messages to the parent.
    pub writer: MessageWriter,
    /// The pipe through which lemmas of other members arrive.
    pub inbox: File,
}

/// A run with several members.
pub struct Portfolio<'a> {
    /// The command line of the run.
    pub invocation: &'a Invocation,
    /// Its part about the problem.
    pub solve: &'a Solve,
    /// How many members may run at a time.
    pub jobs: usize,
    /// When the program started.
    pub started: Instant,
    /// Whether there may be a status line on the terminal, which has to be cleared before the answer.
    pub live: bool,
    /// Prints the result.
    pub publisher: &'a Publisher,
}

/// Runs a member in the process that calls it. It ends the process.
type RunMember<'a> = dyn Fn(MemberStart) + 'a;

impl Portfolio<'_> {
    /// Solves the problem and ends the process. It returns only if the system lacks what the parent
    /// needs. `run_member` is called in the processes of the members.
    pub fn run(&self, run_member: &RunMember<'_>) {
        let parent = match Parent::new() {
            Ok(parent) => parent,
            Err(error) => {
                log::warn!("one job only: {error}");
                return;
            }
        };
        prepare_answer_for_crash(self.live, self.publisher);
        let limit = self.invocation.timeout;
        let deadline = limit.and_then(|limit| self.started.checked_add(limit));
        let text = self.read_text(&parent, deadline);
        if !self.solve.hinted && is_script(&text) {
            drop(parent);
            dialogue::run(self.invocation, self.solve, Some(text));
        }
        // The file is created before the race, so that the user learns at once if it cannot be written.
        let certificate = match self.solve.certificate.as_deref().map(create).transpose() {
            Ok(certificate) => certificate,
            Err(message) => self.print_error(message),
        };
        let mut members = Members::default();
        let mut race = Race {
            started: self.started,
            deadline,
            jobs: self.jobs,
            first_command: self.first_command(),
            next_command: &|family, position, left| self.next_command(family, position, left),
            start_member: &mut |member| self.start_member(&parent, member, &text, run_member),
            signals: Some(parent.signals()),
        };
        let result = catch_unwind(AssertUnwindSafe(|| race.run(&mut members)));
        match result {
            Ok(result) => self.conclude(&parent, result, &mut members, certificate),
            Err(_) => {
                let reason = Reason::Defect("the portfolio panicked".to_owned());
                self.print_unknown(&parent, &reason, &mut members)
            }
        }
    }

    /// The text of the problem. Without one this prints why, and ends the process.
    fn read_text(&self, parent: &Parent, deadline: Option<Instant>) -> Vec<u8> {
        let reason = match text::read(&self.solve.source, deadline, parent.signals()) {
            Input::Text(text) => return text,
            Input::Error(message) => self.print_error(message),
            Input::Timeout => Reason::Timeout,
            Input::Signal => Reason::Interrupted,
        };
        self.print_unknown(parent, &reason, &mut Members::default())
    }

    /// Prints an error, and ends the process.
    fn print_error(&self, message: String) -> ! {
        claim_answer();
        exit(
            self.publisher
                .publish(&RunResult::of(Answer::Error(message))),
        )
    }

    /// Starts the process of a member.
    fn start_member(
        &self,
        parent: &Parent,
        member: &NewMember<'_>,
        text: &[u8],
        run_member: &RunMember<'_>,
    ) -> std::io::Result<Child> {
        let is_first = member.number == 1;
        let child = parent.start(member.parent_only, |messages, inbox| {
            if !is_first {
                lower_priority();
            }
            run_member(MemberStart {
                number: member.number,
                command: member.command.to_vec(),
                started: if is_first {
                    self.started
                } else {
                    Instant::now()
                },
                live: self.live && is_first,
                text: text.to_vec(),
                writer: MessageWriter::new(messages),
                inbox,
            });
        })?;
        let command = shell_text(member.command);
        log::info!("member {} begins: {command}", member.number);
        Ok(child)
    }

    /// Prints the result of the race, and ends the process.
    fn conclude(
        &self,
        parent: &Parent,
        result: RaceResult,
        members: &mut Members,
        certificate: Option<File>,
    ) -> ! {
        let reason = match result {
            RaceResult::Answer(at) | RaceResult::Unknown(Some(at)) | RaceResult::InputError(at) => {
                self.print_result(parent, at, members, certificate)
            }
            RaceResult::Timeout => Reason::Timeout,
            RaceResult::Signal => Reason::Interrupted,
            RaceResult::Contradiction(sat, unsat) => contradiction(members, sat, unsat),
            RaceResult::Unknown(None) => {
                let failure = members.all.iter().find_map(|m| m.failure.clone());
                Reason::Defect(match failure {
                    Some(failure) => format!("the member {failure}"),
                    None => "no process could be started".to_owned(),
                })
            }
        };
        self.print_unknown(parent, &reason, members)
    }

    /// Prints the result of the member at this position, and ends the process.
    fn print_result(
        &self,
        parent: &Parent,
        position: usize,
        members: &mut Members,
        certificate: Option<File>,
    ) -> ! {
        let Some(result) = members.all[position].result.clone() else {
            unreachable!("the race names a member with a result");
        };
        let mut printed = RunResult::of(match result.answer {
            MemberAnswer::Verdict(verdict, around) => Answer::OfMember(verdict, around),
            MemberAnswer::Error(message) => Answer::Error(message),
        });
        if let (Some(file), Some(text)) = (certificate, &result.certificate) {
            printed.unwritten = !write_all(file, text, "certificate");
        }
        let is_error = matches!(printed.answer, Answer::Error(_));
        if !is_error {
            printed.note = result.note;
        }
        printed.found = result.found;
        parent.finish_on_signal();
        claim_answer();
        if self.publisher.waits_for_statistics() {
            printed.stats = Some(self.numbers(members, position));
        }
        let status = self.publisher.answer(&printed);
        members.kill();
        log_outcomes(members);
        if !is_error && self.publisher.uses_statistics() {
            printed.stats = Some(self.numbers(members, position));
        }
        exit(self.publisher.rest(&printed, status))
    }

    /// Prints `unknown` with this reason, and ends the process.
    fn print_unknown(&self, parent: &Parent, reason: &Reason, members: &mut Members) -> ! {
        let unread = || -> UnknownReplies {
            Replies::default().unknown(Wanted {
                reason_unknown: self.solve.hinted,
                ..Wanted::default()
            })
        };
        let text_read = members.text_read.as_ref();
        let unknown = text_read.map_or_else(unread, |text| text.unknown.clone());
        parent.finish_on_signal();
        let mut printed = RunResult {
            note: Some(reason.to_string()),
            ..RunResult::of(Answer::Verdict(unknown.output(reason)))
        };
        claim_answer();
        let mut status = 0;
        if !self.publisher.waits_for_statistics() {
            status = self.publisher.answer(&printed);
        }
        if self.publisher.uses_statistics() {
            // At a timeout the members stop by themselves.
            if *reason != Reason::Timeout {
                members.signal(libc::SIGTERM);
            }
            members.receive_until_finished(LIMITS.statistics_grace);
            printed.stats = Some(self.numbers(members, 0));
        }
        if self.publisher.waits_for_statistics() {
            status = self.publisher.answer(&printed);
        }
        members.kill();
        log_outcomes(members);
        exit(self.publisher.rest(&printed, status))
    }

    /// The statistics of the member at this position, and how each member ended.
    fn numbers(&self, members: &Members, position: usize) -> Map<String, Value> {
        let result = members.all.get(position).and_then(|m| m.result.as_ref());
        let own = result.and_then(|result| result.stats.clone());
        let mut numbers: Map<String, Value> = own.unwrap_or_default();
        let total = self.started.elapsed().as_secs_f64();
        numbers.insert("total.seconds".to_owned(), total.into());
        numbers.insert("portfolio.jobs".to_owned(), self.jobs.into());
        for member in &members.all {
            let name = format!("portfolio.{}.seconds", member.number);
            numbers.insert(name, member.seconds().into());
        }
        let all: Vec<Value> = members.all.iter().map(member_json).collect();
        numbers.insert(MEMBERS.to_owned(), all.into());
        numbers
    }
}

/// The name of the list of members in the statistics: objects in JSON, lines in text.
const MEMBERS: &str = "portfolio.members";

/// The defect that two members contradict each other; it is logged.
fn contradiction(members: &Members, sat: usize, unsat: usize) -> Reason {
    let named = |at: usize| {
        let member = &members.all[at];
        format!("member {} ({})", member.number, shell_text(&member.command))
    };
    let message = format!(
        "{} answers sat, and {} answers unsat",
        named(sat),
        named(unsat)
    );
    log::error!("defect: {message}");
    Reason::Defect(message)
}

/// Logs how each member ended.
fn log_outcomes(members: &Members) {
    for member in &members.all {
        let (outcome, seconds) = (member.outcome(), member.seconds());
        log::info!("member {}: {outcome}, {seconds:.3} s", member.number);
    }
}

/// How a member ended, as an object of JSON.
fn member_json(member: &Member) -> Value {
    json!({
        "member": member.number,
        "command": shell_text(&member.command),
        "outcome": member.outcome(),
        "seconds": member.seconds(),
    })
}

/// The number of jobs to use: at most the number of members that exist.
pub fn useful_jobs(jobs: usize) -> usize {
    jobs.min(schedule::max_jobs())
}
