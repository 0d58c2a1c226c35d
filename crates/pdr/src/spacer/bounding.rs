//! Counters and bounds for loops: τ_B of section 5, for any dependency graph.
//!
//! The loops are the components of a weak topological order, so every cycle contains the head of
//! the smallest loop around it. A predicate has a counter for each loop around it. From a body atom
//! to the head of a clause, a counter decreases by one if the clause leads to the loop's head, is
//! zero if the clause leaves the loop, is the same inside the loop, and is arbitrary if the clause
//! enters the loop. Deviation: in clauses with several body atoms this holds for each of them, so a
//! counter bounds the height of a loop's part of a derivation, not its length.
//!
//! Invariant (Lemma 2): every derivation has values of its counters for sufficiently large bounds;
//! and a model of the bounded system for all bounds becomes a model of the clauses if its counters
//! are universally quantified over the numbers from zero on.

use std::rc::Rc;

use super::limits::LIMITS;
use alphorn_chc::{DependencyGraph, PredicateId, Shape, System, WtoElement};
use alphorn_interpolation::project_formula;
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Context;
use alphorn_term::{Rational, SortId, TermId, TermStore};

/// The loops of a system, with their counters.
pub(super) struct Bounding {
    /// For each loop, its head and the variable of its bound.
    pub loops: Vec<(PredicateId, TermId)>,
    /// For each predicate, the loops around it with its formal variables for their counters.
    counters: Vec<Vec<(usize, TermId)>>,
    /// The sort of counters, `Int` or `Real`.
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
        // Systems over reals alone get counters of sort `Real`, so that sorts are not mixed.
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

    /// A number of the sort of counters.
    fn number(&self, terms: &TermStore, value: u32) -> TermId {
        terms.number(&Rational::from_integer(value.into()), self.sort)
    }

    /// The formula that the bound of a loop is at most a value.
    pub fn at_most(&self, terms: &TermStore, which: usize, value: u32) -> TermId {
        terms.le(self.loops[which].1, self.number(terms, value))
    }

    /// The system with the counters as further arguments, behind the others, and τ_B of each
    /// clause. The ids of predicates and clauses stay the same.
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

    /// τ_B of a clause whose atoms already have counters.
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
            // Also for clauses that enter the loop, to restrict the choice.
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

    /// The constraint with the variables of bounds replaced by values.
    pub fn with_values(&self, terms: &TermStore, constraint: TermId, values: &[u32]) -> TermId {
        let map = self
            .loops
            .iter()
            .zip(values)
            .map(|(l, &value)| (l.1, self.number(terms, value)))
            .collect();
        terms.substitute(constraint, &map)
    }

    /// A lemma with its counters universally quantified over the numbers from zero on;
    /// quantifier-free if few projections suffice.
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

/// Cubes whose disjunction is `∃ vars. formula`; `None` when the limit or the budget is reached.
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
    while cubes.len() < LIMITS.projection_cubes && cx.stop().is_none() {
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
