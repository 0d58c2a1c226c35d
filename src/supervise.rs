//! Supervises a run: time, memory, signals, crashes, and who prints the answer.
//!
//! The work is done in a thread with a large stack, and the main thread waits. At a limit or a signal
//! the main thread prints the provisional answer or `unknown`, and ends the process, whatever the
//! worker is doing. A member of a portfolio sends its result to its parent instead ([`Outlet`]).
//!
//! Invariant: standard output gets one answer. Either the main thread writes it, or the handler of the
//! signal with which the process crashes (in libz3, for example, or without memory); [`CLAIMED`] says
//! which of them was first. No line on standard error is a verdict.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use alphorn::reply::UnknownReplies;
use alphorn::run::{CLEAR, PERIOD, Reason, View, memory_mib, panic_message, spawn_worker};
use alphorn::witness::Output;
use serde_json::{Map, Value};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU};
use signal_hook::iterator::Signals;

use crate::output::{Publisher, total_only};

/// How often the memory in use is compared with the limit.
const MEMORY_PERIOD: Duration = Duration::from_millis(50);
/// How long a stopped worker has to send its statistics.
const STATISTICS_GRACE: Duration = Duration::from_millis(300);
/// How long a stopped worker has if it also writes a report.
const REPORT_GRACE: Duration = Duration::from_secs(5);
/// The time from the start after which the status line is shown.
const STATUS_DELAY: Duration = Duration::from_millis(500);
/// How long writing the answer may take after a signal.
const SIGNAL_GRACE: Duration = Duration::from_millis(200);

/// The exit status of a member of a portfolio that has crashed.
const CRASHED_MEMBER: i32 = 70;

/// Whether the right to write the answer has been taken.
static CLAIMED: AtomicBool = AtomicBool::new(false);
/// Whether there may be a status line that has to be cleared before the answer.
static LIVE: AtomicBool = AtomicBool::new(false);
/// What the handler of a crash prints. The texts are never freed.
static CRASH_TEXT: AtomicPtr<String> = AtomicPtr::new(std::ptr::null_mut());
/// The status with which the handler of a crash exits.
static CRASH_STATUS: AtomicI32 = AtomicI32::new(0);

/// Why the worker was stopped.
static STOP_REASON: Mutex<Option<String>> = Mutex::new(None);

/// Why the run was stopped, for the report that the worker writes afterwards; `None` if it was not.
pub fn stop_reason() -> Option<String> {
    STOP_REASON.lock().ok()?.clone()
}

/// The answer of a run that was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fallback {
    /// The verdict `unknown`, exit status 0.
    Verdict,
    /// The check's `unknown`, exit status 3.
    Check,
    /// An error, exit status 1.
    Error,
}

/// Where the result goes.
pub enum Outlet {
    /// The answer to standard output, notes to standard error.
    Streams,
    /// All of it to the parent of this process, with the function given here.
    Parent(Box<dyn Fn(RunResult)>),
}

/// The result of a run.
pub struct RunResult {
    /// The text for standard output.
    pub answer: Answer,
    /// A note for the user, on standard error: the reason of an answer.
    pub note: Option<String>,
    /// The statistics, if they are wanted.
    pub stats: Option<Map<String, Value>>,
    /// What the run knows of its problem and witness ([`alphorn::record::found`]).
    pub found: Option<Value>,
    /// The certificate, if this is a member of a portfolio and one is wanted.
    pub certificate: Option<String>,
    /// Whether a file that was asked for could not be written.
    pub unwritten: bool,
}

impl RunResult {
    /// A result with this answer and nothing else.
    pub fn of(answer: Answer) -> RunResult {
        RunResult {
            answer,
            note: None,
            stats: None,
            found: None,
            certificate: None,
            unwritten: false,
        }
    }
}

