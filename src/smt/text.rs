//! Validity of assertions given as SMT-LIB text, read by Z3's own parser.
//!
//! Invariant: nothing here knows our terms. The text goes to Z3 as it is, in a context of its own
//! that is thrown away afterwards, so this check shares no code and no state with any other query.

use std::collections::VecDeque;
use std::ffi::{CStr, CString};
use std::time::{Duration, Instant};

use z3_sys::{
    DeclKind, ErrorCode, Z3_L_FALSE, Z3_L_TRUE, Z3_ast, Z3_ast_vector, Z3_ast_vector_get,
    Z3_ast_vector_inc_ref, Z3_ast_vector_size, Z3_context, Z3_del_config, Z3_del_context,
    Z3_get_app_arg, Z3_get_app_decl, Z3_get_app_num_args, Z3_get_error_code, Z3_get_error_msg,
    Z3_get_quantifier_body, Z3_get_quantifier_bound_sort, Z3_get_quantifier_num_bound,
    Z3_get_version, Z3_is_app, Z3_is_quantifier_forall, Z3_mk_config, Z3_mk_context,
    Z3_mk_fresh_const, Z3_mk_not, Z3_mk_params, Z3_mk_simple_solver, Z3_mk_solver,
    Z3_mk_string_symbol, Z3_params_dec_ref, Z3_params_inc_ref, Z3_params_set_bool,
    Z3_params_set_uint, Z3_parse_smtlib2_string, Z3_set_error_handler, Z3_set_param_value,
    Z3_solver, Z3_solver_assert, Z3_solver_check, Z3_solver_dec_ref, Z3_solver_get_reason_unknown,
    Z3_solver_inc_ref, Z3_solver_pop, Z3_solver_push, Z3_solver_set_params, Z3_substitute_vars,
    Z3_to_app,
};

use super::context::decl_kind_raw;

/// A solver's first time for one assertion before the next kind has its turn; twice that in the
/// next round, and so on.
const FIRST_TRY: Duration = Duration::from_millis(250);

/// Rounds after which a solver may use all the time that is left.
const ROUNDS: u32 = 20;

/// The kinds of solvers, in the order of their turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// The incremental core with Z3's older simplex, the same for all assertions. It is much faster
    /// on some large linear ones.
    Simplex,
    /// The same for the assertion's conclusions one by one ([`TextContext::pieces`]).
    Pieces,
    /// The core with Z3's newer arithmetic.
    Core,
    /// What Z3 picks for the assertion's theories.
    Tactics,
}

/// What Z3 says about the assertions of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TextCheck {
    /// All are valid; with their number.
    Valid { assertions: usize },
    /// This one, from 0, does not hold in some interpretation.
    Invalid { assertion: usize },
    /// This one, from 0, could not be decided.
    Unknown { assertion: usize, reason: String },
    /// Z3's parser refuses the text, with its message.
    Malformed(String),
}

/// The version of the linked libz3, like `5.4.0`.
pub fn z3_version() -> String {
    let (mut major, mut minor, mut build, mut revision) = (0, 0, 0, 0);
    // SAFETY: four valid pointers to integers.
    unsafe { Z3_get_version(&mut major, &mut minor, &mut build, &mut revision) };
    format!("{major}.{minor}.{build}")
}

