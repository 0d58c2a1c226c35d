//! Joins conjuncts about adjacent bits of a bit-vector to one literal.
//!
//! Invariant: the result is equivalent to the formula.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use rustc_hash::FxHashMap;

use alphorn_term::{Op, TermId, TermStore};

/// The condition that the bits of a bit-vector from `low` to `high` have a value.
struct Part {
    bitvec: TermId,
    high: u32,
    low: u32,
    value: BigUint,
}

impl Part {
    /// The condition of a literal, or of its negation if `negated`; `None` for other literals.
    fn of(terms: &TermStore, literal: TermId, negated: bool) -> Option<Part> {
        let (atom, positive) = match terms.op(literal) {
            Op::Not => (terms.args(literal)[0], negated),
            _ => (literal, !negated),
        };
        let (Op::Eq, &[left, right]) = (terms.op(atom), terms.args(atom)) else {
            return None;
        };
        let (of, value) = match (terms.as_bitvec(left), terms.as_bitvec(right)) {
            (Some(value), _) => (right, value),
            (_, Some(value)) => (left, value),
            _ => return None,
        };
        let width = terms.width(of);
        let (bitvec, high, low) = match *terms.op(of) {
            Op::BvExtract(high, low) => (terms.args(of)[0], high, low),
            _ => (of, width - 1, 0),
        };
        let value = match (positive, width) {
            (true, _) => value.clone(),
            (false, 1) => value ^ BigUint::from(1u32),
            _ => return None,
        };
        Some(Part {
            bitvec,
            high,
            low,
            value,
        })
    }

    fn formula(&self, terms: &TermStore) -> TermId {
        let part = terms.bv_op(&Op::BvExtract(self.high, self.low), &[self.bitvec]);
        terms.eq(
            part,
            terms.bitvec(self.value.clone(), self.high - self.low + 1),
        )
    }
}

/// The formula with conditions on adjacent bits joined.
pub(super) fn joined(terms: &TermStore, formula: TermId) -> TermId {
    terms.rewrite_bottom_up(formula, &mut FxHashMap::default(), |term| {
        let negated = match terms.op(term) {
            Op::And => false,
            Op::Or => true,
            _ => return term,
        };
        let (mut parts, mut others) = (BTreeMap::new(), Vec::new());
        for &arg in terms.args(term) {
            match Part::of(terms, arg, negated) {
                Some(part) => parts.entry(part.bitvec).or_insert_with(Vec::new).push(part),
                None => others.push(arg),
            }
        }
        for (_, mut parts) in parts {
            parts.sort_by_key(|part| part.low);
            let mut whole: Option<Part> = None;
            let mut add = |part: Part| {
                let formula = part.formula(terms);
                others.push(if negated { terms.not(formula) } else { formula });
            };
            for part in parts {
                whole = Some(match whole {
                    Some(below) if below.high + 1 == part.low => Part {
                        high: part.high,
                        value: below.value | part.value << (part.low - below.low),
                        ..below
                    },
                    Some(below) => {
                        add(below);
                        part
                    }
                    None => part,
                });
            }
            whole.into_iter().for_each(add);
        }
        match negated {
            false => terms.and(&others),
            true => terms.or(&others),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alphorn_term::{Assignment, Random, evaluate};

    /// All formulas over bits of two bit-vectors have the same values before and after.
    #[test]
    fn the_meaning_is_kept() {
        let terms = TermStore::new();
        let vectors = ["v", "w"].map(|n| terms.var(n, terms.bitvec_sort(3)));
        let mut random = Random::new(5);
        let mut smaller = 0;
        for _ in 0..500 {
            let mut literal = || {
                let (bitvec, at) = (vectors[random.below(2) as usize], random.below(3) as u32);
                let bit = terms.bv_op(&Op::BvExtract(at, at), &[bitvec]);
                terms.eq(bit, terms.bitvec(BigUint::from(random.below(2) as u32), 1))
            };
            let mut level: Vec<TermId> = (0..12).map(|_| literal()).collect();
            while level.len() > 1 {
                let is_and = level.len().is_multiple_of(2);
                let join = |chunk: &[TermId]| match is_and {
                    true => terms.and(chunk),
                    false => terms.or(chunk),
                };
                level = level.chunks(if is_and { 2 } else { 3 }).map(join).collect();
            }
            let after = joined(&terms, level[0]);
            smaller += usize::from(terms.dag_size(&[after]) < terms.dag_size(&[level[0]]));
            for values in 0..64u32 {
                let value = |at: u32| terms.bitvec(BigUint::from(values >> (3 * at)), 3);
                let point = [(vectors[0], value(0)), (vectors[1], value(1))];
                let point: Assignment = point.into_iter().collect();
                let [before, after] = [level[0], after].map(|f| evaluate(&terms, f, &point));
                assert_eq!(before, after);
            }
        }
        assert!(smaller > 100, "{smaller}");
    }

    #[test]
    fn bits_side_by_side_are_one_literal() {
        let terms = TermStore::new();
        let bitvec = terms.var("w", terms.bitvec_sort(8));
        let bit = |at: u32, value: u32| {
            let bit = terms.bv_op(&Op::BvExtract(at, at), &[bitvec]);
            terms.eq(bit, terms.bitvec(BigUint::from(value), 1))
        };
        let all: Vec<TermId> = (0..8).map(|at| bit(at, 0x5a >> at & 1)).collect();
        let whole = terms.eq(bitvec, terms.bitvec(BigUint::from(0x5a_u32), 8));
        assert_eq!(joined(&terms, terms.and(&all)), whole);
        let none: Vec<TermId> = all.iter().map(|&l| terms.not(l)).collect();
        assert_eq!(joined(&terms, terms.or(&none)), terms.not(whole));
    }
}
