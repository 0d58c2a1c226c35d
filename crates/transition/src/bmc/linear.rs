//! Search for derivations in an unrolling of a linear system, forward by level.
//!
//! Levels are only ever added. Invariant: once the queries of a level are refuted, the solver holds
//! for good that the derivation goes on beyond it; so in a deterministic stretch everything is
//! fixed at the solver's base level and a deep query costs little, and a core without assumptions
//! says that there are no deeper derivations at all.

use std::rc::Rc;
use std::time::Duration;

use super::Outcome;
use alphorn_chc::{Reachability, System};
use alphorn_proof::steps::{Steps, literal};
use alphorn_proof::trace::constraint_query;
use alphorn_proof::unroll::{Exit, Unrolling};
use alphorn_proof::{Stop, ask};
use alphorn_smt::Smt;
use alphorn_term::TermId;
use alphorn_term::run::{Context, Reason};

/// From this level on, several levels share a query, one for every so many below.
const LEVELS_PER_WINDOW: usize = 16;

/// So many queries in a row may end without an answer.
const PATIENCE: usize = 8;

/// Of what is left, a query may take this part, but [`LEAST_SLICE`] at least. Without a limit of
/// the run each may take for ever. What is hard to refute at one level may be easy to reach at a
/// later one.
const SLICES: u32 = 8;
const LEAST_SLICE: Duration = Duration::from_secs(1);

/// Searches for a derivation of `false` of at most `max_depth` steps in a linear system.
pub(super) fn search(
    system: &System,
    reachability: &Reachability,
    smt: &Rc<Smt>,
    max_depth: usize,
    cx: &mut Context,
) -> Result<Outcome, Stop> {
    let terms = &*system.terms;
    let steps = Steps::new(system, reachability);
    let mut solver = smt.solver();
    let mut unrolling = Unrolling::from_entries();
    // A query without body atoms needs no unrolling: one step.
    if max_depth > 0
        && let Some(run) = constraint_query(system, &steps, &mut solver, cx)?
    {
        return Ok(Outcome::Refuted(run.refutation(system, &steps)?));
    }
    let mut gave_up: Option<Reason> = None;
    let mut patience = PATIENCE;
    // A derivation that ends with a query at level k has k + 2 steps.
    while unrolling.levels.len() + 2 <= max_depth {
        let first = unrolling.levels.len();
        // After a query without an answer, more levels are taken together, so as to get away.
        let wide = 1 << (PATIENCE - patience);
        let window = (first / LEVELS_PER_WINDOW)
            .max(wide)
            .min(max_depth - first - 1);
        let mut exits: Vec<Exit> = Vec::new();
        let mut alive = true;
        for _ in 0..window {
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
            alive = unrolling.add_level(system, &steps, &mut solver);
            exits.extend(unrolling.add_queries(terms, &steps, &mut solver));
        }
        let depth = unrolling.levels.len() + 1;
        cx.stats.set("bmc.depth", depth as u64);
        if !exits.is_empty() {
            let any = literal(terms, "window");
            let literals: Vec<TermId> = exits.iter().map(|e| e.instance.literal).collect();
            solver.assert(terms.implies(any, terms.or(&literals)));
            let limit = cx.budget.left().map(|l| (l / SLICES).max(LEAST_SLICE));
            let limit = smt.limit_queries(limit);
            let answer = ask(&mut solver, &[any], cx);
            drop(limit);
            match answer {
                Ok(Some(model)) => {
                    let run = unrolling.run_to_query(&exits, &model)?;
                    return Ok(Outcome::Refuted(run.refutation(system, &steps)?));
                }
                Ok(None) => {
                    patience = PATIENCE;
                    if solver.core().is_empty() && gave_up.is_none() {
                        return Ok(Outcome::Exhausted(first));
                    }
                    for literal in literals {
                        solver.assert(terms.not(literal));
                    }
                }
                Err(Stop::Reason(reason)) if cx.stop().is_none() => {
                    patience -= 1;
                    if patience == 0 {
                        return Err(Stop::Reason(reason));
                    }
                    gave_up.get_or_insert(reason);
                    solver.assert(terms.not(any));
                }
                Err(stop) => return Err(stop),
            }
        }
        if !alive {
            return match gave_up {
                None => Ok(Outcome::Exhausted(depth - 1)),
                Some(reason) => Err(Stop::Reason(reason)),
            };
        }
        // The derivation passes through the last level.
        solver.assert(terms.or(&unrolling.last_places()));
    }
    match gave_up {
        None => Ok(Outcome::Bound(max_depth)),
        Some(reason) => Err(Stop::Reason(reason)),
    }
}
