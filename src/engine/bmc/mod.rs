//! Bounded model checking: searches for a derivation of `false`, shortest first.
//!
//! After Biere, Cimatti, Clarke, Zhu, "Symbolic Model Checking without BDDs" (TACAS 1999). Linear
//! systems are unrolled level by level from the entry clauses in one incremental solver
//! (`linear`). Systems with several body atoms are unfolded backward from the queries, and only
//! where an unsatisfiable core asks for it (`tree`), after Lal, Qadeer, Lahiri, "A Solver for
//! Reachability Modulo Theories" (CAV 2012). Deviation: what is unfolded is chosen by cores under a
//! bound on the height, not by a model of the over-approximation.
//!
//! Invariant: `Unsat` comes with a derivation that evaluation has confirmed; `Sat` is said only
//! when no query can be derived by the predicates' dependencies alone, or no predicate is left. Everything else is
//! `Unknown`, also a search that has exhausted all derivations, because there is no model to show.

mod instance;
mod linear;
mod tree;

use std::time::Duration;

use rustc_hash::FxHashMap;

use super::settings::{Setting, settings};
use super::{Engine, EngineError, Unsupported};
use crate::chc::{Reachability, Shape, System};
use crate::proof::confirm;
use crate::run::Context;
use crate::run::Reason;
use crate::smt::{SatResult, Smt, Solver};
use crate::term::TermId;
use crate::witness::{Model, Refutation, Verdict};

settings! {
    /// Limits of the search.
    Options {
        /// Largest height of a derivation that is looked for.
        max_depth: usize = usize::MAX;
        /// Unfold linear systems like others. Unrolling them is much faster.
        force_tree: bool = false;
    }
}

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Bmc {
    pub options: Options,
}

impl Bmc {
    /// An engine with these limits.
    pub fn new(options: Options) -> Self {
        Bmc { options }
    }
}

/// How a search ended.
enum Outcome {
    Refuted(Refutation),
    /// There is no derivation of a greater height than this, and none of `false` up to it.
    Exhausted(usize),
    /// No derivation of `false` up to this height.
    Bound(usize),
    Stopped(Reason),
}

impl Engine for Bmc {
    fn name(&self) -> &'static str {
        "bmc"
    }

    /// Everything is supported: a derivation is checked whatever its theories are.
    fn supports(&self, _shape: &Shape) -> Result<(), Unsupported> {
        Ok(())
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        self.search(system, cx)
    }
}

impl Bmc {
    fn search(&self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        let reachability = Reachability::new(system);
        if reachability.clauses().is_empty() {
            return Ok(Verdict::Sat(model_by_dependencies(system, &reachability)));
        }
        let linear = system.clauses.iter().all(|c| c.body.len() <= 1);
        let mut oracle = Oracle::new(cx);
        let max_depth = self.options.max_depth;
        let outcome = if linear && !self.options.force_tree {
            linear::search(system, &reachability, &mut oracle, max_depth, cx)
        } else {
            tree::search(system, &reachability, &mut oracle, max_depth, cx)
        };
        cx.stats.add("bmc.queries", oracle.smt.usage().0);
        cx.stats.add_time("bmc.smt", oracle.smt.usage().1);
        let incomplete = |what| Ok(Verdict::Unknown(Reason::Incomplete(what)));
        match outcome? {
            Outcome::Refuted(refutation) => Ok(confirm(system, refutation, &oracle.smt, cx)),
            // All queries are about constraints alone, and those have no solution.
            Outcome::Exhausted(_) if system.used_predicates().is_empty() => {
                Ok(Verdict::Sat(Model::default()))
            }
            Outcome::Exhausted(depth) => incomplete(format!(
                "no refutation and no derivation deeper than {depth}, but no model either"
            )),
            Outcome::Bound(depth) => incomplete(format!("no refutation up to depth {depth}")),
            Outcome::Stopped(reason) => Ok(Verdict::Unknown(reason)),
        }
    }
}

/// Predicates that nothing derives are `false`, the others `true`: a model when no query has only
/// derivable body atoms.
fn model_by_dependencies(system: &System, reachability: &Reachability) -> Model {
    let mut definitions = FxHashMap::default();
    for predicate in system.used_predicates() {
        let derivable = reachability.is_derivable(predicate);
        definitions.insert(predicate, system.terms.bool(derivable));
    }
    Model { definitions }
}

/// The incremental solver of a search, with the limits of the run.
struct Oracle {
    smt: std::rc::Rc<Smt>,
    solver: Solver,
}

/// Answer of the oracle when it is one.
enum Answer {
    Sat,
    Unsat,
    /// Z3 gave up although there was time left for the run.
    GaveUp(String),
    Stopped(Reason),
}

impl Oracle {
    fn new(cx: &Context) -> Self {
        let smt = Smt::within(&cx.budget);
        let solver = smt.solver();
        Oracle { smt, solver }
    }

    fn check(&mut self, assumptions: &[TermId], cx: &Context) -> Answer {
        self.check_within(None, assumptions, cx)
    }

    /// Like [`Oracle::check`], in at most this time.
    fn check_within(
        &mut self,
        slice: Option<Duration>,
        assumptions: &[TermId],
        cx: &Context,
    ) -> Answer {
        if let Some(reason) = cx.stop() {
            return Answer::Stopped(reason);
        }
        self.smt.set_query_limit(slice);
        match self.solver.check(assumptions) {
            SatResult::Sat => Answer::Sat,
            SatResult::Unsat => Answer::Unsat,
            SatResult::Unknown(why) => match cx.stop() {
                Some(reason) => Answer::Stopped(reason),
                None => Answer::GaveUp(format!("the oracle: {why}")),
            },
        }
    }
}
