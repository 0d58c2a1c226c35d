//! The program `alphorn`: command line, logging, limits, exit status.
//!
//! Invariant: nothing is decided here. The library solves or checks in a thread of its own, and
//! `supervise` prints.

mod cli;
mod supervise;

use std::io::{IsTerminal, Read, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use alphorn::chc::{DependencyGraph, to_smtlib};
use alphorn::frontend::{Problem, parse_bytes};
use alphorn::run::{Budget, CLEAR, Context, Progress, Statistics};
use alphorn::term::TermStore;
use alphorn::witness::{Outcome, ProofFormat, Wanted, check_claim, parse_witness, string_literal};
use alphorn::{Config, normal_form, solve, system_after};

use cli::{Format, Invocation, Parsed, Print, Solve, Source, Task};
use supervise::{Answer, Fallback, Limits, Report, Reporter, Supervision, diagnose, supervise};

fn main() {
    let started = Instant::now();
    let invocation = match cli::parse(std::env::args_os()) {
        Parsed::Run(invocation) => *invocation,
        Parsed::Show(text) => {
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            return;
        }
        Parsed::Wrong(text) => {
            diagnose(&text);
            let first = text.lines().next().unwrap_or_default();
            fail(first.strip_prefix("error: ").unwrap_or(first));
        }
    };
    let live = invocation.verbosity >= 1 && std::io::stderr().is_terminal();
    set_up_logging(invocation.verbosity, live);
    if let Task::Solve(args) = &invocation.task
        && let Err(error) = args.config().check()
    {
        fail(&error.to_string());
    }
    let interrupt = Arc::new(AtomicBool::new(false));
    let supervision = Supervision {
        started,
        // The work ends a deterministic run, on every machine at the same point.
        timeout: invocation.timeout.filter(|_| !invocation.deterministic),
        memory_mib: invocation.memory_mib,
        fallback: match &invocation.task {
            Task::Solve(args) if args.print.is_none() => Fallback::Verdict,
            Task::Solve(_) => Fallback::Error,
            Task::Check { .. } => Fallback::Check,
        },
        stats: invocation.stats.map(|format| {
            let own = move || {
                let mut stats = Statistics::default();
                stats.add_time("total.seconds", started.elapsed());
                print_statistics(&stats, format)
            };
            Box::new(own) as Box<dyn Fn() -> String>
        }),
        interrupt: interrupt.clone(),
        live,
    };
    supervise(supervision, move |reporter| {
        let worker = Worker {
            invocation: &invocation,
            reporter,
            started,
            interrupt,
            live,
        };
        worker.run()
    })
}

/// Ends with a usage error.
fn fail(message: &str) -> ! {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "(error {})", string_literal(message)).and_then(|()| out.flush());
    std::process::exit(1)
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
            // Further lines are indented: no line on standard error may look like a verdict.
            let message = record.args().to_string().replace('\n', "\n  ");
            let clear = if live { CLEAR } else { "" };
            writeln!(
                out,
                "{clear}[{} {}] {message}",
                record.level(),
                record.target()
            )
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

impl Solve {
    fn config(&self) -> Config {
        Config {
            engine: self.engine.clone(),
            passes: self.passes.clone(),
            settings: self.settings.clone(),
        }
    }
}

/// The thread that works.
struct Worker<'a> {
    invocation: &'a Invocation,
    reporter: &'a Reporter,
    started: Instant,
    interrupt: Arc<AtomicBool>,
    /// Whether somebody at a terminal wants to see how it goes.
    live: bool,
}

