//! The two sides of a problem: their variables, and solvers.
//!
//! Invariant: a variable is shared if and only if it occurs in both sides.

use rustc_hash::FxHashSet;

use super::interpolator::Interpolator;
use alphorn_smt::Solver;
use alphorn_term::{TermId, TermStore};

/// The data that all implicants of one problem use.
pub(super) struct Sides {
    pub b: TermId,
    pub b_vars: Vec<TermId>,
    shared: FxHashSet<TermId>,
    pub decomposed: bool,
    /// A solver with `b`.
    pub solver: Solver,
    /// A solver without formulas, for pairs.
    pub pairs: Solver,
}

impl Sides {
    pub fn new(interpolator: &Interpolator, a: TermId, b: TermId, decomposed: bool) -> Sides {
        let terms = &interpolator.terms;
        let b_vars = terms.free_vars(&[b]);
        let of_b: FxHashSet<TermId> = b_vars.iter().copied().collect();
        let mut shared: FxHashSet<TermId> = terms.free_vars(&[a]).into_iter().collect();
        shared.retain(|v| of_b.contains(v));
        let mut solver = interpolator.smt.solver();
        solver.assert(b);
        Sides {
            b,
            b_vars,
            shared,
            decomposed,
            solver,
            pairs: interpolator.smt.solver(),
        }
    }

    /// Whether both sides have the variable.
    pub fn is_shared(&self, var: TermId) -> bool {
        self.shared.contains(&var)
    }

    /// Whether only shared variables occur.
    pub fn are_shared(&self, terms: &TermStore, formulas: &[TermId]) -> bool {
        let vars = terms.free_vars(formulas);
        vars.iter().all(|v| self.is_shared(*v))
    }
}
