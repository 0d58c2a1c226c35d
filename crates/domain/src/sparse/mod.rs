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

mod border;
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
mod walk;
mod zones;

use std::cell::OnceCell;
use std::time::Duration;

use rustc_hash::FxHashMap;

use compile::{Kind, Program};
use element::{Element, Statement};
use formulas::formula;
use iterate::{Schedule, run};
use packs::{Relating, packs};
use transfer::{Extent, Layer, Plans, STEP, Transfer};
use walk::{Steps, Walks};

use alphorn_chc::{PredicateId, System};
use alphorn_term::TermId;
use alphorn_term::run::Budget;

/// The limits of the analysis.
struct Limits {
    /// Work of a layer for each clause.
    work_per_clause: Duration,
    /// Further work of implications for each clause, condition and argument.
    work_per_condition: Duration,
    /// Work of a layer in any case.
    least_work: Duration,
    /// Work of a proof for each clause; after it, all facts are the proof.
    proof_work_per_clause: Duration,
    /// Work of the search for candidates of derivations for each clause.
    walk_work_per_clause: Duration,
    /// Work of a layer for all clauses together, at most.
    most_work: Duration,
    /// A layer, and the search for statements that help engines, has at most the time left divided by
    /// this.
    part: u32,
    /// The same for the search for a proof.
    proof_part: u32,
}

const LIMITS: Limits = Limits {
    work_per_clause: Duration::from_micros(60),
    work_per_condition: Duration::from_nanos(150),
    least_work: Duration::from_millis(10),
    proof_work_per_clause: Duration::from_micros(400),
    walk_work_per_clause: Duration::from_millis(1),
    most_work: Duration::from_secs(10),
    part: 5,
    proof_part: 2,
};

pub use border::Neighbourhood;
pub use walk::Skeleton;

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
    /// By cube, whether it may be applied, once this was asked.
    applicable: OnceCell<Vec<bool>>,
    budget: Budget,
}

/// Analyses a system within a part of the budget that is in proportion to its clauses.
pub fn analyse<'a>(system: &'a System, budget: &Budget) -> Analysis<'a> {
    let mut analysis = Analysis::new(system, budget);
    let clauses = u32::try_from(system.clauses.len()).unwrap_or(u32::MAX);
    for layer in Layer::ALL {
        if analysis.open.is_empty() || budget.is_spent() {
            break;
        }
        let per_clause = LIMITS.work_per_clause + analysis.work_of_conditions(layer);
        let per_clause = per_clause.saturating_mul(clauses);
        let work = LIMITS.least_work + per_clause.min(LIMITS.most_work);
        let work = budget
            .left()
            .map_or(work, |left| work.min(left / LIMITS.part));
        analysis.add(layer, &budget.work(work));
    }
    analysis
}

