//! Incremental solvers over alphorn's terms.
//!
//! # Invariant
//! A formula that cannot be asserted (Z3 is out of memory, a sort has no values) makes its scope
//! broken, and queries in a broken scope answer `Unknown`: no query is answered without a formula
//! that was asserted.

use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;
use z3_sys::*;

use super::context::Context;
use super::decode::Decoder;
use super::encode::Encoder;
use super::model::SmtModel;
use super::watchdog::Watchdog;
use alphorn_term::run::Budget;
use alphorn_term::{Op, SortId, TermId, TermStore};

/// A term or sort of Z3 that alphorn does not have, with a description.
#[derive(Debug, Error, Clone)]
#[error("cannot decode {0}")]
pub struct DecodeError(pub String);

/// The answer to a satisfiability query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SatResult {
    /// There is a model.
    Sat,
    /// There is no model.
    Unsat,
    /// No answer, with the reason.
    Unknown(String),
}

/// A Z3 context with the terms that are encoded in it, shared by its solvers.
pub struct Smt {
    pub(super) encoder: RefCell<Encoder>,
    pub(super) cx: Context,
    terms: Rc<TermStore>,
    arithmetic: Cell<Arithmetic>,
    /// The limits of the open scopes ([`Smt::limit_queries`]), in nominal time.
    query_limits: RefCell<Vec<Duration>>,
    budget: Option<Budget>,
    _watchdog: Option<Watchdog>,
}

/// Z3's solver for arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Arithmetic {
    /// `arith.solver=6`, Z3's default: better on nonlinear queries and single hard ones.
    #[default]
    Current,
    /// `arith.solver=2`, the older simplex solver: often faster on many small incremental queries.
    Simplex,
}

impl Smt {
    /// A new Z3 context for the terms of a store, without budget.
    pub fn new(terms: Rc<TermStore>) -> Rc<Smt> {
        Smt::with(terms, None)
    }

    /// A new Z3 context for the terms of a run. Its queries end with the budget, and their work is
    /// charged to it.
    pub fn within(budget: &Budget) -> Rc<Smt> {
        Smt::with(budget.terms().clone(), Some(budget.clone()))
    }

    fn with(terms: Rc<TermStore>, budget: Option<Budget>) -> Rc<Smt> {
        let cx = Context::new();
        let watch = |budget: &Budget| Watchdog::new(cx.interrupter(), budget.watch());
        let watchdog = budget.as_ref().map(watch);
        Rc::new(Smt {
            encoder: RefCell::new(Encoder::default()),
            cx,
            terms,
            arithmetic: Cell::default(),
            query_limits: RefCell::default(),
            budget,
            _watchdog: watchdog,
        })
    }

    /// Sets the arithmetic solver of the solvers made from now on.
    pub fn set_arithmetic(&self, arithmetic: Arithmetic) {
        self.arithmetic.set(arithmetic);
    }

    /// The store of the terms.
    pub fn terms(&self) -> &Rc<TermStore> {
        &self.terms
    }

    /// A new incremental solver.
    ///
    /// # Panics
    /// Z3 cannot allocate it.
    pub fn solver(self: &Rc<Self>) -> Solver {
        Solver::new(self)
    }

    /// Limits the work of each query of all solvers of this context, in nominal time, until the
    /// returned scope is dropped. The least limit of the open scopes counts, so a scope never
    /// loosens an outer one; `None` sets no limit.
    pub fn limit_queries(self: &Rc<Self>, limit: Option<Duration>) -> QueryLimit {
        self.query_limits.borrow_mut().extend(limit);
        QueryLimit {
            smt: Rc::clone(self),
            limit,
        }
    }

    /// The work that each query may take, in nominal time: the least limit of the open scopes.
    pub(crate) fn query_limit(&self) -> Option<Duration> {
        self.query_limits.borrow().iter().min().copied()
    }

    /// The number of queries so far and the time spent in them.
    pub fn usage(&self) -> (u64, Duration) {
        self.cx.usage()
    }

    /// A handle by which another thread stops the queries of this context.
    #[cfg(test)]
    pub(crate) fn interrupter(&self) -> super::context::Interrupter {
        self.cx.interrupter()
    }

    /// Lets queries run again after an interrupt.
    #[cfg(test)]
    pub(crate) fn clear_interrupt(&self) {
        self.cx.clear_stop();
    }

    pub(super) fn encode(&self, term: TermId) -> Result<Z3_ast, String> {
        self.encoder
            .borrow_mut()
            .encode(&self.cx, &self.terms, term)
    }

