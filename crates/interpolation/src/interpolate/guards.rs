//! Conditions under which terms have values.
//!
//! Invariant: if all guards of a formula hold, each of its fields and quotients has a value.

use num_traits::Zero;
use rustc_hash::FxHashSet;

use alphorn_term::{Op, Rational, TermId, TermStore};

/// The literals and their guards.
pub(super) fn guarded(terms: &TermStore, literals: &[TermId]) -> Vec<TermId> {
    let mut result = literals.to_vec();
    result.extend(guards(terms, literals));
    let mut seen = FxHashSet::default();
    result.retain(|l| seen.insert(*l));
    result
}

/// The guards of the fields and quotients in formulas: the constructor of the argument, and the
/// divisor is not zero.
pub(super) fn guards(terms: &TermStore, formulas: &[TermId]) -> Vec<TermId> {
    let mut result = Vec::new();
    terms.post_order(formulas, |t| {
        let node = terms.node(t);
        match node.op {
            Op::Field(id, constructor, _) => {
                result.push(terms.is(id, constructor, node.args[0]));
            }
            Op::IDiv | Op::Mod | Op::Div if terms.numeral(node.args[1]).is_none() => {
                let sort = terms.sort_of(node.args[1]);
                let zero = terms.number(&Rational::zero(), sort);
                result.push(terms.not(terms.eq(node.args[1], zero)));
            }
            _ => {}
        }
    });
    result.retain(|&g| g != TermId::TRUE);
    result
}
