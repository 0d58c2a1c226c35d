//! Runs passes in order to a fixpoint, and keeps the stack of their back-translations.
//!
//! Invariant: a pass that returns `None` leaves the system as it was. In debug builds every system
//! is checked after its pass and every refutation after its back-translation, so that the defect is
//! found in the pass that made it.

use std::rc::Rc;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::exclude::Exclude;
use super::near::Near;
use super::registry::{Models, PASSES, Pass, Timing, default_passes};
use super::shared_lemmas::SharedLemmas;
use super::{BackTranslation, BackTranslationError, Transformation};
use alphorn_chc::System;
use alphorn_domain::sparse::Neighbourhood;
use alphorn_proof::facts::{Facts, Lemmas};
use alphorn_term::run::{Context, Phase};
use alphorn_witness::{Model, Refutation, SystemRules, check_steps};

/// The limits of a run of passes.
struct Limits {
    /// Rounds over the passes until the fixpoint; then the last system is kept. Most systems need
    /// four.
    max_rounds: usize,
    /// How often the budgets of the iterated passes are renewed (see [`Pass::renews_budgets`]) in
    /// one run of passes. After that they stay spent: each renewal may make the clauses three times
    /// as large.
    max_renewals: usize,
    /// Budgets are renewed only for systems of at most this many clauses, for the same reason.
    max_clauses_for_renewal: usize,
    /// From this many clauses on, a round that changes little is the last one.
    min_clauses_for_last_round: usize,
    /// A round changes little if the numbers of clauses, predicates and arguments change by at most
    /// themselves divided by this.
    part_of_little_change: usize,
}

const LIMITS: Limits = Limits {
    max_rounds: 16,
    max_renewals: 3,
    max_clauses_for_renewal: 128,
    min_clauses_for_last_round: 1_000,
    part_of_little_change: 100,
};

/// An unknown name in a list of passes.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("there is no pass {0:?}; the passes are {names}", names = names())]
pub struct PipelineError(pub String);

fn names() -> String {
    PASSES.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")
}

/// Receives the name of a pass and the system after it.
pub type Dump = Box<dyn FnMut(&str, &System)>;

/// A list of passes, run repeatedly until none of them changes anything.
pub struct Pipeline {
    passes: Vec<&'static Pass>,
    /// The name of the pass after which `on_dump` is called, each time it changed the system.
    pub dump_after: Option<String>,
    /// Receives the system after that pass.
    pub on_dump: Option<Dump>,
}

impl Default for Pipeline {
    fn default() -> Self {
        Pipeline {
            passes: default_passes().collect(),
            dump_after: None,
            on_dump: None,
        }
    }
}

impl Pipeline {
    /// The pipeline of the passes named in a list separated by commas, in this order; `default`
    /// means the default list, `quick` those of it that are not costly, `none` no pass.
    ///
    /// # Errors
    /// A name that is not in the table.
    pub fn parse(list: &str) -> Result<Pipeline, PipelineError> {
        let mut passes = Vec::new();
        for name in list.split(',').map(str::trim) {
            match name {
                "" | "none" => {}
                "default" => passes.extend(default_passes()),
                "quick" => passes.extend(default_passes().filter(|p| p.timing != Timing::Costly)),
                name => match PASSES.iter().find(|p| p.name == name) {
                    Some(pass) => passes.push(pass),
                    None => return Err(PipelineError(name.to_owned())),
                },
            }
        }
        Ok(Pipeline {
            passes,
            ..Pipeline::default()
        })
    }

