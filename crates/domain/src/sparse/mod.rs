//! A sparse analysis of large systems in layers, before all passes.
//!
//! Front ends write one predicate per basic block, so a system has thousands of predicates with tens
//! of arguments each, and clauses that change one argument. The analysis compiles clauses once
//! ([`compile`]), and computes values of predicates along a weak topological order ([`iterate`]),
//! layer by layer: ranges of machine integers first. Each layer looks only at what the open queries
//! depend on, uses the layers before, and has a budget in proportion to the clauses. If it ends,
//! components that were not reached keep the value of the layer before.
//!
//! Sources: Bourdoncle, FMPA 1993 (order and strategy); Oh et al., PLDI 2012 (sparse analysis);
//! Miné, PLDI 2003 (packs).
//!
//! Invariant: the values of all layers together are a post-fixpoint of the clauses, whenever the
//! budget ends. No verdict relies on it.

mod compile;
mod element;
mod formulas;
mod iterate;
mod needed;
mod propagate;
mod range;
#[cfg(test)]
mod tests;
mod transfer;

use std::time::Duration;

use rustc_hash::FxHashMap;

use compile::Program;
use element::Element;
use formulas::formula;
use iterate::{Schedule, run};
use transfer::{Layer, Transfer};

use alphorn_chc::{PredicateId, System};
use alphorn_term::TermId;
use alphorn_term::run::Budget;

/// The limits of the analysis.
struct Limits {
    /// Work of a layer for each clause.
    work_per_clause: Duration,
    /// Work of a layer in any case.
    least_work: Duration,
}

const LIMITS: Limits = Limits {
    work_per_clause: Duration::from_micros(20),
    least_work: Duration::from_millis(5),
};

/// What the analysis found.
pub struct Analysis<'a> {
    system: &'a System,
    program: Program,
    schedule: Schedule,
    values: Vec<Option<Element>>,
    layer: Layer,
    open: Vec<usize>,
}

/// Analyses a system within a part of the budget that is in proportion to its clauses.
pub fn analyse<'a>(system: &'a System, budget: &Budget) -> Analysis<'a> {
    let program = Program::new(system);
    let schedule = Schedule::new(system, &program);
    let tops = program.starts.iter().map(|starts| Some(Element::top(starts)));
    let mut values: Vec<Option<Element>> = tops.collect();
    let mut transfer = Transfer::new(&program);
    let clauses = u32::try_from(system.clauses.len()).unwrap_or(u32::MAX);
    let mut open = schedule.queries.clone();
    let layer = Layer::Ranges;
    if !open.is_empty() {
        let slice = vec![true; system.predicates.len()];
        let work = LIMITS.least_work + LIMITS.work_per_clause * clauses;
        let part = budget.work(work);
        let (found, complete) = run(&schedule, &mut transfer, layer, &values, &slice, &part);
        values = found;
        open.retain(|&query| applies(&mut transfer, query, &values, layer));
        log::debug!(
            "sparse, {layer:?}: {} of {} queries open{}",
            open.len(),
            schedule.queries.len(),
            if complete { "" } else { ", cut" }
        );
    }
    let mut open: Vec<usize> = open.iter().map(|&q| program.cubes[q as usize].clause).collect();
    open.dedup();
    Analysis {
        system,
        program,
        schedule,
        values,
        layer,
        open,
    }
}

/// Whether a cube may be applied to facts in the values.
fn applies(
    transfer: &mut Transfer,
    cube: u32,
    values: &[Option<Element>],
    layer: Layer,
) -> bool {
    let cube = &transfer.program().cubes[cube as usize];
    let bodies = cube.body.iter().map(|(p, _)| values[*p].as_ref());
    let Some(bodies) = bodies.collect::<Option<Vec<&Element>>>() else {
        return false;
    };
    transfer.post(cube, &bodies, layer).is_some()
}

impl Analysis<'_> {
    /// The positions of the queries that are not excluded.
    pub fn open_queries(&self) -> &[usize] {
        &self.open
    }

    /// Formulas over the formal variables of predicates that are inductive together and exclude all
    /// queries, no more than the proof needs; `None` if a query is open. A predicate without
    /// formulas may hold everywhere.
    pub fn proof(&self) -> Option<FxHashMap<PredicateId, Vec<TermId>>> {
        if !self.open.is_empty() {
            return None;
        }
        let mut transfer = Transfer::new(&self.program);
        let found = needed::needed(&self.schedule, &mut transfer, &self.values, self.layer);
        if found.is_none() {
            log::error!("defect: a statement of the sparse analysis has no explanation");
        }
        let mut formulas = FxHashMap::default();
        for (p, statements) in found?.into_iter().enumerate() {
            if statements.is_empty() {
                continue;
            }
            let predicate = &self.system.predicates[p];
            let element = self.values[p].as_ref();
            let of = |s| formula(&self.system.terms, predicate, element, s);
            let all = statements.into_iter().map(of).collect();
            formulas.insert(PredicateId(p as u32), all);
        }
        Some(formulas)
    }

    /// For each clause, by its position, whether it may be applied to facts that the analysis does not
    /// exclude.
    pub fn applicable(&self) -> Vec<bool> {
        let mut transfer = Transfer::new(&self.program);
        let mut found = vec![false; self.system.clauses.len()];
        for (at, cube) in (0..).zip(&self.program.cubes) {
            if !found[cube.clause] {
                found[cube.clause] = applies(&mut transfer, at, &self.values, self.layer);
            }
        }
        found
    }
}
