//! What was found out about integers, said of the words that they are.
//!
//! Invariant: on the integers that words are, a formula of integers and what is made of it have the
//! same truth value. Words are extended until nothing that is computed leaves its range, so no
//! conversion between words and integers is left.

use num_traits::{One, Signed};
use rustc_hash::FxHashMap;

use super::range::Range;
use super::translate::Twin;
use alphorn_chc::System;
use alphorn_term::{Assignment, BigInt, Op, Sort, SortId, TermId, TermStore};
use alphorn_witness::{Fact, Model, Refutation, RefutationStep};

/// Wider words than this are not made.
const WIDEST: u64 = 256;

/// The model of words that one of integers is; `None` where it says what words cannot say.
pub(super) fn model(twin: &Twin, found: &Model) -> Option<Model> {
    if !found.lemmas.is_empty() {
        return None;
    }
    let mut words = Words {
        terms: &twin.system.terms,
        params: &twin.params,
        ranges: FxHashMap::default(),
        formulas: FxHashMap::default(),
        made: FxHashMap::default(),
    };
    let mut definitions = FxHashMap::default();
    for (&predicate, &definition) in &found.definitions {
        definitions.insert(predicate, words.formula(definition)?);
    }
    Some(Model {
        definitions,
        ..Model::default()
    })
}

struct Words<'a> {
    terms: &'a TermStore,
    params: &'a FxHashMap<TermId, TermId>,
    ranges: FxHashMap<TermId, Range>,
    formulas: FxHashMap<TermId, TermId>,
    /// By term and width.
    made: FxHashMap<(TermId, u32), TermId>,
}

impl Words<'_> {
    fn word_of(&self, t: TermId) -> Option<(TermId, u32)> {
        let &word = self.params.get(&t)?;
        match self.terms.sort(self.terms.sort_of(word)) {
            Sort::BitVec(width) => Some((word, width)),
            _ => None,
        }
    }

    fn is_number(&self, t: TermId) -> bool {
        self.terms.sort_of(t) == SortId::INT
    }

    /// The formula with all that it says of integers said of words.
    fn formula(&mut self, root: TermId) -> Option<TermId> {
        let terms = self.terms;
        let mut order = Vec::new();
        terms.post_order(&[root], |t| order.push(t));
        // Numbers stand below formulas, and formulas in the conditions of numbers: in this order
        // all that a term needs is there.
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
        let width = self.width(&[a, b])?;
        let (x, y) = (self.word(a, width)?, self.word(b, width)?);
        Some(match op {
            Op::Le => terms.bv_op(&Op::BvSle, &[x, y]),
            Op::Ge => terms.bv_op(&Op::BvSle, &[y, x]),
            _ => terms.eq(x, y),
        })
    }

    /// The sides of `a <= b` where a quotient that is compared with a numeral gives way to what is
    /// divided: words are hard to divide.
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

    /// Words so wide have all that is computed for these numbers.
    fn width(&self, roots: &[TermId]) -> Option<u32> {
        let terms = self.terms;
        let mut width = 1;
        terms.post_order(roots, |t| {
            if let Some(range) = self.ranges.get(&t) {
                width = width.max(range.width());
                if let Some((_, own)) = self.word_of(t) {
                    width = width.max(u64::from(own));
                }
            }
        });
        (width <= WIDEST)
            .then_some(width)
            .and_then(|w| u32::try_from(w).ok())
    }

    /// What a number may be.
    fn range(&self, t: TermId) -> Option<Range> {
        let terms = self.terms;
        let node = terms.node(t);
        let of = |a: &TermId| self.ranges.get(a).cloned();
        match (&node.op, &*node.args) {
            (Op::Var(_), _) => self.word_of(t).map(|(_, width)| Range::signed(width)),
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
            // A quotient is between the number and its opposite. Its computation comes to the
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

    /// A number as a word of a width that has it.
    fn word(&mut self, root: TermId, width: u32) -> Option<TermId> {
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
                let (word, own) = self.word_of(t)?;
                Some(terms.bv_op(&Op::BvSignExtend(width - own), &[word]))
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
            // Of a power of two, rest and quotient are bits of the word: no solver likes division.
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

fn is_power_of_two(number: &BigInt) -> bool {
    number.is_positive() && number.trailing_zeros() == Some(number.bits() - 1)
}

/// The derivation by the clauses over words that one by those over integers is; `None` if a value
/// is missing.
pub(super) fn refutation(words: &System, twin: &Twin, found: &Refutation) -> Option<Refutation> {
    let terms = &words.terms;
    let index = twin.system.clause_index();
    let to_word = |sort: SortId, value: TermId| match terms.sort(sort) {
        Sort::BitVec(width) => {
            let number = Range::unsigned(width).wrapped(terms.as_int(value)?);
            Some(terms.bitvec(number.to_biguint()?, width))
        }
        _ => Some(value),
    };
    let step = |step: &RefutationStep| {
        let at = *index.get(&step.clause)?;
        let clause = &words.clauses[at];
        let mut values = Assignment::default();
        for var in clause.vars(terms) {
            let twin = twin.variables[at].get(&var).copied().unwrap_or(var);
            let value = step.values.get(&twin).copied();
            let value = match value {
                Some(value) => to_word(terms.sort_of(var), value)?,
                None => terms.default_value(terms.sort_of(var))?,
            };
            values.insert(var, value);
        }
        let fact = match &step.fact {
            Some(fact) => {
                let params = &words.predicate(fact.predicate).params;
                let pairs = params.iter().zip(&fact.values);
                let values = pairs.map(|(&p, &v)| to_word(terms.sort_of(p), v));
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
