//! The command line: options, and the option syntax of `eld` for callers that expect it.
//!
//! Invariant: nothing is read or run here; arguments go in, an [`Invocation`] or an error comes
//! out.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use alphorn::witness::ProofFormat;
use alphorn::{list_passes, list_settings, z3_version};
use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// The program's name.
const NAME: &str = "alphorn";

/// Decides satisfiability of constrained Horn clauses.
///
/// Reads SMT-LIB 2 HORN or Z3's fixedpoint dialect and prints `sat`, `unsat` or `unknown`. Every
/// answer is checked against the input before it is printed.
#[derive(Parser, Debug)]
#[command(
    name = NAME,
    disable_help_subcommand = true,
    override_usage = "alphorn [OPTIONS] [FILE]\n       alphorn [OPTIONS] check FILE WITNESS"
)]
struct Cli {
    /// The file to solve; `-`, or nothing, for standard input. (Write ./check for a file of that
    /// name.)
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
    /// The engine, or a strategy over engines.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    engine: String,

    /// Engines that the strategy leaves out, separated by commas.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        hide_short_help = true
    )]
    without: Vec<String>,

    /// Members of the portfolio at a time [default: the cores available].
    ///
    /// Members are ways of solving, each a process of its own, of which the first answer counts.
    /// One job is the default strategy alone. An engine, passes or settings by name are what they
    /// say, in one process; so is --deterministic. --memory is divided by the number of jobs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Print a model after the verdict, if the clauses have one.
    ///
    /// A plain one has no recursive functions, so that every reader of SMT-LIB's models takes it;
    /// where only other models are found, there is no verdict.
    #[arg(long, value_name = "KIND", num_args = 0..=1, require_equals = true,
          default_missing_value = "any")]
    model: Option<ModelKind>,

    /// Print a refutation after the verdict, if the clauses have no model.
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true,
          default_missing_value = "text")]
    proof: Option<Proof>,

    /// Print the clauses in normal form, as SMT-LIB, instead of solving them.
    #[arg(long, hide_short_help = true)]
    print_system: bool,

    /// Print the clauses as they are after the last application of a pass, instead of solving
    /// them.
    #[arg(
        long,
        value_name = "PASS",
        conflicts_with = "print_system",
        hide_short_help = true
    )]
    dump_after: Option<String>,

    /// Set a choice of an engine; may be repeated.
    #[arg(long = "set", value_name = "ENGINE.NAME=VALUE", hide_short_help = true)]
    settings: Vec<String>,

    /// The abstract domain of `vinta`; short for `--set vinta.domain=NAME`.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    domain: Option<String>,

    /// Write the last abstract reachability graph of `vinta`, as Graphviz; short for `--set
    /// vinta.arg=FILE`.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    arg: Option<String>,

    /// List all choices of engines with their defaults, and end.
    #[arg(long = "settings", hide_short_help = true)]
    list_settings: bool,

    /// The passes to apply, separated by commas; `default` for the default, `none` for none.
    #[arg(long, value_name = "LIST", long_help = passes_help(), hide_short_help = true)]
    passes: Option<String>,

    /// Write the dependency graph of the clauses in normal form, as Graphviz.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    graph: Option<PathBuf>,

    /// Write a page in HTML that explains the answer: invariants or derivation, passes, engines, in
    /// one file without anything else. One job.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["print_system", "dump_after"],
          hide_short_help = true)]
    report: Option<PathBuf>,

    /// Write a certificate of the answer: SMT-LIB that any solver can confirm without alphorn (see
    /// docs/src/certificates.md).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["print_system", "dump_after"],
          hide_short_help = true)]
    certificate: Option<PathBuf>,

    /// Keep answers in this folder, and use those of earlier runs on the same clauses or similar
    /// ones, as far as they hold.
    #[arg(long, value_name = "FOLDER", hide_short_help = true)]
    cache: Option<PathBuf>,

    /// Answer commands as they come on standard input, until `(exit)`; --timeout is for each question.
    #[arg(long, conflicts_with_all = ["file", "print_system", "dump_after", "report", "graph",
          "certificate", "arg"], hide_short_help = true)]
    interactive: bool,

    /// Standard input begins with a line of JSON, pairs of earlier questions and their witnesses, and
    /// the witness is printed after the verdict: for a question of a session.
    #[arg(long, hide = true)]
    hinted: bool,

    /// Print what makes a shell complete these options, and end.
    #[arg(long, value_name = "SHELL", hide_short_help = true)]
    completions: Option<Shell>,

    /// Print this as a manual page, and end.
    #[arg(long, hide_short_help = true)]
    man: bool,
}

