//! Transition power abstraction: over-approximations of runs of one, two, four, eight … steps.
//!
//! For linear systems with deep refutations or with loops in phases. After Blicha, Fedyukovich,
//! Hyvärinen, Sharygina, "Transition power abstractions for deep counterexample detection" (TACAS
//! 2022), and "Split transition power abstraction for unbounded safety" (FMCAD 2022).
//!
//! A level has a relation between the states before and after runs of two to its power steps
//! (`Exact`), and one for shorter runs (`Less`); both are over-approximations (`relation`). Queries
//! compose two relations of the level below and descend by the states between the halves;
//! interpolants refine a relation that allowed too much (`search`). So a run of thousands of steps
//! is found by some levels of halves, the lowest of which are short unrollings (`short_runs`), and
//! is expanded backward (`path`). A relation that is closed under further steps, or its largest
//! closed part, is a proof if no run leads to a query (`fixpoint`), and projection makes an
//! inductive invariant of it (`model`).
//!
//! Deviations:
//!
//! - The pass `single-loop` makes one transition system of several predicates, and translates the
//!   witness back.
//! - Short runs, of up to eight steps, are queried by an unrolling if the relations do not exclude
//!   them. Longer ones are composed of these, and a refutation is expanded backward, one query per
//!   unrolling.
//! - A proof may be the largest closed part of a relation's conjuncts; in the papers it is the
//!   whole relation. Conjuncts that hold of all runs are added at all levels.
//! - A closed relation of exactly 2ⁿ steps is k-inductive. It becomes an inductive invariant by one
//!   interpolant for each level below: the states halfway, from which no query is within the other
//!   half. This needs the order of composition `Less` then `Exact`, and the backward direction
//!   first.
//!
//! Invariant: relations only guide the search. `Sat` is answered only with an invariant that was
//! checked against clauses, facts and queries, `Unsat` only with a refutation that evaluation has
//! confirmed.

mod fixpoint;
mod limits;
mod model;
mod options;
mod path;
mod relation;
mod search;
mod short_runs;
mod system;
#[cfg(test)]
mod tests;

pub use self::options::Options;

use std::rc::Rc;

use self::search::{Kind, Search};
use self::system::TransitionSystem;
use alphorn_chc::{Reachability, Shape, System};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::steps::Steps;
use alphorn_proof::trace::constraint_query;
use alphorn_proof::{Failure, Stop, complete_by_reachability, incomplete};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::run::Context;
use alphorn_transform::{BackError, SingleLoop, Transformation};
use alphorn_witness::{Model, Verdict};

/// The engine `tpa`.
#[derive(Clone, Debug, Default)]
pub struct Tpa {
    /// The settings.
    pub options: Options,
}

impl Engine for Tpa {
    fn name(&self) -> &'static str {
        "tpa"
    }

    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        driver::supports_linear(self.name(), shape)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        // Z3's older simplex solver is faster here.
        driver::run(&*self, system, Arithmetic::Simplex, cx, |smt, cx| {
            self.decide(system, smt, cx)
        })
    }
}

impl Tpa {
    /// Decides a system by one with a single predicate, and translates the witness back.
    fn decide(&self, system: &System, smt: &Rc<Smt>, cx: &mut Context) -> Result<Verdict, Stop> {
        let reachability = Reachability::new(system);
        let mut relevant = system.clone();
        relevant.clauses = reachability
            .clauses()
            .iter()
            .map(|&clause| system.clauses[clause].clone())
            .collect();
        let relevant = Rc::new(relevant);
        let single = SingleLoop.apply(&relevant, cx);
        let whole = single.as_ref().map_or(&*relevant, |single| &single.system);
        let failed = |e: BackError| Failure {
            step: "translating a witness back from a single loop",
            message: e.to_string(),
        };
        match self.decide_single(whole, smt, cx)? {
            Verdict::Sat(mut model) => {
                if let Some(single) = &single {
                    model = single.back.model(model, cx).map_err(failed)?;
                }
                complete_by_reachability(system, &reachability, &mut model);
                Ok(Verdict::Sat(model))
            }
            Verdict::Unsat(mut refutation) => {
                if let Some(single) = &single {
                    refutation = single.back.refutation(refutation, cx).map_err(failed)?;
                }
                Ok(Verdict::Unsat(refutation))
            }
            unknown => Ok(unknown),
        }
    }

