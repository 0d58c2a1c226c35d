//! A Z3 context: errors, references to terms, interrupts, and the limits and work of its queries.
//!
//! # Invariant
//! A context is used by one thread. Other threads only call `Z3_interrupt`, through an
//! [`Interrupter`], which does nothing once the context is deleted.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_uint};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use alphorn_term::run::Budget;
use z3_sys::{
    ErrorCode, Z3_L_UNDEF, Z3_ast, Z3_context, Z3_dec_ref, Z3_del_config, Z3_del_context,
    Z3_func_decl, Z3_get_error_code, Z3_get_error_msg, Z3_global_param_set, Z3_inc_ref,
    Z3_interrupt, Z3_lbool, Z3_mk_config, Z3_mk_context_rc, Z3_mk_params, Z3_mk_string_symbol,
    Z3_params, Z3_params_dec_ref, Z3_params_inc_ref, Z3_set_error_handler, Z3_set_param_value,
    Z3_solver, Z3_solver_get_statistics, Z3_stats_dec_ref, Z3_stats_get_key,
    Z3_stats_get_uint_value, Z3_stats_inc_ref, Z3_stats_size, Z3_symbol, Z3_update_param_value,
};

use super::limits::LIMITS;

/// Nominal time of one unit of Z3's resource count: the median over queries of the corpus.
const UNIT: Duration = Duration::from_nanos(400);

/// The part of a context that other threads use.
struct Shared {
    /// Null once the context is deleted.
    raw: Mutex<*mut z3_sys_context>,
    stopped: AtomicBool,
    running: AtomicBool,
}

#[allow(non_camel_case_types)]
type z3_sys_context = z3_sys::_Z3_context;

// SAFETY: other threads use the pointer for `Z3_interrupt` only, which Z3 allows from any thread,
// and only under the lock that deletion takes, too.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// Stops the queries of one [`Smt`](super::Smt), from any thread.
#[derive(Clone)]
pub struct Interrupter {
    shared: Arc<Shared>,
}

impl Interrupter {
    /// Makes the running query end with `Unknown`, and every later one, which does not start, until
    /// [`Context::clear_stop`]. Returns when no query is running, at the latest after `wait`.
    pub fn interrupt(&self, wait: Duration) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        let start = Instant::now();
        // `running` is set before Z3 accepts an interrupt, so a single call may come too early.
        while self.shared.running.load(Ordering::SeqCst) {
            {
                let raw = self
                    .shared
                    .raw
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                if let Some(raw) = Z3_context::new(*raw) {
                    // SAFETY: the context cannot be deleted while we have the lock.
                    unsafe { Z3_interrupt(raw) };
                }
            }
            if start.elapsed() >= wait {
                return;
            }
            std::thread::sleep(LIMITS.interrupt_pause);
        }
    }
}

/// A Z3 context with reference counts, whose errors are recorded and never end the process.
pub struct Context {
    /// The context for calls of Z3's interface; alive as long as `self`.
    pub raw: Z3_context,
    shared: Arc<Shared>,
    /// References that end with the context. Without releasing them first, Z3 deletes a context in
    /// quadratic time.
    kept: RefCell<Vec<Z3_ast>>,
    queries: Cell<u64>,
    time: Cell<Duration>,
    /// The limit of each query in Z3's units of work; zero for none.
    work_limit: Cell<u32>,
    /// Z3's units of work when they were last read.
    work: Cell<u32>,
    /// The number of queries at which they are read again.
    next_reading: Cell<u64>,
}

impl Context {
    /// A new context.
    ///
    /// # Panics
    /// Z3 cannot allocate it.
    pub fn new() -> Context {
        // SAFETY: the configuration is used and deleted here. Z3's own error handler would end the
        // process; without a handler errors are recorded in the context.
        let raw = unsafe {
            let config = Z3_mk_config().expect("Z3 allocates a configuration");
            Z3_set_param_value(config, c"proof".as_ptr(), c"false".as_ptr());
            Z3_set_param_value(config, c"auto_config".as_ptr(), c"false".as_ptr());
            // Models are read value by value, and compressing them takes longer than it saves.
            Z3_global_param_set(c"model.compact".as_ptr(), c"false".as_ptr());
            let raw = Z3_mk_context_rc(config).expect("Z3 allocates a context");
            Z3_del_config(config);
            Z3_set_error_handler(raw, None);
            raw
        };
        Context {
            raw,
            shared: Arc::new(Shared {
                raw: Mutex::new(raw.as_ptr()),
                stopped: AtomicBool::new(false),
                running: AtomicBool::new(false),
            }),
            kept: RefCell::default(),
            queries: Cell::new(0),
            time: Cell::new(Duration::ZERO),
            work_limit: Cell::new(0),
            work: Cell::new(0),
            next_reading: Cell::new(0),
        }
    }

