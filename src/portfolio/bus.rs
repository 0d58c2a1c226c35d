//! The exchange of lemmas, from a member's side: it sends lemmas to its parent, which forwards them,
//! and receives those of the other members.
//!
//! Invariant: reading never blocks. After a line that is not a message, or is too long, the member
//! receives nothing more, but its run continues.

use std::cell::RefCell;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::rc::Rc;

use alphorn::run::Bus;

use super::limits::LIMITS;
use super::message::{Message, MessageWriter};
use super::process::set_nonblocking;

/// Bytes read at a time.
const CHUNK_BYTES: usize = 1 << 14;

/// The connection of a member to the other members.
pub struct MemberBus {
    writer: MessageWriter,
    inbox: RefCell<Inbox>,
}

/// The lemmas received so far.
struct Inbox {
    /// `None` when nothing more can be received.
    pipe: Option<File>,
    /// The beginning of a line whose end has not been received.
    incomplete_line: Vec<u8>,
    texts: Vec<Rc<str>>,
    /// The length of all texts.
    bytes: usize,
}

impl MemberBus {
    /// A connection that sends through `writer` and receives from `pipe`.
    pub fn new(writer: MessageWriter, pipe: File) -> MemberBus {
        let pipe = set_nonblocking(&pipe).is_ok().then_some(pipe);
        MemberBus {
            writer,
            inbox: RefCell::new(Inbox {
                pipe,
                incomplete_line: Vec::new(),
                texts: Vec::new(),
                bytes: 0,
            }),
        }
    }
}

impl Bus for MemberBus {
    fn send(&self, text: &str) {
        self.writer.send(&Message::Lemmas(text.to_owned()));
    }

    fn received(&self, from: usize) -> Vec<Rc<str>> {
        let mut inbox = self.inbox.borrow_mut();
        inbox.receive();
        inbox.texts.get(from..).unwrap_or_default().to_vec()
    }
}

impl Inbox {
    /// Reads everything that can be read without blocking.
    fn receive(&mut self) {
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut chunk) {
                Ok(count @ 1..) => {
                    let new = self.incomplete_line.len();
                    self.incomplete_line.extend_from_slice(&chunk[..count]);
                    if !self.take_lines(new) {
                        self.pipe = None;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Ok(0) | Err(_) => self.pipe = None,
            }
        }
    }

    /// Takes the complete lines; the bytes before `new` have no line break. Returns false after a line
    /// that is not a message with lemmas, and at a limit.
    fn take_lines(&mut self, new: usize) -> bool {
        let mut new = new;
        while let Some(at) = self.incomplete_line[new..].iter().position(|&b| b == b'\n') {
            let rest = self.incomplete_line.split_off(new + at + 1);
            let line = std::mem::replace(&mut self.incomplete_line, rest);
            new = 0;
            match Message::read(&line) {
                Some(Message::Lemmas(text)) if self.bytes + text.len() <= LIMITS.received_bytes => {
                    self.bytes += text.len();
                    self.texts.push(text.into());
                }
                _ => return false,
            }
        }
        self.incomplete_line.len() <= LIMITS.received_line_bytes
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A bus with the parent's ends of its pipes.
    struct Connected {
        from_member: File,
        to_member: File,
        bus: MemberBus,
    }

    fn connected() -> Connected {
        let pipe = || {
            let (reading, writing) = std::io::pipe().expect("a pipe");
            let files = [std::os::fd::OwnedFd::from(reading), writing.into()];
            files.map(File::from)
        };
        let ([from_member, messages], [inbox, to_member]) = (pipe(), pipe());
        Connected {
            from_member,
            to_member,
            bus: MemberBus::new(MessageWriter::new(messages), inbox),
        }
    }

    #[test]
    fn lines_are_received_when_they_are_complete() {
        let Connected {
            mut from_member,
            mut to_member,
            bus,
        } = connected();
        assert!(bus.received(0).is_empty());
        let [one, two] = ["one", "two\n"].map(|text| Message::Lemmas(text.to_owned()).line());
        to_member.write_all(one.as_bytes()).expect("it is open");
        let (begin, rest) = two.split_at(5);
        to_member.write_all(begin.as_bytes()).expect("it is open");
        let texts = |from: usize| -> Vec<String> {
            let received = bus.received(from).into_iter();
            received.map(|text| text.to_string()).collect()
        };
        assert_eq!(texts(0), ["one"]);
        assert_eq!(texts(1), [""; 0]);
        to_member.write_all(rest.as_bytes()).expect("it is open");
        assert_eq!(texts(1), ["two\n"]);
        assert_eq!(texts(0), ["one", "two\n"]);
        bus.send("three");
        let mut sent = [0; 64];
        let count = from_member.read(&mut sent).expect("a message was sent");
        let expected = Message::Lemmas("three".to_owned());
        assert_eq!(Message::read(&sent[..count]), Some(expected));
    }

    #[test]
    fn nothing_is_received_after_an_invalid_message() {
        for invalid in ["rubbish\n", "{\"verdict\":\"sat\"}\n", "{}\n"] {
            let Connected {
                from_member: _from_member,
                mut to_member,
                bus,
            } = connected();
            let line = Message::Lemmas("true".to_owned()).line();
            to_member.write_all(line.as_bytes()).expect("it is open");
            assert_eq!(bus.received(0).len(), 1);
            to_member.write_all(invalid.as_bytes()).expect("it is open");
            let _ = to_member.write_all(line.as_bytes());
            assert_eq!(bus.received(0).len(), 1, "{invalid}");
            assert!(bus.inbox.borrow().pipe.is_none());
        }
        // A pipe that the parent has closed is no failure.
        let Connected { to_member, bus, .. } = connected();
        drop(to_member);
        assert!(bus.received(0).is_empty());
    }
}