impl Worker<'_> {
    fn run(&self) -> Report {
        let result = match &self.invocation.task {
            Task::Solve(args) => self.solve(args),
            Task::Check { problem, witness } => self.check(problem, witness),
        };
        result.unwrap_or_else(|message| Report {
            answer: Answer::Error(message),
            note: None,
            stats: None,
        })
    }

    /// The problem in a file, and a context with the limits of the command line and the file.
    fn read(&self, source: &Source) -> Result<(Problem, Context), String> {
        let start = Instant::now();
        let bytes = read_bytes(source)?;
        let terms = Rc::new(TermStore::new());
        let problem = parse_bytes(&bytes, terms.clone()).map_err(|e| e.to_string())?;
        let deterministic = self.invocation.deterministic;
        let mut budget = Budget::new(terms.clone(), self.interrupt.clone(), deterministic);
        let own = problem.requests.timeout_ms.map(Duration::from_millis);
        if let Some(limit) = self.invocation.timeout {
            // Of time, what was used for reading counts, too.
            budget = budget.since(self.started, limit);
        }
        if let Some(limit) = own {
            budget = budget.time(limit);
        }
        let mut cx = Context::with_budget(terms, budget);
        if self.live {
            cx.progress = Progress::to(Box::new(std::io::stderr()));
        }
        cx.stats.add_time("frontend.seconds", start.elapsed());
        cx.stats
            .set("frontend.clauses", problem.clauses.len() as u64);
        cx.stats
            .set("frontend.predicates", problem.predicates.len() as u64);
        Ok((problem, cx))
    }

    fn solve(&self, args: &Solve) -> Result<Report, String> {
        let (problem, mut cx) = self.read(&args.source)?;
        let requests = &problem.requests;
        let wanted = Wanted {
            model: args.model || requests.model,
            proof: args.proof.or(requests.proof.then_some(ProofFormat::Text)),
            reason_unknown: requests.reason_unknown,
        };
        self.reporter.limits(Limits {
            timeout: requests
                .timeout_ms
                .filter(|_| !self.invocation.deterministic)
                .map(Duration::from_millis),
            wanted,
        });
        if let Some(path) = &args.graph {
            let system = normal_form(&problem);
            let graph = DependencyGraph::new(&system).to_graphviz(&system);
            std::fs::write(path, graph)
                .map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        }
        let config = args.config();
        let (answer, note) = match &args.print {
            Some(print) => {
                let system = match print {
                    Print::Normalized => normal_form(&problem),
                    Print::After(pass) => {
                        system_after(&problem, &config, pass, &mut cx).map_err(|e| e.to_string())?
                    }
                };
                (Answer::Text(to_smtlib(&system), 0), None)
            }
            None => {
                let validated = solve(&problem, &config, &mut cx).map_err(|e| e.to_string())?;
                let note = validated.reason().map(ToString::to_string);
                (Answer::Verdict(validated.output(&problem, wanted)), note)
            }
        };
        Ok(self.report(answer, note, (problem, cx)))
    }

    fn check(&self, problem: &Source, witness: &Source) -> Result<Report, String> {
        let (problem, mut cx) = self.read(problem)?;
        self.reporter.limits(Limits {
            timeout: None,
            wanted: Wanted::default(),
        });
        let text = String::from_utf8(read_bytes(witness)?)
            .map_err(|_| "witness: this is not UTF-8 text".to_owned())?;
        let claim = parse_witness(&problem, &text).map_err(|e| format!("witness: {e}"))?;
        let (word, note, status) = match check_claim(&problem, &claim, &mut cx) {
            Outcome::Valid => ("valid\n", None, 0),
            Outcome::Invalid(why) => ("invalid\n", Some(why), 2),
            Outcome::Undecided(why) => ("unknown\n", Some(why), 3),
        };
        Ok(self.report(Answer::Text(word.to_owned(), status), note, (problem, cx)))
    }

    fn report(&self, answer: Answer, note: Option<String>, rest: (Problem, Context)) -> Report {
        let stats = self.invocation.stats.map(|format| {
            let mut stats = rest.1.stats.clone();
            stats.add_time("total.seconds", self.started.elapsed());
            print_statistics(&stats, format)
        });
        // The process ends next; giving back millions of terms one by one would only cost time.
        std::mem::forget(rest);
        Report {
            answer,
            note,
            stats,
        }
    }
}

fn read_bytes(source: &Source) -> Result<Vec<u8>, String> {
    match source {
        Source::File(path) => {
            std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
        }
        Source::Stdin => {
            let mut bytes = Vec::new();
            match std::io::stdin().lock().read_to_end(&mut bytes) {
                Ok(_) => Ok(bytes),
                Err(error) => Err(format!("cannot read standard input: {error}")),
            }
        }
    }
}

fn print_statistics(stats: &Statistics, format: Format) -> String {
    let peak = peak_memory_kib();
    match format {
        Format::Text => {
            let mut lines: Vec<String> = Vec::new();
            lines.extend(
                stats
                    .counts()
                    .map(|(name, count)| format!("{name} = {count}")),
            );
            lines.extend(
                stats
                    .times()
                    .map(|(name, time)| format!("{name} = {time:.3}")),
            );
            lines.push(format!("memory.peak.kib = {peak}"));
            lines.join("\n")
        }
        Format::Json => {
            let mut object = serde_json::Map::new();
            object.extend(
                stats
                    .counts()
                    .map(|(name, count)| (name.to_owned(), count.into())),
            );
            object.extend(
                stats
                    .times()
                    .map(|(name, time)| (name.to_owned(), time.into())),
            );
            object.insert("memory.peak.kib".to_owned(), peak.into());
            serde_json::Value::Object(object).to_string()
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
