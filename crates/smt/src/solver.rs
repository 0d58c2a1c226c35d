//! Incremental solvers over our terms.
//!
//! Invariant: what Z3 cannot take (out of memory, a sort without values) makes a scope broken, and
//! a broken scope answers `Unknown`: a formula that was lost is never taken for `true`.

use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;
use z3_sys::*;

use super::context::{Context, Interrupter};
use super::decode::Decoder;
use super::encode::Encoder;
use super::model::SmtModel;
use super::watchdog::Watchdog;
use alphorn_term::run::Budget;
use alphorn_term::{Op, SortId, TermId, TermStore};

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
pub struct Smt {
    // Dropped in this order; the context last of what uses it.
    pub(super) encoder: RefCell<Encoder>,
    pub(super) cx: Context,
    terms: Rc<TermStore>,
    arithmetic: Cell<Arithmetic>,
    /// The limits of the scopes that are open.
    query_limits: RefCell<Vec<Duration>>,
    budget: Option<Budget>,
    _watchdog: Option<Watchdog>,
}

/// Which of Z3's arithmetic solvers answers linear queries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Arithmetic {
    /// `arith.solver=6`, Z3's default: best for nonlinear and for single hard queries.
    #[default]
    Current,
    /// `arith.solver=2`, the older simplex: often faster on many small incremental queries.
    Simplex,
}

impl Smt {
    /// A new Z3 context for the terms of a store, without limits.
    pub fn new(terms: Rc<TermStore>) -> Rc<Smt> {
        Smt::with(terms, None)
    }

    /// A new Z3 context for the terms of a run, whose queries end with the budget, and whose work
    /// is counted.
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

    /// The arithmetic solver of the solvers made from now on.
    pub fn set_arithmetic(&self, arithmetic: Arithmetic) {
        self.arithmetic.set(arithmetic);
    }

    /// The store whose terms are encoded.
    pub fn terms(&self) -> &Rc<TermStore> {
        &self.terms
    }

    /// A new incremental solver. Panics only when Z3 cannot even allocate one.
    pub fn solver(self: &Rc<Self>) -> Solver {
        Solver::new(self)
    }

    /// Limits the work of each query of every solver of this context for as long as the returned
    /// scope is open. Of the scopes that are open the least limit counts, so a scope never loosens
    /// an outer one; `None` sets no limit.
    pub fn limit_queries(self: &Rc<Self>, limit: Option<Duration>) -> QueryLimit {
        self.query_limits.borrow_mut().extend(limit);
        QueryLimit {
            smt: Rc::clone(self),
            limit,
        }
    }

    /// The work that each query may take: the least limit of the scopes that are open.
    pub(crate) fn query_limit(&self) -> Option<Duration> {
        self.query_limits.borrow().iter().min().copied()
    }

    /// Number of queries so far and the time spent in them.
    pub fn usage(&self) -> (u64, Duration) {
        self.cx.usage()
    }

    /// A handle by which another thread stops this context's queries.
    pub fn interrupter(&self) -> Interrupter {
        self.cx.interrupter()
    }

    /// Lets queries run again after an [`Interrupter`] was used.
    pub fn clear_interrupt(&self) {
        self.cx.clear_stop();
    }

    pub(super) fn encode(&self, term: TermId) -> Result<Z3_ast, String> {
        self.encoder
            .borrow_mut()
            .encode(&self.cx, &self.terms, term)
    }

    /// Our term for one of Z3's, outside of a model; the caller holds it.
    pub(super) fn decode(&self, ast: Z3_ast) -> Result<TermId, DecodeError> {
        let encoder = self.encoder.borrow();
        Decoder::new(&self.cx, &self.terms, &encoder, None).decode(ast)
    }
}

/// A scope in which the queries of a context are limited, made by [`Smt::limit_queries`]; the limit
/// ends when it is dropped.
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

/// What the last query said, as long as nothing was asserted since.
enum Last {
    Nothing,
    Sat,
    /// With the assumptions used.
    Unsat(Vec<TermId>),
}

/// An incremental solver with assumption literals.
pub struct Solver {
    smt: Rc<Smt>,
    raw: Z3_solver,
    /// Scopes open in Z3.
    depth: usize,
    /// Formulas named by an assumption literal, with the scope that says so.
    named: FxHashMap<TermId, usize>,
    /// The same in the order of naming, so that a scope takes its names with it.
    trail: Vec<(TermId, usize)>,
    /// The outermost scope that lost a formula, with the reason.
    broken: Option<(usize, String)>,
    last: Last,
}

impl Solver {
    fn new(smt: &Rc<Smt>) -> Solver {
        // SAFETY: the context is alive.
        let raw = unsafe { Z3_mk_simple_solver(smt.cx.raw) };
        Solver::made(smt, raw.expect("Z3 allocates a solver"), true)
    }

