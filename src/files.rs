//! Files that a run writes besides its answer.
//!
//! Invariant: such a file is made, and emptied, before the work, so that who cannot have it knows at
//! once, and what an earlier run wrote is not taken for this one's.

use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Makes a file.
///
/// # Errors
/// A message that says why it cannot be written.
pub fn create(path: &Path) -> Result<File, String> {
    File::create(path).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// Fills a file; `what` is its name in a complaint.
pub fn write_all(mut file: File, text: &str, what: &str) {
    if let Err(error) = file.write_all(text.as_bytes()) {
        log::error!("cannot write the {what}: {error}");
    }
}
