//! The two sides of a problem: what their variables are, and solvers that hold them.
//!
//! Invariant: a variable is shared if and only if it occurs in both sides.

use rustc_hash::FxHashSet;

use super::interpolator::Interpolator;
use alphorn_smt::Solver;
use alphorn_term::{TermId, TermStore};

/// What the implicants of one problem have in common.
pub(super) struct Sides {
    pub b: TermId,
    pub b_vars: Vec<TermId>,
    shared: FxHashSet<TermId>,
    pub decomposed: bool,
    /// Holds `b`.
    pub solver: Solver,
    /// Holds nothing; for pairs.
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