/// What `--help` says of `--passes`: all passes with what they do.
fn passes_help() -> String {
    let list = list_passes();
    format!(
        "The passes to apply, separated by commas; `default` for the default, `none` for none:\n\n\
         {list}"
    )
}

impl SolveArgs {
    /// Options that are short for settings as such.
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
    /// End with `unknown` after this time (may have a fraction).
    #[arg(long, value_name = "SECONDS", value_parser = seconds, global = true)]
    timeout: Option<Duration>,

    /// The same answer on any machine: --timeout counts work instead of time.
    ///
    /// The same file, options and version give the same output byte for byte, however busy the
    /// machine is. A limit of N seconds is one of work that takes about N seconds.
    #[arg(long, global = true)]
    deterministic: bool,

    /// End with `unknown` when more than this much memory is in use.
    #[arg(long, value_name = "MIB", global = true,
          value_parser = clap::value_parser!(u64).range(1..))]
    memory: Option<u64>,

    /// Print counts and times to standard error at the end.
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true,
          default_missing_value = "text", global = true)]
    stats: Option<Format>,

    /// Log more; may be repeated (RUST_LOG works as well).
    #[arg(short, long, action = ArgAction::Count, global = true)]
    verbose: u8,

    /// Log less; may be repeated.
    #[arg(short, long, action = ArgAction::Count, global = true)]
    quiet: u8,
}

#[derive(Subcommand, Debug)]
enum CliCommand {
    /// Check a model or a refutation, from any source, against a file.
    ///
    /// Prints `valid` (exit status 0), `invalid` (2) or `unknown` (3), the reason on standard
    /// error.
    Check {
        /// The clauses.
        file: PathBuf,
        /// What a solver printed: a model, or a refutation as text or JSON; `-` for standard input.
        witness: PathBuf,
    },
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
}

/// Which models count.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// Any.
    Any,
    /// Those without recursive functions.
    Plain,
}

impl ModelKind {
    /// The option that asks for it.
    pub fn option(self) -> &'static str {
        match self {
            ModelKind::Any => "--model",
            ModelKind::Plain => "--model=plain",
        }
    }
}

/// How a refutation is written.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// Numbered steps, one a line.
    Text,
    /// The same as one JSON object.
    Json,
    /// A proof term in the manner of Z3, for readers of its proofs.
    Z3,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if seconds.is_nan() || seconds <= 0.0 {
        return Err("a time limit is positive".to_owned());
    }
    // Anything longer is as good as none.
    Ok(Duration::try_from_secs_f64(seconds.min(1e9)).unwrap_or(Duration::from_secs(1_000_000_000)))
}

/// Where text comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    File(PathBuf),
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

/// What to do with a file of clauses.
#[derive(Clone, Debug)]
pub struct Solve {
    pub source: Source,
    /// Members of the portfolio at a time; `None` for as many as there are cores.
    pub jobs: Option<usize>,
    pub engine: String,
    pub without: Vec<String>,
    pub model: Option<ModelKind>,
    pub proof: Option<ProofFormat>,
    /// Print the clauses instead of solving them.
    pub print: Option<Print>,
    pub passes: Option<String>,
    pub settings: Vec<String>,
    pub graph: Option<PathBuf>,
    /// Where the page goes that explains the answer.
    pub report: Option<PathBuf>,
    /// Where the certificate goes.
    pub certificate: Option<PathBuf>,
    /// Where answers are kept.
    pub cache: Option<PathBuf>,
    /// Whether commands are answered as they come.
    pub interactive: bool,
    /// Whether the text begins with what is known of earlier questions.
    pub hinted: bool,
}

/// Which clauses to print.
#[derive(Clone, Debug)]
pub enum Print {
    Normalized,
    After(String),
}

/// What to do.
#[derive(Clone, Debug)]
pub enum Task {
    Solve(Box<Solve>),
    Check { problem: Source, witness: Source },
}

