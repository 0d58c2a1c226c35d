//! Questions about SMT-LIB text that Z3's own parser reads: whether its assertions are valid
//! ([`valid_assertions`], under assumptions [`valid_in_some`]), whether they imply ground steps
//! ([`implied_steps`]), and values of terms ([`value_of_term`]).
//!
//! # Invariant
//! The text goes to Z3 unchanged, in a new context for each question, and nothing here uses
//! alphorn's reader or terms. So a mistake of the reader does not change what is checked.

mod assuming;
mod instances;
mod integers;
mod limits;
mod steps;
mod uninterpreted;
mod validity;
mod value;

use std::ffi::{CStr, CString};
use std::time::Duration;

use z3_sys::{
    Z3_L_FALSE, Z3_L_TRUE, Z3_ast, Z3_ast_vector_dec_ref, Z3_ast_vector_get, Z3_ast_vector_inc_ref,
    Z3_ast_vector_size, Z3_get_version, Z3_parse_smtlib2_string, Z3_solver, Z3_solver_assert,
    Z3_solver_check, Z3_solver_dec_ref, Z3_solver_get_reason_unknown, Z3_solver_inc_ref,
    Z3_solver_pop, Z3_solver_push, Z3_solver_set_params, Z3_string, Z3_update_param_value,
};
use z3_sys::{
    Z3_mk_simple_solver, Z3_mk_solver, Z3_mk_solver_for_logic, Z3_params_set_bool,
    Z3_params_set_uint,
};

pub use assuming::{Reading, valid_in_some};
pub use steps::{ClauseText, Premises, StepText, StepsCheck, implied_steps};
pub use validity::{TextCheck, valid_assertions, valid_texts};
pub use value::value_of_term;

use super::context::Context;
use super::watchdog::Watchdog;
use alphorn_term::run::Budget;

/// The version of the linked libz3, like `5.4.0`.
pub fn z3_version() -> String {
    let (mut major, mut minor, mut build, mut revision) = (0, 0, 0, 0);
    // SAFETY: four valid pointers to integers.
    unsafe { Z3_get_version(&mut major, &mut minor, &mut build, &mut revision) };
    format!("{major}.{minor}.{build}")
}

/// The number of assertions that Z3's parser reads in a text.
///
/// # Errors
/// The message of the parser.
pub fn assertions_of(text: &str, budget: &Budget) -> Result<usize, String> {
    let context = TextContext::new(budget);
    context.parse(text).map(|assertions| assertions.len())
}

/// A Z3 context for one text. Its queries end with a budget, and their work is charged to it.
struct TextContext<'b> {
    // Dropped before the context that it interrupts.
    _watchdog: Watchdog,
    z3: Context,
    budget: &'b Budget,
}

/// Z3's answer to a query.
enum Answer {
    Sat,
    Unsat,
    /// With Z3's reason.
    Unknown(String),
}

/// The kind of a solver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Core {
    /// The incremental solver with Z3's older simplex solver and without relevancy filtering, which
    /// is faster on large linear assertions.
    Simplex,
    /// The incremental solver with Z3's newer solver for arithmetic.
    Current,
    /// The same with quantifiers instantiated by patterns only. It ends soon where Z3 would look
    /// for a model of universal assumptions, which it nearly never finds.
    Patterns,
    /// The solver that Z3 picks for the theories of a query.
    Tactics,
    /// Z3's SAT solver, for bit-vectors and Booleans only. Each query needs a new one, since it has
    /// given wrong answers as an incremental solver.
    BitVectors,
}

impl<'b> TextContext<'b> {
    fn new(budget: &'b Budget) -> Self {
        let z3 = Context::new();
        for (name, value) in [(c"model", c"false"), (c"auto_config", c"true")] {
            // SAFETY: the context is alive, and Z3 copies name and value.
            unsafe { Z3_update_param_value(z3.raw, name.as_ptr(), value.as_ptr()) };
        }
        TextContext {
            _watchdog: Watchdog::new(z3.interrupter(), budget.watch()),
            z3,
            budget,
        }
    }

    /// The assertions of a text, referenced as long as the context lives.
    ///
    /// # Errors
    /// The message of Z3's parser.
    fn parse(&self, text: &str) -> Result<Vec<Z3_ast>, String> {
        let text = CString::new(text).map_err(|_| "a zero byte".to_owned())?;
        let (z3, none) = (&self.z3, std::ptr::null());
        // SAFETY: no sorts and declarations are passed; the vector is referenced until its elements
        // are.
        unsafe {
            let parsed = Z3_parse_smtlib2_string(
                z3.raw,
                text.as_ptr(),
                0,
                none,
                none.cast(),
                0,
                none,
                none.cast(),
            );
            if let Some(error) = z3.failed() {
                return Err(error);
            }
            let vector = z3.ok(parsed)?;
            Z3_ast_vector_inc_ref(z3.raw, vector);
            let assertions = (0..Z3_ast_vector_size(z3.raw, vector))
                .map(|i| Ok(z3.keep(z3.ok(Z3_ast_vector_get(z3.raw, vector, i))?)))
                .collect();
            Z3_ast_vector_dec_ref(z3.raw, vector);
            assertions
        }
    }

