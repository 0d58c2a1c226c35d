//! Options, errors, limits and counters of all interpolation problems.
//!
//! Invariant: every query and every step of the search checks the budget first.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use thiserror::Error;

use alphorn_smt::{QueryLimit, SatResult, Smt, SmtModel, Solver};
use alphorn_term::run::Budget;
use alphorn_term::{TermId, TermStore};

/// The preferred interpolant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InterpolantForm {
    /// Close to `A`: sums of `A`'s bounds.
    #[default]
    Strong,
    /// Close to `¬B`: negated sums of `B`'s bounds.
    Weak,
    /// A conjunction of several sums in place of each, stronger than `Strong`.
    Decomposed,
}

/// The end from which sequences and DAGs are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InterpolationOrder {
    /// From the first formula: each interpolant follows from the one before.
    #[default]
    Forward,
    /// From the last formula: each interpolant is what the next one needs.
    Backward,
}

/// The options of an [`Interpolator`].
#[derive(Clone, Copy, Debug)]
pub struct InterpolationOptions {
    /// The preferred interpolant.
    pub form: InterpolantForm,
    /// The order in sequences and DAGs.
    pub order: InterpolationOrder,
    /// Rounds of removing unneeded literals before interpolation; with 0, the formulas are used as
    /// they are. VINTA uses 3.
    pub core_rounds: usize,
    /// Certificates and projections for one interpolant, at most; beyond that it is given up.
    pub max_steps: usize,
    /// Whether a single proof is searched for first, for the interpolants of a binary problem, a
    /// sequence or a tree over bit-vectors and linear arithmetic.
    pub proofs: bool,
    /// Whether every interpolant is proven by separate queries. On in debug builds.
    pub check: bool,
}

impl Default for InterpolationOptions {
    fn default() -> Self {
        InterpolationOptions {
            form: InterpolantForm::Strong,
            order: InterpolationOrder::Forward,
            core_rounds: 1,
            max_steps: 2000,
            proofs: false,
            check: cfg!(debug_assertions),
        }
    }
}

/// The reason why there is no interpolant.
#[derive(Error)]
pub enum InterpolationError {
    /// The formulas are satisfiable, in this model.
    #[error("the formulas are satisfiable")]
    Satisfiable(Box<SmtModel>),
    /// The limit on time or steps was reached, or a query has no answer.
    #[error("no interpolant within the limits: {0}")]
    Limit(String),
    /// The formulas have quantifiers, or a model leaves a value open.
    #[error("cannot interpolate: {0}")]
    Unsupported(String),
    /// The labels of a restricted DAG do not follow along an edge, or the interpolation problem is
    /// malformed otherwise.
    #[error("malformed interpolation problem: {0}")]
    Input(String),
    /// A check failed; the interpolant was discarded.
    #[error("a wrong interpolant was discarded: {0}")]
    Defect(String),
}

impl InterpolationError {
    /// Logs and counts a failed check as a defect.
    pub(super) fn defect(terms: &TermStore, what: impl fmt::Display) -> InterpolationError {
        log::error!("defect: interpolation: {what}");
        terms.count_defect();
        InterpolationError::Defect(what.to_string())
    }
}

impl fmt::Debug for InterpolationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The work of an [`Interpolator`] so far.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct InterpolationCounters {
    /// Binary problems, including those of sequences, trees and DAGs.
    pub problems: u64,
    /// Implicants of `A`.
    pub implicants: u64,
    /// Pairs with a certificate.
    pub certificates: u64,
    /// Pairs or implicants that were projected.
    pub projections: u64,
    /// Problems, each sequence counted once, that one proof answered.
    pub proofs: u64,
    /// Problems for which no proof was found.
    pub unproved: u64,
    /// Literals removed before interpolation.
    pub dropped: u64,
    /// Literals considered before interpolation.
    pub literals: u64,
}

/// Computes interpolants with the solvers of one [`Smt`].
pub struct Interpolator {
    pub(super) smt: Rc<Smt>,
    pub(super) terms: Rc<TermStore>,
    pub(super) options: InterpolationOptions,
    budget: Option<Budget>,
    query_limit: Cell<Option<QueryLimit>>,
    pub(super) counters: InterpolationCounters,
    /// The steps of the current problem.
    pub(super) steps: usize,
    /// Boolean variables that name literals while they are minimized; none is in a result.
    pub(super) names: Vec<TermId>,
}

pub(super) type Result<T> = std::result::Result<T, InterpolationError>;

impl Interpolator {
    /// An interpolator without a budget.
    pub fn new(smt: &Rc<Smt>, options: InterpolationOptions) -> Interpolator {
        Interpolator {
            smt: Rc::clone(smt),
            terms: Rc::clone(smt.terms()),
            options,
            budget: None,
            query_limit: Cell::default(),
            counters: InterpolationCounters::default(),
            steps: 0,
            names: Vec::new(),
        }
    }

    /// Sets the budget. With a budget, queries are limited by the rest of it; that limit ends
    /// with each call.
    pub fn set_budget(&mut self, budget: Option<Budget>) {
        self.budget = budget;
    }

    pub(super) fn budget(&self) -> Option<&Budget> {
        self.budget.as_ref()
    }

    /// The work so far.
    pub fn counters(&self) -> InterpolationCounters {
        self.counters
    }

    pub(super) fn within_limits<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let outer = self.query_limit.take();
        let result = work(self);
        self.query_limit.set(outer);
        result
    }

    pub(super) fn refuse_quantifiers<'t>(
        &self,
        formulas: impl IntoIterator<Item = &'t TermId>,
    ) -> Result<()> {
        let mut formulas = formulas.into_iter();
        if formulas.any(|&f| self.terms.node(f).has_quantifier) {
            return Err(InterpolationError::Unsupported("a quantifier".to_owned()));
        }
        Ok(())
    }

    /// Counts one more step.
    pub(super) fn step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps > self.options.max_steps {
            return Err(InterpolationError::Limit("too many steps".to_owned()));
        }
        self.tick()
    }

    /// An error if the budget is spent.
    pub(super) fn tick(&self) -> Result<()> {
        if let Some(budget) = &self.budget {
            if let Some(reason) = budget.stop() {
                return Err(InterpolationError::Limit(reason.to_string()));
            }
            let limit = self.smt.limit_queries(budget.left());
            self.query_limit.set(Some(limit));
        }
        Ok(())
    }

    /// Whether the solver's formulas and the assumptions are satisfiable.
    pub(super) fn is_sat(&self, solver: &mut Solver, assumptions: &[TermId]) -> Result<bool> {
        self.tick()?;
        match solver.check(assumptions) {
            SatResult::Sat => Ok(true),
            SatResult::Unsat => Ok(false),
            SatResult::Unknown(reason) => Err(InterpolationError::Limit(reason)),
        }
    }

    /// The model after a satisfiable query.
    pub(super) fn model(solver: &Solver) -> Result<SmtModel> {
        let no_model = || InterpolationError::Unsupported("a query without a model".to_owned());
        solver.model().ok_or_else(no_model)
    }
}
