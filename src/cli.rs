//! The command line: alphorn's options, and names that Z3, Eldarica and Golem have for the same.
//!
//! Invariant: this module reads no file and solves nothing; it maps arguments to an [`Invocation`], a
//! text to print, or an error.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use alphorn::internal::{ENGINES, PASSES};
use alphorn::witness::ProofFormat;
use alphorn::{list_passes, list_settings, z3_version};
use clap::builder::PossibleValuesParser;
use clap::{
    ArgAction, Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum,
};
use clap_complete::Shell;

/// The program's name.
const NAME: &str = "alphorn";

/// What follows the options in the long help and in the manual page.
const AFTER_HELP: &str = "\
Examples:
  alphorn FILE --timeout 60                   decide, within a minute
  alphorn FILE --model --proof                with the invariants, or the run that violates a query
  alphorn FILE --report page.html             with a page that explains the answer
  alphorn FILE --output=json                  the answer as one object, for programs
  alphorn FILE --engine bmc -v --stats        one engine, with a log and statistics
  alphorn check FILE WITNESS                  check a model or a refutation of any solver
  xz -c FILE | alphorn                        compressed text, from standard input

Exit status:
  0     any verdict; valid with `alphorn check`
  1     an error in the input or the options
  2, 3  invalid, and unknown, with `alphorn check`
  4     the answer, or a file beside it, could not be written

Names of options of Z3, Eldarica and Golem are understood as well: see the guide, docs/src/command-line.md.";

/// Decides satisfiability of constrained Horn clauses.
///
/// Reads SMT-LIB 2 HORN or Z3's fixedpoint dialect and prints `sat`, `unsat` or `unknown`. Every
/// answer is checked against the input before it is printed.
#[derive(Parser, Debug)]
#[command(
    name = NAME,
    disable_help_subcommand = true,
    // The last one counts, as of an option in a variable and one that is typed.
    args_override_self = true,
    override_usage = "alphorn [OPTIONS] [FILE]\n       alphorn [OPTIONS] check FILE WITNESS",
    after_long_help = AFTER_HELP
)]
struct Cli {
    /// The file to solve; without one, or with `-`, standard input.
    ///
    /// Write ./check for a file with the name check.
    file: Option<PathBuf>,

    #[command(flatten)]
    solve: SolveArgs,

    #[command(flatten)]
    common: CommonArgs,

    #[command(subcommand)]
    command: Option<CliCommand>,
}

#[derive(Args, Debug)]
struct SolveArgs {
    /// The engine; `auto` is the default strategy.
    #[arg(long, value_name = "NAME", default_value = "auto", long_help = engines_help())]
    engine: String,

