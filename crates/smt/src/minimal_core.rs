//! Minimal unsatisfiable cores of assumptions.
//!
//! Deletion with clause set refinement (Bacchus, Katsirelos, "Using minimal correction sets to more
//! efficiently compute minimal unsatisfiable sets", CAV 2015): assumptions are removed one by one,
//! from the last to the first, and after each unsatisfiable answer those outside of its core, too.
//!
//! # Invariant
//! The returned assumptions contain a core that Z3 found unsatisfiable together with the hard ones.

use rustc_hash::FxHashSet;

use super::{SatResult, Solver};
use alphorn_term::TermId;
use alphorn_term::run::Budget;

/// The effort for a minimal core.
#[derive(Clone, Copy)]
pub struct CoreEffort<'a> {
    /// The number of queries after the first one, at most; then the core is not minimal.
    pub queries: usize,
    /// Queries end when it is spent.
    pub budget: Option<&'a Budget>,
}

impl CoreEffort<'_> {
    /// No limit.
    pub const ALL: CoreEffort<'static> = CoreEffort {
        queries: usize::MAX,
        budget: None,
    };
}

impl Solver {
    /// A minimal subset of `soft` that is unsatisfiable with all of `hard`, in the order of `soft`;
    /// `None` if all of them together are not found unsatisfiable. An unknown answer keeps the
    /// assumption in question.
    pub fn minimal_core(&mut self, hard: &[TermId], soft: &[TermId]) -> Option<Vec<TermId>> {
        self.core_by(hard, soft, CoreEffort::ALL)
    }

    /// As [`Solver::minimal_core`]; a larger subset if the effort is not enough.
    pub fn core_by(
        &mut self,
        hard: &[TermId],
        soft: &[TermId],
        effort: CoreEffort,
    ) -> Option<Vec<TermId>> {
        // Without duplicates and hard assumptions.
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
        // In the order of `soft`.
        needed.reverse();
        open.extend(needed);
        Some(open)
    }

    /// The part of `open` in a core of all these assumptions; `None` if they are not found
    /// unsatisfiable.
    fn used(&mut self, hard: &[TermId], needed: &[TermId], open: &[TermId]) -> Option<Vec<TermId>> {
        let assumptions: Vec<TermId> = hard.iter().chain(needed).chain(open).copied().collect();
        if self.check(&assumptions) != SatResult::Unsat {
            return None;
        }
        let core: FxHashSet<TermId> = self.core().into_iter().collect();
        Some(open.iter().copied().filter(|o| core.contains(o)).collect())
    }
}
