//! The back-translation from integers to bit-vectors.
//!
//! Invariant: if integers are the values of bit-vectors in their readings, a formula over the integers and its
//! translation have the same value. Bit-vectors are extended until no computed value leaves their
//! range, so no conversion between bit-vectors and integers is left.

use num_traits::{One, Signed};
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use super::range::Range;
use super::readings::{Reading, Readings};
use super::translate::Twin;
use alphorn_chc::System;
use alphorn_term::{Assignment, BigInt, Op, Sort, SortId, TermId, TermStore};
use alphorn_witness::{Fact, Model, Refutation, RefutationStep};

/// The model over bit-vectors from one over integers; `None` if it cannot be expressed.
pub(super) fn model(twin: &Twin, found: &Model) -> Option<Model> {
    if !found.lemmas.is_empty() {
        return None;
    }
    let mut bit_vectors = BitVectors {
        terms: &twin.system.terms,
        params: &twin.params,
        readings: &twin.readings,
        ranges: FxHashMap::default(),
        formulas: FxHashMap::default(),
        made: FxHashMap::default(),
    };
    let mut definitions = FxHashMap::default();
    for (&predicate, &definition) in &found.definitions {
        definitions.insert(predicate, bit_vectors.formula(definition)?);
    }
    Some(Model {
        definitions,
        ..Model::default()
    })
}

/// The translation of formulas and terms.
struct BitVectors<'a> {
    terms: &'a TermStore,
    /// From formal variables of the twin to those over bit-vectors.
    params: &'a FxHashMap<TermId, TermId>,
    /// Of the formal variables over bit-vectors.
    readings: &'a Readings,
    /// The ranges of integer terms.
    ranges: FxHashMap<TermId, Range>,
    /// The translations of formulas.
    formulas: FxHashMap<TermId, TermId>,
    /// The translations of integer terms, by term and width.
    made: FxHashMap<(TermId, u32), TermId>,
}

