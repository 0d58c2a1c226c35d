//! Watches over a run: time, memory, signals, crashes, and who may print.
//!
//! The work happens in a thread with a big stack, the main thread waits. At a limit or a signal it
//! prints the answer that is left, `unknown`, and ends the process, whatever the worker is in.
//! A member of a portfolio hands over what it would print to who started it (`Outlet`).
//! Invariant: standard output gets one answer. Only the main thread writes it, or, when the
//! process has crashed (in libz3, say, or for lack of memory), the handler of the crash's signal;
//! [`CLAIMED`] says who came first. Standard error never has a line that is a verdict.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use alphorn::run::{CLEAR, PERIOD, Reason, View, memory_mib, panic_message, spawn_worker};
use alphorn::witness::{Output, Wanted, string_literal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU};
use signal_hook::iterator::Signals;

/// How often the memory in use is looked at.
const MEMORY_POLL: Duration = Duration::from_millis(50);
/// How long to wait for the statistics of a run that was stopped, and for what it has to write.
const LAST_WORDS: Duration = Duration::from_millis(300);
const LAST_WORK: Duration = Duration::from_secs(5);
/// What ends before this needs no line on the terminal.
const UNSHOWN: Duration = Duration::from_millis(500);
/// How long an answer that is being printed may take after a signal.
const SIGNAL_GRACE: Duration = Duration::from_millis(200);

/// Whether somebody prints, or has printed, the answer.
static CLAIMED: AtomicBool = AtomicBool::new(false);
/// Whether a line has to be cleared before the answer.
static LIVE: AtomicBool = AtomicBool::new(false);
/// What a crash leaves to print, a text that is never given back, and the status to exit with.
static CRASH_TEXT: AtomicPtr<String> = AtomicPtr::new(std::ptr::null_mut());
static CRASH_STATUS: AtomicI32 = AtomicI32::new(0);

/// Why the worker was told to stop.
static GIVEN_UP: Mutex<Option<String>> = Mutex::new(None);

/// Why the run was given up, for a worker that has something to write of it.
pub fn given_up() -> Option<String> {
    GIVEN_UP.lock().ok()?.clone()
}

/// How a run ends that was not finished.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fallback {
    /// The verdict `unknown`, exit status 0.
    Verdict,
    /// The check's `unknown`, exit status 3.
    Check,
    /// An error, exit status 1.
    Error,
}

/// The exit status of a member of a portfolio that has crashed.
const CRASHED_MEMBER: i32 = 70;

/// Where the answer goes.
pub enum Outlet {
    /// To standard output, and remarks to standard error.
    Streams,
    /// To the process that has started this one.
    Member(Box<dyn Fn(Report)>),
}

/// What the worker hands over at the end.
pub struct Report {
    pub answer: Answer,
    /// Lines for standard error: a reason.
    pub note: Option<String>,
    /// Lines for standard error, as they are.
    pub stats: Option<String>,
    /// The certificate, of a member of a portfolio that is asked for one.
    pub certificate: Option<String>,
}

/// What goes to standard output.
pub enum Answer {
    Verdict(Output),
    /// Text, and the exit status.
    Text(String, i32),
    /// What is wrong with the input.
    Error(String),
    /// That the input is a script with several questions.
    Script(Vec<u8>),
}

/// What the worker may say before the end.
pub struct Limits {
    /// From the input itself, counted from when it is sent.
    pub timeout: Option<Duration>,
    pub wanted: Wanted,
}

enum Event {
    Limits(Limits),
    Held(Output),
    Done(Report),
    Panicked(String),
    Signal,
}

/// How the worker says what it learned about the limits, and what it has found so far.
pub struct Reporter {
    events: Sender<Event>,
    /// Whether a crash prints the answer that is held.
    prints: bool,
}

impl Reporter {
    /// The limits that the input sets.
    pub fn limits(&self, limits: Limits) {
        // The main thread is gone only when the process is.
        let _ = self.events.send(Event::Limits(limits));
    }

    /// The answer, should the run end before a better one comes.
    pub fn held(&self, output: Output) {
        // Here, as the main thread may take its time, and a crash does not wait.
        if self.prints {
            leave_in_crash(format!("{}\n{}", output.word(), output.details()));
        }
        let _ = self.events.send(Event::Held(output));
    }
}

