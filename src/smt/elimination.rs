//! Z3's own quantifier elimination and model-based projection.
//!
//! Invariant: results are not trusted. Z3's projection of arrays and datatypes has known defects,
//! and a tactic may leave what it does not know: whoever uses a result checks the implications it
//! needs.

use std::ffi::c_uint;
use std::rc::Rc;
use std::time::Duration;

use thiserror::Error;
use z3_sys::*;

use super::context::{Context, Held, c_string};
use super::model::SmtModel;
use super::solver::{DecodeError, Smt};
use crate::term::TermId;

/// Why there is no result of an elimination.
#[derive(Debug, Error, Clone)]
pub enum EliminationError {
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// Z3's message: a time limit, an interrupt, a fragment that it does not eliminate.
    #[error("Z3: {0}")]
    Oracle(String),
    /// A variable that should be gone, or a new quantifier, is still there.
    #[error("the elimination is not complete")]
    Incomplete,
}

impl Smt {
    /// A quantifier-free formula that Z3 gives as equivalent to `∃ vars. formula`, within `limit`.
    /// `tactic` is the name of Z3's tactic: `qe` (complete for linear arithmetic), `qe2`, or
    /// `qe-light` (cheap, mostly solves equations). An incomplete elimination is an error.
    pub fn eliminate(
        &self,
        vars: &[TermId],
        formula: TermId,
        tactic: &str,
        limit: Duration,
    ) -> Result<TermId, EliminationError> {
        let store = self.terms();
        let quantified = store.exists(vars, formula);
        let ast = self.encode(quantified).map_err(EliminationError::Oracle)?;
        let milliseconds = c_uint::try_from(limit.as_millis().max(1)).unwrap_or(c_uint::MAX);
        let cx = &self.cx;
        let run = || -> Result<Vec<Vec<TermId>>, EliminationError> {
            let oracle = EliminationError::Oracle;
            // SAFETY: every object is held by a reference as soon as it is made.
            unsafe {
                let plain = cx.ok(Z3_mk_tactic(cx.raw, c_string(tactic).as_ptr()));
                let plain = Tactic::hold(cx, plain.map_err(oracle)?);
                let limited = cx.ok(Z3_tactic_try_for(cx.raw, plain.raw, milliseconds));
                let limited = Tactic::hold(cx, limited.map_err(oracle)?);
                let goal = Goal::hold(
                    cx,
                    cx.ok(Z3_mk_goal(cx.raw, true, false, false))
                        .map_err(oracle)?,
                );
                Z3_goal_assert(cx.raw, goal.raw, ast);
                let result = cx.ok(Z3_tactic_apply(cx.raw, limited.raw, goal.raw));
                let result = Applied::hold(cx, result.map_err(oracle)?);
                let mut goals = Vec::new();
                for i in 0..Z3_apply_result_get_num_subgoals(cx.raw, result.raw) {
                    let goal = cx.ok(Z3_apply_result_get_subgoal(cx.raw, result.raw, i));
                    let goal = Goal::hold(cx, goal.map_err(oracle)?);
                    let mut formulas = Vec::new();
                    for j in 0..Z3_goal_size(cx.raw, goal.raw) {
                        let formula = cx.ok(Z3_goal_formula(cx.raw, goal.raw, j));
                        let formula = Held::new(cx, formula.map_err(oracle)?);
                        formulas.push(self.decode(formula.ast)?);
                    }
                    goals.push(formulas);
                }
                Ok(goals)
            }
        };
        let goals = match cx.query(run) {
            Some(goals) => goals?,
            None => return Err(EliminationError::Oracle("interrupted".to_owned())),
        };
        let cases: Vec<TermId> = goals.iter().map(|g| store.and(g)).collect();
        self.complete(vars, store.or(&cases))
    }

    /// Z3's model-based projection: a formula without `vars` that should be implied by, and true
    /// in the model like, some cube of `formula`; that is, it should imply `∃ vars. formula` and
    /// hold in `model`. Neither is trusted.
    pub fn model_project(
        self: &Rc<Self>,
        vars: &[TermId],
        formula: TermId,
        model: &SmtModel,
    ) -> Result<TermId, EliminationError> {
        let cx = &self.cx;
        let oracle = EliminationError::Oracle;
        let body = self.encode(formula).map_err(oracle)?;
        let mut bound: Vec<Z3_app> = Vec::with_capacity(vars.len());
        for &var in vars {
            let ast = self.encode(var).map_err(oracle)?;
            // SAFETY: a variable is a constant, held by the encoder.
            let app = cx.ok(unsafe { Z3_to_app(cx.raw, ast) }).map_err(oracle)?;
            bound.push(app);
        }
        // SAFETY: model, formula and constants belong to this context and are held.
        let run = || unsafe {
            let count = bound.len() as c_uint;
            Z3_qe_model_project(cx.raw, model.raw(), count, bound.as_ptr(), body)
        };
        let projected = match cx.query(run) {
            Some(result) => Held::new(cx, cx.ok(result).map_err(oracle)?),
            None => return Err(oracle("interrupted".to_owned())),
        };
        let decoded = self.decode(projected.ast)?;
        self.complete(vars, decoded)
    }

    /// Z3's simplification of a term, within the step bound that keeps it linear in practice.
    pub fn simplify(&self, term: TermId) -> Result<TermId, EliminationError> {
        let cx = &self.cx;
        let oracle = EliminationError::Oracle;
        let ast = self.encode(term).map_err(oracle)?;
        // SAFETY: the term is held by the encoder.
        let simplified = match cx.query(|| unsafe { Z3_simplify(cx.raw, ast) }) {
            Some(result) => Held::new(cx, cx.ok(result).map_err(oracle)?),
            None => return Err(oracle("interrupted".to_owned())),
        };
        Ok(self.decode(simplified.ast)?)
    }

    fn complete(&self, vars: &[TermId], result: TermId) -> Result<TermId, EliminationError> {
        let free = self.terms().free_vars(&[result]);
        if self.terms().node(result).has_quantifier
            || vars.iter().any(|v| free.binary_search(v).is_ok())
        {
            return Err(EliminationError::Incomplete);
        }
        Ok(result)
    }
}

macro_rules! held {
    ($name:ident, $raw:ty, $inc:ident, $dec:ident) => {
        struct $name<'a> {
            cx: &'a Context,
            raw: $raw,
        }

        impl<'a> $name<'a> {
            /// Takes a reference to an object that Z3 just returned.
            unsafe fn hold(cx: &'a Context, raw: $raw) -> Self {
                // SAFETY: the object belongs to the context and is still alive.
                unsafe { $inc(cx.raw, raw) };
                $name { cx, raw }
            }
        }

        impl Drop for $name<'_> {
            fn drop(&mut self) {
                // SAFETY: the reference taken in `hold`.
                unsafe { $dec(self.cx.raw, self.raw) };
            }
        }
    };
}

held!(Tactic, Z3_tactic, Z3_tactic_inc_ref, Z3_tactic_dec_ref);
held!(Goal, Z3_goal, Z3_goal_inc_ref, Z3_goal_dec_ref);
held!(
    Applied,
    Z3_apply_result,
    Z3_apply_result_inc_ref,
    Z3_apply_result_dec_ref
);
