//! The number that stands for a bit-vector: its signed or its unsigned value.
//!
//! Bit-vectors that are added, compared with each other or passed as the same argument form a
//! class, like the variables of one type in a program. A class is read as most of the operators
//! want that are applied to it: orders, divisions, shifts to the right and extensions. Where these
//! are as many, it is signed.
//!
//! Invariant: the choice is a guess. A bad one makes terms larger and changes no answer.

use rustc_hash::{FxHashMap, FxHashSet};

use super::range::Range;
use alphorn_chc::System;
use alphorn_term::{Op, Sort, TermId, TermStore};
use alphorn_transform::Classes;

/// How a bit-vector is read as a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reading {
    Signed,
    Unsigned,
}

impl Reading {
    /// The values of bit-vectors of this width.
    pub fn range(self, width: u32) -> Range {
        match self {
            Reading::Signed => Range::signed(width),
            Reading::Unsigned => Range::unsigned(width),
        }
    }

    /// The reading in which an operator is one of integers.
    fn of_operator(op: &Op) -> Option<Reading> {
        match op {
            Op::BvSle | Op::BvSdiv | Op::BvSrem | Op::BvSmod | Op::BvAshr => Some(Reading::Signed),
            Op::BvUle | Op::BvUdiv | Op::BvUrem | Op::BvLshr => Some(Reading::Unsigned),
            _ => None,
        }
    }
}

/// The readings of a system's bit-vectors.
#[derive(Clone, Default)]
pub(super) struct Readings {
    unsigned: FxHashSet<TermId>,
}

impl Readings {
    /// Chooses a reading for each formal variable and each bit-vector in a clause.
    pub fn of_system(system: &System) -> Readings {
        let mut votes = Votes {
            terms: &system.terms,
            classes: Classes::default(),
            votes: FxHashMap::default(),
        };
        votes.classes.union_arguments(system);
        let params = system.predicates.iter().flat_map(|p| p.params.clone());
        let mut all: Vec<TermId> = params.collect();
        for clause in &system.clauses {
            all.extend(clause.vars(&system.terms));
            system.terms.post_order(&[clause.constraint], |t| {
                votes.term(t);
                all.push(t);
            });
        }
        let (mut classes, mut unsigned) = (votes.classes, FxHashMap::default());
        for (term, vote) in votes.votes {
            *unsigned.entry(classes.find(term)).or_insert(0) += vote;
        }
        let is_unsigned = |t: &TermId| unsigned.get(&classes.find(*t)).is_some_and(|&n| n > 0);
        Readings {
            unsigned: all.into_iter().filter(is_unsigned).collect(),
        }
    }

    /// The reading of a bit-vector; numerals are signed, since many are negative addends.
    pub fn of(&self, bit_vector: TermId) -> Reading {
        match self.unsigned.contains(&bit_vector) {
            true => Reading::Unsigned,
            false => Reading::Signed,
        }
    }
}

/// What the operators want.
struct Votes<'a> {
    terms: &'a TermStore,
    classes: Classes,
    /// By term: the number of operators for unsigned values, minus that for signed ones.
    votes: FxHashMap<TermId, i64>,
}

impl Votes<'_> {
    fn term(&mut self, t: TermId) {
        let terms = self.terms;
        let node = terms.node(t);
        match (&node.op, &*node.args) {
            (Op::Eq | Op::BvSle | Op::BvUle, &[a, b]) => self.alike(a, b),
            (Op::BvAdd | Op::BvNeg | Op::BvNot | Op::BvMul, args) => {
                args.iter().for_each(|&a| self.alike(a, t));
            }
            (Op::Ite, &[_, a, b]) => {
                self.alike(a, t);
                self.alike(b, t);
            }
            (
                Op::BvUdiv
                | Op::BvUrem
                | Op::BvSdiv
                | Op::BvSrem
                | Op::BvSmod
                | Op::BvShl
                | Op::BvLshr
                | Op::BvAshr,
                &[a, _],
            ) => self.alike(a, t),
            (Op::BvZeroExtend(_) | Op::BvToNat, &[a]) => self.vote(a, Reading::Unsigned),
            (Op::BvSignExtend(_), &[a]) => {
                self.vote(a, Reading::Signed);
                self.vote(t, Reading::Signed);
            }
            _ => {}
        }
        if let Some(reading) = Reading::of_operator(&node.op) {
            node.args.iter().for_each(|&a| self.vote(a, reading));
        }
    }

    fn is_no_numeral(&self, t: TermId) -> bool {
        let is_bit_vector = matches!(self.terms.sort(self.terms.sort_of(t)), Sort::BitVec(_));
        is_bit_vector && self.terms.as_bitvec(t).is_none()
    }

    /// Puts two bit-vectors into one class.
    fn alike(&mut self, a: TermId, b: TermId) {
        if self.is_no_numeral(a) && self.is_no_numeral(b) {
            self.classes.union(a, b);
        }
    }

    fn vote(&mut self, bit_vector: TermId, reading: Reading) {
        if self.is_no_numeral(bit_vector) {
            *self.votes.entry(bit_vector).or_default() += match reading {
                Reading::Signed => -1,
                Reading::Unsigned => 1,
            };
        }
    }
}
