//! Craig interpolants: binary, sequence, tree, DAG and restricted DAG interpolants.
//!
//! Z3 interpolates no more, and its proofs are no ground to build on, so interpolants are made from
//! what any solver gives: models and cores. For `A ∧ B` unsatisfiable ([`binary`]):
//!
//! 1. Cores first: literals of `A` and `B` that the contradiction does not need become `true`.
//! 2. A model of `A` outside the interpolant so far gives an implicant `a` of `A`; models of `B`
//!    inside of what is known to follow from `a` give implicants `b`. Each pair of conjunctions gets
//!    a certificate ([`pair`]): a literal, or a few, that follow from `a` and contradict `b`.
//!    Their conjunction over all `b` contradicts `B`; the disjunction over all `a` follows from `A`.
//!    Where a pair has no certificate, model-based projection of `a` onto the shared variables
//!    takes its place, so every theory that is projected is interpolated ([`cover`]).
//! 3. Sequences, trees and DAGs are computed node by node, each interpolant from the interpolants
//!    before it and the formulas after it, so they are inductive by construction.
//!
//! Papers: McMillan, "An interpolating theorem prover" (TCS 2005); Albarghouthi, McMillan,
//! "Beautiful interpolants" (CAV 2013), for the enumeration of pairs; Blicha, Hyvärinen, Kofroň,
//! Sharygina, "Decomposing Farkas interpolants" (TACAS 2019); Albarghouthi, Gurfinkel, Chechik,
//! "From under-approximations to over-approximations and back" (TACAS 2012) and "Craig
//! interpretation" (SAS 2012), for DAGs and restricted DAGs.
//!
//! Deviation: UFO encodes a DAG as a sequence with control variables and eliminates these from the
//! result. Here the formula before a node and the formula after it are built without control
//! variables, so nothing needs to be eliminated.
//!
//! Invariant: an answer is an interpolant or an error. A limit, an `Unknown` or a theory that no
//! rule covers is an error that says so, and with [`InterpolationOptions::check`] each interpolant
//! was proved to be one by separate queries.

mod binary;
mod bits;
mod check;
mod core;
mod cover;
mod dag;
mod farkas;
mod integer;
mod pair;
mod reduce;
mod sequence;
#[cfg(test)]
mod tests;
mod tree;

use std::fmt;
use std::rc::Rc;

use thiserror::Error;

pub use dag::{InterpolationDag, InterpolationEdge};
pub use farkas::{Bound, separate};

use super::{SatResult, Smt, SmtModel, Solver};
use crate::run::Budget;
use crate::term::{TermId, TermStore};

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
    /// Literals removed before interpolation.
    pub dropped: u64,
    /// Literals looked at before interpolation.
    pub literals: u64,
}

/// Makes interpolants with the solvers of one [`Smt`].
pub struct Interpolator {
    smt: Rc<Smt>,
    terms: Rc<TermStore>,
    options: InterpolationOptions,
    budget: Option<Budget>,
    counters: InterpolationCounters,
    /// Steps of the current problem.
    steps: usize,
    /// Boolean variables that name literals during minimisation; none is in a result.
    names: Vec<TermId>,
}

type Result<T> = std::result::Result<T, InterpolationError>;

impl Interpolator {
    /// An interpolator without limits of time.
    pub fn new(smt: &Rc<Smt>, options: InterpolationOptions) -> Interpolator {
        Interpolator {
            smt: Rc::clone(smt),
            terms: Rc::clone(smt.terms()),
            options,
            budget: None,
            counters: InterpolationCounters::default(),
            steps: 0,
            names: Vec::new(),
        }
    }

    /// When to give up, from now on. While there is a budget, queries are limited by what is left
    /// of it; the limit that queries had before is put back after each call.
    pub fn set_budget(&mut self, budget: Option<Budget>) {
        self.budget = budget;
    }

    /// The options, to change them between calls.
    pub fn options_mut(&mut self) -> &mut InterpolationOptions {
        &mut self.options
    }

    /// What was done so far.
    pub fn counters(&self) -> InterpolationCounters {
        self.counters
    }

