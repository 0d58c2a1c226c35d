//! Transition power abstraction: what holds of runs of one, two, four, eight … steps.
//!
//! For linear systems with deep refutations or with loops in phases. After Blicha, Fedyukovich,
//! Hyvärinen, Sharygina, "Transition Power Abstractions for Deep Counterexample Detection" (TACAS
//! 2022), and "Split Transition Power Abstraction for Unbounded Safety" (FMCAD 2022).
//!
//! A level has a relation between the states before and after runs of two to its power steps, and one
//! of runs of less; both say more than is true (`relation`). Queries compose two relations of the
//! level below and descend by states between the halves; interpolants refine what said too much
//! (`search`). So a run of thousands of steps is found by some levels of halves, the lowest of which
//! are short unrollings (`unroll`), and is written out backward (`path`). When no run of less than so
//! many steps leads to a query, a relation that further steps do not lead out of, or the largest part of
//! one, is a proof (`fixpoint`), and projection makes an inductive invariant of it (`model`).
//!
//! Deviations: several predicates become one transition system by the pass `single-loop`; Golem takes
//! its loops apart and goes from one to the next. Runs of up to eight steps are asked for directly,
//! where the relations do not exclude them. A proof may be a part of a relation's conjuncts, and
//! those that are closed for all runs are known at all levels from then on. A relation of exactly
//! so many steps that is closed is k-inductive; interpolants make an inductive invariant of it.
//!
//! Invariant: relations decide only what is looked for. `Sat` is said when clauses, facts and queries
//! were checked against the invariant, `Unsat` when evaluation has confirmed the refutation.

mod fixpoint;
mod model;
mod options;
mod path;
mod relation;
mod search;
mod system;
#[cfg(test)]
mod tests;
mod unroll;

use std::rc::Rc;

pub use self::options::{Form, Options, Powers, Sides};

use self::search::{Kind, Search};
use self::system::TransitionSystem;
use super::linear::steps::Steps;
use super::linear::{self, Stop, complete, constraint, failed, incomplete, refutation, supports};
use super::settings::Setting;
use super::{Engine, EngineError, Unsupported};
use crate::chc::{Reachability, Shape, System};
use crate::run::Context;
use crate::smt::Smt;
use crate::transform::{BackError, SingleLoop, Transformation};
use crate::witness::{Model, Verdict};

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Tpa {
    pub options: Options,
}

impl Engine for Tpa {
    fn name(&self) -> &'static str {
        "tpa"
    }

    /// Linear clauses over Booleans, numbers and bit-vectors, without quantifiers.
    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        supports(self.name(), shape)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        let simplex = self.options.simplex;
        linear::run(self.name(), system, simplex, cx, |smt, cx| {
            self.whole(system, smt, cx)
        })
    }
}

impl Tpa {
    /// Decides by a system with one predicate, and brings the witness back.
    fn whole(&self, system: &System, smt: &Rc<Smt>, cx: &mut Context) -> Result<Verdict, Stop> {
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
        let failed = |e: BackError| Stop::from(failed(&e.to_string()));
        match self.decide(whole, smt, cx)? {
            Verdict::Sat(mut model) => {
                if let Some(single) = &single {
                    model = single.back.model(model, cx).map_err(failed)?;
                }
                complete(system, &reachability, &mut model);
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

    fn decide(&self, system: &System, smt: &Rc<Smt>, cx: &mut Context) -> Result<Verdict, Stop> {
        let reachability = Reachability::new(system);
        let steps = Steps::new(system, &reachability);
        if let Some(trace) = constraint(system, &steps, &mut smt.solver(), cx)? {
            return refutation(system, &steps, &trace).map(Verdict::Unsat);
        }
        let predicates = steps.predicates();
        let predicate = match predicates[..] {
            [] => return Ok(Verdict::Sat(Model::default())),
            [predicate] => predicate,
            _ => return Err(incomplete("the clauses are no single transition system")),
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

    fn search(&self, search: &mut Search, cx: &mut Context) -> Result<Verdict, Stop> {
        let (ts, single) = (search.ts, self.options.powers == Powers::Single);
        let kinds: &[Kind] = match single {
            true => &[Kind::Exact],
            false => &[Kind::Less, Kind::Exact],
        };
        for level in 0..=self.options.max_level {
            cx.stats.set("tpa.level", level as u64);
            for &kind in kinds {
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
        Err(incomplete(format!("nothing is closed up to level {level}")))
    }

    /// A model, if a relation gives one.
    fn prove(
        &self,
        search: &mut Search,
        kind: Kind,
        level: usize,
        cx: &mut Context,
    ) -> Result<Option<Model>, Stop> {
        let exact = !search.about_all(kind);
        if exact && !self.options.exact_fixpoints {
            return Ok(None);
        }
        let version = search.exact[level].version + search.less[level].version;
        if search.open.get(&(kind, level)) == Some(&version) {
            return Ok(None);
        }
        search.tidy(kind, level, cx)?;
        for &side in search.sides(kind) {
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
                    return Ok(Some(Model { definitions }));
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
