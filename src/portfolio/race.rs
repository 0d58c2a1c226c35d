//! Members side by side: what they say, and what follows from it.
//!
//! Lemmas that a member tells go to the others, as long as these read them; what a member that begins
//! later has missed, it is told then.
//!
//! Whoever answers first wins, and the others are ended. Then what they have said until that moment
//! is read, too: two members that contradict each other are a defect, and the run has no answer.
//!
//! Invariant: an answer is what one member said completely, and no other member said the opposite.
//! A member that crashes, falls silent or says what no member says costs only itself.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

use super::message::{Answer, Began, End, Message};
use super::process::{Child, send, set_nonblocking, wait_end, wait_for};
use super::schedule::{Family, HEAD_START};

/// A line is at most so long: no witness is, and memory has an end.
const LONGEST_LINE: usize = 1 << 30;
/// Read at a time.
const CHUNK: usize = 1 << 16;
/// Longer lemmas are not handed on, in bytes.
const LONGEST_LEMMAS: usize = 1 << 18;
/// What waits for a member that does not read, and what is kept for those to come, in bytes.
const MOST_LEMMAS: usize = 1 << 21;

/// The command of a member after the first, counted from 0, if so much time is left; `None` if
/// there is no such member.
type Next<'a> = dyn Fn(Family, usize, Option<Duration>) -> Option<Vec<OsString>> + 'a;
/// Starts the member of this number with its command, without these descriptors.
type Start<'a> = dyn FnMut(usize, &[OsString], &[RawFd]) -> io::Result<Child> + 'a;

/// What a race is about.
pub struct Race<'a> {
    pub started: Instant,
    /// The end of the run; the text may set an earlier one.
    pub deadline: Option<Instant>,
    /// Members at a time.
    pub jobs: usize,
    /// The first member's command.
    pub first: Vec<OsString>,
    pub next: &'a Next<'a>,
    pub start: &'a mut Start<'a>,
    /// Readable when a signal has come.
    pub signals: Option<RawFd>,
}

/// How a race ends.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    /// The position of the member that has the answer.
    Answer(usize),
    /// All have ended without one: the position of the member that says why, if there is one.
    Unknown(Option<usize>),
    /// The position of the member that says what is wrong with the input.
    Error(usize),
    /// The positions of two members that contradict each other.
    Contradiction(usize, usize),
    Timeout,
    Signal,
}

/// A member.
pub struct Running {
    /// From 1.
    pub number: usize,
    pub command: Vec<OsString>,
    pub began: Instant,
    /// How long it has run, when it has ended.
    pub took: Option<Duration>,
    /// Its verdict, as soon as it has said it.
    pub verdict: Option<&'static str>,
    /// What counts as its end if none comes.
    held: Option<End>,
    /// All that it has to say.
    pub end: Option<End>,
    /// How its process ended without that.
    pub lost: Option<String>,
    /// Its process, until it has been waited for.
    child: Option<Child>,
    /// Of a line that is not complete.
    pending: Vec<u8>,
    /// Lines for others.
    told: Vec<String>,
    /// Lines of others that it has not got yet.
    waiting: Vec<u8>,
}

/// The members of a race and what they have said.
#[derive(Default)]
pub struct Members {
    pub all: Vec<Running>,
    /// What the first one to read the text says of it.
    pub began: Option<Began>,
    /// Lines that members told, for those that begin later.
    told: Vec<String>,
}

impl Members {
    /// Whether all members have said everything or are lost.
    fn all_done(&self) -> bool {
        self.all.iter().all(Running::is_done)
    }

    fn running(&self) -> usize {
        self.all.iter().filter(|r| r.child.is_some()).count()
    }

    /// What members that run are heard through.
    fn descriptors(&self) -> Vec<RawFd> {
        let children = self.all.iter().filter_map(|r| r.child.as_ref());
        children.map(|child| child.pipe.as_raw_fd()).collect()
    }

    /// What only the parent is to have.
    fn own_descriptors(&self) -> Vec<RawFd> {
        let children = self.all.iter().filter_map(|r| r.child.as_ref());
        let both = children.flat_map(|child| [child.pipe.as_raw_fd(), child.hears.as_raw_fd()]);
        both.collect()
    }