    /// Engines that the default strategy does not use, separated by commas.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        hide_short_help = true
    )]
    without: Vec<String>,

    /// Print a model after the verdict, if the clauses have one.
    ///
    /// A plain model has no recursive functions, so that every program that reads SMT-LIB models can
    /// read it. If only other models are found, the verdict is `unknown`. Where there is a proof by
    /// induction on derivations, a model is printed with it if the predicates are total functions;
    /// `derivations` prints the least model over a datatype of derivations instead.
    #[arg(long, value_name = "KIND", num_args = 0..=1, require_equals = true,
          default_missing_value = "any")]
    model: Option<ModelKind>,

    /// Print a refutation after the verdict, if the clauses have no model.
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true,
          default_missing_value = "text")]
    proof: Option<Proof>,

    /// The form of the answer: text, or `json` for one object with verdict, reason, witness, checks,
    /// times and statistics; `json:FILE` writes the object to a file beside the text.
    ///
    /// The object is described by docs/src/answer.schema.json.
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = form,
          conflicts_with_all = ["print_system", "dump_after", "interactive"], hide_short_help = true)]
    output: Form,

    /// Print the clauses in normal form, as SMT-LIB, instead of solving them.
    #[arg(long, hide_short_help = true)]
    print_system: bool,

    /// Print the clauses after the last application of this pass, as SMT-LIB, instead of solving them.
    #[arg(
        long,
        value_name = "PASS",
        conflicts_with = "print_system",
        hide_short_help = true
    )]
    dump_after: Option<String>,

    /// Change a setting of an engine; may be repeated.
    #[arg(long = "set", value_name = "ENGINE.NAME=VALUE", hide_short_help = true)]
    settings: Vec<String>,

    /// The abstract domain of `vinta`; the same as `--set vinta.domain=NAME`.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    domain: Option<String>,

    /// Write the last abstract reachability graph of `vinta`, as Graphviz; the same as `--set
    /// vinta.arg=FILE`.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    arg: Option<String>,

    /// List the settings of all engines with their defaults, and exit.
    #[arg(long = "settings", hide_short_help = true)]
    list_settings: bool,

    /// The passes to apply, separated by commas; `default` for the default, `quick` for those of it
    /// that are not costly, `none` for none.
    #[arg(long, value_name = "LIST", long_help = passes_help(), hide_short_help = true)]
    passes: Option<String>,

    /// Write the dependency graph of the clauses in normal form, as Graphviz.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    graph: Option<PathBuf>,

    /// Write an HTML page that explains the answer: the invariants or the derivation, passes and
    /// engines. Implies one job.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["print_system", "dump_after"],
          hide_short_help = true)]
    report: Option<PathBuf>,

    /// Write a certificate of the answer: an SMT-LIB script that any solver can check without alphorn
    /// (see docs/src/certificates.md).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["print_system", "dump_after"],
          hide_short_help = true)]
    certificate: Option<PathBuf>,

    /// Keep answers in this folder, and use those of earlier runs on the same or similar clauses, as
    /// far as they still hold.
    #[arg(long, value_name = "FOLDER", hide_short_help = true)]
    cache: Option<PathBuf>,

    /// Answer commands as they arrive on standard input, until `(exit)`. The limit of --timeout holds
    /// for each question.
    #[arg(long, conflicts_with_all = ["file", "print_system", "dump_after", "report", "graph",
          "certificate", "arg"], hide_short_help = true)]
    interactive: bool,

    /// Answer a question of a session: standard input begins with a line of JSON about the session
    /// before it, and the witness is printed after the verdict.
    #[arg(long, hide = true)]
    hinted: bool,

    /// Print a script with which a shell completes these options, and exit.
    #[arg(long, value_name = "SHELL", hide_short_help = true)]
    completions: Option<Shell>,

    /// Print this help as a manual page, and exit.
    #[arg(long, hide_short_help = true)]
    man: bool,
}

/// The long help of `--engine`, with a list of the engines.
fn engines_help() -> String {
    let mut list = String::new();
    for engine in &ENGINES {
        list += &format!("{:<14}{}\n", engine.name, engine.about);
    }
    format!(
        "The engine; `auto` is the default strategy, which uses several. The engines are:\n\n{list}"
    )
}

/// The long help of `--passes`, with a list of the passes.
fn passes_help() -> String {
    let list = list_passes();
    format!(
        "The passes to apply, separated by commas; `default` for the default, `quick` for those of it \
         that are not costly, `none` for none. The \
         passes are:\n\n{list}"
    )
}

impl SolveArgs {
    /// Replaces the options that are short forms of settings by these.
    fn with_short_forms(mut self) -> Self {
        let domain = self
            .domain
            .take()
            .map(|name| format!("vinta.domain={name}"));
        let arg = self.arg.take().map(|file| format!("vinta.arg={file}"));
        self.settings.extend(domain.into_iter().chain(arg));
        self
    }
}

#[derive(Args, Debug)]
struct CommonArgs {
    /// Members of the portfolio that run at a time [default: the number of cores].
    ///
    /// Members solve the same problem in different ways, each in its own process, and the first
    /// answer counts. With one job only the default strategy runs. The options --engine, --without,
    /// --passes, --set, --report and --deterministic imply one job. The limit of --memory is divided by
    /// the number of jobs. The check of a model with many assertions has as many threads; with
    /// `alphorn check` one by default.
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Threads for the check of a model [default: --jobs of `alphorn check`, otherwise 1].
    #[arg(long, value_name = "N", global = true, hide = true,
          value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,

    /// Stop with `unknown` after this time, which may have a fraction.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, global = true)]
    timeout: Option<Duration>,

