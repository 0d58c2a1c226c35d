//! What a run writes: standard output, and files beside its answer.
//!
//! Invariant: what cannot be written has a line on standard error, and the caller learns of it. A
//! file is created, and emptied, before the run works on the problem, so that the
//! user learns at once if it cannot be written, and does not take an old file for the new one.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::supervise::diagnose;

/// The exit status of a run whose answer or a file beside it could not be written.
pub const UNWRITTEN: i32 = 4;

/// Creates a file, or empties it.
///
/// # Errors
/// A message for the user that says why the file cannot be written.
pub fn create(path: &Path) -> Result<File, String> {
    File::create(path).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// Writes the text to a file. Returns whether this succeeded; otherwise a line on standard error, with
/// `what` as the name of the file's content, says why not.
#[must_use]
pub fn write_all(mut file: File, text: &str, what: &str) -> bool {
    match file.write_all(text.as_bytes()) {
        Ok(()) => true,
        Err(error) => {
            diagnose(&format!("alphorn: cannot write the {what}: {error}"));
            false
        }
    }
}

/// Writes to standard output and flushes. Returns whether this succeeded; otherwise a line on standard
/// error says why not. A reader that has closed its end is no failure.
#[must_use]
pub fn print(parts: &[&str]) -> bool {
    let mut out = std::io::stdout().lock();
    let mut write = || {
        for part in parts {
            out.write_all(part.as_bytes())?;
        }
        out.flush()
    };
    match write() {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => true,
        Err(error) => {
            diagnose(&format!(
                "alphorn: cannot write to standard output: {error}"
            ));
            false
        }
    }
}
