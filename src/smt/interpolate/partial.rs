//! Interpolants read off a resolution proof, one for each cut of its parts into two sides.
//!
//! McMillan's system ("An interpolating theorem prover", TCS 2005): every clause of the proof has a
//! partial interpolant. A clause of `A` has its literals that `B` has, too; one of `B` has `true`; a
//! lemma of the theory has the sum of what `A` contributes. Where a literal is resolved that only
//! `A` has, partial interpolants are joined by a disjunction, else by a conjunction. A literal of
//! atoms that both sides have counts as one of `B`.
//!
//! In a DAG, a cut at a node says nothing of the paths that miss it. Names of nodes and edges that
//! are on no path through the node are assigned `false`, and the proof is restricted to what is
//! left: where the resolved literal is assigned, one clause stays (Jančík, Kofroň, Rollini,
//! Sharygina, "On interpolants and variable assignments", FMCAD 2014). For two nodes that an edge
//! connects, a literal that only one of the cuts assigns is of `A` in the later cut or of `B` in
//! the earlier one, and dropping a member of a conjunction or adding one to a disjunction keeps what
//! the earlier interpolant implies. So interpolants of one proof follow along edges.
//!
//! Invariant: the interpolant follows from the parts of `A` and contradicts those of `B`, and the
//! interpolants of cuts of which each is within the next are inductive.

use rustc_hash::{FxHashMap, FxHashSet};

use super::farkas::sums;
use crate::arith::{Constraint, Relation};
use crate::sat::Lit;
use crate::smt::proof::{Lemma, Meaning, Origin, Proof, Skeleton};
use crate::term::{Linear, Rational, TermId};

/// A side of a cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    A,
    B,
}

/// Parts on two sides.
#[derive(Clone, Debug, Default)]
pub(super) struct Cut {
    /// By part; `None` for parts that the assignment switches off.
    pub sides: Vec<Option<Side>>,
    /// Names that are assigned. Other names that both sides have are `true` in the interpolant.
    pub assigned: FxHashMap<u32, bool>,
}

impl Cut {
    /// The same with `A` for `B`.
    pub fn swapped(&self) -> Cut {
        let turn = |side: &Option<Side>| side.map(|s| if s == Side::A { Side::B } else { Side::A });
        Cut {
            sides: self.sides.iter().map(turn).collect(),
            assigned: self.assigned.clone(),
        }
    }
}

/// Whose a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Label {
    A,
    B,
    Both,
    Assigned(bool),
    /// It has variables of both sides that are not shared.
    Mixed,
}

/// A partial interpolant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Partial {
    Is(TermId),
    /// The assignment satisfies the clause.
    Satisfied,
    /// It has none.
    Failed,
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
    let reading = Reading {
        skeleton,
        cut,
        labels: labels(skeleton, cut),
        decomposed,
    };
    let mut partial: Vec<Partial> = Vec::with_capacity(proof.clauses.len());
    for clause in &proof.clauses {
        let own = match &clause.origin {
            _ if reading.holds(&clause.literals) => Partial::Satisfied,
            Origin::Part(part) => reading.of_part(*part, &clause.literals),
            Origin::Lemma(lemma) => reading.of_lemma(lemma),
            Origin::Chain(first, steps) => {
                let of = |own, step: &(Lit, usize)| reading.resolved(own, step.0, partial[step.1]);
                steps.iter().fold(partial[*first], of)
            }
        };
        partial.push(own);
    }
    match partial.last() {
        Some(Partial::Is(formula)) => Some(*formula),
        _ => None,
    }
}

impl Reading<'_, '_> {
    fn label(&self, literal: Lit) -> Label {
        self.labels[literal.variable() as usize]
    }

    fn holds(&self, literals: &[Lit]) -> bool {
        let is_true = |l: &Lit| self.label(*l) == Label::Assigned(!l.is_negated());
        literals.iter().any(is_true)
    }

    fn of_part(&self, part: usize, literals: &[Lit]) -> Partial {
        match self.cut.sides[part] {
            None => Partial::Failed,
            Some(Side::B) => Partial::Is(TermId::TRUE),
            Some(Side::A) => {
                let shared = literals.iter().filter(|l| self.label(**l) == Label::Both);
                let shared: Vec<TermId> = shared.map(|&l| self.formula(l)).collect();
                Partial::Is(self.skeleton.terms.or(&shared))
            }
        }
    }