    /// Give the same answer on any machine: --timeout limits work, not time.
    ///
    /// The same file, options and version give the same output, byte for byte, however busy the
    /// machine is. The work of N seconds is what takes about N seconds on an idle reference machine.
    /// Implies one job.
    #[arg(long, global = true)]
    deterministic: bool,

    /// Stop with `unknown` when more than this much memory is in use: MiB, or with a unit, as in 4G.
    #[arg(long, value_name = "SIZE", global = true, value_parser = mebibytes)]
    memory: Option<u64>,

    /// Refuse text that is not standard, instead of reading it with a warning.
    ///
    /// Such text has one meaning all the same, like `-3` for `(- 3)`. The warnings, on standard error,
    /// say what to write instead.
    #[arg(long, global = true, hide_short_help = true)]
    strict: bool,

    /// Check at the end if the text has no check-sat; without this it is refused, since it may have
    /// been cut off.
    #[arg(long, global = true, hide_short_help = true)]
    check_at_end: bool,

    /// Print statistics (counts and times) on standard error at the end.
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true,
          default_missing_value = "text", global = true)]
    stats: Option<Format>,

    /// Log more; may be repeated (or set RUST_LOG).
    #[arg(short, long, action = ArgAction::Count, global = true)]
    verbose: u8,

    /// Log less; may be repeated.
    #[arg(short, long, action = ArgAction::Count, global = true)]
    quiet: u8,
}

#[derive(Subcommand, Debug)]
enum CliCommand {
    /// Check a model or a refutation of any solver against a file.
    ///
    /// For a file with several questions the witness is the whole output of alphorn, and each question
    /// has a line.
    ///
    /// Prints `valid` (exit status 0), `invalid` (2) or `unknown` (3), and the reason on standard
    /// error.
    Check {
        /// The file with the clauses; `-` for standard input.
        file: PathBuf,
        /// The witness as a solver prints it: a model, or a refutation as text or JSON; `-` for standard
        /// input.
        witness: PathBuf,
        /// Prints the value of this term in the model instead, without a check of the model.
        #[arg(long, hide = true, value_name = "TERM", allow_hyphen_values = true)]
        value: Option<String>,
    },
}

/// The form of the answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// Text on standard output.
    Text,
    /// One JSON object on standard output.
    Json,
    /// Text on standard output, and the object in this file.
    JsonFile(PathBuf),
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Form::Text => f.write_str("text"),
            Form::Json => f.write_str("json"),
            Form::JsonFile(path) => write!(f, "json:{}", path.display()),
        }
    }
}

/// The form of the answer with this name.
fn form(text: &str) -> Result<Form, String> {
    match text.split_once(':') {
        None if text == "text" => Ok(Form::Text),
        None if text == "json" => Ok(Form::Json),
        Some(("json", path)) if !path.is_empty() => Ok(Form::JsonFile(path.into())),
        _ => Err("the forms are text, json and json:FILE".to_owned()),
    }
}

/// The format of statistics.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines of text.
    Text,
    /// One JSON object.
    Json,
}

/// Which models are accepted.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// All models.
    Any,
    /// Only models without recursive functions.
    Plain,
    /// All models, and with a proof about several runs the least model over a datatype of derivations.
    Derivations,
}

impl ModelKind {
    /// The option with this kind.
    pub fn option(self) -> &'static str {
        match self {
            ModelKind::Any => "--model",
            ModelKind::Plain => "--model=plain",
            ModelKind::Derivations => "--model=derivations",
        }
    }
}

/// The format of a refutation.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// Numbered steps, one per line.
    Text,
    /// The same as one JSON object.
    Json,
    /// A proof term in the format of Z3.
    Z3,
}

/// A positive number of seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if seconds.is_nan() || seconds <= 0.0 {
        return Err("a time limit must be positive".to_owned());
    }
    // Longer limits are cut off at about 30 years, which a `Duration` and an `Instant` can represent.
    Ok(Duration::try_from_secs_f64(seconds.min(1e9)).unwrap_or(Duration::from_secs(1_000_000_000)))
}