    /// The names of the passes, in order.
    pub fn names(&self) -> Vec<&'static str> {
        self.passes.iter().map(|p| p.name).collect()
    }

    /// The pipeline without the costly passes, if there are both kinds of passes.
    pub fn quick(&self) -> Option<Pipeline> {
        let mut passes = self.passes.clone();
        passes.retain(|pass| pass.timing != Timing::Costly);
        let some = !passes.is_empty() && passes.len() < self.passes.len();
        // The system to be printed is the one after all passes.
        (some && self.on_dump.is_none()).then(|| Pipeline {
            passes,
            ..Pipeline::default()
        })
    }

    /// The pipeline without the passes whose models are hard to translate back, if there are any.
    pub fn without_hard_models(&self) -> Option<Pipeline> {
        self.without(Models::Hard)
    }

    /// The pipeline without the passes whose models may use recursive functions, if there are any.
    pub fn without_recursive_models(&self) -> Option<Pipeline> {
        self.without(Models::Recursive)
    }

    fn without(&self, models: Models) -> Option<Pipeline> {
        let mut passes = self.passes.clone();
        passes.retain(|pass| pass.models != models);
        (passes.len() < self.passes.len() && self.on_dump.is_none()).then(|| Pipeline {
            passes,
            ..Pipeline::default()
        })
    }

    /// Runs the passes until nothing changes, within the context's limits. Returns the new system
    /// and the back-translations to `system`.
    pub fn run(&mut self, system: System, cx: &mut Context) -> (System, BackTranslations) {
        self.continue_from(system, BackTranslations::default(), cx)
    }

    /// The same for a system that earlier passes made; `stack` has the back-translations of these.
    pub fn continue_from(
        &mut self,
        system: System,
        mut stack: BackTranslations,
        cx: &mut Context,
    ) -> (System, BackTranslations) {
        let mut system = Rc::new(system);
        let passes = self.passes.clone();
        for stage in passes.chunk_by(|a, b| !a.timing.is_apart() && !b.timing.is_apart()) {
            let rounds = if stage[0].timing.is_apart() {
                1
            } else {
                LIMITS.max_rounds
            };
            self.iterate(stage, rounds, &mut system, &mut stack, cx);
        }
        cx.stats
            .set("transform.clauses", system.clauses.len() as u64);
        let predicates = system.used_predicates().len() as u64;
        cx.stats.set("transform.predicates", predicates);
        (Rc::unwrap_or_clone(system), stack)
    }

    /// Runs these passes until none of them changes anything.
    fn iterate(
        &mut self,
        passes: &[&'static Pass],
        rounds: usize,
        system: &mut Rc<System>,
        stack: &mut BackTranslations,
        cx: &mut Context,
    ) {
        let mut made: Vec<_> = passes.iter().map(|pass| (pass.make)()).collect();
        let iterated = passes.iter().filter(|pass| !pass.timing.waits()).count();
        // The number of passes in a row that changed nothing. When it is the number of all passes,
        // the fixpoint is reached.
        let mut idle = 0;
        let mut renewals = LIMITS.max_renewals;
        let mut left = rounds;
        while left > 0 {
            left -= 1;
            let before = Extent::of(system);
            let only_waiting = idle >= iterated;
            for at in 0..passes.len() {
                let pass = passes[at];
                if idle >= passes.len() || cx.stop().is_some() {
                    return;
                }
                // A waiting pass runs when the iterated passes change nothing, and these need not
                // run again before.
                if pass.timing.waits() != (idle >= iterated) {
                    continue;
                }
                if self.step(pass, made[at].as_mut(), system, stack, cx) {
                    idle = 0;
                    let small = system.clauses.len() <= LIMITS.max_clauses_for_renewal;
                    if pass.renews_budgets && renewals > 0 && small {
                        renewals -= 1;
                        let iterated = passes.iter().zip(&mut made);
                        for (pass, made) in iterated.filter(|(p, _)| !p.timing.waits()) {
                            *made = (pass.make)();
                        }
                        left = rounds;
                    }
                } else {
                    idle += 1;
                }
            }
            if Extent::of(system).is_close_to(&before) {
                if only_waiting {
                    return;
                }
                // As if the iterated passes had changed nothing.
                idle = idle.max(iterated);
            }
        }
    }

    /// Runs one pass; true if it changed the system.
    fn step(
        &mut self,
        pass: &'static Pass,
        made: &mut dyn Transformation,
        system: &mut Rc<System>,
        stack: &mut BackTranslations,
        cx: &mut Context,
    ) -> bool {
        let name = pass.name;
        if pass.timing == Timing::Once && stack.translations.iter().any(|t| t.pass == name) {
            return false;
        }
        let changed = take_step(name, made, system, stack, cx);
        if changed
            && self.dump_after.as_deref() == Some(name)
            && let Some(dump) = &mut self.on_dump
        {
            dump(name, system);
        }
        changed
    }
}

/// Conjoins to the clauses those lemmas that are inductive, with at most `work`; true if this
/// changed the system.
pub fn share_lemmas(
    lemmas: Lemmas,
    work: Duration,
    system: &mut Rc<System>,
    stack: &mut BackTranslations,
    cx: &mut Context,
) -> bool {
    if lemmas.proven.is_empty() && lemmas.candidates.is_empty() {
        return false;
    }
    let mut lemmas = SharedLemmas { lemmas, work };
    take_step("lemmas", &mut lemmas, system, stack, cx)
}

