//! From a problem to a checked answer: all stages in a row.
//!
//! Invariant: whatever the stages say, what comes out has passed `witness::validate` or is
//! `unknown`.

use std::rc::Rc;

use thiserror::Error;

use super::hints::{Hint, use_hints};
use super::order::{
    CHECK, CLOSED_CHECK, HINTS, Limit, Passes, SIMPLER, SIMPLER_FUNCTIONS, SIMPLER_SIZES, STAGES,
    Stage,
};
use super::smaller::{plain_model, with_smaller_model};
use super::turn::{DEFAULT, Frames, Strategy, Turn, UnknownEngine, engine, part};
use crate::registry::check_settings;
use alphorn_chc::frontend::{InputError, Problem, parse};
use alphorn_chc::{Shape, System, to_smtlib};
use alphorn_engine::settings::SettingError;
use alphorn_proof::exchange::Exchange;
use alphorn_term::run::{Context, Phase, Reason};
use alphorn_term::{TermId, TermStore};
use alphorn_transform::{
    BackError, BackStack, BackTranslation, Normalization, Pipeline, PipelineError, normalize,
    share_lemmas,
};
use alphorn_witness::{Validated, Verdict, validate};

/// What to solve with.
#[derive(Clone, Debug)]
pub struct Config {
    /// An engine, or a strategy over engines.
    pub engine: String,
    /// Engines that have no turn in the default strategy.
    pub without: Vec<String>,
    /// Whether a model is to be printed, and so is worth some time to make it simpler.
    pub model: bool,
    /// Whether only models without recursive functions count.
    pub plain: bool,
    /// Passes in the order of application, separated by commas; `None` for all.
    pub passes: Option<String>,
    /// Settings of engines, `ENGINE.NAME=VALUE`.
    pub settings: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            engine: DEFAULT.to_owned(),
            without: Vec::new(),
            model: false,
            plain: false,
            passes: None,
            settings: Vec::new(),
        }
    }
}

/// A name in the configuration that means nothing.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum ConfigError {
    #[error(transparent)]
    Engine(#[from] UnknownEngine),
    #[error(transparent)]
    Pass(#[from] PipelineError),
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A pass to look at that is not in the list.
    #[error("pass {pass} is not among those applied: {applied}")]
    PassNotApplied { pass: String, applied: String },
}

impl Config {
    /// Whether all names are known.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.strategy()?;
        self.pipeline()?;
        check_settings(&self.settings)?;
        Ok(())
    }

    fn strategy(&self) -> Result<Strategy, UnknownEngine> {
        for name in &self.without {
            engine(name)?;
        }
        Strategy::find(&self.engine)
    }

    /// Whether an answer is of the kind that is wanted.
    fn accepts(&self, answer: &Validated, terms: &TermStore) -> bool {
        !self.plain || answer.functions(terms) == (false, false)
    }

    /// The pipeline of passes.
    pub fn pipeline(&self) -> Result<Pipeline, ConfigError> {
        Ok(match &self.passes {
            Some(list) => Pipeline::parse(list)?,
            None => Pipeline::default(),
        })
    }
}

/// Why clauses made in code could not be tried.
#[derive(Debug, Error)]
pub enum SystemError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The clauses say what no text can, a name with a `|` for instance.
    #[error(transparent)]
    Text(#[from] InputError),
}

/// Decides clauses made in code. An answer is about text, against which it is checked, so it comes
/// with the problem that was read; its predicates and clauses have the numbers of the system's.
pub fn solve_system(
    system: &System,
    config: &Config,
    cx: &mut Context,
) -> Result<(Problem, Validated), SystemError> {
    let problem = parse(&to_smtlib(system), system.terms.clone())?;
    let answer = solve(&problem, config, cx)?;
    Ok((problem, answer))
}

/// Decides a problem within the context's limits. An error is about the configuration only.
pub fn solve(
    problem: &Problem,
    config: &Config,
    cx: &mut Context,
) -> Result<Validated, ConfigError> {
    solve_telling(problem, config, &[], |_| (), cx)
}

