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
    fn has(&self, parts: &[usize], side: Side) -> bool {
        parts.iter().any(|&p| self.sides[p] == Some(side))
    }

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
    scopes: [FxHashSet<TermId>; 2],
    decomposed: bool,
}

/// The interpolant of a cut; `None` if the proof mixes its sides.
pub(super) fn interpolant(
    proof: &Proof,
    skeleton: &Skeleton,
    cut: &Cut,
    decomposed: bool,
) -> Option<TermId> {
    let scopes = scopes(skeleton, cut);
    let reading = Reading {
        skeleton,
        cut,
        labels: labels(skeleton, cut, &scopes),
        scopes,
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
    let Some(Partial::Is(formula)) = partial.last() else {
        return None;
    };
    // An atom of paths that miss the node may have been in the way.
    let is_known = |v: &TermId| reading.scopes.iter().all(|scope| scope.contains(v));
    let vars = skeleton.terms.free_vars(&[*formula]);
    vars.iter().all(is_known).then_some(*formula)
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
                    let is_own = pair.map(|l| self.label(l) == Label::A);
                    if is_own[0] != is_own[1] {
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
                Partial::Is(match label {
                    Label::A => self.skeleton.terms.or(&both),
                    _ => self.skeleton.terms.and(&both),
                })
            }
            _ => Partial::Failed,
        }
    }
}

/// The variables of both sides.
fn scopes(skeleton: &Skeleton, cut: &Cut) -> [FxHashSet<TermId>; 2] {
    [Side::A, Side::B].map(|side| {
        let variables = skeleton.variables.iter();
        let here = variables.filter(|v| cut.has(&v.parts, side));
        here.flat_map(|v| vars(skeleton, &v.meaning)).collect()
    })
}

fn vars(skeleton: &Skeleton, meaning: &Meaning) -> Vec<TermId> {
    match meaning {
        Meaning::Name => Vec::new(),
        Meaning::Boolean(variable) => vec![*variable],
        Meaning::Bound(bounds) => {
            let columns = bounds[0].linear.monomials.iter().map(|m| m.0);
            skeleton.terms.free_vars(&columns.collect::<Vec<_>>())
        }
    }
}

/// Labels by the parts that variables are in. What is only in parts that are switched off is
/// `false` if it is a name, which satisfies their clauses, and else of `A` if `A` has its variables.
fn labels(skeleton: &Skeleton, cut: &Cut, scopes: &[FxHashSet<TermId>; 2]) -> Vec<Label> {
    let mut labels = Vec::with_capacity(skeleton.variables.len());
    for (at, variable) in skeleton.variables.iter().enumerate() {
        if let Some(&value) = cut.assigned.get(&(at as u32)) {
            labels.push(Label::Assigned(value));
            continue;
        }
        let is_in = [Side::A, Side::B].map(|side| cut.has(&variable.parts, side));
        labels.push(match (is_in, &variable.meaning) {
            ([true, true], _) => Label::Both,
            ([true, false], _) => Label::A,
            ([false, true], _) => Label::B,
            ([false, false], Meaning::Name) => Label::Assigned(false),
            ([false, false], meaning) => {
                let own = vars(skeleton, meaning);
                match own.iter().all(|v| scopes[0].contains(v)) {
                    true => Label::A,
                    false => Label::B,
                }
            }
        });
    }
    labels
}