impl BitVectors<'_> {
    /// The bit-vector variable of an integer variable, and its width.
    fn bit_vector_of(&self, t: TermId) -> Option<(TermId, u32)> {
        let &bit_vector = self.params.get(&t)?;
        match self.terms.sort(self.terms.sort_of(bit_vector)) {
            Sort::BitVec(width) => Some((bit_vector, width)),
            _ => None,
        }
    }

    /// Whether the term is an integer.
    fn is_number(&self, t: TermId) -> bool {
        self.terms.sort_of(t) == SortId::INT
    }

    /// The formula over bit-vectors.
    fn formula(&mut self, root: TermId) -> Option<TermId> {
        let terms = self.terms;
        let mut order = Vec::new();
        terms.post_order(&[root], |t| order.push(t));
        // Formulas contain numbers, and numbers contain formulas in conditions; in this order all
        // parts of a term are translated before it.
        for t in order {
            if self.is_number(t) {
                let range = self.range(t)?;
                self.ranges.insert(t, range);
            } else if !self.formulas.contains_key(&t) {
                let made = self.of_node(t)?;
                self.formulas.insert(t, made);
            }
        }
        self.formulas.get(&root).copied()
    }

    /// The translation of a formula whose parts are translated.
    fn of_node(&mut self, t: TermId) -> Option<TermId> {
        let terms = self.terms;
        let node = terms.node(t);
        match (&node.op, &*node.args) {
            (Op::Var(_), _) => Some(self.params.get(&t).copied().unwrap_or(t)),
            (op @ (Op::Le | Op::Ge | Op::Eq), &[a, b]) if self.is_number(a) => {
                self.comparison(op, a, b)
            }
            (Op::Forall(_) | Op::Exists(_) | Op::Call(_), _) => None,
            (_, args) if args.iter().any(|&a| self.is_number(a)) => None,
            (op, args) => {
                let args = args.iter().map(|a| self.formulas.get(a).copied());
                let args: Option<Vec<TermId>> = args.collect();
                Some(terms.rebuild(op, &args?, node.sort))
            }
        }
    }

    /// The translation of a comparison of integers.
    fn comparison(&mut self, op: &Op, a: TermId, b: TermId) -> Option<TermId> {
        let terms = self.terms;
        let (a, b) = match op {
            Op::Le => self.without_quotient(a, b),
            Op::Ge => {
                let (b, a) = self.without_quotient(b, a);
                (a, b)
            }
            _ => (a, b),
        };
        let (left, right) = (self.ranges[&a].clone(), self.ranges[&b].clone());
        let apart = left.high < right.low || right.high < left.low;
        match op {
            Op::Le if left.high <= right.low => return Some(TermId::TRUE),
            Op::Le if left.low > right.high => return Some(TermId::FALSE),
            Op::Ge if left.low >= right.high => return Some(TermId::TRUE),
            Op::Ge if left.high < right.low => return Some(TermId::FALSE),
            Op::Eq if apart => return Some(TermId::FALSE),
            _ => {}
        }
        let reading = self.least_reading(&[a, b]);
        let at_most = match reading {
            Reading::Signed => Op::BvSle,
            Reading::Unsigned => Op::BvUle,
        };
        let width = self.width(&[a, b], reading)?;
        let (x, y) = (self.bit_vector(a, width)?, self.bit_vector(b, width)?);
        Some(match op {
            Op::Le => terms.bv_op(&at_most, &[x, y]),
            Op::Ge => terms.bv_op(&at_most, &[y, x]),
            _ => terms.eq(x, y),
        })
    }

    /// The sides of `a <= b`. If a quotient is compared with a numeral, its dividend is compared
    /// instead, since division of bit-vectors is hard for solvers.
    fn without_quotient(&mut self, a: TermId, b: TermId) -> (TermId, TermId) {
        let terms = self.terms;
        let quotient = |t: TermId| match (terms.op(t), terms.args(t)) {
            (Op::IDiv, &[of, by]) => {
                let by = terms.as_int(by).filter(|by| by.is_positive())?;
                Some((of, by.clone()))
            }
            _ => None,
        };
        let mut numeral = |bound: BigInt| {
            let numeral = terms.int(bound.clone());
            self.ranges.insert(numeral, Range::point(bound));
            numeral
        };
        match (terms.as_int(a), quotient(a), terms.as_int(b), quotient(b)) {
            (Some(least), _, _, Some((of, by))) => (numeral(least * by), of),
            (_, Some((of, by)), Some(most), _) => (of, numeral(most * &by + by - 1)),
            _ => (a, b),
        }
    }

    /// The reading at which fewer bits are needed: unsigned, if no value is negative and none is
    /// computed by a division of signed values.
    fn least_reading(&self, roots: &[TermId]) -> Reading {
        let terms = self.terms;
        let mut reading = Reading::Unsigned;
        terms.post_order(roots, |t| {
            let is_negative = |range: &Range| range.low.is_negative();
            if self.ranges.get(&t).is_some_and(is_negative) || matches!(terms.op(t), Op::Mod) {
                reading = Reading::Signed;
            }
        });
        reading
    }

    /// A width at which no value leaves the range when these numbers are computed.
    fn width(&self, roots: &[TermId], reading: Reading) -> Option<u32> {
        let terms = self.terms;
        let mut width = 1;
        terms.post_order(roots, |t| {
            if let Some(range) = self.ranges.get(&t) {
                width = width.max(match reading {
                    Reading::Signed => range.width(),
                    Reading::Unsigned => range.high.bits(),
                });
                if let Some((_, own)) = self.bit_vector_of(t) {
                    width = width.max(u64::from(own));
                }
            }
        });
        (width <= LIMITS.max_width)
            .then_some(width)
            .and_then(|w| u32::try_from(w).ok())
    }

    /// A range of the number, and of the values from which it is computed.
    fn range(&self, t: TermId) -> Option<Range> {
        let terms = self.terms;
        let node = terms.node(t);
        let of = |a: &TermId| self.ranges.get(a).cloned();
        match (&node.op, &*node.args) {
            (Op::Var(_), _) => {
                let (bit_vector, width) = self.bit_vector_of(t)?;
                Some(self.readings.of(bit_vector).range(width))
            }
            (Op::Int(value), _) => Some(Range::point(value.clone())),
            (Op::Add, args) => {
                let mut parts = args.iter().map(of);
                let first = parts.next()??;
                parts.try_fold(first, |all, part| Some(all.plus(&part?)))
            }
            (Op::Mul, [a, b]) => {
                let factor = terms.as_int(*a)?;
                Some(of(b)?.times(factor))
            }
            (Op::Ite, [_, a, b]) => Some(of(a)?.hull(&of(b)?)),
            // A quotient is between the number and its negation. Its computation passes the
            // multiple of the divisor below the number.
            (Op::IDiv, [a, b]) => {
                let divisor = terms.as_int(*b).filter(|d| d.is_positive())?;
                let range = of(a)?;
                let both = range.hull(&range.times(&-BigInt::one()));
                Some(both.plus(&Range {
                    low: -divisor,
                    high: divisor.clone(),
                }))
            }
            (Op::Mod, [_, b]) => {
                let divisor = terms.as_int(*b).filter(|d| d.is_positive())?;
                Some(Range {
                    low: BigInt::from(0),
                    high: divisor.clone(),
                })
            }
            _ => None,
        }
    }

    /// The number as a bit-vector of a sufficient width.
    fn bit_vector(&mut self, root: TermId, width: u32) -> Option<TermId> {
        let terms = self.terms;
        let mut order = Vec::new();
        terms.post_order(&[root], |t| order.push(t));
        for t in order {
            if self.is_number(t) && !self.made.contains_key(&(t, width)) {
                let made = self.of_number(t, width)?;
                self.made.insert((t, width), made);
            }
        }
        self.made.get(&(root, width)).copied()
    }

    /// The translation of a number whose parts are translated.
    fn of_number(&self, t: TermId, width: u32) -> Option<TermId> {
        let terms = self.terms;
        let node = terms.node(t);
        let of = |a: &TermId| self.made.get(&(*a, width)).copied();
        let numeral = |value: &BigInt| {
            let value = Range::unsigned(width).wrapped(value);
            Some(terms.bitvec(value.to_biguint()?, width))
        };
        match (&node.op, &*node.args) {
            (Op::Var(_), _) => {
                let (bit_vector, own) = self.bit_vector_of(t)?;
                let extend = match self.readings.of(bit_vector) {
                    Reading::Signed => Op::BvSignExtend(width - own),
                    Reading::Unsigned => Op::BvZeroExtend(width - own),
                };
                Some(terms.bv_op(&extend, &[bit_vector]))
            }
            (Op::Int(value), _) => numeral(value),
            (Op::Add, args) => {
                let args: Option<Vec<TermId>> = args.iter().map(of).collect();
                Some(terms.bv_op(&Op::BvAdd, &args?))
            }
            (Op::Mul, [a, b]) => {
                let factor = numeral(terms.as_int(*a)?)?;
                Some(terms.bv_op(&Op::BvMul, &[factor, of(b)?]))
            }
            (Op::Ite, [condition, a, b]) => {
                let condition = self.formulas.get(condition).copied()?;
                Some(terms.ite(condition, of(a)?, of(b)?))
            }
            // For powers of two, rest and quotient are bits, which is easier than division.
            (Op::Mod, [a, b]) => {
                let divisor = terms.as_int(*b)?;
                if is_power_of_two(divisor) {
                    let mask = numeral(&(divisor - 1))?;
                    return Some(terms.bv_op(&Op::BvAnd, &[of(a)?, mask]));
                }
                Some(terms.bv_op(&Op::BvSmod, &[of(a)?, numeral(divisor)?]))
            }
            (Op::IDiv, [a, b]) => {
                let divisor = terms.as_int(*b)?;
                if is_power_of_two(divisor) {
                    let places = numeral(&BigInt::from(divisor.bits() - 1))?;
                    return Some(terms.bv_op(&Op::BvAshr, &[of(a)?, places]));
                }
                let divisor = numeral(divisor)?;
                let rest = terms.bv_op(&Op::BvSmod, &[of(a)?, divisor]);
                let multiple = terms.bv_sub(of(a)?, rest);
                Some(terms.bv_op(&Op::BvSdiv, &[multiple, divisor]))
            }
            _ => None,
        }
    }
}