/// Whether every assertion in `text` is valid, that is, its negation unsatisfiable; each on its
/// own. Stops at the first that is not. `limit` is for all of them together, `None` for no limit.
pub fn valid_assertions(text: &str, limit: Option<Duration>) -> TextCheck {
    let deadline = limit.map(|limit| Instant::now() + limit);
    let Ok(text) = CString::new(text) else {
        return TextCheck::Malformed("a zero byte".to_owned());
    };
    let Some(context) = TextContext::new() else {
        return TextCheck::Malformed("Z3 gives no context".to_owned());
    };
    let assertions = match context.parse(&text) {
        Ok(assertions) => assertions,
        Err(message) => return TextCheck::Malformed(message),
    };
    let Some(mut incremental) = QuerySolver::new(&context, Kind::Simplex) else {
        return TextCheck::Malformed(context.error());
    };
    for (assertion, &formula) in assertions.iter().enumerate() {
        let unknown = |reason: String| TextCheck::Unknown { assertion, reason };
        // SAFETY: the formula belongs to the context.
        let Some(negation) = (unsafe { Z3_mk_not(context.raw, formula) }) else {
            return unknown(context.error());
        };
        let mut kinds = vec![Kind::Simplex, Kind::Pieces, Kind::Core, Kind::Tactics];
        let mut pieces: Option<OpenPieces> = None;
        let mut answer = Answer::Unknown("timeout".to_owned());
        for round in 0..=ROUNDS {
            kinds.retain(|&kind| {
                let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
                let spent = left.is_some_and(|left| left.is_zero());
                if spent || !matches!(answer, Answer::Unknown(_)) {
                    return true;
                }
                let turn = (round < ROUNDS).then(|| FIRST_TRY * 2_u32.pow(round));
                let limit = left.into_iter().chain(turn).min();
                let started = Instant::now();
                answer = match kind {
                    Kind::Simplex => incremental.check(negation, limit),
                    Kind::Pieces => {
                        if round == 0 {
                            pieces = OpenPieces::new(&context, formula);
                        }
                        match pieces.as_mut().is_some_and(|p| p.all_unsatisfiable(limit)) {
                            true => Answer::Unsat,
                            false => Answer::Unknown("in pieces".to_owned()),
                        }
                    }
                    kind => match QuerySolver::new(&context, kind) {
                        Some(mut own) => own.check(negation, limit),
                        None => Answer::Unknown(context.error()),
                    },
                };
                let time = started.elapsed();
                if round > 0 || kind != Kind::Simplex {
                    log::debug!(
                        "assertion {assertion}, {kind:?}: {:.3} s",
                        time.as_secs_f64()
                    );
                }
                // Who gives up before the time is over has no second try.
                limit.is_some_and(|limit| time >= limit)
            });
            if kinds.is_empty() || !matches!(answer, Answer::Unknown(_)) {
                break;
            }
        }
        match answer {
            Answer::Unsat => {}
            Answer::Sat => return TextCheck::Invalid { assertion },
            Answer::Unknown(reason) => return unknown(reason),
        }
    }
    TextCheck::Valid {
        assertions: assertions.len(),
    }
}

/// A formula `∀x. premise ⇒ c1 ∧ … ∧ cn` over constants in the place of the x.
struct Pieces {
    premise: Z3_ast,
    conclusions: Vec<Z3_ast>,
}

/// The pieces that are still to be checked, and a solver that holds their premise.
struct OpenPieces<'a> {
    solver: QuerySolver<'a>,
    conclusions: VecDeque<Z3_ast>,
}

impl<'a> OpenPieces<'a> {
    fn new(context: &'a TextContext, formula: Z3_ast) -> Option<Self> {
        let pieces = context.pieces(formula)?;
        let solver = QuerySolver::new(context, Kind::Simplex)?;
        // SAFETY: solver and formula belong to the context.
        unsafe { Z3_solver_assert(context.raw, solver.raw, pieces.premise) };
        Some(OpenPieces {
            solver,
            conclusions: pieces.conclusions.into(),
        })
    }

    /// Whether the premise with the negation of any one conclusion is found unsatisfiable; false
    /// when one is not, or not in time. What was found is not looked at again.
    fn all_unsatisfiable(&mut self, limit: Option<Duration>) -> bool {
        let deadline = limit.map(|limit| Instant::now() + limit);
        while let Some(&conclusion) = self.conclusions.front() {
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return false;
            }
            // SAFETY: the formula belongs to the context.
            let Some(negation) = (unsafe { Z3_mk_not(self.solver.context.raw, conclusion) }) else {
                return false;
            };
            if !matches!(self.solver.check(negation, left), Answer::Unsat) {
                // Others may be easier.
                self.conclusions.rotate_left(1);
                return false;
            }
            self.conclusions.pop_front();
        }
        true
    }
}

enum Answer {
    Sat,
    Unsat,
    Unknown(String),
}

/// A context without reference counts: what is made lives until it is dropped.
struct TextContext {
    raw: Z3_context,
}

impl TextContext {
    fn new() -> Option<TextContext> {
        // SAFETY: the configuration is used and deleted here; without an error handler, errors
        // are recorded in the context and read by `error`.
        unsafe {
            let config = Z3_mk_config()?;
            Z3_set_param_value(config, c"model".as_ptr(), c"false".as_ptr());
            let raw = Z3_mk_context(config);
            Z3_del_config(config);
            let raw = raw?;
            Z3_set_error_handler(raw, None);
            Some(TextContext { raw })
        }
    }

    /// The message of the last error.
    fn error(&self) -> String {
        // SAFETY: the context is alive, and the message is copied at once.
        unsafe {
            let code = Z3_get_error_code(self.raw);
            let message = Z3_get_error_msg(self.raw, code);
            if message.is_null() {
                return "an error without a message".to_owned();
            }
            CStr::from_ptr(message).to_string_lossy().trim().to_owned()
        }
    }

