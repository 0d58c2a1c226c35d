//! Bit-vectors: known bits with unsigned and signed bounds, for all operators.
//!
//! Terms are evaluated bottom-up from their variables; a fact about a term restricts its variables
//! where an operator can be inverted. All arithmetic is modulo two to the width.
//!
//! Invariant: an element maps no variable to the set of all values.

use std::collections::BTreeMap;
use std::rc::Rc;

use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::bitvec::{AbstractBitvec, mask, signed, wrapped};
use super::cube::{Cube, Fact};
use super::nonempty::NonemptyDomain;
use alphorn_term::{BigInt, BigUint, Op, Sort, TermId, TermStore};

/// Limits of the domain of bits.
struct Limits {
    /// Rounds of propagation through the facts of a cube; further ones are left out.
    max_rounds: usize,
    /// Bits of a bit-vector; wider ones are ignored.
    max_width: u32,
}

const LIMITS: Limits = Limits {
    max_rounds: 3,
    max_width: 512,
};

/// Known bits (as in compilers; Regehr and Duongsaad, LCTES 2006) with unsigned and signed bounds.
pub struct Bits {
    terms: Rc<TermStore>,
    /// The bounds to which widening goes first, ascending.
    thresholds: Vec<BigInt>,
}

type Bitvecs = BTreeMap<TermId, AbstractBitvec>;

impl Bits {
    /// The domain over a store; widening goes to the next of the thresholds first.
    pub fn new(terms: Rc<TermStore>, mut thresholds: Vec<BigInt>) -> Self {
        thresholds.sort_unstable();
        thresholds.dedup();
        Bits { terms, thresholds }
    }

    fn width(&self, term: TermId) -> Option<u32> {
        match self.terms.sort(self.terms.sort_of(term)) {
            Sort::BitVec(width) if width <= LIMITS.max_width => Some(width),
            _ => None,
        }
    }

    /// The abstract value of a term of a bit-vector sort.
    fn evaluate(
        &self,
        bitvecs: &Bitvecs,
        memo: &mut FxHashMap<TermId, AbstractBitvec>,
        term: TermId,
    ) -> AbstractBitvec {
        let terms = &self.terms;
        let mut stack = vec![term];
        while let Some(&top) = stack.last() {
            if memo.contains_key(&top) {
                stack.pop();
                continue;
            }
            let Some(width) = self.width(top) else {
                memo.insert(top, AbstractBitvec::any(terms.width(top)));
                continue;
            };
            let args: &[TermId] = match terms.op(top) {
                Op::Ite => &terms.args(top)[1..],
                Op::Select | Op::Field(..) | Op::IntToBv(_) | Op::Var(_) | Op::BitVec(_) => &[],
                _ => terms.args(top),
            };
            let open = args.iter().filter(|a| !memo.contains_key(a));
            let before = stack.len();
            stack.extend(open.copied().collect::<Vec<_>>());
            if stack.len() > before {
                continue;
            }
            let args: Vec<AbstractBitvec> = args.iter().map(|a| memo[a].clone()).collect();
            let bitvec = match (terms.op(top), &args[..]) {
                (Op::BitVec(value), _) => AbstractBitvec::value(value, width),
                (Op::Ite, [a, b]) => a.join(b),
                (op, args) => AbstractBitvec::apply(op, args, width)
                    .unwrap_or_else(|| AbstractBitvec::any(width)),
            };
            let bitvec = match bitvecs.get(&top).and_then(|own| own.meet(&bitvec)) {
                Some(bitvec) => bitvec,
                None => bitvec,
            };
            memo.insert(top, bitvec);
        }
        memo[&term].clone()
    }

