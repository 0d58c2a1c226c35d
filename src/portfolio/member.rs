//! The running members, and the messages that they have sent.
//!
//! Invariant: a member whose process fails, or that sends anything but the messages of a member in
//! their order, has no result, and does not affect the others. Its verdict, if it has sent one, still
//! counts in [`Members::contradiction`].

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

use super::limits::LIMITS;
use super::message::{MemberAnswer, MemberResult, Message, TextRead};
use super::process::{Child, send_signal, wait_for_exit, wait_readable};

/// Bytes read at a time.
const CHUNK_BYTES: usize = 1 << 16;

/// A message that is not one of a member, or that is out of order.
struct InvalidMessage;

/// A member.
pub struct Member {
    /// Its number, from 1.
    pub number: usize,
    /// Its command line.
    pub command: Vec<OsString>,
    /// When it was started.
    pub started: Instant,
    /// How long it ran; `None` while its process runs.
    pub run_time: Option<Duration>,
    /// Its verdict, once it has sent one.
    pub verdict: Option<&'static str>,
    /// Its result if it ends without sending one.
    provisional: Option<MemberResult>,
    /// Its result, once it is complete.
    pub result: Option<MemberResult>,
    /// How the member failed, if it has no result because of that.
    pub failure: Option<String>,
    /// Its process, until it has been waited for.
    child: Option<Child>,
    /// The beginning of a line whose end has not been received.
    incomplete_line: Vec<u8>,
    /// Lines with lemmas from this member that have not been forwarded.
    received_lemmas: Vec<String>,
    /// Lines with lemmas for this member that have not been written to its pipe.
    unsent_lemmas: Vec<u8>,
}

/// The members of a race.
#[derive(Default)]
pub struct Members {
    /// The members in the order in which they started.
    pub all: Vec<Member>,
    /// What the first member that has read the text found.
    pub text_read: Option<TextRead>,
    /// Lines with lemmas, for members that start later.
    lemmas: Vec<String>,
}

impl Members {
    /// Adds a member whose process has just been started, and sends it the lemmas received so far.
    pub fn add(&mut self, child: Child, command: Vec<OsString>, started: Instant) {
        let mut member = Member {
            number: self.all.len() + 1,
            command,
            started,
            run_time: None,
            verdict: None,
            provisional: None,
            result: None,
            failure: None,
            child: Some(child),
            incomplete_line: Vec::new(),
            received_lemmas: Vec::new(),
            unsent_lemmas: Vec::new(),
        };
        for line in &self.lemmas {
            member.queue(line);
        }
        member.send_queued();
        self.all.push(member);
    }

    /// The number of members whose process runs.
    pub fn running(&self) -> usize {
        self.all.iter().filter(|m| m.child.is_some()).count()
    }

    /// The descriptors from which the messages of running members are read.
    pub fn message_descriptors(&self) -> Vec<RawFd> {
        let children = self.all.iter().filter_map(|m| m.child.as_ref());
        children
            .map(|child| child.from_member.as_raw_fd())
            .collect()
    }

    /// The descriptors that a new member has to close.
    pub fn parent_descriptors(&self) -> Vec<RawFd> {
        let children = self.all.iter().filter_map(|m| m.child.as_ref());
        let both = |child: &Child| [child.from_member.as_raw_fd(), child.to_member.as_raw_fd()];
        children.flat_map(both).collect()
    }

    /// The positions of two members of which the first answers `sat` and the second `unsat`.
    pub fn contradiction(&self) -> Option<(usize, usize)> {
        let verdict = |m: &Member| m.verdict.or_else(|| m.provisional.as_ref()?.verdict());
        let with = |wanted: &str| self.all.iter().position(|m| verdict(m) == Some(wanted));
        Some((with("sat")?, with("unsat")?))
    }

    /// Sends a signal to all running members.
    pub fn signal(&self, signal: libc::c_int) {
        for child in self.all.iter().filter_map(|m| m.child.as_ref()) {
            send_signal(child.pid, signal);
        }
    }

