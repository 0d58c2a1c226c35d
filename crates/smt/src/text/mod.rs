//! Questions about SMT-LIB text, read by Z3's own parser: whether assertions are valid
//! ([`valid_assertions`], under assumptions [`valid_in_some`]), and whether they imply ground steps
//! ([`implied_steps`]).
//!
//! Invariant: nothing here knows our terms. The text goes to Z3 as it is, in a context of its own
//! that is thrown away afterwards, so that a mistake of our reader cannot hide itself.

mod assuming;
mod instances;
mod integers;
mod steps;
mod uninterpreted;
mod validity;

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
pub use steps::{ClauseText, StepText, StepsCheck, implied_steps};
pub use validity::{TextCheck, valid_assertions};

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

/// A Z3 context for one text, whose queries end with a budget and are counted as its work.
struct TextContext<'b> {
    // Dropped before the context that it stops.
    _watchdog: Watchdog,
    z3: Context,
    budget: &'b Budget,
}

/// What Z3 answers to a query.
enum Answer {
    Sat,
    Unsat,
    /// With Z3's reason.
    Unknown(String),
}

/// A solver's kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Core {
    /// The incremental core with Z3's older simplex, in which every atom counts as relevant: what
    /// has to be contradictory is so as a whole, and checks of large linear assertions take about
    /// three quarters of the time.
    Simplex,
    /// The incremental core with Z3's newer arithmetic.
    Current,
    /// The same, with quantifiers instantiated by their patterns alone: it gives up soon where no
    /// model of a universal assumption can be found, which is nearly always.
    Patterns,
    /// What Z3 picks for the theories of a query.
    Tactics,
    /// A SAT solver, for words and truth values only. A new one is made for each question: as an
    /// incremental solver it has had wrong answers.
    Words,
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

    /// The assertions of a text, kept as long as the context; or the parser's message.
    fn parse(&self, text: &str) -> Result<Vec<Z3_ast>, String> {
        let text = CString::new(text).map_err(|_| "a zero byte".to_owned())?;
        let (z3, none) = (&self.z3, std::ptr::null());
        // SAFETY: no sorts and declarations are passed; the vector is held until its elements are.
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
        // SAFETY: the solver is held by a reference until `drop`.
        let raw = unsafe {
            let raw = z3.ok(match core {
                Core::Tactics => Z3_mk_solver(z3.raw),
                Core::Words => Z3_mk_solver_for_logic(z3.raw, z3.symbol("QF_BV")?),
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
            // SAFETY: the parameters are held during the call.
            |params| unsafe {
                // An interrupt is the program's to handle.
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
    /// Asserts the formula for good, or until the scope ends.
    fn assert(&mut self, formula: Z3_ast) {
        // SAFETY: everything belongs to the one context.
        unsafe { Z3_solver_assert(self.context.z3.raw, self.raw, formula) };
    }

    /// Opens a scope and asserts the formula in it.
    fn push(&mut self, formula: Z3_ast) {
        // SAFETY: the solver belongs to the context.
        unsafe { Z3_solver_push(self.context.z3.raw, self.raw) };
        self.assert(formula);
    }

    /// Ends the innermost scope.
    fn pop(&mut self) {
        // SAFETY: the solver belongs to the context, and scopes are ended where they were opened.
        unsafe { Z3_solver_pop(self.context.z3.raw, self.raw, 1) };
    }

    /// Whether what is asserted has a model, within so much work, given in nominal time.
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
        // SAFETY: the reference taken when it was made.
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