    /// The term for one of Z3's outside of a model; the caller has a reference to it.
    pub(super) fn decode(&self, ast: Z3_ast) -> Result<TermId, DecodeError> {
        let encoder = self.encoder.borrow();
        Decoder::new(&self.cx, &self.terms, &encoder, None).decode(ast)
    }
}

/// A scope in which the work of a context's queries is limited, made by [`Smt::limit_queries`]. The
/// limit ends when it is dropped.
#[must_use = "the limit ends when this is dropped"]
pub struct QueryLimit {
    smt: Rc<Smt>,
    limit: Option<Duration>,
}

impl Drop for QueryLimit {
    fn drop(&mut self) {
        let Some(limit) = self.limit else { return };
        let mut limits = self.smt.query_limits.borrow_mut();
        // Scopes may end in any order; equal limits are interchangeable.
        if let Some(at) = limits.iter().rposition(|&l| l == limit) {
            limits.remove(at);
        }
    }
}

/// The answer of the last query, if the assertions have not changed since.
enum Last {
    Nothing,
    Sat,
    /// With a core of its assumptions.
    Unsat(Vec<TermId>),
}

/// An incremental solver with assumptions.
pub struct Solver {
    smt: Rc<Smt>,
    raw: Z3_solver,
    /// The number of open scopes.
    depth: usize,
    /// Assumptions with a literal that implies them, and the scope in which this is asserted.
    named: FxHashMap<TermId, usize>,
    /// The same in the order of the assertions, to forget them when their scope closes.
    trail: Vec<(TermId, usize)>,
    /// The outermost scope in which a formula could not be asserted, with the reason.
    broken: Option<(usize, String)>,
    last: Last,
}

impl Solver {
    fn new(smt: &Rc<Smt>) -> Solver {
        // SAFETY: the context is alive.
        let raw = unsafe { Z3_mk_simple_solver(smt.cx.raw) };
        Solver::made(smt, raw.expect("Z3 allocates a solver"), true)
    }

    /// The solver `raw` with its parameters: incremental, or one that picks its tactics itself.
    fn made(smt: &Rc<Smt>, raw: Z3_solver, incremental: bool) -> Solver {
        let cx = &smt.cx;
        // SAFETY: the solver is referenced until `drop`.
        unsafe { Z3_solver_inc_ref(cx.raw, raw) };
        let set = cx.with_params(
            |params| {
                // SAFETY: the parameters are referenced during the call.
                unsafe {
                    if let Ok(name) = cx.symbol("random_seed") {
                        Z3_params_set_uint(cx.raw, params, name, 0);
                    }
                    if smt.arithmetic.get() == Arithmetic::Simplex
                        && let Ok(name) = cx.symbol("arith.solver")
                    {
                        Z3_params_set_uint(cx.raw, params, name, 2);
                    }
                    // There are no strings and sequences, and their theory slows down each
                    // decision.
                    if incremental
                        && let Ok(name) = cx.symbol("string_solver")
                        && let Ok(none) = cx.symbol("none")
                    {
                        Z3_params_set_symbol(cx.raw, params, name, none);
                    }
                    // The program handles Ctrl-C, not Z3.
                    let options: &[&str] = if incremental {
                        &["auto_config", "ctrl_c"]
                    } else {
                        &["ctrl_c"]
                    };
                    for option in options {
                        if let Ok(name) = cx.symbol(option) {
                            Z3_params_set_bool(cx.raw, params, name, false);
                        }
                    }
                }
            },
            // SAFETY: both belong to the context.
            |params| unsafe { Z3_solver_set_params(cx.raw, raw, params) },
        );
        if let Err(message) = set {
            log::debug!("Z3 refuses the parameters of a solver: {message}");
        }
        Solver {
            smt: Rc::clone(smt),
            raw,
            depth: 0,
            named: FxHashMap::default(),
            trail: Vec::new(),
            broken: None,
            last: Last::Nothing,
        }
    }

    /// The context that the solver belongs to.
    pub fn smt(&self) -> &Rc<Smt> {
        &self.smt
    }

    /// The number of open scopes.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Adds a formula to the current scope.
    pub fn assert(&mut self, formula: TermId) {
        self.last = Last::Nothing;
        if formula == TermId::TRUE {
            return;
        }
        match self.smt.encode(formula) {
            Ok(ast) => self.assert_ast(ast),
            Err(message) => self.lose(message),
        }
    }

