//! The native part of the Python package: runs of the library.
//!
//! A run has its own thread. The thread that started it waits without the interpreter's lock, and
//! checks the limits of the run periodically.
//!
//! Invariant: a run returns only data without terms or Z3 objects, and every outcome of it, also a
//! panic, becomes a value or an exception.

mod messages;
mod runs;
mod state;

use std::borrow::Cow;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use alphorn::cache::Cache;
use alphorn::frontend::{Dialect, InputError, Problem, parse_bytes};
use alphorn::record::{self, Ending};
use alphorn::report::{Page, Printed, explanation};
use alphorn::run::{Budget, Context, Phase, Span, Statistics};
use alphorn::term::{Printer, TermStore};
use alphorn::witness::{CheckOutcome, ProofFormat, Wanted, check_claim, parse_witness};
use alphorn::{Config, ConfigError};
use log::LevelFilter;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::messages::Message;
use crate::runs::Limits;

/// An error of a run.
enum Failure {
    /// The text is not a problem.
    Input(InputError),
    /// The configuration has an unknown name or an invalid value.
    Config(ConfigError),
    /// The witness cannot be read.
    Witness(String),
    /// The folder of the cache cannot be used.
    Cache(std::io::Error),
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Failure::Input(error)
    }
}

impl Failure {
    /// The exception that the caller gets.
    fn exception(self, py: Python<'_>) -> PyErr {
        match self {
            Failure::Input(error) => {
                let message = error.message();
                exception(py, "InputError", |class| {
                    class.call1((message, error.line, error.column))
                })
            }
            Failure::Witness(message) => {
                exception(py, "WitnessError", |class| class.call1((message,)))
            }
            Failure::Cache(error) => error.into(),
            Failure::Config(error) => PyValueError::new_err(error.to_string()),
        }
    }
}

/// The exception for a defect of alphorn.
fn defect(py: Python<'_>, message: &str) -> PyErr {
    exception(py, "Defect", |class| class.call1((message,)))
}

/// An exception of the package, by its name; `make` calls its class.
fn exception<'py>(
    py: Python<'py>,
    name: &str,
    make: impl FnOnce(Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
) -> PyErr {
    let module = py.import("alphorn._errors");
    match module
        .and_then(|module| module.getattr(name))
        .and_then(make)
    {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// A run that has ended.
#[pyclass(frozen, module = "alphorn._native")]
struct Run {
    text: Arc<[u8]>,
    /// The verdict as the program prints it.
    #[pyo3(get)]
    verdict: String,
    /// Whether the text is in the fixedpoint dialect; `None` for a run that did not stop in time.
    #[pyo3(get)]
    fixedpoint: Option<bool>,
    /// The form of the text, as in the answer as JSON.
    dialect: Option<String>,
    /// The refutation as text; empty for another answer.
    #[pyo3(get)]
    refutation_text: String,
    /// The certificate, if one was wanted and exists.
    #[pyo3(get)]
    certificate: Option<String>,
    /// The declarations and definitions of sorts in the text.
    #[pyo3(get)]
    sorts: String,
    /// The predicates with the sorts of their arguments.
    #[pyo3(get)]
    predicates: Vec<(String, Vec<String>)>,
    /// How long the run took, in seconds.
    #[pyo3(get)]
    total: f64,
    /// The log messages: level, target and text.
    #[pyo3(get)]
    messages: Vec<Message>,
    printed: Printed,
    limits: record::Limits,
    stats: Statistics,
    spans: Vec<Span>,
}

#[pymethods]
impl Run {
    /// The object that describes the answer, as the program prints it with `--output=json`.
    fn record(&self, source: &str) -> String {
        let dialect = self.dialect.as_deref();
        let found = self.fixedpoint;
        let found = found.map(|_| record::found_of(dialect, &self.printed, true));
        let reason = self.printed.reason.as_deref();
        let ending = Ending::Verdict(&self.verdict, reason);
        let total = Duration::from_secs_f64(self.total);
        let numbers = record::numbers(&self.stats);
        record::object(
            source,
            &self.limits,
            ending,
            found.as_ref(),
            total,
            &numbers,
        )
        .to_string()
    }

    /// The answer in words.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        let (text, printed) = (self.text.clone(), self.printed.clone());
        let ended = runs::run(py, &no_limits(), move |_| {
            let problem = parse_bytes(&text, Rc::new(TermStore::new()))?;
            Ok::<_, Failure>(explanation(&problem, &printed))
        })?;
        match ended.result {
            Some(Ok(text)) => Ok(text),
            Some(Err(failure)) => Err(failure.exception(py)),
            None => Err(defect(py, "the explanation could not be made")),
        }
    }

    /// The text of the problem.
    #[getter]
    fn content(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.text)
    }

    /// The run as JSON, from which `Run.from_state` makes it again.
    fn state(&self) -> String {
        state::write(self).to_string()
    }

    /// The run with the state that `state` has returned, and the text that it is about.
    #[staticmethod]
    fn from_state(text: Vec<u8>, state: &str) -> PyResult<Run> {
        state::read(text.into(), state)
            .ok_or_else(|| PyValueError::new_err("this is not the state of a run"))
    }

    /// Whether the clauses have a model; `None` for an `unknown`.
    #[getter]
    fn satisfiable(&self) -> Option<bool> {
        self.printed.satisfiable
    }

    /// The reason of an `unknown`.
    #[getter]
    fn reason(&self) -> Option<&str> {
        self.printed.reason.as_deref()
    }

    /// The model as text; empty for another answer.
    #[getter]
    fn model(&self) -> &str {
        &self.printed.model
    }

    /// The refutation as JSON; empty for another answer.
    #[getter]
    fn refutation_json(&self) -> &str {
        &self.printed.refutation
    }

    /// The statistics: counts, and times in seconds, by name.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, count) in self.stats.counts() {
            dict.set_item(name, count)?;
        }
        for (name, seconds) in self.stats.times() {
            dict.set_item(name, seconds)?;
        }
        Ok(dict)
    }

    /// The report as HTML: a fragment whose ids begin with `marks`, or without `marks` a whole page.
    #[pyo3(signature = (source, marks=None))]
    fn html(&self, py: Python<'_>, source: String, marks: Option<String>) -> PyResult<String> {
        let (text, printed, stats) = (self.text.clone(), self.printed.clone(), self.stats.clone());
        let (spans, total) = (self.spans.clone(), Duration::from_secs_f64(self.total));
        let ended = runs::run(py, &no_limits(), move |_| {
            let problem = parse_bytes(&text, Rc::new(TermStore::new()))?;
            let page = Page {
                source: &source,
                problem: &problem,
                answer: &printed,
                stats: &stats,
                spans: &spans,
                total,
            };
            Ok::<_, Failure>(match marks {
                Some(marks) => page.fragment(&marks),
                None => page.html(),
            })
        })?;
        match ended.result {
            Some(Ok(html)) => Ok(html),
            Some(Err(failure)) => Err(failure.exception(py)),
            None => Err(defect(py, "the report could not be made")),
        }
    }
}