/// A positive amount of memory in MiB: a number of MiB, or one with the unit `K`, `M`, `G` or `T` (also
/// as `4GB` or `4GiB`; units are powers of 1024), rounded up.
fn mebibytes(text: &str) -> Result<u64, String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number
        .parse()
        .map_err(|_| "not a size: a number of MiB, or one with a unit, as in 4G".to_owned())?;
    let unit = unit.trim_start().to_ascii_lowercase();
    let size = match unit
        .strip_suffix("ib")
        .or(unit.strip_suffix('b'))
        .unwrap_or(&unit)
    {
        "k" => Some(number.div_ceil(1024)),
        "" | "m" => Some(number),
        "g" => number.checked_mul(1 << 10),
        "t" => number.checked_mul(1 << 20),
        _ => return Err(format!("`{unit}` is no unit of memory: K, M, G or T")),
    };
    match size {
        Some(0) => Err("a memory limit must be positive".to_owned()),
        Some(size) => Ok(size),
        None => Err("a memory limit must be smaller".to_owned()),
    }
}

/// Where a text is read from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

impl Source {
    fn new(path: Option<PathBuf>) -> Source {
        match path {
            Some(path) if path.as_os_str() != "-" => Source::File(path),
            _ => Source::Stdin,
        }
    }
}

/// The options for solving a problem.
#[derive(Clone, Debug)]
pub struct Solve {
    /// Where the problem is read from.
    pub source: Source,
    /// How many members of the portfolio run at a time; `None` for the number of cores.
    pub jobs: Option<usize>,
    /// The name of an engine, or `auto`.
    pub engine: String,
    /// The names of the engines that the default strategy does not use.
    pub without: Vec<String>,
    /// The kind of models to print; `None` for none.
    pub model: Option<ModelKind>,
    /// The format of refutations to print; `None` for none.
    pub proof: Option<ProofFormat>,
    /// The form of the answer.
    pub form: Form,
    /// The clauses to print instead of solving them.
    pub print: Option<Print>,
    /// The passes, separated by commas.
    pub passes: Option<String>,
    /// Settings of engines, as `ENGINE.NAME=VALUE`.
    pub settings: Vec<String>,
    /// The file for the dependency graph.
    pub graph: Option<PathBuf>,
    /// The file for the report, a page that explains the answer.
    pub report: Option<PathBuf>,
    /// The file for the certificate.
    pub certificate: Option<PathBuf>,
    /// The folder in which answers are kept.
    pub cache: Option<PathBuf>,
    /// Whether commands are answered as they arrive.
    pub interactive: bool,
    /// Whether the text begins with the answers to earlier questions.
    pub hinted: bool,
}

/// The clauses to print.
#[derive(Clone, Debug)]
pub enum Print {
    /// Those in normal form.
    Normalized,
    /// Those after the last application of this pass.
    After(String),
}

/// What the program is to do.
#[derive(Clone, Debug)]
pub enum Task {
    /// To solve a problem.
    Solve(Box<Solve>),
    /// To check a witness.
    Check {
        /// The problem.
        problem: Source,
        /// The witness, as a solver prints it.
        witness: Source,
        /// A term whose value in the model is printed instead.
        value: Option<String>,
    },
}

/// A valid command line.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// What the program is to do.
    pub task: Task,
    /// The time limit.
    pub timeout: Option<Duration>,
    /// Whether the time limit counts work instead of time.
    pub deterministic: bool,
    /// The memory limit.
    pub memory_mib: Option<u64>,
    /// Whether text that is not standard is refused.
    pub strict: bool,
    /// Whether a text without a check is checked at its end.
    pub check_at_end: bool,
    /// The number of threads for the check of a model.
    pub threads: usize,
    /// The format of statistics; `None` for none.
    pub stats: Option<Format>,
    /// How much to log: 0 is the default, and negative numbers are less.
    pub verbosity: i32,
}

/// The result of reading a command line.
pub enum Parsed {
    /// A run.
    Run(Box<Invocation>),
    /// A text for standard output, such as the help.
    Show(String),
    /// An error: the first line says what is wrong, the rest is the usage.
    Wrong(String),
}