/// The text for standard output.
pub enum Answer {
    /// A verdict with what is printed after it; the exit status is 0.
    Verdict(Output),
    /// A verdict that a member of the portfolio has checked, with the lines before and after it.
    OfMember(&'static str, [String; 2]),
    /// Text, and the exit status.
    Text(String, i32),
    /// What is wrong with the input; the exit status is 1.
    Error(String),
    /// None yet: the input, given here, is a script with several questions.
    Script(Vec<u8>),
}

impl Answer {
    /// The lines before a verdict, the verdict, and the lines after it; `None` for another answer.
    pub fn verdict(&self) -> Option<(&str, &'static str, &str)> {
        match self {
            Answer::Verdict(output) => Some((output.before(), output.word(), output.details())),
            Answer::OfMember(word, [before, details]) => Some((before, word, details)),
            Answer::Text(..) | Answer::Error(_) | Answer::Script(_) => None,
        }
    }
}

/// What the text of the problem sets and asks for.
#[derive(Default)]
pub struct TextOptions {
    /// Its time limit, which counts from when it is reported.
    pub timeout: Option<Duration>,
    /// What is printed around the verdict `unknown`.
    pub unknown: UnknownReplies,
}

/// What the main thread waits for.
enum WorkerEvent {
    TextOptions(TextOptions),
    Provisional(Output, Option<Value>),
    Done(RunResult),
    Panicked(String),
    Signal,
}

/// Sends what the worker finds before its end to the main thread.
pub struct Reporter {
    events: Sender<WorkerEvent>,
    /// The text that a crash prints for an output; `None` if a crash prints nothing.
    crash_text: Option<CrashText>,
}

/// Makes the text that a crash prints.
type CrashText = Box<dyn Fn(&Output, Option<&Value>) -> String + Send>;

impl Reporter {
    /// Reports what the text sets and asks for.
    pub fn text_options(&self, options: TextOptions) {
        if let Some(text) = &self.crash_text {
            let output = options
                .unknown
                .output(&Reason::Defect("crashed".to_owned()));
            set_crash_text(text(&output, None));
        }
        // The main thread receives as long as the process runs.
        let _ = self.events.send(WorkerEvent::TextOptions(options));
    }

