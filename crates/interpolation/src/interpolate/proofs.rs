//! All interpolants of a problem from one resolution proof.
//!
//! Invariant: the result is made of a proof. If there is none within the limits, or the problem is
//! not of the theory, there is no result, and the general procedure is used.

use super::adjacent_bits::joined;
use super::interpolator::{InterpolantForm, Interpolator};
use super::limits::LIMITS;
use super::partial::{Cut, interpolant};
use crate::resolution::{Skeleton, refute};
use alphorn_term::TermId;

impl Interpolator {
    /// The interpolants of formulas from one proof; each cut says which formulas are on its side.
    pub(super) fn proof_of_parts(
        &mut self,
        formulas: &[TermId],
        cuts: &[Cut],
    ) -> Option<Vec<TermId>> {
        // Decomposed sums do not follow from each other along a sequence.
        let decomposed = self.options.form == InterpolantForm::Decomposed;
        if !self.options.proofs || decomposed && cuts.len() > 1 {
            return None;
        }
        let terms = self.terms.clone();
        let left = self.budget().and_then(|b| b.left());
        let work = left.map_or(LIMITS.proof_work, |left| LIMITS.proof_work.min(left / 2));
        let mut skeleton = Skeleton::new(&terms, self.budget());
        let encode = |skeleton: &mut Skeleton| {
            let mut parts = formulas.iter().enumerate();
            parts.try_for_each(|(part, &formula)| skeleton.part(part, formula))
        };
        let found = encode(&mut skeleton)
            .and_then(|()| refute(&mut skeleton, work, self.budget()))
            .map(|proof| {
                log::debug!("interpolation: a proof of {} clauses", proof.clauses.len());
                let weak = self.options.form == InterpolantForm::Weak;
                let read = |cut: &Cut| match weak {
                    // An interpolant that is weak for `A` is the negation of one that is strong for
                    // `B`.
                    true => interpolant(&proof, &skeleton, &swapped(cut), decomposed)
                        .map(|i| terms.not(i)),
                    false => interpolant(&proof, &skeleton, cut, decomposed),
                };
                let found = cuts.iter().map(read);
                let found = found.map(|f| f.map(|f| joined(&terms, f)));
                found.collect::<Option<Vec<TermId>>>()
            });
        match found {
            Ok(Some(interpolants)) => {
                self.counters.proofs += 1;
                self.counters.problems += cuts.len() as u64;
                Some(interpolants)
            }
            Ok(None) => {
                log::debug!("interpolation: a proof mixes its sides");
                self.counters.unproved += 1;
                None
            }
            Err(open) => {
                log::debug!("interpolation: no proof: {open:?}");
                self.counters.unproved += 1;
                None
            }
        }
    }
}

/// The cut with the sides exchanged.
fn swapped(cut: &Cut) -> Cut {
    cut.iter().map(|is_a| !is_a).collect()
}
