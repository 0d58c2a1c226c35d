//! The statistics of a run as they are printed at its end.
//!
//! Invariant: in both formats a name has one number; counts are integers, times are floating-point
//! numbers of seconds.

use alphorn::record::PEAK_MEMORY;
use serde_json::{Map, Value};

use crate::cli::Format;

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
                    Value::Array(members) => last.extend(members.iter().map(member_line)),
                    _ if name == PEAK_MEMORY => last.push(format!("{name} = {value}")),
                    _ => lines.push(format!("{name} = {value}")),
                }
            }
            let all = [texts, lines, times, last];
            all.concat().join("\n")
        }
    }
}

/// How a member of a portfolio ended, as a line.
fn member_line(member: &Value) -> String {
    let text = |name: &str| member[name].as_str().unwrap_or_default().to_owned();
    let seconds = member["seconds"].as_f64().unwrap_or_default();
    let (number, outcome, command) = (&member["member"], text("outcome"), text("command"));
    format!("portfolio.{number} = {outcome}, {seconds:.3} s: {command}")
}
