//! Models of satisfiable queries.
//!
//! # Invariant
//! A model gives a term always the same value: Z3 completes its model where it is partial, and
//! records the completion.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use z3_sys::*;

use super::context::AstRef;
use super::decode::Decoder;
use super::solver::{DecodeError, Smt};
use alphorn_term::{Assignment, TermId, evaluate_with};

/// A model of a satisfiable query; it stays valid when the solver is used further.
pub struct SmtModel {
    smt: Rc<Smt>,
    raw: Z3_model,
    /// Values of subterms; `None` where evaluation has no value (division by zero, for example).
    memo: RefCell<FxHashMap<TermId, Option<TermId>>>,
    /// Values by Z3's evaluation.
    evaluated: RefCell<FxHashMap<TermId, TermId>>,
}

impl SmtModel {
    pub(super) fn new(smt: &Rc<Smt>, raw: Z3_model) -> SmtModel {
        // SAFETY: Z3 just returned the model; `drop` releases the reference.
        unsafe { Z3_model_inc_ref(smt.cx.raw, raw) };
        SmtModel {
            smt: Rc::clone(smt),
            raw,
            memo: RefCell::default(),
            evaluated: RefCell::default(),
        }
    }

    /// The value of a term of any sort, with model completion. The values of variables are read
    /// from the model and the term is evaluated over them; where evaluation has no value (division
    /// by zero, a selector of another constructor, a quantifier), Z3 evaluates the term.
    ///
    /// # Errors
    /// Z3 gives no value, or one that cannot be decoded.
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

    /// The values of variables, with model completion.
    ///
    /// # Errors
    /// As [`SmtModel::value`].
    pub fn assignment(&self, vars: &[TermId]) -> Result<Assignment, DecodeError> {
        vars.iter().map(|&v| Ok((v, self.value(v)?))).collect()
    }

    /// Whether a formula is true in the model; `false` also if it has no value.
    pub fn satisfies(&self, formula: TermId) -> bool {
        matches!(self.value(formula), Ok(TermId::TRUE))
    }

    /// The value of a variable, completed if the model has none.
    fn constant(&self, var: TermId) -> Result<TermId, DecodeError> {
        let cx = &self.smt.cx;
        let ast = self.smt.encode(var).map_err(DecodeError)?;
        // SAFETY: the variable is a constant, referenced by the context; the model references its
        // value.
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

    /// The value of a term by Z3's evaluation, with model completion.
    pub(super) fn evaluate(&self, term: TermId) -> Result<TermId, DecodeError> {
        if let Some(&found) = self.evaluated.borrow().get(&term) {
            return Ok(found);
        }
        let cx = &self.smt.cx;
        let ast = self.smt.encode(term).map_err(DecodeError)?;
        // SAFETY: Z3 writes the value, and `Option<Z3_ast>` has the layout of a pointer; the value
        // is referenced before any other call.
        let value = unsafe {
            let mut value: Option<Z3_ast> = None;
            let done = Z3_model_eval(cx.raw, self.raw, ast, true, (&raw mut value).cast());
            match value {
                Some(value) if done => AstRef::new(cx, value),
                _ => return Err(DecodeError(cx.error())),
            }
        };
        let decoded = self.decode(value.ast)?;
        if !self.smt.terms().is_value(decoded) {
            return Err(DecodeError(
                "a term that is no value in the model".to_owned(),
            ));
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
        // SAFETY: releases the reference taken in `new`; `smt` keeps the context alive.
        unsafe { Z3_model_dec_ref(self.smt.cx.raw, self.raw) };
    }
}