    fn assert_ast(&mut self, ast: Z3_ast) {
        let cx = &self.smt.cx;
        // SAFETY: the context keeps a reference to the term.
        unsafe { Z3_solver_assert(cx.raw, self.raw, ast) };
        if let Some(message) = cx.failed() {
            self.lose(message);
        }
    }

    fn lose(&mut self, message: String) {
        log::debug!("a formula cannot be asserted: {message}");
        if self.broken.is_none() {
            self.broken = Some((self.depth, message));
        }
    }

    /// Opens a scope.
    pub fn push(&mut self) {
        self.last = Last::Nothing;
        // SAFETY: the solver belongs to the context.
        unsafe { Z3_solver_push(self.smt.cx.raw, self.raw) };
        self.depth += 1;
        if let Some(message) = self.smt.cx.failed() {
            self.lose(message);
        }
    }

    /// Closes the innermost scope, if one is open.
    pub fn pop(&mut self) {
        self.last = Last::Nothing;
        if self.depth == 0 {
            return;
        }
        // SAFETY: a scope is open.
        unsafe { Z3_solver_pop(self.smt.cx.raw, self.raw, 1) };
        while let Some(&(formula, depth)) = self.trail.last()
            && depth == self.depth
        {
            self.trail.pop();
            self.named.remove(&formula);
        }
        if self.broken.as_ref().is_some_and(|b| b.0 == self.depth) {
            self.broken = None;
        }
        self.depth -= 1;
        if let Some(message) = self.smt.cx.failed() {
            self.broken = Some((0, message));
        }
    }

    /// Satisfiability of the assertions under assumptions, which may be any formulas. For a formula
    /// that is no literal over a Boolean variable, Z3 gets a new literal that implies it; this
    /// implication stays asserted until the scope of its first query closes.
    pub fn check(&mut self, assumptions: &[TermId]) -> SatResult {
        self.last = Last::Nothing;
        let mut literals: Vec<Z3_ast> = Vec::with_capacity(assumptions.len());
        let mut origins: Vec<(Z3_ast, TermId)> = Vec::with_capacity(assumptions.len());
        for &assumption in assumptions {
            match assumption {
                TermId::TRUE => continue,
                TermId::FALSE => {
                    self.last = Last::Unsat(vec![TermId::FALSE]);
                    return SatResult::Unsat;
                }
                _ => {}
            }
            match self.literal(assumption) {
                Ok(literal) => {
                    literals.push(literal);
                    origins.push((literal, assumption));
                }
                Err(message) => return SatResult::Unknown(message),
            }
        }
        if let Some((_, message)) = &self.broken {
            return SatResult::Unknown(message.clone());
        }
        let cx = &self.smt.cx;
        let (limit, budget) = (self.smt.query_limit(), self.smt.budget.as_ref());
        // SAFETY: the literals belong to the context, which keeps references to them.
        let check = || unsafe {
            Z3_solver_check_assumptions(cx.raw, self.raw, literals.len() as u32, literals.as_ptr())
        };
        let answer = cx.query_within(limit, budget, self.raw, check);
        match answer {
            None => SatResult::Unknown("no time left".to_owned()),
            Some(_) if cx.failed().is_some() => SatResult::Unknown(cx.error()),
            Some(Z3_L_TRUE) => {
                self.last = Last::Sat;
                SatResult::Sat
            }
            Some(Z3_L_FALSE) => {
                let core = match self.read_core(&origins) {
                    Some(core) => core,
                    // If Z3's core cannot be used, all assumptions are a core.
                    None => origins.iter().map(|o| o.1).collect(),
                };
                self.last = Last::Unsat(core);
                SatResult::Unsat
            }
            // SAFETY: the text is copied at once.
            Some(_) => SatResult::Unknown(unsafe {
                let reason = Z3_solver_get_reason_unknown(cx.raw, self.raw);
                if reason.is_null() {
                    String::new()
                } else {
                    CStr::from_ptr(reason).to_string_lossy().into_owned()
                }
            }),
        }
    }

    /// Satisfiability of the assertions, with a model if there is one: by this solver with at most
    /// `work`, in nominal time, and if it has no answer, by a new solver with Z3's tactics for the
    /// theories of the assertions.
    pub fn check_in_turns(&mut self, work: Duration) -> (SatResult, Option<SmtModel>) {
        let limit = self.smt.limit_queries(Some(work));
        let answer = self.check(&[]);
        drop(limit);
        match answer {
            SatResult::Unknown(_) => self.check_by_tactics(),
            _ => (answer, self.model()),
        }
    }

