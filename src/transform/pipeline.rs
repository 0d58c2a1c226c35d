//! The passes in order, iterated to a fixpoint, and the stack of the ways back.
//!
//! Invariant: a pass that fails leaves the system as it was. In debug builds every system is
//! checked after its pass and every refutation after its way back, so a defect is found where it
//! happens.

use std::time::Instant;

use thiserror::Error;

use super::{
    BackError, BackTranslation, Cells, Cone, Constructors, Control, Inline, Invariants, Narrow,
    Numerals, Propagate, Reads, Records, Simplify, SingleLoop, Sizes, Slice, Split, Subsume,
    Transformation, Unzip,
};
use crate::chc::System;
use crate::run::Context;
#[cfg(debug_assertions)]
use crate::witness::check_refutation;
use crate::witness::{Model, Refutation};

/// All passes by name, in the default order, with what they do.
pub const PASSES: &[(&str, &str)] = &[
    (
        "cone",
        "drop predicates without derivation or without effect on a query",
    ),
    (
        "records",
        "replace records (one constructor) by their fields",
    ),
    (
        "constructors",
        "replace arguments that always have one constructor by its fields",
    ),
    (
        "simplify",
        "solve equations, drop locals, empty and repeated clauses",
    ),
    ("propagate", "remove constant and equal arguments"),
    ("slice", "remove arguments that nothing reads"),
    ("unzip", "make arrays of records one array for each field"),
    (
        "reads",
        "make arrays of which few elements matter one scalar for each",
    ),
    (
        "cells",
        "make arrays with constant indexes one scalar for each",
    ),
    ("subsume", "drop clauses and body atoms that others imply"),
    ("inline", "resolve predicates away"),
    (
        "control",
        "split predicates on arguments that act as a program counter",
    ),
    ("split", "split disjunctions where a case is simpler"),
    ("narrow", "drop upper bits that bit-vectors do not use"),
    (
        "invariants",
        "conjoin bounds, equations and congruences that hold",
    ),
];

/// Passes that run once, at their place in a list: those before and those after are iterated to
/// fixpoints of their own. So they may undo what another pass does.
pub const NAMED_PASSES: &[(&str, &str)] = &[
    (
        "single-loop",
        "make one predicate of all, if no clause has several body atoms",
    ),
    ("numerals", "replace Peano numerals by integers"),
    (
        "sizes",
        "add the sizes of arguments of recursive datatypes as arguments",
    ),
];

/// Those of them with which the default begins: what they add is for the others to make small.
const FIRST: [&str; 2] = ["numerals", "sizes"];

/// Passes that may take longer than an engine needs for an easy system.
const COSTLY: [&str; 2] = ["narrow", "invariants"];

/// Rounds at most; the fixpoint is usually reached in four.
const ROUNDS: usize = 16;

/// An unknown name in a list of passes.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("there is no pass {0:?}; the passes are {names}", names = names())]
pub struct PipelineError(pub String);

/// The default list.
fn default_list() -> impl Iterator<Item = &'static str> {
    FIRST.into_iter().chain(PASSES.iter().map(|p| p.0))
}

fn names() -> String {
    let all = PASSES.iter().chain(NAMED_PASSES);
    all.map(|p| p.0).collect::<Vec<_>>().join(", ")
}

fn make(name: &str) -> Option<Box<dyn Transformation>> {
    Some(match name {
        "cone" => Box::new(Cone),
        "records" => Box::new(Records),
        "constructors" => Box::new(Constructors::default()),
        "unzip" => Box::new(Unzip),
        "reads" => Box::new(Reads),
        "cells" => Box::new(Cells),
        "simplify" => Box::new(Simplify::default()),
        "propagate" => Box::new(Propagate),
        "slice" => Box::new(Slice),
        "subsume" => Box::new(Subsume::default()),
        "inline" => Box::new(Inline::default()),
        "control" => Box::new(Control::default()),
        "split" => Box::new(Split::default()),
        "invariants" => Box::new(Invariants::default()),
        "numerals" => Box::new(Numerals),
        "sizes" => Box::new(Sizes),
        "narrow" => Box::new(Narrow::default()),
        "single-loop" => Box::new(SingleLoop),
        _ => return None,
    })
}

/// Receives the name of a pass and the system after it.
pub type Dump = Box<dyn FnMut(&str, &System)>;

/// A list of passes, run again and again until none of them changes anything.
pub struct Pipeline {
    passes: Vec<&'static str>,
    /// The pass after which `on_dump` is called, each time it changed the system.
    pub dump_after: Option<String>,
    pub on_dump: Option<Dump>,
}