    /// Receives what running members have sent, and forwards their lemmas.
    pub fn receive(&mut self) {
        for member in &mut self.all {
            let text_read = member.receive();
            if self.text_read.is_none() {
                self.text_read = text_read;
            }
        }
        self.forward_lemmas();
    }

    /// Sends the lemmas that each member has sent to all other members.
    fn forward_lemmas(&mut self) {
        for sender in 0..self.all.len() {
            for line in std::mem::take(&mut self.all[sender].received_lemmas) {
                for (at, member) in self.all.iter_mut().enumerate() {
                    if at != sender {
                        member.queue(&line);
                    }
                }
                let kept: usize = self.lemmas.iter().map(String::len).sum();
                if kept + line.len() <= LIMITS.queued_lemma_bytes {
                    self.lemmas.push(line);
                }
            }
        }
        for member in &mut self.all {
            member.send_queued();
        }
    }

    /// Receives messages until every member has finished, but no longer than `limit`.
    pub fn receive_until_finished(&mut self, limit: Duration) {
        let end = Instant::now() + limit;
        while self.running() > 0 && !self.all.iter().all(Member::is_finished) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || wait_readable(&self.message_descriptors(), Some(left)).is_err() {
                return;
            }
            self.receive();
        }
    }

    /// Reads the verdicts that members had sent when they were killed.
    pub fn receive_from_killed(&mut self) {
        let mut chunk = vec![0; CHUNK_BYTES];
        for member in &mut self.all {
            while let Some(child) = &mut member.child
                && let Ok(count @ 1..) = child.from_member.read(&mut chunk)
            {
                if member.take_bytes(&chunk[..count]).is_err() {
                    break;
                }
            }
        }
    }

    /// Makes the provisional result of each member that has not finished its result.
    pub fn use_provisional(&mut self) {
        for member in &mut self.all {
            member.use_provisional();
        }
    }

    /// Kills all running members, and waits for their ends.
    pub fn kill(&mut self) {
        self.signal(libc::SIGKILL);
        for member in &mut self.all {
            member.kill();
        }
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Member {
    fn is_finished(&self) -> bool {
        self.result.is_some() || self.failure.is_some()
    }

    /// A short text that says how the run of the member ended.
    pub fn outcome(&self) -> String {
        match (&self.result, &self.failure) {
            (Some(result), _) => match (&result.answer, &result.note) {
                (MemberAnswer::Verdict(verdict, _), Some(note)) => format!("{verdict} ({note})"),
                (MemberAnswer::Verdict(verdict, _), None) => (*verdict).to_owned(),
                (MemberAnswer::Error(message), _) => format!("error: {message}"),
            },
            (None, Some(failure)) => format!("lost: {failure}"),
            (None, None) => "stopped".to_owned(),
        }
    }

    /// How long it ran, or has run so far, in seconds.
    pub fn seconds(&self) -> f64 {
        let time = self.run_time.unwrap_or_else(|| self.started.elapsed());
        time.as_secs_f64()
    }

    /// Kills the process if it still runs, and waits for it. The result says how it ended.
    fn kill(&mut self) -> Option<String> {
        let child = self.child.take()?;
        self.run_time = Some(self.started.elapsed());
        send_signal(child.pid, libc::SIGKILL);
        Some(wait_for_exit(child.pid))
    }

    /// Makes the provisional result the result, unless the member has a result or another verdict.
    /// Returns whether the member has finished.
    fn use_provisional(&mut self) -> bool {
        if !self.is_finished()
            && let Some(provisional) = self.provisional.take()
            && (self.verdict.is_none() || self.verdict == provisional.verdict())
        {
            self.verdict = provisional.verdict();
            self.result = Some(provisional);
            self.incomplete_line.clear();
        }
        self.is_finished()
    }

    /// Queues a line for the member, unless too much is queued already.
    fn queue(&mut self, line: &str) {
        let queued = self.unsent_lemmas.len() + line.len();
        if self.child.is_some() && queued <= LIMITS.queued_lemma_bytes {
            self.unsent_lemmas.extend_from_slice(line.as_bytes());
        }
    }

    /// Sends as much of the queued lines as the pipe takes.
    fn send_queued(&mut self) {
        while let Some(child) = &mut self.child
            && !self.unsent_lemmas.is_empty()
        {
            match child.to_member.write(&self.unsent_lemmas) {
                Ok(count @ 1..) => drop(self.unsent_lemmas.drain(..count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // The member has closed its end.
                Ok(0) | Err(_) => self.unsent_lemmas.clear(),
            }
        }
    }

    /// Kills the member and records its failure.
    fn fail(&mut self, why: &str) {
        log::error!("defect: member {}: {why}", self.number);
        self.kill();
        self.failure = Some(why.to_owned());
        self.incomplete_line = Vec::new();
    }

    /// Receives the messages that have arrived. Returns what the member found when it read the text,
    /// if it has sent that.
    fn receive(&mut self) -> Option<TextRead> {
        let mut text_read = None;
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Some(child) = &mut self.child {
            match child.from_member.read(&mut chunk) {
                Ok(0) => self.end_of_messages(),
                Ok(count) => match self.take_bytes(&chunk[..count]) {
                    Ok(found) => text_read = text_read.or(found),
                    Err(InvalidMessage) => {
                        self.result = None;
                        self.fail("sent an invalid message");
                    }
                },
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.fail(&error.to_string()),
            }
        }
        text_read
    }

    /// Ends the member after it has closed its pipe, and checks that its messages are complete.
    fn end_of_messages(&mut self) {
        let status = self.kill().unwrap_or_default();
        if self.result.is_none() && self.use_provisional() {
            log::error!("defect: member {}: {status}", self.number);
        } else if self.result.is_none() {
            self.fail(&format!("{status} without an answer"));
        } else if !self.incomplete_line.is_empty() {
            self.result = None;
            self.fail("sent a message after its result");
        }
    }

    /// Takes the messages that these bytes complete.
    fn take_bytes(&mut self, bytes: &[u8]) -> Result<Option<TextRead>, InvalidMessage> {
        let mut text_read = None;
        let mut new = self.incomplete_line.len();
        self.incomplete_line.extend_from_slice(bytes);
        while let Some(at) = self.incomplete_line[new..].iter().position(|&b| b == b'\n') {
            let rest = self.incomplete_line.split_off(new + at + 1);
            let line = std::mem::replace(&mut self.incomplete_line, rest);
            new = 0;
            let message = Message::read(&line).ok_or(InvalidMessage)?;
            if let Some(found) = self.take_message(message, line)? {
                text_read = Some(found);
            }
        }
        let begins_well = self.incomplete_line.first().is_none_or(|&b| b == b'{');
        if !begins_well || self.incomplete_line.len() > LIMITS.line_bytes {
            return Err(InvalidMessage);
        }
        Ok(text_read)
    }

    /// Takes a message, which `line` contains.
    fn take_message(
        &mut self,
        message: Message,
        line: Vec<u8>,
    ) -> Result<Option<TextRead>, InvalidMessage> {
        if self.is_finished() {
            return Err(InvalidMessage);
        }
        match message {
            Message::Result(result) if result.verdict() == self.verdict => {
                self.result = Some(result);
            }
            // After the verdict only the result may come.
            _ if self.verdict.is_some() => return Err(InvalidMessage),
            Message::TextRead(found) => return Ok(Some(found)),
            Message::Provisional(result) => self.provisional = Some(result),
            Message::Lemmas(_) if line.len() <= LIMITS.lemma_bytes => {
                self.received_lemmas.extend(String::from_utf8(line).ok());
            }
            Message::Lemmas(_) => {}
            Message::Verdict(verdict) => self.verdict = Some(verdict),
            Message::Result(_) => return Err(InvalidMessage),
        }
        Ok(None)
    }
}
