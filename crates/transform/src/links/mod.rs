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
use super::candidates::within;
use super::invariants::strengthen;
use super::visits::Visits;
use super::{Step, Transformation};
use alphorn_chc::System;
use alphorn_proof::facts::Facts;
use alphorn_term::run::Context;

/// The limits of the pass, in work; less in short runs, see [`within`].
struct Limits {
    /// Work for the search.
    search_work: Duration,
    /// Work for proving the result again and conjoining it.
    proof_work: Duration,
}

const LIMITS: Limits = Limits {
    search_work: Duration::from_millis(2_000),
    proof_work: Duration::from_millis(1_500),
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
        let work = within(LIMITS.search_work, cx);
        let facts: Facts = cx.within(cx.budget.work(work), |cx| search::inductive(old, &roles, cx))?;
        let work = within(LIMITS.proof_work, cx);
        strengthen(old, vec![facts], work, "transform.links", cx)
    }
}