    /// Decides a system with at most one predicate.
    fn decide_single(
        &self,
        system: &System,
        smt: &Rc<Smt>,
        cx: &mut Context,
    ) -> Result<Verdict, Stop> {
        let steps = Steps::new(system, &Reachability::new(system));
        if let Some(run) = constraint_query(system, &steps, &mut smt.solver(), cx)? {
            return Ok(Verdict::Unsat(run.refutation(system, &steps)?));
        }
        let predicates = steps.predicates();
        let predicate = match predicates[..] {
            [] => return Ok(Verdict::Sat(Model::default())),
            [predicate] => predicate,
            _ => return Err(incomplete("the clauses are not a single transition system")),
        };
        let ts = TransitionSystem::new(system, &steps, predicate);
        let mut search = Search::new(&ts, smt, &self.options, cx);
        let result = self.search(&mut search, cx);
        cx.stats.add("tpa.refinements", search.counters.refinements);
        cx.stats.add("tpa.fallbacks", search.counters.fallbacks);
        cx.stats.add("tpa.hits", search.counters.hits);
        cx.stats.add("tpa.shared", search.always.len() as u64);
        result
    }

    /// Searches level by level.
    fn search(&self, search: &mut Search, cx: &mut Context) -> Result<Verdict, Stop> {
        let ts = search.ts;
        for level in 0..=self.options.max_level {
            cx.stats.set("tpa.level", level as u64);
            for kind in [Kind::Less, Kind::Exact] {
                if let Some(reached) = search.reach(kind, level, &ts.init, &ts.query, cx)? {
                    let refutation = search.refutation(&reached, cx)?;
                    cx.stats.set("tpa.steps", refutation.steps.len() as u64);
                    return Ok(Verdict::Unsat(refutation));
                }
                search.show(kind, level);
                for below in 1..=level {
                    if let Some(model) = self.prove(search, kind, below, cx)? {
                        return Ok(Verdict::Sat(model));
                    }
                }
            }
        }
        let level = self.options.max_level;
        Err(incomplete(format!(
            "no relation is closed up to level {level}"
        )))
    }

    /// A model, if the relation of a kind and level gives one.
    fn prove(
        &self,
        search: &mut Search,
        kind: Kind,
        level: usize,
        cx: &mut Context,
    ) -> Result<Option<Model>, Stop> {
        let version = search.exact[level].version + search.less[level].version;
        if search.open.get(&(kind, level)) == Some(&version) {
            return Ok(None);
        }
        search.simplify(kind, level, cx)?;
        for side in kind.sides() {
            let Some(proof) = search.fixpoint(kind, side, level, cx)? else {
                continue;
            };
            log::debug!("tpa: {kind:?} {level} is closed, {side:?}");
            match search.invariant(&proof, cx) {
                Ok(invariant) => {
                    let ts = search.ts;
                    let params = &ts.system.predicate(ts.predicate).params;
                    let formula = ts.over(invariant, &ts.copies[0], params);
                    let definitions = [(ts.predicate, formula)].into_iter().collect();
                    return Ok(Some(Model {
                        definitions,
                        ..Model::default()
                    }));
                }
                // Another side or level may be easier.
                Err(Stop::Reason(reason)) if cx.stop().is_none() => log::debug!("tpa: {reason}"),
                Err(stop) => return Err(stop),
            }
        }
        search.open.insert((kind, level), version);
        Ok(None)
    }
}
