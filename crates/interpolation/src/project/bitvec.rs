//! Bit-vectors: substitution of a term that is tested in the model.
//!
//! Any term may replace the variable if all its literals are still true in the model: this is
//! sound, with or without overflow. Candidates are the ends of the range, which remove one-sided
//! bounds, and the tightest bound on each side (the choice of Loos and Weispfenning, for machine
//! integers).
//!
//! Invariant: a substitution is made only after its result was evaluated to true.

use num_bigint::BigUint;
use num_traits::One;
use rustc_hash::FxHashMap;

use super::state::State;
use alphorn_term::{Assignment, Op, TermId};

/// Eliminates bit-vector variables.
pub(super) fn eliminate(state: &mut State, vars: &[TermId]) {
    for &var in vars {
        if state.failed || !state.is_remaining(var) {
            continue;
        }
        let literals = state.literals_of(var);
        if literals.is_empty() {
            state.retire(var);
            continue;
        }
        let mut best: Option<(usize, TermId)> = None;
        for candidate in candidates(state, var, &literals) {
            let Some(weight) = weigh(state, var, candidate, &literals) else {
                continue;
            };
            if best.is_none_or(|b| weight < b.0) {
                best = Some((weight, candidate));
            }
        }
        match best {
            Some((_, term)) => state.substitute_one(var, term),
            None => state.replace_by_values(&[var]),
        }
    }
}

/// The number of literals that a substitution leaves; `None` if one of them is not true.
fn weigh(state: &mut State, var: TermId, term: TermId, literals: &[TermId]) -> Option<usize> {
    let mut map = Assignment::default();
    map.insert(var, term);
    let mut memo = FxHashMap::default();
    let mut left = 0;
    for &literal in literals {
        let literal = state.terms.substitute_with(literal, &map, &mut memo);
        if state.value(literal) != Some(TermId::TRUE) {
            return None;
        }
        left += usize::from(literal != TermId::TRUE);
    }
    Some(left)
}

/// Terms without the variable that may make all literals true.
fn candidates(state: &mut State, var: TermId, literals: &[TermId]) -> Vec<TermId> {
    let terms = state.terms;
    let width = terms.width(var);
    let one = BigUint::one();
    let full = (&one << width) - &one;
    let half = &one << (width - 1);
    let mut result = Vec::new();
    let mut bounded = false;
    let mut opaque = false;
    // The tightest bound by signedness and side, with its value.
    let mut tightest: [Option<(BigUint, TermId)>; 4] = [None, None, None, None];
    for &literal in literals {
        let (atom, positive) = match *terms.op(literal) {
            Op::Not => (terms.args(literal)[0], false),
            _ => (literal, true),
        };
        let signed = match terms.op(atom) {
            Op::BvUle => false,
            Op::BvSle => true,
            _ => {
                opaque = true;
                continue;
            }
        };
        let [left, right] = [terms.args(atom)[0], terms.args(atom)[1]];
        let (below, bound) = match (left == var, right == var) {
            (true, false) => (true, right),
            (false, true) => (false, left),
            _ => {
                opaque = true;
                continue;
            }
        };
        if state.contains(bound, var) {
            opaque = true;
            continue;
        }
        bounded = true;
        // `var <= bound` and `not (bound <= var)` are upper bounds.
        let upper = below == positive;
        let step = terms.bitvec(one.clone(), width);
        let limit = match (positive, upper) {
            (true, _) => bound,
            (false, true) => terms.bv_sub(bound, step),
            (false, false) => terms.bv_op(&Op::BvAdd, &[bound, step]),
        };
        let Some(value) = state.value(limit) else {
            continue;
        };
        let Some(mut value) = terms.as_bitvec(value).cloned() else {
            continue;
        };
        if signed {
            value ^= &half;
        }
        let place = &mut tightest[usize::from(signed) * 2 + usize::from(upper)];
        let tighter = match place {
            Some((old, _)) if upper => value < *old,
            Some((old, _)) => value > *old,
            None => true,
        };
        if tighter {
            *place = Some((value, limit));
        }
    }
    if bounded && !opaque {
        for end in [BigUint::ZERO, full, half.clone(), half - &one] {
            result.push(terms.bitvec(end, width));
        }
    }
    if bounded {
        result.extend(tightest.into_iter().flatten().map(|t| t.1));
    }
    result
}
