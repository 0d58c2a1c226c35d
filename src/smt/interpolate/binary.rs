//! The interpolant of two formulas: a disjunction over implicants of `A`.
//!
//! Invariant: each disjunct holds in the model that it was made for and contradicts `B`, so the
//! disjunction contradicts `B` at any time and follows from `A` when no model of `A` is left.

use rustc_hash::FxHashSet;

use super::cover::Sides;
use super::pair::guards;
use super::{InterpolantForm, InterpolationError, Interpolator, Result};
use crate::smt::{ImplicantOptions, SmtModel, Solver, implicant_with};
use crate::term::{Assignment, Evaluator, TermId, TermStore};

/// More literals than this are not minimised one by one.
pub(super) const MINIMISED: usize = 40;

impl Interpolator {
    /// An interpolant of `a` and `b`, which are known to be unsatisfiable together.
    pub(super) fn interpolate(&mut self, a: TermId, b: TermId) -> Result<TermId> {
        self.steps = 0;
        self.counters.problems += 1;
        match self.options.form {
            InterpolantForm::Strong => self.disjunction(a, b, false),
            InterpolantForm::Decomposed => self.disjunction(a, b, true),
            // What is weak seen from `A` is strong seen from `B`.
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
        // Without variables of its own, a side is an interpolant itself.
        if terms.free_vars(&[a]).iter().all(|v| sides.is_shared(*v)) {
            return Ok(a);
        }
        if terms.free_vars(&[b]).iter().all(|v| sides.is_shared(*v)) {
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
        // Later disjuncts may have made earlier ones superfluous.
        let mut solver = self.smt.solver();
        solver.assert(a);
        let negated: Vec<TermId> = disjuncts.iter().map(|&d| terms.not(d)).collect();
        self.tick()?;
        let kept: FxHashSet<TermId> = solver.minimal_core(&[], &negated).into_iter().collect();
        disjuncts.retain(|&d| kept.contains(&terms.not(d)));
        Ok(disjuncts)
    }
}

impl Interpolator {
    /// After a satisfiable query: its model and an implicant of the formula. Where fields or
    /// quotients have no value in it, a model is sought in which they have.
    pub(super) fn implicant_in(
        &self,
        solver: &mut Solver,
        assumptions: &[TermId],
        formula: TermId,
        vars: &[TermId],
    ) -> Result<(Assignment, Vec<TermId>)> {
        let terms = &self.terms;
        let model = assignment(&Self::model(solver)?, vars)?;
        if let Some(literals) = implicant_of(terms, formula, &model) {
            return Ok((model, literals));
        }
        let mut evaluator = Evaluator::new(terms, &model);
        let mut defined = guards(terms, &[formula]);
        defined.retain(|&g| evaluator.value(g) != Some(TermId::TRUE));
        defined.extend(assumptions);
        if !defined.is_empty() && self.is_sat(solver, &defined)? {
            let model = assignment(&Self::model(solver)?, vars)?;
            if let Some(literals) = implicant_of(terms, formula, &model) {
                return Ok((model, literals));
            }
        }
        let message = "a formula without a value in its model".to_owned();
        Err(InterpolationError::Unsupported(message))
    }
}

/// The model's values.
pub(super) fn assignment(model: &SmtModel, vars: &[TermId]) -> Result<Assignment> {
    let values = model.assignment(vars);
    values.map_err(|e| InterpolationError::Unsupported(e.to_string()))
}

/// Literals that hold and imply the formula; no disequality of numbers is among them. `None` where
/// the formula has no value.
pub(super) fn implicant_of(
    terms: &TermStore,
    formula: TermId,
    model: &Assignment,
) -> Option<Vec<TermId>> {
    let options = ImplicantOptions {
        split_disequalities: true,
        ..ImplicantOptions::default()
    };
    let mut evaluator = Evaluator::new(terms, model);
    implicant_with(terms, &[formula], &mut evaluator, options)
}
