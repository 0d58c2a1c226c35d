//! The program `alphorn`: from the command line to the exit status.
//!
//! [`main`] reads the command line and decides who does the work: this process ([`SupervisedRun`]), a
//! portfolio of processes ([`portfolio`]), or a process for each question of a script
//! ([`dialogue`]). In this process a thread works ([`worker`]), and the main thread watches over it
//! and prints ([`supervise`]).
//!
//! Invariant: no verdict is printed here. This file writes the text of `--help` and usage errors to
//! standard output; verdicts are written by `supervise`, `portfolio` and `dialogue`.

mod checking;
mod cli;
mod dialogue;
mod files;
mod output;
mod portfolio;
mod statistics;
mod supervise;
mod worker;

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use alphorn::Config;
use alphorn::reply::error_line;
use alphorn::run::{CLEAR, View};

use cli::{Invocation, Parsed, Solve, Task};
use files::{UNWRITTEN, print};
use output::Publisher;
use portfolio::{MemberAnswer, MemberResult, MemberStart, Message, MessageWriter, Portfolio};
use supervise::{Answer, Fallback, Outlet, RunResult, Supervision, diagnose, supervise};
use worker::{MemberLinks, Worker};

/// Which member of a portfolio this process is, from 1; 0 for none.
static MEMBER: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let started = Instant::now();
    let invocation = match cli::parse(std::env::args_os()) {
        Parsed::Run(invocation) => *invocation,
        Parsed::Show(text) => {
            if !print(&[&text]) {
                std::process::exit(UNWRITTEN);
            }
            return;
        }
        Parsed::Wrong(text) => {
            diagnose(&text);
            let first = text.lines().next().unwrap_or_default();
            fail(first.strip_prefix("error: ").unwrap_or(first));
        }
    };
    let live = invocation.verbosity >= 0 && std::io::stderr().is_terminal();
    set_up_logging(invocation.verbosity, live);
    let mut publisher = publisher(&invocation, 1, started);
    if let Task::Solve(args) = &invocation.task {
        if let Err(error) = args.config().check() {
            let result = RunResult::of(Answer::Error(error.to_string()));
            std::process::exit(publisher.publish(&result));
        }
        if args.interactive {
            dialogue::run(&invocation, args, None);
        }
        let jobs = portfolio::useful_jobs(jobs(&invocation, args));
        if jobs > 1 {
            publisher = self::publisher(&invocation, jobs, started);
            let portfolio = Portfolio {
                invocation: &invocation,
                solve: args,
                jobs,
                started,
                live,
                publisher: &publisher,
            };
            // It returns only if no processes can be started; then this process does the work.
            portfolio.run(&run_member);
        }
    }
    let run = SupervisedRun {
        invocation,
        started,
        live,
        outlet: Outlet::Streams,
        publisher: Arc::new(publisher),
        member: None,
    };
    run.run()
}

/// What prints the result of this process; ends it if the file for the answer cannot be written.
fn publisher(invocation: &Invocation, jobs: usize, started: Instant) -> Publisher {
    Publisher::new(invocation, jobs, started).unwrap_or_else(|message| fail(&message))
}

/// The number of processes that solve at the same time; 1 where there is no portfolio.
fn jobs(invocation: &Invocation, args: &Solve) -> usize {
    let config = args.config();
    let default = Config::default();
    let named = config.engine != default.engine
        || config.without != default.without
        || config.passes != default.passes
        || config.settings != default.settings;
    let reported = args.report.is_some();
    if args.print.is_some()
        || (invocation.deterministic || named || reported) && args.jobs.is_none()
    {
        return 1;
    }
    if let (Some(2..), true) = (args.jobs, invocation.deterministic || named || reported) {
        log::warn!(
            "one job only: an engine, passes and settings by name, --report and --deterministic are \
             for one"
        );
        return 1;
    }
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    args.jobs.unwrap_or_else(available)
}

/// Whether this process shows warnings about the text: one process of a run does.
fn shows_warnings() -> bool {
    MEMBER.load(Ordering::Relaxed) <= 1
}

/// Runs a member of a portfolio, in its own process.
fn run_member(start: MemberStart) {
    let MemberStart {
        number,
        command,
        started,
        live,
        text,
        writer,
        inbox,
    } = start;
    MEMBER.store(number, Ordering::Relaxed);
    let Parsed::Run(invocation) = cli::parse(command) else {
        log::error!("defect: a member that is no command");
        return;
    };
    let writer_of_result = writer.clone();
    let publisher = publisher(&invocation, 1, started);
    let run = SupervisedRun {
        invocation: *invocation,
        started,
        live,
        outlet: Outlet::Parent(Box::new(move |result| {
            send_result(result, &writer_of_result)
        })),
        publisher: Arc::new(publisher),
        member: Some(MemberLinks {
            text,
            writer,
            inbox,
        }),
    };
    run.run()
}

