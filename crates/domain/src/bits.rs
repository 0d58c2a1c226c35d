//! Bit-vectors: known bits with unsigned and signed bounds, through all operators.
//!
//! Terms are evaluated from their variables upward; what a fact says of a term goes back down to
//! them where an operator can be undone. All arithmetic is modulo two to the width.
//!
//! Invariant: an element has no word that says nothing.

use std::collections::BTreeMap;
use std::rc::Rc;

use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cube::{Cube, Fact};
use super::nonempty::NonemptyDomain;
use super::word::{Word, mask, signed, wrapped};
use alphorn_term::{BigInt, BigUint, Op, Sort, TermId, TermStore};

/// Rounds of propagation through the facts of a cube.
const ROUNDS: usize = 3;

/// Words that are wider are not looked at.
const WIDEST: u32 = 512;

/// Known bits (as in compilers; Regehr and Duongsaad, LCTES 2006) with bounds of both readings.
pub struct Bits {
    terms: Rc<TermStore>,
    /// Where widening of bounds stops, ascending.
    thresholds: Vec<BigInt>,
}

type Words = BTreeMap<TermId, Word>;

impl Bits {
    /// The domain over a store; widening goes to the next of these values first.
    pub fn new(terms: Rc<TermStore>, mut thresholds: Vec<BigInt>) -> Self {
        thresholds.sort_unstable();
        thresholds.dedup();
        Bits { terms, thresholds }
    }

    fn width(&self, term: TermId) -> Option<u32> {
        match self.terms.sort(self.terms.sort_of(term)) {
            Sort::BitVec(width) if width <= WIDEST => Some(width),
            _ => None,
        }
    }

