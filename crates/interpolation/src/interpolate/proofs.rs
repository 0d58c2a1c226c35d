//! All interpolants of a problem from one proof of our own (`smt/proof`).
//!
//! Invariant: no answer here is a guess. Where there is no proof within the limits, or the problem
//! is not of the theory, there is none, and what comes after is another way.

use std::time::Duration;

use super::interpolator::{InterpolantForm, Interpolator};
use super::partial::{Cut, interpolant};
use super::words::joined;
use crate::resolution::{Skeleton, refute};
use alphorn_term::TermId;

/// Work for one proof, at most.
const WORK: Duration = Duration::from_secs(2);

impl Interpolator {
    /// The interpolants of formulas, of which each cut has some on its side, by one proof.
    pub(super) fn proof_of_parts(
        &mut self,
        formulas: &[TermId],
        cuts: &[Cut],
    ) -> Option<Vec<TermId>> {
        // Sums that are taken apart do not follow from each other along a sequence.
        let decomposed = self.options.form == InterpolantForm::Decomposed;
        if !self.options.proofs || decomposed && cuts.len() > 1 {
            return None;
        }
        let terms = self.terms.clone();
        let left = self.budget().and_then(|b| b.left());
        let work = left.map_or(WORK, |left| WORK.min(left / 2));
        let mut skeleton = Skeleton::new(&terms, self.budget());
        let encode = |skeleton: &mut Skeleton| {
            let mut parts = formulas.iter().enumerate();
            parts.try_for_each(|(part, &formula)| skeleton.part(part, formula))
        };
        let found = encode(&mut skeleton)
            .and_then(|()| refute(&mut skeleton, work, self.budget()))
            .map(|proof| {
                log::debug!("a proof of {} clauses", proof.clauses.len());
                let weak = self.options.form == InterpolantForm::Weak;
                let read = |cut: &Cut| match weak {
                    // What is weak seen from `A` is strong seen from `B`.
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
                log::debug!("a proof mixes its sides");
                self.counters.unproved += 1;
                None
            }
            Err(open) => {
                log::debug!("no proof: {open:?}");
                self.counters.unproved += 1;
                None
            }
        }
    }
}

/// `B` in the place of `A`.
fn swapped(cut: &Cut) -> Cut {
    cut.iter().map(|is_a| !is_a).collect()
}
