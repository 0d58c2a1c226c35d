//! Facts: conjuncts of labels and regions that all clauses preserve together (Houdini).
//!
//! A label is about one path, and a region about what follows. Often some of what they say holds of
//! all facts of a predicate, and then all labels may say it, at no cost: nodes are covered sooner,
//! and paths that it excludes are never explored. Such seeds are sought now and then, by at most
//! half of the work.
//!
//! Invariant: facts are inductive together; what is derived from one by another fact stays so.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

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

/// Larger formulas are no candidates.
const SIZE: usize = 60;

/// Candidates of one location, at most; the newest stay.
const MOST: usize = 300;

/// Facts are sought after so many refinements each.
const STEP: u64 = 4;

/// The part of the run's work that the search for facts may have.
const PART: u32 = 2;

/// Work for one search, at least.
const SLICE: Duration = Duration::from_millis(200);

/// See the module.
pub(super) struct Facts<'a> {
    system: &'a System,
    /// By location.
    predicates: Vec<Option<PredicateId>>,
    /// By location, over formal variables.
    proven: Vec<Vec<TermId>>,
    /// By location: what labels and regions say.
    candidates: Vec<Vec<TermId>>,
    /// By location: the first of all that labels and regions have said.
    vocabulary: Vec<Vec<TermId>>,
    seen: FxHashSet<(Location, TermId)>,
    /// What other processes know are candidates, too.
    exchange: Option<Exchange>,
    clauses: Option<Clauses>,
    smt: Rc<Smt>,
    due: u64,
    spent: Duration,
    begun_at: Duration,
    fresh: bool,
}

impl<'a> Facts<'a> {
    /// None yet, for locations with these predicates.
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
            due: STEP,
            spent: Duration::ZERO,
            begun_at: system.terms.work(),
            fresh: false,
        }
    }

    /// What is proven of the location.
    pub fn of(&self, location: Location) -> &[TermId] {
        &self.proven[location]
    }

    /// The first of all that labels and regions of the location have said, oldest first. It grows at
    /// its end only.
    pub fn vocabulary(&self, location: Location) -> &[TermId] {
        &self.vocabulary[location]
    }

    /// For others: what is proven, and the candidates, newest first.
    pub fn lemmas(&self) -> Lemmas {
        let about = |by_location: &[Vec<TermId>]| {
            let each = self.predicates.iter().zip(by_location);
            let each = each.filter_map(|(p, formulas)| Some(((*p)?, formulas)));
            let pairs = each.flat_map(|(p, own)| own.iter().rev().map(move |&f| (p, f)));
            pairs.collect::<Vec<_>>()
        };
        Lemmas {
            proven: about(&self.proven),
            guesses: about(&self.candidates),
            frames: Vec::new(),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.proven.iter().map(Vec::len).sum()
    }

    /// Labels of the location, or its region, say this.
    pub fn note(&mut self, location: Location, conjuncts: &[TermId]) {
        for &conjunct in conjuncts {
            if conjunct != TermId::FALSE && self.seen.insert((location, conjunct)) {
                self.candidates[location].push(conjunct);
                if self.vocabulary[location].len() < MOST {
                    self.vocabulary[location].push(conjunct);
                }
                self.fresh = true;
            }
        }
    }
}

/// Literals of a formula, as they occur there, and equations as bounds.
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
    /// Looks for facts if it is time; definitions, if facts exclude all queries.
    pub fn look(
        &mut self,
        refinements: u64,
        cx: &Context,
    ) -> Option<FxHashMap<PredicateId, TermId>> {
        self.exchange();
        let work = self.system.terms.work();
        let share = work.saturating_sub(self.begun_at) / PART;
        let left = share.checked_sub(self.spent);
        let (Some(left), true) = (left, refinements >= self.due && self.fresh) else {
            return None;
        };
        self.fresh = false;
        // Cuts of Z3 are no counted work, so queries need the limit, too.
        let left = left.max(SLICE);
        let limit = self.smt.limit_queries(Some(left));
        let found = self.houdini(&cx.budget.about(left));
        drop(limit);
        self.spent += self.system.terms.work().saturating_sub(work);
        self.due = refinements + STEP;
        found
    }

    /// If it is time, tells other processes what is proven, and notes what they tell.
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
        exchange.tell(self.system, proven, []);
        for (predicate, lemma) in exchange.news(self.system).lemmas {
            let location = self.predicates.iter().position(|p| *p == Some(predicate));
            if let Some(location) = location {
                self.note(location, &[lemma]);
            }
        }
    }

    /// Small candidates and literals of candidates, each with its location.
    fn about(&mut self) -> Vec<(Location, TermId)> {
        let terms = &self.system.terms;
        let mut about = Vec::new();
        for (location, own) in self.candidates.iter_mut().enumerate() {
            let surplus = own.len().saturating_sub(MOST);
            own.drain(..surplus);
            let mut all: Vec<TermId> = Vec::new();
            for &candidate in own.iter() {
                all.push(candidate);
                literals(terms, candidate, &mut all);
            }
            let mut seen: FxHashSet<TermId> = self.proven[location].iter().copied().collect();
            let small = |f: &TermId| terms.dag_size(&[*f]) <= SIZE;
            all.retain(|&f| seen.insert(f) && small(&f));
            about.extend(all.into_iter().map(|f| (location, f)));
        }
        about
    }

    fn houdini(&mut self, budget: &Budget) -> Option<FxHashMap<PredicateId, TermId>> {
        let about = self.about();
        let (system, smt) = (self.system, &self.smt);
        let new = || Clauses::new(system, Solvers::PerClause, smt);
        let clauses = self.clauses.get_or_insert_with(new);
        let predicates = &self.predicates;
        let lemmas = about.iter();
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
            let new: Vec<_> = needed.filter_map(|n| about.get(kept[n]).copied()).collect();
            return Some(self.definitions(&new));
        }
        for place in kept {
            let Some(&(location, fact)) = about.get(place) else {
                continue;
            };
            let premise = lemmas[place].premise;
            for group in clauses.groups() {
                let mut sources = clauses.sources(group).iter();
                if sources.any(|s| predicates[location] == Some(*s)) {
                    clauses.tell(group, &[premise]);
                    clauses.assert(group, premise);
                }
            }
            self.proven[location].push(fact);
        }
        None
    }

    /// All that is proven, and more.
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

    /// `x` counts from 0; a query that has no model excludes nothing.
    #[test]
    fn what_is_proven_and_what_is_not_is_for_others() {
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
        facts.note(1, &[holds, fails]);
        assert!(facts.look(STEP, &cx).is_none());
        let lemmas = facts.lemmas();
        assert_eq!(lemmas.proven, [(p, holds)]);
        assert_eq!(lemmas.guesses, [(p, fails), (p, holds)]);
    }
}