/// What to hold the worker to.
pub struct Supervision {
    pub started: Instant,
    pub timeout: Option<Duration>,
    pub memory_mib: Option<u64>,
    pub fallback: Fallback,
    /// Statistics of a run whose worker has no last words; `None` when nobody wants any.
    pub stats: Option<Box<dyn Fn() -> String>>,
    /// Set when the run is to stop.
    pub interrupt: Arc<AtomicBool>,
    /// Whether the worker has something to write after a limit.
    pub lingers: bool,
    /// How the run is going, for a line on the terminal.
    pub view: Option<View>,
    pub outlet: Outlet,
    /// Who answers a script with several questions, and ends the process.
    pub dialogue: Box<dyn Fn(Vec<u8>)>,
}

/// Runs `work` and ends the process.
pub fn supervise(
    supervision: Supervision,
    work: impl FnOnce(&Reporter) -> Report + Send + 'static,
) -> ! {
    let (sender, receiver) = channel();
    if let Some(view) = supervision.view.clone() {
        LIVE.store(true, Ordering::Relaxed);
        show(view, supervision.started);
    }
    match supervision.outlet {
        Outlet::Streams => prepare_for_crashes(supervision.fallback),
        // That it ends without an answer says enough.
        Outlet::Member(_) => on_crash("", CRASHED_MEMBER),
    }
    watch_signals(sender.clone());
    let reporter = Reporter {
        events: sender,
        prints: matches!(supervision.outlet, Outlet::Streams),
    };
    let spawned = spawn_worker(move || run(work, &reporter));
    if spawned.is_err() {
        let report = Report {
            answer: Answer::Error("there is no memory for a thread".to_owned()),
            note: None,
            stats: None,
            certificate: None,
        };
        finish(&supervision.outlet, report);
    }
    wait(&supervision, &receiver)
}

/// The worker's thread: never ends, so that nothing is torn down while the main thread prints.
fn run(work: impl FnOnce(&Reporter) -> Report, reporter: &Reporter) {
    let event = match catch_unwind(AssertUnwindSafe(|| work(reporter))) {
        Ok(report) => Event::Done(report),
        Err(panic) => Event::Panicked(panic_message(&*panic)),
    };
    let _ = reporter.events.send(event);
    loop {
        thread::park();
    }
}