    /// A handle by which other threads interrupt queries.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter {
            shared: Arc::clone(&self.shared),
        }
    }

    /// Whether an [`Interrupter`] was used since the last [`Context::clear_stop`].
    pub fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::SeqCst)
    }

    /// Lets queries run again after an interrupt.
    pub fn clear_stop(&self) {
        self.shared.stopped.store(false, Ordering::SeqCst);
    }

    /// Runs one query, and adds it to [`Context::usage`]; `None` after an interrupt.
    pub fn query<T>(&self, query: impl FnOnce() -> T) -> Option<T> {
        self.shared.running.store(true, Ordering::SeqCst);
        let start = Instant::now();
        let result = (!self.is_stopped()).then(query);
        self.shared.running.store(false, Ordering::SeqCst);
        self.queries.set(self.queries.get() + 1);
        self.time.set(self.time.get() + start.elapsed());
        result
    }

    /// The number of queries and the time spent in them.
    pub fn usage(&self) -> (u64, Duration) {
        (self.queries.get(), self.time.get())
    }

    /// The message of the last error.
    pub fn error(&self) -> String {
        // SAFETY: the context is alive, and the message is copied at once.
        unsafe {
            let code = Z3_get_error_code(self.raw);
            let message = Z3_get_error_msg(self.raw, code);
            if message.is_null() {
                return "an error of Z3 without a message".to_owned();
            }
            CStr::from_ptr(message).to_string_lossy().trim().to_owned()
        }
    }

    /// The error of the last call, if it failed.
    pub fn failed(&self) -> Option<String> {
        // SAFETY: the context is alive.
        let code = unsafe { Z3_get_error_code(self.raw) };
        (code != ErrorCode::Ok).then(|| self.error())
    }

    /// The result of a call, or the message of the error if it is null.
    pub fn ok<T>(&self, result: Option<T>) -> Result<T, String> {
        result.ok_or_else(|| self.error())
    }

    /// The symbol of a name, without the zero bytes in it.
    pub fn symbol(&self, name: &str) -> Result<Z3_symbol, String> {
        let name = c_string(name);
        // SAFETY: Z3 copies the name.
        self.ok(unsafe { Z3_mk_string_symbol(self.raw, name.as_ptr()) })
    }

    /// Keeps a reference to a term, which was just made, until the context is deleted; returns it.
    pub fn keep(&self, ast: Z3_ast) -> Z3_ast {
        // SAFETY: the term was just made in this context.
        unsafe { Z3_inc_ref(self.raw, ast) };
        self.kept.borrow_mut().push(ast);
        ast
    }

    /// Runs one query of a solver within `limit`, in nominal time, and within the budget, to which
    /// its work is charged; `None` after an interrupt, or if the budget is spent.
    pub fn query_within(
        &self,
        limit: Option<Duration>,
        budget: Option<&Budget>,
        solver: Z3_solver,
        query: impl FnOnce() -> Z3_lbool,
    ) -> Option<Z3_lbool> {
        let Some(budget) = budget else {
            self.set_work_limit(limit);
            return self.query(query);
        };
        // Z3 does not count all of its work, so the time is limited, too.
        let part = limit.map(|limit| budget.about(limit));
        let _enforced = part.as_ref().map(Budget::enforce);
        if budget.is_spent() {
            return None;
        }
        // A pending interrupt was for a part of the run that has ended.
        self.clear_stop();
        self.set_work_limit(budget.work_left());
        let answer = self.query(query);
        // The work is read now, since the caller needs to know whether the limit is reached.
        if answer == Some(Z3_L_UNDEF) {
            self.next_reading.set(0);
        }
        budget.terms().charge(self.new_work(solver));
        answer
    }

    /// Limits the work of every later query in this context, in nominal time; `None` for no limit.
    fn set_work_limit(&self, limit: Option<Duration>) {
        // Z3 takes zero for no limit.
        let units = limit.map_or(0, |limit| {
            let units = limit.as_nanos().div_ceil(UNIT.as_nanos());
            u32::try_from(units).unwrap_or(u32::MAX).max(1)
        });
        if self.work_limit.replace(units) == units {
            return;
        }
        let value = c_string(&units.to_string());
        // SAFETY: Z3 copies the value.
        unsafe { Z3_update_param_value(self.raw, c"rlimit".as_ptr(), value.as_ptr()) };
    }

    /// The work of all queries since it was last read, in nominal time; zero where it is not read,
    /// which happens once in `queries_per_reading` queries.
    fn new_work(&self, solver: Z3_solver) -> Duration {
        let queries = self.queries.get();
        if queries < self.next_reading.get() {
            return Duration::ZERO;
        }
        self.next_reading.set(queries + LIMITS.queries_per_reading);
        // SAFETY: the statistics are referenced while they are read.
        let count = unsafe {
            let Some(stats) = Z3_solver_get_statistics(self.raw, solver) else {
                return Duration::ZERO;
            };
            Z3_stats_inc_ref(self.raw, stats);
            let size = Z3_stats_size(self.raw, stats);
            // The count is among the last entries.
            let found = (0..size).rev().find(|&index| {
                let key = Z3_stats_get_key(self.raw, stats, index);
                !key.is_null() && CStr::from_ptr(key) == c"rlimit count"
            });
            let count = found.map(|index| Z3_stats_get_uint_value(self.raw, stats, index));
            Z3_stats_dec_ref(self.raw, stats);
            count
        };
        let Some(count) = count else {
            return Duration::ZERO;
        };
        // Z3 counts modulo 2³².
        UNIT * count.wrapping_sub(self.work.replace(count))
    }

    /// Makes parameters, sets them by `fill`, passes them to `with`, and releases them.
    pub fn with_params<T>(
        &self,
        fill: impl FnOnce(Z3_params),
        with: impl FnOnce(Z3_params) -> T,
    ) -> Result<T, String> {
        // SAFETY: the parameters are referenced during both calls.
        unsafe {
            let params = self.ok(Z3_mk_params(self.raw))?;
            Z3_params_inc_ref(self.raw, params);
            fill(params);
            let result = with(params);
            Z3_params_dec_ref(self.raw, params);
            Ok(result)
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let mut raw = self
            .shared
            .raw
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *raw = std::ptr::null_mut();
        // SAFETY: every solver, model and fixedpoint object owns or borrows the context, so none is
        // left.
        unsafe {
            for &ast in self.kept.get_mut().iter().rev() {
                Z3_dec_ref(self.raw, ast);
            }
            Z3_del_context(self.raw);
        }
    }
}