/// Reads a command line, which begins with the program's name.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Parsed {
    // Clap needs a version with a static lifetime.
    let version: &'static str =
        format!("{} (libz3 {})", env!("CARGO_PKG_VERSION"), z3_version()).leak();
    let command = Cli::command().version(version);
    let found = command
        .try_get_matches_from(translate_foreign(args))
        .and_then(|matches| Cli::from_arg_matches(&matches));
    match found {
        Ok(cli) => invocation(cli),
        Err(error) if error.use_stderr() => Parsed::Wrong(error.render().to_string()),
        Err(error) => Parsed::Show(error.render().to_string()),
    }
}

/// What an argument of another solver means here.
enum Foreign {
    /// Nothing: it asks for what is always so.
    Nothing,
    /// These arguments.
    Words(Vec<String>),
}

/// The meaning of an argument that Z3, Eldarica or Golem have and alphorn's own options have not;
/// `None` for any other argument. The guide has the same as a table (`docs/src/command-line.md`).
fn foreign(word: &str) -> Option<Foreign> {
    let words = |words: &[&str]| Some(Foreign::Words(words.iter().map(|&w| w.into()).collect()));
    let option = |name: &str, value: &str| words(&[&format!("{name}={value}")]);
    match word {
        "-smt2" | "-hsmt" | "-horn" | "-assert" | "--validate" => Some(Foreign::Nothing),
        "-in" => words(&["-"]),
        "-ssol" | "-model" => words(&["--model"]),
        "-cex" | "-dotCEX" => words(&["--proof"]),
        "--print-witness" => words(&["--model", "--proof"]),
        "-st" | "-statistics" => words(&["--stats"]),
        "-sp" => words(&["--print-system"]),
        "-log" => words(&["-v"]),
        _ => {
            let (name, value) = word.split_once(':')?;
            match name {
                "-T" | "-t" => option("--timeout", value),
                "-memory" => option("--memory", value),
                "-dot" => option("--graph", value),
                _ => None,
            }
        }
    }
}

/// Replaces what other solvers call differently ([`foreign`]), up to `--`.
fn translate_foreign(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut options = true;
    let mut out = Vec::new();
    for arg in args {
        options &= arg != "--";
        match arg.to_str().filter(|_| options).and_then(foreign) {
            Some(Foreign::Nothing) => {}
            Some(Foreign::Words(words)) => out.extend(words.into_iter().map(OsString::from)),
            None => out.push(arg),
        }
    }
    out
}

/// The script with which a shell completes the options.
fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut completed_command(), NAME, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The definitions as shells complete them: without hidden options, and with the names of engines, passes
/// and domains.
fn completed_command() -> Command {
    let full = Cli::command();
    let engines = || ENGINES.iter().map(|entry| entry.name);
    let passes = || PASSES.iter().map(|pass| pass.name);
    let shown = full
        .get_arguments()
        .filter(|arg| !arg.is_hide_set())
        .cloned();
    let mut command = Command::new(NAME).args(shown);
    command = command.subcommands(full.get_subcommands().cloned());
    command
        .mut_arg("engine", |arg| {
            arg.value_parser(PossibleValuesParser::new(
                ["auto"].into_iter().chain(engines()),
            ))
        })
        .mut_arg("without", |arg| {
            arg.value_parser(PossibleValuesParser::new(engines()))
        })
        .mut_arg("passes", |arg| {
            let names = ["default", "quick", "none"].into_iter().chain(passes());
            arg.value_parser(PossibleValuesParser::new(names))
        })
        .mut_arg("dump_after", |arg| {
            arg.value_parser(PossibleValuesParser::new(passes()))
        })
}

/// The manual page, from the same definitions as the help.
fn manual() -> Parsed {
    let command = Cli::command().version(env!("CARGO_PKG_VERSION"));
    // Otherwise the page has no text for the options that the short help hides.
    let command = command.mut_args(|arg| arg.hide_short_help(false));
    let mut page = Vec::new();
    match clap_mangen::Man::new(command).render(&mut page) {
        Ok(()) => Parsed::Show(String::from_utf8_lossy(&page).into_owned()),
        Err(error) => Parsed::Wrong(error.to_string()),
    }
}

