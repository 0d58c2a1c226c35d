//! The passes in order, iterated to a fixpoint, and the stack of the ways back.
//!
//! Invariant: a pass that fails leaves the system as it was. In debug builds every system is
//! checked after its pass and every refutation after its way back, so a defect is found where it
//! happens.

use std::rc::Rc;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::registry::{PASSES, Pass, Turn, default_passes};
use super::shared_lemmas::SharedLemmas;
use super::{BackError, BackTranslation, Transformation};
use alphorn_chc::System;
use alphorn_proof::facts::Lemmas;
use alphorn_term::run::{Context, Phase};
use alphorn_witness::{Model, Refutation, SystemRules, check_steps};

/// Rounds at most; the fixpoint is usually reached in four.
const ROUNDS: usize = 16;

/// What `slice` drops becomes a local of what is inlined later, and `split` multiplies clauses;
/// both stand in the way of small definitions of what `inline` took away.
const HARD_BACK: [&str; 2] = ["slice", "split"];

/// After this pass the budgets of those that do not wait begin anew: what was too large for them
/// may be small in each of its cases.
const CASES: &str = "split";

/// So often, in one run of passes, and for systems of so many clauses at most: each time, clauses may
/// become three times as large.
const RENEWALS: usize = 3;
const RENEWED_CLAUSES: usize = 128;

/// Models that come back through these may speak of recursive functions.
const FUNCTIONS: [&str; 3] = ["merge", "numerals", "sizes"];

/// An unknown name in a list of passes.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("there is no pass {0:?}; the passes are {names}", names = names())]
pub struct PipelineError(pub String);

fn names() -> String {
    PASSES.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")
}

/// Receives the name of a pass and the system after it.
pub type Dump = Box<dyn FnMut(&str, &System)>;