/// A run without limits, for what takes little time.
fn no_limits<'py>() -> Limits<'py> {
    Limits {
        timeout: None,
        memory_mib: None,
        stop: None,
        level: LevelFilter::Off,
    }
}

/// What the thread of a run returns. The fields are those of [`Run`].
struct Solved {
    verdict: String,
    fixedpoint: Option<bool>,
    dialect: Option<String>,
    refutation_text: String,
    certificate: Option<String>,
    sorts: String,
    predicates: Predicates,
    printed: Printed,
    stats: Statistics,
    spans: Vec<Span>,
}

/// What is wanted of a run beside the answer.
struct Wants {
    certificate: bool,
    /// The folder of the cache.
    cache: Option<PathBuf>,
}

/// Reads a text, and makes a context with the limits of the caller and of the text.
fn read(
    text: &[u8],
    interrupt: Arc<AtomicBool>,
    timeout: Option<Duration>,
    deterministic: bool,
) -> Result<(Problem, Context), InputError> {
    let started = Instant::now();
    let terms = Rc::new(TermStore::new());
    let problem = parse_bytes(text, terms.clone())?;
    let mut budget = Budget::new(terms.clone(), interrupt, deterministic);
    if let Some(limit) = timeout {
        budget = budget.since(started, limit);
    }
    if let Some(limit) = problem.requests.timeout_ms {
        budget = budget.time(Duration::from_millis(limit));
    }
    Ok((problem, Context::with_budget(terms, budget)))
}

