//! Sequence interpolants, from either end.
//!
//! Forward, `Ik+1` is the interpolant of `Ik ∧ Fk+1` and the formulas after it; backward, `Ik` is
//! that of the formulas before it and `Fk+1 ∧ ¬Ik+1`.
//!
//! Invariant: at every step the two sides are unsatisfiable together, since the interpolant before
//! is one.

use super::interpolator::{InterpolationOrder, Interpolator, Result};
use alphorn_term::TermId;

impl Interpolator {
    /// For formulas `F1 … Fn` that are unsatisfiable together, formulas `I1 … In-1` such that `Ik`
    /// and `Fk+1` imply `Ik+1`, with `true` for `I0` and `false` for `In`. The variables of `Ik`
    /// occur in `F1 … Fk` and in `Fk+1 … Fn`.
    ///
    /// # Errors
    /// See [`InterpolationError`](crate::InterpolationError).
    pub fn sequence(&mut self, formulas: &[TermId]) -> Result<Vec<TermId>> {
        self.within_limits(|i| {
            i.refuse_quantifiers(formulas)?;
            i.sequence_interpolants(formulas)
        })
    }

    fn sequence_interpolants(&mut self, formulas: &[TermId]) -> Result<Vec<TermId>> {
        let terms = self.terms.clone();
        let needed = self.minimise(formulas, |terms, parts| terms.and(parts))?;
        let count = formulas.len();
        let cut = |at: usize| (0..count).map(|part| part < at).collect();
        let cuts: Vec<Vec<bool>> = (1..count).map(cut).collect();
        if let Some(interpolants) = self.proof_of_parts(&needed, &cuts) {
            self.check_sequence(formulas, &interpolants)?;
            return Ok(interpolants);
        }
        let mut interpolants = Vec::with_capacity(count.saturating_sub(1));
        match self.options.order {
            InterpolationOrder::Forward => {
                let mut last = TermId::TRUE;
                for at in 1..count {
                    let before = terms.and(&[last, needed[at - 1]]);
                    let after = terms.and(&needed[at..]);
                    last = self.interpolate(before, after)?;
                    interpolants.push(last);
                }
            }
            InterpolationOrder::Backward => {
                let mut next = TermId::FALSE;
                for at in (1..count).rev() {
                    let before = terms.and(&needed[..at]);
                    let after = terms.and(&[needed[at], terms.not(next)]);
                    next = self.interpolate(before, after)?;
                    interpolants.push(next);
                }
                interpolants.reverse();
            }
        }
        self.check_sequence(formulas, &interpolants)?;
        Ok(interpolants)
    }
}
