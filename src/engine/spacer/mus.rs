//! Minimal unsatisfiable subsets of assumptions, and the procedure MUS of Fig. 7.
//!
//! Invariant: what is returned was found unsatisfiable together with the assumptions that are not to
//! be minimised.

use rustc_hash::FxHashSet;

use crate::run::{Budget, Context};
use crate::smt::{SatResult, Solver};
use crate::term::TermId;

/// How much work a minimal core is worth.
#[derive(Clone)]
pub(super) struct Effort {
    /// Queries, at most.
    pub queries: usize,
    pub budget: Option<Budget>,
}

/// A subset of `soft` that is unsatisfiable together with `hard`; minimal unless the effort was not
/// enough or the run's time is up. `None` when all of it is not found unsatisfiable.
///
/// Deletion from the back with refinement by cores (Bacchus, Katsirelos, CAV 2015).
pub(super) fn minimal(
    solver: &mut Solver,
    hard: &[TermId],
    soft: &[TermId],
    effort: Effort,
    cx: &Context,
) -> Option<Vec<TermId>> {
    let mut open = unsatisfiable(solver, hard, &[], soft)?;
    let mut needed: Vec<TermId> = Vec::new();
    let mut asked = 0;
    while let Some(candidate) = open.pop() {
        let late = effort.budget.as_ref().is_some_and(Budget::is_spent);
        if asked >= effort.queries || late || cx.stop().is_some() {
            open.push(candidate);
            break;
        }
        asked += 1;
        match unsatisfiable(solver, hard, &needed, &open) {
            Some(rest) => open = rest,
            None => needed.push(candidate),
        }
    }
    let kept: FxHashSet<TermId> = needed.into_iter().chain(open).collect();
    Some(soft.iter().copied().filter(|s| kept.contains(s)).collect())
}

/// Those of the open assumptions that a refutation uses; all of `needed` may be used as well.
fn unsatisfiable(
    solver: &mut Solver,
    hard: &[TermId],
    needed: &[TermId],
    open: &[TermId],
) -> Option<Vec<TermId>> {
    let assumptions: Vec<TermId> = hard.iter().chain(needed).chain(open).copied().collect();
    if solver.check(&assumptions) != SatResult::Unsat {
        return None;
    }
    let core: FxHashSet<TermId> = solver.core().into_iter().collect();
    Some(open.iter().copied().filter(|o| core.contains(o)).collect())
}