    /// Restricts the values of a term; false if none is left.
    fn restrict(&self, state: &mut State, term: TermId, bitvec: AbstractBitvec) -> bool {
        let terms = &self.terms;
        let mut open = vec![(term, bitvec)];
        while let Some((term, bitvec)) = open.pop() {
            let Some(width) = self.width(term).filter(|w| *w == bitvec.width) else {
                continue;
            };
            let known = self.evaluate(&state.bitvecs, &mut state.memo, term);
            let Some(new) = known.meet(&bitvec) else {
                return false;
            };
            if new == known || terms.is_value(term) {
                continue;
            }
            state.changed = true;
            state.memo.insert(term, new.clone());
            state.bitvecs.insert(term, new.clone());
            debug_assert_eq!(new.width, width);
            let op = terms.op(term);
            let args = terms.args(term);
            if args.is_empty() || matches!(op, Op::Ite | Op::Select | Op::Field(..)) {
                continue;
            }
            if args.iter().any(|a| self.width(*a).is_none()) {
                continue;
            }
            let bitvecs: Vec<AbstractBitvec> = args
                .iter()
                .map(|a| self.evaluate(&state.bitvecs, &mut state.memo, *a))
                .collect();
            for (arg, back) in args.iter().zip(new.back(op, &bitvecs)) {
                if let Some(back) = back {
                    open.push((*arg, back));
                }
            }
        }
        true
    }

    /// Restricts values by an atom or its negation; false for a contradiction.
    fn atom(&self, state: &mut State, atom: TermId, holds: bool) -> bool {
        let terms = &self.terms;
        let op = terms.op(atom);
        let [a, b] = *terms.args(atom) else {
            return true;
        };
        let Some(width) = self.width(a).filter(|w| *w > 0) else {
            return true;
        };
        let left = self.evaluate(&state.bitvecs, &mut state.memo, a);
        let right = self.evaluate(&state.bitvecs, &mut state.memo, b);
        let gap = u32::from(!holds);
        match op {
            Op::Eq if holds => match left.meet(&right) {
                Some(both) => {
                    self.restrict(state, a, both.clone()) && self.restrict(state, b, both)
                }
                None => false,
            },
            Op::Eq => {
                let cut = |bitvec: &AbstractBitvec, value: &BigUint| {
                    let mut bitvec = bitvec.clone();
                    if bitvec.low == *value {
                        bitvec.low += 1u32;
                    }
                    if bitvec.high == *value && !bitvec.high.is_zero() {
                        bitvec.high -= 1u32;
                    }
                    let number = signed(value, width);
                    if bitvec.least == number {
                        bitvec.least += 1;
                    }
                    if bitvec.most == number {
                        bitvec.most -= 1;
                    }
                    (bitvec.low <= bitvec.high && bitvec.least <= bitvec.most)
                        .then(|| bitvec.reduced())
                        .flatten()
                };
                [(a, &left, &right), (b, &right, &left)]
                    .into_iter()
                    .all(|(term, own, other)| match other.constant() {
                        Some(value) => match cut(own, value) {
                            Some(bitvec) => self.restrict(state, term, bitvec),
                            None => false,
                        },
                        None => true,
                    })
            }
            Op::BvUle => {
                // `small + gap <= large`
                let ((s, small), (l, large)) = if holds {
                    ((a, left), (b, right))
                } else {
                    ((b, right), (a, left))
                };
                let least = &small.low + gap;
                if large.high < least {
                    return false;
                }
                let below = AbstractBitvec::between(BigUint::zero(), &large.high - gap, width);
                let above = AbstractBitvec::between(least, mask(width), width);
                match (below, above) {
                    (Some(below), Some(above)) => {
                        self.restrict(state, s, below) && self.restrict(state, l, above)
                    }
                    _ => false,
                }
            }
            Op::BvSle => {
                let ((s, small), (l, large)) = if holds {
                    ((a, left), (b, right))
                } else {
                    ((b, right), (a, left))
                };
                let any = AbstractBitvec::any(width);
                let below =
                    AbstractBitvec::signed_between(any.least.clone(), large.most - gap, width);
                let above = AbstractBitvec::signed_between(small.least + gap, any.most, width);
                match (below, above) {
                    (Some(below), Some(above)) => {
                        self.restrict(state, s, below) && self.restrict(state, l, above)
                    }
                    _ => false,
                }
            }
            _ => true,
        }
    }

    fn fact(&self, state: &mut State, fact: &Fact) -> bool {
        match *fact {
            Fact::Value(a, b) | Fact::Same(a, b) if self.width(a).is_some() => {
                let left = self.evaluate(&state.bitvecs, &mut state.memo, a);
                let right = self.evaluate(&state.bitvecs, &mut state.memo, b);
                match left.meet(&right) {
                    Some(both) => {
                        self.restrict(state, a, both.clone()) && self.restrict(state, b, both)
                    }
                    None => false,
                }
            }
            Fact::Value(atom, value) => match self.terms.as_bool(value) {
                Some(holds) => self.atom(state, atom, holds),
                None => true,
            },
            _ => true,
        }
    }

