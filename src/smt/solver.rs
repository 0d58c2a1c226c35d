//! Incremental solvers over our terms.

use std::rc::Rc;
use std::time::Duration;

use thiserror::Error;

use crate::term::{Assignment, TermId, TermStore};

/// What Z3 returned and we do not know how to read.
#[derive(Debug, Error, Clone)]
#[error("cannot decode {0}")]
pub struct DecodeError(pub String);

/// Answer to a satisfiability query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SatResult {
    Sat,
    Unsat,
    /// With Z3's reason.
    Unknown(String),
}

/// One Z3 context with the cache of encoded terms; shared by all solvers made from it.
pub struct Smt {}

impl Smt {
    /// A new Z3 context for the terms of a store.
    pub fn new(_terms: Rc<TermStore>) -> Rc<Smt> {
        todo!()
    }

    /// The store whose terms are encoded.
    pub fn terms(&self) -> &Rc<TermStore> {
        todo!()
    }

    /// A new incremental solver.
    pub fn solver(self: &Rc<Self>) -> Solver {
        todo!()
    }

    /// Time limit of each later query; `None` for none.
    pub fn set_query_timeout(&self, _limit: Option<Duration>) {
        todo!()
    }

    /// Number of queries so far and the time spent in them.
    pub fn usage(&self) -> (u64, Duration) {
        todo!()
    }
}

/// An incremental solver with assumption literals.
pub struct Solver {}

impl Solver {
    /// Adds a formula to the current scope.
    pub fn assert(&mut self, _formula: TermId) {
        todo!()
    }

    /// Opens a scope.
    pub fn push(&mut self) {
        todo!()
    }

    /// Closes the newest scope.
    pub fn pop(&mut self) {
        todo!()
    }

    /// Satisfiability under assumptions, which may be any formulas (those that are no literals
    /// over Boolean constants are named by a fresh assumption literal, kept for later queries).
    pub fn check(&mut self, _assumptions: &[TermId]) -> SatResult {
        todo!()
    }

    /// After `Unsat`: the assumptions that were used (not minimal).
    pub fn core(&self) -> Vec<TermId> {
        todo!()
    }

    /// After `Unsat` under `hard` and `soft` assumptions: a minimal subset of `soft` that is still
    /// unsatisfiable with all of `hard`. Queries that end `Unknown` keep their literal.
    pub fn minimal_core(&mut self, _hard: &[TermId], _soft: &[TermId]) -> Vec<TermId> {
        todo!()
    }

    /// After `Sat`: the model.
    pub fn model(&self) -> Option<SmtModel> {
        todo!()
    }
}

/// A model of the last satisfiable query; it stays valid when the solver goes on.
pub struct SmtModel {}

impl SmtModel {
    /// The value of any term, with model completion.
    pub fn value(&self, _term: TermId) -> Result<TermId, DecodeError> {
        todo!()
    }

    /// Values of variables, with model completion.
    pub fn assignment(&self, _vars: &[TermId]) -> Result<Assignment, DecodeError> {
        todo!()
    }
}
