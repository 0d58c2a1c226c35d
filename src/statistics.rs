//! The statistics of a run: counts and times, as they are printed at its end.
//!
//! Invariant: in both formats a name has one number; counts are integers, times are floating-point
//! numbers of seconds.

use alphorn::run::Statistics;
use serde_json::{Map, Value};

use crate::cli::Format;

/// The name of the peak memory.
const PEAK: &str = "memory.peak.kib";

/// Counts, times in seconds, and the peak memory of this process, by name.
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

/// The numbers as text: one JSON object, or a line for each: texts, counts, times, and the peak
/// memory.
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

/// The largest resident set of this process so far.
fn peak_memory_kib() -> u64 {
    // SAFETY: the pointer is to a struct of ours, which getrusage fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    u64::try_from(usage.ru_maxrss).unwrap_or(0)
}
