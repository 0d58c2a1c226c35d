//! Programs of several consecutive loops, whose final state is known.
//!
//! Each loop counts from 0 in steps up to a bound and adds a constant to a sum in each pass. So the
//! sum at the end and the number of steps are known. The error of `safe` is any other sum, that of
//! `buggy` is this sum.

use std::rc::Rc;

use alphorn::chc::{Atom, PredicateId, System};
use alphorn::term::{BigInt, Rational, SortId, TermId, TermStore};

use super::Random;

/// A loop of a program.
#[derive(Clone, Copy, Debug)]
pub struct Phase {
    pub bound: i64,
    pub step: i64,
    pub gain: i64,
}

impl Phase {
    fn passes(&self) -> i64 {
        (self.bound + self.step - 1) / self.step
    }
}

/// A program, by its loops.
#[derive(Clone, Debug)]
pub struct Loops {
    pub phases: Vec<Phase>,
    /// Whether all loops are in one predicate, with an argument for the number of the current loop.
    pub merged: bool,
    /// Whether the numbers are reals, all of them halved. A loop ends exactly at its bound, so that
    /// the sum does not depend on the number of passes being an integer.
    pub real: bool,
}

impl Loops {
    /// A program of `count` loops with at least `passes` passes each.
    pub fn from_seed(count: usize, passes: i64, seed: u64) -> Loops {
        let mut random = Random::new(seed);
        let (merged, real) = (random.one_in(2), random.one_in(3));
        let phases = (0..count)
            .map(|_| {
                let step = 1 + random.below(3) as i64;
                let rest = if real { 0 } else { random.below(9) as i64 };
                let bound = passes * step + rest;
                let gain = random.below(7) as i64 - 3;
                Phase { bound, step, gain }
            })
            .collect();
        Loops {
            phases,
            merged,
            real,
        }
    }

    /// The height of a refutation of `buggy`.
    pub fn height(&self) -> usize {
        let passes: i64 = self.phases.iter().map(Phase::passes).sum();
        passes as usize + self.phases.len() + 2
    }

    pub fn safe(&self) -> System {
        self.system(false)
    }

    pub fn buggy(&self) -> System {
        self.system(true)
    }

    fn number(&self, terms: &TermStore, value: i64) -> TermId {
        if self.real {
            terms.real(Rational::new(BigInt::from(value), BigInt::from(2)))
        } else {
            terms.int(value)
        }
    }

    fn system(&self, buggy: bool) -> System {
        let terms = Rc::new(TermStore::new());
        let mut system = System::new(terms.clone());
        let sort = if self.real { SortId::REAL } else { SortId::INT };
        let sorts = [SortId::INT, sort, sort];
        let names = if self.merged {
            1
        } else {
            self.phases.len() + 1
        };
        let places: Vec<PredicateId> = (0..names)
            .map(|i| {
                system.add_predicate(
                    &format!("L{i}"),
                    if self.merged { &sorts } else { &sorts[1..] },
                )
            })
            .collect();
        // The atom of a loop, the condition that it is the current one, its counter and its sum.
        let at = |system: &System, phase: usize| -> (Atom, TermId, TermId, TermId) {
            let atom = system.fresh_atom(places[phase.min(names - 1)]);
            let args = &atom.args;
            let here = match self.merged {
                true => terms.eq(args[0], terms.int(phase as u64)),
                false => TermId::TRUE,
            };
            let (counter, sum) = (args[args.len() - 2], args[args.len() - 1]);
            (atom, here, counter, sum)
        };
        let zero = self.number(&terms, 0);
        let (entry, here, counter, sum) = at(&system, 0);
        let start = terms.and(&[here, terms.eq(counter, zero), terms.eq(sum, zero)]);
        system.add_clause(vec![], start, Some(entry));
        for (index, phase) in self.phases.iter().enumerate() {
            let [bound, step, gain] =
                [phase.bound, phase.step, phase.gain].map(|n| self.number(&terms, n));
            let (from, here, counter, sum) = at(&system, index);
            let (to, there, next, total) = at(&system, index);
            let pass = terms.and(&[
                here,
                there,
                terms.lt(counter, bound),
                terms.eq(next, terms.add(&[counter, step])),
                terms.eq(total, terms.add(&[sum, gain])),
            ]);
            system.add_clause(vec![from], pass, Some(to));
            let (from, here, counter, sum) = at(&system, index);
            let (to, there, next, total) = at(&system, index + 1);
            let exit = terms.and(&[
                here,
                there,
                if self.real {
                    terms.eq(counter, bound)
                } else {
                    terms.ge(counter, bound)
                },
                terms.eq(next, zero),
                terms.eq(total, sum),
            ]);
            system.add_clause(vec![from], exit, Some(to));
        }
        let (last, here, _, sum) = at(&system, self.phases.len());
        let expected: i64 = self.phases.iter().map(|p| p.gain * p.passes()).sum();
        let right = terms.eq(sum, self.number(&terms, expected));
        let wrong = if buggy { right } else { terms.not(right) };
        system.add_clause(vec![last], terms.and(&[here, wrong]), None);
        system
    }
}
