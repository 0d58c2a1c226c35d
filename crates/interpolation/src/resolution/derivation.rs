//! Proofs: clauses with their origins, and a check of these.
//!
//! Invariant: a clause is resolved from clauses with smaller numbers.

use num_traits::{Signed, Zero};
use rustc_hash::FxHashSet;

use super::skeleton::Skeleton;
use alphorn_arith::{Constraint, Relation, is_integral};
use alphorn_bits::sat::Lit;
use alphorn_term::{Linear, Rational};

/// The number of a clause in its proof.
pub type ClauseId = usize;

/// The reason why the negations of a lemma's literals have no solution.
#[derive(Clone, PartialEq, Debug)]
pub enum Lemma {
    /// The sum of the bounds, times these positive factors, is a contradiction.
    Sum(Vec<(Lit, Rational)>),
    /// Each pair implies that the form of the first bound is zero. The sum of the forms, times
    /// these factors, has integer coefficients over integers, and a constant that is not an
    /// integer.
    Congruence(Vec<([Lit; 2], Rational)>),
}

impl Lemma {
    /// The literals that contradict each other.
    fn premises(&self) -> Vec<Lit> {
        let mut premises: Vec<Lit> = match self {
            Lemma::Sum(sum) => sum.iter().map(|s| s.0).collect(),
            Lemma::Congruence(sum) => sum.iter().flat_map(|s| s.0).collect(),
        };
        premises.sort_unstable();
        premises.dedup();
        premises
    }

    /// The lemma as a clause.
    pub fn clause(self) -> Clause {
        Clause {
            literals: self.premises().into_iter().map(|l| !l).collect(),
            origin: Origin::Lemma(self),
        }
    }

    fn holds(&self, skeleton: &Skeleton) -> bool {
        let mut sum = Linear::constant(Rational::zero());
        match self {
            Lemma::Sum(factors) => {
                let mut strict = false;
                for (literal, factor) in factors {
                    let Some(bound) = skeleton.constraint(*literal) else {
                        return false;
                    };
                    if !factor.is_positive() {
                        return false;
                    }
                    strict |= bound.relation == Relation::Below;
                    sum = sum.add_scaled(&bound.linear, factor);
                }
                let constant = &sum.constant;
                sum.is_constant() && (constant.is_positive() || strict && constant.is_zero())
            }
            Lemma::Congruence(factors) => {
                for (pair, factor) in factors {
                    let bounds = pair.map(|l| skeleton.constraint(l));
                    let [Some(form), Some(other)] = bounds else {
                        return false;
                    };
                    let turned = Constraint::new(other.linear.negated(), other.relation);
                    if form != &turned || form.relation != Relation::AtMost {
                        return false;
                    }
                    sum = sum.add_scaled(&form.linear, factor);
                }
                let is_broken = !sum.constant.is_integer();
                sum.constant = Rational::zero();
                is_broken && is_integral(skeleton.terms, &sum)
            }
        }
    }
}

/// The origin of a clause.
#[derive(Clone, PartialEq, Debug)]
pub enum Origin {
    /// The formula with this number.
    Part(usize),
    /// It is valid by the meaning of its variables.
    Definition,
    /// A lemma of the theory.
    Lemma(Lemma),
    /// Resolved from a clause with further clauses in turn: each literal is in the clause beside
    /// it, and its negation in the resolvent so far.
    Chain(ClauseId, Vec<(Lit, ClauseId)>),
}

/// A disjunction; the order of its literals is irrelevant.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The literals.
    pub literals: Vec<Lit>,
    /// The origin.
    pub origin: Origin,
}

/// Clauses, the last of which is empty and depends on all others.
pub struct Proof {
    /// The clauses, each after those that it is resolved from.
    pub clauses: Vec<Clause>,
}

impl Proof {
    /// The clauses that the empty clause depends on.
    pub(super) fn of(clauses: &[Clause], empty: ClauseId) -> Proof {
        let mut needed = vec![false; empty + 1];
        needed[empty] = true;
        for id in (0..=empty).rev().filter(|&id| clauses[id].is_chain()) {
            if needed[id]
                && let Origin::Chain(first, steps) = &clauses[id].origin
            {
                needed[*first] = true;
                steps.iter().for_each(|s| needed[s.1] = true);
            }
        }
        let mut numbers = vec![0; empty + 1];
        let mut kept: Vec<Clause> = Vec::new();
        for id in (0..=empty).filter(|&id| needed[id]) {
            numbers[id] = kept.len();
            let mut clause = clauses[id].clone();
            if let Origin::Chain(first, steps) = &mut clause.origin {
                *first = numbers[*first];
                steps.iter_mut().for_each(|s| s.1 = numbers[s.1]);
            }
            kept.push(clause);
        }
        Proof { clauses: kept }
    }

    /// The clauses that are not resolved from others.
    pub(super) fn leaves(&self) -> Vec<Clause> {
        let leaves = self.clauses.iter().filter(|c| !c.is_chain());
        leaves.cloned().collect()
    }

    /// Whether the origin of every clause is correct.
    pub(super) fn replays(&self, skeleton: &Skeleton) -> bool {
        let inputs: FxHashSet<(Vec<Lit>, usize)> = skeleton
            .clauses
            .iter()
            .map(|(literals, part)| (sorted(literals), *part))
            .collect();
        let definitions = skeleton.definitions.iter();
        let definitions: FxHashSet<Vec<Lit>> = definitions.map(|c| sorted(c)).collect();
        let is_sound = |(id, clause): (usize, &Clause)| match &clause.origin {
            Origin::Part(part) => inputs.contains(&(sorted(&clause.literals), *part)),
            Origin::Definition => definitions.contains(&sorted(&clause.literals)),
            Origin::Lemma(lemma) => {
                let is_in = |l: &Lit| clause.literals.contains(&!*l);
                lemma.premises().iter().all(is_in) && lemma.holds(skeleton)
            }
            Origin::Chain(first, steps) => {
                let resolved = self.resolved(id, *first, steps);
                resolved.is_some_and(|r| r == clause.literals.iter().copied().collect())
            }
        };
        let ends = self.clauses.last().is_some_and(|c| c.literals.is_empty());
        ends && self.clauses.iter().enumerate().all(is_sound)
    }

    fn resolved(
        &self,
        id: ClauseId,
        first: ClauseId,
        steps: &[(Lit, ClauseId)],
    ) -> Option<FxHashSet<Lit>> {
        if first >= id || steps.iter().any(|s| s.1 >= id) {
            return None;
        }
        let mut literals: FxHashSet<Lit> = self.clauses[first].literals.iter().copied().collect();
        for &(pivot, other) in steps {
            let mut other: FxHashSet<Lit> = self.clauses[other].literals.iter().copied().collect();
            if !literals.remove(&!pivot) || !other.remove(&pivot) {
                return None;
            }
            literals.extend(other);
        }
        Some(literals)
    }
}

impl Clause {
    fn is_chain(&self) -> bool {
        matches!(self.origin, Origin::Chain(..))
    }
}

fn sorted(literals: &[Lit]) -> Vec<Lit> {
    let mut literals = literals.to_vec();
    literals.sort_unstable();
    literals
}
