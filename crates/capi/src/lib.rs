//! alphorn as a library for C (`include/alphorn.h`).
//!
//! A problem keeps its text and options; each run reads the text in a thread of its own with a large
//! stack, as the program does, and leaves only strings behind.
//!
//! Invariant: no panic leaves a function, and no term or Z3 object outlives the run that made it. A
//! pointer from a caller is used only after it was compared with null.

use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use alphorn::frontend::{InputError, parse_bytes};
use alphorn::record::{self, Ending, Limits};
use alphorn::report::Printed;
use alphorn::run::{Budget, Context, panic_message, spawn_worker};
use alphorn::term::TermStore;
use alphorn::witness::{ProofFormat, Wanted};
use alphorn::{Config, solve};

/// A problem with its options and its last answer.
pub struct AlphornProblem {
    text: Arc<[u8]>,
    /// Ends the run. It is not in `state`, which a run keeps locked.
    cancel: Arc<AtomicBool>,
    state: Mutex<State>,
}

/// What calls change.
struct State {
    config: Config,
    timeout: Option<Duration>,
    deterministic: bool,
    /// What is wrong with the text.
    text_error: Option<CString>,
    /// What is wrong with the last option or the last run.
    error: Option<CString>,
    answer: Option<Answer>,
}

/// An answer as strings.
struct Answer {
    verdict: CString,
    safe: Option<bool>,
    reason: Option<CString>,
    witness: Option<CString>,
    json: CString,
}

/// A string for C. A zero byte, which only a damaged text has, ends it.
fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

/// A string of C as text; an empty one for null.
///
/// # Safety
/// The pointer is null or a string that ends with a zero byte.
unsafe fn text_of(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the caller says so.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_string_lossy().into_owned()
}

fn pointer(text: Option<&CString>) -> *const c_char {
    text.map_or(null(), |text| text.as_ptr())
}

/// Runs `work` in a thread with a large stack.
///
/// # Errors
/// A message: the work panicked, or there is no thread.
fn in_worker<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> Result<R, String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let worker = spawn_worker(move || {
        let result = catch_unwind(AssertUnwindSafe(work));
        let _ = sender.send(result.map_err(|panic| panic_message(&*panic)));
    });
    worker.map_err(|error| format!("cannot start a thread: {error}"))?;
    match receiver.recv() {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(message)) => Err(format!("defect: {message}")),
        Err(_) => Err("defect: the thread of the run has ended".to_owned()),
    }
}

