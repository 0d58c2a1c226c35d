//! Decides atoms by the conjuncts of a constraint.
//!
//! Bounds on sums, and on the atoms of sums, decide comparisons inside other conjuncts. Equations
//! and disequations decide whether a read from a store reads the stored value.
//!
//! Invariant: a whole conjunct is decided only by equations and by bounds on single atoms; the
//! latter are never decided themselves, so no conjunct justifies itself.

use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Interval, is_theory_literal, read_bound};
use alphorn_arith::Comparison;
use alphorn_term::rational::{self, product};
use alphorn_term::{Linear, Op, Rational, TermId, TermStore};

/// An end of a range, and whether the range excludes it.
type End = Option<(Rational, bool)>;

#[derive(Clone, Default)]
struct Range {
    lower: End,
    upper: End,
}

pub(super) struct Known<'a> {
    terms: &'a TermStore,
    /// Bounds on the form `l - r` of [`read_bound`].
    sums: FxHashMap<(TermId, TermId), Range>,
    /// The same if the form is a single atom.
    atoms: FxHashMap<TermId, Range>,
    /// Values of sums, from equations.
    equations: FxHashMap<(TermId, TermId), Rational>,
    /// Equations and negated equations that are conjuncts.
    literals: FxHashSet<TermId>,
}

impl<'a> Known<'a> {
    pub(super) fn new(terms: &'a TermStore, conjuncts: &[TermId]) -> Self {
        let mut known = Known {
            terms,
            sums: FxHashMap::default(),
            atoms: FxHashMap::default(),
            equations: FxHashMap::default(),
            literals: FxHashSet::default(),
        };
        let mut intervals: FxHashMap<(TermId, TermId), Interval> = FxHashMap::default();
        for &conjunct in conjuncts {
            if let Some((key, bound)) = read_bound(terms, conjunct) {
                intervals.entry(key).or_default().add(bound, conjunct);
            } else if is_theory_literal(terms, conjunct) {
                known.literals.insert(conjunct);
                if *terms.op(conjunct) == Op::Eq
                    && let Some(equation) = Comparison::of(terms, conjunct)
                {
                    known.equations.insert(equation.sides, equation.value);
                }
            }
        }
        for (key, interval) in intervals {
            let range = Range {
                lower: interval.lower.map(|(value, strict, _)| (value, strict)),
                upper: interval.upper.map(|(value, strict, _)| (value, strict)),
            };
            if single(terms, key).is_some() {
                known.atoms.insert(key.0, range);
            } else {
                known.sums.insert(key, range);
            }
        }
        known
    }

    /// Whether there is nothing that could decide an atom.
    pub(super) fn is_empty(&self) -> bool {
        self.sums.is_empty() && self.atoms.is_empty() && self.literals.is_empty()
    }

    /// The conjunct with the decided atoms inside replaced. `memo` is shared by all conjuncts.
    pub(super) fn apply(&self, conjunct: TermId, memo: &mut FxHashMap<TermId, TermId>) -> TermId {
        let terms = self.terms;
        if !is_theory_literal(terms, conjunct) {
            return terms.rewrite_bottom_up(conjunct, memo, |t| self.simplify(t));
        }
        let (atom, negated) = match terms.node(conjunct) {
            node if node.op == Op::Not => (node.args[0], true),
            _ => (conjunct, false),
        };
        let node = terms.node(atom);
        if let Some(value) = self.decide_conjunct(atom) {
            return terms.bool(value != negated);
        }
        let args: Vec<TermId> = node
            .args
            .iter()
            .map(|&arg| terms.rewrite_bottom_up(arg, memo, |t| self.simplify(t)))
            .collect();
        if args == *node.args {
            return conjunct;
        }
        let new = terms.rebuild(&node.op, &args, node.sort);
        if negated { terms.not(new) } else { new }
    }

    /// Decides a comparison by an equation, and one of a sum by bounds on its atoms.
    fn decide_conjunct(&self, atom: TermId) -> Option<bool> {
        let read = Comparison::of(self.terms, atom).filter(|c| !c.strict)?;
        let (key, value) = (read.sides, read.value);
        if let Some(exact) = self.equations.get(&key) {
            return match self.terms.op(atom) {
                Op::Le => Some(*exact <= value),
                Op::Ge => Some(*exact >= value),
                // This is the equation itself.
                _ if *exact == value => None,
                _ => Some(false),
            };
        }
        if single(self.terms, key).is_some() && *self.terms.op(atom) != Op::Eq {
            return None;
        }
        // An equation that holds by bounds is kept, since it may still be solved.
        let decided = decide(self.terms.op(atom), &self.by_atoms(key), &value);
        decided.filter(|&d| !d || *self.terms.op(atom) != Op::Eq)
    }

    fn simplify(&self, term: TermId) -> TermId {
        let terms = self.terms;
        match terms.op(term) {
            Op::Le | Op::Ge | Op::Eq => match self.decide(term) {
                Some(value) => terms.bool(value),
                None => term,
            },
            Op::Select => self.read(term),
            _ => term,
        }
    }

