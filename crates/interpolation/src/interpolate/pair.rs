//! Certificates that separate two conjunctions.
//!
//! For linear arithmetic and comparisons of bit-vectors, in this order: Farkas multipliers over the
//! rationals; congruences; branching over integers. Then, for all theories: the interpolant of the
//! pair reduced to cells and fields; a side that has shared variables only. Each rule works on an
//! unsatisfiable core of the pair, except the reduction.
//!
//! Invariant: the result follows from the first conjunction, contradicts the second, and has shared
//! variables only. `None` means that no rule applies, not that there is no interpolant.

use rustc_hash::FxHashSet;

use super::guards::guarded;
use super::interpolator::{InterpolationError, Interpolator, Result};
use super::limits::LIMITS;
use super::reduce::reduce;
use super::sides::Sides;
use super::{bits, integer};
use alphorn_arith::Constraint;
use alphorn_smt::SatResult;
use alphorn_term::TermId;

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
                let what = "implicants of both sides are consistent";
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

    /// The interpolant of the pair without arrays and datatypes, if it is one of the pair.
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
        self.options.max_steps = all.min(self.steps + LIMITS.reduced_steps);
        let found = self.disjunction(reduction.a, reduction.b, sides.decomposed);
        self.options.max_steps = all;
        match found {
            Ok(formula) => {
                let formula = terms.substitute(formula, &reduction.back);
                let is_shared = sides.are_shared(&terms, &[formula]);
                Ok(is_shared.then_some(formula))
            }
            // Another rule may need fewer cases; if the budget is spent, the next check finds that.
            Err(InterpolationError::Limit(_) | InterpolationError::Unsupported(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
