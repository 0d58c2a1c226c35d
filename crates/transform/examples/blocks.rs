//! Prints the small-block version of a file's clauses as SMT-LIB (`scripts/blocks`).
//!
//! Usage: `blocks FILE`. The status of what is printed is that of the file.

use std::io::Write as _;
use std::process::ExitCode;
use std::rc::Rc;

use alphorn_chc::frontend::parse;
use alphorn_chc::to_smtlib;
use alphorn_samples::blocks::small_blocks;
use alphorn_term::TermStore;
use alphorn_transform::normalize;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (Some(path), None) = (words.next(), words.next()) else {
        eprintln!("usage: blocks FILE");
        return ExitCode::from(2);
    };
    match printed(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("blocks: {path}: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the small-block version of the file.
///
/// # Errors
/// Why it cannot be read or printed.
fn printed(path: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let problem = parse(&text, Rc::new(TermStore::new())).map_err(|error| error.to_string())?;
    let (system, _) = normalize(&problem);
    let output = to_smtlib(&small_blocks(&system));
    let mut out = std::io::stdout();
    out.write_all(output.as_bytes())
        .map_err(|error| error.to_string())
}
