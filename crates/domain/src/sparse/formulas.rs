//! Statements as formulas over the formal variables of predicates.
//!
//! Invariant: a formula holds of the same arguments as its statement.

use super::element::{Element, Statement};
use alphorn_chc::Predicate;
use alphorn_term::{BigUint, Op, Rational, Sort, TermId, TermStore};

/// The formula of a statement of an element.
pub(super) fn formula(
    terms: &TermStore,
    predicate: &Predicate,
    element: Option<&Element>,
    statement: Statement,
) -> TermId {
    let Some(element) = element else {
        return TermId::FALSE;
    };
    match statement {
        Statement::False => TermId::FALSE,
        Statement::Lower(at) => {
            let (param, low) = (predicate.params[at as usize], element.ranges[at as usize].low);
            bound(terms, param, low, false)
        }
        Statement::Upper(at) => {
            let (param, high) = (predicate.params[at as usize], element.ranges[at as usize].high);
            bound(terms, param, high, true)
        }
    }
}

/// The formula `param <= value` if `upper`, otherwise `param >= value`, for the numbers that values of
/// the parameter's sort stand for.
fn bound(terms: &TermStore, param: TermId, value: i64, upper: bool) -> TermId {
    match terms.sort(terms.sort_of(param)) {
        Sort::Bool => match (upper, value) {
            (true, ..0) | (false, 2..) => TermId::FALSE,
            (true, 0) => terms.not(param),
            (false, 1) => param,
            _ => TermId::TRUE,
        },
        Sort::Int | Sort::Real => {
            let value = Rational::from_integer(value.into());
            let value = terms.number(&value, terms.sort_of(param));
            match upper {
                true => terms.le(param, value),
                false => terms.ge(param, value),
            }
        }
        Sort::BitVec(width) => {
            let value = BigUint::from(u64::try_from(value).unwrap_or(0));
            let value = terms.bitvec(value, width);
            match upper {
                true => terms.bv_op(&Op::BvUle, &[param, value]),
                false => terms.bv_op(&Op::BvUle, &[value, param]),
            }
        }
        Sort::Datatype(id) => {
            let constructors = terms.datatype(id).constructors.len() as i64;
            let allowed = match upper {
                true => 0..value.saturating_add(1).clamp(0, constructors),
                false => value.clamp(0, constructors)..constructors,
            };
            let is = allowed.map(|tag| terms.is(id, tag as u32, param));
            terms.or(&is.collect::<Vec<TermId>>())
        }
        Sort::Array(..) => TermId::TRUE,
    }
}
