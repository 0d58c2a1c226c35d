//! A formula with uninterpreted functions in place of hard operations: those on bit-vectors,
//! conversions between bit-vectors and integers, products and quotients of variables.
//!
//! If clauses only copy the results of such operations, a refutation only needs that equal
//! arguments have equal results, while bit-blasting of 256 bits takes minutes (Bryant, German,
//! Velev, "Processor verification using efficient reductions of the logic of uninterpreted
//! functions to propositional logic", TOCL 2001).
//!
//! # Invariant
//! Each model of the formula, with the operations as the functions, is a model of the result; so if
//! the result is unsatisfiable, the formula is. The converse does not hold.

use std::ffi::{CStr, CString};

use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use z3_sys::{
    DeclKind, Z3_apply_result_dec_ref, Z3_apply_result_get_num_subgoals,
    Z3_apply_result_get_subgoal, Z3_apply_result_inc_ref, Z3_ast, Z3_func_decl,
    Z3_func_decl_to_ast, Z3_get_app_arg, Z3_get_app_decl, Z3_get_app_num_args, Z3_get_ast_id,
    Z3_get_bv_sort_size, Z3_get_range, Z3_get_sort, Z3_goal, Z3_goal_assert, Z3_goal_dec_ref,
    Z3_goal_formula, Z3_goal_inc_ref, Z3_goal_size, Z3_is_app, Z3_is_numeral_ast, Z3_mk_and,
    Z3_mk_app, Z3_mk_fresh_func_decl, Z3_mk_ge, Z3_mk_goal, Z3_mk_le, Z3_mk_numeral, Z3_mk_tactic,
    Z3_sort, Z3_tactic_apply, Z3_tactic_dec_ref, Z3_tactic_inc_ref, Z3_to_app, Z3_update_term,
};

use super::TextContext;

/// The kinds of operations on bit-vectors: in Z3's enumeration, after their numerals and before the
/// proof rules.
const BIT_VECTORS: std::ops::Range<u32> = DeclKind::Bnum as u32 + 1..0x500;

/// Commutative operations.
const COMMUTATIVE: [DeclKind; 6] = [
    DeclKind::Mul,
    DeclKind::Badd,
    DeclKind::Bmul,
    DeclKind::Band,
    DeclKind::Bor,
    DeclKind::Bxor,
];

/// Tactics that solve equations of variables, so that equal terms are syntactically equal. The
/// result is satisfiable exactly if the formula is.
const TACTICS: [&CStr; 4] = [c"simplify", c"propagate-values", c"solve-eqs", c"simplify"];

/// The hard operations of a formula.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Hard {
    No,
    Operations,
    /// Among them conversions between integers and bit-vectors, which Z3 bit-blasts.
    Conversions,
}

/// The replacement of operations by functions.
struct Functions<'a, 'b> {
    context: &'a TextContext<'b>,
    /// By the operation and its number of arguments.
    functions: FxHashMap<(Z3_func_decl, usize), Z3_func_decl>,
    /// By term: its replacement.
    done: FxHashMap<Z3_ast, Z3_ast>,
    /// Constraints on the results of functions.
    bounds: Vec<Z3_ast>,
}

/// The hard operations of a formula outside of quantifiers.
pub(super) fn hard_operations(context: &TextContext<'_>, formula: Z3_ast) -> Hard {
    let mut found = Hard::No;
    let mut seen: FxHashSet<Z3_ast> = FxHashSet::default();
    let mut open = vec![formula];
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        let Some((decl, args)) = application(context, term) else {
            continue;
        };
        found = found.max(hardness(context, decl, &args));
        if found == Hard::Conversions {
            break;
        }
        open.extend(args);
    }
    found
}

