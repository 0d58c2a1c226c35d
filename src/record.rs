//! The answer of a run as one object of JSON, for programs that read it.
//!
//! The program prints it with `--output=json`, and Python has it as `Answer.to_dict()`. Its parts are
//! described in `docs/src/answer.schema.json` ([`SCHEMA`]).
//!
//! Invariant: every object is valid for the schema, whether the run had an answer, was stopped, or
//! could not read its input. The verdict is the one that is printed.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::report::Printed;
use alphorn_chc::frontend::{Dialect, Problem};
use alphorn_smt::text::z3_version;
use alphorn_term::run::Statistics;

/// The JSON schema of the object.
pub const SCHEMA: &str = include_str!("../docs/src/answer.schema.json");

/// The number of the schema, which grows when a part changes its meaning or goes away.
const FORMAT: u32 = 1;

/// The name of the peak memory among the numbers.
pub const PEAK_MEMORY: &str = "memory.peak.kib";

/// What bounds a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The time limit.
    pub timeout: Option<Duration>,
    /// The memory limit.
    pub memory_mib: Option<u64>,
    /// Whether the time limit counts work; then the object has no times and no memory, so that it is
    /// the same on every machine.
    pub deterministic: bool,
    /// How many members of the portfolio may run at a time.
    pub jobs: usize,
}

/// How a run ended.
#[derive(Clone, Copy, Debug)]
pub enum Ending<'a> {
    /// With this verdict as it is printed, and for an `unknown` the reason.
    Verdict(&'a str, Option<&'a str>),
    /// With an error in the input or the options.
    Error(&'a str),
}

/// What a run knows of its problem and of the witness of its answer.
///
/// `with_witness` says whether the witness is part of it.
pub fn found(problem: &Problem, answer: &Printed, with_witness: bool) -> Value {
    found_of(Some(dialect(problem.dialect)), answer, with_witness)
}

/// The name of a dialect in the object.
pub fn dialect(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Horn => "horn",
        Dialect::Fixedpoint => "fixedpoint",
        Dialect::Goal => "goal",
    }
}

/// The same for a problem of which only the dialect is known.
pub fn found_of(dialect: Option<&str>, answer: &Printed, with_witness: bool) -> Value {
    let witness = match answer.satisfiable {
        Some(true) if with_witness => json!({"kind": "model", "text": answer.model}),
        Some(false) if with_witness => refutation(&answer.refutation),
        _ => Value::Null,
    };
    json!({"dialect": dialect, "safe": answer.satisfiable, "witness": witness})
}

/// The witness of a refutation that was printed as JSON.
fn refutation(text: &str) -> Value {
    let read: Value = serde_json::from_str(text).unwrap_or_default();
    let list = |name: &str| match &read[name] {
        Value::Array(list) => Value::Array(list.clone()),
        _ => json!([]),
    };
    json!({"kind": "refutation", "steps": list("refutation"), "measures": list("measures")})
}

/// The object of a run. `found` is what [`found()`] has made, unless the run ended before it knew it;
/// `total` is how long it took, and `numbers` are its statistics ([`numbers()`]).
pub fn object(
    source: &str,
    limits: &Limits,
    ending: Ending<'_>,
    found: Option<&Value>,
    total: Duration,
    numbers: &Map<String, Value>,
) -> Value {
    let (verdict, reason, error) = match ending {
        Ending::Verdict(verdict, reason) => (Some(verdict), reason, Value::Null),
        Ending::Error(message) => (None, None, error_object(message)),
    };
    let known = |name: &str| found.map_or(Value::Null, |found| found[name].clone());
    let timed = !limits.deterministic;
    json!({
        "format": FORMAT,
        "alphorn": env!("CARGO_PKG_VERSION"),
        "libz3": z3_version(),
        "source": source,
        "verdict": verdict,
        "safe": known("safe"),
        "reason": reason.filter(|_| verdict == Some("unknown")),
        "error": error,
        "dialect": known("dialect"),
        "shape": shape(numbers),
        "answered_by": answered_by(numbers),
        "witness": known("witness"),
        "checks": {
            "passed": found.is_some_and(|found| found["safe"].is_boolean()),
            "failed": count(numbers, "witness.failures"),
            "undecided": count(numbers, "witness.undecided"),
        },
        "limits": {
            "seconds": limits.timeout.map(|limit| limit.as_secs_f64()),
            "memory_mib": limits.memory_mib,
            "deterministic": limits.deterministic,
            "jobs": limits.jobs,
        },
        "times": timed.then(|| json!({
            "total": total.as_secs_f64(),
            "reading": numbers.get("frontend.seconds"),
            "engine": numbers.get("answer.seconds"),
            "check": numbers.get("answer.check.seconds"),
        })),
        "memory_kib": numbers.get(PEAK_MEMORY).filter(|_| timed),
        "statistics": statistics(numbers, timed),
    })
}