    /// Two members of which one says `sat` and the other `unsat`.
    fn contradiction(&self) -> Option<(usize, usize)> {
        let word = |r: &Running| r.verdict.or_else(|| r.held.as_ref()?.word());
        let says = |said: &str| self.all.iter().position(|r| word(r) == Some(said));
        Some((says("sat")?, says("unsat")?))
    }

    /// Sends all members that run a signal.
    pub fn signal(&self, signal: libc::c_int) {
        for child in self.all.iter().filter_map(|r| r.child.as_ref()) {
            send(child.pid, signal);
        }
    }

    /// Reads what is there from all members that run.
    fn listen(&mut self) {
        for at in 0..self.all.len() {
            self.hear(at);
        }
        self.hand_on();
    }

    /// Tells members what others told.
    fn hand_on(&mut self) {
        for from in 0..self.all.len() {
            for line in std::mem::take(&mut self.all[from].told) {
                for (at, member) in self.all.iter_mut().enumerate() {
                    if at != from {
                        member.tell(&line);
                    }
                }
                let kept: usize = self.told.iter().map(String::len).sum();
                if kept + line.len() <= MOST_LEMMAS {
                    self.told.push(line);
                }
            }
        }
        for member in &mut self.all {
            member.write();
        }
    }

    /// Reads what is there from a member.
    fn hear(&mut self, at: usize) {
        let member = &mut self.all[at];
        let began = member.hear();
        if self.began.is_none() {
            self.began = began;
        }
    }

    /// For so long, hears what members that are about to end have to say.
    pub fn hear_out(&mut self, limit: Duration) {
        let end = Instant::now() + limit;
        while self.running() > 0 && !self.all_done() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || wait_for(&self.descriptors(), Some(left)).is_err() {
                return;
            }
            self.listen();
        }
    }

    /// Ends all members that run, and waits for them.
    pub fn end(&mut self) {
        self.signal(libc::SIGKILL);
        for member in &mut self.all {
            member.end();
        }
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        self.end();
    }
}

impl Running {
    fn is_done(&self) -> bool {
        self.end.is_some() || self.lost.is_some()
    }

    /// How it went, in a few words.
    pub fn outcome(&self) -> String {
        match (&self.end, &self.lost) {
            (Some(end), _) => match (&end.answer, &end.note) {
                (Answer::Verdict(word, _), Some(note)) => format!("{word} ({note})"),
                (Answer::Verdict(word, _), None) => (*word).to_owned(),
                (Answer::Error(message), _) => format!("error: {message}"),
            },
            (None, Some(lost)) => format!("lost: {lost}"),
            (None, None) => "stopped".to_owned(),
        }
    }

    /// Waits for the process, which ends now at the latest.
    fn end(&mut self) -> Option<String> {
        let child = self.child.take()?;
        self.took = Some(self.began.elapsed());
        send(child.pid, libc::SIGKILL);
        Some(wait_end(child.pid))
    }

    /// Takes the answer that the member holds, unless it has said another; tells whether it is done.
    fn settle(&mut self) -> bool {
        if !self.is_done()
            && let Some(held) = self.held.take()
            && (self.verdict.is_none() || self.verdict == held.word())
        {
            self.verdict = held.word();
            self.end = Some(held);
            self.pending.clear();
        }
        self.is_done()
    }

    /// Keeps a line for the member, unless too much waits already.
    fn tell(&mut self, line: &str) {
        if self.child.is_some() && self.waiting.len() + line.len() <= MOST_LEMMAS {
            self.waiting.extend_from_slice(line.as_bytes());
        }
    }

