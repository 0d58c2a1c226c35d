//! The race of the members: starting them, and deciding on the result of the run.
//!
//! The first answer wins, and the other members are killed. Then the verdicts that they had sent by
//! then are read, too: if two members contradict each other, this is a defect, and the run has no
//! answer.
//!
//! Invariant: an answer is the complete result of one member, and no other member has sent the
//! opposite verdict.

use std::ffi::OsString;
use std::io;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use super::limits::LIMITS;
use super::member::{Member, Members};
use super::message::MemberAnswer;
use super::process::{Child, set_nonblocking, wait_readable};
use alphorn::chc::Family;

/// The command of a member after the first, by its position (from 0), if this much time is left;
/// `None` if there is no such member.
type NextCommand<'a> = dyn Fn(Family, usize, Option<Duration>) -> Option<Vec<OsString>> + 'a;
/// Starts a process for a member.
type StartMember<'a> = dyn FnMut(&NewMember<'_>) -> io::Result<Child> + 'a;

/// A member that is to be started.
pub struct NewMember<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// Its command line.
    pub command: &'a [OsString],
    /// The descriptors that it has to close, since only the parent may have them.
    pub parent_only: &'a [RawFd],
}

/// A race that is to be run.
pub struct Race<'a> {
    /// When the run started.
    pub started: Instant,
    /// The end of the run; the text may set an earlier one.
    pub deadline: Option<Instant>,
    /// How many members may run at a time.
    pub jobs: usize,
    /// The command of the first member.
    pub first_command: Vec<OsString>,
    /// The commands of the others.
    pub next_command: &'a NextCommand<'a>,
    /// Starts a process for a member.
    pub start_member: &'a mut StartMember<'a>,
    /// A descriptor that is readable when a signal that ends the run has arrived.
    pub signals: Option<RawFd>,
}

/// How a race ended.
#[derive(Debug, PartialEq)]
pub enum RaceResult {
    /// The member at this position has an answer.
    Answer(usize),
    /// All members have ended without an answer. The member at this position has a reason; `None` if
    /// none has.
    Unknown(Option<usize>),
    /// The member at this position found an error in the input.
    InputError(usize),
    /// The member at the first position answers `sat`, the one at the second `unsat`.
    Contradiction(usize, usize),
    /// The time limit was reached.
    Timeout,
    /// A signal that ends the run arrived.
    Signal,
}

impl Race<'_> {
    /// Runs members until one has an answer, all have ended, or the run has to stop. Unless the result
    /// is an answer, members may still be running afterwards.
    pub fn run(&mut self, members: &mut Members) -> RaceResult {
        let first = std::mem::take(&mut self.first_command);
        if let Err(error) = self.start(members, first) {
            log::error!("defect: cannot start a process: {error}");
            return RaceResult::Unknown(None);
        }
        let mut has_more = true;
        loop {
            while has_more && self.may_start(members) {
                has_more = self.start_next(members);
            }
            if let Some(result) = decided(members) {
                return result;
            }
            // The others start only after a member has read the text.
            if members.running() == 0 && (!has_more || members.text_read.is_none()) {
                return without_answer(members);
            }
            let signalled = self.wait(members, has_more);
            if signalled {
                return decided_at_limit(members).unwrap_or(RaceResult::Signal);
            }
            if self.left(members).is_some_and(|left| left.is_zero()) {
                return decided_at_limit(members).unwrap_or(RaceResult::Timeout);
            }
        }
    }

    /// Waits until a member has sent something, a member may start, or the run has to stop, and
    /// receives the messages. Returns whether a signal that ends the run has arrived.
    fn wait(&self, members: &mut Members, has_more: bool) -> bool {
        let has_place = members.text_read.is_some() && members.running() < self.jobs;
        let until_start = self.left_of_head_start().filter(|_| has_more && has_place);
        let limit = self.left(members).into_iter().chain(until_start).min();
        let mut descriptors = members.message_descriptors();
        descriptors.extend(self.signals);
        match wait_readable(&descriptors, limit) {
            Ok(readable) => {
                members.receive();
                self.signals.is_some() && readable.last() == Some(&true)
            }
            Err(error) => {
                log::error!("defect: poll: {error}");
                false
            }
        }
    }

    /// Starts the next member after the first. Returns whether a further one may follow.
    fn start_next(&mut self, members: &mut Members) -> bool {
        let Some(text_read) = &members.text_read else {
            return false;
        };
        let position = members.all.len() - 1;
        let left = self.left(members);
        let Some(command) = (self.next_command)(text_read.family, position, left) else {
            return false;
        };
        match self.start(members, command) {
            Ok(()) => true,
            Err(error) => {
                log::warn!("cannot start a process: {error}");
                false
            }
        }
    }

    fn start(&mut self, members: &mut Members, command: Vec<OsString>) -> io::Result<()> {
        let started = Instant::now();
        let child = (self.start_member)(&NewMember {
            number: members.all.len() + 1,
            command: &command,
            parent_only: &members.parent_descriptors(),
        })?;
        let blocking = set_nonblocking(&child.from_member).and(set_nonblocking(&child.to_member));
        members.add(child, command, started);
        blocking
    }

    /// Whether one more member may start now.
    fn may_start(&self, members: &Members) -> bool {
        let ready = self.left_of_head_start().is_none() || members.running() == 0;
        ready && members.text_read.is_some() && members.running() < self.jobs
    }

    /// The time for which the first member still runs alone; `None` if that is over.
    fn left_of_head_start(&self) -> Option<Duration> {
        let end = self.started + LIMITS.head_start;
        let left = end.saturating_duration_since(Instant::now());
        Some(left).filter(|left| !left.is_zero())
    }

    /// The time that is left of the run; `None` without a limit.
    fn left(&self, members: &Members) -> Option<Duration> {
        let limit = members.text_read.as_ref().and_then(|text| text.timeout);
        let end = limit.and_then(|limit| members.all.first()?.started.checked_add(limit));
        let end = self.deadline.into_iter().chain(end).min()?;
        Some(end.saturating_duration_since(Instant::now()))
    }
}