/// Solves a text in the thread of a run.
fn solve_text(
    text: &[u8],
    config: &Config,
    wants: &Wants,
    interrupt: Arc<AtomicBool>,
    timeout: Option<Duration>,
    deterministic: bool,
) -> Result<Solved, Failure> {
    let (problem, mut cx) = read(text, interrupt, timeout, deterministic)?;
    let answer = match &wants.cache {
        Some(folder) => Cache::open(folder)
            .map_err(Failure::Cache)?
            .solve(&problem, config, &mut cx),
        None => alphorn::solve(&problem, config, &mut cx),
    };
    let answer = answer.map_err(Failure::Config)?;
    let certificate = (wants.certificate && answer.reason().is_none())
        .then(|| answer.certificate(&problem, &cx.budget));
    let certificate = certificate.and_then(|made| {
        made.inspect_err(|why| log::warn!("there is no certificate: {why}"))
            .ok()
    });
    let wanted = Wanted {
        proof: Some(ProofFormat::Text),
        ..Wanted::default()
    };
    let output = answer.output(&problem, wanted);
    let (sorts, predicates) = declarations(&problem);
    Ok(Solved {
        verdict: output.word().to_owned(),
        fixedpoint: Some(problem.dialect == Dialect::Fixedpoint),
        dialect: Some(record::dialect(problem.dialect).to_owned()),
        refutation_text: output.details().to_owned(),
        certificate,
        sorts,
        predicates,
        printed: Printed::new(&problem, &answer),
        stats: cx.stats.clone(),
        spans: cx.timeline.spans().to_vec(),
    })
}

/// The predicates of a problem with the sorts of their arguments.
type Predicates = Vec<(String, Vec<String>)>;

/// The commands of a problem that declare or define sorts, and its predicates.
fn declarations(problem: &Problem) -> (String, Predicates) {
    let sorts = problem.commands.iter().filter(|command| {
        let keyword = command.keyword.as_str();
        keyword.starts_with("declare-datatype") || keyword.ends_with("-sort")
    });
    let sorts: Vec<&str> = sorts
        .map(|command| &problem.text[command.range.clone()])
        .collect();
    let printer = Printer::new(&problem.terms);
    let predicates = problem.predicates.iter().map(|predicate| {
        let sorts = predicate.params.iter();
        let sorts = sorts.map(|&param| printer.sort(problem.terms.sort_of(param)));
        (predicate.name.clone(), sorts.collect())
    });
    (sorts.join("\n"), predicates.collect())
}

/// The declarations in a text: its sorts, and its predicates with the sorts of their arguments.
#[pyfunction]
fn outline(py: Python<'_>, text: Vec<u8>) -> PyResult<(String, Predicates)> {
    let ended = runs::run(py, &no_limits(), move |_| {
        let problem = parse_bytes(&text, Rc::new(TermStore::new()))?;
        Ok::<_, Failure>(declarations(&problem))
    })?;
    match ended.result {
        Some(Ok(found)) => Ok(found),
        Some(Err(failure)) => Err(failure.exception(py)),
        None => Err(defect(py, "the text was not read")),
    }
}

/// The text in compressed data, or other data as they are.
#[pyfunction]
fn decompressed(data: Vec<u8>) -> PyResult<Vec<u8>> {
    Ok(alphorn::compression::decompressed(data)?)
}

/// A time limit as a duration.
fn seconds(timeout: Option<f64>) -> PyResult<Option<Duration>> {
    match timeout {
        Some(seconds) if seconds.is_nan() || seconds <= 0.0 => {
            Err(PyValueError::new_err("a time limit must be positive"))
        }
        // Longer limits are cut off at about 30 years.
        Some(seconds) => Ok(Some(Duration::from_secs_f64(seconds.min(1e9)))),
        None => Ok(None),
    }
}

/// Solves a text.
#[pyfunction]
#[pyo3(signature = (text, *, timeout, memory, deterministic, engine, without, passes, settings,
                    plain_model, certificate, cache, stop, level))]
#[allow(clippy::too_many_arguments)] // the options, which Python gives by name
fn solve(
    py: Python<'_>,
    text: Vec<u8>,
    timeout: Option<f64>,
    memory: Option<u64>,
    deterministic: bool,
    engine: String,
    without: Vec<String>,
    passes: Option<String>,
    settings: Vec<String>,
    plain_model: bool,
    certificate: bool,
    cache: Option<PathBuf>,
    stop: Option<Bound<'_, PyAny>>,
    level: u8,
) -> PyResult<Run> {
    let started = Instant::now();
    let timeout = seconds(timeout)?;
    let config = Config {
        engine,
        without,
        model: true,
        plain: plain_model,
        passes,
        settings,
    };
    if let Err(error) = config.check() {
        return Err(Failure::Config(error).exception(py));
    }
    let text: Arc<[u8]> = text.into();
    let limits = Limits {
        // A deterministic run is limited by work, so that it ends at the same step on every machine.
        timeout: timeout.filter(|_| !deterministic),
        memory_mib: memory,
        stop,
        level: messages::level(level),
    };
    let own = text.clone();
    let wants = Wants { certificate, cache };
    let ended = runs::run(py, &limits, move |interrupt| {
        solve_text(&own, &config, &wants, interrupt, timeout, deterministic)
    })?;
    let mut solved = match ended.result {
        Some(Ok(solved)) => solved,
        Some(Err(failure)) => return Err(failure.exception(py)),
        None => Solved {
            verdict: "unknown".to_owned(),
            fixedpoint: None,
            dialect: None,
            refutation_text: String::new(),
            certificate: None,
            sorts: String::new(),
            predicates: Vec::new(),
            printed: Printed::default(),
            stats: Statistics::default(),
            spans: Vec::new(),
        },
    };
    // The run itself knows only that it was interrupted, not why.
    if let (None, Some(stopped)) = (solved.printed.satisfiable, ended.stopped) {
        solved.printed.reason = Some(stopped.reason().to_owned());
    }
    Ok(Run {
        text,
        verdict: solved.verdict,
        fixedpoint: solved.fixedpoint,
        dialect: solved.dialect,
        refutation_text: solved.refutation_text,
        certificate: solved.certificate,
        sorts: solved.sorts,
        predicates: solved.predicates,
        total: started.elapsed().as_secs_f64(),
        messages: ended.messages,
        printed: solved.printed,
        limits: record::Limits {
            timeout,
            memory_mib: memory,
            deterministic,
            jobs: 1,
        },
        stats: solved.stats,
        spans: solved.spans,
    })
}

