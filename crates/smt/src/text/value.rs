//! Values of terms without variables under the definitions of a text.
//!
//! # Invariant
//! A result is a value: Z3's simplifier has made numerals, Boolean values, constructors and arrays of
//! such of the term, or the term or its negation is valid.

use std::collections::HashSet;

use z3_sys::{
    DeclKind, SortKind, Z3_ast, Z3_ast_to_string, Z3_get_app_decl, Z3_get_sort, Z3_get_sort_kind,
    Z3_is_app, Z3_is_numeral_ast, Z3_to_app,
};

use super::steps::{arguments, simplify};
use super::validity::{TextCheck, valid_assertions};
use super::{TextContext, string};
use crate::context::Context;
use alphorn_term::run::Budget;

/// The value of a term after the commands of a text, which declare no function without a definition;
/// `None` if the commands do not determine it, or it is not found within the budget.
///
/// # Errors
/// The message of Z3's parser.
pub fn value_of_term(text: &str, term: &str, budget: &Budget) -> Result<Option<String>, String> {
    let context = TextContext::new(budget);
    let z3 = &context.z3;
    let assertions = context.parse(&format!("{text}\n(assert (= {term} {term}))\n"))?;
    let parts = assertions.last().map(|&last| arguments(z3, last));
    let Some(&[read, _]) = parts.as_deref() else {
        return Ok(None);
    };
    let simplified = simplify(z3, read)?;
    if is_value(z3, simplified.ast) {
        // SAFETY: the term belongs to the context.
        let shown = string(unsafe { Z3_ast_to_string(z3.raw, simplified.ast) });
        return Ok(Some(shown.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    // SAFETY: the term belongs to the context.
    let is_bool = unsafe {
        let sort = z3.ok(Z3_get_sort(z3.raw, read))?;
        Z3_get_sort_kind(z3.raw, sort) == SortKind::Bool
    };
    if !is_bool {
        return Ok(None);
    }
    for (value, formula) in [
        ("true", term.to_owned()),
        ("false", format!("(not {term})")),
    ] {
        let asserted = format!("{text}\n(assert {formula})\n");
        if let TextCheck::Valid { .. } = valid_assertions(&asserted, budget) {
            return Ok(Some(value.to_owned()));
        }
    }
    Ok(None)
}

/// Whether a term is made of numerals, Boolean values, constructors and arrays.
fn is_value(z3: &Context, root: Z3_ast) -> bool {
    let mut stack = vec![root];
    let mut seen = HashSet::new();
    while let Some(term) = stack.pop() {
        if !seen.insert(term) {
            continue;
        }
        // SAFETY: the term belongs to the context.
        let decl = unsafe {
            if Z3_is_numeral_ast(z3.raw, term) {
                continue;
            }
            if !Z3_is_app(z3.raw, term) {
                return false;
            }
            Z3_to_app(z3.raw, term).and_then(|app| Z3_get_app_decl(z3.raw, app))
        };
        let kinds = [
            DeclKind::True,
            DeclKind::False,
            DeclKind::DtConstructor,
            DeclKind::ConstArray,
            DeclKind::Store,
        ];
        let kind = decl.map(|decl| z3.decl_kind(decl));
        if !kinds.iter().any(|&known| kind == Some(known as u32)) {
            return false;
        }
        stack.extend(arguments(z3, term));
    }
    true
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use alphorn_term::TermStore;

    #[test]
    fn values_of_all_sorts() {
        let text = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
            (define-fun n () Int (- 3))
            (define-fun p ((x Int)) Bool (forall ((y Int)) (=> (> y x) (> y n))))
            (define-fun f ((x Int)) Int (ite (= x 0) 5 x))";
        let budget = Budget::new(Rc::new(TermStore::new()), Default::default(), false);
        for (term, value) in [
            ("n", Some("(- 3)")),
            ("(+ n (f 0))", Some("2")),
            ("(/ 1.0 4.0)", Some("(/ 1.0 4.0)")),
            ("(cons n nil)", Some("(cons (- 3) nil)")),
            ("(hd (cons 4 nil))", Some("4")),
            ("(bvadd #x0f #x01)", Some("#x10")),
            ("(p 7)", Some("true")),
            ("(p (- 7))", Some("false")),
            ("(ite (> n 0) true false)", Some("false")),
            (
                "(store ((as const (Array Int Int)) 0) 1 n)",
                Some("(store ((as const (Array Int Int)) 0) 1 (- 3))"),
            ),
            ("(div n 0)", None),
            ("(= (div n 0) 1)", None),
        ] {
            let found = value_of_term(text, term, &budget);
            assert_eq!(found, Ok(value.map(str::to_owned)), "{term}");
        }
        assert!(value_of_term(text, "(q 1)", &budget).is_err());
        assert!(value_of_term(text, "(f true)", &budget).is_err());
    }
}
