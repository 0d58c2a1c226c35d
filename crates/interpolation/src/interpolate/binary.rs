//! The interpolant of two formulas: a disjunction over implicants of `A`.
//!
//! Invariant: each disjunct holds in the model that it was made for and contradicts `B`; so the
//! disjunction always contradicts `B`, and follows from `A` when `A` has no model outside it.

use super::interpolator::{InterpolantForm, Interpolator, Result};
use super::sides::Sides;
use alphorn_term::TermId;

impl Interpolator {
    /// A formula that follows from the conjunction of `a`, contradicts the conjunction of `b`, and
    /// has only variables that occur in both.
    ///
    /// # Errors
    /// See [`InterpolationError`](crate::InterpolationError).
    pub fn binary(&mut self, a: &[TermId], b: &[TermId]) -> Result<TermId> {
        self.within_limits(|i| {
            i.refuse_quantifiers(a.iter().chain(b))?;
            let (a, b) = (i.terms.and(a), i.terms.and(b));
            let needed = i.minimise(&[a, b], |terms, parts| terms.and(parts))?;
            let interpolant = match i.proof_of_parts(&needed, &[vec![true, false]]) {
                Some(found) => found[0],
                None => i.interpolate(needed[0], needed[1])?,
            };
            i.check_binary(a, b, interpolant)?;
            Ok(interpolant)
        })
    }

    /// The interpolant from one resolution proof, if the option `proofs` is set;
    /// `None` if there is no proof within the limits.
    ///
    /// # Errors
    /// See [`InterpolationError`](crate::InterpolationError).
    pub fn by_proof(&mut self, a: TermId, b: TermId) -> Result<Option<TermId>> {
        self.within_limits(|i| {
            i.refuse_quantifiers([&a, &b])?;
            let needed = i.minimise(&[a, b], |terms, parts| terms.and(parts))?;
            let found = i.proof_of_parts(&needed, &[vec![true, false]]);
            let found = found.and_then(|all| all.first().copied());
            if let Some(interpolant) = found {
                i.check_binary(a, b, interpolant)?;
            }
            Ok(found)
        })
    }

    /// An interpolant of `a` and `b`, which are known to be unsatisfiable together.
    pub(super) fn interpolate(&mut self, a: TermId, b: TermId) -> Result<TermId> {
        self.steps = 0;
        self.counters.problems += 1;
        match self.options.form {
            InterpolantForm::Strong => self.disjunction(a, b, false),
            InterpolantForm::Decomposed => self.disjunction(a, b, true),
            // An interpolant that is weak for `A` is the negation of one that is strong for `B`.
            InterpolantForm::Weak => {
                let interpolant = self.disjunction(b, a, false)?;
                Ok(self.terms.not(interpolant))
            }
        }
    }

    /// The disjunction over implicants of `a`, see the module.
    pub(super) fn disjunction(&mut self, a: TermId, b: TermId, decomposed: bool) -> Result<TermId> {
        let terms = self.terms.clone();
        if b == TermId::TRUE || a == TermId::FALSE {
            return Ok(TermId::FALSE);
        }
        if b == TermId::FALSE || a == TermId::TRUE {
            return Ok(TermId::TRUE);
        }
        let mut sides = Sides::new(self, a, b, decomposed);
        let failed = match self.disjuncts(a, &mut sides) {
            Ok(disjuncts) => return Ok(terms.or(&disjuncts)),
            Err(error) => error,
        };
        // A side whose variables are all shared is an interpolant itself.
        if sides.are_shared(&terms, &[a]) {
            return Ok(a);
        }
        if sides.are_shared(&terms, &[b]) {
            return Ok(terms.not(b));
        }
        Err(failed)
    }

    fn disjuncts(&mut self, a: TermId, sides: &mut Sides) -> Result<Vec<TermId>> {
        let terms = self.terms.clone();
        let mut disjuncts: Vec<TermId> = Vec::new();
        let mut solver = self.smt.solver();
        solver.assert(a);
        let vars = terms.free_vars(&[a]);
        while self.is_sat(&mut solver, &[])? {
            self.step()?;
            self.counters.implicants += 1;
            let (model, literals) = self.implicant_in(&mut solver, &[], a, &vars)?;
            let disjunct = self.cover(&literals, &model, sides)?;
            disjuncts.push(disjunct);
            solver.assert(terms.not(disjunct));
        }
        if disjuncts.len() < 2 {
            return Ok(disjuncts);
        }
        // Later disjuncts may have made earlier ones redundant.
        let mut solver = self.smt.solver();
        solver.assert(a);
        let negated: Vec<TermId> = disjuncts.iter().map(|&d| terms.not(d)).collect();
        self.tick()?;
        if let Some(kept) = solver.minimal_core(&[], &negated) {
            disjuncts.retain(|&d| kept.contains(&terms.not(d)));
        }
        Ok(disjuncts)
    }
}