    fn formula(&self, literal: Lit) -> TermId {
        let terms = self.skeleton.terms;
        match &self.skeleton.variables[literal.variable() as usize].meaning {
            Meaning::Name => terms.bool(!literal.is_negated()),
            Meaning::Boolean(variable) if literal.is_negated() => terms.not(*variable),
            Meaning::Boolean(variable) => *variable,
            Meaning::Bound(bounds) => bounds[usize::from(literal.is_negated())].formula(terms),
        }
    }

    fn of_lemma(&self, lemma: &Lemma) -> Partial {
        let terms = self.skeleton.terms;
        match lemma {
            Lemma::Sum(sum) => {
                if sum.iter().any(|s| self.label(s.0) == Label::Mixed) {
                    return Partial::Failed;
                }
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
                Partial::Is(terms.and(&literals))
            }
            Lemma::Congruence(sum) => {
                let mut own = Linear::constant(Rational::from_integer(0.into()));
                for (pair, factor) in sum {
                    let of = pair.map(|l| self.label(l));
                    let is_own = of.map(|l| l == Label::A);
                    if of.contains(&Label::Mixed) || is_own[0] != is_own[1] {
                        return Partial::Failed;
                    }
                    if is_own[0]
                        && let Some(bound) = self.skeleton.constraint(pair[0])
                    {
                        own = own.add_scaled(&bound.linear, factor);
                    }
                }
                Partial::Is(Constraint::new(own, Relation::Integral).formula(terms))
            }
        }
    }

    /// Of a resolvent; the pivot is a literal of `other`.
    fn resolved(&self, own: Partial, pivot: Lit, other: Partial) -> Partial {
        let label = self.label(pivot);
        if let Label::Assigned(value) = label {
            return match value == pivot.is_negated() {
                true => other,
                false => own,
            };
        }
        match (own, other) {
            (Partial::Satisfied, _) | (_, Partial::Satisfied) => Partial::Satisfied,
            (Partial::Is(own), Partial::Is(other)) => {
                let both = [own, other];
                match label {
                    Label::A => Partial::Is(self.skeleton.terms.or(&both)),
                    Label::B | Label::Both => Partial::Is(self.skeleton.terms.and(&both)),
                    _ => Partial::Failed,
                }
            }
            _ => Partial::Failed,
        }
    }
}

/// Labels by the parts that variables are in. An atom that is in none has variables of one side, or
/// is mixed.
fn labels(skeleton: &Skeleton, cut: &Cut) -> Vec<Label> {
    let terms = skeleton.terms;
    let on = |parts: &[usize], side: Side| parts.iter().any(|&p| cut.sides[p] == Some(side));
    let vars = |meaning: &Meaning| match meaning {
        Meaning::Name => Vec::new(),
        Meaning::Boolean(variable) => vec![*variable],
        Meaning::Bound(bounds) => {
            let columns = bounds[0].linear.monomials.iter().map(|m| m.0);
            terms.free_vars(&columns.collect::<Vec<_>>())
        }
    };
    let scope = |side: Side| -> FxHashSet<TermId> {
        let variables = skeleton.variables.iter();
        let here = variables.filter(|v| on(&v.parts, side));
        here.flat_map(|v| vars(&v.meaning)).collect()
    };
    let mut scopes: Option<[FxHashSet<TermId>; 2]> = None;
    let mut labels = Vec::with_capacity(skeleton.variables.len());
    for (at, variable) in skeleton.variables.iter().enumerate() {
        if let Some(&value) = cut.assigned.get(&(at as u32)) {
            labels.push(Label::Assigned(value));
            continue;
        }
        let is_in = [Side::A, Side::B].map(|side| on(&variable.parts, side));
        labels.push(match is_in {
            [true, true] => Label::Both,
            [true, false] => Label::A,
            [false, true] => Label::B,
            [false, false] => {
                let scopes = scopes.get_or_insert_with(|| [Side::A, Side::B].map(scope));
                let own = vars(&variable.meaning);
                let within = |scope: &FxHashSet<TermId>| own.iter().all(|v| scope.contains(v));
                match (within(&scopes[0]), within(&scopes[1])) {
                    (true, _) => Label::A,
                    (false, true) => Label::B,
                    _ => Label::Mixed,
                }
            }
        });
    }
    labels
}
