//! A member's way to the other members: it says lemmas to its parent, and hears those of others.
//!
//! Invariant: reading never waits, and what is no message, or too long for one, ends the hearing,
//! not the member.

use std::cell::RefCell;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::rc::Rc;

use alphorn::run::Bus;

use super::message::{Message, Teller};
use super::process::set_nonblocking;

/// Lines are shorter, in bytes.
const LONGEST_LINE: usize = 1 << 19;
/// So much is heard in all, in bytes: texts are kept.
const MOST: usize = 1 << 24;
/// Read at a time.
const CHUNK: usize = 1 << 14;

/// The other members.
pub struct Peers {
    teller: Teller,
    inbox: RefCell<Inbox>,
}

struct Inbox {
    /// `None` when nothing more is to be heard.
    pipe: Option<File>,
    /// Of a line that is not complete.
    pending: Vec<u8>,
    texts: Vec<Rc<str>>,
    /// Bytes of them.
    total: usize,
}

impl Peers {
    /// With what to tell them and where to hear them.
    pub fn new(teller: Teller, pipe: File) -> Peers {
        let pipe = set_nonblocking(&pipe).is_ok().then_some(pipe);
        Peers {
            teller,
            inbox: RefCell::new(Inbox {
                pipe,
                pending: Vec::new(),
                texts: Vec::new(),
                total: 0,
            }),
        }
    }
}

impl Bus for Peers {
    fn tell(&self, text: &str) {
        self.teller.say(&Message::Lemmas(text.to_owned()));
    }

    fn heard(&self, from: usize) -> Vec<Rc<str>> {
        let mut inbox = self.inbox.borrow_mut();
        inbox.read();
        inbox.texts.get(from..).unwrap_or_default().to_vec()
    }
}

impl Inbox {
    fn read(&mut self) {
        let mut chunk = vec![0; CHUNK];
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut chunk) {
                Ok(count @ 1..) => {
                    let from = self.pending.len();
                    self.pending.extend_from_slice(&chunk[..count]);
                    if !self.take_lines(from) {
                        self.pipe = None;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Ok(0) | Err(_) => self.pipe = None,
            }
        }
    }

    /// Takes in complete lines; `from` is where what is new begins. False for what is no message,
    /// and when enough was heard.
    fn take_lines(&mut self, from: usize) -> bool {
        let mut from = from;
        while let Some(at) = self.pending[from..].iter().position(|&b| b == b'\n') {
            let rest = self.pending.split_off(from + at + 1);
            let line = std::mem::replace(&mut self.pending, rest);
            from = 0;
            match Message::read(&line) {
                Some(Message::Lemmas(text)) if self.total + text.len() <= MOST => {
                    self.total += text.len();
                    self.texts.push(text.into());
                }
                _ => return false,
            }
        }
        self.pending.len() <= LONGEST_LINE
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Both ends of a member: what it says, what says to it, and itself.
    fn peers() -> (File, File, Peers) {
        let pipe = || {
            let (reading, writing) = std::io::pipe().expect("a pipe");
            let files = [std::os::fd::OwnedFd::from(reading), writing.into()];
            files.map(File::from)
        };
        let ([says, tells], [inbox, hears]) = (pipe(), pipe());
        (says, hears, Peers::new(Teller::new(tells), inbox))
    }

    #[test]
    fn lines_are_heard_when_they_are_complete() {
        let (mut says, mut hears, peers) = peers();
        assert!(peers.heard(0).is_empty());
        let [one, two] = ["one", "two\n"].map(|text| Message::Lemmas(text.to_owned()).line());
        hears.write_all(one.as_bytes()).expect("it listens");
        let (begin, rest) = two.split_at(5);
        hears.write_all(begin.as_bytes()).expect("it listens");
        let texts = |from: usize| -> Vec<String> {
            let heard = peers.heard(from).into_iter();
            heard.map(|text| text.to_string()).collect()
        };
        assert_eq!(texts(0), ["one"]);
        assert_eq!(texts(1), [""; 0]);
        hears.write_all(rest.as_bytes()).expect("it listens");
        assert_eq!(texts(1), ["two\n"]);
        assert_eq!(texts(0), ["one", "two\n"]);
        peers.tell("three");
        let mut said = [0; 64];
        let count = says.read(&mut said).expect("it has said something");
        let expected = Message::Lemmas("three".to_owned());
        assert_eq!(Message::read(&said[..count]), Some(expected));
    }

    #[test]
    fn what_is_no_message_ends_the_hearing() {
        for rubbish in ["rubbish\n", "{\"verdict\":\"sat\"}\n", "{}\n"] {
            let (_says, mut hears, peers) = peers();
            let line = Message::Lemmas("true".to_owned()).line();
            hears.write_all(line.as_bytes()).expect("it listens");
            assert_eq!(peers.heard(0).len(), 1);
            hears.write_all(rubbish.as_bytes()).expect("it listens");
            let _ = hears.write_all(line.as_bytes());
            assert_eq!(peers.heard(0).len(), 1, "{rubbish}");
            assert!(peers.inbox.borrow().pipe.is_none());
        }
        // The end of who says something is no end of the member.
        let (_says, hears, peers) = peers();
        drop(hears);
        assert!(peers.heard(0).is_empty());
    }
}
