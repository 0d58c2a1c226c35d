//! Search for derivations in an unrolling of a linear system, forward by level.
//!
//! Invariant: levels are only added. Once the queries of a level are refuted, the solver contains
//! permanently that the derivation continues beyond it. So deterministic parts of a derivation are
//! fixed without search, and a core without assumptions shows that there are no longer derivations.

use std::rc::Rc;

use super::Outcome;
use super::limits::LIMITS;
use alphorn_chc::{Reachability, System};
use alphorn_proof::steps::{Steps, literal};
use alphorn_proof::trace::constraint_query;
use alphorn_proof::unroll::{Exit, Unrolling};
use alphorn_proof::{Stop, ask};
use alphorn_smt::Smt;
use alphorn_term::TermId;
use alphorn_term::run::{Context, Reason};

/// Searches for a derivation of `false` of at most `max_depth` steps in a linear system.
///
/// # Errors
/// A limit of the run, too many queries without an answer, or a failure.
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
    // Queries without body atoms are derivations of one step.
    if max_depth > 0
        && let Some(run) = constraint_query(system, &steps, &mut solver, cx)?
    {
        return Ok(Outcome::Refuted(run.refutation(system, &steps)?));
    }
    let mut gave_up: Option<Reason> = None;
    let mut unanswered_left = LIMITS.unanswered_queries;
    // A derivation that ends with a query at level k has k + 2 steps.
    while unrolling.levels.len() + 2 <= max_depth {
        let first = unrolling.levels.len();
        // After queries without an answer, more levels share a query: one that is hard to refute at
        // one level may be easy to reach at a later one.
        let wide = 1 << (LIMITS.unanswered_queries - unanswered_left);
        let window = (first / LIMITS.window_divisor)
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
            let share = |left: std::time::Duration| {
                (left / LIMITS.query_time_divisor).max(LIMITS.least_query_work)
            };
            let limit = smt.limit_queries(cx.budget.left().map(share));
            let answer = ask(&mut solver, &[any], cx);
            drop(limit);
            match answer {
                Ok(Some(model)) => {
                    let run = unrolling.run_to_query(&exits, &model)?;
                    return Ok(Outcome::Refuted(run.refutation(system, &steps)?));
                }
                Ok(None) => {
                    unanswered_left = LIMITS.unanswered_queries;
                    if solver.core().is_empty() && gave_up.is_none() {
                        return Ok(Outcome::Exhausted(first));
                    }
                    for literal in literals {
                        solver.assert(terms.not(literal));
                    }
                }
                Err(Stop::Reason(reason)) if cx.stop().is_none() => {
                    unanswered_left -= 1;
                    if unanswered_left == 0 {
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
        // A longer derivation passes through the last level.
        solver.assert(terms.or(&unrolling.last_places()));
    }
    match gave_up {
        None => Ok(Outcome::Bound(max_depth)),
        Some(reason) => Err(Stop::Reason(reason)),
    }
}