    /// Hands over what waits, as much as there is a place for.
    fn write(&mut self) {
        while let Some(child) = &mut self.child
            && !self.waiting.is_empty()
        {
            match child.hears.write(&self.waiting) {
                Ok(count @ 1..) => drop(self.waiting.drain(..count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // It does not hear any more.
                Ok(0) | Err(_) => self.waiting.clear(),
            }
        }
    }

    /// Gives the member up.
    fn lose(&mut self, why: &str) {
        log::error!("defect: member {}: {why}", self.number);
        self.end();
        self.lost = Some(why.to_owned());
        self.pending = Vec::new();
    }

    /// Reads what is there, and takes in its lines; tells what the member says of the text.
    fn hear(&mut self) -> Option<Began> {
        let mut began = None;
        let mut chunk = vec![0; CHUNK];
        while let Some(child) = &mut self.child {
            match child.pipe.read(&mut chunk) {
                Ok(0) => {
                    // Whoever says no more has ended, or is ended.
                    let status = self.end().unwrap_or_default();
                    if self.end.is_none() && self.settle() {
                        log::error!("defect: member {}: {status}", self.number);
                    } else if self.end.is_none() {
                        self.lose(&format!("{status} without an answer"));
                    } else if !self.pending.is_empty() {
                        self.end = None;
                        self.lose("said more than its answer");
                    }
                }
                Ok(count) => {
                    let from = self.pending.len();
                    self.pending.extend_from_slice(&chunk[..count]);
                    match self.take_lines(from) {
                        Ok(found) => began = began.or(found),
                        Err(()) => {
                            self.end = None;
                            self.lose("said what no member says");
                        }
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.lose(&error.to_string()),
            }
        }
        began
    }

    /// Takes in complete lines; `from` is where what is new begins. An error for what is no message,
    /// or comes when it cannot come.
    fn take_lines(&mut self, from: usize) -> Result<Option<Began>, ()> {
        let mut began = None;
        let mut from = from;
        while let Some(at) = self.pending[from..].iter().position(|&b| b == b'\n') {
            let rest = self.pending.split_off(from + at + 1);
            let line = std::mem::replace(&mut self.pending, rest);
            from = 0;
            match Message::read(&line).ok_or(())? {
                Message::Began(found) if self.verdict.is_none() && !self.is_done() => {
                    began = Some(found);
                }
                Message::Held(held) if self.verdict.is_none() && !self.is_done() => {
                    self.held = Some(held);
                }
                Message::Lemmas(_) if self.verdict.is_none() && !self.is_done() => {
                    if line.len() <= LONGEST_LEMMAS
                        && let Ok(line) = String::from_utf8(line)
                    {
                        self.told.push(line);
                    }
                }
                Message::Verdict(word) if self.verdict.is_none() && !self.is_done() => {
                    self.verdict = Some(word);
                }
                Message::End(end) if !self.is_done() && end.agrees(self.verdict) => {
                    self.end = Some(end);
                }
                _ => return Err(()),
            }
        }
        let begins_well = self.pending.first().is_none_or(|&b| b == b'{');
        if !begins_well || self.pending.len() > LONGEST_LINE {
            return Err(());
        }
        Ok(began)
    }
}

impl End {
    /// Its verdict.
    fn word(&self) -> Option<&'static str> {
        match &self.answer {
            Answer::Verdict(word, _) => Some(*word),
            Answer::Error(_) => None,
        }
    }

    /// Whether the answer is the verdict that was said before it.
    fn agrees(&self, verdict: Option<&'static str>) -> bool {
        match &self.answer {
            Answer::Verdict(word, _) => verdict == Some(word),
            Answer::Error(_) => verdict.is_none(),
        }
    }
}

impl Race<'_> {
    /// Runs members until one has an answer, all have ended, or there is a reason to stop. Then the
    /// others are still to be ended, but for an answer.
    pub fn run(&mut self, members: &mut Members) -> Outcome {
        let first = std::mem::take(&mut self.first);
        if let Err(error) = self.begin(members, first) {
            log::error!("defect: there is no process to be had: {error}");
            return Outcome::Unknown(None);
        }
        let mut others = 0;
        let mut more = true;
        loop {
            while more && self.may_begin(members) {
                let family = members.began.as_ref().map(|began| began.family);
                let left = self.left(members);
                let command = family.and_then(|family| (self.next)(family, others, left));
                others += 1;
                more = match command {
                    Some(command) => match self.begin(members, command) {
                        Ok(()) => true,
                        Err(error) => {
                            log::warn!("there is no process to be had: {error}");
                            false
                        }
                    },
                    None => false,
                };
            }
            if let Some(outcome) = decided(members) {
                return outcome;
            }
            // Without a word of the first about the text nobody can follow it.
            if members.running() == 0 && (!more || members.began.is_none()) {
                return without_answer(members);
            }
            let alone = self.until_head_start();
            let waiting = more && members.began.is_some() && members.running() < self.jobs;
            let pause = self.left(members).into_iter();
            let pause = pause.chain(alone.filter(|_| waiting)).min();
            let mut descriptors = members.descriptors();
            descriptors.extend(self.signals);
            match wait_for(&descriptors, pause) {
                Ok(ready) => {
                    let signal = self.signals.is_some() && ready.last() == Some(&true);
                    members.listen();
                    if signal {
                        return members.settled().unwrap_or(Outcome::Signal);
                    }
                }
                Err(error) => log::error!("defect: poll: {error}"),
            }
            if self.left(members).is_some_and(|left| left.is_zero()) {
                return members.settled().unwrap_or(Outcome::Timeout);
            }
        }
    }

    fn begin(&mut self, members: &mut Members, command: Vec<OsString>) -> io::Result<()> {
        let number = members.all.len() + 1;
        let began = Instant::now();
        let child = (self.start)(number, &command, &members.own_descriptors())?;
        let blocking = set_nonblocking(&child.pipe).and(set_nonblocking(&child.hears));
        members.all.push(Running {
            number,
            command,
            began,
            took: None,
            verdict: None,
            end: None,
            lost: None,
            held: None,
            child: Some(child),
            pending: Vec::new(),
            told: Vec::new(),
            waiting: Vec::new(),
        });
        if let Some(member) = members.all.last_mut() {
            members.told.iter().for_each(|line| member.tell(line));
            member.write();
        }
        blocking
    }

    /// Whether there is a place and a time for one more member.
    fn may_begin(&self, members: &Members) -> bool {
        let ready = self.until_head_start().is_none() || members.running() == 0;
        ready && members.began.is_some() && members.running() < self.jobs
    }

    /// How long the first member is to be alone yet.
    fn until_head_start(&self) -> Option<Duration> {
        let left = (self.started + HEAD_START).saturating_duration_since(Instant::now());
        Some(left).filter(|left| !left.is_zero())
    }

    /// What is left of the run's time.
    fn left(&self, members: &Members) -> Option<Duration> {
        let own = members.began.as_ref().and_then(|began| began.timeout);
        let own = own.and_then(|limit| members.all.first()?.began.checked_add(limit));
        let end = self.deadline.into_iter().chain(own).min()?;
        Some(end.saturating_duration_since(Instant::now()))
    }
}

/// The outcome, if what members have said so far has one. After an answer no member runs.
fn decided(members: &mut Members) -> Option<Outcome> {
    let is_answer = |r: &Running| {
        let end = r.end.as_ref()?;
        matches!(end.answer, Answer::Verdict(word, _) if word != "unknown").then_some(())
    };
    let answer = members.all.iter().position(|r| is_answer(r).is_some());
    if answer.is_some() {
        members.signal(libc::SIGKILL);
        // What is there now was said before; nobody says more.
        members.listen_last();
    }
    if let Some((a, b)) = members.contradiction() {
        return Some(Outcome::Contradiction(a, b));
    }
    if let Some(answer) = answer {
        return Some(Outcome::Answer(answer));
    }
    // The others read the same text; theirs may be for lack of a thread.
    let first = members.all.first()?;
    let wrong = first.end.as_ref().map(|end| &end.answer);
    matches!(wrong, Some(Answer::Error(_))).then_some(Outcome::Error(0))
}

impl Members {
    /// The outcome when there is no more time: what members hold counts.
    fn settled(&mut self) -> Option<Outcome> {
        decided(self).or_else(|| {
            for member in &mut self.all {
                member.settle();
            }
            decided(self)
        })
    }

    /// Reads what was said by members that have just been killed, and looks at their verdicts only.
    fn listen_last(&mut self) {
        let mut chunk = vec![0; CHUNK];
        for member in &mut self.all {
            while let Some(child) = &mut member.child
                && let Ok(count @ 1..) = child.pipe.read(&mut chunk)
            {
                let from = member.pending.len();
                member.pending.extend_from_slice(&chunk[..count]);
                if member.take_lines(from).is_err() {
                    break;
                }
            }
        }
    }
}

/// All have ended: the first one that says why, else one that says what is wrong.
fn without_answer(members: &Members) -> Outcome {
    let position = |found: fn(&Answer) -> bool| {
        let has = |r: &Running| r.end.as_ref().is_some_and(|end| found(&end.answer));
        members.all.iter().position(has)
    };
    if let Some(at) = position(|answer| matches!(answer, Answer::Verdict(..))) {
        return Outcome::Unknown(Some(at));
    }
    match position(|answer| matches!(answer, Answer::Error(_))) {
        Some(at) => Outcome::Error(at),
        None => Outcome::Unknown(None),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::os::fd::OwnedFd;
    use std::process::{Command, Stdio};

    use super::*;

    /// What a member says first.
    const BEGAN: &str = r#"echo '{"began":{"family":"nonlinear clauses","timeout_ms":null,"reason_unknown":true}}'; "#;

    fn verdict(word: &str) -> String {
        format!("echo '{{\"verdict\":\"{word}\"}}'; ")
    }

    fn end(word: &str, text: &str, note: &str) -> String {
        format!(
            "echo '{{\"end\":{{\"answer\":\"{word}\",\"text\":\"{text}\",\"note\":{note},\"stats\":null}}}}'; "
        )
    }

    fn answer(word: &str) -> String {
        verdict(word) + &end(word, "(model)", "null")
    }

    fn unknown(why: &str) -> String {
        verdict("unknown") + &end("unknown", "", &format!("\"{why}\""))
    }

    const FOREVER: &str = "exec sleep 1000";
    /// For a race that has to end by itself: far more than it needs.
    const PATIENCE: Duration = Duration::from_secs(300);

    fn commands(scripts: &[String]) -> Vec<Vec<OsString>> {
        let shell = |script: &String| ["sh", "-c", script.as_str()].map(OsString::from).to_vec();
        scripts.iter().map(shell).collect()
    }

    /// The outcome of a race of shell scripts, and the members, of which no process is left after it.
    fn race(jobs: usize, deadline: Option<Duration>, scripts: &[String]) -> (Outcome, Members) {
        let commands = commands(scripts);
        let pids = RefCell::new(Vec::new());
        let most = RefCell::new(0);
        let mut members = Members::default();
        let outcome = Race {
            started: Instant::now(),
            deadline: Some(Instant::now() + deadline.unwrap_or(PATIENCE)),
            jobs,
            first: commands[0].clone(),
            next: &|family, position, _| {
                assert_eq!(family, Family::Nonlinear);
                commands.get(position + 1).cloned()
            },
            start: &mut |_, command, foreign| {
                let mut most = most.borrow_mut();
                *most = foreign.len().max(*most);
                let mut child = Command::new(&command[0])
                    .args(&command[1..])
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .spawn()?;
                let pid = libc::pid_t::try_from(child.id()).expect("a small number");
                pids.borrow_mut().push(pid);
                let pipe = child.stdout.take().expect("it is piped");
                let hears = child.stdin.take().expect("it is piped");
                Ok(Child {
                    pid,
                    pipe: OwnedFd::from(pipe).into(),
                    hears: OwnedFd::from(hears).into(),
                })
            },
            signals: None,
        }
        .run(&mut members);
        members.end();
        // Two for each of those that run.
        assert!(*most.borrow() < 2 * jobs, "too many members at a time");
        for pid in pids.into_inner() {
            // SAFETY: asks whether there is such a process.
            let gone = unsafe { libc::kill(pid, 0) } < 0;
            assert!(gone, "{pid} is left");
        }
        (outcome, members)
    }

    #[test]
    fn the_first_answer_wins_and_the_others_end() {
        let slow = BEGAN.to_owned() + FOREVER;
        let (outcome, members) = race(2, None, &[slow.clone(), answer("sat")]);
        assert_eq!(outcome, Outcome::Answer(1));
        let answer_of = |at: usize| members.all[at].end.as_ref().map(|e| e.answer.clone());
        let expected = Answer::Verdict("sat", "(model)".to_owned());
        assert_eq!(answer_of(1), Some(expected));
        assert_eq!(members.all[0].outcome(), "stopped");
        assert!(members.began.as_ref().is_some_and(|b| b.reason_unknown));
        let quick = BEGAN.to_owned() + &answer("unsat");
        let (outcome, members) = race(2, None, &[quick, slow]);
        assert_eq!(outcome, Outcome::Answer(0));
        // Where the machine is busy, the second one may have begun.
        let others = &members.all[1..];
        assert!(others.iter().all(|m| m.outcome() == "stopped"));
    }

    #[test]
    fn a_contradiction_has_no_answer() {
        let folder = tempfile::tempdir().expect("a folder");
        let said = folder.path().join("said");
        let said = said.to_str().expect("a plain name");
        for (first, second) in [("sat", "unsat"), ("unsat", "sat")] {
            let _ = std::fs::remove_file(said);
            // The second one has said its verdict, and not all that follows, when the first ends.
            let waits = format!(
                "{BEGAN} while [ ! -e {said} ]; do sleep 0.01; done; {}",
                answer(first)
            );
            let says = format!("{} touch {said}; {FOREVER}", verdict(second));
            let (outcome, _) = race(2, None, &[waits, says]);
            let (sat, unsat) = if first == "sat" { (0, 1) } else { (1, 0) };
            assert_eq!(outcome, Outcome::Contradiction(sat, unsat));
        }
        // A liar that ends in rubbish has lied all the same.
        let _ = std::fs::remove_file(said);
        let waits = format!(
            "{BEGAN} while [ ! -e {said} ]; do sleep 0.01; done; {}",
            answer("sat")
        );
        let liar = format!("{} touch {said}; echo rubbish", verdict("unsat"));
        let (outcome, _) = race(2, None, &[waits, liar]);
        assert_eq!(outcome, Outcome::Contradiction(0, 1));
    }

    #[test]
    fn lost_members_cost_only_themselves() {
        let slow = |then: &str| format!("{BEGAN} sleep 0.5; {then}");
        let lost = [
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
            end("unsat", "", "null") + FOREVER,
            verdict("unknown") + &end("unsat", "", "null") + FOREVER,
            "printf '{\"end\":{\"answer\":\"unsat\",'".to_owned(),
            unknown("too hard") + "echo more; exec sleep 1000",
        ];
        for script in lost {
            let (outcome, members) = race(2, None, &[slow(&answer("sat")), script.clone()]);
            assert_eq!(outcome, Outcome::Answer(0), "{script}");
            assert!(members.all[1].lost.is_some(), "{script}");
        }
        // The first one may be lost, too, once it has read the text.
        let (outcome, _) = race(
            2,
            None,
            &[format!("{BEGAN} kill -SEGV $$"), answer("unsat")],
        );
        assert_eq!(outcome, Outcome::Answer(1));
    }

    #[test]
    fn members_take_the_places_of_those_that_have_ended() {
        let scripts = [
            BEGAN.to_owned() + FOREVER,
            unknown("too hard"),
            "exit 1".to_owned(),
            answer("sat"),
        ];
        let (outcome, members) = race(2, None, &scripts);
        assert_eq!(outcome, Outcome::Answer(3));
        assert_eq!(members.all[1].outcome(), "unknown (too hard)");
        assert!(members.all[2].outcome().contains("status 1"));
        let (outcome, members) = race(3, None, &scripts);
        assert_eq!(outcome, Outcome::Answer(3));
        assert_eq!(members.all.len(), 4);
    }

    #[test]
    fn without_an_answer_the_first_one_says_why() {
        let first = BEGAN.to_owned() + &unknown("too hard");
        let (outcome, members) = race(2, None, &[first.clone(), unknown("no idea")]);
        assert_eq!(outcome, Outcome::Unknown(Some(0)));
        assert_eq!(members.all.len(), 2);
        let crash = format!("{BEGAN} exit 1");
        let (outcome, _) = race(2, None, &[crash.clone(), unknown("no idea")]);
        assert_eq!(outcome, Outcome::Unknown(Some(1)));
        let (outcome, members) = race(2, None, &[crash, "exit 2".to_owned()]);
        assert_eq!(outcome, Outcome::Unknown(None));
        assert!(members.all.iter().all(|r| r.lost.is_some()));
        // Nobody follows one that did not come to read the text.
        let (outcome, members) = race(2, None, &["exit 1".to_owned(), answer("sat")]);
        assert_eq!(outcome, Outcome::Unknown(None));
        assert_eq!(members.all.len(), 1);
    }

    #[test]
    fn what_is_wrong_with_the_input_is_said() {
        let wrong = end("error", "line 1", "null");
        let (outcome, _) = race(2, None, &[wrong.clone(), answer("sat")]);
        assert_eq!(outcome, Outcome::Error(0));
        // Others have no say in that.
        let first = format!("{BEGAN} sleep 0.5; {}", answer("sat"));
        let (outcome, _) = race(2, None, &[first, wrong]);
        assert_eq!(outcome, Outcome::Answer(0));
    }

    #[test]
    fn lemmas_go_to_all_others_also_to_later_ones() {
        let lemmas = |text: &str| format!("echo '{{\"lemmas\":\"{text}\"}}'; ");
        // Each answers when it has heard the others, and does not hear itself.
        let hears = |text: &str| {
            format!(
                "read line; case \"$line\" in '{{\"lemmas\":\"{text}\"}}') ;; *) exit 1;; esac; "
            )
        };
        let first = BEGAN.to_owned() + &lemmas("one") + &hears("two") + FOREVER;
        let second = hears("one") + &lemmas("two") + FOREVER;
        let third = hears("one") + &hears("two") + &answer("sat");
        let (outcome, members) = race(3, None, &[first.clone(), second.clone(), third.clone()]);
        assert_eq!(outcome, Outcome::Answer(2));
        assert!(members.all[..2].iter().all(|m| m.outcome() == "stopped"));
        // The third begins when the second has ended.
        let second = second.replace(FOREVER, &unknown("too hard"));
        let (outcome, members) = race(2, None, &[first, second, third]);
        assert_eq!(outcome, Outcome::Answer(2));
        assert_eq!(members.all[1].outcome(), "unknown (too hard)");
    }

    #[test]
    fn who_does_not_listen_costs_nobody_anything() {
        let long = "x".repeat(100_000);
        let talks = format!("for i in $(seq 50); do echo '{{\"lemmas\":\"{long}\"}}'; done; ");
        let first = BEGAN.to_owned() + "exec <&-; sleep 0.5; " + &answer("sat");
        let deaf = talks + FOREVER;
        let (outcome, _) = race(3, None, &[first, deaf.clone(), deaf]);
        assert_eq!(outcome, Outcome::Answer(0));
        // After the verdict there is nothing more to tell.
        let late = verdict("unknown") + "echo '{\"lemmas\":\"\"}'; " + FOREVER;
        let first = BEGAN.to_owned() + "sleep 0.5; " + &answer("sat");
        let (_, members) = race(2, None, &[first, late]);
        assert!(members.all[1].lost.is_some());
    }

    #[test]
    fn what_a_member_holds_counts_if_it_comes_to_no_end() {
        let held = end("sat", "(model)", "null").replace("\"end\"", "\"held\"");
        let slow = format!("{BEGAN} {held}");
        let limit = Some(Duration::from_millis(500));
        for (script, limit) in [
            (format!("{slow} {FOREVER}"), limit),
            (format!("{slow} kill -SEGV $$"), None),
        ] {
            let (outcome, members) = race(2, limit, &[script]);
            assert_eq!(outcome, Outcome::Answer(0));
            let end = members.all[0].end.as_ref().map(|e| e.answer.clone());
            assert_eq!(end, Some(Answer::Verdict("sat", "(model)".to_owned())));
        }
        // What it says in the end counts for more, and what it holds is heard of others.
        let (outcome, _) = race(2, None, &[format!("{slow} {}", unknown("a defect"))]);
        assert_eq!(outcome, Outcome::Unknown(Some(0)));
        let other = format!("sleep 0.2; {}", answer("unsat"));
        let (outcome, _) = race(2, None, &[format!("{slow} {FOREVER}"), other]);
        assert_eq!(outcome, Outcome::Contradiction(0, 1));
    }

    #[test]
    fn limits_end_the_race() {
        let slow = BEGAN.to_owned() + FOREVER;
        let limit = Some(Duration::from_millis(100));
        let (outcome, members) = race(2, limit, std::slice::from_ref(&slow));
        assert_eq!(outcome, Outcome::Timeout);
        assert_eq!(members.all[0].outcome(), "stopped");
        let own = slow.replace("null", "50");
        let (outcome, _) = race(2, None, &[own]);
        assert_eq!(outcome, Outcome::Timeout);
    }
}
