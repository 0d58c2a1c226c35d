//! The thread that works: from the text of a question to the result that is printed.
//!
//! A question passes through these stages, each with a type of its own: [`Input`] (the text),
//! [`Question`] (the problem that was read, with limits and requests), [`Outputs`] (files that the
//! run writes besides, opened before the work), the answer
//! ([`Validated`](alphorn::witness::Validated)), and the [`RunResult`].
//!
//! Invariant: every verdict in a result is that of a `Validated` or of a check by `alphorn check`.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use alphorn::cache::Cache;
use alphorn::chc::{DependencyGraph, Family, Shape, to_smtlib};
use alphorn::compression::decompressed;
use alphorn::frontend::{Options, Problem, parse_bytes_with_options};
use alphorn::record::{found, numbers};
use alphorn::reply::Replies;
use alphorn::report::{Page, Printed};
use alphorn::run::{Budget, Context, Progress, Reason, View};
use alphorn::session;
use alphorn::term::TermStore;
use alphorn::witness::{Output, ProofFormat, Validated, Wanted, no_certificate};
use alphorn::{Config, Hint, Milestone, normal_form, solve_with_hints, system_after};
use serde_json::Value;

use crate::cli::{Form, Invocation, ModelKind, Print, Solve, Source, Task};
use crate::files::{create, write_all};
use crate::portfolio::{MemberAnswer, MemberBus, MemberResult, Message, MessageWriter, TextRead};
use crate::supervise::{Answer, Reporter, RunResult, TextOptions};
use crate::{dialogue, supervise};

/// What a member of a portfolio is given by its parent.
pub struct MemberLinks {
    /// The text, which the parent has read.
    pub text: Vec<u8>,
    /// Messages to the parent.
    pub writer: MessageWriter,
    /// Messages of other members.
    pub inbox: File,
}

impl Solve {
    /// The library's configuration for these options.
    pub fn config(&self) -> Config {
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

/// The input of a run.
enum Input<'a> {
    Question(QuestionText<'a>),
    /// A script with several questions.
    Script(Vec<u8>),
}

/// The text of a question.
struct QuestionText<'a> {
    input: Cow<'a, [u8]>,
    /// Where the text begins in the input.
    start: usize,
    /// Texts and witnesses of earlier questions of the same script.
    earlier: Vec<(String, String)>,
    /// The line and column up to which warnings about the script have been shown.
    shown: (u32, u32),
}

/// A problem that was read, with the limits of the run and what is to be printed.
struct Question {
    problem: Problem,
    cx: Context,
    printing: Printing,
    hints: Vec<Hint>,
}

/// What is printed with the verdict.
#[derive(Clone)]
struct Printing {
    /// What the command line wants after it.
    wanted: Wanted,
    /// The replies to the commands of the text.
    replies: Replies,
    /// Whether the parent is told which assertions a refutation uses.
    tells_used: bool,
}

impl Printing {
    /// The output of an answer. Values that the text asks for may take long to find; without the
    /// search the reply to the request is an error.
    fn output(&self, problem: &Problem, answer: &Validated, finds_values: bool) -> Output {
        let replies = &self.replies;
        let output = replies.output(problem, answer, self.wanted, finds_values);
        let used = answer.used_assertions(problem);
        if !self.tells_used || used.is_empty() {
            return output;
        }
        let used = dialogue::used_line(&used);
        let details = format!("{}{used}", output.details());
        output.among(String::new(), details)
    }
}

/// Files that a run writes besides its answer. They are opened before the work, so that a user who
/// cannot have one knows it at once.
struct Outputs {
    report: Option<File>,
    certificate: Option<File>,
    cache: Option<Cache>,
}

impl Outputs {
    /// A member of a portfolio sends its certificate to its parent, which has the file.
    fn open(args: &Solve, is_member: bool) -> Result<Outputs, String> {
        let report = args.report.as_deref().map(create).transpose()?;
        let certificate = match is_member {
            true => None,
            false => args.certificate.as_deref().map(create).transpose()?,
        };
        let open = |folder: &std::path::PathBuf| {
            Cache::open(folder)
                .map_err(|e| format!("cannot use {} as a cache: {e}", folder.display()))
        };
        let cache = args.cache.as_ref().map(open).transpose()?;
        Ok(Outputs {
            report,
            certificate,
            cache,
        })
    }
}

/// The thread that works.
pub struct Worker<'a> {
    pub invocation: &'a Invocation,
    pub reporter: &'a Reporter,
    pub started: Instant,
    /// Whether statistics are wanted.
    pub uses_statistics: bool,
    /// Set when the run is to stop.
    pub interrupt: Arc<AtomicBool>,
    /// Shows a user at a terminal how the run is going.
    pub view: Option<View>,
    pub member: Option<MemberLinks>,
}