/// A list of passes, run again and again until none of them changes anything.
pub struct Pipeline {
    passes: Vec<&'static Pass>,
    /// The pass after which `on_dump` is called, each time it changed the system.
    pub dump_after: Option<String>,
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
    /// The passes named in a list separated by commas, in this order; `default` stands for the
    /// default list, `none` for no pass.
    pub fn parse(list: &str) -> Result<Pipeline, PipelineError> {
        let mut passes = Vec::new();
        for name in list.split(',').map(str::trim) {
            match name {
                "" | "none" => {}
                "default" => passes.extend(default_passes()),
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

    /// The pipeline without the passes that cost time, if there are both kinds of passes.
    pub fn quick(&self) -> Option<Pipeline> {
        let mut passes = self.passes.clone();
        passes.retain(|pass| pass.turn != Turn::Costly);
        let some = !passes.is_empty() && passes.len() < self.passes.len();
        // What is to be printed is the system after all passes.
        (some && self.on_dump.is_none()).then(|| Pipeline {
            passes,
            ..Pipeline::default()
        })
    }

    /// The pipeline without those passes that make the way back of a model hard, if there are any.
    pub fn plain(&self) -> Option<Pipeline> {
        self.without(&HARD_BACK)
    }

    /// The pipeline without those passes by which models come to speak of recursive functions, if
    /// there are any.
    pub fn without_functions(&self) -> Option<Pipeline> {
        self.without(&FUNCTIONS)
    }

    fn without(&self, names: &[&str]) -> Option<Pipeline> {
        let mut passes = self.passes.clone();
        passes.retain(|pass| !names.contains(&pass.name));
        (passes.len() < self.passes.len() && self.on_dump.is_none()).then(|| Pipeline {
            passes,
            ..Pipeline::default()
        })
    }

    /// Runs the passes until nothing changes, within the context's limits.
    pub fn run(&mut self, system: System, cx: &mut Context) -> (System, BackStack) {
        self.go_on(system, BackStack::default(), cx)
    }

    /// The same for a system that other passes made, with the ways back through these.
    pub fn go_on(
        &mut self,
        system: System,
        mut stack: BackStack,
        cx: &mut Context,
    ) -> (System, BackStack) {
        let mut system = Rc::new(system);
        let passes = self.passes.clone();
        for stage in passes.chunk_by(|a, b| !a.turn.is_apart() && !b.turn.is_apart()) {
            let rounds = if stage[0].turn.is_apart() { 1 } else { ROUNDS };
            self.iterate(stage, rounds, &mut system, &mut stack, cx);
        }
        cx.stats
            .set("transform.clauses", system.clauses.len() as u64);
        let predicates = system.used_predicates().len() as u64;
        cx.stats.set("transform.predicates", predicates);
        (Rc::unwrap_or_clone(system), stack)
    }

    /// Passes until none of them changes anything.
    fn iterate(
        &mut self,
        passes: &[&'static Pass],
        rounds: usize,
        system: &mut Rc<System>,
        stack: &mut BackStack,
        cx: &mut Context,
    ) {
        let mut made: Vec<_> = passes.iter().map(|pass| (pass.make)()).collect();
        let prompt = passes.iter().filter(|pass| !pass.turn.waits()).count();
        // How many passes in a row changed nothing: once it is all of them, that is the fixpoint.
        let mut idle = 0;
        let mut renewals = RENEWALS;
        let mut left = rounds;
        while left > 0 {
            left -= 1;
            for at in 0..passes.len() {
                let pass = passes[at];
                if idle >= passes.len() || cx.stop().is_some() {
                    return;
                }
                // A pass that waits for the others comes when these are idle, and they need not be
                // asked again before.
                if pass.turn.waits() != (idle >= prompt) {
                    continue;
                }
                if self.step(pass, made[at].as_mut(), system, stack, cx) {
                    idle = 0;
                    let small = system.clauses.len() <= RENEWED_CLAUSES;
                    if pass.name == CASES && renewals > 0 && small {
                        renewals -= 1;
                        let prompt = passes.iter().zip(&mut made);
                        for (pass, made) in prompt.filter(|(p, _)| !p.turn.waits()) {
                            *made = (pass.make)();
                        }
                        left = rounds;
                    }
                } else {
                    idle += 1;
                }
            }
        }
    }

    /// One pass; true if it changed the system.
    fn step(
        &mut self,
        pass: &'static Pass,
        made: &mut dyn Transformation,
        system: &mut Rc<System>,
        stack: &mut BackStack,
        cx: &mut Context,
    ) -> bool {
        let name = pass.name;
        if pass.turn == Turn::Once && stack.ways.iter().any(|way| way.pass == name) {
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

/// Conjoins to the clauses what is inductive of the lemmas, by at most this work; true if that says
/// anything new.
pub fn share_lemmas(
    lemmas: Lemmas,
    work: Duration,
    system: &mut Rc<System>,
    stack: &mut BackStack,
    cx: &mut Context,
) -> bool {
    if lemmas.proven.is_empty() && lemmas.guesses.is_empty() {
        return false;
    }
    let mut lemmas = SharedLemmas { lemmas, work };
    take_step("lemmas", &mut lemmas, system, stack, cx)
}

/// One transformation; true if it changed the system.
fn take_step(
    name: &'static str,
    made: &mut dyn Transformation,
    system: &mut Rc<System>,
    stack: &mut BackStack,
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
        log::error!("pass {name} broke the system: {error}");
        debug_assert!(false, "pass {name} broke the system: {error}");
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
    stack.ways.push(Way {
        pass: name,
        back: step.back,
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
}

struct Way {
    pass: &'static str,
    back: Box<dyn BackTranslation>,
    /// The system before the pass, for the self-check.
    old: Rc<System>,
}

impl Way {
    /// Notes how long it took, and which pass failed.
    fn go<T>(
        &self,
        cx: &mut Context,
        back: impl FnOnce(&dyn BackTranslation, &mut Context) -> Result<T, BackError>,
    ) -> Result<T, BackError> {
        let (pass, start) = (self.pass, Instant::now());
        let result = back(self.back.as_ref(), cx);
        let elapsed = start.elapsed();
        log::debug!("way back through {pass}: {:.3} s", elapsed.as_secs_f64());
        cx.stats
            .add_time(&format!("transform.{pass}.back.seconds"), elapsed);
        result.map_err(|error| BackError(format!("back-translation of {pass}: {error}")))
    }
}

/// The ways back through all passes that changed something.
#[derive(Default)]
pub struct BackStack {
    ways: Vec<Way>,
}

impl BackStack {
    /// Number of passes to go back through.
    pub fn len(&self) -> usize {
        self.ways.len()
    }

    /// Whether the system is the one that was given.
    pub fn is_empty(&self) -> bool {
        self.ways.is_empty()
    }

    /// A model of the system that was given, from one of the system that was returned.
    pub fn model(&self, mut model: Model, cx: &mut Context) -> Result<Model, BackError> {
        for way in self.ways.iter().rev() {
            model = way.go(cx, |back, cx| back.model(model, cx))?;
        }
        Ok(model)
    }

    /// A refutation of the system that was given, from one of the system that was returned.
    pub fn refutation(
        &self,
        mut refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackError> {
        for way in self.ways.iter().rev() {
            refutation = way.go(cx, |back, cx| {
                let refutation = back.refutation(refutation, cx)?;
                if cfg!(debug_assertions) {
                    // Evaluation gives quantified constraints no value; the text's check is to come.
                    let leave = |formula| way.old.terms.node(formula).has_quantifier;
                    let rules = SystemRules::new(&way.old);
                    check_steps(&rules, &refutation, leave)
                        .map_err(|e| BackError(e.to_string()))?;
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

    struct NoWay;

    impl BackTranslation for NoWay {
        fn model(&self, model: Model, _: &mut Context) -> Result<Model, BackError> {
            Ok(model)
        }

        fn refutation(&self, r: Refutation, _: &mut Context) -> Result<Refutation, BackError> {
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
                back: Box::new(NoWay),
            })
        }
    }

    const fn pass(name: &'static str, turn: Turn, make: fn() -> Box<dyn Transformation>) -> Pass {
        Pass {
            name,
            summary: "",
            turn,
            default: false,
            make,
        }
    }

    /// What is bounded begins anew after cases were made, but not for ever.
    #[test]
    fn budgets_begin_anew_after_cases() {
        static PROMPT: Pass = pass("prompt", Turn::Iterated, || Box::new(Bounded(2)));
        static SPLIT: Pass = pass(CASES, Turn::Waiting, || Box::new(Bounded(RENEWALS + 2)));
        static OTHER: Pass = pass("other", Turn::Waiting, || Box::new(Bounded(1)));
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
            let of = |name| stack.ways.iter().filter(|way| way.pass == name).count();
            (of("prompt"), of(CASES), of("other"))
        };
        assert_eq!(changes(vec![&PROMPT, &OTHER], 1), (2, 0, 1));
        let all = 2 * (RENEWALS + 1);
        let splits = RENEWALS + 2;
        assert_eq!(changes(vec![&PROMPT, &SPLIT], 1), (all, splits, 0));
        // Nor where there are many clauses.
        let few = RENEWED_CLAUSES;
        assert_eq!(changes(vec![&PROMPT, &SPLIT], few), (all, splits, 0));
        assert_eq!(changes(vec![&PROMPT, &SPLIT], few + 1), (2, splits, 0));
    }
}