    /// With the parameters of a solver that is kept, or else of one that decides itself how.
    fn made(smt: &Rc<Smt>, raw: Z3_solver, kept: bool) -> Solver {
        let cx = &smt.cx;
        // SAFETY: the solver is held by a reference until `drop`.
        unsafe { Z3_solver_inc_ref(cx.raw, raw) };
        let set = cx.with_params(
            |params| {
                // SAFETY: the parameters are held by the caller of this closure.
                unsafe {
                    if let Ok(name) = cx.symbol("random_seed") {
                        Z3_params_set_uint(cx.raw, params, name, 0);
                    }
                    if smt.arithmetic.get() == Arithmetic::Simplex
                        && let Ok(name) = cx.symbol("arith.solver")
                    {
                        Z3_params_set_uint(cx.raw, params, name, 2);
                    }
                    // No term is a string or a sequence, and their theory takes its part of each decision.
                    if kept
                        && let Ok(name) = cx.symbol("string_solver")
                        && let Ok(none) = cx.symbol("none")
                    {
                        Z3_params_set_symbol(cx.raw, params, name, none);
                    }
                    // An interrupt is the program's to handle, not each query's.
                    let options: &[&str] = if kept {
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
            log::debug!("parameters of a solver: {message}");
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

    /// The context this solver belongs to.
    pub fn smt(&self) -> &Rc<Smt> {
        &self.smt
    }

    /// Number of open scopes.
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
        // SAFETY: the term is held by the encoder.
        unsafe { Z3_solver_assert(cx.raw, self.raw, ast) };
        if let Some(message) = cx.failed() {
            self.lose(message);
        }
    }

    fn lose(&mut self, message: String) {
        log::debug!("a formula is lost: {message}");
        if self.broken.is_none() {
            self.broken = Some((self.depth, message));
        }
    }

    /// Opens a scope.
    pub fn push(&mut self) {
        self.last = Last::Nothing;
        // SAFETY: both belong together.
        unsafe { Z3_solver_push(self.smt.cx.raw, self.raw) };
        self.depth += 1;
        if let Some(message) = self.smt.cx.failed() {
            self.lose(message);
        }
    }

    /// Closes the newest scope; nothing happens when none is open.
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

    /// Satisfiability under assumptions, which may be any formulas (those that are no literals
    /// over Boolean constants are named by a fresh assumption literal, kept for later queries
    /// until the scope in which they were first assumed closes).
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
        // SAFETY: solver and literals belong to the context and are held.
        let (limit, budget) = (self.smt.query_limit(), self.smt.budget.as_ref());
        let answer = cx.query_within(limit, budget, self.raw, || unsafe {
            Z3_solver_check_assumptions(cx.raw, self.raw, literals.len() as u32, literals.as_ptr())
        });
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
                    // Without a core, all the assumptions are one.
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

    /// Satisfiability of all that is asserted, with the model if there is one: by this solver for a
    /// moment of work, and then by one that is made for the question.
    pub fn check_in_turns(&mut self, moment: Duration) -> (SatResult, Option<SmtModel>) {
        let limit = self.smt.limit_queries(Some(moment));
        let answer = self.check(&[]);
        drop(limit);
        match answer {
            SatResult::Unknown(_) => self.check_as_a_whole(),
            _ => (answer, self.model()),
        }
    }

    /// The same by a solver that starts anew and may change the formulas as a whole: it solves
    /// equations, by which sums of words often become the same. So it may answer at once what a
    /// solver that is kept needs seconds for, and the other way round.
    fn check_as_a_whole(&mut self) -> (SatResult, Option<SmtModel>) {
        if let Some((_, message)) = &self.broken {
            return (SatResult::Unknown(message.clone()), None);
        }
        let smt = Rc::clone(&self.smt);
        // SAFETY: the solver and the vector are held by references while they are used.
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

    /// The literal that stands for an assumption.
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
            // SAFETY: both terms are held; the implication by the solver once asserted.
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

    fn read_core(&self, origins: &[(Z3_ast, TermId)]) -> Option<Vec<TermId>> {
        let cx = &self.smt.cx;
        let mut core = Vec::new();
        // SAFETY: the vector is held while it is read; its terms are the literals assumed, which
        // the encoder holds.
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
            // A literal that is none of ours would make the core wrong.
            (seen.len() == used.len()).then_some(core)
        }
    }

    /// After `Unsat`: the assumptions that were used (not minimal), in the order they were given.
    pub fn core(&self) -> Vec<TermId> {
        match &self.last {
            Last::Unsat(core) => core.clone(),
            _ => Vec::new(),
        }
    }

    /// After `Sat`: the model.
    pub fn model(&self) -> Option<SmtModel> {
        let Last::Sat = self.last else {
            return None;
        };
        let cx = &self.smt.cx;
        // SAFETY: the solver is held; the model takes a reference at once.
        let raw = unsafe { Z3_solver_get_model(cx.raw, self.raw)? };
        Some(SmtModel::new(&self.smt, raw))
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        // SAFETY: the reference taken in `new`; the context is alive through `smt`.
        unsafe { Z3_solver_dec_ref(self.smt.cx.raw, self.raw) };
    }
}