    fn parse(&self, text: &CStr) -> Result<Vec<Z3_ast>, String> {
        let none = std::ptr::null();
        // SAFETY: no sorts and declarations are passed; the vector is held by a reference that is
        // released with the context, like the formulas in it.
        unsafe {
            let parsed: Option<Z3_ast_vector> = Z3_parse_smtlib2_string(
                self.raw,
                text.as_ptr(),
                0,
                none,
                none.cast(),
                0,
                none,
                none.cast(),
            );
            if Z3_get_error_code(self.raw) != ErrorCode::Ok {
                return Err(self.error());
            }
            let vector = parsed.ok_or_else(|| self.error())?;
            Z3_ast_vector_inc_ref(self.raw, vector);
            (0..Z3_ast_vector_size(self.raw, vector))
                .map(|i| Z3_ast_vector_get(self.raw, vector, i).ok_or_else(|| self.error()))
                .collect()
        }
    }
}

impl TextContext {
    /// The assertion taken apart at the conjunctions that it concludes; `None` if it is no
    /// implication with more than one.
    fn pieces(&self, formula: Z3_ast) -> Option<Pieces> {
        // SAFETY: everything belongs to this context and lives until it is dropped; a quantifier
        // has as many sorts as bound variables, and the last one has index 0.
        let body = unsafe {
            if Z3_is_quantifier_forall(self.raw, formula) {
                let count = Z3_get_quantifier_num_bound(self.raw, formula);
                let constants = (0..count)
                    .rev()
                    .map(|i| {
                        let sort = Z3_get_quantifier_bound_sort(self.raw, formula, i)?;
                        Z3_mk_fresh_const(self.raw, c"v".as_ptr(), sort)
                    })
                    .collect::<Option<Vec<Z3_ast>>>()?;
                let body = Z3_get_quantifier_body(self.raw, formula)?;
                Z3_substitute_vars(self.raw, body, count, constants.as_ptr())?
            } else {
                formula
            }
        };
        let implication = self.arguments(body, DeclKind::Implies)?;
        let &[premise, conclusion] = implication.as_slice() else {
            return None;
        };
        let mut conclusions = Vec::new();
        let mut open = vec![conclusion];
        while let Some(formula) = open.pop() {
            match self.arguments(formula, DeclKind::And) {
                Some(parts) => open.extend(parts),
                None => conclusions.push(formula),
            }
        }
        // SAFETY: as above.
        let failed = unsafe { Z3_get_error_code(self.raw) } != ErrorCode::Ok;
        (conclusions.len() > 1 && !failed).then_some(Pieces {
            premise,
            conclusions,
        })
    }

    /// The arguments of an application of this kind.
    fn arguments(&self, formula: Z3_ast, kind: DeclKind) -> Option<Vec<Z3_ast>> {
        // SAFETY: everything belongs to this context.
        unsafe {
            if !Z3_is_app(self.raw, formula) {
                return None;
            }
            let app = Z3_to_app(self.raw, formula)?;
            if decl_kind_raw(self.raw, Z3_get_app_decl(self.raw, app)?) != kind as u32 {
                return None;
            }
            (0..Z3_get_app_num_args(self.raw, app))
                .map(|i| Z3_get_app_arg(self.raw, app, i))
                .collect()
        }
    }
}

impl Drop for TextContext {
    fn drop(&mut self) {
        // SAFETY: nothing made in the context outlives it.
        unsafe { Z3_del_context(self.raw) };
    }
}

/// A solver for one formula at a time.
struct QuerySolver<'a> {
    context: &'a TextContext,
    raw: Z3_solver,
    kind: Kind,
}

impl<'a> QuerySolver<'a> {
    fn new(context: &'a TextContext, kind: Kind) -> Option<Self> {
        // SAFETY: the solver is held by a reference until `drop`.
        unsafe {
            let raw = if kind == Kind::Tactics {
                Z3_mk_solver(context.raw)?
            } else {
                Z3_mk_simple_solver(context.raw)?
            };
            Z3_solver_inc_ref(context.raw, raw);
            Some(QuerySolver { context, raw, kind })
        }
    }

