//! What all interpolation problems share: options, errors, limits, counters.
//!
//! Invariant: every query and every step looks at the limits first.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use thiserror::Error;

use alphorn_smt::{QueryLimit, SatResult, Smt, SmtModel, Solver};
use alphorn_term::run::Budget;
use alphorn_term::{TermId, TermStore};

/// Which interpolant is wanted where there is a choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InterpolantForm {
    /// As close to `A` as the certificates allow: sums of `A`'s bounds.
    #[default]
    Strong,
    /// As close to `¬B`: negated sums of `B`'s bounds.
    Weak,
    /// A conjunction of several sums in place of each, stronger than `Strong`.
    Decomposed,
}

/// From which end sequences and DAGs are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InterpolationOrder {
    /// From the first formula: each interpolant follows from the one before.
    #[default]
    Forward,
    /// From the last: each is what the next one needs.
    Backward,
}

/// How interpolants are made.
#[derive(Clone, Copy, Debug)]
pub struct InterpolationOptions {
    pub form: InterpolantForm,
    pub order: InterpolationOrder,
    /// How often unneeded literals are sought before interpolation starts, at least 0. VINTA: 3.
    pub core_rounds: usize,
    /// Certificates and projections for one interpolant, at most.
    pub max_steps: usize,
    /// Whether the interpolants of a binary problem, a sequence or a tree of words and linear
    /// arithmetic are sought in one proof first.
    pub proofs: bool,
    /// Prove every interpolant to be one, by queries of their own. On in debug builds.
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

/// Why there is no interpolant.
#[derive(Error)]
pub enum InterpolationError {
    /// The formulas have a model: this one.
    #[error("the formulas are satisfiable")]
    Satisfiable(Box<SmtModel>),
    /// Time or steps ran out, or a query stayed open.
    #[error("no interpolant within the limits: {0}")]
    Limit(String),
    /// Quantifiers, or values that models leave open.
    #[error("cannot interpolate: {0}")]
    Unsupported(String),
    /// The labels of a restricted DAG do not follow along this edge, or the interpolation problem
    /// is malformed in another way.
    #[error("no interpolation problem: {0}")]
    Input(String),
    /// A check failed; the interpolant was thrown away.
    #[error("a wrong interpolant was found and thrown away: {0}")]
    Defect(String),
}

impl InterpolationError {
    /// A check failed: logged and counted as a defect.
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

/// What an [`Interpolator`] did so far.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct InterpolationCounters {
    /// Binary problems, those of sequences, trees and DAGs among them.
    pub problems: u64,
    /// Implicants of `A`.
    pub implicants: u64,
    /// Pairs with a certificate.
    pub certificates: u64,
    /// Pairs or implicants that were projected.
    pub projections: u64,
    /// Problems, whole sequences among them, that one proof answered, and that none did where it
    /// was tried.
    pub proofs: u64,
    pub unproved: u64,
    /// Literals removed before interpolation.
    pub dropped: u64,
    /// Literals looked at before interpolation.
    pub literals: u64,
}

/// Makes interpolants with the solvers of one [`Smt`].
pub struct Interpolator {
    pub(super) smt: Rc<Smt>,
    pub(super) terms: Rc<TermStore>,
    pub(super) options: InterpolationOptions,
    budget: Option<Budget>,
    query_limit: Cell<Option<QueryLimit>>,
    pub(super) counters: InterpolationCounters,
    /// Steps of the current problem.
    pub(super) steps: usize,
    /// Boolean variables that name literals during minimisation; none is in a result.
    pub(super) names: Vec<TermId>,
}

pub(super) type Result<T> = std::result::Result<T, InterpolationError>;

impl Interpolator {
    /// An interpolator without limits of time.
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

    /// When to give up, from now on. While there is a budget, queries are limited by what is left
    /// of it; that limit ends with each call.
    pub fn set_budget(&mut self, budget: Option<Budget>) {
        self.budget = budget;
    }

    pub(super) fn budget(&self) -> Option<&Budget> {
        self.budget.as_ref()
    }

    /// The options, to change them between calls.
    pub fn options_mut(&mut self) -> &mut InterpolationOptions {
        &mut self.options
    }

    /// What was done so far.
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

    /// Notes one more step.
    pub(super) fn step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps > self.options.max_steps {
            return Err(InterpolationError::Limit("too many steps".to_owned()));
        }
        self.tick()
    }

    /// An error when it is time to end.
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

    /// A model, after a satisfiable query.
    pub(super) fn model(solver: &Solver) -> Result<SmtModel> {
        let no_model = || InterpolationError::Unsupported("a query without a model".to_owned());
        solver.model().ok_or_else(no_model)
    }
}
