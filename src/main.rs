//! The program `alphorn`: command line, logging, limits, exit status.
//!
//! Invariant: nothing is decided here. The library solves or checks in a thread of its own, and
//! `supervise` prints; with more jobs than one that is what each member of the `portfolio` does,
//! and the process that started them prints.

mod cli;
mod dialogue;
mod files;
mod portfolio;
mod statistics;
mod supervise;

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use alphorn::cache::Cache;
use alphorn::chc::{DependencyGraph, Shape, to_smtlib};
use alphorn::frontend::{Problem, parse_bytes};
use alphorn::report::{Page, Printed};
use alphorn::run::{Budget, CLEAR, Context, Progress, Reason, Statistics, View};
use alphorn::term::TermStore;
use alphorn::witness::{
    Outcome, Output, ProofFormat, Validated, Wanted, check_claim, no_certificate, parse_witness,
    string_literal,
};
use alphorn::{Config, Hint, News, normal_form, solve_telling, system_after};

use cli::{Format, Invocation, ModelKind, Parsed, Print, Solve, Source, Task};
use files::{create, write_all};
use portfolio::{Began, End, Family, Message, Peers, Place, Portfolio, Said, Teller};
use supervise::{
    Answer, Fallback, Limits, Outlet, Report, Reporter, Supervision, diagnose, supervise,
};

/// Which member of a portfolio this process is, from 1; 0 for none.
static MEMBER: AtomicUsize = AtomicUsize::new(0);

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
    let live = invocation.verbosity >= 0 && std::io::stderr().is_terminal();
    set_up_logging(invocation.verbosity, live);
    if let Task::Solve(args) = &invocation.task
        && let Err(error) = args.config().check()
    {
        fail(&error.to_string());
    }
    if let Task::Solve(args) = &invocation.task
        && args.interactive
    {
        dialogue::run(&invocation, args, None);
    }
    if let Task::Solve(args) = &invocation.task {
        let jobs = portfolio::useful_jobs(jobs(&invocation, args));
        if jobs > 1 {
            let portfolio = Portfolio {
                invocation: &invocation,
                solve: args,
                jobs,
                started,
                live,
            };
            portfolio.run(&be_member);
        }
    }
    let run = Run {
        invocation,
        started,
        live,
        outlet: Outlet::Streams,
        member: None,
    };
    run.run()
}

