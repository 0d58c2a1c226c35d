//! Conversion of arithmetic with integer division to linear arithmetic, by fresh integers, and of
//! mixed literals to literals over integers.
//!
//! Invariant: every rewriting is an equivalence under literals that it adds and that are true in
//! the model.

use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashMap;

use super::state::State;
use alphorn_arith::{Constraint, Relation, is_over_int};
use alphorn_term::{Linear, Op, Rational, SortId, TermId};

/// Replaces integer division by numerals, `to_int` and `is_int` over remaining variables by fresh
/// integers.
pub(super) fn purify(state: &mut State) {
    let terms = state.terms;
    let mut memo: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut vars = state.remaining(SortId::is_number);
    while let Some(var) = vars.pop() {
        for literal in state.literals_of(var) {
            let mut side = Vec::new();
            let mut defined = true;
            let result = terms.rewrite_bottom_up(literal, &mut memo, |term| {
                match purified(state, term, &mut side) {
                    Some(other) => other,
                    None => {
                        defined = false;
                        term
                    }
                }
            });
            if !defined {
                state.failed = true;
                return;
            }
            if result != literal {
                state.remove(literal);
                state.add(result);
            }
            for literal in side {
                state.add(literal);
            }
        }
    }
}

fn purified(state: &mut State, term: TermId, side: &mut Vec<TermId>) -> Option<TermId> {
    let terms = state.terms;
    let node = terms.node(term);
    match node.op {
        Op::IDiv | Op::Mod => {
            let (dividend, divisor) = (node.args[0], node.args[1]);
            let Some(number) = terms.as_int(divisor).filter(|d| !d.is_zero()) else {
                return Some(term);
            };
            if !state.has_remaining(dividend) {
                return Some(term);
            }
            // dividend = divisor * quotient + rest, 0 <= rest < |divisor|
            let value = state.value(terms.idiv(dividend, divisor))?;
            let quotient = state.fresh(SortId::INT, value);
            let rest = terms.sub(dividend, terms.mul(&[divisor, quotient]));
            side.push(terms.ge(rest, terms.int(0)));
            side.push(terms.lt(rest, terms.int(number.abs())));
            Some(if node.op == Op::IDiv { quotient } else { rest })
        }
        Op::ToInt if state.has_remaining(node.args[0]) => {
            let value = state.value(term)?;
            let floor = state.fresh(SortId::INT, value);
            let rest = terms.sub(node.args[0], terms.to_real(floor));
            side.push(terms.ge(rest, terms.real(Rational::zero())));
            side.push(terms.lt(rest, terms.real(Rational::one())));
            Some(floor)
        }
        Op::IsInt if state.has_remaining(node.args[0]) => {
            let holds = state.value(term)?;
            let value = state.value(terms.to_int(node.args[0]))?;
            let floor = state.fresh(SortId::INT, value);
            let rest = terms.sub(node.args[0], terms.to_real(floor));
            let zero = terms.real(Rational::zero());
            if holds == TermId::TRUE {
                side.push(terms.eq(rest, zero));
            } else {
                side.push(terms.gt(rest, zero));
                side.push(terms.lt(rest, terms.real(Rational::one())));
            }
            Some(holds)
        }
        _ => Some(term),
    }
}

/// Converts literals over Real with remaining integers to literals over Int: with the integers on
/// the left, `n <= s` becomes `n <= to_int(s)`, `n < s` becomes `¬(n >= s)`, and so on.
pub(super) fn integerise(state: &mut State) {
    let terms = state.terms;
    let mut vars = state.remaining(|s| s == SortId::INT);
    while let Some(var) = vars.pop() {
        for literal in state.literals_of(var) {
            let Some(constraint) = Constraint::comparison(terms, literal) else {
                continue;
            };
            if is_over_int(terms, &constraint.linear) {
                continue;
            }
            if let Some(literals) = integerised(state, &constraint) {
                state.remove(literal);
                for literal in literals {
                    state.add(literal);
                }
            }
        }
    }
}

fn integerised(state: &mut State, constraint: &Constraint) -> Option<Vec<TermId>> {
    let terms = state.terms;
    let zero = || Linear::constant(Rational::zero());
    let (mut whole, mut rest) = (zero(), zero());
    rest.constant = constraint.linear.constant.clone();
    for (atom, coefficient) in &constraint.linear.monomials {
        if *terms.op(*atom) == Op::ToReal {
            whole
                .monomials
                .push((terms.args(*atom)[0], coefficient.clone()));
        } else {
            rest.monomials.push((*atom, coefficient.clone()));
        }
    }
    if whole.monomials.is_empty() {
        return None;
    }
    whole.monomials.sort_unstable_by_key(|m| m.0);
    let factor = whole.integer_factor();
    let whole = whole.scaled(&factor);
    // whole ⋈ bound
    let bound = terms.from_linear(&rest.scaled(&-factor), SortId::REAL);
    let whole_term = terms.from_linear(&whole, SortId::INT);
    let floor = terms.to_int(bound);
    let ceiling = terms.neg(terms.to_int(terms.neg(bound)));
    Some(match constraint.relation {
        Relation::AtMost => vec![terms.le(whole_term, floor)],
        Relation::Below => vec![terms.lt(whole_term, ceiling)],
        Relation::Equal => vec![terms.is_int(bound), terms.eq(whole_term, floor)],
        Relation::Integral => return None,
        Relation::Differs => {
            let (left, right) = (
                whole.value(|column| state.number(column))?,
                state.number(bound)?,
            );
            if left < right {
                vec![terms.lt(whole_term, ceiling)]
            } else {
                vec![terms.gt(whole_term, floor)]
            }
        }
    })
}