fn wait(supervision: &Supervision, receiver: &Receiver<Event>) -> ! {
    let mut deadline = supervision.timeout.map(|t| supervision.started + t);
    let mut wanted = Wanted::default();
    let mut held = None;
    loop {
        let until_deadline = deadline.map(|d| d.saturating_duration_since(Instant::now()));
        let poll = supervision.memory_mib.map(|_| MEMORY_POLL);
        let pause = until_deadline.into_iter().chain(poll).min();
        let event = match pause {
            Some(pause) => receiver.recv_timeout(pause),
            None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let reason = match event {
            Ok(Event::Done(Report {
                answer: Answer::Script(text),
                ..
            })) => {
                claim();
                (supervision.dialogue)(text);
                exit(0)
            }
            Ok(Event::Done(report)) => finish(&supervision.outlet, report),
            Ok(Event::Limits(limits)) => {
                wanted = limits.wanted;
                let own = limits.timeout.and_then(|t| Instant::now().checked_add(t));
                deadline = deadline.into_iter().chain(own).min();
                continue;
            }
            Ok(Event::Held(output)) => {
                held = Some(output);
                continue;
            }
            Ok(Event::Signal) => Reason::Interrupted,
            Ok(Event::Panicked(message)) => Reason::Defect(message),
            Err(RecvTimeoutError::Disconnected) => Reason::Defect("the worker is gone".to_owned()),
            Err(RecvTimeoutError::Timeout) => {
                if deadline.is_some_and(|d| Instant::now() >= d) {
                    Reason::Timeout
                } else if supervision.memory_mib.is_some_and(exceeded) {
                    Reason::Memory
                } else {
                    continue;
                }
            }
        };
        give_up(supervision, receiver, &reason, wanted, held);
    }
}

/// Whether more memory is in use, as far as the system says.
fn exceeded(limit_mib: u64) -> bool {
    memory_mib().is_some_and(|used| used > limit_mib)
}

/// Prints what is left to say, gives the worker a moment for its statistics, and ends.
fn give_up(
    supervision: &Supervision,
    receiver: &Receiver<Event>,
    reason: &Reason,
    wanted: Wanted,
    held: Option<Output>,
) -> ! {
    if let Ok(mut given_up) = GIVEN_UP.lock() {
        *given_up = Some(reason.to_string());
    }
    supervision.interrupt.store(true, Ordering::SeqCst);
    // What ends then is the search for a better model, and is worth a word only if it is a defect.
    let is_quiet = held.is_some() && !matches!(reason, Reason::Defect(_));
    let answer = match supervision.fallback {
        Fallback::Verdict => {
            Answer::Verdict(held.unwrap_or_else(|| Output::unknown(reason, wanted)))
        }
        Fallback::Check => Answer::Text("unknown\n".to_owned(), 3),
        Fallback::Error => Answer::Error(reason.to_string()),
    };
    let reason = (!is_quiet).then(|| reason.to_string());
    let last_words = || {
        let patience = match supervision.lingers {
            true => LAST_WORK,
            false => LAST_WORDS,
        };
        let own = supervision.stats.as_ref();
        if own.is_none() && !supervision.lingers {
            return None;
        }
        let found = last_statistics(receiver, patience);
        own.map(|own| found.unwrap_or_else(own))
    };
    match &supervision.outlet {
        Outlet::Streams => {
            let status = publish(answer, reason);
            if let Some(stats) = last_words() {
                diagnose(&stats);
            }
            exit(status)
        }
        Outlet::Member(tell) => {
            claim();
            tell(Report {
                answer,
                note: reason,
                stats: last_words(),
                certificate: None,
            });
            exit(0)
        }
    }
}

/// The statistics of a worker that has been told to stop.
fn last_statistics(receiver: &Receiver<Event>, patience: Duration) -> Option<String> {
    let end = Instant::now() + patience;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(left) {
            Ok(Event::Done(report)) => return report.stats,
            Ok(Event::Limits(_) | Event::Held(_) | Event::Signal) => {}
            Ok(Event::Panicked(_)) | Err(_) => return None,
        }
    }
}

fn finish(outlet: &Outlet, report: Report) -> ! {
    match outlet {
        Outlet::Streams => {
            let status = publish(report.answer, report.note);
            if let Some(stats) = report.stats {
                diagnose(&stats);
            }
            exit(status)
        }
        Outlet::Member(tell) => {
            claim();
            tell(report);
            exit(0)
        }
    }
}

/// Prints an answer, the only one of this process, and a remark; the status to exit with.
pub fn publish(answer: Answer, remark: Option<String>) -> i32 {
    claim();
    let remark = || {
        if let Some(text) = &remark {
            note(text);
        }
    };
    match answer {
        Answer::Verdict(output) => {
            print(&[output.word(), "\n"]);
            remark();
            print(&[output.details()]);
            0
        }
        Answer::Text(text, status) => {
            print(&[&text]);
            remark();
            status
        }
        Answer::Error(message) => {
            print(&["(error ", &string_literal(&message), ")\n"]);
            remark();
            1
        }
        Answer::Script(_) => unreachable!("a script is answered question by question"),
    }
}

/// Makes the answer ours to print; waits for the end when a crash was first.
fn claim() {
    if CLAIMED.swap(true, Ordering::SeqCst) {
        loop {
            thread::park();
        }
    }
    if LIVE.load(Ordering::Relaxed) {
        let _ = write!(std::io::stderr().lock(), "{CLEAR}");
    }
}