impl Worker<'_> {
    /// Does the task of the command line.
    pub fn run(&self) -> RunResult {
        let result = match &self.invocation.task {
            Task::Solve(args) => self.solve(args),
            Task::Check {
                problem,
                witness,
                value,
            } => self.check(problem, witness, value.as_deref()),
        };
        result.unwrap_or_else(|message| RunResult::of(Answer::Error(message)))
    }

    fn solve(&self, args: &Solve) -> Result<RunResult, String> {
        let input = match self.input(args)? {
            Input::Question(input) => input,
            Input::Script(text) => return Ok(RunResult::of(Answer::Script(text))),
        };
        let question = self.question(&input, args)?;
        if let Some(path) = &args.graph {
            let system = normal_form(&question.problem);
            let graph = DependencyGraph::new(&system).to_graphviz(&system);
            std::fs::write(path, graph)
                .map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        }
        let outputs = Outputs::open(args, self.member.is_some())?;
        match &args.print {
            Some(print) => self.print_clauses(print, question, args),
            None => self.decide(question, outputs, args),
        }
    }

    /// Reads the input, or takes what the parent has read.
    fn input(&self, args: &Solve) -> Result<Input<'_>, String> {
        let input = match &self.member {
            Some(member) => Cow::Borrowed(&member.text[..]),
            None => {
                let input = read_bytes(&args.source)?;
                if !args.hinted && dialogue::is_script(&input) {
                    dialogue::check_options(args)?;
                    return Ok(Input::Script(input));
                }
                Cow::Owned(input)
            }
        };
        let (mut start, mut earlier, mut shown) = (0, Vec::new(), (0, 0));
        if args.hinted {
            let before = dialogue::split_input(&input);
            start = input.len() - before.text.len();
            (earlier, shown) = (before.answers, before.shown);
        }
        Ok(Input::Question(QuestionText {
            input,
            start,
            earlier,
            shown,
        }))
    }

    /// Reads the problem, and tells the main thread what limits the text sets and what is wanted.
    fn question(&self, input: &QuestionText<'_>, args: &Solve) -> Result<Question, String> {
        let (problem, cx) = self.read(&input.input[input.start..], input.shown)?;
        let requests = &problem.requests;
        let printing = Printing {
            wanted: Wanted {
                model: args.model.is_some() || args.hinted,
                derivations: args.model == Some(ModelKind::Derivations),
                proof: args.proof.or(args.hinted.then_some(ProofFormat::Text)),
                reason_unknown: args.hinted,
            },
            replies: match requests.replies && !args.hinted {
                true => session::replies(&problem.text),
                false => Replies::default(),
            },
            tells_used: args.hinted,
        };
        self.reporter.text_options(TextOptions {
            timeout: requests
                .timeout_ms
                .filter(|_| !self.invocation.deterministic)
                .map(Duration::from_millis),
            unknown: printing.replies.unknown(printing.wanted),
        });
        let hints = input.earlier.iter();
        let hints = hints.filter_map(|(text, witness)| Hint::read(text, witness, &problem.terms));
        Ok(Question {
            hints: hints.collect(),
            problem,
            cx,
            printing,
        })
    }

    /// The problem in a text, and a context with the limits of the command line and the file.
    /// Warnings about text up to the line and column `shown` have been shown before.
    pub(crate) fn read(
        &self,
        text: &[u8],
        shown: (u32, u32),
    ) -> Result<(Problem, Context), String> {
        let start = Instant::now();
        let terms = Rc::new(TermStore::new());
        let options = Options {
            strict: self.invocation.strict,
            check_at_end: self.invocation.check_at_end,
        };
        let problem = parse_bytes_with_options(text, terms.clone(), options);
        let problem = problem.map_err(|e| e.to_string())?;
        let new = |line, column| (line, column) >= shown && crate::shows_warnings();
        for warning in &problem.warnings {
            if new(warning.line, warning.column) {
                log::warn!("{warning}");
            }
        }
        let deterministic = self.invocation.deterministic;
        let mut budget = Budget::new(terms.clone(), self.interrupt.clone(), deterministic);
        if let Some(limit) = self.invocation.timeout {
            // A limit in time includes the time for reading.
            budget = budget.since(self.started, limit);
        }
        if let Some(limit) = problem.requests.timeout_ms.map(Duration::from_millis) {
            budget = budget.time(limit);
        }
        budget.allow_threads(self.invocation.threads);
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

    /// Prints the clauses in normal form or after a pass.
    fn print_clauses(
        &self,
        print: &Print,
        question: Question,
        args: &Solve,
    ) -> Result<RunResult, String> {
        let Question {
            problem, mut cx, ..
        } = question;
        let system = match print {
            Print::Normalized => normal_form(&problem),
            Print::After(pass) => {
                system_after(&problem, &args.config(), pass, &mut cx).map_err(|e| e.to_string())?
            }
        };
        let answer = Answer::Text(to_smtlib(&system), 0);
        Ok(self.result(answer, None, (problem, cx)))
    }

    /// Decides the problem, and writes the files that go with the answer.
    fn decide(
        &self,
        mut question: Question,
        outputs: Outputs,
        args: &Solve,
    ) -> Result<RunResult, String> {
        let mut config = args.config();
        let requests = &question.problem.requests;
        config.model = args.model.is_some() || requests.model || args.certificate.is_some();
        let answer = self.answer(&mut question, args, &config, outputs.cache.as_ref())?;
        let known = self.found(args, &question.problem, &answer);
        let mut unwritten = false;
        if let Some(file) = outputs.report {
            unwritten |= !self.write_page(file, args, &question, &answer);
        }
        let mut certificate_for_parent = None;
        // What follows may take longer than the time that is left.
        let (printing, problem) = (&question.printing, &question.problem);
        let asks_values = answer.reason().is_none() && printing.replies.asks_values();
        if asks_values || args.certificate.is_some() {
            self.send_provisional(&printing.output(problem, &answer, false), known.clone());
        }
        if args.certificate.is_some() {
            let text = certificate_of(&question.problem, &answer, &question.cx);
            match outputs.certificate {
                Some(file) => unwritten |= !write_all(file, &text, "certificate"),
                None => certificate_for_parent = Some(text),
            }
        }
        let output = question.printing.output(&question.problem, &answer, true);
        let note = answer.reason().map(ToString::to_string);
        let rest = (question.problem, question.cx);
        let mut result = self.result(Answer::Verdict(output), note, rest);
        result.certificate = certificate_for_parent;
        result.found = known;
        result.unwritten = unwritten;
        Ok(result)
    }

    /// What is known of the problem and the witness, if an object or the statistics have it.
    fn found(&self, args: &Solve, problem: &Problem, answer: &Validated) -> Option<Value> {
        let with_witness = args.form != Form::Text;
        let wanted = with_witness || self.invocation.stats.is_some();
        wanted.then(|| found(problem, &Printed::new(problem, answer), with_witness))
    }

    /// The checked answer to a question, which the cache keeps.
    fn answer(
        &self,
        question: &mut Question,
        args: &Solve,
        config: &Config,
        cache: Option<&Cache>,
    ) -> Result<Validated, String> {
        let Question {
            problem,
            cx,
            printing,
            hints,
        } = question;
        let mut all_hints = cache.map(|cache| cache.hints(problem)).unwrap_or_default();
        all_hints.append(hints);
        if let Some(member) = &self.member
            && let Ok(inbox) = member.inbox.try_clone()
        {
            cx.bus = Some(Rc::new(MemberBus::new(member.writer.clone(), inbox)));
        }
        let observe = |milestone: Milestone| match milestone {
            Milestone::Normalized(shape) => self.send_shape(shape, problem, printing),
            Milestone::Answer(answer) => {
                let known = self.found(args, problem, answer);
                self.send_provisional(&printing.output(problem, answer, false), known);
            }
        };
        let answer = solve_with_hints(problem, config, &all_hints, observe, cx)
            .map_err(|e| e.to_string())?;
        if let Some(cache) = cache {
            cache.store(problem, &answer);
        }
        Ok(answer)
    }

    /// Writes the page that explains the answer. Returns whether this succeeded.
    fn write_page(
        &self,
        file: File,
        args: &Solve,
        question: &Question,
        answer: &Validated,
    ) -> bool {
        let source = match &args.source {
            Source::File(path) => path.display().to_string(),
            Source::Stdin => "standard input".to_owned(),
        };
        let answer = Printed {
            reason: supervise::stop_reason().or(answer.reason().map(ToString::to_string)),
            ..Printed::new(&question.problem, answer)
        };
        let page = Page {
            source: &source,
            problem: &question.problem,
            answer: &answer,
            stats: &question.cx.stats,
            spans: question.cx.timeline.spans(),
            total: self.started.elapsed(),
        };
        write_all(file, &page.html(), "report")
    }

    /// Tells the parent of a portfolio what has been read.
    fn send_shape(&self, shape: &Shape, problem: &Problem, printing: &Printing) {
        if let Some(MemberLinks { writer, .. }) = &self.member {
            writer.send(&Message::TextRead(TextRead {
                family: Family::of(shape),
                timeout: problem.requests.timeout_ms.map(Duration::from_millis),
                unknown: printing.replies.unknown(printing.wanted),
            }));
        }
    }

    /// Sends an answer that is printed if the run ends before a better one is there.
    fn send_provisional(&self, output: &Output, found: Option<Value>) {
        if let Some(MemberLinks { writer, .. }) = &self.member {
            let answer = MemberAnswer::Verdict(output.word(), lines_around(output));
            writer.send(&Message::Provisional(MemberResult {
                found: found.clone(),
                ..MemberResult::of(answer)
            }));
        }
        self.reporter.provisional(output.clone(), found);
    }

    /// The result with an answer and the statistics of its run.
    pub(crate) fn result(
        &self,
        answer: Answer,
        note: Option<String>,
        rest: (Problem, Context),
    ) -> RunResult {
        let stats = self.uses_statistics.then(|| {
            let mut stats = rest.1.stats.clone();
            stats.add_time("total.seconds", self.started.elapsed());
            numbers(&stats)
        });
        // The process ends next; freeing millions of terms one by one would only take time.
        std::mem::forget(rest);
        RunResult {
            note,
            stats,
            ..RunResult::of(answer)
        }
    }
}

/// The lines before and after a verdict.
pub fn lines_around(output: &Output) -> [String; 2] {
    [output.before().to_owned(), output.details().to_owned()]
}

/// A certificate of the answer, made within half of the time that is left.
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

/// The text of a file or of standard input, decompressed if it is compressed.
///
/// # Errors
/// A message for the user that says why there is none.
pub(crate) fn read_bytes(source: &Source) -> Result<Vec<u8>, String> {
    let name = || match source {
        Source::File(path) => path.display().to_string(),
        Source::Stdin => "standard input".to_owned(),
    };
    let read = match source {
        Source::File(path) => std::fs::read(path),
        Source::Stdin => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map(|_| bytes)
        }
    };
    read.and_then(decompressed)
        .map_err(|error| format!("cannot read {}: {error}", name()))
}