/// An object without its witness and statistics, which is valid for the schema, too.
pub fn summary(mut object: Value) -> Value {
    object["witness"] = Value::Null;
    object["statistics"] = json!({});
    object
}

/// The features of the clauses, by which turns of engines are chosen; null where they are not known.
fn shape(numbers: &Map<String, Value>) -> Value {
    let named = |(name, value): (&String, &Value)| {
        let name = name.strip_prefix("shape.")?;
        Some((name.replace('-', "_"), value.clone()))
    };
    let found: Map<String, Value> = numbers.iter().filter_map(named).collect();
    if found.is_empty() {
        return Value::Null;
    }
    Value::Object(found)
}

/// The engine that answered; null for no engine.
fn answered_by(numbers: &Map<String, Value>) -> Value {
    let Some(engine) = numbers.get("answer.engine") else {
        return Value::Null;
    };
    let lemmas = numbers.get("answer.lemmas").and_then(Value::as_str);
    let lemmas = lemmas.filter(|&names| names != "no engine");
    let lemmas: Vec<&str> = lemmas
        .map(|names| names.split(", ").collect())
        .unwrap_or_default();
    json!({"engine": engine, "stage": numbers.get("answer.stage"), "lemmas_of": lemmas})
}

fn count(numbers: &Map<String, Value>, name: &str) -> u64 {
    numbers.get(name).and_then(Value::as_u64).unwrap_or(0)
}

/// Numbers and texts by name; without times and memory if they are not to be shown.
fn statistics(numbers: &Map<String, Value>, timed: bool) -> Value {
    let shown = numbers.iter().filter(|(name, value)| {
        let plain = value.is_number() || value.is_string();
        plain && (timed || !value.is_f64() && *name != PEAK_MEMORY)
    });
    Value::Object(
        shown
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}

/// An error with its place in the input, if it has one.
fn error_object(message: &str) -> Value {
    let place = || {
        let (line, rest) = message.strip_prefix("line ")?.split_once(" column ")?;
        let (column, text) = rest.split_once(": ")?;
        Some((line.parse::<u64>().ok()?, column.parse::<u64>().ok()?, text))
    };
    match place() {
        Some((line, column, text)) => json!({"message": text, "line": line, "column": column}),
        None => json!({"message": message, "line": null, "column": null}),
    }
}

/// Counts, times in seconds, texts, and the peak memory of this process, by name.
pub fn numbers(stats: &Statistics) -> Map<String, Value> {
    let mut object = Map::new();
    let counts = stats.counts();
    object.extend(counts.map(|(name, count)| (name.to_owned(), count.into())));
    let times = stats.times();
    object.extend(times.map(|(name, time)| (name.to_owned(), time.into())));
    let texts = stats.texts();
    object.extend(texts.map(|(name, text)| (name.to_owned(), text.into())));
    object.insert(PEAK_MEMORY.to_owned(), peak_memory_kib().into());
    object
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_place() {
        assert_eq!(
            error_object("line 3 column 7: `P` is not declared"),
            json!({"message": "`P` is not declared", "line": 3, "column": 7})
        );
        assert_eq!(
            error_object("cannot read x: line 3"),
            json!({"message": "cannot read x: line 3", "line": null, "column": null})
        );
    }

    #[test]
    fn a_deterministic_object_has_nothing_that_depends_on_the_machine() {
        let mut numbers = Map::new();
        numbers.insert("pdr.lemmas".to_owned(), 3.into());
        numbers.insert("answer.engine".to_owned(), "pdr".into());
        numbers.insert("answer.seconds".to_owned(), 0.25.into());
        numbers.insert(PEAK_MEMORY.to_owned(), 1000.into());
        let ending = Ending::Verdict("sat", None);
        let make = |deterministic| {
            let limits = Limits {
                deterministic,
                jobs: 1,
                ..Limits::default()
            };
            object("f", &limits, ending, None, Duration::from_secs(1), &numbers)
        };
        let (timed, counted) = (make(false), make(true));
        assert_eq!(timed["times"]["engine"], 0.25);
        assert_eq!(timed["memory_kib"], 1000);
        assert_eq!(counted["times"], Value::Null);
        assert_eq!(counted["memory_kib"], Value::Null);
        assert_eq!(
            counted["statistics"],
            json!({"pdr.lemmas": 3, "answer.engine": "pdr"})
        );
        assert_eq!(summary(timed)["statistics"], json!({}));
    }
}