    /// What is known of a term of a bit-vector sort.
    fn evaluate(&self, words: &Words, memo: &mut FxHashMap<TermId, Word>, term: TermId) -> Word {
        let terms = &self.terms;
        let mut stack = vec![term];
        while let Some(&top) = stack.last() {
            if memo.contains_key(&top) {
                stack.pop();
                continue;
            }
            let Some(width) = self.width(top) else {
                memo.insert(top, Word::any(terms.width(top)));
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
            let args: Vec<Word> = args.iter().map(|a| memo[a].clone()).collect();
            let word = match (terms.op(top), &args[..]) {
                (Op::BitVec(value), _) => Word::value(value, width),
                (Op::Ite, [a, b]) => a.join(b),
                (op, args) => Word::apply(op, args, width).unwrap_or_else(|| Word::any(width)),
            };
            let word = match words.get(&top).and_then(|own| own.meet(&word)) {
                Some(word) => word,
                None => word,
            };
            memo.insert(top, word);
        }
        memo[&term].clone()
    }

    /// Restricts a term to a word; false when nothing is left.
    fn restrict(&self, state: &mut State, term: TermId, word: Word) -> bool {
        let terms = &self.terms;
        let mut open = vec![(term, word)];
        while let Some((term, word)) = open.pop() {
            let Some(width) = self.width(term).filter(|w| *w == word.width) else {
                continue;
            };
            let known = self.evaluate(&state.words, &mut state.memo, term);
            let Some(new) = known.meet(&word) else {
                return false;
            };
            if new == known || terms.is_value(term) {
                continue;
            }
            state.changed = true;
            state.memo.insert(term, new.clone());
            state.words.insert(term, new.clone());
            debug_assert_eq!(new.width, width);
            let op = terms.op(term);
            let args = terms.args(term);
            if args.is_empty() || matches!(op, Op::Ite | Op::Select | Op::Field(..)) {
                continue;
            }
            if args.iter().any(|a| self.width(*a).is_none()) {
                continue;
            }
            let words: Vec<Word> = args
                .iter()
                .map(|a| self.evaluate(&state.words, &mut state.memo, *a))
                .collect();
            for (arg, back) in args.iter().zip(new.back(op, &words)) {
                if let Some(back) = back {
                    open.push((*arg, back));
                }
            }
        }
        true
    }

    /// What an atom says; false when it cannot hold.
    fn atom(&self, state: &mut State, atom: TermId, holds: bool) -> bool {
        let terms = &self.terms;
        let op = terms.op(atom);
        let [a, b] = *terms.args(atom) else {
            return true;
        };
        let Some(width) = self.width(a).filter(|w| *w > 0) else {
            return true;
        };
        let left = self.evaluate(&state.words, &mut state.memo, a);
        let right = self.evaluate(&state.words, &mut state.memo, b);
        let gap = u32::from(!holds);
        match op {
            Op::Eq if holds => match left.meet(&right) {
                Some(both) => {
                    self.restrict(state, a, both.clone()) && self.restrict(state, b, both)
                }
                None => false,
            },
            Op::Eq => {
                let cut = |word: &Word, value: &BigUint| {
                    let mut word = word.clone();
                    if word.low == *value {
                        word.low += 1u32;
                    }
                    if word.high == *value && !word.high.is_zero() {
                        word.high -= 1u32;
                    }
                    let number = signed(value, width);
                    if word.least == number {
                        word.least += 1;
                    }
                    if word.most == number {
                        word.most -= 1;
                    }
                    (word.low <= word.high && word.least <= word.most)
                        .then(|| word.reduced())
                        .flatten()
                };
                [(a, &left, &right), (b, &right, &left)]
                    .into_iter()
                    .all(|(term, own, other)| match other.constant() {
                        Some(value) => match cut(own, value) {
                            Some(word) => self.restrict(state, term, word),
                            None => false,
                        },
                        None => true,
                    })
            }
            Op::BvUle => {
                // small + gap <= large
                let ((s, small), (l, large)) = if holds {
                    ((a, left), (b, right))
                } else {
                    ((b, right), (a, left))
                };
                let least = &small.low + gap;
                if large.high < least {
                    return false;
                }
                let below = Word::between(BigUint::zero(), &large.high - gap, width);
                let above = Word::between(least, mask(width), width);
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
                let any = Word::any(width);
                let below = Word::signed_between(any.least.clone(), large.most - gap, width);
                let above = Word::signed_between(small.least + gap, any.most, width);
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
                let left = self.evaluate(&state.words, &mut state.memo, a);
                let right = self.evaluate(&state.words, &mut state.memo, b);
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

    fn widened(&self, old: &Word, new: &Word) -> Word {
        let any = Word::any(old.width);
        let mut word = old.join(new);
        let number = |value: &BigUint| BigInt::from(value.clone());
        if new.low < old.low {
            let low = self.below(&number(&word.low)).filter(|t| !t.is_negative());
            word.low = low.and_then(BigInt::to_biguint).unwrap_or_default();
        }
        if new.high > old.high {
            let high = self.above(&number(&word.high)).and_then(BigInt::to_biguint);
            word.high = high.unwrap_or_else(|| any.high.clone()).min(any.high);
        }
        if new.least < old.least {
            let least = self.below(&word.least).cloned();
            word.least = least.unwrap_or_else(|| any.least.clone()).max(any.least);
        }
        if new.most > old.most {
            let most = self.above(&word.most).cloned();
            word.most = most.unwrap_or_else(|| any.most.clone()).min(any.most);
        }
        word.clone().reduced().unwrap_or(word)
    }

    /// The variables that both constrain.
    fn combine(a: &Words, b: &Words, both: impl Fn(&Word, &Word) -> Word) -> Words {
        let mut result = Words::new();
        for (&var, word) in a {
            let Some(other) = b.get(&var) else { continue };
            let word = both(word, other);
            if !word.is_any() {
                result.insert(var, word);
            }
        }
        result
    }

    /// The word as formulas about a term.
    fn conjuncts(&self, var: TermId, word: &Word, conjuncts: &mut Vec<TermId>) {
        let terms = &self.terms;
        let width = word.width;
        let any = Word::any(width);
        let value = |v: &BigUint| terms.bitvec(v.clone(), width);
        if let Some(constant) = word.constant() {
            conjuncts.push(terms.eq(var, value(constant)));
            return;
        }
        if !word.low.is_zero() {
            conjuncts.push(terms.bv_op(&Op::BvUle, &[value(&word.low), var]));
        }
        if word.high != any.high {
            conjuncts.push(terms.bv_op(&Op::BvUle, &[var, value(&word.high)]));
        }
        // With a known sign both intervals say the same.
        let crossing = word.least.is_negative() && !word.most.is_negative();
        if crossing && word.least != any.least {
            let least = value(&wrapped(&word.least, width));
            conjuncts.push(terms.bv_op(&Op::BvSle, &[least, var]));
        }
        if crossing && word.most != any.most {
            let most = value(&wrapped(&word.most, width));
            conjuncts.push(terms.bv_op(&Op::BvSle, &[var, most]));
        }
        // Runs of known bits below those that the ends have in common.
        let known = &word.zeros | &word.ones;
        let end = (&word.low ^ &word.high).bits() as u32;
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
            let bits = (&word.ones >> start) & mask(at - start);
            conjuncts.push(terms.eq(run, terms.bitvec(bits, at - start)));
        }
    }
}

/// Words in the making, with those of terms made of them.
struct State {
    words: Words,
    memo: FxHashMap<TermId, Word>,
    changed: bool,
}

impl NonemptyDomain for Bits {
    type Set = Words;

    fn terms(&self) -> &TermStore {
        &self.terms
    }

    fn all(&self) -> Self::Set {
        Words::new()
    }

    fn transfer(
        &self,
        inputs: &[&Self::Set],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Option<Self::Set> {
        let mut words = Words::new();
        for input in inputs {
            for (&var, word) in *input {
                let word = match words.get(&var) {
                    Some(known) => known.meet(word)?,
                    None => word.clone(),
                };
                words.insert(var, word);
            }
        }
        let mut state = State {
            words,
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
        for _ in 0..ROUNDS {
            state.changed = false;
            // What was evaluated may be known better now.
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
        let mut words = state.words;
        words.retain(|var, word| {
            !word.is_any()
                && keep.map_or_else(|| self.terms.is_var(*var), |kept| kept.contains(var))
        });
        Some(words)
    }

    fn join(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        Some(Self::combine(a, b, Word::join))
    }

    fn widen(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        Some(Self::combine(a, b, |old, new| self.widened(old, new)))
    }

    fn entails(&self, a: &Self::Set, b: &Self::Set) -> bool {
        b.iter().all(|(var, word)| {
            let own = a.get(var);
            own.is_some_and(|own| own.within(word))
        })
    }

    fn rename(&self, set: &Self::Set, map: &FxHashMap<TermId, TermId>) -> Option<Self::Set> {
        let renamed = |v: &TermId| map.get(v).copied().unwrap_or(*v);
        let words = set.iter();
        Some(words.map(|(v, w)| (renamed(v), w.clone())).collect())
    }

    fn listens(&self) -> bool {
        false
    }

    fn facts(&self, set: &Self::Set) -> Vec<Fact> {
        set.iter()
            .filter_map(|(&var, word)| {
                let value = self.terms.bitvec(word.constant()?.clone(), word.width);
                Some(Fact::Value(var, value))
            })
            .collect()
    }

    fn formula(&self, set: &Self::Set) -> Vec<TermId> {
        let mut conjuncts = Vec::new();
        for (&var, word) in set {
            self.conjuncts(var, word, &mut conjuncts);
        }
        conjuncts
    }
}

/// The upper bits of a word that its lower ones and a constant or their sign tell: how many, and
/// the constant, which for a sign is `None`. At least one bit is left.
pub fn spare(word: &Word) -> Option<(u32, Option<BigUint>)> {
    let width = word.width;
    let known = &word.zeros | &word.ones;
    let constant = (0..width)
        .rev()
        .take_while(|&i| known.bit(u64::from(i)))
        .count() as u32;
    let constant = constant.min(width.saturating_sub(1));
    // Numbers of so many bits with their sign.
    let bits = |value: &BigInt| {
        let value = if value.is_negative() {
            -value - BigInt::one()
        } else {
            value.clone()
        };
        value.bits() as u32 + 1
    };
    let sign = width - bits(&word.least).max(bits(&word.most)).min(width);
    if constant == 0 && sign == 0 {
        return None;
    }
    if constant >= sign {
        Some((constant, Some(&word.ones >> (width - constant))))
    } else {
        Some((sign, None))
    }
}