    /// Reports the answer to print if the run ends without a better one.
    /// `found` is what is known of its problem and witness.
    pub fn provisional(&self, output: Output, found: Option<Value>) {
        // In this thread, so that a crash right after this prints it.
        if let Some(text) = &self.crash_text {
            set_crash_text(text(&output, found.as_ref()));
        }
        let _ = self.events.send(WorkerEvent::Provisional(output, found));
    }
}

/// The limits of a run, and what happens at its end.
pub struct Supervision {
    /// When the program started.
    pub started: Instant,
    /// The time limit, from the start.
    pub timeout: Option<Duration>,
    /// The memory limit.
    pub memory_mib: Option<u64>,
    /// The answer of a run that was stopped.
    pub fallback: Fallback,
    /// Whether statistics are wanted.
    pub stats: bool,
    /// Prints the result, if this process does.
    pub publisher: Arc<Publisher>,
    /// The flag that stops the worker.
    pub interrupt: Arc<AtomicBool>,
    /// Whether the worker writes a report, also after it was stopped.
    pub writes_report: bool,
    /// The state of the run, for the status line; `None` for no status line.
    pub view: Option<View>,
    /// Where the result goes.
    pub outlet: Outlet,
    /// Answers a script with several questions, and ends the process.
    pub run_script: Box<dyn Fn(Vec<u8>)>,
}

/// What the main thread has received from the worker.
struct Received {
    /// The end of the run, by the command line or the text.
    deadline: Option<Instant>,
    /// What is printed around the verdict `unknown`.
    unknown: UnknownReplies,
    /// The answer to print if the run ends without a better one, with what is known of it.
    provisional: Option<(Output, Option<Value>)>,
}

/// Runs `work` in a thread, prints its result, and ends the process.
pub fn supervise(
    supervision: Supervision,
    work: impl FnOnce(&Reporter) -> RunResult + Send + 'static,
) -> ! {
    let (sender, receiver) = channel();
    if let Some(view) = supervision.view.clone() {
        LIVE.store(true, Ordering::Relaxed);
        show_status_line(view, supervision.started);
    }
    match supervision.outlet {
        Outlet::Streams => answer_on_crash(supervision.fallback, &supervision.publisher),
        // The parent sees that the member has ended without a result.
        Outlet::Parent(_) => on_crash("", CRASHED_MEMBER),
    }
    watch_signals(sender.clone());
    let reporter = Reporter {
        events: sender,
        crash_text: match supervision.outlet {
            Outlet::Streams if supervision.fallback == Fallback::Verdict => {
                let publisher = supervision.publisher.clone();
                Some(Box::new(move |output, found| {
                    publisher.crash_text(output, found)
                }))
            }
            Outlet::Streams | Outlet::Parent(_) => None,
        },
    };
    let spawned = spawn_worker(move || run(work, &reporter));
    if spawned.is_err() {
        let message = "cannot start a thread".to_owned();
        finish(&supervision, RunResult::of(Answer::Error(message)));
    }
    wait(&supervision, &receiver)
}

/// The worker's thread. It never returns, so that no destructors run while the main thread prints.
fn run(work: impl FnOnce(&Reporter) -> RunResult, reporter: &Reporter) {
    let event = match catch_unwind(AssertUnwindSafe(|| work(reporter))) {
        Ok(result) => WorkerEvent::Done(result),
        Err(panic) => WorkerEvent::Panicked(panic_message(&*panic)),
    };
    let _ = reporter.events.send(event);
    loop {
        thread::park();
    }
}

/// Waits for the result of the worker or a reason to stop it, prints the answer, and ends the process.
fn wait(supervision: &Supervision, receiver: &Receiver<WorkerEvent>) -> ! {
    let mut received = Received {
        deadline: supervision.timeout.map(|t| supervision.started + t),
        unknown: UnknownReplies::default(),
        provisional: None,
    };
    let reason = loop {
        match next_event(supervision, receiver, received.deadline) {
            Ok(WorkerEvent::Done(result)) => conclude(supervision, result),
            Ok(WorkerEvent::TextOptions(options)) => {
                received.unknown = options.unknown;
                let limit = options.timeout;
                let end = limit.and_then(|limit| Instant::now().checked_add(limit));
                received.deadline = received.deadline.into_iter().chain(end).min();
            }
            Ok(WorkerEvent::Provisional(output, found)) => {
                received.provisional = Some((output, found));
            }
            Ok(WorkerEvent::Signal) => break Reason::Interrupted,
            Ok(WorkerEvent::Panicked(message)) => break Reason::Defect(message),
            Err(RecvTimeoutError::Disconnected) => {
                break Reason::Defect("the worker has ended".to_owned());
            }
            Err(RecvTimeoutError::Timeout) => {
                if received.deadline.is_some_and(|d| Instant::now() >= d) {
                    break Reason::Timeout;
                }
                if supervision.memory_mib.is_some_and(exceeds_memory) {
                    break Reason::Memory;
                }
            }
        }
    };
    stop(supervision, receiver, &reason, received)
}

/// The next event. A timeout means that the limits have to be checked.
fn next_event(
    supervision: &Supervision,
    receiver: &Receiver<WorkerEvent>,
    deadline: Option<Instant>,
) -> Result<WorkerEvent, RecvTimeoutError> {
    let until_deadline = deadline.map(|d| d.saturating_duration_since(Instant::now()));
    let period = supervision.memory_mib.map(|_| MEMORY_PERIOD);
    match until_deadline.into_iter().chain(period).min() {
        Some(pause) => receiver.recv_timeout(pause),
        None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
    }
}

/// Whether more memory than this is in use; false if the system does not have this information.
fn exceeds_memory(limit_mib: u64) -> bool {
    memory_mib().is_some_and(|used| used > limit_mib)
}

/// Prints the result of the worker, or runs the script that it has found, and ends the process.
fn conclude(supervision: &Supervision, result: RunResult) -> ! {
    if let Answer::Script(text) = result.answer {
        claim_answer();
        (supervision.run_script)(text);
        exit(0)
    }
    finish(supervision, result)
}

/// Stops the worker, prints the answer that there is, waits for statistics, and ends the process.
fn stop(
    supervision: &Supervision,
    receiver: &Receiver<WorkerEvent>,
    reason: &Reason,
    received: Received,
) -> ! {
    if let Ok(mut stop_reason) = STOP_REASON.lock() {
        *stop_reason = Some(reason.to_string());
    }
    supervision.interrupt.store(true, Ordering::SeqCst);
    // With a provisional answer only the search for a better model was stopped, which is worth a note
    // only if there was a defect.
    let has_note = received.provisional.is_none() || matches!(reason, Reason::Defect(_));
    let note = has_note.then(|| reason.to_string());
    let mut found = None;
    let answer = match supervision.fallback {
        Fallback::Verdict => Answer::Verdict(match received.provisional {
            Some((output, known)) => {
                found = known;
                output
            }
            None => received.unknown.output(reason),
        }),
        Fallback::Check => Answer::Text("unknown\n".to_owned(), 3),
        Fallback::Error => Answer::Error(reason.to_string()),
    };
    let mut result = RunResult {
        note,
        found,
        ..RunResult::of(answer)
    };
    match &supervision.outlet {
        Outlet::Streams => {
            claim_answer();
            let publisher = &supervision.publisher;
            // A text is printed before the process waits for statistics.
            let mut status = 0;
            if !publisher.waits_for_statistics() {
                status = publisher.answer(&result);
            }
            end_of_worker(supervision, receiver, &mut result);
            if publisher.waits_for_statistics() {
                status = publisher.answer(&result);
            }
            exit(publisher.rest(&result, status))
        }
        Outlet::Parent(send) => {
            claim_answer();
            end_of_worker(supervision, receiver, &mut result);
            send(result);
            exit(0)
        }
    }
}

/// Waits for the statistics and the report of a stopped worker, if they are wanted, and adds to the
/// result what the worker reports beside the answer.
fn end_of_worker(
    supervision: &Supervision,
    receiver: &Receiver<WorkerEvent>,
    result: &mut RunResult,
) {
    let grace = match supervision.writes_report {
        true => REPORT_GRACE,
        false => STATISTICS_GRACE,
    };
    if !supervision.stats && !supervision.writes_report {
        return;
    }
    let of_worker = result_of_worker(receiver, grace);
    let elapsed = supervision.started.elapsed();
    if let Some(found) = of_worker {
        result.unwritten = found.unwritten;
        result.stats = found.stats;
        // Of a run without an answer the dialect is known.
        let open = |found: &Value| found["safe"].is_null();
        if result.found.is_none() {
            result.found = found.found.filter(open);
        }
    } else if supervision.writes_report {
        let seconds = grace.as_secs();
        diagnose(&format!(
            "alphorn: no report: the run did not end within {seconds} s after its limit"
        ));
        result.unwritten = true;
    }
    if supervision.stats && result.stats.is_none() {
        result.stats = Some(total_only(elapsed));
    }
}

/// The result of a worker that has been stopped, if it ends within this time.
fn result_of_worker(receiver: &Receiver<WorkerEvent>, grace: Duration) -> Option<RunResult> {
    let end = Instant::now() + grace;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(left) {
            Ok(WorkerEvent::Done(result)) => return Some(result),
            Ok(
                WorkerEvent::TextOptions(_) | WorkerEvent::Provisional(..) | WorkerEvent::Signal,
            ) => {}
            Ok(WorkerEvent::Panicked(_)) | Err(_) => return None,
        }
    }
}