    /// A new solver.
    fn solver(&self, core: Core) -> Result<TextSolver<'_>, String> {
        let z3 = &self.z3;
        // SAFETY: the solver is referenced until `drop`.
        let raw = unsafe {
            let raw = z3.ok(match core {
                Core::Tactics => Z3_mk_solver(z3.raw),
                Core::BitVectors => Z3_mk_solver_for_logic(z3.raw, z3.symbol("QF_BV")?),
                Core::Simplex | Core::Current | Core::Patterns => Z3_mk_simple_solver(z3.raw),
            })?;
            Z3_solver_inc_ref(z3.raw, raw);
            raw
        };
        let solver = TextSolver { context: self, raw };
        let (arithmetic, ctrl_c) = (z3.symbol("arith.solver")?, z3.symbol("ctrl_c")?);
        let relevancy = z3.symbol("relevancy")?;
        let (mbqi, auto_config) = (z3.symbol("mbqi")?, z3.symbol("auto_config")?);
        z3.with_params(
            // SAFETY: the parameters are referenced during the call.
            |params| unsafe {
                // The program handles Ctrl-C, not Z3.
                Z3_params_set_bool(z3.raw, params, ctrl_c, false);
                if core == Core::Simplex {
                    Z3_params_set_uint(z3.raw, params, arithmetic, 2);
                    Z3_params_set_uint(z3.raw, params, relevancy, 0);
                }
                if core == Core::Patterns {
                    Z3_params_set_bool(z3.raw, params, mbqi, false);
                    Z3_params_set_bool(z3.raw, params, auto_config, false);
                }
            },
            // SAFETY: both belong to the context.
            |params| unsafe { Z3_solver_set_params(z3.raw, raw, params) },
        )?;
        Ok(solver)
    }
}

/// A solver of a text's context.
struct TextSolver<'a> {
    context: &'a TextContext<'a>,
    raw: Z3_solver,
}

impl TextSolver<'_> {
    /// Asserts a formula in the current scope.
    fn assert(&mut self, formula: Z3_ast) {
        // SAFETY: everything belongs to the one context.
        unsafe { Z3_solver_assert(self.context.z3.raw, self.raw, formula) };
    }

    /// Opens a scope and asserts a formula in it.
    fn push(&mut self, formula: Z3_ast) {
        // SAFETY: the solver belongs to the context.
        unsafe { Z3_solver_push(self.context.z3.raw, self.raw) };
        self.assert(formula);
    }

    /// Closes the innermost scope.
    fn pop(&mut self) {
        // SAFETY: the solver belongs to the context, and each `pop` has its `push`.
        unsafe { Z3_solver_pop(self.context.z3.raw, self.raw, 1) };
    }

    /// Satisfiability of the assertions, with at most `limit` of work, in nominal time.
    fn check(&mut self, limit: Option<Duration>) -> Answer {
        let (z3, budget) = (&self.context.z3, self.context.budget);
        // SAFETY: the solver belongs to the context.
        let check = || unsafe { Z3_solver_check(z3.raw, self.raw) };
        let answer = z3.query_within(limit, Some(budget), self.raw, check);
        match (z3.failed(), answer) {
            (Some(error), _) => Answer::Unknown(error),
            (None, None) => Answer::Unknown("timeout".to_owned()),
            (None, Some(Z3_L_FALSE)) => Answer::Unsat,
            (None, Some(Z3_L_TRUE)) => Answer::Sat,
            (None, Some(_)) => {
                // SAFETY: the solver belongs to the context.
                let reason = unsafe { Z3_solver_get_reason_unknown(z3.raw, self.raw) };
                Answer::Unknown(string(reason))
            }
        }
    }
}

impl Drop for TextSolver<'_> {
    fn drop(&mut self) {
        // SAFETY: releases the reference taken when it was made.
        unsafe { Z3_solver_dec_ref(self.context.z3.raw, self.raw) };
    }
}

/// A copy of a string that Z3 owns.
fn string(text: Z3_string) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: Z3 returns strings that end with a zero byte.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_linked_version() {
        assert_eq!(z3_version().split('.').count(), 3);
    }
}
