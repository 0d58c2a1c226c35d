//! Interpolants from a resolution proof, one for each cut of its parts into two sides.
//!
//! McMillan's system ("An interpolating theorem prover", TCS 2005): every clause of the proof has a
//! partial interpolant. For a clause of `A` it consists of the literals that `B` has, too; for a
//! clause of `B` it is `true`; for a theory lemma it is `A`'s part of the sum. Definitions of gates
//! are valid, so such a clause belongs to `A` only if it contains a symbol that is only in `A`.
//! When a literal is resolved that only `A` has, the partial interpolants are joined by a
//! disjunction, otherwise by a conjunction. A literal of an atom that both sides have counts as one
//! of `B`.
//!
//! Invariant: the interpolant follows from the parts of `A` and contradicts those of `B`, and the
//! interpolants of cuts that contain each other are inductive.

use super::farkas::sums;
use crate::resolution::{Lemma, Meaning, Origin, Proof, Skeleton};
use alphorn_arith::{Constraint, Relation};
use alphorn_bits::sat::Lit;
use alphorn_term::{Linear, Rational, TermId};

/// By part: whether it is in `A`.
pub(super) type Cut = Vec<bool>;

/// The sides that a variable belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Label {
    A,
    B,
    Both,
}

struct Reading<'a, 't> {
    skeleton: &'a Skeleton<'t>,
    cut: &'a Cut,
    labels: Vec<Label>,
    decomposed: bool,
}

/// The interpolant of a cut; `None` if the proof mixes its sides.
pub(super) fn interpolant(
    proof: &Proof,
    skeleton: &Skeleton,
    cut: &Cut,
    decomposed: bool,
) -> Option<TermId> {
    let has = |parts: &[usize], is_a: bool| parts.iter().any(|&p| cut[p] == is_a);
    let label = |parts: &[usize]| match (has(parts, true), has(parts, false)) {
        (true, true) => Label::Both,
        (true, false) => Label::A,
        _ => Label::B,
    };
    let reading = Reading {
        skeleton,
        cut,
        labels: skeleton.variables.iter().map(|v| label(&v.parts)).collect(),
        decomposed,
    };
    let mut partial: Vec<TermId> = Vec::with_capacity(proof.clauses.len());
    for clause in &proof.clauses {
        let own = match &clause.origin {
            Origin::Part(part) => reading.of_part(*part, &clause.literals),
            Origin::Definition => reading.of_definition(&clause.literals),
            Origin::Lemma(lemma) => reading.of_lemma(lemma)?,
            Origin::Chain(first, steps) => steps.iter().fold(partial[*first], |own, step| {
                reading.resolved(own, step.0, partial[step.1])
            }),
        };
        partial.push(own);
    }
    partial.last().copied()
}

impl Reading<'_, '_> {
    fn label(&self, literal: Lit) -> Label {
        self.labels[literal.variable() as usize]
    }

    fn of_part(&self, part: usize, literals: &[Lit]) -> TermId {
        match self.cut[part] {
            true => self.shared(literals),
            false => TermId::TRUE,
        }
    }

    fn of_definition(&self, literals: &[Lit]) -> TermId {
        match literals.iter().any(|&l| self.label(l) == Label::A) {
            true => self.shared(literals),
            false => TermId::TRUE,
        }
    }

    /// The literals that both sides have.
    fn shared(&self, literals: &[Lit]) -> TermId {
        let shared = literals.iter().filter(|l| self.label(**l) == Label::Both);
        let shared: Vec<TermId> = shared.map(|&l| self.formula(l)).collect();
        self.skeleton.terms.or(&shared)
    }

    fn formula(&self, literal: Lit) -> TermId {
        let terms = self.skeleton.terms;
        match &self.skeleton.variables[literal.variable() as usize].meaning {
            Meaning::Name => unreachable!("a name is in one part"),
            Meaning::Boolean(variable) if literal.is_negated() => terms.not(*variable),
            Meaning::Boolean(variable) => *variable,
            Meaning::Bound(bounds) => bounds[usize::from(literal.is_negated())].formula(terms),
        }
    }

    fn of_lemma(&self, lemma: &Lemma) -> Option<TermId> {
        let terms = self.skeleton.terms;
        match lemma {
            Lemma::Sum(sum) => {
                let (own, others): (Vec<_>, Vec<_>) =
                    sum.iter().partition(|s| self.label(s.0) == Label::A);
                let bounds = |side: &[&(Lit, Rational)]| -> Vec<Constraint> {
                    let bounds = side.iter().filter_map(|s| self.skeleton.constraint(s.0));
                    bounds.cloned().collect()
                };
                let (a, b) = (bounds(&own), bounds(&others));
                let factors = own.iter().chain(&others).map(|s| s.1.clone());
                let multipliers = factors.enumerate().collect();
                let literals = sums(terms, &a, &b, &multipliers, self.decomposed);
                Some(terms.and(&literals))
            }
            Lemma::Congruence(sum) => {
                let mut own = Linear::constant(Rational::from_integer(0.into()));
                for (pair, factor) in sum {
                    let is_own = pair.map(|l| self.label(l) == Label::A);
                    if is_own[0] != is_own[1] {
                        return None;
                    }
                    if is_own[0]
                        && let Some(bound) = self.skeleton.constraint(pair[0])
                    {
                        own = own.add_scaled(&bound.linear, factor);
                    }
                }
                Some(Constraint::new(own, Relation::Integral).formula(terms))
            }
        }
    }

    /// The partial interpolant of a resolvent; the pivot is a literal of `other`.
    fn resolved(&self, own: TermId, pivot: Lit, other: TermId) -> TermId {
        let both = [own, other];
        match self.label(pivot) {
            Label::A => self.skeleton.terms.or(&both),
            Label::B | Label::Both => self.skeleton.terms.and(&both),
        }
    }
}
