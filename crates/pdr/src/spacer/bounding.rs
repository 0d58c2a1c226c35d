//! Counters and bounds for loops: τ_B of section 5, for any dependency graph.
//!
//! The loops are the components of a weak topological order, so every cycle goes through the head
//! of the smallest loop that it is in. A predicate has a counter for each loop around it. From a
//! body atom to the head of a clause, a counter counts down where the clause leads back to the
//! loop's head, is zero where it leaves the loop, is kept inside, and starts anywhere where the
//! loop is entered. In clauses with several body atoms this holds for each of them, so a counter
//! bounds the height of a loop's part of a derivation instead of its length.
//!
//! Invariant (Lemma 2): every derivation has counters that fit, if the bounds are large enough; and
//! an interpretation of the bounded system that holds for all bounds becomes one of the clauses
//! when its counters are universally quantified over the numbers from zero on.

use std::rc::Rc;

use alphorn_chc::{DependencyGraph, PredicateId, Shape, System, WtoElement};
use alphorn_interpolation::project_formula;
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Context;
use alphorn_term::{Rational, SortId, TermId, TermStore};

/// Cubes into which the negation of a lemma is projected before the counters stay quantified.
const CUBES: usize = 64;

/// The loops of a system, with their counters.
pub(super) struct Bounding {
    /// Heads of loops, with the variable that stands for the bound.
    pub loops: Vec<(PredicateId, TermId)>,
    /// For each predicate: the loops around it and its formal variables for their counters.
    counters: Vec<Vec<(usize, TermId)>>,
    sort: SortId,
}

impl Bounding {
    /// No counters.
    pub fn none(system: &System) -> Self {
        Bounding {
            loops: Vec::new(),
            counters: vec![Vec::new(); system.predicates.len()],
            sort: SortId::INT,
        }
    }

    /// A counter for each loop around a predicate.
    pub fn counters(system: &System) -> Self {
        let terms = &system.terms;
        let theories = Shape::of(system).theories;
        // Theories are not mixed without need.
        let sort = match theories.real && !theories.int {
            true => SortId::REAL,
            false => SortId::INT,
        };
        let mut bounding = Bounding {
            sort,
            ..Bounding::none(system)
        };
        let order = DependencyGraph::new(system).weak_topological_order();
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (at, element) in order.iter().enumerate() {
            open.retain(|&(_, end)| at < end);
            let predicate = match *element {
                WtoElement::Vertex(predicate) => predicate,
                WtoElement::Component { head, end } => {
                    open.push((bounding.loops.len(), end));
                    bounding.loops.push((head, terms.fresh_var("b", sort)));
                    head
                }
            };
            let counters = open.iter().map(|&(l, _)| (l, terms.fresh_var("c", sort)));
            bounding.counters[predicate.index()] = counters.collect();
        }
        bounding
    }

    /// The formal variables for the counters of a predicate.
    pub fn of(&self, predicate: PredicateId) -> impl Iterator<Item = TermId> {
        self.counters[predicate.index()].iter().map(|c| c.1)
    }

    fn number(&self, terms: &TermStore, value: u32) -> TermId {
        terms.number(&Rational::from_integer(value.into()), self.sort)
    }

    /// That a loop's bound is at most a value.
    pub fn at_most(&self, terms: &TermStore, which: usize, value: u32) -> TermId {
        terms.le(self.loops[which].1, self.number(terms, value))
    }

    /// The system with the counters as further arguments, and τ_B of each clause; the ids of
    /// predicates and clauses are the same.
    pub fn bounded(&self, system: &System) -> (System, Vec<TermId>) {
        let terms = system.terms.clone();
        let mut bounded = system.clone();
        for (predicate, counters) in bounded.predicates.iter_mut().zip(&self.counters) {
            predicate.params.extend(counters.iter().map(|c| c.1));
        }
        for clause in &mut bounded.clauses {
            for atom in clause.body.iter_mut().chain(&mut clause.head) {
                let counters = &self.counters[atom.predicate.index()];
                let own = counters.iter().map(|_| terms.fresh_var("c", self.sort));
                atom.args.extend(own);
            }
        }
        let steps = bounded.clauses.iter();
        let steps = steps.map(|clause| self.step(&terms, clause)).collect();
        (bounded, steps)
    }