impl AlphornProblem {
    fn new(text: Arc<[u8]>) -> AlphornProblem {
        let own = text.clone();
        let read = in_worker(move || {
            let read = parse_bytes(&own, Rc::new(TermStore::new()));
            read.map(drop).map_err(|error| error.to_string())
        });
        let text_error = read.and_then(|read| read).err();
        AlphornProblem {
            text,
            cancel: Arc::new(AtomicBool::new(false)),
            state: Mutex::new(State {
                config: Config {
                    model: true,
                    ..Config::default()
                },
                timeout: None,
                deterministic: false,
                text_error: text_error.map(|error| c_string(&error)),
                error: None,
                answer: None,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides the problem, and keeps the answer.
    fn solve(&self) -> *const c_char {
        let mut state = self.state();
        state.answer = None;
        let (text, config, cancel) = (self.text.clone(), state.config.clone(), self.cancel.clone());
        let limits = Limits {
            timeout: state.timeout,
            memory_mib: None,
            deterministic: state.deterministic,
            jobs: 1,
        };
        let result = in_worker(move || answer(&text, &config, cancel, &limits));
        self.cancel.store(false, Ordering::SeqCst);
        let result = result.and_then(|read| read.map_err(|error| error.to_string()));
        match result {
            Ok(answer) => {
                state.error = None;
                state.answer.insert(answer).verdict.as_ptr()
            }
            Err(message) => {
                state.error = Some(c_string(&message));
                null()
            }
        }
    }
}

impl State {
    /// Sets an option, or says what is wrong with it.
    fn set(&mut self, option: &str, value: &str) -> Result<(), String> {
        let flag = || match value {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(format!("{option} is true or false, not {value}")),
        };
        let mut config = self.config.clone();
        match option {
            "timeout" => {
                let seconds: Option<f64> = value.parse().ok();
                let seconds = seconds.filter(|seconds| *seconds >= 0.0);
                let seconds = seconds.ok_or("a time limit is a number of seconds")?;
                // Longer limits are cut off at about 30 years.
                let limit = Duration::from_secs_f64(seconds.min(1e9));
                self.timeout = Some(limit).filter(|limit| !limit.is_zero());
            }
            "deterministic" => self.deterministic = flag()?,
            "plain" => config.plain = flag()?,
            "engine" => value.clone_into(&mut config.engine),
            "without" => {
                let names = value.split(',').map(str::trim);
                let names = names.filter(|name| !name.is_empty());
                config.without = names.map(str::to_owned).collect();
            }
            "passes" => config.passes = Some(value.to_owned()),
            "set" => config.settings.push(value.to_owned()),
            _ => return Err(format!("there is no option {option}")),
        }
        config.check().map_err(|error| error.to_string())?;
        self.config = config;
        Ok(())
    }
}

/// The answer to a text.
fn answer(
    text: &[u8],
    config: &Config,
    cancel: Arc<AtomicBool>,
    limits: &Limits,
) -> Result<Answer, InputError> {
    let started = Instant::now();
    let terms = Rc::new(TermStore::new());
    let problem = parse_bytes(text, terms.clone())?;
    let mut budget = Budget::new(terms.clone(), cancel, limits.deterministic);
    if let Some(limit) = limits.timeout {
        budget = budget.since(started, limit);
    }
    if let Some(limit) = problem.requests.timeout_ms {
        budget = budget.time(Duration::from_millis(limit));
    }
    let mut cx = Context::with_budget(terms, budget);
    // Names in the configuration were checked when they were set.
    let validated = match solve(&problem, config, &mut cx) {
        Ok(validated) => validated,
        Err(error) => panic!("{error}"),
    };
    let wanted = Wanted {
        model: true,
        proof: Some(ProofFormat::Text),
        ..Wanted::default()
    };
    let output = validated.output(&problem, wanted);
    let reason = validated.reason().map(ToString::to_string);
    let found = record::found(&problem, &Printed::new(&problem, &validated), true);
    let total = started.elapsed();
    cx.stats.add_time("total.seconds", total);
    let numbers = record::numbers(&cx.stats);
    let ending = Ending::Verdict(output.word(), reason.as_deref());
    let json = record::object("-", limits, ending, Some(&found), total, &numbers);
    Ok(Answer {
        verdict: c_string(output.word()),
        safe: found["safe"].as_bool(),
        reason: reason.map(|reason| c_string(&reason)),
        witness: found["safe"]
            .is_boolean()
            .then(|| c_string(output.details())),
        json: c_string(&json.to_string()),
    })
}

/// The version of alphorn.
#[unsafe(no_mangle)]
pub extern "C" fn alphorn_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Reads a text.
///
/// # Safety
/// `text` is null, or points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn alphorn_parse(text: *const c_char, length: usize) -> *mut AlphornProblem {
    if text.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: the caller says so.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    let problem = AlphornProblem::new(bytes.into());
    Box::into_raw(Box::new(problem))
}

/// What is wrong with the text or the last option; null if nothing is.
///
/// # Safety
/// `problem` is null or from [`alphorn_parse`] and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn alphorn_error(problem: *const AlphornProblem) -> *const c_char {
    // SAFETY: the caller says so.
    let problem = unsafe { problem.as_ref() };
    problem.map_or(null(), |problem| {
        let state = problem.state();
        pointer(state.text_error.as_ref().or(state.error.as_ref()))
    })
}

/// Sets an option; returns 0, or -1 and an error.
///
/// # Safety
/// `problem` as for [`alphorn_error`]; the strings are null or end with a zero
/// byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn alphorn_set(
    problem: *const AlphornProblem,
    option: *const c_char,
    value: *const c_char,
) -> c_int {
    // SAFETY: the caller says so.
    let (problem, option, value) = unsafe { (problem.as_ref(), text_of(option), text_of(value)) };
    let Some(problem) = problem else { return -1 };
    let mut state = problem.state();
    let result = state.set(&option, &value);
    let status = if result.is_ok() { 0 } else { -1 };
    state.error = result.err().map(|message| c_string(&message));
    status
}

/// Decides a problem; returns the verdict, or null after an error.
///
/// # Safety
/// `problem` as for [`alphorn_error`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn alphorn_solve(problem: *const AlphornProblem) -> *const c_char {
    // SAFETY: the caller says so.
    let problem = unsafe { problem.as_ref() };
    problem.map_or(null(), AlphornProblem::solve)
}

/// A part of the last answer; null if there is no answer or no such part.
///
/// # Safety
/// `problem` is null or from [`alphorn_parse`] and not freed.
unsafe fn part(
    problem: *const AlphornProblem,
    part: impl Fn(&Answer) -> Option<&CString>,
) -> *const c_char {
    // SAFETY: the caller says so.
    let problem = unsafe { problem.as_ref() };
    problem.map_or(null(), |problem| {
        pointer(problem.state().answer.as_ref().and_then(part))
    })
}

/// Whether the clauses of the last answer have a model: 1, 0, or -1 for no answer.
///
/// # Safety
/// `problem` as for [`alphorn_error`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn alphorn_safe(problem: *const AlphornProblem) -> c_int {
    // SAFETY: the caller says so.
    let problem = unsafe { problem.as_ref() };
    let safe = problem.and_then(|problem| problem.state().answer.as_ref()?.safe);
    safe.map_or(-1, c_int::from)
}

/// Why the last answer is unknown; null if it is not.
///
/// # Safety
/// `problem` as for [`alphorn_error`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn alphorn_reason(problem: *const AlphornProblem) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { part(problem, |answer| answer.reason.as_ref()) }
}

/// The model or the refutation of the last answer as text; null if there is none.
///
/// # Safety
/// `problem` as for [`alphorn_error`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn alphorn_witness(problem: *const AlphornProblem) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { part(problem, |answer| answer.witness.as_ref()) }
}

/// The last answer as JSON; null if there is none.
///
/// # Safety
/// `problem` as for [`alphorn_error`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn alphorn_json(problem: *const AlphornProblem) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { part(problem, |answer| Some(&answer.json)) }
}

/// Ends the run that is under way, or else the next one.
///
/// # Safety
/// `problem` as for [`alphorn_error`]; another thread may be in [`alphorn_solve`] with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn alphorn_cancel(problem: *const AlphornProblem) {
    // SAFETY: the caller says so; the flag is not part of what a run keeps locked.
    if let Some(problem) = unsafe { problem.as_ref() } {
        problem.cancel.store(true, Ordering::SeqCst);
    }
}

/// Frees a problem.
///
/// # Safety
/// `problem` as for [`alphorn_error`]; it must not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn alphorn_free(problem: *mut AlphornProblem) {
    if !problem.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and the caller gives it up.
        drop(unsafe { Box::from_raw(problem) });
    }
}