/// A reference to a term, released when this is dropped.
pub struct AstRef<'a> {
    context: &'a Context,
    /// The term.
    pub ast: Z3_ast,
}

impl<'a> AstRef<'a> {
    /// Takes a reference to a term that Z3 just returned.
    pub fn new(context: &'a Context, ast: Z3_ast) -> Self {
        // SAFETY: the term is still alive: Z3 keeps its last result.
        unsafe { Z3_inc_ref(context.raw, ast) };
        AstRef { context, ast }
    }
}

impl Drop for AstRef<'_> {
    fn drop(&mut self) {
        // SAFETY: the reference taken in `new`.
        unsafe { Z3_dec_ref(self.context.raw, self.ast) };
    }
}

unsafe extern "C" {
    // These return numbers: a kind that the bindings do not list, as a value of a Rust enumeration,
    // would be undefined behaviour.
    #[link_name = "Z3_get_decl_kind"]
    pub(super) fn decl_kind_raw(c: Z3_context, d: Z3_func_decl) -> c_uint;
    #[link_name = "Z3_get_ast_kind"]
    fn ast_kind_raw(c: Z3_context, a: Z3_ast) -> c_uint;
    #[link_name = "Z3_get_sort_kind"]
    fn sort_kind_raw(c: Z3_context, s: z3_sys::Z3_sort) -> c_uint;
}

impl Context {
    /// `Z3_decl_kind` as a number.
    pub fn decl_kind(&self, decl: Z3_func_decl) -> u32 {
        // SAFETY: the declaration belongs to this context.
        unsafe { decl_kind_raw(self.raw, decl) }
    }

    /// `Z3_ast_kind` as a number.
    pub fn ast_kind(&self, ast: Z3_ast) -> u32 {
        // SAFETY: the term belongs to this context.
        unsafe { ast_kind_raw(self.raw, ast) }
    }

    /// `Z3_sort_kind` as a number.
    pub fn sort_kind(&self, sort: z3_sys::Z3_sort) -> u32 {
        // SAFETY: the sort belongs to this context.
        unsafe { sort_kind_raw(self.raw, sort) }
    }
}

/// The text as a C string, without its zero bytes.
pub fn c_string(text: &str) -> CString {
    let bytes: Vec<u8> = text.bytes().filter(|&b| b != 0).collect();
    CString::new(bytes).unwrap_or_default()
}