/// Whether the number is a power of two.
fn is_power_of_two(number: &BigInt) -> bool {
    number.is_positive() && number.trailing_zeros() == Some(number.bits() - 1)
}

/// The derivation over bit-vectors from one over integers; `None` if a value is missing.
pub(super) fn refutation(
    bit_vectors: &System,
    twin: &Twin,
    found: &Refutation,
) -> Option<Refutation> {
    let terms = &bit_vectors.terms;
    let index = twin.system.clause_index();
    let to_bit_vector = |sort: SortId, value: TermId| match terms.sort(sort) {
        Sort::BitVec(width) => {
            let number = Range::unsigned(width).wrapped(terms.as_int(value)?);
            Some(terms.bitvec(number.to_biguint()?, width))
        }
        _ => Some(value),
    };
    let step = |step: &RefutationStep| {
        let at = *index.get(&step.clause)?;
        let clause = &bit_vectors.clauses[at];
        let mut values = Assignment::default();
        for var in clause.vars(terms) {
            let twin = twin.variables[at].get(&var).copied().unwrap_or(var);
            let value = step.values.get(&twin).copied();
            let value = match value {
                Some(value) => to_bit_vector(terms.sort_of(var), value)?,
                None => terms.default_value(terms.sort_of(var))?,
            };
            values.insert(var, value);
        }
        let fact = match &step.fact {
            Some(fact) => {
                let params = &bit_vectors.predicate(fact.predicate).params;
                let pairs = params.iter().zip(&fact.values);
                let values = pairs.map(|(&p, &v)| to_bit_vector(terms.sort_of(p), v));
                Some(Fact {
                    predicate: fact.predicate,
                    values: values.collect::<Option<_>>()?,
                })
            }
            None => None,
        };
        Some(RefutationStep {
            clause: clause.id,
            values,
            premises: step.premises.clone(),
            fact,
        })
    };
    let steps: Option<Vec<RefutationStep>> = found.steps.iter().map(step).collect();
    Some(Refutation { steps: steps? })
}