    /// A formula that follows from all of `a`, contradicts all of `b` together and has only
    /// variables of both.
    ///
    /// # Errors
    /// See [`InterpolationError`].
    pub fn binary(&mut self, a: &[TermId], b: &[TermId]) -> Result<TermId> {
        self.within_limits(|i| {
            i.refuse_quantifiers(a.iter().chain(b))?;
            let (a, b) = (i.terms.and(a), i.terms.and(b));
            let needed = i.minimise(&[a, b], |terms, parts| terms.and(parts))?;
            let interpolant = i.interpolate(needed[0], needed[1])?;
            i.check_binary(a, b, interpolant)?;
            Ok(interpolant)
        })
    }

    /// For formulas `F1 … Fn`, unsatisfiable together, formulas `I1 … In-1` such that `Ik` and
    /// `Fk+1` imply `Ik+1`, with `true` for `I0` and `false` for `In`. The variables of `Ik` are in
    /// `F1 … Fk` and in `Fk+1 … Fn`.
    ///
    /// # Errors
    /// See [`InterpolationError`].
    pub fn sequence(&mut self, formulas: &[TermId]) -> Result<Vec<TermId>> {
        self.within_limits(|i| {
            i.refuse_quantifiers(formulas)?;
            i.sequence_interpolants(formulas)
        })
    }

    /// For a tree with a formula at each node, unsatisfiable together, one formula `I` per node such
    /// that the children's `I` and the node's formula imply the node's `I`. `parents` names each
    /// node's parent; the only one without is the root, whose `I` is `false`. The variables of `I`
    /// are both below (or at) the node and elsewhere.
    ///
    /// # Errors
    /// See [`InterpolationError`].
    pub fn tree(&mut self, formulas: &[TermId], parents: &[Option<usize>]) -> Result<Vec<TermId>> {
        self.within_limits(|i| {
            i.refuse_quantifiers(formulas)?;
            i.tree_interpolants(formulas, parents)
        })
    }

    /// A restricted DAG interpolant (VINTA, definition 4): one formula `I` per node, such that
    /// along each edge `I(u)`, the label of `u` and the edge's formula imply `I(v)`; `I` is `true`
    /// at the entry, and at the exit `false`. The variables of `I(v)` are in formulas or labels
    /// before `v` and in such after it. With all labels `true` that is a DAG interpolant.
    ///
    /// `I` is `false` at nodes that the entry does not reach and `true` at nodes that do not reach
    /// the exit. Labels have to follow along each edge: label of `u` and formula imply the label
    /// of `v` (checked with [`InterpolationOptions::check`]).
    ///
    /// # Errors
    /// See [`InterpolationError`].
    pub fn dag(&mut self, dag: &InterpolationDag) -> Result<Vec<TermId>> {
        self.within_limits(|i| {
            let edges = dag.edges.iter().map(|e| &e.formula);
            i.refuse_quantifiers(dag.labels.iter().chain(edges))?;
            i.dag_interpolants(dag)
        })
    }

    fn within_limits<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = self.smt.query_limit();
        let result = work(self);
        self.smt.set_query_limit(before);
        result
    }

    fn refuse_quantifiers<'t>(&self, formulas: impl IntoIterator<Item = &'t TermId>) -> Result<()> {
        let mut formulas = formulas.into_iter();
        if formulas.any(|&f| self.terms.node(f).has_quantifier) {
            return Err(InterpolationError::Unsupported("a quantifier".to_owned()));
        }
        Ok(())
    }

    /// Notes one more step.
    fn step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps > self.options.max_steps {
            return Err(InterpolationError::Limit("too many steps".to_owned()));
        }
        self.tick()
    }

    /// An error when it is time to end.
    fn tick(&self) -> Result<()> {
        if let Some(budget) = &self.budget {
            if let Some(reason) = budget.stop() {
                return Err(InterpolationError::Limit(reason.to_string()));
            }
            self.smt.set_query_limit(budget.left());
        }
        Ok(())
    }

    /// Whether the solver's formulas and the assumptions are satisfiable.
    fn is_sat(&self, solver: &mut Solver, assumptions: &[TermId]) -> Result<bool> {
        self.tick()?;
        match solver.check(assumptions) {
            SatResult::Sat => Ok(true),
            SatResult::Unsat => Ok(false),
            SatResult::Unknown(reason) => Err(InterpolationError::Limit(reason)),
        }
    }

    /// A model, after a satisfiable query.
    fn model(solver: &Solver) -> Result<SmtModel> {
        let no_model = || InterpolationError::Unsupported("a query without a model".to_owned());
        solver.model().ok_or_else(no_model)
    }
}
