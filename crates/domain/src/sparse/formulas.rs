//! Statements as formulas over the formal variables of predicates.
//!
//! Invariant: a formula holds of the same arguments as its statement.

use super::element::{AllPacks, Element, Statement};
use super::implications;
use super::range::Range;
use alphorn_chc::Predicate;
use alphorn_term::{BigUint, Linear, Op, Rational, Sort, TermId, TermStore};

/// The formula of a statement of the element of a predicate, which has number `p`.
pub(super) fn formula(
    terms: &TermStore,
    (p, predicate): (usize, &Predicate),
    element: Option<&Element>,
    statement: Statement,
    packs: &AllPacks,
) -> TermId {
    let Some(element) = element else {
        return TermId::FALSE;
    };
    let param = |at: u32| predicate.params[at as usize];
    match statement {
        Statement::False => TermId::FALSE,
        Statement::Lower(at) => bound(terms, param(at), element.ranges[at as usize].low, false),
        Statement::Upper(at) => bound(terms, param(at), element.ranges[at as usize].high, true),
        Statement::Difference(pack, i, j) => {
            let arguments = packs.zone(p, pack);
            let at = i as usize * (arguments.len() + 1) + j as usize;
            let limit = element.zones[pack as usize][at];
            let argument = |i: u32| (i > 0).then(|| param(arguments[i as usize - 1]));
            let monomials = [(argument(i), 1), (argument(j), -1)];
            let monomials = monomials.into_iter().filter_map(|(v, k)| Some((v?, k)));
            linear(terms, &Op::Le, monomials.collect(), -limit)
        }
        Statement::Equation(pack, at) => {
            let arguments = packs.equation(p, pack).iter();
            let equation = &element.equations[pack as usize][at as usize];
            let constant = equation[equation.len() - 1];
            let monomials = arguments.zip(equation.iter()).filter(|m| *m.1 != 0);
            let monomials = monomials.map(|(&at, &factor)| (param(at), factor));
            linear(terms, &Op::Eq, monomials.collect(), constant)
        }
        Statement::Implication(condition, argument) => {
            let flag = param(condition / 2);
            let holds = match condition % 2 {
                0 => terms.not(flag),
                _ => flag,
            };
            let base = element.ranges[argument as usize];
            let range = implications::range(&element.implications, condition, argument, base);
            terms.implies(holds, within(terms, param(argument), range))
        }
    }
}

/// The formula that says that the sum of the monomials and the constant is zero or at most zero.
fn linear(terms: &TermStore, op: &Op, mut monomials: Vec<(TermId, i64)>, constant: i64) -> TermId {
    let Some(&(first, _)) = monomials.first() else {
        return TermId::TRUE;
    };
    monomials.sort_unstable_by_key(|m| m.0);
    let number = |value: i64| Rational::from_integer(value.into());
    let monomials = monomials.into_iter().map(|(v, k)| (v, number(k)));
    let polynomial = Linear {
        monomials: monomials.collect(),
        constant: number(constant),
    };
    terms.linear_atom(op.clone(), &polynomial, terms.sort_of(first))
}

/// The formula that says that a parameter is in a range.
fn within(terms: &TermStore, param: TermId, range: Range) -> TermId {
    if range.is_empty() {
        return TermId::FALSE;
    }
    let (low, high) = range.finite();
    let low = low.map(|low| bound(terms, param, low, false));
    let high = high.map(|high| bound(terms, param, high, true));
    terms.and(&low.into_iter().chain(high).collect::<Vec<TermId>>())
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