/// Sends the result of a member to its parent.
fn send_result(result: RunResult, writer: &MessageWriter) {
    let answer = match result.answer {
        Answer::Verdict(output) => {
            writer.send(&Message::Verdict(output.word()));
            MemberAnswer::Verdict(output.word(), worker::lines_around(&output))
        }
        Answer::Error(message) => MemberAnswer::Error(message),
        Answer::OfMember(..) | Answer::Text(..) | Answer::Script(_) => {
            MemberAnswer::Error("a member prints no text".to_owned())
        }
    };
    writer.send(&Message::Result(MemberResult {
        answer,
        note: result.note,
        stats: result.stats,
        found: result.found,
        certificate: result.certificate,
    }));
}

/// A run by this process itself.
struct SupervisedRun {
    invocation: Invocation,
    started: Instant,
    /// Whether a line on the terminal shows how the run is going.
    live: bool,
    outlet: Outlet,
    publisher: Arc<Publisher>,
    member: Option<MemberLinks>,
}

impl SupervisedRun {
    /// Runs and ends the process.
    fn run(self) -> ! {
        let interrupt = Arc::new(AtomicBool::new(false));
        let view = self.live.then(View::default);
        let (invocation, started) = (self.invocation, self.started);
        let supervision = Supervision {
            started,
            // A deterministic run is ended by its work, on every machine at the same point.
            timeout: invocation.timeout.filter(|_| !invocation.deterministic),
            memory_mib: invocation.memory_mib,
            fallback: fallback(&invocation),
            stats: self.publisher.uses_statistics(),
            publisher: self.publisher,
            interrupt: interrupt.clone(),
            writes_report: matches!(&invocation.task, Task::Solve(args) if args.report.is_some()),
            view: view.clone(),
            outlet: self.outlet,
            run_script: Box::new({
                let invocation = invocation.clone();
                move |text| {
                    if let Task::Solve(args) = &invocation.task {
                        dialogue::run(&invocation, args, Some(text));
                    }
                }
            }),
        };
        let member = self.member;
        let uses_statistics = supervision.stats;
        supervise(supervision, move |reporter| {
            let worker = Worker {
                uses_statistics,
                invocation: &invocation,
                reporter,
                started,
                interrupt,
                view,
                member,
            };
            worker.run()
        })
    }
}

/// What is printed when a run ends without an answer.
fn fallback(invocation: &Invocation) -> Fallback {
    match &invocation.task {
        Task::Solve(args) if args.print.is_none() => Fallback::Verdict,
        Task::Solve(_) => Fallback::Error,
        Task::Check { .. } => Fallback::Check,
    }
}

/// Ends with a usage error.
fn fail(message: &str) -> ! {
    let written = print(&[&error_line(message)]);
    std::process::exit(if written { 1 } else { UNWRITTEN })
}

/// `live`: a line on the terminal may have to give way to what is logged.
fn set_up_logging(verbosity: i32, live: bool) {
    let level = match verbosity {
        ..=-2 => log::LevelFilter::Off,
        -1 => log::LevelFilter::Error,
        0 => log::LevelFilter::Warn,
        1 => log::LevelFilter::Info,
        2 => log::LevelFilter::Debug,
        3.. => log::LevelFilter::Trace,
    };
    env_logger::Builder::new()
        .filter_level(level)
        .parse_default_env()
        .format(move |out, record| {
            use std::io::Write;
            // Further lines are indented: no line on standard error may look like a verdict.
            let message = record.args().to_string().replace('\n', "\n  ");
            let clear = if live { CLEAR } else { "" };
            let (level, target) = (record.level(), record.target());
            // The colour of a level is for terminals only.
            let style = out.default_level_style(level);
            let level = format!("{style}{level}{style:#}");
            match MEMBER.load(Ordering::Relaxed) {
                0 => writeln!(out, "{clear}[{level} {target}] {message}"),
                member => writeln!(out, "{clear}[{level} {target} #{member}] {message}"),
            }
        })
        .init();
    std::panic::set_hook(Box::new(|info| {
        let trace = std::backtrace::Backtrace::capture();
        match trace.status() {
            std::backtrace::BacktraceStatus::Captured => log::error!("defect: {info}\n{trace}"),
            _ => log::error!("defect: {info}"),
        }
    }));
}