/// The result of the race, if the messages received so far decide it. If it is an answer, all members
/// have been killed.
fn decided(members: &mut Members) -> Option<RaceResult> {
    let is_answer = |member: &Member| {
        let verdict = member.result.as_ref().and_then(|result| result.verdict());
        verdict.is_some_and(|verdict| verdict != "unknown")
    };
    let answer = members.all.iter().position(is_answer);
    if answer.is_some() {
        members.signal(libc::SIGKILL);
        members.receive_from_killed();
    }
    if let Some((sat, unsat)) = members.contradiction() {
        return Some(RaceResult::Contradiction(sat, unsat));
    }
    if let Some(answer) = answer {
        return Some(RaceResult::Answer(answer));
    }
    // Errors of the other members do not count: they read the same text, so their errors are others,
    // such as a thread that could not be started.
    let first = members.all.first()?.result.as_ref()?;
    matches!(first.answer, MemberAnswer::Error(_)).then_some(RaceResult::InputError(0))
}

/// The result of a race that has to stop now: provisional results count.
fn decided_at_limit(members: &mut Members) -> Option<RaceResult> {
    decided(members).or_else(|| {
        members.use_provisional();
        decided(members)
    })
}

/// The result when all members have ended without an answer: the first one with a reason, otherwise
/// one with an error.
fn without_answer(members: &Members) -> RaceResult {
    let position = |wanted: fn(&MemberAnswer) -> bool| {
        let has = |m: &Member| m.result.as_ref().is_some_and(|r| wanted(&r.answer));
        members.all.iter().position(has)
    };
    if let Some(at) = position(|answer| matches!(answer, MemberAnswer::Verdict(..))) {
        return RaceResult::Unknown(Some(at));
    }
    match position(|answer| matches!(answer, MemberAnswer::Error(_))) {
        Some(at) => RaceResult::InputError(at),
        None => RaceResult::Unknown(None),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::os::fd::OwnedFd;
    use std::process::{Command, Stdio};

    use super::*;

    /// The first message of a member.
    const TEXT_READ: &str = r#"echo '{"text_read":{"family":"nonlinear clauses","timeout_ms":null,"before":"","after":[null]}}'; "#;

    fn verdict(verdict: &str) -> String {
        format!("echo '{{\"verdict\":\"{verdict}\"}}'; ")
    }

    fn result(answer: &str, text: &str, note: &str) -> String {
        format!(
            "echo '{{\"result\":{{\"answer\":\"{answer}\",\"text\":\"{text}\",\"note\":{note},\"stats\":null}}}}'; "
        )
    }

    fn answer(word: &str) -> String {
        verdict(word) + &result(word, "(model)", "null")
    }

    fn unknown(why: &str) -> String {
        verdict("unknown") + &result("unknown", "", &format!("\"{why}\""))
    }

    const FOREVER: &str = "exec sleep 1000";
    /// The time limit of a race that has to end by itself; it needs far less.
    const PATIENCE: Duration = Duration::from_secs(300);

    fn commands(scripts: &[String]) -> Vec<Vec<OsString>> {
        let shell = |script: &String| ["sh", "-c", script.as_str()].map(OsString::from).to_vec();
        scripts.iter().map(shell).collect()
    }

    /// Runs a race of shell scripts, and checks that no process is left after it.
    fn race(jobs: usize, deadline: Option<Duration>, scripts: &[String]) -> (RaceResult, Members) {
        let commands = commands(scripts);
        let pids = RefCell::new(Vec::new());
        let most = RefCell::new(0);
        let mut members = Members::default();
        let outcome = Race {
            started: Instant::now(),
            deadline: Some(Instant::now() + deadline.unwrap_or(PATIENCE)),
            jobs,
            first_command: commands[0].clone(),
            next_command: &|family, position, _| {
                assert_eq!(family, Family::Nonlinear);
                commands.get(position + 1).cloned()
            },
            start_member: &mut |member| {
                let command = member.command;
                let mut most = most.borrow_mut();
                *most = member.parent_only.len().max(*most);
                let mut child = Command::new(&command[0])
                    .args(&command[1..])
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .spawn()?;
                let pid = libc::pid_t::try_from(child.id()).expect("a small number");
                pids.borrow_mut().push(pid);
                let from_member = child.stdout.take().expect("it is piped");
                let to_member = child.stdin.take().expect("it is piped");
                Ok(Child {
                    pid,
                    from_member: OwnedFd::from(from_member).into(),
                    to_member: OwnedFd::from(to_member).into(),
                })
            },
            signals: None,
        }
        .run(&mut members);
        members.kill();
        // Each running member has two descriptors.
        assert!(*most.borrow() < 2 * jobs, "too many members at a time");
        for pid in pids.into_inner() {
            // SAFETY: signal 0 only asks whether the process exists.
            let gone = unsafe { libc::kill(pid, 0) } < 0;
            assert!(gone, "{pid} is left");
        }
        (outcome, members)
    }

    #[test]
    fn the_first_answer_wins_and_the_others_end() {
        let slow = TEXT_READ.to_owned() + FOREVER;
        let (outcome, members) = race(2, None, &[slow.clone(), answer("sat")]);
        assert_eq!(outcome, RaceResult::Answer(1));
        let answer_of = |at: usize| members.all[at].result.as_ref().map(|e| e.answer.clone());
        let expected = MemberAnswer::Verdict("sat", [String::new(), "(model)".to_owned()]);
        assert_eq!(answer_of(1), Some(expected));
        assert_eq!(members.all[0].outcome(), "stopped");
        assert!(
            members
                .text_read
                .as_ref()
                .is_some_and(|t| t.unknown.after == [None])
        );
        let quick = TEXT_READ.to_owned() + &answer("unsat");
        let (outcome, members) = race(2, None, &[quick, slow]);
        assert_eq!(outcome, RaceResult::Answer(0));
        // On a busy machine the second one may have started.
        let others = &members.all[1..];
        assert!(others.iter().all(|m| m.outcome() == "stopped"));
    }

    #[test]
    fn a_contradiction_has_no_answer() {
        let folder = tempfile::tempdir().expect("a folder");
        let sent = folder.path().join("sent");
        let sent = sent.to_str().expect("a plain name");
        for (first, second) in [("sat", "unsat"), ("unsat", "sat")] {
            let _ = std::fs::remove_file(sent);
            // The second one has sent its verdict, but not its result, when the first one ends.
            let waits = format!(
                "{TEXT_READ} while [ ! -e {sent} ]; do sleep 0.01; done; {}",
                answer(first)
            );
            let contradicts = format!("{} touch {sent}; {FOREVER}", verdict(second));
            let (outcome, _) = race(2, None, &[waits, contradicts]);
            let (sat, unsat) = if first == "sat" { (0, 1) } else { (1, 0) };
            assert_eq!(outcome, RaceResult::Contradiction(sat, unsat));
        }
        // A verdict counts even if an invalid message follows.
        let _ = std::fs::remove_file(sent);
        let waits = format!(
            "{TEXT_READ} while [ ! -e {sent} ]; do sleep 0.01; done; {}",
            answer("sat")
        );
        let invalid = format!("{} touch {sent}; echo rubbish", verdict("unsat"));
        let (outcome, _) = race(2, None, &[waits, invalid]);
        assert_eq!(outcome, RaceResult::Contradiction(0, 1));
    }

    #[test]
    fn members_that_fail_do_not_affect_the_others() {
        let slow = |then: &str| format!("{TEXT_READ} sleep 0.5; {then}");
        let failing = [
            "kill -SEGV $$".to_owned(),
            "kill -KILL $$".to_owned(),
            "exit 3".to_owned(),
            "true".to_owned(),
            "echo sat".to_owned(),
            "echo '{'; exec sleep 1000".to_owned(),
            "printf 'x%.0s' 1 2 3; exec sleep 1000".to_owned(),
            "cat /dev/zero".to_owned(),
            "echo '{\"verdict\":\"maybe\"}'; exec sleep 1000".to_owned(),
            // An answer without a verdict, one with another verdict, one that is cut off.
            result("unsat", "", "null") + FOREVER,
            verdict("unknown") + &result("unsat", "", "null") + FOREVER,
            "printf '{\"result\":{\"answer\":\"unsat\",'".to_owned(),
            unknown("too hard") + "echo more; exec sleep 1000",
        ];
        for script in failing {
            let (outcome, members) = race(2, None, &[slow(&answer("sat")), script.clone()]);
            assert_eq!(outcome, RaceResult::Answer(0), "{script}");
            assert!(members.all[1].failure.is_some(), "{script}");
        }
        // The first one may fail, too, once it has read the text.
        let (outcome, _) = race(
            2,
            None,
            &[format!("{TEXT_READ} kill -SEGV $$"), answer("unsat")],
        );
        assert_eq!(outcome, RaceResult::Answer(1));
    }

    #[test]
    fn members_take_the_places_of_those_that_have_ended() {
        let scripts = [
            TEXT_READ.to_owned() + FOREVER,
            unknown("too hard"),
            "exit 1".to_owned(),
            answer("sat"),
        ];
        let (outcome, members) = race(2, None, &scripts);
        assert_eq!(outcome, RaceResult::Answer(3));
        assert_eq!(members.all[1].outcome(), "unknown (too hard)");
        assert!(members.all[2].outcome().contains("status 1"));
        let (outcome, members) = race(3, None, &scripts);
        assert_eq!(outcome, RaceResult::Answer(3));
        assert_eq!(members.all.len(), 4);
    }

    #[test]
    fn without_an_answer_the_first_reason_counts() {
        let first = TEXT_READ.to_owned() + &unknown("too hard");
        let (outcome, members) = race(2, None, &[first.clone(), unknown("no idea")]);
        assert_eq!(outcome, RaceResult::Unknown(Some(0)));
        assert_eq!(members.all.len(), 2);
        let crash = format!("{TEXT_READ} exit 1");
        let (outcome, _) = race(2, None, &[crash.clone(), unknown("no idea")]);
        assert_eq!(outcome, RaceResult::Unknown(Some(1)));
        let (outcome, members) = race(2, None, &[crash, "exit 2".to_owned()]);
        assert_eq!(outcome, RaceResult::Unknown(None));
        assert!(members.all.iter().all(|m| m.failure.is_some()));
        // No member follows if the first one fails before it has read the text.
        let (outcome, members) = race(2, None, &["exit 1".to_owned(), answer("sat")]);
        assert_eq!(outcome, RaceResult::Unknown(None));
        assert_eq!(members.all.len(), 1);
    }

    #[test]
    fn an_error_of_the_first_member_is_one_of_the_input() {
        let wrong = result("error", "line 1", "null");
        let (outcome, _) = race(2, None, &[wrong.clone(), answer("sat")]);
        assert_eq!(outcome, RaceResult::InputError(0));
        // Errors of other members do not count.
        let first = format!("{TEXT_READ} sleep 0.5; {}", answer("sat"));
        let (outcome, _) = race(2, None, &[first, wrong]);
        assert_eq!(outcome, RaceResult::Answer(0));
    }

    #[test]
    fn lemmas_are_forwarded_to_all_others_and_to_later_ones() {
        let lemmas = |text: &str| format!("echo '{{\"lemmas\":\"{text}\"}}'; ");
        // Each script fails unless it receives these lemmas, in this order, and not its own.
        let receives = |text: &str| {
            format!(
                "read line; case \"$line\" in '{{\"lemmas\":\"{text}\"}}') ;; *) exit 1;; esac; "
            )
        };
        let first = TEXT_READ.to_owned() + &lemmas("one") + &receives("two") + FOREVER;
        let second = receives("one") + &lemmas("two") + FOREVER;
        let third = receives("one") + &receives("two") + &answer("sat");
        let (outcome, members) = race(3, None, &[first.clone(), second.clone(), third.clone()]);
        assert_eq!(outcome, RaceResult::Answer(2));
        assert!(members.all[..2].iter().all(|m| m.outcome() == "stopped"));
        // The third one starts when the second one has ended.
        let second = second.replace(FOREVER, &unknown("too hard"));
        let (outcome, members) = race(2, None, &[first, second, third]);
        assert_eq!(outcome, RaceResult::Answer(2));
        assert_eq!(members.all[1].outcome(), "unknown (too hard)");
    }

    #[test]
    fn members_that_do_not_read_do_not_block_the_others() {
        let long = "x".repeat(100_000);
        let sends = format!("for i in $(seq 50); do echo '{{\"lemmas\":\"{long}\"}}'; done; ");
        let first = TEXT_READ.to_owned() + "exec <&-; sleep 0.5; " + &answer("sat");
        let deaf = sends + FOREVER;
        let (outcome, _) = race(3, None, &[first, deaf.clone(), deaf]);
        assert_eq!(outcome, RaceResult::Answer(0));
        // After the verdict lemmas are not allowed.
        let late = verdict("unknown") + "echo '{\"lemmas\":\"\"}'; " + FOREVER;
        let first = TEXT_READ.to_owned() + "sleep 0.5; " + &answer("sat");
        let (_, members) = race(2, None, &[first, late]);
        assert!(members.all[1].failure.is_some());
    }

    #[test]
    fn a_provisional_result_counts_if_no_other_comes() {
        let provisional = result("sat", "(model)", "null").replace("\"result\"", "\"provisional\"");
        let slow = format!("{TEXT_READ} {provisional}");
        let limit = Some(Duration::from_millis(500));
        for (script, limit) in [
            (format!("{slow} {FOREVER}"), limit),
            (format!("{slow} kill -SEGV $$"), None),
        ] {
            let (outcome, members) = race(2, limit, &[script]);
            assert_eq!(outcome, RaceResult::Answer(0));
            let end = members.all[0].result.as_ref().map(|e| e.answer.clone());
            assert_eq!(
                end,
                Some(MemberAnswer::Verdict(
                    "sat",
                    [String::new(), "(model)".to_owned()]
                ))
            );
        }
        // The final result replaces the provisional one, which may contradict those of other members.
        let (outcome, _) = race(2, None, &[format!("{slow} {}", unknown("a defect"))]);
        assert_eq!(outcome, RaceResult::Unknown(Some(0)));
        let other = format!("sleep 0.2; {}", answer("unsat"));
        let (outcome, _) = race(2, None, &[format!("{slow} {FOREVER}"), other]);
        assert_eq!(outcome, RaceResult::Contradiction(0, 1));
    }

    #[test]
    fn limits_end_the_race() {
        let slow = TEXT_READ.to_owned() + FOREVER;
        let limit = Some(Duration::from_millis(100));
        let (outcome, members) = race(2, limit, std::slice::from_ref(&slow));
        assert_eq!(outcome, RaceResult::Timeout);
        assert_eq!(members.all[0].outcome(), "stopped");
        let own = slow.replace("_ms\":null", "_ms\":50");
        let (outcome, _) = race(2, None, &[own]);
        assert_eq!(outcome, RaceResult::Timeout);
    }
}