/// Prints a result, or sends it to the parent, and ends the process.
fn finish(supervision: &Supervision, result: RunResult) -> ! {
    claim_answer();
    match &supervision.outlet {
        Outlet::Streams => exit(supervision.publisher.publish(&result)),
        Outlet::Parent(send) => {
            send(result);
            exit(0)
        }
    }
}

/// Takes the right to write the answer; never returns if the handler of a crash has it.
pub fn claim_answer() {
    if CLAIMED.swap(true, Ordering::SeqCst) {
        loop {
            thread::park();
        }
    }
    if LIVE.load(Ordering::Relaxed) {
        let _ = write!(std::io::stderr().lock(), "{CLEAR}");
    }
}

/// Keeps a status line on the terminal up to date until there is an answer.
fn show_status_line(view: View, started: Instant) {
    let work = move || {
        thread::sleep(STATUS_DELAY);
        loop {
            let width = terminal_size::terminal_size_of(std::io::stderr());
            let width = width.map_or(80, |(width, _)| usize::from(width.0));
            let seconds = started.elapsed().as_secs_f64();
            let line = format!("{seconds:.1} s  {}", view.line());
            // In the last column the terminal would begin a new line.
            let line: String = line.chars().take(width.saturating_sub(1)).collect();
            let mut out = std::io::stderr().lock();
            if CLAIMED.load(Ordering::SeqCst) {
                return;
            }
            // Without a terminal the run continues.
            let _ = write!(out, "{CLEAR}{line}").and_then(|()| out.flush());
            drop(out);
            thread::sleep(PERIOD);
        }
    };
    if let Err(error) = thread::Builder::new().name("status".to_owned()).spawn(work) {
        log::debug!("no status line: {error}");
    }
}

