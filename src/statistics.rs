//! Counts and times as they are printed at the end of a run.
//!
//! Invariant: whatever the format, a name has one number; counts are integers, times are not.

use alphorn::run::Statistics;
use serde_json::{Map, Value};

use crate::cli::Format;

/// The name under which the most memory that was in use is printed.
const PEAK: &str = "memory.peak.kib";

/// Counts and times by name, and the memory of this process.
pub fn numbers(stats: &Statistics) -> Map<String, Value> {
    let mut object = Map::new();
    let counts = stats.counts();
    object.extend(counts.map(|(name, count)| (name.to_owned(), count.into())));
    let times = stats.times();
    object.extend(times.map(|(name, time)| (name.to_owned(), time.into())));
    let texts = stats.texts();
    object.extend(texts.map(|(name, text)| (name.to_owned(), text.into())));
    object.insert(PEAK.to_owned(), peak_memory_kib().into());
    object
}

/// The lines of texts, counts and times, in this order, or one object.
pub fn render(numbers: &Map<String, Value>, format: Format) -> String {
    match format {
        Format::Json => Value::Object(numbers.clone()).to_string(),
        Format::Text => {
            let (mut texts, mut lines) = (Vec::new(), Vec::new());
            let (mut times, mut last) = (Vec::new(), Vec::new());
            for (name, value) in numbers {
                match value {
                    Value::Number(time) if time.is_f64() => {
                        let time = time.as_f64().unwrap_or_default();
                        times.push(format!("{name} = {time:.3}"));
                    }
                    Value::String(text) => texts.push(format!("{name} = {text}")),
                    _ if name == PEAK => last.push(format!("{name} = {value}")),
                    _ => lines.push(format!("{name} = {value}")),
                }
            }
            let all = [texts, lines, times, last];
            all.concat().join("\n")
        }
    }
}

fn peak_memory_kib() -> u64 {
    // SAFETY: getrusage fills the struct it is given.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    u64::try_from(usage.ru_maxrss).unwrap_or(0)
}
