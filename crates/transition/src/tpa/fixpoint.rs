//! Relations that are closed under further steps.
//!
//! A step is added after a relation or before it; if the result implies the relation, the relation
//! holds of all runs. For a proof, the runs from facts or those to queries suffice (FMCAD 2022). Of
//! a relation that is not closed, the largest closed part (`alphorn_proof::houdini`) is a proof if
//! it excludes runs from facts to queries.
//!
//! Invariant: the conjuncts of a [`Proof`] hold of all runs of its kind, and together exclude runs
//! from facts to queries.

use rustc_hash::FxHashSet;

use super::limits::LIMITS;
use super::search::{Kind, Search};
use super::system::Conjunct;
use alphorn_proof::houdini::{self, largest_inductive_subset, possible_violations};
use alphorn_proof::{Stop, ask};
use alphorn_term::TermId;
use alphorn_term::run::Context;

/// The side of the relation at which the step is added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// After it, for runs from facts.
    Right,
    /// Before it, for runs to queries.
    Left,
}

/// A relation that is closed for runs from facts (right) or to queries (left).
pub(super) struct Proof {
    /// The side at which it is closed.
    pub side: Side,
    /// `Less` for all runs, `Exact` for multiples of two to the power of the level steps.
    pub kind: Kind,
    /// The level.
    pub level: usize,
    /// The conjuncts.
    pub relation: Vec<Conjunct>,
}

impl Kind {
    /// The sides to try. The order of composition of `Exact` is suited to the left one.
    pub fn sides(self) -> [Side; 2] {
        match self {
            Kind::Less => [Side::Right, Side::Left],
            Kind::Exact => [Side::Left, Side::Right],
        }
    }
}

impl Search<'_> {
    /// A proof by the relation of this kind and level, if it is one.
    pub fn fixpoint(
        &mut self,
        kind: Kind,
        side: Side,
        level: usize,
        cx: &Context,
    ) -> Result<Option<Proof>, Stop> {
        // At one side only, so that all shared conjuncts are closed together.
        if kind == Kind::Less && side == kind.sides()[0] {
            for conjunct in self.closed(kind, side, level, false, cx)? {
                self.spread(conjunct);
            }
        }
        let relation = self.closed(kind, side, level, true, cx)?;
        if relation.is_empty() || !self.excludes(kind, side, level, &relation, cx)? {
            return Ok(None);
        }
        Ok(Some(Proof {
            side,
            kind,
            level,
            relation,
        }))
    }

    /// Adds a conjunct that holds of all runs at all levels.
    fn spread(&mut self, conjunct: Conjunct) {
        if self.always.contains(&conjunct) {
            return;
        }
        self.always.push(conjunct);
        // The relations of level 0 are exact.
        for relation in self.exact[1..].iter_mut().chain(&mut self.less[1..]) {
            relation.share(conjunct);
        }
    }

    /// The largest part of a relation's conjuncts that is closed under a step at a side: for all
    /// runs, or, if `restricted`, for those from facts or to queries.
    fn closed(
        &mut self,
        kind: Kind,
        side: Side,
        level: usize,
        restricted: bool,
        cx: &Context,
    ) -> Result<Vec<Conjunct>, Stop> {
        let (ts, terms) = (self.ts, self.ts.terms());
        let step = match kind {
            Kind::Less => &self.exact[0].conjuncts,
            Kind::Exact => &self.exact[level].conjuncts,
        };
        let mut solver = self.smt.solver();
        for conjunct in step {
            solver.assert(match side {
                Side::Right => conjunct.right,
                Side::Left => conjunct.left,
            });
        }
        if restricted {
            solver.assert(match side {
                Side::Right => ts.init.formula,
                Side::Left => ts.over(ts.query.formula, &ts.copies[0], &ts.copies[2]),
            });
        }
        let kept = match kind {
            Kind::Exact => self.exact[level].conjuncts.clone(),
            Kind::Less => self.less[level].conjuncts.clone(),
        };
        let before = |c: usize| match side {
            Side::Right => kept[c].left,
            Side::Left => kept[c].right,
        };
        // The step from the relation to the relation.
        let steps = [houdini::Step {
            from: vec![0],
            to: 0,
        }];
        let about = vec![0; kept.len()];
        let closed = largest_inductive_subset(&steps, &about, |_, premises, conclusions| {
            let premises: Vec<TermId> = premises.iter().map(|&c| before(c)).collect();
            let violations = conclusions.iter().map(|&c| terms.not(kept[c].whole));
            let violations: Vec<TermId> = violations.collect();
            let lost = possible_violations(&mut solver, &premises, &violations, &cx.budget)?;
            Ok(lost.into_iter().map(|at| conclusions[at]).collect())
        });
        let closed = closed.map_err(Stop::Reason)?;
        Ok(closed.into_iter().map(|c| kept[c]).collect())
    }

    /// Whether the relation allows no run from facts to queries.
    fn excludes(
        &mut self,
        kind: Kind,
        side: Side,
        level: usize,
        relation: &[Conjunct],
        cx: &Context,
    ) -> Result<bool, Stop> {
        let (ts, terms) = (self.ts, self.ts.terms());
        let [first, second, third] = &ts.copies;
        let mut solver = self.smt.solver();
        let last = match kind {
            Kind::Less => second,
            Kind::Exact => third,
        };
        solver.assert(ts.init.formula);
        solver.assert(ts.over(ts.query.formula, first, last));
        if kind == Kind::Less {
            for conjunct in relation {
                solver.assert(conjunct.left);
            }
        } else {
            // A multiple of the step, possibly zero, and a shorter run.
            let (multiple, same): (Vec<TermId>, TermId) = match side {
                Side::Right => (
                    relation.iter().map(|c| c.left).collect(),
                    ts.same(first, second),
                ),
                Side::Left => (
                    relation.iter().map(|c| c.right).collect(),
                    ts.same(second, third),
                ),
            };
            solver.assert(terms.or(&[same, terms.and(&multiple)]));
            for conjunct in &self.less[level].conjuncts {
                solver.assert(match side {
                    Side::Right => conjunct.right,
                    Side::Left => conjunct.left,
                });
            }
        }
        Ok(ask(&mut solver, &[], cx)?.is_none())
    }

    /// Removes conjuncts of a relation that the others imply, if their number has doubled.
    pub fn simplify(&mut self, kind: Kind, level: usize, cx: &Context) -> Result<(), Stop> {
        let terms = self.ts.terms();
        let relation = self.relation(kind, level);
        if relation.conjuncts.len() < 2 * relation.simplified.max(LIMITS.unsimplified_conjuncts) {
            return Ok(());
        }
        let conjuncts: Vec<TermId> = self
            .relation(kind, level)
            .conjuncts
            .iter()
            .map(|c| c.left)
            .collect();
        let mut solver = self.smt.solver();
        let mut dropped: FxHashSet<usize> = FxHashSet::default();
        // The oldest first, since newer ones are usually stronger.
        for (position, &conjunct) in conjuncts.iter().enumerate() {
            let mut assumptions: Vec<TermId> = conjuncts
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != position && !dropped.contains(other))
                .map(|(_, c)| *c)
                .collect();
            assumptions.push(terms.not(conjunct));
            if ask(&mut solver, &assumptions, cx)?.is_none() {
                dropped.insert(position);
            }
        }
        let relation = self.relation(kind, level);
        relation.retain(|at| !dropped.contains(&at));
        relation.simplified = relation.conjuncts.len();
        Ok(())
    }
}