/// The formula with functions in place of hard operations; with `solved`, after solving equations
/// of variables. `None` if Z3 fails.
pub(super) fn with_functions(
    context: &TextContext<'_>,
    formula: Z3_ast,
    solved: bool,
) -> Option<Z3_ast> {
    let formula = if solved {
        by_tactics(context, formula, &TACTICS)?
    } else {
        formula
    };
    let mut functions = Functions {
        context,
        functions: FxHashMap::default(),
        done: FxHashMap::default(),
        bounds: Vec::new(),
    };
    let replaced = functions.replace(formula)?;
    let mut parts = functions.bounds;
    parts.push(replaced);
    conjunction(context, &parts)
}

/// The declaration and the arguments of an application; `None` for another term.
pub(super) fn application(
    context: &TextContext<'_>,
    term: Z3_ast,
) -> Option<(Z3_func_decl, Vec<Z3_ast>)> {
    let raw = context.z3.raw;
    // SAFETY: the term belongs to the context, and the formula that contains it is referenced.
    unsafe {
        if !Z3_is_app(raw, term) {
            return None;
        }
        let app = Z3_to_app(raw, term)?;
        let decl = Z3_get_app_decl(raw, app)?;
        let args = (0..Z3_get_app_num_args(raw, app)).map(|i| Z3_get_app_arg(raw, app, i));
        Some((decl, args.collect::<Option<Vec<Z3_ast>>>()?))
    }
}

/// The hardness of an operation with these arguments.
fn hardness(context: &TextContext<'_>, decl: Z3_func_decl, args: &[Z3_ast]) -> Hard {
    let kind = context.z3.decl_kind(decl);
    let is = |wanted: DeclKind| kind == wanted as u32;
    let varies = |arg: &&Z3_ast| !is_number(context, **arg);
    if is(DeclKind::Int2bv) || is(DeclKind::Bv2int) || is(DeclKind::Sbv2int) {
        return Hard::Conversions;
    }
    let quotient = [DeclKind::Idiv, DeclKind::Div, DeclKind::Mod, DeclKind::Rem];
    let hard = (BIT_VECTORS.contains(&kind) && !args.is_empty())
        || (is(DeclKind::Mul) && args.iter().filter(varies).count() > 1)
        || (quotient.into_iter().any(is) && args.iter().skip(1).any(|arg| varies(&arg)))
        || is(DeclKind::Power);
    match hard {
        true => Hard::Operations,
        false => Hard::No,
    }
}

/// Whether a term is a numeral with signs and fractions, as in `(- 1.0)`, `(/ 1.0 2.0)` and
/// `(- (/ 1.0 2.0))`.
fn is_number(context: &TextContext<'_>, term: Z3_ast) -> bool {
    let raw = context.z3.raw;
    let mut open = vec![term];
    let mut left = 8;
    while let Some(term) = open.pop() {
        // SAFETY: the term belongs to the context.
        if unsafe { Z3_is_numeral_ast(raw, term) } {
            continue;
        }
        let Some((decl, args)) = application(context, term) else {
            return false;
        };
        let kind = context.z3.decl_kind(decl);
        let sign = kind == DeclKind::Uminus as u32 || kind == DeclKind::ToReal as u32;
        if left == 0 || !(sign || kind == DeclKind::Div as u32) {
            return false;
        }
        left -= 1;
        open.extend(args);
    }
    true
}

