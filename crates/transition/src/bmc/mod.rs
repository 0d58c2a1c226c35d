//! Bounded model checking: searches for a derivation of `false` by increasing height.
//!
//! After Biere, Cimatti, Clarke, Zhu, "Symbolic model checking without BDDs" (TACAS 1999). Linear
//! systems are unrolled level by level from the entry clauses in one incremental solver (`linear`).
//! Systems with several body atoms are unfolded backward from the queries, only where an
//! unsatisfiable core needs it (`tree`), after Lal, Qadeer, Lahiri, "A solver for reachability
//! modulo theories" (CAV 2012). Deviation: cores under a bound on the height select the nodes to be
//! unfolded, not a model of an over-approximation.
//!
//! Invariant: the answer is `Unsat` only with a derivation that evaluation has confirmed, and `Sat`
//! only if the dependencies of the predicates alone exclude a derivation of each query, or if no
//! predicate is left. It is `Unknown` when all derivations are exhausted, since there is no model.

mod limits;
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
    /// Options of `bmc`.
    Options {
        /// The largest height of a derivation.
        max_depth: usize = usize::MAX;
        /// Unfold linear systems like others, although unrolling them is much faster.
        force_tree: bool = false;
    }
}

/// The engine `bmc`.
#[derive(Clone, Debug, Default)]
pub struct Bmc {
    /// The settings.
    pub options: Options,
}

impl Bmc {
    /// The engine with these settings.
    pub fn new(options: Options) -> Self {
        Bmc { options }
    }
}

/// The result of a search.
enum Outcome {
    /// A derivation of `false`.
    Refuted(Refutation),
    /// There is no derivation of a greater height, and none of `false` up to this height.
    Exhausted(usize),
    /// There is no derivation of `false` up to this height.
    Bound(usize),
}

impl Engine for Bmc {
    fn name(&self) -> &'static str {
        "bmc"
    }

    /// Every system is accepted: derivations of all theories can be checked.
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
    /// Searches a system in which a query may be derivable.
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
            // All queries are constraints without body atoms and unsatisfiable.
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
