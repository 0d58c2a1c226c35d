//! Implicants of formulas in models.
//!
//! Invariant: an implicant holds in the model that is returned with it and implies the formula.

use super::guards::guards;
use super::interpolator::{InterpolationError, Interpolator, Result};
use alphorn_smt::{ImplicantOptions, SmtModel, Solver, implicant_with};
use alphorn_term::{Assignment, Evaluator, TermId, TermStore};

impl Interpolator {
    /// After a satisfiable query: its model and an implicant of the formula. If fields or quotients
    /// have no value in the model, another one is searched for in which they have.
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

/// Literals that hold and imply the formula, without disequalities of numbers. `None` if the
/// formula has no value.
fn implicant_of(terms: &TermStore, formula: TermId, model: &Assignment) -> Option<Vec<TermId>> {
    let options = ImplicantOptions {
        split_disequalities: true,
        ..ImplicantOptions::default()
    };
    let mut evaluator = Evaluator::new(terms, model);
    implicant_with(terms, &[formula], &mut evaluator, options)
}