/// What is known before a run ends.
pub enum News<'a> {
    /// Of what shape the clauses are in normal form.
    Shape(&'a Shape),
    /// An answer, which will be this one or one with a better model.
    Answer(&'a Validated),
}

/// As [`solve()`], and tells news as they come. Answers to similar clauses are used as far as they
/// hold.
pub fn solve_telling(
    problem: &Problem,
    config: &Config,
    hints: &[Hint],
    tell: impl Fn(News),
    cx: &mut Context,
) -> Result<Validated, ConfigError> {
    let strategy = config.strategy()?;
    check_settings(&config.settings)?;
    let mut pipeline = config.pipeline()?;
    let (normal, normalization) = normalize(problem);
    let run = Run {
        problem,
        strategy,
        without: &config.without,
        settings: &config.settings,
    };
    let shape = Shape::of(&normal);
    tell(News::Shape(&shape));
    let mut ways = Ways {
        stack: BackStack::default(),
        normalization,
    };
    let (found, lemmas) = use_hints(problem, hints, cx);
    if let Some(found) = found.filter(|found| config.accepts(found, &problem.terms)) {
        return Ok(found);
    }
    let mut hinted = Rc::new(normal.clone());
    let (part_of, most) = HINTS;
    let work = cx.remaining().map_or(most, |left| most.min(left / part_of));
    share_lemmas(lemmas, work, &mut hinted, &mut ways.stack, cx);
    let mut system = Rc::unwrap_or_clone(hinted);
    let mut answer = unknown(None);
    let mut frames = Frames::default();
    let mut lost = false;
    for stage in &STAGES {
        if !strategy.takes_part(stage) {
            continue;
        }
        // What the passes have made of the clauses so far is kept for the stages to come.
        let mut aside = None;
        match stage.passes {
            Passes::Written => {
                aside = Some((system, std::mem::take(&mut ways.stack)));
                system = normal.clone();
            }
            Passes::Quick => match pipeline.quick() {
                Some(mut quick) => (system, ways.stack) = quick.go_on(system, ways.stack, cx),
                None => continue,
            },
            Passes::All => (system, ways.stack) = pipeline.go_on(system, ways.stack, cx),
            Passes::Plain | Passes::Undone if !lost || ways.stack.is_empty() => break,
            Passes::Plain => match pipeline.plain() {
                Some(mut plain) => {
                    log::warn!("trying again without some passes");
                    (system, ways.stack) = plain.run(normal.clone(), cx);
                }
                None => continue,
            },
            Passes::Undone => {
                log::warn!("trying again without passes");
                system = normal.clone();
                ways.stack = BackStack::default();
            }
        }
        let mut shape = Shape::of(&system);
        if let Some((passed, _)) = &aside {
            // What words are, the clauses as they were do not show.
            shape.theories.wide_words = Shape::of(passed).theories.wide_words;
        }
        let mut shared = Rc::new(system);
        let check = match stage.passes {
            Passes::Quick if shared.used_predicates().is_empty() => Some(CLOSED_CHECK),
            Passes::Quick => Some(CHECK),
            _ => None,
        };
        let turns = run.turns(stage, &shape);
        let (found, lost_here) = run.stage(&turns, &mut shared, &mut ways, &mut frames, check, cx);
        system = Rc::unwrap_or_clone(shared);
        match aside {
            // No pass was to blame.
            Some(before) => (system, ways.stack) = before,
            None => lost |= lost_here,
        }
        match found {
            Some(found) => answer = found,
            None => continue,
        }
        if answer.reason().is_none() || cx.stop().is_some() {
            break;
        }
    }
    let wanted = config.accepts(&answer, &problem.terms);
    if config.model && wanted && matches!(answer.verdict(), Verdict::Sat(_)) {
        tell(News::Answer(&answer));
        log::debug!("an answer is held");
    }
    if (config.model || !wanted) && answer.functions(&problem.terms) != (false, false) {
        match plain_model(problem, &normal, &answer, cx) {
            Some(found) => answer = found,
            None => {
                let (share, limit) = match relates_terms(&answer, &problem.terms) {
                    true => SIMPLER_FUNCTIONS,
                    false => SIMPLER_SIZES,
                };
                let part = part(&cx.budget, share, limit);
                let simpler = cx.within(part, |cx| {
                    run.simpler(&pipeline, normal.clone(), &mut ways, cx)
                });
                match simpler {
                    Some(found) if matches!(found.verdict(), Verdict::Unsat(_)) => {
                        let message = "there is a model, and there is a refutation";
                        log::error!("defect: {message}");
                        answer = Validated::unknown(Reason::Defect(message.to_owned()));
                    }
                    Some(found) if found.functions(&problem.terms) == (false, false) => {
                        answer = found;
                    }
                    _ => {}
                }
            }
        }
    }
    if !config.accepts(&answer, &problem.terms) {
        let message = "the model that was found calls recursive functions";
        answer = Validated::unknown(Reason::Incomplete(message.to_owned()));
    }
    if config.model {
        answer = with_smaller_model(problem, &normal, answer, cx);
    }
    Ok(answer)
}

/// Whether a model speaks of recursive functions of several arguments.
fn relates_terms(answer: &Validated, terms: &TermStore) -> bool {
    let Verdict::Sat(model) = answer.verdict() else {
        return false;
    };
    let formulas: Vec<TermId> = model.definitions.values().copied().collect();
    let called = terms.called(&formulas);
    called.iter().any(|&f| terms.function(f).params.len() > 1)
}

/// The ways back from the system that engines see to the problem.
struct Ways {
    stack: BackStack,
    normalization: Normalization,
}

impl Ways {
    fn back(&self, verdict: Verdict, cx: &mut Context) -> Result<Verdict, BackError> {
        Ok(match verdict {
            Verdict::Unknown(reason) => Verdict::Unknown(reason),
            Verdict::Sat(model) => {
                let model = self.stack.model(model, cx)?;
                Verdict::Sat(self.normalization.model(model, cx)?)
            }
            Verdict::Unsat(refutation) => {
                let refutation = self.stack.refutation(refutation, cx)?;
                Verdict::Unsat(self.normalization.refutation(refutation, cx)?)
            }
        })
    }
}

/// Who is to decide what.
struct Run<'a> {
    problem: &'a Problem,
    strategy: Strategy,
    without: &'a [String],
    settings: &'a [String],
}