impl Functions<'_, '_> {
    /// The formula with functions in place of hard operations outside of quantifiers; iterative.
    fn replace(&mut self, formula: Z3_ast) -> Option<Z3_ast> {
        let mut stack = vec![formula];
        while let Some(&term) = stack.last() {
            if self.done.contains_key(&term) {
                stack.pop();
                continue;
            }
            let Some((decl, args)) = application(self.context, term) else {
                self.done.insert(term, term);
                stack.pop();
                continue;
            };
            let before = stack.len();
            stack.extend(args.iter().filter(|a| !self.done.contains_key(*a)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let own: Vec<Z3_ast> = args.iter().map(|a| self.done[a]).collect();
            let result = if hardness(self.context, decl, &args) != Hard::No {
                self.apply(decl, &args, own)?
            } else if own == args {
                term
            } else {
                let z3 = &self.context.z3;
                // SAFETY: as many arguments of the same sorts as before.
                z3.keep(unsafe { Z3_update_term(z3.raw, term, own.len() as u32, own.as_ptr())? })
            };
            self.done.insert(term, result);
        }
        Some(self.done[&formula])
    }

    /// The application of an operation's function to `own`, the replacements of its arguments
    /// `args`.
    fn apply(
        &mut self,
        decl: Z3_func_decl,
        args: &[Z3_ast],
        mut own: Vec<Z3_ast>,
    ) -> Option<Z3_ast> {
        let z3 = &self.context.z3;
        let kind = z3.decl_kind(decl);
        if COMMUTATIVE.into_iter().any(|c| c as u32 == kind) {
            // SAFETY: the arguments belong to the context.
            own.sort_by_key(|&a| unsafe {
                (Z3_is_numeral_ast(z3.raw, a), Z3_get_ast_id(z3.raw, a))
            });
        }
        // SAFETY: everything belongs to the context; the function takes arguments of these sorts.
        unsafe {
            let function = match self.functions.get(&(decl, own.len())) {
                Some(&known) => known,
                None => {
                    let sorts = own.iter().map(|&a| Z3_get_sort(z3.raw, a));
                    let sorts = sorts.collect::<Option<Vec<Z3_sort>>>()?;
                    let range = Z3_get_range(z3.raw, decl)?;
                    let (count, name) = (sorts.len() as u32, c"operation".as_ptr());
                    let function =
                        Z3_mk_fresh_func_decl(z3.raw, name, count, sorts.as_ptr(), range)?;
                    z3.keep(Z3_func_decl_to_ast(z3.raw, function)?);
                    self.functions.insert((decl, own.len()), function);
                    function
                }
            };
            let result = Z3_mk_app(z3.raw, function, own.len() as u32, own.as_ptr())?;
            let result = z3.keep(result);
            if kind == DeclKind::Bv2int as u32 {
                let sort = Z3_get_sort(z3.raw, result)?;
                let bits = Z3_get_bv_sort_size(z3.raw, Z3_get_sort(z3.raw, args[0])?);
                let most = (BigUint::from(1u32) << bits) - 1u32;
                let most = CString::new(most.to_string()).ok()?;
                let least = z3.keep(Z3_mk_numeral(z3.raw, c"0".as_ptr(), sort)?);
                let most = z3.keep(Z3_mk_numeral(z3.raw, most.as_ptr(), sort)?);
                self.bounds.push(z3.keep(Z3_mk_ge(z3.raw, result, least)?));
                self.bounds.push(z3.keep(Z3_mk_le(z3.raw, result, most)?));
            }
            Some(result)
        }
    }
}

/// The conjunction of formulas.
pub(super) fn conjunction(context: &TextContext<'_>, parts: &[Z3_ast]) -> Option<Z3_ast> {
    let z3 = &context.z3;
    // SAFETY: the formulas belong to the context.
    Some(z3.keep(unsafe { Z3_mk_and(z3.raw, parts.len() as u32, parts.as_ptr())? }))
}

/// The formula after Z3's tactics, one after the other; `None` if one of them fails or splits it.
pub(super) fn by_tactics(
    context: &TextContext<'_>,
    formula: Z3_ast,
    tactics: &[&CStr],
) -> Option<Z3_ast> {
    let z3 = &context.z3;
    // SAFETY: goals, tactics and results are referenced while they are used, and the context keeps
    // references to the formulas of the last goals.
    unsafe {
        let mut goals = vec![formula];
        for name in tactics {
            let goal = Z3_mk_goal(z3.raw, false, false, false)?;
            Z3_goal_inc_ref(z3.raw, goal);
            for &part in &goals {
                Z3_goal_assert(z3.raw, goal, part);
            }
            let next = apply_tactic(context, name, goal);
            Z3_goal_dec_ref(z3.raw, goal);
            goals = next?;
        }
        conjunction(context, &goals)
    }
}

/// The formulas of a goal after a tactic; `None` if the tactic fails or splits the goal.
///
/// # Safety
/// The goal belongs to the context and is referenced.
unsafe fn apply_tactic(
    context: &TextContext<'_>,
    name: &CStr,
    goal: Z3_goal,
) -> Option<Vec<Z3_ast>> {
    let z3 = &context.z3;
    // SAFETY: the caller sees to the goal; tactic and result are referenced.
    unsafe {
        let tactic = Z3_mk_tactic(z3.raw, name.as_ptr())?;
        Z3_tactic_inc_ref(z3.raw, tactic);
        let applied = z3.query(|| Z3_tactic_apply(z3.raw, tactic, goal)).flatten();
        Z3_tactic_dec_ref(z3.raw, tactic);
        let applied = applied?;
        Z3_apply_result_inc_ref(z3.raw, applied);
        let single = Z3_apply_result_get_num_subgoals(z3.raw, applied) == 1;
        let subgoal = Z3_apply_result_get_subgoal(z3.raw, applied, 0).filter(|_| single);
        let formulas = subgoal.and_then(|subgoal| {
            (0..Z3_goal_size(z3.raw, subgoal))
                .map(|i| Some(z3.keep(Z3_goal_formula(z3.raw, subgoal, i)?)))
                .collect::<Option<Vec<Z3_ast>>>()
        });
        Z3_apply_result_dec_ref(z3.raw, applied);
        formulas.filter(|_| z3.failed().is_none())
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::time::Duration;

    use super::super::{Answer, Core};
    use super::*;
    use alphorn_term::run::Budget;
    use alphorn_term::{Random, TermStore};

    /// Whether the only assertion of a text is unsatisfiable with functions, and without.
    fn contradictory(text: &str, solved: bool) -> (bool, bool) {
        let budget = Budget::new(Rc::new(TermStore::new()), Default::default(), false);
        let context = TextContext::new(&budget);
        let formula = context.parse(text).expect("a text")[0];
        let ask = |formula: Z3_ast, limit| {
            let mut solver = context.solver(Core::Simplex).expect("a solver");
            solver.assert(formula);
            matches!(solver.check(limit), Answer::Unsat)
        };
        let weaker = with_functions(&context, formula, solved).expect("a formula");
        (
            ask(weaker, None),
            ask(formula, Some(Duration::from_millis(50))),
        )
    }

    const DECLARED: &str = "(declare-const x Int) (declare-const y Int) (declare-const z Int)
        (declare-const v (_ BitVec 256)) (declare-const w (_ BitVec 256))";

    #[test]
    fn equal_arguments_have_equal_results() {
        // A quotient of shifted bit-vectors, too hard for bit-blasting.
        let result = |x: &str, w: &str| {
            format!("(ubv_to_int (bvudiv (bvshl ((_ int_to_bv 256) {x}) {w}) (bvmul {w} {w})))")
        };
        for (solved, formula, expected) in [
            (
                false,
                format!(
                    "(and (= x y) (= v w) (= z {}) (not (= z {})))",
                    result("x", "v"),
                    result("y", "w")
                ),
                true,
            ),
            (false, format!("(< {} 0)", result("x", "v")), true),
            (
                false,
                format!(
                    "(>= {} {})",
                    result("x", "v"),
                    num_bigint::BigUint::from(2u32).pow(256)
                ),
                true,
            ),
            (
                false,
                "(and (= v #x01) (distinct (bvmul v w) (bvmul w v)))".replace("#x01", "w"),
                true,
            ),
            (false, "(and (= z (* x y)) (> (* y x) z))".to_owned(), true),
            (
                false,
                "(and (= x 1) (distinct (* x y) y))".to_owned(),
                false,
            ),
            (true, "(and (= x 1) (distinct (* x y) y))".to_owned(), true),
            (false, "(= (bvadd v v) (bvmul v w))".to_owned(), false),
            (true, "(= (bvadd v v) (bvmul v w))".to_owned(), false),
        ] {
            let text = format!("{DECLARED} (assert {formula})");
            assert_eq!(contradictory(&text, solved).0, expected, "{formula}");
        }
    }

    #[test]
    fn hard_operations_are_found() {
        for (formula, expected) in [
            ("(< (+ x (* 2 y)) (div z 3))", Hard::No),
            ("(< (+ x (* (- 2) y)) (div z (- 3)))", Hard::No),
            (
                "(< (* (- (/ 1.0 2.0)) (to_real x)) (* (/ 1.0 (- 3.0)) (to_real y)))",
                Hard::No,
            ),
            (
                "(< (* (/ 1.0 (to_real x)) (to_real y)) 1.0)",
                Hard::Operations,
            ),
            (
                "(= v #x0000000000000000000000000000000000000000000000000000000000000001)",
                Hard::No,
            ),
            ("(< (* x y) z)", Hard::Operations),
            ("(< (mod x y) z)", Hard::Operations),
            ("(bvult v w)", Hard::Operations),
            ("(< (ubv_to_int (bvnot v)) z)", Hard::Conversions),
            (
                "(and (> (* x y) 0) (= v ((_ int_to_bv 256) z)))",
                Hard::Conversions,
            ),
        ] {
            let budget = Budget::new(Rc::new(TermStore::new()), Default::default(), false);
            let context = TextContext::new(&budget);
            let text = format!("{DECLARED} (assert {formula})");
            let parsed = context.parse(&text).expect("a text")[0];
            assert_eq!(hard_operations(&context, parsed), expected, "{formula}");
        }
    }

    #[test]
    fn what_has_a_model_keeps_one() {
        let mut random = Random::new(7);
        let mut found = [0, 0];
        for _ in 0..300 {
            let mut vectors = vec!["p".to_owned(), "q".to_owned(), "#b101".to_owned()];
            let mut integers = vec!["a".to_owned(), "b".to_owned(), "2".to_owned()];
            for _ in 0..4 {
                let mut any = |from: &[String]| random.pick(from).clone();
                let (p, q, a, b) = (any(&vectors), any(&vectors), any(&integers), any(&integers));
                let operation =
                    any(&["bvadd", "bvmul", "bvudiv", "bvshl", "bvor"].map(str::to_owned));
                vectors.push(format!("({operation} {p} {q})"));
                vectors.push(format!("((_ int_to_bv 3) {a})"));
                integers.push(format!("(ubv_to_int {p})"));
                let operation = any(&["*", "div", "mod"].map(str::to_owned));
                integers.push(format!("({operation} {a} {b})"));
            }
            let mut any = |from: &[String]| random.pick(from).clone();
            let atoms: Vec<String> = (0..4)
                .map(|at| match at % 2 {
                    0 => format!("(= {} {})", any(&vectors), any(&vectors)),
                    _ => format!("(<= {} {})", any(&integers), any(&integers)),
                })
                .collect();
            let text = format!(
                "(declare-const a Int) (declare-const b Int)
                 (declare-const p (_ BitVec 3)) (declare-const q (_ BitVec 3))
                 (assert (and (<= 0 a 7) (<= 0 b 7) {} (not {}) {} (not {})))",
                atoms[0], atoms[1], atoms[2], atoms[3]
            );
            for solved in [false, true] {
                let (weaker, exact) = contradictory(&text, solved);
                assert!(exact || !weaker, "{text}");
                found[usize::from(weaker)] += 1;
            }
        }
        // The test reaches both cases.
        assert!(found.iter().all(|&f| f > 20), "{found:?}");
    }
}