/// Members of the portfolio at a time; one for what is no portfolio.
fn jobs(invocation: &Invocation, args: &Solve) -> usize {
    let config = args.config();
    let default = Config::default();
    let named = (
        config.engine,
        config.without,
        config.passes,
        config.settings,
    ) != (
        default.engine,
        default.without,
        default.passes,
        default.settings,
    );
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

/// What a process does that is a member of a portfolio.
fn be_member(place: Place) {
    let Place {
        number,
        command,
        started,
        live,
        text,
        teller,
        inbox,
    } = place;
    MEMBER.store(number, Ordering::Relaxed);
    let Parsed::Run(invocation) = cli::parse(command) else {
        log::error!("defect: a member that is no command");
        return;
    };
    let teller_of_end = teller.clone();
    let run = Run {
        invocation: *invocation,
        started,
        live,
        outlet: Outlet::Member(Box::new(move |report| hand_over(report, &teller_of_end))),
        member: Some(Member {
            text,
            teller,
            inbox,
        }),
    };
    run.run()
}

/// Hands over what a member has found.
fn hand_over(report: Report, teller: &Teller) {
    let answer = match report.answer {
        Answer::Verdict(output) => {
            teller.say(&Message::Verdict(output.word()));
            Said::Verdict(output.word(), output.details().to_owned())
        }
        Answer::Error(message) => Said::Error(message),
        Answer::Text(..) | Answer::Script(_) => Said::Error("a member prints no text".to_owned()),
    };
    let stats = report.stats.and_then(|stats| {
        let value: serde_json::Value = serde_json::from_str(&stats).ok()?;
        value.as_object().cloned()
    });
    teller.say(&Message::End(End {
        answer,
        note: report.note,
        stats,
        certificate: report.certificate,
    }));
}

/// What a member of a portfolio is given.
struct Member {
    /// What its parent has read.
    text: Vec<u8>,
    /// Who is told of it.
    teller: Teller,
    /// Where other members are heard.
    inbox: File,
}

/// A run by this process itself.
struct Run {
    invocation: Invocation,
    started: Instant,
    live: bool,
    outlet: Outlet,
    member: Option<Member>,
}

impl Run {
    /// Runs and ends the process.
    fn run(self) -> ! {
        let Run {
            invocation,
            started,
            live,
            outlet,
            member,
        } = self;
        let interrupt = Arc::new(AtomicBool::new(false));
        let view = live.then(View::default);
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
            lingers: matches!(&invocation.task, Task::Solve(args) if args.report.is_some()),
            view: view.clone(),
            outlet,
            dialogue: Box::new({
                let invocation = invocation.clone();
                move |text| {
                    if let Task::Solve(args) = &invocation.task {
                        dialogue::run(&invocation, args, Some(text));
                    }
                }
            }),
        };
        supervise(supervision, move |reporter| {
            let worker = Worker {
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

impl Solve {
    fn config(&self) -> Config {
        Config {
            engine: self.engine.clone(),
            without: self.without.clone(),
            model: false,
            plain: self.model == Some(ModelKind::Plain),
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
    /// For somebody at a terminal who wants to see how it goes.
    view: Option<View>,
    member: Option<Member>,
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
            certificate: None,
        })
    }

    /// The problem in a text, and a context with the limits of the command line and the file.
    fn read(&self, text: &[u8]) -> Result<(Problem, Context), String> {
        let start = Instant::now();
        let terms = Rc::new(TermStore::new());
        let problem = parse_bytes(text, terms.clone()).map_err(|e| e.to_string())?;
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
        if let Some(view) = &self.view {
            cx.progress = Progress::to(view.clone());
        }
        cx.stats.add_time("frontend.seconds", start.elapsed());
        cx.stats
            .set("frontend.clauses", problem.clauses.len() as u64);
        cx.stats
            .set("frontend.predicates", problem.predicates.len() as u64);
        Ok((problem, cx))
    }

    fn solve(&self, args: &Solve) -> Result<Report, String> {
        let own;
        let text = match &self.member {
            Some(member) => &member.text,
            None => {
                own = read_bytes(&args.source)?;
                if !args.hinted && dialogue::is_script(&own) {
                    dialogue::check(args)?;
                    return Ok(Report {
                        answer: Answer::Script(own),
                        note: None,
                        stats: None,
                        certificate: None,
                    });
                }
                &own
            }
        };
        let (earlier, text) = match args.hinted {
            true => dialogue::earlier(text),
            false => (Vec::new(), &text[..]),
        };
        let (problem, mut cx) = self.read(text)?;
        let requests = &problem.requests;
        let proof = requests.proof || args.hinted;
        let wanted = Wanted {
            model: args.model.is_some() || requests.model || args.hinted,
            proof: args.proof.or(proof.then_some(ProofFormat::Text)),
            reason_unknown: requests.reason_unknown || args.hinted,
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
        // Before the work: who cannot have the page shall know it at once.
        let page = args.report.as_deref().map(create).transpose()?;
        let certificate = match &self.member {
            // Its parent has the file.
            Some(_) => None,
            None => args.certificate.as_deref().map(create).transpose()?,
        };
        let cache = match &args.cache {
            Some(folder) => Some(
                Cache::open(folder)
                    .map_err(|e| format!("cannot use {} as a cache: {e}", folder.display()))?,
            ),
            None => None,
        };
        let mut config = args.config();
        config.model = args.model.is_some() || requests.model || args.certificate.is_some();
        let mut handed_over = None;
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
                let tell = |news: News| match news {
                    News::Shape(shape) => self.tell(shape, &problem, wanted),
                    News::Answer(answer) => self.hold(&answer.output(&problem, wanted)),
                };
                let hints = cache.as_ref().map(|cache| cache.hints(&problem));
                let mut hints = hints.unwrap_or_default();
                let read =
                    |(text, witness): &(String, String)| Hint::read(text, witness, &problem.terms);
                hints.extend(earlier.iter().filter_map(read));
                if let Some(member) = &self.member
                    && let Ok(inbox) = member.inbox.try_clone()
                {
                    cx.bus = Some(Rc::new(Peers::new(member.teller.clone(), inbox)));
                }
                let validated = solve_telling(&problem, &config, &hints, tell, &mut cx);
                let validated = validated.map_err(|e| e.to_string())?;
                if let Some(cache) = &cache {
                    cache.store(&problem, &validated);
                }
                let note = validated.reason().map(ToString::to_string);
                if let Some(file) = page {
                    self.write_page(file, args, (&problem, &validated, &cx));
                }
                if args.certificate.is_some() {
                    self.hold(&validated.output(&problem, wanted));
                    let text = certificate_of(&problem, &validated, &cx);
                    match certificate {
                        Some(file) => write_all(file, &text, "certificate"),
                        None => handed_over = Some(text),
                    }
                }
                (Answer::Verdict(validated.output(&problem, wanted)), note)
            }
        };
        let mut report = self.report(answer, note, (problem, cx));
        report.certificate = handed_over;
        Ok(report)
    }

    /// Writes the page that explains the answer.
    fn write_page(
        &self,
        file: File,
        args: &Solve,
        (problem, answer, cx): (&Problem, &Validated, &Context),
    ) {
        let source = match &args.source {
            Source::File(path) => path.display().to_string(),
            Source::Stdin => "standard input".to_owned(),
        };
        let answer = Printed {
            reason: supervise::given_up().or(answer.reason().map(ToString::to_string)),
            ..Printed::new(problem, answer)
        };
        let page = Page {
            source: &source,
            problem,
            answer: &answer,
            stats: &cx.stats,
            spans: cx.timeline.spans(),
            total: self.started.elapsed(),
        };
        write_all(file, &page.html(), "report");
    }

    /// Says to who started this process what has been read.
    fn tell(&self, shape: &Shape, problem: &Problem, wanted: Wanted) {
        if let Some(Member { teller, .. }) = &self.member {
            teller.say(&Message::Began(Began {
                family: Family::of(shape),
                timeout: problem.requests.timeout_ms.map(Duration::from_millis),
                reason_unknown: wanted.reason_unknown,
            }));
        }
    }

    /// Says what the answer is, should nothing better come in time.
    fn hold(&self, output: &Output) {
        if let Some(Member { teller, .. }) = &self.member {
            teller.say(&Message::Held(End {
                answer: Said::Verdict(output.word(), output.details().to_owned()),
                note: None,
                stats: None,
                certificate: None,
            }));
        }
        self.reporter.held(output.clone());
    }

    fn check(&self, problem: &Source, witness: &Source) -> Result<Report, String> {
        let (problem, mut cx) = self.read(&read_bytes(problem)?)?;
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
            certificate: None,
        }
    }
}

/// A certificate of the answer, within half of the time that is left: the verdict goes first.
fn certificate_of(problem: &Problem, answer: &Validated, cx: &Context) -> String {
    let budget = match cx.budget.left() {
        Some(left) => cx.budget.time(left / 2),
        None => cx.budget.clone(),
    };
    answer.certificate(problem, &budget).unwrap_or_else(|why| {
        log::warn!("there is no certificate: {why}");
        no_certificate(&Reason::Incomplete(why))
    })
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
    statistics::render(&statistics::numbers(stats), format)
}
