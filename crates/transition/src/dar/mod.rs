//! Dual approximated reachability: frames from facts forward and from queries backward, which
//! strengthen each other by interpolants.
//!
//! For linear systems. After Vizel, Grumberg, Shoham, "Intertwined forward-backward reachability
//! analysis using interpolants" (TACAS 2013).
//!
//! `F_i` over-approximates the states after runs of `i` steps from facts, where an entry clause is
//! the first step; `B_j` those from which `j` steps lead to a query, which is the last step
//! (`frames`). At bound `n` there is no run of `n` steps. If no step leads from `F_i` to `B_{n-i}`
//! for some `i`, there is no run of `n + 1` steps: interpolants of single steps extend that to all
//! frames, forward to `F_{n+1}` and backward to `B_{n+1}` (local strengthening). Otherwise the
//! clauses are unrolled from facts until `B_{n+1-i}` is not reached after `i` steps, and the
//! interpolants of that sequence strengthen `F_1 … F_i` (global strengthening, `runs`). If there is
//! no such `i`, the run found is a refutation. If a frame implies the disjunction of those before
//! it, that disjunction is a model, or, backward, its complement.
//!
//! With `dar.mode=isb` there are only forward frames, and each bound is refuted by an unrolling of
//! its full length, whose interpolants are added to the frames: Vizel, Grumberg,
//! "Interpolation-sequence based model checking" (FMCAD 2009).
//!
//! Deviations:
//!
//! - The dependency graph is unrolled: a frame has a formula for each predicate, `false` for those
//!   that no run of this number of steps reaches by the dependencies. Interpolants are those of
//!   DAGs, for each predicate.
//! - Facts and queries whose clauses have local variables have no formula; the frame next to them
//!   is an interpolant.
//! - Interpolants are computed by proof obligations (`alphorn_proof::solve_acyclic`).
//! - Conjuncts that also hold one step later are added to the next frame, as in Vizel, Gurfinkel,
//!   "Interpolating property directed reachability" (CAV 2014).
//!
//! Invariant: `F_i` and a step imply `F_{i+1}`, and likewise backward. Debug builds check each of
//! these implications.

mod frames;
mod interpolants;
mod options;
mod runs;
#[cfg(test)]
mod tests;

pub use self::options::Options;

use std::rc::Rc;

use self::frames::{Borders, Direction, Side};
use self::interpolants::Interpolants;
use self::options::Mode;
use self::runs::{Bound, Runs};
use alphorn_chc::{Reachability, Shape, System};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::steps::Steps;
use alphorn_proof::trace::constraint_query;
use alphorn_proof::{Stop, complete_by_reachability, negated, weaken};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::run::Context;
use alphorn_witness::{Model, Verdict};

/// The engine `dar`.
#[derive(Clone, Debug, Default)]
pub struct Dar {
    /// The settings.
    pub options: Options,
}

impl Engine for Dar {
    fn name(&self) -> &'static str {
        "dar"
    }

    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        driver::supports_linear(self.name(), shape)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        driver::run(&*self, system, Arithmetic::Simplex, cx, |smt, cx| {
            let mut interpolants = Interpolants::new(system, smt);
            let verdict = self.decide(system, smt, &mut interpolants, cx);
            cx.stats.add_time("dar.interpolation", interpolants.time);
            cx.stats.add("dar.interpolants", interpolants.count);
            verdict
        })
    }
}

impl Dar {
    /// Strengthens frames bound by bound until there is an answer.
    fn decide(
        &self,
        system: &System,
        smt: &Rc<Smt>,
        interpolants: &mut Interpolants,
        cx: &mut Context,
    ) -> Result<Verdict, Stop> {
        let reachability = Reachability::new(system);
        let steps = Steps::new(system, &reachability);
        let reversed = steps.reversed();
        if let Some(run) = constraint_query(system, &steps, &mut smt.solver(), cx)? {
            return Ok(Verdict::Unsat(run.refutation(system, &steps)?));
        }
        let mut forward = Side::new(system, Direction::Forward, &steps);
        let mut backward = Side::new(system, Direction::Backward, &reversed);
        let mut borders = Borders::new(system, &steps, smt);
        let mut runs = Runs::new(system, &steps, smt);
        let mut bound = 0;
        loop {
            cx.stats.set("dar.bound", bound as u64);
            log::debug!("dar: no run of {bound} steps");
            let border = match self.options.mode {
                Mode::Dar => borders.latest(&forward, &backward, bound, cx)?,
                Mode::Isb => (bound == 0).then_some(0),
            };
            let border = match border {
                Some(border) => border,
                None => {
                    cx.stats.add("dar.global", 1);
                    let others = (self.options.mode == Mode::Dar).then_some(&backward);
                    match runs.find_disjoint(&forward, others, bound, cx)? {
                        Bound::Reached(run) => {
                            return Ok(Verdict::Unsat(run.refutation(system, &steps)?));
                        }
                        Bound::Disjoint { after, problem } => {
                            runs.strengthen(&mut forward, &problem, interpolants, cx)?;
                            after - 1
                        }
                    }
                }
            };
            log::debug!("dar: disjoint after {border} steps of {bound}");
            match self.options.mode {
                Mode::Dar => {
                    for at in border..=bound {
                        let other = &backward;
                        forward.strengthen(other, at, bound, &mut borders, interpolants, cx)?;
                    }
                    for at in bound - border..=bound {
                        let other = &forward;
                        backward.strengthen(other, at, bound, &mut borders, interpolants, cx)?;
                    }
                }
                Mode::Isb => forward.extend(bound),
            }
            bound += 1;
            forward.push(bound, &mut borders, cx)?;
            if self.options.mode == Mode::Dar {
                backward.push(bound, &mut borders, cx)?;
            }
            if cfg!(debug_assertions) {
                forward.check(smt, cx)?;
                backward.check(smt, cx)?;
            }
            let closed = match forward.closed(bound, smt, cx)? {
                Some(found) => Some(found),
                None if self.options.mode == Mode::Isb => None,
                None => backward
                    .closed(bound, smt, cx)?
                    .map(|reached| negated(system, reached)),
            };
            if let Some(mut model) = closed {
                complete_by_reachability(system, &reachability, &mut model);
                if let Some(definitions) = weaken(system, &model.definitions, smt, cx) {
                    model = Model {
                        definitions,
                        ..Model::default()
                    };
                }
                return Ok(Verdict::Sat(model));
            }
        }
    }
}