    /// The least threshold that is not below the value.
    fn above(&self, value: &BigInt) -> Option<&BigInt> {
        let at = self.thresholds.partition_point(|t| t < value);
        self.thresholds.get(at)
    }

    /// The greatest threshold that is not above the value.
    fn below(&self, value: &BigInt) -> Option<&BigInt> {
        let at = self.thresholds.partition_point(|t| t <= value);
        at.checked_sub(1).map(|at| &self.thresholds[at])
    }

    fn widened(&self, old: &AbstractBitvec, new: &AbstractBitvec) -> AbstractBitvec {
        let any = AbstractBitvec::any(old.width);
        let mut bitvec = old.join(new);
        let number = |value: &BigUint| BigInt::from(value.clone());
        if new.low < old.low {
            let low = self
                .below(&number(&bitvec.low))
                .filter(|t| !t.is_negative());
            bitvec.low = low.and_then(BigInt::to_biguint).unwrap_or_default();
        }
        if new.high > old.high {
            let high = self
                .above(&number(&bitvec.high))
                .and_then(BigInt::to_biguint);
            bitvec.high = high.unwrap_or_else(|| any.high.clone()).min(any.high);
        }
        if new.least < old.least {
            let least = self.below(&bitvec.least).cloned();
            bitvec.least = least.unwrap_or_else(|| any.least.clone()).max(any.least);
        }
        if new.most > old.most {
            let most = self.above(&bitvec.most).cloned();
            bitvec.most = most.unwrap_or_else(|| any.most.clone()).min(any.most);
        }
        bitvec.clone().reduced().unwrap_or(bitvec)
    }

    /// The variables that both constrain.
    fn combine(
        a: &Bitvecs,
        b: &Bitvecs,
        both: impl Fn(&AbstractBitvec, &AbstractBitvec) -> AbstractBitvec,
    ) -> Bitvecs {
        let mut result = Bitvecs::new();
        for (&var, bitvec) in a {
            let Some(other) = b.get(&var) else { continue };
            let bitvec = both(bitvec, other);
            if !bitvec.is_any() {
                result.insert(var, bitvec);
            }
        }
        result
    }

    /// Adds formulas for the values of a term.
    fn conjuncts(&self, var: TermId, bitvec: &AbstractBitvec, conjuncts: &mut Vec<TermId>) {
        let terms = &self.terms;
        let width = bitvec.width;
        let any = AbstractBitvec::any(width);
        let value = |v: &BigUint| terms.bitvec(v.clone(), width);
        if let Some(constant) = bitvec.constant() {
            conjuncts.push(terms.eq(var, value(constant)));
            return;
        }
        if !bitvec.low.is_zero() {
            conjuncts.push(terms.bv_op(&Op::BvUle, &[value(&bitvec.low), var]));
        }
        if bitvec.high != any.high {
            conjuncts.push(terms.bv_op(&Op::BvUle, &[var, value(&bitvec.high)]));
        }
        // If the sign is known, both intervals are equivalent.
        let crossing = bitvec.least.is_negative() && !bitvec.most.is_negative();
        if crossing && bitvec.least != any.least {
            let least = value(&wrapped(&bitvec.least, width));
            conjuncts.push(terms.bv_op(&Op::BvSle, &[least, var]));
        }
        if crossing && bitvec.most != any.most {
            let most = value(&wrapped(&bitvec.most, width));
            conjuncts.push(terms.bv_op(&Op::BvSle, &[var, most]));
        }
        // Sequences of known bits below the common prefix of the bounds.
        let known = &bitvec.zeros | &bitvec.ones;
        let end = (&bitvec.low ^ &bitvec.high).bits() as u32;
        let mut at = 0;
        while at < end {
            if !known.bit(u64::from(at)) {
                at += 1;
                continue;
            }
            let start = at;
            while at < end && known.bit(u64::from(at)) {
                at += 1;
            }
            let run = terms.bv_op(&Op::BvExtract(at - 1, start), &[var]);
            let bits = (&bitvec.ones >> start) & mask(at - start);
            conjuncts.push(terms.eq(run, terms.bitvec(bits, at - start)));
        }
    }
}