/// Writes to standard error. Lines after the first are indented, so that none looks like a verdict.
pub fn diagnose(text: &str) {
    let text = text.trim_end().replace('\n', "\n  ");
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Ends the process without running destructors, since the worker may still be using libz3.
pub fn exit(status: i32) -> ! {
    // SAFETY: ends the process; all output has been flushed.
    unsafe { libc::_exit(status) }
}

/// Reports signals that end a run to the main thread. If the main thread is writing the answer, a
/// signal ends the process [`SIGNAL_GRACE`] later.
fn watch_signals(sender: Sender<WorkerEvent>) {
    let mut pending = match Signals::new([SIGTERM, SIGINT, SIGHUP, SIGXCPU]) {
        Ok(pending) => pending,
        Err(error) => {
            log::warn!("signals are not handled: {error}");
            return;
        }
    };
    let watch = move || {
        for _ in pending.forever() {
            let _ = sender.send(WorkerEvent::Signal);
            thread::sleep(SIGNAL_GRACE);
            if CLAIMED.load(Ordering::SeqCst) {
                // The main thread writes to a pipe that nobody reads.
                exit(0);
            }
        }
    };
    if let Err(error) = thread::Builder::new()
        .name("signals".to_owned())
        .spawn(watch)
    {
        log::warn!("signals are not handled: {error}");
    }
}

/// Prepares a process that prints an answer without supervising a worker: a crash prints `unknown`.
/// `live` says whether there may be a status line.
pub fn prepare_answer_for_crash(live: bool, publisher: &Publisher) {
    LIVE.store(live, Ordering::Relaxed);
    answer_on_crash(Fallback::Verdict, publisher);
}

/// Makes a crash of the process print an answer. Crashes are, for example, a stack overflow, an
/// uncaught exception in libz3, and a failed allocation.
fn answer_on_crash(fallback: Fallback, publisher: &Publisher) {
    match fallback {
        Fallback::Verdict => {
            let reason = Reason::Defect("crashed".to_owned());
            let output = UnknownReplies::default().output(&reason);
            on_crash(&publisher.crash_text(&output, None), 0);
        }
        Fallback::Check => on_crash("unknown\n", 3),
        Fallback::Error => on_crash("(error \"crashed\")\n", 1),
    }
}

/// Makes a crash print this text and exit with this status.
fn on_crash(text: &str, status: i32) {
    set_crash_text(text.to_owned());
    CRASH_STATUS.store(status, Ordering::SeqCst);
    for signal in [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGABRT,
        libc::SIGFPE,
        libc::SIGILL,
    ] {
        // SAFETY: the handler makes only calls that are allowed in a signal handler. It runs on the
        // alternative stack that the standard library gives each thread, and at most once.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = crashed as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// Sets the text that a crash prints.
fn set_crash_text(text: String) {
    // The previous text is not freed, since the handler may be reading it.
    CRASH_TEXT.store(Box::into_raw(Box::new(text)), Ordering::SeqCst);
}

extern "C" fn crashed(signal: libc::c_int) {
    const MESSAGE: &str = "alphorn: defect: crashed by signal ";
    let digits = [
        b'0' + (signal / 10 % 10) as u8,
        b'0' + (signal % 10) as u8,
        b'\n',
    ];
    // SAFETY: the text was set before the handler and is never freed; write, sleep and _exit are
    // allowed in a signal handler.
    unsafe {
        libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::write(2, digits.as_ptr().cast(), digits.len());
        if CLAIMED.swap(true, Ordering::SeqCst) {
            // The main thread is printing an answer and may finish.
            libc::sleep(2);
        } else {
            let text = &*CRASH_TEXT.load(Ordering::SeqCst);
            libc::write(1, text.as_ptr().cast(), text.len());
        }
        libc::_exit(CRASH_STATUS.load(Ordering::SeqCst))
    }
}
