//! The files that a run writes beside its answer.
//!
//! Invariant: such a file is created, and emptied, before the run works on the problem, so that the
//! user learns at once if it cannot be written, and does not take an old file for the new one.

use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Creates a file, or empties it.
///
/// # Errors
/// A message for the user that says why the file cannot be written.
pub fn create(path: &Path) -> Result<File, String> {
    File::create(path).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// Writes the text to a file. A failure is logged, with `what` as the name of the file's content.
pub fn write_all(mut file: File, text: &str, what: &str) {
    if let Err(error) = file.write_all(text.as_bytes()) {
        log::error!("cannot write the {what}: {error}");
    }
}