/// Checks the options that clap has read, and makes an invocation or a text of them.
fn invocation(cli: Cli) -> Parsed {
    let common = cli.common;
    let task = match cli.command {
        Some(CliCommand::Check {
            file,
            witness,
            value,
        }) => {
            if let Some(other) = cli.file {
                return Parsed::Wrong(format!(
                    "unexpected argument before check: {}",
                    other.display()
                ));
            }
            let (problem, witness) = (Source::new(Some(file)), Source::new(Some(witness)));
            if problem == Source::Stdin && witness == Source::Stdin {
                return Parsed::Wrong("only one of two files can be standard input".to_owned());
            }
            Task::Check {
                problem,
                witness,
                value,
            }
        }
        None => {
            let args = cli.solve.with_short_forms();
            if args.list_settings {
                return Parsed::Show(list_settings());
            }
            if let Some(shell) = args.completions {
                return Parsed::Show(completions(shell));
            }
            if args.man {
                return manual();
            }
            let print = match args.dump_after {
                Some(pass) => Some(Print::After(pass)),
                None => args.print_system.then_some(Print::Normalized),
            };
            Task::Solve(Box::new(Solve {
                source: Source::new(cli.file),
                jobs: common.jobs.map(usize::from),
                engine: args.engine,
                without: args.without,
                model: args.model,
                proof: args.proof.map(|format| match format {
                    Proof::Text => ProofFormat::Text,
                    Proof::Json => ProofFormat::Json,
                    Proof::Z3 => ProofFormat::Z3,
                }),
                form: args.output,
                print,
                passes: args.passes,
                settings: args.settings,
                graph: args.graph,
                report: args.report,
                certificate: args.certificate,
                cache: args.cache,
                interactive: args.interactive,
                hinted: args.hinted,
            }))
        }
    };
    let of_jobs = common.jobs.filter(|_| matches!(task, Task::Check { .. }));
    Parsed::Run(Box::new(Invocation {
        task,
        threads: common.threads.or(of_jobs).map_or(1, usize::from),
        timeout: common.timeout,
        deterministic: common.deterministic,
        memory_mib: common.memory,
        strict: common.strict,
        check_at_end: common.check_at_end,
        stats: common.stats,
        verbosity: i32::from(common.verbose) - i32::from(common.quiet),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(args: &[&str]) -> Invocation {
        let args = std::iter::once("alphorn").chain(args.iter().copied());
        match parse(args.map(OsString::from)) {
            Parsed::Run(invocation) => *invocation,
            Parsed::Show(text) | Parsed::Wrong(text) => panic!("{text}"),
        }
    }

    fn wrong(args: &[&str]) -> bool {
        let args = std::iter::once("alphorn").chain(args.iter().copied());
        matches!(parse(args.map(OsString::from)), Parsed::Wrong(_))
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    /// The short help has the most frequent options and fits on a screen.
    #[test]
    fn the_short_help_is_one_screen() {
        let text = Cli::command().render_help().to_string();
        assert!(text.lines().count() <= 32, "{text}");
        assert!(text.contains("--timeout") && !text.contains("--dump-after"));
    }

    #[test]
    fn manual_and_completions_have_every_option() {
        let Parsed::Show(manual) = manual() else {
            panic!("no manual")
        };
        // The manual escapes hyphens.
        let manual = manual.replace("\\-", "-");
        assert!(manual.contains("Engines that the default strategy does not use"));
        for shell in Shell::value_variants() {
            let script = completions(*shell);
            let command = Cli::command();
            let shown = command.get_opts().filter(|o| !o.is_hide_set());
            for option in shown.filter_map(|o| o.get_long()) {
                assert!(script.contains(option), "{shell}: {option}");
                assert!(manual.contains(&format!("--{option}")), "{option}");
            }
            assert!(!script.contains("hinted"), "{shell}");
            // The others complete no values.
            if matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish) {
                for name in ["templates", "single-loop"] {
                    assert!(script.contains(name), "{shell}: {name}");
                }
            }
        }
        let help = Cli::command().render_long_help().to_string();
        for text in [&manual, &help] {
            for part in [
                "--output=json",
                "Exit status",
                "induct",
                "could not be written",
            ] {
                assert!(text.contains(part), "{part}");
            }
        }
    }

    #[test]
    fn options_of_other_solvers_are_accepted() {
        let solve = |args: &[&str]| match run(args).task {
            Task::Solve(solve) => *solve,
            Task::Check { .. } => panic!("not to solve"),
        };
        // Z3, Eldarica, Golem.
        let invocation = run(&["-smt2", "-T:60", "-memory:512", "-st", "f"]);
        assert_eq!(invocation.timeout, Some(Duration::from_secs(60)));
        assert_eq!(invocation.memory_mib, Some(512));
        assert_eq!(invocation.stats, Some(Format::Text));
        let eldarica = solve(&["-horn", "-cex", "-dot:g.dot", "f"]);
        assert_eq!(eldarica.proof, Some(ProofFormat::Text));
        assert_eq!(eldarica.graph, Some("g.dot".into()));
        let golem = solve(&["--print-witness", "--validate", "f"]);
        assert_eq!(golem.model, Some(ModelKind::Any));
        assert_eq!(golem.proof, Some(ProofFormat::Text));
        assert_eq!(golem.source, Source::File("f".into()));
        assert!(wrong(&["-T:soon", "f"]) && wrong(&["-nonsense:1", "f"]));
    }

    #[test]
    fn the_first_options_of_eldarica_are_accepted() {
        let invocation = run(&["-hsmt", "-in", "-t:7", "-ssol"]);
        assert_eq!(invocation.timeout, Some(Duration::from_secs(7)));
        let Task::Solve(solve) = invocation.task else {
            panic!("not to solve")
        };
        assert_eq!(solve.model, Some(ModelKind::Any));
        assert_eq!(solve.source, Source::Stdin);
    }

    #[test]
    fn files_and_standard_input() {
        let source = |args: &[&str]| match run(args).task {
            Task::Solve(solve) => solve.source,
            Task::Check { problem, .. } => problem,
        };
        assert_eq!(source(&[]), Source::Stdin);
        assert_eq!(source(&["-"]), Source::Stdin);
        assert_eq!(source(&["./check"]), Source::File("./check".into()));
        assert_eq!(source(&["--", "-in"]), Source::File("-in".into()));
        assert_eq!(source(&["--proof", "a"]), Source::File("a".into()));
        assert_eq!(source(&["check", "a", "-"]), Source::File("a".into()));
        assert!(wrong(&["check", "-", "-"]));
        assert!(wrong(&["check", "a"]));
        assert!(wrong(&["a", "check", "b", "c"]));
        assert!(wrong(&["a", "b"]));
    }

    #[test]
    fn limits_are_positive_numbers() {
        assert_eq!(
            run(&["--timeout", "0.25"]).timeout,
            Some(Duration::from_millis(250))
        );
        for bad in ["0", "-1", "nan", "soon", ""] {
            assert!(wrong(&["--timeout", bad]), "{bad}");
        }
        assert!(run(&["--timeout", "inf"]).timeout.is_some());
        let memory = |text: &str| run(&["--memory", text]).memory_mib;
        for (text, mib) in [("512", 512), ("4G", 4096), ("2GiB", 2048), ("1t", 1 << 20)] {
            assert_eq!(memory(text), Some(mib), "{text}");
        }
        for (text, mib) in [("700 MB", 700), ("1K", 1), ("2049k", 3)] {
            assert_eq!(memory(text), Some(mib), "{text}");
        }
        for bad in [
            "0",
            "0G",
            "-1",
            "4X",
            "G",
            "1.5G",
            "",
            "99999999999999999999",
            "18446744073709551615G",
        ] {
            assert!(wrong(&["--memory", bad]), "{bad}");
        }
        assert!(wrong(&["--jobs", "0"]) && wrong(&["--jobs", "some"]));
    }

    #[test]
    fn short_forms_are_settings() {
        let invocation = run(&[
            "--domain",
            "box",
            "--set",
            "pdr.guidance=false",
            "--arg",
            "a b",
        ]);
        let Task::Solve(solve) = invocation.task else {
            panic!("not to solve")
        };
        let wanted = ["pdr.guidance=false", "vinta.domain=box", "vinta.arg=a b"];
        assert_eq!(solve.settings, wanted);
    }

    #[test]
    fn levels_add_up() {
        assert_eq!(run(&["-vvq"]).verbosity, 1);
        assert_eq!(run(&["-q"]).verbosity, -1);
        assert_eq!(run(&["check", "-v", "a", "b"]).verbosity, 1);
    }
}
