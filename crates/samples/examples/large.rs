//! Prints a large planted system in small blocks, for measurements (`scripts/growth`).
//!
//! Usage: `large FAMILY SIZE [safe|unsafe] [SEED]`.

use std::io::Write as _;
use std::process::ExitCode;

use alphorn_samples::large::{Family, text};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let family = words.first().and_then(|name| Family::find(name));
    let size = words.get(1).and_then(|size| size.parse::<usize>().ok());
    let safe = match words.get(2).map_or("safe", String::as_str) {
        "safe" => Some(true),
        "unsafe" => Some(false),
        _ => None,
    };
    let seed = words.get(3).map_or(Some(1), |seed| seed.parse().ok());
    let (Some(family), Some(size @ 1..), Some(safe), Some(seed)) = (family, size, safe, seed)
    else {
        let names: Vec<&str> = Family::ALL.iter().map(|f| f.0).collect();
        eprintln!("usage: large FAMILY SIZE [safe|unsafe] [SEED]");
        eprintln!("families: {}", names.join(" "));
        return ExitCode::from(2);
    };
    match std::io::stdout().write_all(text(family, size, safe, seed).as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