/// Checks a witness of any solver against a text. Returns the outcome, its reason, and log messages.
#[pyfunction]
#[pyo3(signature = (text, witness, *, timeout, memory, deterministic, stop, level))]
#[allow(clippy::too_many_arguments)] // the options, which Python gives by name
fn check(
    py: Python<'_>,
    text: Vec<u8>,
    witness: String,
    timeout: Option<f64>,
    memory: Option<u64>,
    deterministic: bool,
    stop: Option<Bound<'_, PyAny>>,
    level: u8,
) -> PyResult<(&'static str, Option<String>, Vec<Message>)> {
    let timeout = seconds(timeout)?;
    let limits = Limits {
        timeout: timeout.filter(|_| !deterministic),
        memory_mib: memory,
        stop,
        level: messages::level(level),
    };
    let ended = runs::run(py, &limits, move |interrupt| {
        let (problem, mut cx) = read(&text, interrupt, timeout, deterministic)?;
        let claim = parse_witness(&problem, &witness);
        let claim = claim.map_err(|error| Failure::Witness(error.to_string()))?;
        Ok::<_, Failure>(check_claim(&problem, &claim, &mut cx))
    })?;
    let (outcome, why) = match (ended.result, ended.stopped) {
        (Some(Err(failure)), _) => return Err(failure.exception(py)),
        (Some(Ok(CheckOutcome::Valid)), _) => ("valid", None),
        (Some(Ok(CheckOutcome::Invalid(why))), _) => ("invalid", Some(why)),
        (_, Some(stopped)) => ("unknown", Some(stopped.reason().to_owned())),
        (Some(Ok(CheckOutcome::Undecided { why, .. })), None) => ("unknown", Some(why)),
        (None, None) => return Err(defect(py, "the check did not end")),
    };
    Ok((outcome, why, ended.messages))
}

/// Stops all runs of this process, and waits for their ends for at most `patience` seconds.
#[pyfunction]
fn stop_all(py: Python<'_>, patience: f64) {
    py.detach(|| runs::stop_all(Duration::from_secs_f64(patience.clamp(0.0, 1e6))));
}

/// A run that panics, for the tests.
#[pyfunction]
fn panic_for_test(py: Python<'_>, message: String) -> PyResult<()> {
    runs::run(py, &no_limits(), move |_| -> () { panic!("{message}") }).map(drop)
}

/// The version of libz3.
#[pyfunction]
fn z3_version() -> String {
    alphorn::z3_version()
}

/// The passes with what they do, one per line.
#[pyfunction]
fn list_passes() -> String {
    alphorn::list_passes()
}

/// The settings of all engines with their defaults.
#[pyfunction]
fn list_settings() -> String {
    alphorn::list_settings()
}

/// The library `alphorn` for Python; see the package.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    messages::set_up();
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Run>()?;
    module.add_function(wrap_pyfunction!(solve, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(outline, module)?)?;
    module.add_function(wrap_pyfunction!(decompressed, module)?)?;
    module.add_function(wrap_pyfunction!(stop_all, module)?)?;
    module.add_function(wrap_pyfunction!(panic_for_test, module)?)?;
    module.add_function(wrap_pyfunction!(z3_version, module)?)?;
    module.add_function(wrap_pyfunction!(list_passes, module)?)?;
    module.add_function(wrap_pyfunction!(list_settings, module)?)
}