/// Drops the clauses that facts exclude: those, by position, that are not applicable. The facts are
/// inductive. True if this changed the system.
pub fn exclude_clauses(
    applicable: Vec<bool>,
    facts: Facts,
    system: &mut Rc<System>,
    stack: &mut BackTranslations,
    cx: &mut Context,
) -> bool {
    let mut exclude = Exclude { applicable, facts };
    take_step("sparse", &mut exclude, system, stack, cx)
}

/// Keeps the clauses near open queries, with facts in place of the others, so that a refutation of
/// the new clauses says nothing. True if this changed the system.
pub fn keep_near_clauses(
    neighbourhood: Neighbourhood,
    system: &mut Rc<System>,
    stack: &mut BackTranslations,
    cx: &mut Context,
) -> bool {
    take_step("near", &mut Near { neighbourhood }, system, stack, cx)
}

/// Applies one transformation; true if it changed the system.
fn take_step(
    name: &'static str,
    made: &mut dyn Transformation,
    system: &mut Rc<System>,
    stack: &mut BackTranslations,
    cx: &mut Context,
) -> bool {
    let start = Instant::now();
    let step = cx.phase(Phase::Pass, name, |cx| made.apply(system, cx));
    let time = start.elapsed();
    cx.stats
        .add_time(&format!("transform.{name}.seconds"), time);
    let Some(step) = step else {
        log::debug!("pass {name}: no change, {:.3} s", time.as_secs_f64());
        return false;
    };
    if cfg!(debug_assertions)
        && let Err(error) = step.system.check()
    {
        log::error!("pass {name} made a system that is not well-formed: {error}");
        debug_assert!(
            false,
            "pass {name} made a system that is not well-formed: {error}"
        );
        return false;
    }
    let before = Extent::of(system);
    let after = Extent::of(&step.system);
    log::info!(
        "pass {name}: clauses {} -> {}, predicates {} -> {}, arguments {} -> {}, {:.3} s",
        before.clauses,
        after.clauses,
        before.predicates,
        after.predicates,
        before.arguments,
        after.arguments,
        time.as_secs_f64(),
    );
    cx.stats.add(&format!("transform.{name}.changes"), 1);
    let old = std::mem::replace(system, Rc::new(step.system));
    stack.translations.push(Translation {
        pass: name,
        back: Rc::from(step.back),
        old,
    });
    true
}

struct Extent {
    clauses: usize,
    predicates: usize,
    arguments: usize,
}

impl Extent {
    fn of(system: &System) -> Extent {
        let used = system.used_predicates();
        Extent {
            clauses: system.clauses.len(),
            predicates: used.len(),
            arguments: used.iter().map(|&p| system.predicate(p).arity()).sum(),
        }
    }

    /// Whether a round that led from `before` to here, on a large system, changed little.
    fn is_close_to(&self, before: &Extent) -> bool {
        let close = |a: usize, b: usize| a.abs_diff(b) <= a / LIMITS.part_of_little_change;
        self.clauses >= LIMITS.min_clauses_for_last_round
            && close(self.clauses, before.clauses)
            && close(self.predicates, before.predicates)
            && close(self.arguments, before.arguments)
    }
}

#[derive(Clone)]
struct Translation {
    pass: &'static str,
    back: Rc<dyn BackTranslation>,
    /// The system before the pass, for the check in debug builds.
    old: Rc<System>,
}

impl Translation {
    /// Translates a witness back; records the time, and names the pass in an error.
    fn apply<T>(
        &self,
        cx: &mut Context,
        back: impl FnOnce(&dyn BackTranslation, &mut Context) -> Result<T, BackTranslationError>,
    ) -> Result<T, BackTranslationError> {
        let (pass, start) = (self.pass, Instant::now());
        let result = back(self.back.as_ref(), cx);
        let elapsed = start.elapsed();
        log::debug!(
            "back-translation through {pass}: {:.3} s",
            elapsed.as_secs_f64()
        );
        cx.stats
            .add_time(&format!("transform.{pass}.back.seconds"), elapsed);
        result.map_err(|error| BackTranslationError(format!("back-translation of {pass}: {error}")))
    }
}

/// The back-translations through all passes that changed the system, first pass first.
#[derive(Clone, Default)]
pub struct BackTranslations {
    translations: Vec<Translation>,
}

