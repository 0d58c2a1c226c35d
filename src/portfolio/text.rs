//! Reads the text of the problem in the parent, which has one thread.
//!
//! Invariant: the time limit and signals also end a read while no data arrives.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Instant;

use alphorn::compression::decompressed;

use super::process::wait_readable;
use crate::cli::Source;

/// Bytes read at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// The result of reading.
#[derive(Debug, PartialEq)]
pub enum Input {
    /// The whole text.
    Text(Vec<u8>),
    /// A message for the user that says why the text cannot be read.
    Error(String),
    /// The time limit was reached first.
    Timeout,
    /// A signal that ends the run arrived first.
    Signal,
}

/// Reads a file or standard input to its end, and decompresses a compressed text, until `deadline`, or until the descriptor `signals` can
/// be read.
pub fn read(source: &Source, deadline: Option<Instant>, signals: RawFd) -> Input {
    let read = match source {
        // Opening a named pipe would otherwise block until another process opens it for writing.
        Source::File(path) => OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(path)
            .and_then(|file| read_all(file, deadline, signals)),
        Source::Stdin => read_all(Stdin, deadline, signals),
    };
    let expanded = read.and_then(|input| match input {
        Input::Text(bytes) => decompressed(bytes).map(Input::Text),
        other => Ok(other),
    });
    expanded.unwrap_or_else(|error| {
        Input::Error(match source {
            Source::File(path) => format!("cannot read {}: {error}", path.display()),
            Source::Stdin => format!("cannot read standard input: {error}"),
        })
    })
}

/// Standard input without a buffer, so that `poll` sees all data that has not been read.
struct Stdin;

impl Read for Stdin {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        // SAFETY: writes into the slice, at most its length.
        let count = unsafe { libc::read(libc::STDIN_FILENO, to.as_mut_ptr().cast(), to.len()) };
        usize::try_from(count).map_err(|_| io::Error::last_os_error())
    }
}

impl AsRawFd for Stdin {
    fn as_raw_fd(&self) -> RawFd {
        libc::STDIN_FILENO
    }
}

fn read_all(
    mut from: impl Read + AsRawFd,
    deadline: Option<Instant>,
    signals: RawFd,
) -> io::Result<Input> {
    let mut text = Vec::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
        let ready = wait_readable(&[from.as_raw_fd(), signals], left)?;
        if ready[1] {
            return Ok(Input::Signal);
        }
        if ready[0] {
            match from.read(&mut chunk) {
                Ok(0) => return Ok(Input::Text(text)),
                Ok(count) => text.extend_from_slice(&chunk[..count]),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
        } else if left.is_some_and(|left| left.is_zero()) {
            return Ok(Input::Timeout);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use super::*;

    #[test]
    fn reads_until_the_end_a_limit_or_a_signal() {
        let (signals, mut signalling) = UnixStream::pair().expect("a pair");
        let (from, mut to) = UnixStream::pair().expect("a pair");
        to.write_all(b"(check").expect("it is open");
        let soon = Some(Instant::now() + Duration::from_millis(20));
        let again = || from.try_clone().expect("it is open");
        let stopped = read_all(again(), soon, signals.as_raw_fd());
        assert_eq!(stopped.expect("no error"), Input::Timeout);
        let text = vec![b'x'; 3 * CHUNK_BYTES + 1];
        let writer = {
            let text = text.clone();
            std::thread::spawn(move || to.write_all(&text))
        };
        let read = read_all(again(), None, signals.as_raw_fd());
        assert_eq!(read.expect("no error"), Input::Text(text));
        writer.join().expect("no panic").expect("it was read");
        signalling.write_all(b"!").expect("it is open");
        let (silent, _open) = UnixStream::pair().expect("a pair");
        let stopped = read_all(silent, None, signals.as_raw_fd());
        assert_eq!(stopped.expect("no error"), Input::Signal);
    }

    #[test]
    fn an_error_names_the_file() {
        let (signals, _open) = UnixStream::pair().expect("a pair");
        let source = Source::File("/no/such/file".into());
        let Input::Error(message) = read(&source, None, signals.as_raw_fd()) else {
            panic!("there is no such file");
        };
        assert!(
            message.starts_with("cannot read /no/such/file: No such"),
            "{message}"
        );
        let source = Source::File("/".into());
        let Input::Error(message) = read(&source, None, signals.as_raw_fd()) else {
            panic!("this is a folder");
        };
        assert!(message.contains("directory"), "{message}");
    }
}