/// Keeps a line on the terminal up to date until there is an answer.
fn show(view: View, started: Instant) {
    let work = move || {
        thread::sleep(UNSHOWN);
        loop {
            let width = terminal_size::terminal_size_of(std::io::stderr());
            let width = width.map_or(80, |(width, _)| usize::from(width.0));
            let seconds = started.elapsed().as_secs_f64();
            let line = format!("{seconds:.1} s  {}", view.line());
            // A full line would begin another one.
            let line: String = line.chars().take(width.saturating_sub(1)).collect();
            let mut out = std::io::stderr().lock();
            if CLAIMED.load(Ordering::SeqCst) {
                return;
            }
            // A terminal that is gone is no reason to stop.
            let _ = write!(out, "{CLEAR}{line}").and_then(|()| out.flush());
            drop(out);
            thread::sleep(PERIOD);
        }
    };
    if let Err(error) = thread::Builder::new().name("status".to_owned()).spawn(work) {
        log::debug!("no line on the terminal: {error}");
    }
}

/// Writes to standard output and flushes. A reader that is gone is no reason to complain.
fn print(parts: &[&str]) {
    let mut out = std::io::stdout().lock();
    for part in parts {
        if out.write_all(part.as_bytes()).is_err() {
            return;
        }
    }
    let _ = out.flush();
}

/// A remark for people, unless they asked for silence.
fn note(text: &str) {
    if log::max_level() >= log::LevelFilter::Warn {
        diagnose(&format!("alphorn: {text}"));
    }
}

/// Writes to standard error, later lines indented: no line may look like a verdict.
pub fn diagnose(text: &str) {
    let text = text.trim_end().replace('\n', "\n  ");
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Ends at once: the worker may be inside libz3, whose destructors must not run under it.
pub fn exit(status: i32) -> ! {
    // SAFETY: ends the process; output was flushed where it was written.
    unsafe { libc::_exit(status) }
}

fn watch_signals(sender: Sender<Event>) {
    let mut pending = match Signals::new([SIGTERM, SIGINT, SIGHUP, SIGXCPU]) {
        Ok(pending) => pending,
        Err(error) => {
            log::warn!("signals are not handled: {error}");
            return;
        }
    };
    let watch = move || {
        for _ in pending.forever() {
            let _ = sender.send(Event::Signal);
            thread::sleep(SIGNAL_GRACE);
            if CLAIMED.load(Ordering::SeqCst) {
                // The main thread is stuck in an answer that nobody takes.
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

/// What a process that supervises no worker, but prints an answer, does first.
pub fn leave_for_crashes(live: bool) {
    LIVE.store(live, Ordering::Relaxed);
    prepare_for_crashes(Fallback::Verdict);
}

/// Leaves an answer for the case that the process crashes: an overflown stack, an exception in
/// libz3 that nobody catches, no more memory.
fn prepare_for_crashes(fallback: Fallback) {
    match fallback {
        Fallback::Verdict => on_crash("unknown\n", 0),
        Fallback::Check => on_crash("unknown\n", 3),
        Fallback::Error => on_crash("(error \"crashed\")\n", 1),
    }
}

/// What a crash prints, and the status to exit with.
fn on_crash(text: &str, status: i32) {
    leave_in_crash(text.to_owned());
    CRASH_STATUS.store(status, Ordering::SeqCst);
    for signal in [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGABRT,
        libc::SIGFPE,
        libc::SIGILL,
    ] {
        // SAFETY: the handler calls only what is safe in a signal handler. It runs on the
        // alternative stack that the standard library gives each thread, and once.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = crashed as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// Leaves a text that a crash prints.
fn leave_in_crash(text: String) {
    // The handler may be reading the last one.
    CRASH_TEXT.store(Box::into_raw(Box::new(text)), Ordering::SeqCst);
}

extern "C" fn crashed(signal: libc::c_int) {
    const MESSAGE: &str = "alphorn: defect: crashed by signal ";
    let digits = [
        b'0' + (signal / 10 % 10) as u8,
        b'0' + (signal % 10) as u8,
        b'\n',
    ];
    // SAFETY: the text is there since before the handler is, and never given back; write, sleep and _exit are safe in a signal handler.
    unsafe {
        libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::write(2, digits.as_ptr().cast(), digits.len());
        if CLAIMED.swap(true, Ordering::SeqCst) {
            // The main thread prints an answer: let it finish.
            libc::sleep(2);
        } else {
            let text = &*CRASH_TEXT.load(Ordering::SeqCst);
            libc::write(1, text.as_ptr().cast(), text.len());
        }
        libc::_exit(CRASH_STATUS.load(Ordering::SeqCst))
    }
}
