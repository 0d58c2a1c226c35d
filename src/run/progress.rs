//! One line that says how a run is going, rewritten in place.
//!
//! Invariant: at most five lines a second are made, and none when nobody looks.

use std::io::Write;
use std::time::{Duration, Instant};

const PER_SECOND: u32 = 5;

/// What clears a terminal's line.
pub const CLEAR: &str = "\r\x1b[K";

/// Where the line goes.
#[derive(Default)]
pub struct Progress {
    out: Option<Box<dyn Write>>,
    last: Option<Instant>,
}

impl Progress {
    /// Lines to a terminal.
    pub fn to(out: Box<dyn Write>) -> Self {
        Progress {
            out: Some(out),
            last: None,
        }
    }

    /// Shows what `line` says, if somebody looks and the last line is old enough.
    pub fn tick(&mut self, line: impl FnOnce() -> String) {
        let Some(out) = &mut self.out else { return };
        let fresh = |last: Instant| last.elapsed() < Duration::from_secs(1) / PER_SECOND;
        if self.last.is_some_and(fresh) {
            return;
        }
        self.last = Some(Instant::now());
        // A terminal that is gone is no reason to stop.
        let _ = write!(out, "{CLEAR}{}", line()).and_then(|()| out.flush());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("no panic before").write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_second_line_waits() {
        let text = Arc::new(Mutex::new(Vec::new()));
        let mut progress = Progress::to(Box::new(Shared(text.clone())));
        progress.tick(|| "one".to_owned());
        progress.last = Instant::now().checked_add(Duration::from_secs(60));
        progress.tick(|| panic!("too early"));
        progress.last = None;
        progress.tick(|| "two".to_owned());
        let text = String::from_utf8(text.lock().expect("no panic").clone());
        assert_eq!(text, Ok(format!("{CLEAR}one{CLEAR}two")));
        Progress::default().tick(|| panic!("nobody looks"));
    }
}
