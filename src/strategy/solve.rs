//! From a problem to a checked answer.
//!
//! [`solve_with_hints`] normalises the problem, uses answers to similar clauses, lets engines have
//! their turns stage by stage ([`Run::stages`]), and improves the model if one is to be printed.
//!
//! Invariant: whatever passes and engines return, the answer has passed
//! [`alphorn_witness::validate`], or is `unknown`.

use std::rc::Rc;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::hints::{Hint, decided_conjuncts, use_hints};
use super::improve::{smaller_model, unfolded_model, with_functions};
use super::readings::solve_readings;
use super::schedule::{NEAR, PARTS, PLAIN_MODEL, Passes, ROUND_PARTS, ROUNDS, STAGES, Stage};
use super::sparse;
use super::turn::{DEFAULT, EngineTurn, Frames, Strategy, UnknownEngine, engine};
use super::values::solve_for_values;
use crate::registry::check_settings;
use alphorn_chc::frontend::{Dialect, InputError, Problem, parse};
use alphorn_chc::{Shape, System, to_smtlib};
use alphorn_domain::sparse::Neighbourhood;
use alphorn_engine::schedule::Slot;
use alphorn_engine::settings::SettingError;
use alphorn_proof::exchange::Exchange;
use alphorn_proof::facts::Lemmas;
use alphorn_proof::functions::{define_text_functions, with_text_functions};
use alphorn_term::TermStore;
use alphorn_term::run::{Context, Phase, Reason};
use alphorn_transform::{
    BackTranslation, BackTranslationError, BackTranslations, Normalization, Pipeline,
    PipelineError, exclude_clauses, keep_near_clauses, normalize, share_lemmas,
};
use alphorn_witness::{UndecidedModel, Validated, Verdict, supports_derivations, validate};

