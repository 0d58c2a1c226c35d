//! A sparse analysis of large systems in layers, before all passes.
//!
//! Front ends write one predicate per basic block, so a system has thousands of predicates with tens
//! of arguments each, and clauses that change one argument. The analysis compiles clauses once
//! ([`compile`]), and computes values of predicates along a weak topological order ([`iterate`]),
//! layer by layer: ranges of machine integers, then differences in packs ([`zones`]), equations in
//! packs ([`equations`]), and implications of Booleans ([`implications`]). Each layer looks only at what the open queries
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
mod equations;
mod formulas;
mod implications;
mod iterate;
mod needed;
mod packs;
mod propagate;
mod range;
#[cfg(test)]
mod tests;
mod transfer;
mod zones;

use std::time::Duration;

use rustc_hash::FxHashMap;

use compile::{Kind, Program};
use element::{Element, Statement};
use formulas::formula;
use iterate::{Schedule, run};
use packs::{Relating, packs};
use transfer::{Extent, Layer, Plans, Transfer};

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
    plans: Plans,
    schedule: Schedule,
    values: Vec<Option<Element>>,
    /// The last layer.
    layer: Layer,
    /// Cubes of queries that are not excluded.
    open: Vec<u32>,
}

/// Analyses a system within a part of the budget that is in proportion to its clauses.
pub fn analyse<'a>(system: &'a System, budget: &Budget) -> Analysis<'a> {
    let mut analysis = Analysis::new(system);
    let clauses = u32::try_from(system.clauses.len()).unwrap_or(u32::MAX);
    let work = LIMITS.least_work + LIMITS.work_per_clause * clauses;
    for layer in Layer::ALL {
        if analysis.open.is_empty() || budget.is_spent() {
            break;
        }
        analysis.add(layer, &budget.work(work));
    }
    analysis
}

impl<'a> Analysis<'a> {
    /// Nothing is known yet.
    fn new(system: &'a System) -> Analysis<'a> {
        let program = Program::new(system);
        let schedule = Schedule::new(system, &program);
        let tops = program.starts.iter();
        let tops = tops.map(|starts| Some(Element::of_ranges(starts[..].into())));
        Analysis {
            system,
            values: tops.collect(),
            plans: Plans::default(),
            layer: Layer::Ranges,
            open: schedule.queries.clone(),
            program,
            schedule,
        }
    }

    /// Adds a layer, within a budget.
    fn add(&mut self, layer: Layer, budget: &Budget) {
        let slice = match layer {
            // What is not needed by queries may still be needed by engines.
            Layer::Ranges => vec![true; self.values.len()],
            _ => self.schedule.slice(&self.program, &self.open),
        };
        if !self.prepare(layer, &slice) {
            return;
        }
        self.layer = layer;
        let mut transfer = Transfer::new(&self.program, &self.plans);
        let (values, complete) = run(
            &self.schedule,
            &mut transfer,
            layer,
            &self.values,
            &slice,
            budget,
        );
        self.values = values;
        let (values, extent) = (&self.values, Extent::UpTo(layer));
        self.open
            .retain(|&query| applies(&mut transfer, query, values, extent));
        log::debug!(
            "sparse, {layer:?}: {} of {} queries open, {} steps{}",
            self.open.len(),
            self.schedule.queries.len(),
            transfer.steps,
            if complete { "" } else { ", cut" }
        );
    }

    /// Prepares a layer; false if it can find nothing.
    fn prepare(&mut self, layer: Layer, slice: &[bool]) -> bool {
        let relating = match layer {
            Layer::Ranges => return true,
            Layer::Zones => Relating::Differences,
            Layer::Equations => Relating::Equations,
            Layer::Implications => {
                let mut kinds = self.program.kinds.iter().zip(slice);
                return kinds.any(|(kinds, &is_in)| is_in && kinds.contains(&Kind::Bool));
            }
        };
        let packs = packs(&self.program, slice, &self.open, relating);
        if packs.iter().all(Vec::is_empty) {
            return false;
        }
        match relating {
            Relating::Differences => {
                self.plans.zones = zones::plans(&self.program, &packs);
                self.plans.packs.zones = packs;
            }
            Relating::Equations => {
                self.plans.equations = equations::plans(&self.program, &packs);
                self.plans.packs.equations = packs;
            }
        }
        true
    }

    /// The positions of the queries that are not excluded.
    pub fn open_queries(&self) -> Vec<usize> {
        let cubes = self.open.iter().map(|&q| &self.program.cubes[q as usize]);
        let mut clauses: Vec<usize> = cubes.map(|c| c.clause).collect();
        clauses.dedup();
        clauses
    }

    /// Formulas over the formal variables of predicates that are inductive together and exclude all
    /// queries, no more than the proof needs; `None` if a query is open. A predicate without
    /// formulas may hold everywhere.
    pub fn proof(&self) -> Option<FxHashMap<PredicateId, Vec<TermId>>> {
        if !self.open.is_empty() {
            return None;
        }
        let mut transfer = Transfer::new(&self.program, &self.plans);
        let found = needed::needed(&self.schedule, &mut transfer, &self.values, self.layer);
        if found.is_none() {
            log::error!("defect: a statement of the sparse analysis has no explanation");
        }
        let packs = &self.plans.packs;
        let mut formulas = FxHashMap::default();
        for (p, statements) in found?.into_iter().enumerate() {
            if statements.is_empty() {
                continue;
            }
            let predicate = (p, &self.system.predicates[p]);
            let element = self.values[p].as_ref();
            let of = |s| formula(&self.system.terms, predicate, element, s, packs);
            let all = statements.into_iter().map(of).collect();
            formulas.insert(PredicateId(p as u32), all);
        }
        Some(formulas)
    }

    /// Formulas over the formal variables of predicates that are inductive together: all that is known.
    pub fn facts(&self) -> FxHashMap<PredicateId, Vec<TermId>> {
        let (terms, packs) = (&self.system.terms, &self.plans.packs);
        let mut facts = FxHashMap::default();
        for (p, element) in self.values.iter().enumerate() {
            let predicate = (p, &self.system.predicates[p]);
            let statements = match element {
                None => vec![Statement::False],
                Some(element) => element.statements(&self.program.starts[p], p, packs),
            };
            let of = |s| formula(terms, predicate, element.as_ref(), s, packs);
            let all: Vec<TermId> = statements.into_iter().map(of).collect();
            if !all.is_empty() {
                facts.insert(PredicateId(p as u32), all);
            }
        }
        facts
    }

    /// For each clause, by its position, whether it may be applied to facts that the analysis does not
    /// exclude.
    pub fn applicable(&self) -> Vec<bool> {
        let mut transfer = Transfer::new(&self.program, &self.plans);
        let mut found = vec![false; self.system.clauses.len()];
        for (at, cube) in (0..).zip(&self.program.cubes) {
            if !found[cube.clause] {
                let extent = Extent::UpTo(self.layer);
                found[cube.clause] = applies(&mut transfer, at, &self.values, extent);
            }
        }
        found
    }
}

/// Whether a cube may be applied to facts in the values.
fn applies(transfer: &mut Transfer, at: u32, values: &[Option<Element>], extent: Extent) -> bool {
    let cube = &transfer.program().cubes[at as usize];
    let bodies = cube.body.iter().map(|(p, _)| values[*p].as_ref());
    let Some(bodies) = bodies.collect::<Option<Vec<&Element>>>() else {
        return false;
    };
    transfer.post(at, &bodies, values, extent).is_some()
}
