//! Models of satisfiable queries: values of terms as our own values.
//!
//! Invariant: one model gives each term one value: what Z3's model leaves open is completed by Z3
//! itself, which records its choice in the model.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use z3_sys::*;

use super::context::Held;
use super::decode::Decoder;
use super::solver::{DecodeError, Smt};
use alphorn_term::{Assignment, TermId, evaluate_with};

/// A model of the last satisfiable query; it stays valid when the solver goes on.
pub struct SmtModel {
    smt: Rc<Smt>,
    raw: Z3_model,
    /// Values of sub-terms; `None` where our evaluation cannot tell (division by zero, …).
    memo: RefCell<FxHashMap<TermId, Option<TermId>>>,
    /// Values that had to come from Z3's evaluation.
    evaluated: RefCell<FxHashMap<TermId, TermId>>,
}

impl SmtModel {
    pub(super) fn new(smt: &Rc<Smt>, raw: Z3_model) -> SmtModel {
        // SAFETY: the model was just returned; the reference is given back in `drop`.
        unsafe { Z3_model_inc_ref(smt.cx.raw, raw) };
        SmtModel {
            smt: Rc::clone(smt),
            raw,
            memo: RefCell::default(),
            evaluated: RefCell::default(),
        }
    }

    /// The value of any term, with model completion. The values of variables are read from the
    /// model and the term is evaluated over them; where that is undefined (division by zero, a
    /// selector on another constructor, a quantifier), Z3 evaluates it.
    pub fn value(&self, term: TermId) -> Result<TermId, DecodeError> {
        let store = self.smt.terms();
        if store.is_value(term) {
            return Ok(term);
        }
        let mut failure = None;
        let found = evaluate_with(store, term, &mut self.memo.borrow_mut(), |var| {
            match self.constant(var) {
                Ok(value) => Some(value),
                Err(error) => {
                    failure.get_or_insert(error);
                    None
                }
            }
        });
        match found {
            Some(value) => Ok(value),
            None => match (failure, store.is_var(term)) {
                (Some(error), true) => Err(error),
                _ => self.evaluate(term),
            },
        }
    }

    /// Values of variables, with model completion.
    pub fn assignment(&self, vars: &[TermId]) -> Result<Assignment, DecodeError> {
        vars.iter().map(|&v| Ok((v, self.value(v)?))).collect()
    }

    /// Whether the model makes a formula true; `false` also where its value cannot be told.
    pub fn satisfies(&self, formula: TermId) -> bool {
        matches!(self.value(formula), Ok(TermId::TRUE))
    }

    /// The interpretation of a variable, completed when there is none.
    fn constant(&self, var: TermId) -> Result<TermId, DecodeError> {
        let cx = &self.smt.cx;
        let ast = self.smt.encode(var).map_err(DecodeError)?;
        // SAFETY: the variable is a constant, held by the encoder; its value is held by the model.
        let value = unsafe {
            let app = cx.ok(Z3_to_app(cx.raw, ast)).map_err(DecodeError)?;
            let decl = cx.ok(Z3_get_app_decl(cx.raw, app)).map_err(DecodeError)?;
            Z3_model_get_const_interp(cx.raw, self.raw, decl)
        };
        if let Some(value) = value
            && let Ok(term) = self.decode(value)
            && self.smt.terms().is_value(term)
        {
            return Ok(term);
        }
        self.evaluate(var)
    }

    /// The value by Z3's evaluation.
    pub(super) fn evaluate(&self, term: TermId) -> Result<TermId, DecodeError> {
        if let Some(&found) = self.evaluated.borrow().get(&term) {
            return Ok(found);
        }
        let cx = &self.smt.cx;
        let ast = self.smt.encode(term).map_err(DecodeError)?;
        // SAFETY: Z3 fills in the value, an `Option<Z3_ast>` with the layout of a pointer; it is
        // held before any other call.
        let value = unsafe {
            let mut value: Option<Z3_ast> = None;
            let done = Z3_model_eval(cx.raw, self.raw, ast, true, (&raw mut value).cast());
            match value {
                Some(value) if done => Held::new(cx, value),
                _ => return Err(DecodeError(cx.error())),
            }
        };
        let decoded = self.decode(value.ast)?;
        if !self.smt.terms().is_value(decoded) {
            return Err(DecodeError("a value that the model leaves open".to_owned()));
        }
        self.evaluated.borrow_mut().insert(term, decoded);
        Ok(decoded)
    }

    fn decode(&self, value: Z3_ast) -> Result<TermId, DecodeError> {
        let encoder = self.smt.encoder.borrow();
        Decoder::new(&self.smt.cx, self.smt.terms(), &encoder, Some(self.raw)).decode(value)
    }
}

impl Drop for SmtModel {
    fn drop(&mut self) {
        // SAFETY: the reference taken in `new`; the context is alive through `smt`.
        unsafe { Z3_model_dec_ref(self.smt.cx.raw, self.raw) };
    }
}