/// The choices of a run.
#[derive(Clone, Debug)]
pub struct Config {
    /// The name of an engine, or `auto`.
    pub engine: String,
    /// Engines that the default strategy leaves out.
    pub without: Vec<String>,
    /// Whether a model is to be printed; then some time is spent on making it simpler.
    pub model: bool,
    /// Whether models with recursive functions count as `unknown`.
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

/// An unknown name in the configuration.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum ConfigError {
    /// There is no such engine.
    #[error(transparent)]
    Engine(#[from] UnknownEngine),
    /// There is no such pass.
    #[error(transparent)]
    Pass(#[from] PipelineError),
    /// There is no such setting, or it has no such value.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The clauses are to be printed after a pass that is not in the list of passes.
    #[error("pass {pass} is not among those applied: {applied}")]
    PassNotApplied {
        /// The pass.
        pass: String,
        /// The list, separated by commas.
        applied: String,
    },
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
    fn accepts(&self, answer: &Validated, problem: &Problem) -> bool {
        let is_model = !matches!(answer.verdict(), Verdict::Proven(_));
        !self.plain || (is_model && !calls_functions(answer, problem))
    }

    /// The pipeline of passes.
    pub fn pipeline(&self) -> Result<Pipeline, ConfigError> {
        Ok(match &self.passes {
            Some(list) => Pipeline::parse(list)?,
            None => Pipeline::default(),
        })
    }
}

/// Why clauses made in code cannot be decided.
#[derive(Debug, Error)]
pub enum SystemError {
    /// The configuration has an unknown name.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The clauses cannot be written as text, because of a name with a `|` for instance.
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
    solve_with_hints(problem, config, &[], |_| (), cx)
}

/// Something that becomes known in the course of a run.
pub enum Milestone<'a> {
    /// The problem is in normal form, of this shape.
    Normalized(&'a Shape),
    /// There is an answer. The final one is this, or one with a better model.
    Answer(&'a Validated),
}

/// As [`solve()`]. Answers to similar clauses are used as far as they still hold; `observe` is called
/// with each milestone.
///
/// # Errors
/// An unknown name in the configuration.
pub fn solve_with_hints(
    problem: &Problem,
    config: &Config,
    hints: &[Hint],
    observe: impl Fn(Milestone),
    cx: &mut Context,
) -> Result<Validated, ConfigError> {
    if problem.has_undefined_sorts() {
        return solve_readings(problem, config, &observe, cx);
    }
    solve_as_read(problem, config, hints, &observe, cx)
}

/// Decides a problem whose sorts are all defined.
pub(super) fn solve_as_read(
    problem: &Problem,
    config: &Config,
    hints: &[Hint],
    observe: &impl Fn(Milestone),
    cx: &mut Context,
) -> Result<Validated, ConfigError> {
    if problem.has_free_constants() {
        return solve_for_values(problem, config, observe, cx);
    }
    let mut run = Run::new(problem, config)?;
    let shape = Shape::of(&run.normal);
    shape.report(&mut cx.stats);
    observe(Milestone::Normalized(&shape));
    if let Some(found) = run.use_hints(hints, cx) {
        return Ok(found);
    }
    let answer = run.analysis(cx).unwrap_or_else(|| {
        // Without measures there is no model, and that is a better reason than the last engine's.
        let endless = define_text_functions(problem, cx).err();
        let answer = run.rounds(cx);
        match (answer.reason(), endless) {
            (Some(_), Some(reason)) => Validated::unknown(reason),
            _ => answer,
        }
    });
    if config.model
        && config.accepts(&answer, problem)
        && matches!(answer.verdict(), Verdict::Sat(_) | Verdict::Proven(_))
    {
        observe(Milestone::Answer(&answer));
        log::debug!("there is an answer; its model may become better");
    }
    Ok(run.improved(answer, cx))
}

/// Whether a model has recursive functions, sizes of terms included, besides those of the text.
pub(super) fn calls_functions(answer: &Validated, problem: &Problem) -> bool {
    answer.functions(problem) != (false, false)
}

/// The engines whose answers are proofs by induction on derivations.
const PROVERS: [&str; 2] = ["relate", "pairs"];

/// Clauses after passes, with the back-translations to the normal form.
#[derive(Clone)]
struct Clauses {
    system: Rc<System>,
    back: BackTranslations,
}

impl Clauses {
    fn new(system: System) -> Clauses {
        Clauses {
            system: Rc::new(system),
            back: BackTranslations::default(),
        }
    }

    /// The clauses after further passes.
    fn after(self, passes: &mut Pipeline, cx: &mut Context) -> Clauses {
        let (system, back) = passes.continue_from(Rc::unwrap_or_clone(self.system), self.back, cx);
        Clauses {
            system: Rc::new(system),
            back,
        }
    }
}

/// The end of a stage.
struct StageResult {
    /// The answer, or `unknown` with a reason; `None` if no engine had a turn.
    answer: Option<Validated>,
    /// Whether an engine had a witness that failed its check or its back-translation, or whose check
    /// had no answer in time.
    witness_lost: bool,
    /// The last model whose check had no answer.
    undecided: Option<UndecidedModel>,
}

/// A run on one problem.
struct Run<'a> {
    problem: &'a Problem,
    config: &'a Config,
    strategy: Strategy,
    pipeline: Pipeline,
    normal: System,
    normalization: Normalization,
    /// The clauses after the passes so far.
    clauses: Clauses,
    /// Those of the stage with the quick passes, if an engine had a long turn in it: it goes on there in
    /// the next round.
    quick: Option<Clauses>,
    /// Lemmas that `pdr`, `spacer` and `ic3` resume from.
    frames: Frames,
    witness_lost: bool,
    /// The last model whose check had no answer, until an engine was given what is decided of it.
    undecided: Option<UndecidedModel>,
    /// Whether clauses with instances in place of universal quantifiers are refuted.
    instances_refuted: bool,
    /// Whether the clauses of the stage derive more than the problem's, so that a refutation of them
    /// says nothing.
    derives_more: bool,
}

impl<'a> Run<'a> {
    fn new(problem: &'a Problem, config: &'a Config) -> Result<Run<'a>, ConfigError> {
        let strategy = config.strategy()?;
        check_settings(&config.settings)?;
        let pipeline = config.pipeline()?;
        let (normal, normalization) = normalize(problem);
        Ok(Run {
            problem,
            config,
            strategy,
            pipeline,
            clauses: Clauses::new(normal.clone()),
            quick: None,
            normal,
            normalization,
            frames: Frames::default(),
            witness_lost: false,
            undecided: None,
            instances_refuted: false,
            derives_more: false,
        })
    }

    /// The answer that a hint gives, if it is one of the kind that is wanted. Otherwise the lemmas of
    /// the hints strengthen the clauses as far as they are inductive.
    fn use_hints(&mut self, hints: &[Hint], cx: &mut Context) -> Option<Validated> {
        let (found, lemmas) = use_hints(self.problem, hints, cx);
        let found = found.filter(|found| self.config.accepts(found, self.problem));
        if found.is_some() {
            cx.stats.set_text("answer.engine", "hints");
            return found;
        }
        let work = PARTS.hints.length(cx.remaining()).unwrap_or_default();
        let Clauses { system, back } = &mut self.clauses;
        share_lemmas(lemmas, work, system, back, cx);
        None
    }

    /// The answer of the sparse analysis of the clauses as they were written, before all passes.
    fn analysis(&mut self, cx: &mut Context) -> Option<Validated> {
        let is_default = matches!(self.strategy, Strategy::Auto) && self.config.passes.is_none();
        if !is_default || !self.problem.functions.is_empty() {
            return None;
        }
        let start = Instant::now();
        let found = sparse::analyse(&self.normal, cx)?;
        let seconds = start.elapsed();
        let start = Instant::now();
        let Some(verdict) = found.verdict else {
            for neighbourhood in found.neighbourhoods {
                let answer = self.near_queries(neighbourhood, cx);
                if answer.is_some() || cx.stop().is_some() {
                    return answer;
                }
            }
            let (applicable, facts) = (found.applicable, found.facts);
            let Clauses { system, back } = &mut self.clauses;
            exclude_clauses(applicable, facts, system, back, cx);
            return None;
        };
        let of_instances = self.problem.is_stronger && matches!(verdict, Verdict::Unsat(_));
        if of_instances {
            return None;
        }
        let back = BackTranslations::default();
        let validated = self.validated(verdict, &back, Some(&PARTS.analysis_check), cx);
        if validated.reason().is_some() {
            return None;
        }
        let found = Found {
            engine: "sparse",
            stage: "analysis",
            seconds,
            check: start.elapsed(),
            lemmas_of: Vec::new(),
        };
        found.report(cx);
        Some(validated)
    }

    /// The stage [`NEAR`]: a model of the clauses near open queries that is one of all clauses together
    /// with facts. Nothing of it is kept for later stages.
    fn near_queries(
        &mut self,
        neighbourhood: Neighbourhood,
        cx: &mut Context,
    ) -> Option<Validated> {
        let mut clauses = Clauses::new(self.normal.clone());
        let Clauses { system, back } = &mut clauses;
        keep_near_clauses(neighbourhood, system, back, cx);
        let clauses = std::mem::replace(&mut self.clauses, clauses);
        let (frames, lost) = (std::mem::take(&mut self.frames), self.witness_lost);
        // What these clauses derive is not to reach other members.
        let bus = cx.bus.take();
        self.derives_more = true;
        let budget = PARTS.near.budget(&cx.budget);
        let answer = cx.within(budget, |cx| self.stage(&NEAR, cx));
        self.derives_more = false;
        (self.clauses, self.frames, self.witness_lost) = (clauses, frames, lost);
        cx.bus = bus;
        answer.filter(|answer| answer.reason().is_none())
    }

    /// All stages in rounds of growing length ([`ROUNDS`]), and then in all the time left. A round
    /// begins with the clauses and the frames that the last one left; where an engine had a long turn
    /// after the quick passes, it has one on the same clauses again.
    fn rounds(&mut self, cx: &mut Context) -> Validated {
        if matches!(self.strategy, Strategy::Single(_)) {
            return self.stages(cx);
        }
        for round in ROUNDS {
            if cx
                .remaining()
                .is_some_and(|left| left < ROUND_PARTS * round)
            {
                break;
            }
            let (answer, stop) = cx.within(cx.budget.time(round), |cx| {
                let answer = self.stages(cx);
                (answer, cx.stop())
            });
            // If time is left, no engine has more to say.
            if answer.reason().is_none()
                || stop.is_none()
                || cx.stop().is_some()
                || self.instances_refuted
            {
                return answer;
            }
            log::info!("no answer in a round of {} s", round.as_secs());
            self.witness_lost = false;
        }
        self.stages(cx)
    }

    /// Lets engines have their turns, stage by stage, until there is an answer.
    fn stages(&mut self, cx: &mut Context) -> Validated {
        let mut answer = unknown(self.excluded());
        let mut retried = false;
        for stage in &STAGES {
            let shape = || Shape::of(&self.clauses.system);
            if !self.strategy.takes_part(stage)
                || !stage.is_for_all() && !stage.condition.holds(&shape())
            {
                continue;
            }
            let is_retry = stage.passes.is_retry();
            if is_retry && (!self.witness_lost || self.clauses.back.is_empty()) {
                break;
            }
            let Some(found) = self.stage(stage, cx) else {
                continue;
            };
            answer = found;
            if answer.reason().is_some() && self.witness_lost && !retried && !is_retry {
                retried = true;
                answer = self.easy_to_check(cx).unwrap_or(answer);
            }
            if answer.reason().is_none() || cx.stop().is_some() || self.instances_refuted {
                break;
            }
        }
        answer
    }

    /// The stage [`Passes::EasyToCheck`] as soon as a witness was lost, with a part of the time left:
    /// an engine that had a witness soon may soon have one that is easier to check. Of a model whose
    /// check had no answer, what is inductive without the clause that was not decided is given, so
    /// that this clause is a proof obligation again. The clauses after the passes so far are kept for
    /// later stages.
    fn easy_to_check(&mut self, cx: &mut Context) -> Option<Validated> {
        let stage = STAGES.iter().find(|s| s.passes == Passes::EasyToCheck)?;
        if !self.strategy.takes_part(stage) || self.clauses.back.is_empty() {
            return None;
        }
        let kept = std::mem::replace(&mut self.clauses, Clauses::new(self.normal.clone()));
        let budget = PARTS.easy_to_check.budget(&cx.budget);
        let answer = cx.within(budget, |cx| self.stage(stage, cx));
        self.undecided = None;
        self.clauses = kept;
        answer
    }

    /// The passes of a stage, then its turns; `None` if the stage has no passes or no turn.
    fn stage(&mut self, stage: &Stage, cx: &mut Context) -> Option<Validated> {
        if stage.passes == Passes::Written {
            return self.stage_on_written_clauses(stage, cx);
        }
        let goes_on = stage.passes == Passes::Quick && !self.derives_more;
        let mut later = None;
        match self.quick.take_if(|_| goes_on) {
            Some(quick) => later = Some(std::mem::replace(&mut self.clauses, quick)),
            None => self.run_passes(stage.passes, cx)?,
        }
        let check = match stage.passes {
            _ if self.derives_more => Some(&PARTS.analysis_check),
            Passes::Quick if self.clauses.system.used_predicates().is_empty() => {
                Some(&PARTS.closed_check)
            }
            Passes::Quick => Some(&PARTS.quick_check),
            _ => None,
        };
        let shape = Shape::of(&self.clauses.system);
        log::debug!("stage {}: {shape:?}", stage.name);
        let turns = self.turns(stage, &shape);
        let placeholder = Clauses::new(System::new(self.problem.terms.clone()));
        let mut clauses = std::mem::replace(&mut self.clauses, placeholder);
        let result = self.run_turns(stage, &turns, &mut clauses, check, cx);
        if goes_on && turns.iter().any(|turn| !turn.is_short()) {
            self.quick = Some(clauses.clone());
        }
        self.clauses = later.unwrap_or(clauses);
        self.witness_lost |= result.witness_lost;
        self.undecided = result.undecided.or(self.undecided.take());
        result.answer
    }

    /// A stage on the clauses as they were written. The clauses after passes are kept for later
    /// stages, and a lost witness does not lead to a retry without passes.
    fn stage_on_written_clauses(&mut self, stage: &Stage, cx: &mut Context) -> Option<Validated> {
        let mut shape = Shape::of(&self.normal);
        // Only the quick passes show how bit-vectors are used.
        shape.theories.wide_bit_vectors = Shape::of(&self.clauses.system).theories.wide_bit_vectors;
        let turns = self.turns(stage, &shape);
        let mut clauses = Clauses::new(self.normal.clone());
        self.run_turns(stage, &turns, &mut clauses, None, cx).answer
    }

    /// Brings the clauses into the form that a stage is for; `None` if there is no pass to run.
    fn run_passes(&mut self, passes: Passes, cx: &mut Context) -> Option<()> {
        let mut quick;
        let mut easy_to_check;
        let (pipeline, from_the_start) = match passes {
            Passes::Quick => {
                quick = self.pipeline.quick()?;
                (Some(&mut quick), false)
            }
            Passes::All => (Some(&mut self.pipeline), false),
            Passes::EasyToCheck => {
                easy_to_check = self.pipeline.without_hard_models()?;
                log::warn!("trying again without some passes");
                (Some(&mut easy_to_check), true)
            }
            Passes::Removed => {
                log::warn!("trying again without passes");
                (None, true)
            }
            // `stage` has a way of its own for these.
            Passes::Written => (None, false),
        };
        let so_far = Clauses::new(self.normal.clone());
        let mut clauses = std::mem::replace(&mut self.clauses, so_far);
        if from_the_start {
            clauses = Clauses::new(self.normal.clone());
            if let Some(undecided) = self.undecided.take() {
                let lemmas = decided_conjuncts(self.problem, &undecided);
                let work = PARTS.decided.length(cx.remaining()).unwrap_or_default();
                let Clauses { system, back } = &mut clauses;
                if share_lemmas(lemmas, work, system, back, cx) {
                    cx.stats.add("witness.returned", 1);
                }
            }
        }
        self.clauses = match pipeline {
            Some(pipeline) => clauses.after(pipeline, cx),
            None => clauses,
        };
        Some(())
    }

    /// The turns in a stage, without those of engines that are left out.
    fn turns(&self, stage: &Stage, shape: &Shape) -> Vec<EngineTurn> {
        let mut turns = self
            .strategy
            .turns_without(stage, shape, &self.config.without);
        let has_proofs = self.has_proofs();
        let is_named = matches!(self.strategy, Strategy::Single(_));
        let compares = is_named || compares_facts(&self.normal);
        turns.retain(|turn| match turn.name() {
            "relate" => has_proofs && (compares || turn.is_short()),
            "pairs" => has_proofs && compares,
            _ => true,
        });
        if self.config.model {
            // A model says more to its reader than such a proof.
            turns.sort_by_key(|turn| PROVERS.contains(&turn.name()));
        }
        turns
    }

    /// Whether proofs by induction on derivations can be answers. A proof would be about clauses that the
    /// text does not have as they are.
    fn has_proofs(&self) -> bool {
        supports_derivations(self.problem) && !self.config.plain
    }

    /// Why the engine that was asked for has no turn, if its answers cannot be answers here.
    fn excluded(&self) -> Option<Reason> {
        let Strategy::Single(entry) = self.strategy else {
            return None;
        };
        if !PROVERS.contains(&entry.name) || self.has_proofs() {
            return None;
        }
        let why = match self.config.plain {
            true => "a plain model is wanted",
            false => "this text has no such proofs",
        };
        let message = format!("{} answers by proofs on derivations, and {why}", entry.name);
        Some(Reason::Incomplete(message))
    }

    /// Lets engines take turns until one has an answer that passes its check. Lemmas that an engine
    /// leaves strengthen the clauses for the next. `check` is the part of the budget that the check
    /// of a witness may take.
    fn run_turns(
        &mut self,
        stage: &Stage,
        turns: &[EngineTurn],
        clauses: &mut Clauses,
        check: Option<&Slot<()>>,
        cx: &mut Context,
    ) -> StageResult {
        let mut witness_lost = false;
        let mut undecided = None;
        let mut last: Option<Reason> = None;
        let mut lemmas_of: Vec<&'static str> = Vec::new();
        let mut exchange = Exchange::new(&clauses.system, cx);
        for (at, turn) in turns.iter().enumerate() {
            if let Some(reason) = cx.stop() {
                last = Some(reason);
                break;
            }
            if !turn.is_due(cx) {
                continue;
            }
            let (before, start) = (cx.remaining(), Instant::now());
            let settings = &self.config.settings;
            let (system, passes) = (&clauses.system, stage.passes);
            let resumed = self.frames.engine(turn, passes);
            let (verdict, mut lemmas) = turn.run(system, passes, settings, &mut self.frames, cx);
            let seconds = start.elapsed();
            if turn.keeps_frames() {
                let frames = std::mem::take(&mut lemmas.frames);
                self.frames.keep(system, turn, passes, frames);
            }
            cx.stats.set("smt.defects", cx.terms.defects());
            log::info!("engine {}: {}", turn.name(), describe(&verdict));
            if self.derives_more && matches!(verdict, Verdict::Unsat(_)) {
                break;
            }
            let has_witness = !matches!(verdict, Verdict::Unknown(_));
            let of_instances = self.problem.is_stronger && matches!(verdict, Verdict::Unsat(_));
            let start = Instant::now();
            let validated = self.validated(verdict, &clauses.back, check, cx);
            match validated.reason() {
                None => {
                    lemmas_of.extend(resumed);
                    let found = Found {
                        engine: turn.name(),
                        stage: stage.name,
                        seconds,
                        check: start.elapsed(),
                        lemmas_of,
                    };
                    found.report(cx);
                    return StageResult {
                        answer: Some(validated),
                        witness_lost,
                        undecided,
                    };
                }
                // The reason of a short turn says less than that of a later one.
                Some(reason) => last = Some(reason.clone()),
            }
            if of_instances {
                self.instances_refuted = true;
                return StageResult {
                    answer: Some(validated),
                    witness_lost,
                    undecided,
                };
            }
            undecided = validated.undecided().cloned().or(undecided);
            if has_witness {
                cx.stats.add("witness.lost", 1);
                witness_lost = true;
            }
            if at + 1 < turns.len() && cx.stop().is_none() {
                let work = turn.sharing(before, cx);
                if share(lemmas, work, clauses, exchange.as_mut(), cx)
                    && !lemmas_of.contains(&turn.name())
                {
                    lemmas_of.push(turn.name());
                }
            }
        }
        let answer = (!turns.is_empty()).then(|| unknown(cx.stop().or(last)));
        StageResult {
            answer,
            witness_lost,
            undecided,
        }
    }

    /// The verdict of an engine as an answer to the problem: its witness is translated back and
    /// checked.
    fn validated(
        &self,
        verdict: Verdict,
        back: &BackTranslations,
        check: Option<&Slot<()>>,
        cx: &mut Context,
    ) -> Validated {
        let translated = cx.phase(Phase::Check, "back-translation", |cx| {
            self.back_translated(verdict, back, cx)
        });
        let verdict = translated.unwrap_or_else(|error| {
            if cx.stop().is_none() {
                log::error!("defect: {error}");
                cx.stats.add("witness.failures", 1);
            }
            Verdict::Unknown(Reason::WitnessFailed(error.to_string()))
        });
        let validate = |cx: &mut Context| {
            cx.phase(Phase::Check, "check", |cx| {
                validate(self.problem, verdict, cx)
            })
        };
        match check {
            Some(slot) => cx.within(slot.budget(&cx.budget), validate),
            None => validate(cx),
        }
    }

    /// A verdict about the problem from one about clauses after passes.
    fn back_translated(
        &self,
        verdict: Verdict,
        back: &BackTranslations,
        cx: &mut Context,
    ) -> Result<Verdict, BackTranslationError> {
        Ok(match verdict {
            Verdict::Unknown(reason) => Verdict::Unknown(reason),
            Verdict::Sat(model) => {
                let model = back.model(model, cx)?;
                let model = self.normalization.model(model, cx)?;
                match with_text_functions(self.problem, model, cx) {
                    Ok(model) => Verdict::Sat(model),
                    Err(reason) => Verdict::Unknown(reason),
                }
            }
            Verdict::Proven(_) if !back.is_empty() => {
                let why = "a proof by induction on derivations of clauses after passes".to_owned();
                Verdict::Unknown(Reason::Incomplete(why))
            }
            // Predicates and clauses in normal form are those of the problem.
            Verdict::Proven(proof) => Verdict::Proven(proof),
            Verdict::Unsat(refutation) => {
                let refutation = back.refutation(refutation, cx)?;
                let refutation = self.normalization.refutation(refutation, cx)?;
                // A counterexample to a goal is one if the functions exist.
                let defined = match self.problem.dialect {
                    Dialect::Goal => define_text_functions(self.problem, cx),
                    _ => Ok(()),
                };
                match defined {
                    Ok(()) => Verdict::Unsat(refutation),
                    Err(reason) => Verdict::Unknown(reason),
                }
            }
        })
    }

    /// The answer with a model of the kind that is wanted, and a smaller one, if a model is to be
    /// printed; `unknown` if only a model of another kind was found.
    fn improved(&mut self, answer: Validated, cx: &mut Context) -> Validated {
        let problem = self.problem;
        let wants_another = self.config.model || !self.config.accepts(&answer, problem);
        let mut answer = match wants_another && calls_functions(&answer, problem) {
            true => self.without_functions(answer, cx),
            false => answer,
        };
        if !self.config.accepts(&answer, problem) {
            let message = match answer.verdict() {
                Verdict::Proven(_) => "there is a proof by induction on derivations, and no model",
                _ => "the model that was found calls recursive functions",
            };
            answer = Validated::unknown(Reason::Incomplete(message.to_owned()));
        }
        match self.config.model {
            true => {
                let answer = with_functions(problem, &self.normal, answer, cx);
                smaller_model(problem, &self.normal, answer, cx)
            }
            false => answer,
        }
    }

    /// The answer with a model without recursive functions if there is one: by bounded unfolding of
    /// those that it has, or by another search.
    fn without_functions(&mut self, answer: Validated, cx: &mut Context) -> Validated {
        if let Some(found) = unfolded_model(self.problem, &self.normal, &answer, cx) {
            return found;
        }
        let slot = match relates_terms(&answer, &self.problem.terms) {
            true => &PARTS.plain_for_relations,
            false => &PARTS.plain_for_sizes,
        };
        let found = cx.within(slot.budget(&cx.budget), |cx| self.plain_model(cx));
        match found {
            Some(found) if matches!(found.verdict(), Verdict::Unsat(_)) => {
                let message = "there is a model, and there is a refutation";
                log::error!("defect: {message}");
                Validated::unknown(Reason::Defect(message.to_owned()))
            }
            Some(found) if !calls_functions(&found, self.problem) => found,
            _ => answer,
        }
    }

    /// An answer by passes and engines whose models have no recursive functions.
    fn plain_model(&mut self, cx: &mut Context) -> Option<Validated> {
        let mut passes = self.pipeline.without_recursive_models()?;
        let mut clauses = Clauses::new(self.normal.clone()).after(&mut passes, cx);
        let turns = self.turns(&PLAIN_MODEL, &Shape::of(&clauses.system));
        let frames = std::mem::take(&mut self.frames);
        let result = self.run_turns(&PLAIN_MODEL, &turns, &mut clauses, None, cx);
        self.frames = frames;
        result.answer.filter(|found| found.reason().is_none())
    }
}

/// Whether a query, or a clause of a predicate without arguments, such as an error location, has several
/// body atoms.
fn compares_facts(system: &System) -> bool {
    system.clauses.iter().any(|clause| {
        let is_error = clause.head.as_ref().is_none_or(|head| head.args.is_empty());
        is_error && clause.body.len() > 1
    })
}

/// Strengthens the clauses by what is inductive of the lemmas of an engine and of other processes, by
/// at most this work; whether there was anything.
fn share(
    mut lemmas: Lemmas,
    work: Duration,
    clauses: &mut Clauses,
    exchange: Option<&mut Exchange>,
    cx: &mut Context,
) -> bool {
    if let Some(exchange) = exchange {
        let received = exchange.receive(&clauses.system);
        let own = lemmas.proven.iter().chain(&lemmas.candidates).copied();
        exchange.send(&clauses.system, own, []);
        lemmas.candidates.extend(received.lemmas);
    }
    share_lemmas(lemmas, work, &mut clauses.system, &mut clauses.back, cx)
}

/// Where an answer comes from.
struct Found {
    engine: &'static str,
    stage: &'static str,
    /// The time of the engine's turn.
    seconds: Duration,
    /// The time of the back-translation and the check.
    check: Duration,
    /// Engines whose lemmas strengthened the clauses, or whose frames were resumed.
    lemmas_of: Vec<&'static str>,
}

impl Found {
    /// Says so in the log and in the statistics.
    fn report(&self, cx: &mut Context) {
        let (seconds, check) = (self.seconds.as_secs_f64(), self.check.as_secs_f64());
        let lemmas = match self.lemmas_of.is_empty() {
            true => "no engine".to_owned(),
            false => self.lemmas_of.join(", "),
        };
        log::info!(
            "answered by {} in stage {}, {seconds:.3} s; check {check:.3} s; lemmas of {lemmas}",
            self.engine,
            self.stage
        );
        cx.stats.set_text("answer.engine", self.engine);
        cx.stats.set_text("answer.stage", self.stage);
        cx.stats.set_text("answer.lemmas", &lemmas);
        cx.stats.add_time("answer.seconds", self.seconds);
        cx.stats.add_time("answer.check.seconds", self.check);
    }
}

/// Whether a model speaks of recursive functions of several arguments.
fn relates_terms(answer: &Validated, terms: &TermStore) -> bool {
    let Verdict::Sat(model) = answer.verdict() else {
        return false;
    };
    let formulas: Vec<_> = model.definitions.values().copied().collect();
    let called = terms.called(&formulas);
    called.iter().any(|&f| terms.function(f).params.len() > 1)
}

fn unknown(reason: Option<Reason>) -> Validated {
    let no_engine = || Reason::Incomplete("no engine".to_owned());
    Validated::unknown(reason.unwrap_or_else(no_engine))
}

fn describe(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Sat(_) => "a model".to_owned(),
        Verdict::Proven(proof) => format!("a proof by {} lemmas", proof.lemmas.len()),
        Verdict::Unsat(refutation) => format!("a refutation of {} steps", refutation.steps.len()),
        Verdict::Unknown(Reason::Timeout) => "no answer within its turn".to_owned(),
        Verdict::Unknown(reason) => reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alphorn_term::TermId;
    use alphorn_witness::Model;

    /// `P` counts by two from where `R` is, `Q` sums up what it counted; nothing is negative.
    const TEXT: &str = "
        (set-logic HORN)
        (declare-fun P (Int) Bool)
        (declare-fun Q (Int) Bool)
        (declare-fun R (Int) Bool)
        (assert (forall ((x Int)) (=> (= x 0) (R x))))
        (assert (forall ((x Int)) (=> (R x) (P x))))
        (assert (forall ((x Int) (y Int)) (=> (and (P x) (= y (+ x 2))) (P y))))
        (assert (forall ((x Int) (y Int)) (=> (and (P x) (Q y)) (Q (+ x y)))))
        (assert (forall ((x Int)) (=> (P x) (Q x))))
        (assert (forall ((x Int)) (=> (and (Q x) (< x 0)) false)))
        (check-sat)";

    /// A run on the text, and a model of it whose check had no answer at a clause of `Q`: the values of
    /// `P` and `R` are at least `bound`.
    fn with_undecided_model(
        check: impl FnOnce(&mut Run, UndecidedModel, &mut Context),
        bound: i64,
    ) {
        let mut cx = Context::new(Rc::new(TermStore::new()));
        let problem = parse(TEXT, cx.terms.clone()).expect("a problem");
        let config = Config::default();
        let mut run = Run::new(&problem, &config).expect("a run");
        let terms = cx.terms.clone();
        let at_least = |p: usize, bound: i64| -> TermId {
            terms.ge(problem.predicates[p].params[0], terms.int(bound))
        };
        let clause = problem.clauses.iter().find(|clause| {
            let head = clause.head.as_ref();
            head.is_some_and(|head| head.predicate.index() == 1) && clause.body.len() == 2
        });
        let definitions = [(0, bound), (1, 0), (2, bound)].map(|(p, b)| (p, at_least(p, b)));
        let undecided = UndecidedModel {
            model: Model {
                definitions: definitions
                    .map(|(p, formula)| (alphorn_chc::PredicateId(p as u32), formula))
                    .into_iter()
                    .collect(),
                lemmas: Vec::new(),
            },
            command: clause.expect("a clause of two atoms").command,
        };
        check(&mut run, undecided, &mut cx);
    }

    #[test]
    fn an_undecided_clause_becomes_an_obligation_and_the_rest_is_given() {
        with_undecided_model(
            |run, undecided, cx| {
                let lemmas = decided_conjuncts(run.problem, &undecided);
                let about: Vec<usize> = lemmas.candidates.iter().map(|l| l.0.index()).collect();
                assert_eq!(about, [0, 2], "nothing about the head of the clause");
                run.undecided = Some(undecided);
                run.stages(cx);
                assert_eq!(cx.stats.count("witness.returned"), 0, "nothing was lost");
                let answer = run.easy_to_check(cx).expect("passes were applied");
                assert!(
                    matches!(answer.verdict(), Verdict::Sat(_)),
                    "{:?}",
                    answer.reason()
                );
                assert_eq!(cx.stats.count("witness.returned"), 1);
                assert!(run.undecided.is_none());
            },
            0,
        );
    }

    #[test]
    fn what_is_wrong_in_an_undecided_model_is_not_given() {
        with_undecided_model(
            |run, undecided, cx| {
                run.undecided = Some(undecided);
                run.stages(cx);
                let answer = run.easy_to_check(cx).expect("passes were applied");
                assert!(
                    matches!(answer.verdict(), Verdict::Sat(_)),
                    "{:?}",
                    answer.reason()
                );
                assert_eq!(cx.stats.count("witness.returned"), 0);
            },
            1,
        );
    }

    /// The reason names what excludes the answers of an engine.
    #[test]
    fn an_engine_whose_answers_are_proofs_has_none_where_a_plain_model_is_wanted() {
        let mut cx = Context::new(Rc::new(TermStore::new()));
        let problem = parse(TEXT, cx.terms.clone()).expect("a problem");
        for engine in PROVERS {
            let config = Config {
                engine: engine.to_owned(),
                plain: true,
                ..Config::default()
            };
            let answer = solve(&problem, &config, &mut cx).expect("an engine");
            let reason = answer.reason().map(ToString::to_string).unwrap_or_default();
            assert!(reason.contains("a plain model is wanted"), "{reason}");
        }
    }

    /// A sequence of bit-vectors of which nobody knows soon whether it has the value.
    const SEQUENCE: &str = "
        (set-logic HORN)
        (declare-fun P ((_ BitVec 32) (_ BitVec 32) Bool) Bool)
        (assert (P #x00000001 #x00000000 true))
        (assert (forall ((x (_ BitVec 32)) (y (_ BitVec 32)) (b Bool))
            (=> (P x y b) (P (bvxor (bvmul x #x2c1b3c6d) (bvlshr x #x0000000f)) (bvadd y x) b))))
        (assert (forall ((x (_ BitVec 32)) (b Bool))
            (=> (and (P x (bvmul x #x297a2d39) b) (not (= x (bvshl x #x00000003)))) false)))
        (check-sat)";

    /// In the next round `ic3` goes on after the quick passes from the lemmas that it left there, while
    /// the clauses of later stages stay as they are.
    #[test]
    fn engines_go_on_after_the_quick_passes() {
        let mut cx = Context::new(Rc::new(TermStore::new()));
        let problem = parse(SEQUENCE, cx.terms.clone()).expect("a problem");
        let config = Config::default();
        let mut run = Run::new(&problem, &config).expect("a run");
        let quick = &STAGES[0];
        assert_eq!(quick.passes, Passes::Quick);
        let mut round = |run: &mut Run| {
            let budget = cx.budget.work(Duration::from_secs(2));
            let answer = cx.within(budget, |cx| run.stage(quick, cx));
            assert!(answer.expect("turns").reason().is_some());
            (run.clauses.back.len(), cx.stats.count("ic3.lemmas-resumed"))
        };
        let (passes, resumed) = round(&mut run);
        assert!(passes > 0 && resumed == 0);
        // As if passes of later stages had changed them.
        run.clauses = Clauses::new(run.normal.clone());
        let (passes, resumed) = round(&mut run);
        assert!(passes == 0 && resumed > 0);
        let quick = run.quick.expect("turns with limits in time");
        assert!(!quick.back.is_empty());
    }
}
