//! A pair of conjunctions: a certificate that separates them.
//!
//! In this order: Farkas multipliers, congruences and cases for linear arithmetic and for
//! comparisons of bit-vectors; the pair reduced to cells and fields; a side that has shared
//! variables only.
//!
//! Invariant: what is returned follows from the first conjunction, contradicts the second, and has
//! shared variables only. `None` says that no rule applies, not that there is no interpolant.

use rustc_hash::FxHashSet;

use super::guards::guarded;
use super::interpolator::{InterpolationError, Interpolator, Result};
use super::reduce::reduce;
use super::sides::Sides;
use super::{bits, integer};
use alphorn_arith::Constraint;
use alphorn_smt::SatResult;
use alphorn_term::TermId;

/// Steps for a reduced pair, at most.
const REDUCED_STEPS: usize = 60;

impl Interpolator {
    /// Literals that separate the conjunction of `a` from that of `b`.
    pub(super) fn pair(
        &mut self,
        a: &[TermId],
        b: &[TermId],
        sides: &mut Sides,
    ) -> Result<Option<Vec<TermId>>> {
        let terms = self.terms.clone();
        self.tick()?;
        let (a, b) = (guarded(&terms, a), guarded(&terms, b));
        let all: Vec<TermId> = a.iter().chain(&b).copied().collect();
        match sides.pairs.check(&all) {
            SatResult::Unsat => {}
            SatResult::Unknown(_) => return Ok(None),
            SatResult::Sat => {
                let what = "implicants of both sides agree";
                return Err(InterpolationError::defect(&terms, what));
            }
        }
        let core: FxHashSet<TermId> = sides.pairs.core().into_iter().collect();
        let used = |side: &[TermId]| -> Vec<TermId> {
            side.iter().copied().filter(|l| core.contains(l)).collect()
        };
        let (small_a, small_b) = (used(&a), used(&b));
        let bounds = |literals: &[TermId]| -> Vec<Constraint> {
            let of = |&l: &TermId| match Constraint::convex(&terms, l) {
                Some(bound) => vec![bound],
                None => bits::bounds(&terms, l),
            };
            literals.iter().flat_map(of).collect()
        };
        let (bounds_a, bounds_b) = (bounds(&small_a), bounds(&small_b));
        if !bounds_a.is_empty() || !bounds_b.is_empty() {
            let late = || self.tick().is_err();
            let found = integer::separate(&terms, &bounds_a, &bounds_b, sides.decomposed, &late);
            if let Some(formula) = found {
                return Ok(Some(terms.conjuncts(formula)));
            }
        }
        if let Some(formula) = self.reduced(&a, &b, sides)? {
            return Ok(Some(terms.conjuncts(formula)));
        }
        if sides.are_shared(&terms, &small_a) {
            return Ok(Some(small_a));
        }
        if sides.are_shared(&terms, &small_b) {
            return Ok(Some(vec![terms.not(terms.and(&small_b))]));
        }
        Ok(None)
    }

    /// The interpolant of the pair without arrays and datatypes, if that is one of the pair.
    fn reduced(&mut self, a: &[TermId], b: &[TermId], sides: &Sides) -> Result<Option<TermId>> {
        let terms = self.terms.clone();
        let Some(reduction) = reduce(&terms, a, b) else {
            return Ok(None);
        };
        let mut solver = self.smt.solver();
        solver.assert(reduction.a);
        solver.assert(reduction.b);
        self.tick()?;
        if solver.check(&[]) != SatResult::Unsat {
            return Ok(None);
        }
        let all = self.options.max_steps;
        self.options.max_steps = all.min(self.steps + REDUCED_STEPS);
        let found = self.disjunction(reduction.a, reduction.b, sides.decomposed);
        self.options.max_steps = all;
        match found {
            Ok(formula) => {
                let formula = terms.substitute(formula, &reduction.back);
                let is_shared = sides.are_shared(&terms, &[formula]);
                Ok(is_shared.then_some(formula))
            }
            // Too many cases here may be few elsewhere; when time is up, that is noticed soon.
            Err(InterpolationError::Limit(_) | InterpolationError::Unsupported(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