impl BackTranslations {
    /// The number of passes to translate back through.
    pub fn len(&self) -> usize {
        self.translations.len()
    }

    /// Whether no pass changed the system.
    pub fn is_empty(&self) -> bool {
        self.translations.is_empty()
    }

    /// A model of the system before all passes from a model of the system after them.
    ///
    /// # Errors
    /// The first pass through which the model cannot be translated back.
    pub fn model(&self, mut model: Model, cx: &mut Context) -> Result<Model, BackTranslationError> {
        for translation in self.translations.iter().rev() {
            model = translation.apply(cx, |back, cx| back.model(model, cx))?;
        }
        Ok(model)
    }

    /// A refutation of the system before all passes from a refutation of the system after them.
    ///
    /// # Errors
    /// The first pass through which the refutation cannot be translated back; in debug builds also
    /// one whose result is not a refutation.
    pub fn refutation(
        &self,
        mut refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackTranslationError> {
        for translation in self.translations.iter().rev() {
            refutation = translation.apply(cx, |back, cx| {
                let refutation = back.refutation(refutation, cx)?;
                if cfg!(debug_assertions) {
                    // Evaluation has no value for a quantified constraint; the check on the text
                    // follows later.
                    let skip = |formula| translation.old.terms.node(formula).has_quantifier;
                    let rules = SystemRules::new(&translation.old);
                    check_steps(&rules, &refutation, skip)
                        .map_err(|e| BackTranslationError(e.to_string()))?;
                }
                Ok(refutation)
            })?;
        }
        Ok(refutation)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::*;
    use alphorn_term::{TermId, TermStore};

    struct Identity;

    impl BackTranslation for Identity {
        fn model(&self, model: Model, _: &mut Context) -> Result<Model, BackTranslationError> {
            Ok(model)
        }

        fn refutation(
            &self,
            r: Refutation,
            _: &mut Context,
        ) -> Result<Refutation, BackTranslationError> {
            Ok(r)
        }
    }

    /// Changes a system as often as its budget says.
    struct Bounded(usize);

    impl Transformation for Bounded {
        fn apply(&mut self, old: &Rc<System>, _: &mut Context) -> Option<Step> {
            self.0 = self.0.checked_sub(1)?;
            Some(Step {
                system: (**old).clone(),
                back: Box::new(Identity),
            })
        }
    }

    const fn pass(
        name: &'static str,
        timing: Timing,
        make: fn() -> Box<dyn Transformation>,
    ) -> Pass {
        Pass {
            name,
            summary: "",
            timing,
            models: Models::Plain,
            renews_budgets: false,
            default: false,
            make,
        }
    }

    /// Passes with a budget get a new one after clauses were split, a bounded number of times.
    #[test]
    fn budgets_begin_anew_after_cases() {
        static ITERATED: Pass = pass("iterated", Timing::Iterated, || Box::new(Bounded(2)));
        static SPLIT: Pass = Pass {
            renews_budgets: true,
            ..pass("split", Timing::Waiting, || {
                Box::new(Bounded(LIMITS.max_renewals + 2))
            })
        };
        static OTHER: Pass = pass("other", Timing::Waiting, || Box::new(Bounded(1)));
        let changes = |passes: Vec<&'static Pass>, clauses: usize| {
            let terms = Rc::new(TermStore::new());
            let mut system = System::new(terms.clone());
            for _ in 0..clauses {
                system.add_clause(vec![], TermId::FALSE, None);
            }
            let mut cx = Context::new(terms.clone());
            let mut pipeline = Pipeline {
                passes,
                ..Pipeline::default()
            };
            let (_, stack) = pipeline.run(system, &mut cx);
            let of = |name| stack.translations.iter().filter(|t| t.pass == name).count();
            (of("iterated"), of("split"), of("other"))
        };
        assert_eq!(changes(vec![&ITERATED, &OTHER], 1), (2, 0, 1));
        let all = 2 * (LIMITS.max_renewals + 1);
        let splits = LIMITS.max_renewals + 2;
        assert_eq!(changes(vec![&ITERATED, &SPLIT], 1), (all, splits, 0));
        // Not if there are many clauses.
        let few = LIMITS.max_clauses_for_renewal;
        assert_eq!(changes(vec![&ITERATED, &SPLIT], few), (all, splits, 0));
        assert_eq!(changes(vec![&ITERATED, &SPLIT], few + 1), (2, splits, 0));
    }
}
