//! The state of a run as JSON, with which answers are pickled, and which the answers of the program are
//! made from.
//!
//! Invariant: [`read`] makes of what [`write`] returned a run with the same public values; of an object
//! without optional parts it makes a run without them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{Phase, Printed, Run, Span, Statistics, record};

/// The state of a run.
pub fn write(run: &Run) -> Value {
    let spans = run.spans.iter().map(|span| {
        let kind = match span.kind {
            Phase::Pass => "pass",
            Phase::Engine => "engine",
            Phase::Check => "check",
        };
        json!([
            kind,
            span.name,
            span.depth,
            span.start.as_secs_f64(),
            span.length.as_secs_f64()
        ])
    });
    let stats = &run.stats;
    let counts: Map<String, Value> = stats
        .counts()
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect();
    let times: Map<String, Value> = stats
        .times()
        .map(|(name, time)| (name.to_owned(), time.into()))
        .collect();
    let texts: Map<String, Value> = stats
        .texts()
        .map(|(name, text)| (name.to_owned(), text.into()))
        .collect();
    json!({
        "verdict": run.verdict,
        "dialect": run.dialect,
        "satisfiable": run.printed.satisfiable,
        "reason": run.printed.reason,
        "model": run.printed.model,
        "refutation": run.printed.refutation,
        "refutation_text": run.refutation_text,
        "certificate": run.certificate,
        "sorts": run.sorts,
        "predicates": run.predicates,
        "total": run.total,
        "timeout": run.limits.timeout.map(|limit| limit.as_secs_f64()),
        "memory_mib": run.limits.memory_mib,
        "deterministic": run.limits.deterministic,
        "jobs": run.limits.jobs,
        "counts": counts,
        "times": times,
        "texts": texts,
        "spans": spans.collect::<Vec<Value>>(),
    })
}

/// The run with this state; `None` if it is none.
pub fn read(text: Arc<[u8]>, state: &str) -> Option<Run> {
    let state: Value = serde_json::from_str(state).ok()?;
    let string = |name: &str| state[name].as_str().unwrap_or_default().to_owned();
    let optional = |name: &str| state[name].as_str().map(str::to_owned);
    let mut stats = Statistics::default();
    for (name, count) in state["counts"].as_object().into_iter().flatten() {
        stats.set(name, count.as_u64()?);
    }
    for (name, time) in state["times"].as_object().into_iter().flatten() {
        stats.add_time(name, seconds(time)?);
    }
    for (name, text) in state["texts"].as_object().into_iter().flatten() {
        stats.set_text(name, text.as_str()?);
    }
    let predicates = state["predicates"].as_array().into_iter().flatten();
    let predicates = predicates.map(|pair| {
        let sorts = pair[1].as_array()?.iter();
        let sorts = sorts.map(|sort| sort.as_str().map(str::to_owned));
        Some((pair[0].as_str()?.to_owned(), sorts.collect::<Option<_>>()?))
    });
    let dialect = optional("dialect");
    Some(Run {
        text,
        verdict: state["verdict"].as_str()?.to_owned(),
        fixedpoint: dialect.as_deref().map(|dialect| dialect == "fixedpoint"),
        dialect,
        refutation_text: string("refutation_text"),
        certificate: optional("certificate"),
        sorts: string("sorts"),
        predicates: predicates.collect::<Option<_>>()?,
        total: state["total"].as_f64()?,
        messages: Vec::new(),
        printed: Printed {
            satisfiable: state["satisfiable"].as_bool(),
            reason: optional("reason"),
            model: string("model"),
            refutation: string("refutation"),
        },
        limits: record::Limits {
            timeout: match &state["timeout"] {
                Value::Null => None,
                limit => Some(seconds(limit)?),
            },
            memory_mib: state["memory_mib"].as_u64(),
            deterministic: state["deterministic"].as_bool().unwrap_or(false),
            jobs: state["jobs"]
                .as_u64()
                .and_then(|jobs| jobs.try_into().ok())
                .unwrap_or(1),
        },
        stats,
        spans: spans(&state["spans"])?,
    })
}

fn seconds(value: &Value) -> Option<Duration> {
    Duration::try_from_secs_f64(value.as_f64()?).ok()
}

fn spans(list: &Value) -> Option<Vec<Span>> {
    let list = list.as_array().into_iter().flatten();
    let spans = list.map(|span| {
        Some(Span {
            kind: match span[0].as_str()? {
                "pass" => Phase::Pass,
                "engine" => Phase::Engine,
                "check" => Phase::Check,
                _ => return None,
            },
            name: interned(span[1].as_str()?),
            depth: span[2].as_u64()?.try_into().ok()?,
            start: seconds(&span[3])?,
            length: seconds(&span[4])?,
        })
    });
    spans.collect()
}

/// The name with a static lifetime. There are few of them: those of passes, engines and checks.
fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    match names.get(name) {
        Some(known) => known,
        None => {
            let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
            names.insert(name);
            name
        }
    }
}