    /// The same by a new solver that may preprocess all assertions together. It solves equations,
    /// after which sums of bit-vectors are often equal terms, so it is fast on some queries that
    /// are hard for the incremental solver, and slow on others.
    fn check_by_tactics(&mut self) -> (SatResult, Option<SmtModel>) {
        if let Some((_, message)) = &self.broken {
            return (SatResult::Unknown(message.clone()), None);
        }
        let smt = Rc::clone(&self.smt);
        // SAFETY: the solver and the vector are referenced while they are used.
        unsafe {
            let Some(raw) = Z3_mk_solver(smt.cx.raw) else {
                return (SatResult::Unknown(smt.cx.error()), None);
            };
            let mut other = Solver::made(&smt, raw, false);
            match Z3_solver_get_assertions(smt.cx.raw, self.raw) {
                Some(all) => {
                    Z3_ast_vector_inc_ref(smt.cx.raw, all);
                    for i in 0..Z3_ast_vector_size(smt.cx.raw, all) {
                        match Z3_ast_vector_get(smt.cx.raw, all, i) {
                            Some(formula) => other.assert_ast(formula),
                            None => other.lose(smt.cx.error()),
                        }
                    }
                    Z3_ast_vector_dec_ref(smt.cx.raw, all);
                }
                None => other.lose(smt.cx.error()),
            }
            let answer = other.check(&[]);
            let model = other.model();
            (answer, model)
        }
    }

    /// The literal that Z3 gets for an assumption.
    fn literal(&mut self, assumption: TermId) -> Result<Z3_ast, String> {
        let terms = &self.smt.terms;
        let atom = match terms.op(assumption) {
            Op::Not => terms.args(assumption)[0],
            _ => assumption,
        };
        debug_assert_eq!(terms.sort_of(atom), SortId::BOOL);
        if terms.is_var(atom) {
            return self.smt.encode(assumption);
        }
        let smt = Rc::clone(&self.smt);
        let proxy = smt.encoder.borrow_mut().proxy(&smt.cx, assumption)?;
        if !self.named.contains_key(&assumption) {
            let formula = smt.encode(assumption)?;
            // SAFETY: the context keeps references to both terms, and the solver to the
            // implication.
            let implication = smt
                .cx
                .ok(unsafe { Z3_mk_implies(smt.cx.raw, proxy, formula) })?;
            self.assert_ast(implication);
            if self.broken.is_none() {
                self.named.insert(assumption, self.depth);
                self.trail.push((assumption, self.depth));
            }
        }
        Ok(proxy)
    }

    /// The assumptions of Z3's core; `None` if it has other literals.
    fn read_core(&self, origins: &[(Z3_ast, TermId)]) -> Option<Vec<TermId>> {
        let cx = &self.smt.cx;
        let mut core = Vec::new();
        // SAFETY: the vector is referenced while it is read; its terms are the assumed literals, to
        // which the context keeps references.
        unsafe {
            let vector = Z3_solver_get_unsat_core(cx.raw, self.raw)?;
            Z3_ast_vector_inc_ref(cx.raw, vector);
            let used: FxHashSet<Z3_ast> = (0..Z3_ast_vector_size(cx.raw, vector))
                .filter_map(|i| Z3_ast_vector_get(cx.raw, vector, i))
                .collect();
            Z3_ast_vector_dec_ref(cx.raw, vector);
            let mut seen = FxHashSet::default();
            for &(literal, assumption) in origins {
                if used.contains(&literal) && seen.insert(literal) {
                    core.push(assumption);
                }
            }
            // With a literal that was not assumed, the core would be too small.
            (seen.len() == used.len()).then_some(core)
        }
    }

    /// After `Unsat`: assumptions that are unsatisfiable together with the assertions, in the order
    /// in which they were given; not minimal. Otherwise none.
    pub fn core(&self) -> Vec<TermId> {
        match &self.last {
            Last::Unsat(core) => core.clone(),
            _ => Vec::new(),
        }
    }

    /// After `Sat`: a model.
    pub fn model(&self) -> Option<SmtModel> {
        let Last::Sat = self.last else {
            return None;
        };
        let cx = &self.smt.cx;
        // SAFETY: the solver is referenced; the model takes a reference at once.
        let raw = unsafe { Z3_solver_get_model(cx.raw, self.raw)? };
        Some(SmtModel::new(&self.smt, raw))
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        // SAFETY: releases the reference taken in `made`; `smt` keeps the context alive.
        unsafe { Z3_solver_dec_ref(self.smt.cx.raw, self.raw) };
    }
}
