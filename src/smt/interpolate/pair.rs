//! A pair of conjunctions: a certificate that separates them.
//!
//! Invariant: what is returned follows from the first conjunction, contradicts the second, and has
//! shared variables only. `None` says that no rule applies, not that there is no interpolant.

use rustc_hash::FxHashSet;

use super::cover::Sides;
use super::farkas::{Bound, separate};
use super::{InterpolationError, Interpolator, Result};
use crate::smt::SatResult;
use crate::term::TermId;

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
        let all: Vec<TermId> = a.iter().chain(b).copied().collect();
        match sides.pairs.check(&all) {
            SatResult::Unsat => {}
            SatResult::Unknown(_) => return Ok(None),
            SatResult::Sat => {
                let message = "implicants of both sides agree".to_owned();
                return Err(InterpolationError::Defect(message));
            }
        }
        let core: FxHashSet<TermId> = sides.pairs.core().into_iter().collect();
        let a: Vec<TermId> = a.iter().copied().filter(|l| core.contains(l)).collect();
        let b: Vec<TermId> = b.iter().copied().filter(|l| core.contains(l)).collect();
        let bounds = |literals: &[TermId]| -> Option<Vec<Bound>> {
            literals.iter().map(|&l| Bound::of(&terms, l)).collect()
        };
        if let (Some(a), Some(b)) = (bounds(&a), bounds(&b))
            && let Some(sums) = separate(&terms, &a, &b, sides.decomposed)
        {
            return Ok(Some(sums));
        }
        if self.is_over_shared(&a, sides) {
            return Ok(Some(a));
        }
        if self.is_over_shared(&b, sides) {
            return Ok(Some(vec![terms.not(terms.and(&b))]));
        }
        Ok(None)
    }
}
