//! Facts: conjuncts of labels and regions that all clauses together preserve (Houdini).
//!
//! A label is about one path, and a region about what follows. Often some conjuncts of them hold of
//! all facts of a predicate. They are conjoined to all labels of the location: nodes are covered
//! sooner, and paths that contradict them are never explored. They are sought after every few
//! refinements, with a share of the work.
//!
//! Invariant: facts are inductive together; each search assumes those found before.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use alphorn_chc::cutpoints::Location;
use alphorn_chc::{PredicateId, System};
use alphorn_proof::bounds;
use alphorn_proof::clauses::{Clauses, Lemma, Solvers};
use alphorn_proof::exchange::Exchange;
use alphorn_proof::facts::Lemmas;
use alphorn_proof::houdini::{Question, inductive_lemmas};
use alphorn_proof::needed_lemmas::{Given, needed_in_clauses};
use alphorn_smt::Smt;
use alphorn_term::run::{Budget, Context};
use alphorn_term::{Op, TermId, TermStore};

/// The facts of a run, and the candidates for more.
pub(super) struct Facts<'a> {
    system: &'a System,
    /// By location.
    predicates: Vec<Option<PredicateId>>,
    /// By location, over formal variables.
    proven: Vec<Vec<TermId>>,
    /// By location: conjuncts of labels and regions.
    candidates: Vec<Vec<TermId>>,
    /// By location: the first of all conjuncts of labels and regions.
    vocabulary: Vec<Vec<TermId>>,
    /// All candidates so far.
    seen: FxHashSet<(Location, TermId)>,
    /// Lemmas of other processes are candidates, too.
    exchange: Option<Exchange>,
    clauses: Option<Clauses>,
    smt: Rc<Smt>,
    /// The number of refinements from which the next search is due.
    due: u64,
    /// Work for searches.
    spent: Duration,
    /// The work that had been done when the run began.
    work_at_start: Duration,
    /// Whether there are candidates since the last search.
    fresh: bool,
}

impl<'a> Facts<'a> {
    /// No facts, for locations with these predicates.
    pub fn new(
        system: &'a System,
        predicates: &[Option<PredicateId>],
        smt: &Rc<Smt>,
        cx: &Context,
    ) -> Facts<'a> {
        let locations = predicates.len();
        Facts {
            system,
            predicates: predicates.to_vec(),
            proven: vec![Vec::new(); locations],
            candidates: vec![Vec::new(); locations],
            vocabulary: vec![Vec::new(); locations],
            seen: FxHashSet::default(),
            exchange: Exchange::new(system, cx),
            clauses: None,
            smt: smt.clone(),
            due: LIMITS.refinements_per_search,
            spent: Duration::ZERO,
            work_at_start: system.terms.work(),
            fresh: false,
        }
    }

    /// The facts of the location, over formal variables.
    pub fn of(&self, location: Location) -> &[TermId] {
        &self.proven[location]
    }

    /// The first of all conjuncts of labels and regions of the location, the oldest first. It only
    /// grows at its end.
    pub fn vocabulary(&self, location: Location) -> &[TermId] {
        &self.vocabulary[location]
    }

    /// The facts, and the candidates with the newest first, for other engines.
    pub fn lemmas(&self) -> Lemmas {
        let about = |by_location: &[Vec<TermId>]| {
            let each = self.predicates.iter().zip(by_location);
            let each = each.filter_map(|(p, formulas)| Some(((*p)?, formulas)));
            let pairs = each.flat_map(|(p, own)| own.iter().rev().map(move |&f| (p, f)));
            pairs.collect::<Vec<_>>()
        };
        Lemmas {
            proven: about(&self.proven),
            candidates: about(&self.candidates),
            frames: Vec::new(),
        }
    }

    /// The number of facts.
    pub fn count(&self) -> usize {
        self.proven.iter().map(Vec::len).sum()
    }

    /// Adds conjuncts of a label or region of the location to the candidates.
    pub fn add_candidates(&mut self, location: Location, conjuncts: &[TermId]) {
        for &conjunct in conjuncts {
            if conjunct != TermId::FALSE && self.seen.insert((location, conjunct)) {
                self.candidates[location].push(conjunct);
                if self.vocabulary[location].len() < LIMITS.candidates_per_location {
                    self.vocabulary[location].push(conjunct);
                }
                self.fresh = true;
            }
        }
    }
}

/// Adds the literals of a formula with their polarity, and equations as bounds.
fn literals(terms: &TermStore, formula: TermId, found: &mut Vec<TermId>) {
    let mut open = vec![formula];
    while let Some(part) = open.pop() {
        match terms.op(part) {
            Op::And | Op::Or => open.extend(terms.args(part)),
            _ => found.extend(bounds(terms, &[part])),
        }
    }
}