impl Default for Pipeline {
    fn default() -> Self {
        Pipeline {
            passes: default_list().collect(),
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
                "default" => passes.extend(default_list()),
                name => match PASSES.iter().chain(NAMED_PASSES).find(|p| p.0 == name) {
                    Some(pass) => passes.push(pass.0),
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
    pub fn names(&self) -> &[&'static str] {
        &self.passes
    }

    /// The pipeline without the passes that cost time, if there are both kinds of passes.
    pub fn quick(&self) -> Option<Pipeline> {
        let costly = |name: &&str| COSTLY.contains(name);
        let passes: Vec<&'static str> =
            self.passes.iter().copied().filter(|n| !costly(n)).collect();
        let some = !passes.is_empty() && passes.len() < self.passes.len();
        // What is to be printed is the system after all passes.
        (some && self.on_dump.is_none()).then(|| Pipeline {
            passes,
            ..Pipeline::default()
        })
    }

    /// Runs the passes until nothing changes, within the context's limits. Failures of passes are
    /// logged and skipped.
    pub fn run(&mut self, system: System, cx: &mut Context) -> (System, BackStack) {
        self.go_on(system, BackStack { ways: Vec::new() }, cx)
    }

    /// The same for a system that other passes made, with the ways back through these.
    pub fn go_on(
        &mut self,
        mut system: System,
        mut stack: BackStack,
        cx: &mut Context,
    ) -> (System, BackStack) {
        let passes = self.passes.clone();
        let once = |name: &&str| NAMED_PASSES.iter().any(|p| p.0 == *name);
        for stage in passes.chunk_by(|a, b| !once(a) && !once(b)) {
            let rounds = if once(&stage[0]) { 1 } else { ROUNDS };
            self.iterate(stage, rounds, &mut system, &mut stack, cx);
        }
        cx.stats
            .set("transform.clauses", system.clauses.len() as u64);
        let predicates = system.used_predicates().len() as u64;
        cx.stats.set("transform.predicates", predicates);
        (system, stack)
    }

    /// Passes until none of them changes anything.
    fn iterate(
        &mut self,
        names: &[&str],
        rounds: usize,
        system: &mut System,
        stack: &mut BackStack,
        cx: &mut Context,
    ) {
        let passes: Vec<Box<dyn Transformation>> =
            names.iter().filter_map(|name| make(name)).collect();
        let prompt = passes.iter().filter(|pass| !pass.waits()).count();
        // How many passes in a row changed nothing: once it is all of them, that is the fixpoint.
        let mut idle = 0;
        for _ in 0..rounds {
            for pass in &passes {
                if idle >= passes.len() || cx.stop().is_some() {
                    return;
                }
                // A pass that waits for the others comes when these are idle, and they need not be
                // asked again before.
                if pass.waits() != (idle >= prompt) {
                    continue;
                }
                if self.step(pass.as_ref(), system, stack, cx) {
                    idle = 0;
                } else {
                    idle += 1;
                }
            }
        }
    }

    /// One pass; true if it changed the system.
    fn step(
        &mut self,
        pass: &dyn Transformation,
        system: &mut System,
        stack: &mut BackStack,
        cx: &mut Context,
    ) -> bool {
        let name = pass.name();
        if pass.once() && stack.ways.iter().any(|way| way.pass == name) {
            return false;
        }
        let start = Instant::now();
        let before = Extent::of(system);
        let result = pass.apply(system.clone(), cx);
        let time = start.elapsed();
        cx.stats
            .add_time(&format!("transform.{name}.seconds"), time);
        let step = match result {
            Ok(step) => step,
            Err(error) => {
                log::warn!("{error}; the system stays as it was");
                return false;
            }
        };
        if !step.changed {
            log::debug!("pass {name}: no change, {:.3} s", time.as_secs_f64());
            return false;
        }
        if cfg!(debug_assertions)
            && let Err(error) = step.system.check()
        {
            log::error!("pass {name} broke the system: {error}");
            debug_assert!(false, "pass {name} broke the system: {error}");
            return false;
        }
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
        let old = std::mem::replace(system, step.system);
        stack.ways.push(Way {
            pass: name,
            back: step.back,
            #[cfg(debug_assertions)]
            old,
        });
        #[cfg(not(debug_assertions))]
        drop(old);
        if self.dump_after.as_deref() == Some(name)
            && let Some(dump) = &mut self.on_dump
        {
            dump(name, system);
        }
        true
    }
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
    #[cfg(debug_assertions)]
    old: System,
}

/// The ways back through all passes that changed something.
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
            let start = Instant::now();
            model = way.back.model(model, cx)?;
            note_time(cx, way.pass, start);
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
            let start = Instant::now();
            refutation = way.back.refutation(refutation, cx)?;
            note_time(cx, way.pass, start);
            #[cfg(debug_assertions)]
            check_refutation(&way.old, &refutation).map_err(|error| BackError {
                pass: way.pass,
                message: error.to_string(),
            })?;
        }
        Ok(refutation)
    }
}

fn note_time(cx: &mut Context, pass: &str, start: Instant) {
    let elapsed = start.elapsed();
    log::debug!("way back through {pass}: {:.3} s", elapsed.as_secs_f64());
    cx.stats
        .add_time(&format!("transform.{pass}.back.seconds"), elapsed);
}
