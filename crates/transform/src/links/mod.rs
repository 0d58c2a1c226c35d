//! Facts about addresses and single cells of a heap, found by templates and conjoined after they
//! are proven.
//!
//! `morph` makes of a heap a cell with a *rigid* index that no clause changes. Allocation gives
//! addresses in ascending order, so a comparison of a field with the cell's own address says which
//! list segment the cell belongs to, that there is no cycle, or that a cell is fresh. Such facts
//! are templates here (`forms`): a guard about where the cell lies and what kind of object it is,
//! and a conclusion about its fields. Houdini keeps those that are inductive together (`search`).
//! Which arguments are addresses, indexes, fields of the cell, or other values, is computed from
//! the clauses (`roles`).
//!
//! Sources: Houdini (Flanagan and Leino, FME 2001); candidates from counterexamples and premises on
//! demand as in ICE (Garg, Löding, Madhusudan, Neider, CAV 2014).
//!
//! Invariant: what is conjoined was proven to be inductive by the solver; templates, roles and
//! implications between templates are only guesses.

mod forms;
mod roles;
mod search;

use std::rc::Rc;
use std::time::Duration;

use self::roles::Roles;
use super::candidates::within_part;
use super::invariants::strengthen_by;
use super::visits::Visits;
use super::{Step, Transformation};
use alphorn_chc::System;
use alphorn_proof::facts::{Checker, Facts};
use alphorn_term::run::Context;

/// The limits of the pass.
struct Limits {
    /// Work for the search.
    search_work: Duration,
    /// Work for proving the result again.
    proof_work: Duration,
    /// Each of these is at most the run's limit divided by this number.
    part_of_run: u32,
}

const LIMITS: Limits = Limits {
    search_work: Duration::from_millis(2_000),
    proof_work: Duration::from_millis(1_000),
    part_of_run: 5,
};

/// The pass. It considers each predicate only once in a run.
#[derive(Default)]
pub struct Links {
    visits: Visits,
}

impl Transformation for Links {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        if !self.visits.begin(&old.used_predicates()) {
            return None;
        }
        let roles = Roles::new(old);
        if !roles.has_cells() {
            return None;
        }
        let work = within_part(LIMITS.search_work, LIMITS.part_of_run, cx);
        let search = |cx: &mut Context| search::inductive(old, &roles, cx);
        let facts: Facts = cx.within(cx.budget.work(work), search)?;
        let work = within_part(LIMITS.proof_work, LIMITS.part_of_run, cx);
        let prove = |cx: &mut Context| proven(old, facts, cx);
        let facts = cx.within(cx.budget.work(work), prove)?;
        strengthen_by(old, facts, work, "transform.links", cx)
    }
}

/// The facts that are inductive; if these exclude all queries, only those that are needed for this,
/// so that the model is small.
fn proven(system: &System, facts: Facts, cx: &mut Context) -> Option<Facts> {
    let mut checker = Checker::new(system, cx);
    if !checker.prove(facts, cx) {
        return None;
    }
    match checker.needed(cx) {
        Some(needed) => Some(needed),
        None => Some(checker.into_facts()),
    }
}