/// A command line that makes sense.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub task: Task,
    pub timeout: Option<Duration>,
    pub deterministic: bool,
    pub memory_mib: Option<u64>,
    pub stats: Option<Format>,
    /// Negative for less.
    pub verbosity: i32,
}

/// What becomes of a command line.
pub enum Parsed {
    Run(Box<Invocation>),
    /// Help or version: text for standard output.
    Show(String),
    /// The first line says what is wrong, the rest how it is meant.
    Wrong(String),
}

/// Reads the arguments, the program's name first.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Parsed {
    // Clap wants the version for as long as the program runs.
    let version: &'static str =
        format!("{} (libz3 {})", env!("CARGO_PKG_VERSION"), z3_version()).leak();
    let command = Cli::command().version(version);
    let found = command
        .try_get_matches_from(translate_eld(args))
        .and_then(|matches| Cli::from_arg_matches(&matches));
    match found {
        Ok(cli) => invocation(cli),
        Err(error) if error.use_stderr() => Parsed::Wrong(error.render().to_string()),
        Err(error) => Parsed::Show(error.render().to_string()),
    }
}

/// Eldarica's `-hsmt`, `-in`, `-ssol` and `-t:SECONDS` in our own terms.
fn translate_eld(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut options = true;
    args.into_iter()
        .filter_map(|arg| {
            options &= arg != "--";
            match arg.to_str() {
                Some("-hsmt") if options => None,
                Some("-in") if options => Some("-".into()),
                Some("-ssol") if options => Some("--model".into()),
                Some(text) if options && text.starts_with("-t:") => {
                    Some(format!("--timeout={}", &text[3..]).into())
                }
                _ => Some(arg),
            }
        })
        .collect()
}

/// A shell's script.
fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The manual page, from the same definitions as the help.
fn manual() -> Parsed {
    let command = Cli::command().version(env!("CARGO_PKG_VERSION"));
    // What the short help leaves out, the page would leave without a word.
    let command = command.mut_args(|arg| arg.hide_short_help(false));
    let mut page = Vec::new();
    match clap_mangen::Man::new(command).render(&mut page) {
        Ok(()) => Parsed::Show(String::from_utf8_lossy(&page).into_owned()),
        Err(error) => Parsed::Wrong(error.to_string()),
    }
}

fn invocation(cli: Cli) -> Parsed {
    let common = cli.common;
    let task = match cli.command {
        Some(CliCommand::Check { file, witness }) => {
            if let Some(other) = cli.file {
                return Parsed::Wrong(format!("{} has no place before check", other.display()));
            }
            let (problem, witness) = (Source::new(Some(file)), Source::new(Some(witness)));
            if problem == Source::Stdin && witness == Source::Stdin {
                return Parsed::Wrong("only one of two files can be standard input".to_owned());
            }
            Task::Check { problem, witness }
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
                jobs: args.jobs.map(usize::from),
                engine: args.engine,
                without: args.without,
                model: args.model,
                proof: args.proof.map(|format| match format {
                    Proof::Text => ProofFormat::Text,
                    Proof::Json => ProofFormat::Json,
                    Proof::Z3 => ProofFormat::Z3,
                }),
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
    Parsed::Run(Box::new(Invocation {
        task,
        timeout: common.timeout,
        deterministic: common.deterministic,
        memory_mib: common.memory,
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

    /// The short help is for a screen, with what most people want.
    #[test]
    fn the_short_help_is_one_screen() {
        let text = Cli::command().render_help().to_string();
        assert!(text.lines().count() <= 32, "{text}");
        assert!(text.contains("--timeout") && !text.contains("--dump-after"));
    }

    #[test]
    fn every_option_has_its_place_in_manual_and_completions() {
        let Parsed::Show(manual) = manual() else {
            panic!("no manual")
        };
        // Hyphens are escaped there.
        let manual = manual.replace("\\-", "-");
        assert!(manual.contains("Engines that the strategy leaves out"));
        for shell in Shell::value_variants() {
            let script = completions(*shell);
            let command = Cli::command();
            let shown = command.get_opts().filter(|o| !o.is_hide_set());
            for option in shown.filter_map(|o| o.get_long()) {
                assert!(script.contains(option), "{shell}: {option}");
                assert!(manual.contains(&format!("--{option}")), "{option}");
            }
        }
    }

    #[test]
    fn poses_as_eld() {
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
        assert!(wrong(&["--memory", "0"]));
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