impl Run<'_> {
    /// The turns in a stage, without those of engines that are left out.
    fn turns(&self, stage: &Stage, shape: &Shape) -> Vec<Turn> {
        let mut turns = self.strategy.turns(stage, shape);
        turns.retain(|turn| !self.without.iter().any(|name| name == turn.name()));
        turns
    }

    /// An answer by passes and engines whose models do not need recursive functions.
    fn simpler(
        &self,
        pipeline: &Pipeline,
        normal: System,
        ways: &mut Ways,
        cx: &mut Context,
    ) -> Option<Validated> {
        let mut pipeline = pipeline.without_functions()?;
        let (system, stack) = pipeline.run(normal, cx);
        ways.stack = stack;
        let turns = self.turns(&SIMPLER, &Shape::of(&system));
        let (found, _) = self.stage(
            &turns,
            &mut Rc::new(system),
            ways,
            &mut Frames::default(),
            None,
            cx,
        );
        found.filter(|found| found.reason().is_none())
    }

    /// Lets engines take turns until one has an answer that passes its check; none if no engine has
    /// a turn. Also tells whether a witness was lost on the way, by a check that it did not pass or
    /// a failed way back. The check of a witness has this share of the time left.
    fn stage(
        &self,
        turns: &[Turn],
        system: &mut Rc<System>,
        ways: &mut Ways,
        frames: &mut Frames,
        check: Option<(f64, Limit)>,
        cx: &mut Context,
    ) -> (Option<Validated>, bool) {
        let mut lost = false;
        let mut last: Option<Reason> = None;
        let mut exchange = Exchange::new(system, cx);
        for (at, turn) in turns.iter().enumerate() {
            if let Some(reason) = cx.stop() {
                return (Some(Validated::unknown(reason)), lost);
            }
            if !turn.is_due(cx) {
                continue;
            }
            let before = cx.remaining();
            let (verdict, mut lemmas) = turn.run(system, self.settings, frames, cx);
            if turn.keeps_frames() {
                frames.keep(system, std::mem::take(&mut lemmas.frames));
            }
            cx.stats.set("smt.defects", cx.terms.defects());
            log::info!("engine {}: {}", turn.name(), describe(&verdict));
            let found = !matches!(verdict, Verdict::Unknown(_));
            let back = cx.phase(Phase::Check, "way back", |cx| ways.back(verdict, cx));
            let verdict = back.unwrap_or_else(|error| {
                if cx.stop().is_none() {
                    log::error!("defect: {error}");
                    cx.stats.add("witness.failures", 1);
                }
                Verdict::Unknown(Reason::WitnessFailed(error.to_string()))
            });
            let check_it = |cx: &mut Context| {
                cx.phase(Phase::Check, "check", |cx| {
                    validate(self.problem, verdict, cx)
                })
            };
            let validated = match check {
                Some((share, limit)) => {
                    let part = part(&cx.budget, share, limit);
                    cx.within(part, check_it)
                }
                None => check_it(cx),
            };
            match validated.reason() {
                None => return (Some(validated), lost),
                // The reason of a short turn says less than that of a later one.
                Some(reason) => last = Some(reason.clone()),
            }
            if found {
                cx.stats.add("witness.lost", 1);
                lost = true;
            }
            if at + 1 < turns.len() && cx.stop().is_none() {
                if let Some(exchange) = &mut exchange {
                    let news = exchange.news(system);
                    let own = lemmas.proven.iter().chain(&lemmas.guesses).copied();
                    exchange.tell(system, own, []);
                    lemmas.guesses.extend(news.lemmas);
                }
                let work = turn.sharing(before, cx);
                share_lemmas(lemmas, work, system, &mut ways.stack, cx);
            }
        }
        if turns.is_empty() {
            return (None, lost);
        }
        (Some(unknown(cx.stop().or(last))), lost)
    }
}

fn unknown(reason: Option<Reason>) -> Validated {
    let no_engine = || Reason::Incomplete("no engine".to_owned());
    Validated::unknown(reason.unwrap_or_else(no_engine))
}

fn describe(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Sat(_) => "a model".to_owned(),
        Verdict::Unsat(refutation) => format!("a refutation of {} steps", refutation.steps.len()),
        Verdict::Unknown(reason) => reason.to_string(),
    }
}