impl<'a> Analysis<'a> {
    /// Nothing is known yet.
    fn new(system: &'a System, budget: &Budget) -> Analysis<'a> {
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
            applicable: OnceCell::new(),
            budget: budget.clone(),
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
        self.applicable.take();
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

    /// The work for each clause that implications of conditions may take in a layer.
    fn work_of_conditions(&self, layer: Layer) -> Duration {
        if layer != Layer::Implications {
            return Duration::ZERO;
        }
        let entries = self.program.kinds.iter();
        let entries = entries.map(|kinds| implications::entries(kinds));
        let most = u32::try_from(entries.max().unwrap_or(0)).unwrap_or(u32::MAX);
        LIMITS.work_per_condition.saturating_mul(most)
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
    /// queries, no more than the proof needs unless it takes long to find out; `None` if a query is open. A predicate without
    /// formulas may hold everywhere.
    pub fn proof(&self) -> Option<FxHashMap<PredicateId, Vec<TermId>>> {
        if !self.open.is_empty() {
            return None;
        }
        let needed = self.needed(&self.schedule.queries, &[]);
        Some(needed.unwrap_or_else(|| self.facts()))
    }

    /// Formulas as those of [`Analysis::proof`] that exclude the clauses that are not applicable.
    pub fn exclusions(&self, applicable: &[bool]) -> Option<FxHashMap<PredicateId, Vec<TermId>>> {
        let cubes = (0..).zip(&self.program.cubes);
        let excluded = cubes.filter(|(_, cube)| !applicable[cube.clause]);
        self.needed(&excluded.map(|(at, _)| at).collect::<Vec<u32>>(), &[])
    }

    /// Formulas that are inductive together, make these statements about predicates, and exclude the
    /// cubes `goals`.
    fn needed(
        &self,
        goals: &[u32],
        wanted: &[(usize, Vec<Statement>)],
    ) -> Option<FxHashMap<PredicateId, Vec<TermId>>> {
        let mut transfer = Transfer::new(&self.program, &self.plans);
        let clauses = u32::try_from(self.system.clauses.len()).unwrap_or(u32::MAX);
        let per_clause = LIMITS.proof_work_per_clause + self.work_of_conditions(self.layer);
        let work = LIMITS.least_work + per_clause.saturating_mul(clauses);
        let share = match self.open.is_empty() {
            true => LIMITS.proof_part,
            false => LIMITS.part,
        };
        let left = self.budget.left().map(|left| left / share);
        let part = self.budget.work(left.map_or(work, |left| work.min(left)));
        let (values, layer) = (&self.values, self.layer);
        let goals = (goals, wanted);
        match needed::needed(&self.schedule, goals, &mut transfer, values, layer, &part) {
            Ok(found) => Some(self.formulas(found)),
            Err(needed::Failure::Budget) => {
                log::debug!("sparse: the facts that are needed are not found in time");
                None
            }
            Err(needed::Failure::Unexplained) => {
                log::error!("defect: a statement of the sparse analysis has no explanation");
                None
            }
        }
    }

    /// The formulas of statements, by predicate.
    fn formulas(&self, statements: Vec<Vec<Statement>>) -> FxHashMap<PredicateId, Vec<TermId>> {
        let (terms, packs) = (&self.system.terms, &self.plans.packs);
        let mut formulas = FxHashMap::default();
        for (p, statements) in statements.into_iter().enumerate() {
            if !statements.is_empty() {
                let predicate = (p, &self.system.predicates[p]);
                let element = self.values[p].as_ref();
                let of = |s| formula(terms, predicate, element, s, packs);
                let all = statements.into_iter().map(of).collect();
                formulas.insert(PredicateId(p as u32), all);
            }
        }
        formulas
    }

    /// Formulas over the formal variables of predicates that are inductive together: all that is known.
    pub fn facts(&self) -> FxHashMap<PredicateId, Vec<TermId>> {
        let packs = &self.plans.packs;
        let all = self
            .values
            .iter()
            .enumerate()
            .map(|(p, element)| match element {
                None => vec![Statement::False],
                Some(element) => element.statements(&self.program.starts[p], p, packs),
            });
        self.formulas(all.collect())
    }

    /// For each clause, by its position, whether it may be applied to facts that the analysis does not
    /// exclude.
    pub fn applicable(&self) -> Vec<bool> {
        let mut found = vec![false; self.system.clauses.len()];
        for (cube, &applies) in self.program.cubes.iter().zip(self.applicable_cubes()) {
            found[cube.clause] |= applies;
        }
        found
    }

    /// The same for each cube, computed once after the last layer.
    fn applicable_cubes(&self) -> &[bool] {
        self.applicable.get_or_init(|| {
            let mut transfer = Transfer::new(&self.program, &self.plans);
            let extent = Extent::UpTo(self.layer);
            let cubes = 0..self.program.cubes.len() as u32;
            let applies = cubes.map(|at| applies(&mut transfer, at, &self.values, extent));
            applies.collect()
        })
    }

    /// Candidates for derivations of the first open queries, the most promising ones first, until
    /// `accept` takes one, or the search for candidates has taken its work.
    pub fn walk<T>(
        &self,
        queries: usize,
        attempts: u32,
        mut accept: impl FnMut(Skeleton) -> Option<T>,
    ) -> Option<T> {
        let applicable = self.applicable_cubes();
        let open = self.open.iter().take(queries);
        let work = LIMITS.walk_work_per_clause.as_nanos() / STEP.as_nanos();
        let steps = u64::try_from(work).unwrap_or(u64::MAX);
        let steps = Steps::new(steps.saturating_mul(self.system.clauses.len() as u64));
        let walks: Vec<Walks> = open
            .map(|&query| Walks::new(&self.program, applicable, query, &steps))
            .collect();
        let attempts = (0..attempts).flat_map(|attempt| walks.iter().map(move |w| (w, attempt)));
        let mut candidates = attempts.filter_map(|(walks, attempt)| {
            let before = steps.taken();
            let candidate = walks.candidate(attempt);
            let taken = steps.taken() - before;
            self.budget
                .terms()
                .charge(STEP * u32::try_from(taken).unwrap_or(u32::MAX));
            candidate
        });
        candidates.find_map(&mut accept)
    }
}

/// Whether a cube may be applied to facts in the values.
fn applies(transfer: &mut Transfer, at: u32, values: &[Option<Element>], extent: Extent) -> bool {
    let cube = &transfer.program().cubes[at as usize];
    let bodies = cube.body.iter().map(|(p, _)| values[*p].as_ref());
    let Some(bodies) = bodies.collect::<Option<Vec<&Element>>>() else {
        return false;
    };
    // What follows from conditions about the head does not matter, and is most of the work.
    let none = |_| false;
    let found = transfer.post_for(at, &bodies, values, extent, &none);
    found.is_some()
}
