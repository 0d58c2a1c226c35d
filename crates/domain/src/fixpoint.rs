//! A post-fixpoint of a system in a domain: widening along a weak topological order, then
//! narrowing.
//!
//! Invariant: if the analysis is complete, the element of a predicate contains all of its facts.

use std::time::Duration;

use super::abstract_domain::Domain;
use super::cube::{Cube, cubes};
use alphorn_chc::{Clause, ClauseIndex, DependencyGraph, PredicateId, System, WtoElement};
use alphorn_term::run::{Budget, Context};

/// The limits of an analysis.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Work for the whole analysis; at the limit it stops, and the result is not complete.
    pub time: Duration,
    /// Cubes of one clause's constraint; at the limit choices are left out.
    pub cubes: usize,
    /// Rounds at a head before widening.
    pub delay: usize,
    /// Rounds of narrowing, at most.
    pub narrowing: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            time: Duration::from_millis(500),
            cubes: 24,
            delay: 3,
            narrowing: 3,
        }
    }
}

/// The result of an analysis.
pub struct Fixpoint<E> {
    /// An element for each predicate, by its index; bottom for those without a derivation.
    pub values: Vec<E>,
    /// Whether the values are a post-fixpoint: the ascending phase ended.
    pub complete: bool,
}

/// Work charged for each fact in a transfer, in addition to that of the domains.
const FACT_WORK: Duration = Duration::from_nanos(2000);

/// Conjuncts of one constraint in all its cubes, which limits their number.
const MAX_FACTS: usize = 600;

struct Analysis<'a, D: Domain> {
    domain: &'a D,
    system: &'a System,
    cubes: &'a [Vec<Cube>],
    index: ClauseIndex,
    values: Vec<D::Element>,
    /// How often each predicate's value was raised, and these numbers for the body of each clause
    /// when it was last applied.
    raised: Vec<u32>,
    applied: Vec<Option<Vec<u32>>>,
    budget: Budget,
}

/// Analyses the system (Bourdoncle, FMPA 1993: the recursive strategy) within its limits and the
/// context's.
pub fn analyse<D: Domain>(
    domain: &D,
    system: &System,
    limits: Limits,
    cx: &Context,
) -> Fixpoint<D::Element> {
    let prepared = clause_cubes(system, limits, cx);
    analyse_cubes(domain, system, &prepared, limits, cx)
}

/// The constraints of all clauses with a head as cubes; single cubes when the time is spent.
pub fn clause_cubes(system: &System, limits: Limits, cx: &Context) -> Vec<Vec<Cube>> {
    let budget = cx.budget.work(limits.time);
    let make = |clause: &Clause| {
        if clause.head.is_none() {
            return Vec::new();
        }
        let conjuncts = system.terms.conjuncts(clause.constraint).len();
        let limit = match budget.is_spent() {
            false => (MAX_FACTS / (conjuncts + 1)).clamp(1, limits.cubes),
            true => 1,
        };
        cubes(&system.terms, clause.constraint, limit)
    };
    system.clauses.iter().map(make).collect()
}

/// The same with given cubes of the clauses, which do not depend on the domain.
pub fn analyse_cubes<D: Domain>(
    domain: &D,
    system: &System,
    cubes: &[Vec<Cube>],
    limits: Limits,
    cx: &Context,
) -> Fixpoint<D::Element> {
    let mut analysis = Analysis {
        domain,
        system,
        cubes,
        index: ClauseIndex::new(system),
        values: vec![domain.bottom(); system.predicates.len()],
        raised: vec![0; system.predicates.len()],
        applied: vec![None; system.clauses.len()],
        budget: cx.budget.work(limits.time),
    };
    let order = DependencyGraph::new(system).weak_topological_order();
    let complete = analysis.ascend(&order, limits.delay);
    if complete {
        for _ in 0..limits.narrowing {
            if !analysis.descend(&order) {
                break;
            }
        }
    }
    Fixpoint {
        values: analysis.values,
        complete,
    }
}

impl<D: Domain> Analysis<'_, D> {
    fn late(&self) -> bool {
        self.budget.is_spent()
    }

    /// The images of a clause from the present values, one for each cube.
    fn images(&self, index: usize) -> Vec<D::Element> {
        let clause = &self.system.clauses[index];
        let bodies: Vec<D::Element> = clause
            .body
            .iter()
            .map(|a| self.values[a.predicate.index()].clone())
            .collect();
        let cubes = &self.cubes[index];
        let facts: usize = cubes.iter().map(|cube| cube.facts.len() + 1).sum();
        self.system.terms.charge(FACT_WORK * facts as u32);
        self.domain.images(self.system, clause, cubes, &bodies)
    }

    /// The ascending phase; false if the limit was reached.
    fn ascend(&mut self, order: &[WtoElement], delay: usize) -> bool {
        // Components that are being stabilized: position of the head, end, rounds so far.
        let mut open: Vec<(usize, usize, usize)> = Vec::new();
        let mut at = 0;
        loop {
            if self.late() {
                return false;
            }
            if let Some(&mut (start, end, ref mut rounds)) = open.last_mut()
                && at == end
            {
                let WtoElement::Component { head, .. } = order[start] else {
                    return false;
                };
                *rounds += 1;
                let widen = *rounds > delay;
                if self.raise(head, widen) {
                    at = start + 1;
                } else {
                    open.pop();
                }
                continue;
            }
            let Some(element) = order.get(at) else {
                return true;
            };
            match *element {
                WtoElement::Vertex(predicate) => {
                    self.raise(predicate, false);
                }
                WtoElement::Component { head, end } => {
                    self.raise(head, false);
                    open.push((at, end, 0));
                }
            }
            at += 1;
        }
    }

    /// Joins the facts that are derived now; false if there is no new one.
    fn raise(&mut self, predicate: PredicateId, widen: bool) -> bool {
        let at = predicate.index();
        let mut joined: Option<D::Element> = None;
        for i in 0..self.index.deriving(predicate).len() {
            let index = self.index.deriving(predicate)[i];
            let body = &self.system.clauses[index].body;
            let versions: Vec<u32> = body
                .iter()
                .map(|a| self.raised[a.predicate.index()])
                .collect();
            if self.applied[index].as_ref() == Some(&versions) {
                continue;
            }
            if self.late() {
                break;
            }
            for image in self.images(index) {
                if self.late() {
                    break;
                }
                let known = joined.as_ref().unwrap_or(&self.values[at]);
                if !self.domain.entails(&image, known) {
                    joined = Some(self.domain.join(known, &image));
                }
            }
            self.applied[index] = Some(versions);
        }
        let Some(joined) = joined else {
            return false;
        };
        self.values[at] = if widen {
            self.domain.widen(&self.values[at], &joined)
        } else {
            joined
        };
        self.raised[at] += 1;
        true
    }

    /// One round of narrowing; false if nothing changed or the limit was reached.
    fn descend(&mut self, order: &[WtoElement]) -> bool {
        let mut changed = false;
        for element in order {
            if self.late() {
                return false;
            }
            let (WtoElement::Vertex(predicate)
            | WtoElement::Component {
                head: predicate, ..
            }) = *element;
            let mut new = self.domain.bottom();
            for &index in self.index.deriving(predicate) {
                if self.late() {
                    return false;
                }
                for image in self.images(index) {
                    new = self.domain.join(&new, &image);
                }
            }
            if self.late() {
                return false;
            }
            let old = &self.values[predicate.index()];
            let narrowed = self.domain.narrow(old, &new);
            changed |= !self.domain.entails(old, &narrowed);
            self.values[predicate.index()] = narrowed;
        }
        changed
    }
}