    /// Simplifies reads of stores as far as equality of the indexes is decided.
    fn read(&self, term: TermId) -> TermId {
        let terms = self.terms;
        let [array, index] = *terms.args(term) else {
            return term;
        };
        let mut current = array;
        while *terms.op(current) == Op::Store {
            let node = terms.node(current);
            match self.decide(terms.eq(node.args[1], index)) {
                Some(true) => return node.args[2],
                Some(false) => current = node.args[0],
                None => break,
            }
        }
        if current == array {
            term
        } else {
            terms.select(current, index)
        }
    }

    /// The value of an atom inside a conjunct.
    fn decide(&self, atom: TermId) -> Option<bool> {
        match atom {
            TermId::TRUE => return Some(true),
            TermId::FALSE => return Some(false),
            _ if self.literals.contains(&atom) => return Some(true),
            _ => {}
        }
        let terms = self.terms;
        if *terms.op(atom) == Op::Eq && self.literals.contains(&terms.not(atom)) {
            return Some(false);
        }
        let read = Comparison::of(terms, atom).filter(|c| !c.strict)?;
        let (key, value) = (read.sides, read.value);
        if let Some(exact) = self.equations.get(&key) {
            return Some(match terms.op(atom) {
                Op::Le => *exact <= value,
                Op::Ge => *exact >= value,
                _ => *exact == value,
            });
        }
        let mut range = self.by_atoms(key);
        if let Some(known) = self.sums.get(&key) {
            range.meet(known);
        }
        decide(terms.op(atom), &range, &value)
    }

    /// The range of a form by the ranges of its atoms.
    fn by_atoms(&self, key: (TermId, TermId)) -> Range {
        let terms = self.terms;
        let mut sum = Range {
            lower: Some((Rational::zero(), false)),
            upper: Some((Rational::zero(), false)),
        };
        for (side, sign) in [(key.0, Rational::one()), (key.1, -Rational::one())] {
            for (atom, coefficient) in terms.linear(side).monomials {
                let factor = product(&sign, &coefficient);
                let range = self.range_of(atom);
                let (low, high) = if factor.is_positive() {
                    (range.lower, range.upper)
                } else {
                    (range.upper, range.lower)
                };
                sum.lower = add(sum.lower, low, &factor);
                sum.upper = add(sum.upper, high, &factor);
                if sum.lower.is_none() && sum.upper.is_none() {
                    return sum;
                }
            }
        }
        sum
    }

    fn range_of(&self, atom: TermId) -> Range {
        let terms = self.terms;
        let mut range = self.atoms.get(&atom).cloned().unwrap_or_default();
        let node = terms.node(atom);
        if node.op == Op::Mod
            && let Some(divisor) = terms.as_int(node.args[1])
            && !divisor.is_zero()
        {
            range.meet(&Range {
                lower: Some((Rational::zero(), false)),
                upper: Some((Rational::from_integer(divisor.abs() - 1), false)),
            });
        }
        range
    }
}

fn add(sum: End, end: End, factor: &Rational) -> End {
    let ((sum, a), (value, b)) = sum.zip(end)?;
    Some((rational::sum(&sum, &product(&value, factor)), a || b))
}

impl Range {
    fn meet(&mut self, other: &Range) {
        if let Some((value, strict)) = &other.lower {
            let better = match &self.lower {
                None => true,
                Some((own, own_strict)) => value > own || value == own && *strict && !own_strict,
            };
            if better {
                self.lower = Some((value.clone(), *strict));
            }
        }
        if let Some((value, strict)) = &other.upper {
            let better = match &self.upper {
                None => true,
                Some((own, own_strict)) => value < own || value == own && *strict && !own_strict,
            };
            if better {
                self.upper = Some((value.clone(), *strict));
            }
        }
    }
}

/// The atom that a form consists of, if it is a single one.
fn single(terms: &TermStore, key: (TermId, TermId)) -> Option<TermId> {
    let right: Linear = terms.linear(key.1);
    let atom = right.is_constant() && !matches!(terms.op(key.0), Op::Add | Op::Mul);
    atom.then_some(key.0)
}

fn decide(op: &Op, range: &Range, value: &Rational) -> Option<bool> {
    let below = |end: &End| matches!(end, Some((v, strict)) if v < value || v == value && *strict);
    let above = |end: &End| matches!(end, Some((v, strict)) if v > value || v == value && *strict);
    let at_most = matches!(&range.upper, Some((v, _)) if v <= value);
    let at_least = matches!(&range.lower, Some((v, _)) if v >= value);
    match op {
        Op::Le if at_most => Some(true),
        Op::Le if above(&range.lower) => Some(false),
        Op::Ge if at_least => Some(true),
        Op::Ge if below(&range.upper) => Some(false),
        Op::Eq if above(&range.lower) || below(&range.upper) => Some(false),
        Op::Eq if at_most && at_least => Some(true),
        _ => None,
    }
}