/// An element under construction, with the values of terms.
struct State {
    bitvecs: Bitvecs,
    memo: FxHashMap<TermId, AbstractBitvec>,
    changed: bool,
}

impl NonemptyDomain for Bits {
    type Set = Bitvecs;

    fn terms(&self) -> &TermStore {
        &self.terms
    }

    fn all(&self) -> Self::Set {
        Bitvecs::new()
    }

    fn transfer(
        &self,
        inputs: &[&Self::Set],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Option<Self::Set> {
        let mut bitvecs = Bitvecs::new();
        for input in inputs {
            for (&var, bitvec) in *input {
                let bitvec = match bitvecs.get(&var) {
                    Some(known) => known.meet(bitvec)?,
                    None => bitvec.clone(),
                };
                bitvecs.insert(var, bitvec);
            }
        }
        let mut state = State {
            bitvecs,
            memo: FxHashMap::default(),
            changed: false,
        };
        let about = |fact: &&Fact| match **fact {
            Fact::Value(a, _) | Fact::Same(a, _) => {
                self.width(a).is_some()
                    || self
                        .terms
                        .args(a)
                        .first()
                        .is_some_and(|t| self.width(*t).is_some())
            }
            Fact::Linear(_) => false,
        };
        let facts: Vec<&Fact> = cube.facts.iter().filter(about).collect();
        for _ in 0..LIMITS.max_rounds {
            state.changed = false;
            // Values of terms may be more precise now.
            state.memo.clear();
            for fact in &facts {
                if !self.fact(&mut state, fact) {
                    return None;
                }
            }
            if !state.changed {
                break;
            }
        }
        let mut bitvecs = state.bitvecs;
        bitvecs.retain(|var, bitvec| {
            !bitvec.is_any()
                && keep.map_or_else(|| self.terms.is_var(*var), |kept| kept.contains(var))
        });
        Some(bitvecs)
    }

    fn join(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        Some(Self::combine(a, b, AbstractBitvec::join))
    }

    fn widen(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        Some(Self::combine(a, b, |old, new| self.widened(old, new)))
    }

    fn entails(&self, a: &Self::Set, b: &Self::Set) -> bool {
        b.iter().all(|(var, bitvec)| {
            let own = a.get(var);
            own.is_some_and(|own| own.within(bitvec))
        })
    }

    fn rename(&self, set: &Self::Set, map: &FxHashMap<TermId, TermId>) -> Option<Self::Set> {
        let renamed = |v: &TermId| map.get(v).copied().unwrap_or(*v);
        let bitvecs = set.iter();
        Some(bitvecs.map(|(v, w)| (renamed(v), w.clone())).collect())
    }

    fn listens(&self) -> bool {
        false
    }

    fn facts(&self, set: &Self::Set) -> Vec<Fact> {
        set.iter()
            .filter_map(|(&var, bitvec)| {
                let value = self.terms.bitvec(bitvec.constant()?.clone(), bitvec.width);
                Some(Fact::Value(var, value))
            })
            .collect()
    }

    fn formula(&self, set: &Self::Set) -> Vec<TermId> {
        let mut conjuncts = Vec::new();
        for (&var, bitvec) in set {
            self.conjuncts(var, bitvec, &mut conjuncts);
        }
        conjuncts
    }
}

/// The upper bits of an abstract value that follow from the lower bits and either a constant or
/// their sign: their number, and the constant (`None` for the sign). At least one bit is left.
pub fn spare(bitvec: &AbstractBitvec) -> Option<(u32, Option<BigUint>)> {
    let width = bitvec.width;
    let known = &bitvec.zeros | &bitvec.ones;
    let constant = (0..width)
        .rev()
        .take_while(|&i| known.bit(u64::from(i)))
        .count() as u32;
    let constant = constant.min(width.saturating_sub(1));
    // Signed numbers of this many bits.
    let bits = |value: &BigInt| {
        let value = if value.is_negative() {
            -value - BigInt::one()
        } else {
            value.clone()
        };
        value.bits() as u32 + 1
    };
    let sign = width - bits(&bitvec.least).max(bits(&bitvec.most)).min(width);
    if constant == 0 && sign == 0 {
        return None;
    }
    if constant >= sign {
        Some((constant, Some(&bitvec.ones >> (width - constant))))
    } else {
        Some((sign, None))
    }
}
