//! Minimal unsatisfiable cores of assumptions.
//!
//! Deletion with refinement by cores (Bacchus and Katsirelos, CAV 2015, call the latter clause set
//! refinement): assumptions are tried from the last to the first, so that earlier ones are likelier
//! to stay, and each unsatisfiable answer drops all that its core does not use.
//!
//! Invariant: what is returned was found unsatisfiable together with the hard assumptions.

use rustc_hash::FxHashSet;

use super::{SatResult, Solver};
use alphorn_term::TermId;
use alphorn_term::run::Budget;

/// How much a minimal core is worth.
#[derive(Clone, Copy)]
pub struct CoreEffort<'a> {
    /// Queries after the first one, at most.
    pub queries: usize,
    /// They end with it, if there is one.
    pub budget: Option<&'a Budget>,
}

impl CoreEffort<'_> {
    /// As many queries as it takes.
    pub const ALL: CoreEffort<'static> = CoreEffort {
        queries: usize::MAX,
        budget: None,
    };
}

impl Solver {
    /// A minimal subset of `soft` that is unsatisfiable with all of `hard`; `None` when all of them
    /// together are not found unsatisfiable. Queries that end `Unknown` keep their literal.
    pub fn minimal_core(&mut self, hard: &[TermId], soft: &[TermId]) -> Option<Vec<TermId>> {
        self.core_by(hard, soft, CoreEffort::ALL)
    }

    /// As [`Solver::minimal_core`]; a larger subset when the effort is not enough.
    pub fn core_by(
        &mut self,
        hard: &[TermId],
        soft: &[TermId],
        effort: CoreEffort,
    ) -> Option<Vec<TermId>> {
        // An assumption that is hard anyway is never needed, and none is needed twice.
        let mut seen: FxHashSet<TermId> = hard.iter().copied().collect();
        let distinct = soft.iter().copied().filter(|&s| seen.insert(s));
        let mut open: Vec<TermId> = distinct.collect();
        open = self.used(hard, &[], &open)?;
        let mut needed: Vec<TermId> = Vec::new();
        for _ in 0..effort.queries {
            if open.is_empty() || effort.budget.is_some_and(Budget::is_spent) {
                break;
            }
            let candidate = open.pop();
            match self.used(hard, &needed, &open) {
                Some(rest) => open = rest,
                None => needed.extend(candidate),
            }
        }
        // In the order in which they were given.
        needed.reverse();
        open.extend(needed);
        Some(open)
    }

    /// Those of `open` that a refutation of all these assumptions uses; `None` if none is found.
    fn used(&mut self, hard: &[TermId], needed: &[TermId], open: &[TermId]) -> Option<Vec<TermId>> {
        let assumptions: Vec<TermId> = hard.iter().chain(needed).chain(open).copied().collect();
        if self.check(&assumptions) != SatResult::Unsat {
            return None;
        }
        let core: FxHashSet<TermId> = self.core().into_iter().collect();
        Some(open.iter().copied().filter(|o| core.contains(o)).collect())
    }
}
