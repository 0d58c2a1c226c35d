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
//! when no query can be derived by the predicates' dependencies alone, or no predicate is left.
//! Everything else is `Unknown`, also a search that has exhausted all derivations, because there
//! is no model to show.

mod linear;
mod tree;

use std::rc::Rc;

use alphorn_chc::{Reachability, Shape, System};
use alphorn_engine::settings::{Setting, settings};
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::{Stop, complete_by_reachability, incomplete};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::run::Context;
use alphorn_witness::{Model, Refutation, Verdict};

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
        let reachability = Reachability::new(system);
        if reachability.clauses().is_empty() {
            let mut model = Model::default();
            complete_by_reachability(system, &reachability, &mut model);
            return Ok(Verdict::Sat(model));
        }
        driver::run(&*self, system, Arithmetic::default(), cx, |smt, cx| {
            self.search(system, &reachability, smt, cx)
        })
    }
}

impl Bmc {
    fn search(
        &self,
        system: &System,
        reachability: &Reachability,
        smt: &Rc<Smt>,
        cx: &mut Context,
    ) -> Result<Verdict, Stop> {
        let max_depth = self.options.max_depth;
        let linear = system.clauses.iter().all(|c| c.body.len() <= 1);
        let outcome = match linear && !self.options.force_tree {
            true => linear::search(system, reachability, smt, max_depth, cx),
            false => tree::search(system, reachability, smt, max_depth, cx),
        };
        match outcome? {
            Outcome::Refuted(refutation) => Ok(Verdict::Unsat(refutation)),
            // All queries are about constraints alone, and those have no solution.
            Outcome::Exhausted(_) if system.used_predicates().is_empty() => {
                Ok(Verdict::Sat(Model::default()))
            }
            Outcome::Exhausted(depth) => Err(incomplete(format!(
                "no refutation and no derivation deeper than {depth}, but no model either"
            ))),
            Outcome::Bound(depth) => Err(incomplete(format!("no refutation up to depth {depth}"))),
        }
    }
}