    fn check(&mut self, formula: Z3_ast, limit: Option<Duration>) -> Answer {
        let milliseconds = limit.map_or(u32::MAX, |limit| {
            u32::try_from(limit.as_millis().max(1)).unwrap_or(u32::MAX)
        });
        let context = self.context.raw;
        // SAFETY: everything belongs to the one context.
        unsafe {
            if let (Some(params), Some(timeout)) = (
                Z3_mk_params(context),
                Z3_mk_string_symbol(context, c"timeout".as_ptr()),
            ) {
                Z3_params_inc_ref(context, params);
                Z3_params_set_uint(context, params, timeout, milliseconds);
                // An interrupt is the program's to handle.
                if let Some(name) = Z3_mk_string_symbol(context, c"ctrl_c".as_ptr()) {
                    Z3_params_set_bool(context, params, name, false);
                }
                if self.kind == Kind::Simplex
                    && let Some(name) = Z3_mk_string_symbol(context, c"arith.solver".as_ptr())
                {
                    Z3_params_set_uint(context, params, name, 2);
                }
                Z3_solver_set_params(context, self.raw, params);
                Z3_params_dec_ref(context, params);
            }
            Z3_solver_push(context, self.raw);
            Z3_solver_assert(context, self.raw, formula);
            let mut answer = match Z3_solver_check(context, self.raw) {
                Z3_L_FALSE => Answer::Unsat,
                Z3_L_TRUE => Answer::Sat,
                _ => {
                    let reason = Z3_solver_get_reason_unknown(context, self.raw);
                    Answer::Unknown(if reason.is_null() {
                        String::new()
                    } else {
                        CStr::from_ptr(reason).to_string_lossy().into_owned()
                    })
                }
            };
            if Z3_get_error_code(context) != ErrorCode::Ok {
                answer = Answer::Unknown(self.context.error());
            }
            Z3_solver_pop(context, self.raw, 1);
            answer
        }
    }
}

impl Drop for QuerySolver<'_> {
    fn drop(&mut self) {
        // SAFETY: the reference taken in `new`.
        unsafe { Z3_solver_dec_ref(self.context.raw, self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_valid_from_not() {
        let text = "(define-fun p ((x Int)) Bool (>= x 0))
            (assert (forall ((x Int)) (=> (= x 1) (p x))))
            (assert (forall ((x Int)) (=> (p x) (p (+ x 1)))))";
        assert_eq!(
            valid_assertions(text, None),
            TextCheck::Valid { assertions: 2 }
        );
        let text = format!("{text} (assert (forall ((x Int)) (=> (p x) (p (- x 1)))))");
        assert_eq!(
            valid_assertions(&text, Some(Duration::from_secs(20))),
            TextCheck::Invalid { assertion: 2 }
        );
    }

    #[test]
    fn reports_what_it_cannot_read_or_decide() {
        assert!(matches!(
            valid_assertions("(assert (p x))", None),
            TextCheck::Malformed(_)
        ));
        assert!(matches!(
            valid_assertions("(assert true", None),
            TextCheck::Malformed(_)
        ));
        // A prime has no factors.
        let hard = "(assert (forall ((x (_ BitVec 64)) (y (_ BitVec 64)))
            (=> (and (bvult #x0000000000000001 x) (bvult x #x0000000100000000)
                     (bvult #x0000000000000001 y) (bvult y #x0000000100000000))
                (distinct (bvmul x y) #x1fffffffffffffff))))";
        assert!(matches!(
            valid_assertions(hard, Some(Duration::from_millis(300))),
            TextCheck::Unknown { assertion: 0, .. }
        ));
        assert!(matches!(
            valid_assertions("(assert true)", Some(Duration::ZERO)),
            TextCheck::Unknown { assertion: 0, .. }
        ));
    }

    #[test]
    fn conclusions_are_checked_one_by_one() {
        let text = "(define-fun p ((x Int) (y Int)) Bool (and (>= x 0) (and (>= y x) (<= y 9))))
            (assert (forall ((x Int) (y Int)) (=> (and (p x y) (< y 9)) (p x (+ y 1)))))
            (assert (forall ((x Int) (y Int)) (=> (p x y) (p x (+ y 1)))))
            (assert (forall ((x Int) (y Int)) (=> (and (p x y) (< y x)) (p y x))))
            (assert (forall ((x Int) (y Int)) (=> (p x y) (>= y 0))))
            (assert (=> true (and true true)))";
        let context = TextContext::new().unwrap();
        let assertions = context.parse(&CString::new(text).unwrap()).unwrap();
        let check = |i: usize| {
            let mut open = OpenPieces::new(&context, assertions[i])?;
            let count = open.conclusions.len();
            assert!(!open.all_unsatisfiable(Some(Duration::ZERO)));
            assert_eq!(open.conclusions.len(), count);
            Some((count, open.all_unsatisfiable(None)))
        };
        let found: Vec<_> = (0..5).map(check).collect();
        assert_eq!(
            found,
            [
                Some((3, true)),
                Some((3, false)),
                Some((3, true)),
                None,
                Some((2, true))
            ]
        );
    }

    #[test]
    fn names_the_linked_version() {
        assert_eq!(z3_version().split('.').count(), 3);
    }
}