impl Facts<'_> {
    /// Searches for facts if it is due. Returns definitions of the predicates if facts exclude all
    /// queries.
    pub fn search(
        &mut self,
        refinements: u64,
        cx: &Context,
    ) -> Option<FxHashMap<PredicateId, TermId>> {
        self.exchange();
        let work = self.system.terms.work();
        let share = work.saturating_sub(self.work_at_start) / LIMITS.fact_parts;
        let left = share.checked_sub(self.spent);
        let (Some(left), true) = (left, refinements >= self.due && self.fresh) else {
            return None;
        };
        self.fresh = false;
        // Z3's cuts are not counted as work, so queries need the limit, too.
        let left = left.max(LIMITS.min_fact_work);
        let limit = self.smt.limit_queries(Some(left));
        let found = self.houdini(&cx.budget.about(left));
        drop(limit);
        self.spent += self.system.terms.work().saturating_sub(work);
        self.due = refinements + LIMITS.refinements_per_search;
        found
    }

    /// If it is due, sends the facts to other processes, and adds their lemmas to the candidates.
    fn exchange(&mut self) {
        let Some(exchange) = &mut self.exchange else {
            return;
        };
        if !exchange.is_due() {
            return;
        }
        let locations = self.predicates.iter().zip(&self.proven);
        let proven =
            locations.flat_map(|(p, facts)| facts.iter().filter_map(|&f| Some(((*p)?, f))));
        exchange.send(self.system, proven, []);
        for (predicate, lemma) in exchange.receive(self.system).lemmas {
            let location = self.predicates.iter().position(|p| *p == Some(predicate));
            if let Some(location) = location {
                self.add_candidates(location, &[lemma]);
            }
        }
    }

    /// The candidates and their literals, up to a size, each with its location.
    fn candidates(&mut self) -> Vec<(Location, TermId)> {
        let terms = &self.system.terms;
        let mut candidates = Vec::new();
        for (location, own) in self.candidates.iter_mut().enumerate() {
            let surplus = own.len().saturating_sub(LIMITS.candidates_per_location);
            own.drain(..surplus);
            let mut all: Vec<TermId> = Vec::new();
            for &candidate in own.iter() {
                all.push(candidate);
                literals(terms, candidate, &mut all);
            }
            let mut seen: FxHashSet<TermId> = self.proven[location].iter().copied().collect();
            let small = |f: &TermId| terms.dag_size(&[*f]) <= LIMITS.fact_nodes;
            all.retain(|&f| seen.insert(f) && small(&f));
            candidates.extend(all.into_iter().map(|f| (location, f)));
        }
        candidates
    }

    /// Adds the candidates that are inductive to the facts. Returns definitions of the predicates
    /// if facts exclude all queries.
    fn houdini(&mut self, budget: &Budget) -> Option<FxHashMap<PredicateId, TermId>> {
        let candidates = self.candidates();
        let (system, smt) = (self.system, &self.smt);
        let new = || Clauses::new(system, Solvers::PerClause, smt);
        let clauses = self.clauses.get_or_insert_with(new);
        let predicates = &self.predicates;
        let lemmas = candidates.iter();
        let lemmas = lemmas.map(|&(l, f)| clauses.lemma(predicates[l], f, TermId::TRUE));
        let mut lemmas: Vec<Lemma> = lemmas.collect();
        lemmas.push(clauses.lemma(None, TermId::FALSE, TermId::TRUE));
        let none = |_: usize, _: Option<usize>| Vec::new();
        let kept = inductive_lemmas(clauses, &lemmas, Question::Clause, none, budget).ok()?;
        if kept.last() == Some(&(lemmas.len() - 1)) {
            let chosen: Vec<Lemma> = kept.iter().map(|&l| lemmas[l]).collect();
            let given = |_| Given::default();
            let needed = needed_in_clauses(clauses, &chosen, given, usize::MAX, budget);
            let needed = needed.map_or_else(|| (0..kept.len()).collect(), |n| n.lemmas);
            let needed = needed.into_iter();
            let new: Vec<_> = needed
                .filter_map(|n| candidates.get(kept[n]).copied())
                .collect();
            return Some(self.definitions(&new));
        }
        for place in kept {
            let Some(&(location, fact)) = candidates.get(place) else {
                continue;
            };
            let premise = lemmas[place].premise;
            for group in clauses.groups() {
                let mut sources = clauses.sources(group).iter();
                if sources.any(|s| predicates[location] == Some(*s)) {
                    clauses.define_premises(group, &[premise]);
                    clauses.assert(group, premise);
                }
            }
            self.proven[location].push(fact);
        }
        None
    }

    /// The definition of each predicate: its facts and these.
    fn definitions(&self, more: &[(Location, TermId)]) -> FxHashMap<PredicateId, TermId> {
        let terms = &self.system.terms;
        let locations = self.predicates.iter().enumerate();
        let definition = |(l, p): (Location, &Option<PredicateId>)| {
            let new = more.iter().filter(|m| m.0 == l).map(|m| m.1);
            let parts: Vec<TermId> = self.proven[l].iter().copied().chain(new).collect();
            Some(((*p)?, terms.and(&parts)))
        };
        locations.filter_map(definition).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alphorn_term::{SortId, TermStore};

    /// `x` counts from 0; the query does not follow from the candidates.
    #[test]
    fn proven_and_unproven_candidates_are_lemmas() {
        let terms = Rc::new(TermStore::new());
        let mut system = System::new(terms.clone());
        let p = system.add_predicate("P", &[SortId::INT]);
        let x = system.predicate(p).params[0];
        let start = system.fresh_atom(p);
        let at = start.args[0];
        system.add_clause(vec![], terms.eq(at, terms.int(0)), Some(start));
        let (from, to) = (system.fresh_atom(p), system.fresh_atom(p));
        let next = terms.eq(to.args[0], terms.add(&[from.args[0], terms.int(1)]));
        system.add_clause(vec![from], next, Some(to));
        let end = system.fresh_atom(p);
        let large = terms.ge(end.args[0], terms.int(100));
        system.add_clause(vec![end], large, None);
        let cx = Context::new(terms.clone());
        let smt = Smt::within(&cx.budget);
        let mut facts = Facts::new(&system, &[None, Some(p)], &smt, &cx);
        let (holds, fails) = (terms.ge(x, terms.int(0)), terms.le(x, terms.int(3)));
        facts.add_candidates(1, &[holds, fails]);
        assert!(facts.search(LIMITS.refinements_per_search, &cx).is_none());
        let lemmas = facts.lemmas();
        assert_eq!(lemmas.proven, [(p, holds)]);
        assert_eq!(lemmas.candidates, [(p, fails), (p, holds)]);
    }
}