    /// τ_B of a clause whose atoms have their counters.
    fn step(&self, terms: &TermStore, clause: &alphorn_chc::Clause) -> TermId {
        let zero = self.number(terms, 0);
        let one = self.number(terms, 1);
        let own = |atom: &alphorn_chc::Atom| -> Vec<(usize, TermId)> {
            let counters = &self.counters[atom.predicate.index()];
            let first = atom.args.len() - counters.len();
            let loops = counters.iter().map(|c| c.0);
            loops.zip(atom.args[first..].iter().copied()).collect()
        };
        let head = clause.head.as_ref();
        let targets = head.map(&own).unwrap_or_default();
        let mut parts = Vec::new();
        for &(which, after) in &targets {
            // Also where the loop is entered, so that there is less to choose.
            parts.push(terms.ge(after, zero));
            parts.push(terms.le(after, self.loops[which].1));
        }
        for atom in &clause.body {
            for (which, before) in own(atom) {
                let (first, bound) = self.loops[which];
                match targets.iter().find(|t| t.0 == which) {
                    Some(&(_, after)) if head.is_some_and(|h| h.predicate == first) => {
                        parts.push(terms.eq(after, terms.sub(before, one)));
                        parts.push(terms.le(before, bound));
                    }
                    Some(&(_, after)) => parts.push(terms.eq(after, before)),
                    None => parts.push(terms.eq(before, zero)),
                }
            }
        }
        terms.and(&parts)
    }

    /// The constraint with its bounds replaced by values.
    pub fn with_values(&self, terms: &TermStore, constraint: TermId, values: &[u32]) -> TermId {
        let map = self
            .loops
            .iter()
            .zip(values)
            .map(|(l, &value)| (l.1, self.number(terms, value)))
            .collect();
        terms.substitute(constraint, &map)
    }

    /// What a lemma with counters says about its predicate: that it holds for all of them.
    pub fn for_all(
        &self,
        smt: &Rc<Smt>,
        predicate: PredicateId,
        lemma: TermId,
        cx: &Context,
    ) -> TermId {
        let terms = smt.terms();
        let free = terms.free_vars(&[lemma]);
        let counters: Vec<TermId> = self.of(predicate).filter(|c| free.contains(c)).collect();
        if counters.is_empty() {
            return lemma;
        }
        let zero = self.number(terms, 0);
        let natural: Vec<TermId> = counters.iter().map(|&c| terms.ge(c, zero)).collect();
        let excluded = terms.and(&[terms.and(&natural), terms.not(lemma)]);
        if let Some(cubes) = project_out(smt, excluded, &counters, cx) {
            let negated: Vec<TermId> = cubes.iter().map(|&c| terms.not(c)).collect();
            return terms.and(&negated);
        }
        let bound: Vec<TermId> = counters
            .iter()
            .map(|&c| terms.fresh_var("c", terms.sort_of(c)))
            .collect();
        let map = counters
            .iter()
            .copied()
            .zip(bound.iter().copied())
            .collect();
        let whole = terms.implies(terms.and(&natural), lemma);
        terms.forall(&bound, terms.substitute(whole, &map))
    }
}

/// Cubes whose disjunction is `∃ vars. formula`, if a few are enough.
fn project_out(
    smt: &Rc<Smt>,
    formula: TermId,
    vars: &[TermId],
    cx: &Context,
) -> Option<Vec<TermId>> {
    let terms = smt.terms();
    let mut solver = smt.solver();
    solver.assert(formula);
    let mut cubes = Vec::new();
    while cubes.len() < CUBES && cx.stop().is_none() {
        match solver.check(&[]) {
            SatResult::Unsat => return Some(cubes),
            SatResult::Unknown(_) => return None,
            SatResult::Sat => {}
        }
        let model = solver.model()?;
        let values = model.assignment(&terms.free_vars(&[formula])).ok()?;
        let cube = terms.and(&project_formula(terms, formula, vars, &values)?);
        solver.assert(terms.not(cube));
        cubes.push(cube);
    }
    None
}
