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
use alphorn::chc::{DependencyGraph, Shape, to_smtlib};
use alphorn::frontend::{Problem, parse_bytes};
use alphorn::report::{Page, Printed};
use alphorn::run::{Budget, Context, Progress, Reason, Statistics, View};
use alphorn::term::TermStore;
use alphorn::witness::{
    CheckOutcome, Output, ProofFormat, Validated, Wanted, check_claim, no_certificate,
    parse_witness,
};
use alphorn::{Config, Hint, Milestone, normal_form, solve_with_hints, system_after};

use crate::cli::{Format, Invocation, ModelKind, Print, Solve, Source, Task};
use crate::files::{create, write_all};
use crate::portfolio::{
    Family, MemberAnswer, MemberBus, MemberResult, Message, MessageWriter, TextRead,
};
use crate::supervise::{Answer, Reporter, RunResult, TextOptions};
use crate::{dialogue, statistics, supervise};

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
}

/// A problem that was read, with the limits of the run and what is to be printed.
struct Question {
    problem: Problem,
    cx: Context,
    wanted: Wanted,
    hints: Vec<Hint>,
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
            Task::Check { problem, witness } => self.check(problem, witness),
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
        let (mut start, mut earlier) = (0, Vec::new());
        if args.hinted {
            let (answers, text) = dialogue::split_input(&input);
            (start, earlier) = (input.len() - text.len(), answers);
        }
        Ok(Input::Question(QuestionText {
            input,
            start,
            earlier,
        }))
    }

    /// Reads the problem, and tells the main thread what limits the text sets and what is wanted.
    fn question(&self, input: &QuestionText<'_>, args: &Solve) -> Result<Question, String> {
        let (problem, cx) = self.read(&input.input[input.start..])?;
        let requests = &problem.requests;
        let proof = requests.proof || args.hinted;
        let wanted = Wanted {
            model: args.model.is_some() || requests.model || args.hinted,
            proof: args.proof.or(proof.then_some(ProofFormat::Text)),
            reason_unknown: requests.reason_unknown || args.hinted,
        };
        self.reporter.text_options(TextOptions {
            timeout: requests
                .timeout_ms
                .filter(|_| !self.invocation.deterministic)
                .map(Duration::from_millis),
            wanted,
        });
        let hints = input.earlier.iter();
        let hints = hints.filter_map(|(text, witness)| Hint::read(text, witness, &problem.terms));
        Ok(Question {
            hints: hints.collect(),
            problem,
            cx,
            wanted,
        })
    }

    /// The problem in a text, and a context with the limits of the command line and the file.
    fn read(&self, text: &[u8]) -> Result<(Problem, Context), String> {
        let start = Instant::now();
        let terms = Rc::new(TermStore::new());
        let problem = parse_bytes(text, terms.clone()).map_err(|e| e.to_string())?;
        let deterministic = self.invocation.deterministic;
        let mut budget = Budget::new(terms.clone(), self.interrupt.clone(), deterministic);
        if let Some(limit) = self.invocation.timeout {
            // A limit in time includes the time for reading.
            budget = budget.since(self.started, limit);
        }
        if let Some(limit) = problem.requests.timeout_ms.map(Duration::from_millis) {
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
        let answer = self.answer(&mut question, &config, outputs.cache.as_ref())?;
        if let Some(file) = outputs.report {
            self.write_page(file, args, &question, &answer);
        }
        let mut certificate_for_parent = None;
        if args.certificate.is_some() {
            self.send_provisional(&answer.output(&question.problem, question.wanted));
            let text = certificate_of(&question.problem, &answer, &question.cx);
            match outputs.certificate {
                Some(file) => write_all(file, &text, "certificate"),
                None => certificate_for_parent = Some(text),
            }
        }
        let output = answer.output(&question.problem, question.wanted);
        let note = answer.reason().map(ToString::to_string);
        let rest = (question.problem, question.cx);
        let mut result = self.result(Answer::Verdict(output), note, rest);
        result.certificate = certificate_for_parent;
        Ok(result)
    }

    /// The checked answer to a question, which the cache keeps.
    fn answer(
        &self,
        question: &mut Question,
        config: &Config,
        cache: Option<&Cache>,
    ) -> Result<Validated, String> {
        let Question {
            problem,
            cx,
            wanted,
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
            Milestone::Normalized(shape) => self.send_shape(shape, problem, *wanted),
            Milestone::Answer(answer) => self.send_provisional(&answer.output(problem, *wanted)),
        };
        let answer = solve_with_hints(problem, config, &all_hints, observe, cx)
            .map_err(|e| e.to_string())?;
        if let Some(cache) = cache {
            cache.store(problem, &answer);
        }
        Ok(answer)
    }

    /// Writes the page that explains the answer.
    fn write_page(&self, file: File, args: &Solve, question: &Question, answer: &Validated) {
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
        write_all(file, &page.html(), "report");
    }

    /// Tells the parent of a portfolio what has been read.
    fn send_shape(&self, shape: &Shape, problem: &Problem, wanted: Wanted) {
        if let Some(MemberLinks { writer, .. }) = &self.member {
            writer.send(&Message::TextRead(TextRead {
                family: Family::of(shape),
                timeout: problem.requests.timeout_ms.map(Duration::from_millis),
                reason_unknown: wanted.reason_unknown,
            }));
        }
    }

    /// Sends an answer that is printed if the run ends before a better one is there.
    fn send_provisional(&self, output: &Output) {
        if let Some(MemberLinks { writer, .. }) = &self.member {
            let answer = MemberAnswer::Verdict(output.word(), output.details().to_owned());
            writer.send(&Message::Provisional(MemberResult::of(answer)));
        }
        self.reporter.provisional(output.clone());
    }

    /// Checks a witness from elsewhere against a problem.
    fn check(&self, problem: &Source, witness: &Source) -> Result<RunResult, String> {
        let (problem, mut cx) = self.read(&read_bytes(problem)?)?;
        self.reporter.text_options(TextOptions {
            timeout: None,
            wanted: Wanted::default(),
        });
        let text = String::from_utf8(read_bytes(witness)?)
            .map_err(|_| "witness: this is not UTF-8 text".to_owned())?;
        let claim = parse_witness(&problem, &text).map_err(|e| format!("witness: {e}"))?;
        let (word, note, status) = match check_claim(&problem, &claim, &mut cx) {
            CheckOutcome::Valid => ("valid\n", None, 0),
            CheckOutcome::Invalid(why) => ("invalid\n", Some(why), 2),
            CheckOutcome::Undecided(why) => ("unknown\n", Some(why), 3),
        };
        Ok(self.result(Answer::Text(word.to_owned(), status), note, (problem, cx)))
    }

    /// The result with an answer and the statistics of its run.
    fn result(&self, answer: Answer, note: Option<String>, rest: (Problem, Context)) -> RunResult {
        let stats = self.invocation.stats.map(|format| {
            let mut stats = rest.1.stats.clone();
            stats.add_time("total.seconds", self.started.elapsed());
            print_statistics(&stats, format)
        });
        // The process ends next; freeing millions of terms one by one would only take time.
        std::mem::forget(rest);
        RunResult {
            answer,
            note,
            stats,
            certificate: None,
        }
    }
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

/// The statistics of a run in a format.
pub fn print_statistics(stats: &Statistics, format: Format) -> String {
    statistics::render(&statistics::numbers(stats), format)
}
