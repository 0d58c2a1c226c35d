//! Facts about predicates that a pass wants to rely on: proven inductive, shortened, and
//! conjoined to the clauses.
//!
//! Invariant: what is proven holds for every fact that can be derived, by the word of a solver or of
//! whoever found it (`Checker::accept`); either way a verdict is checked on the text.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::clauses::{Clauses, Lemma, Solvers};
use super::houdini::{Question, inductive_lemmas};
use super::needed_lemmas::{Given, needed_in_clauses};
use alphorn_chc::{Clause, PredicateId, System};
use alphorn_smt::{QueryLimit, SatResult, Smt, Solver};
use alphorn_term::run::Context;
use alphorn_term::{TermId, TermStore};

/// One query at most, as work.
const QUERY: Duration = Duration::from_millis(100);

/// What holds of predicates, as conjuncts over their formal variables.
pub type Facts = FxHashMap<PredicateId, Vec<TermId>>;

/// What an engine found out about predicates in a turn without an answer: formulas over the formal
/// variables. Who relies on them proves them first.
#[derive(Clone, Debug, Default)]
pub struct Lemmas {
    /// What the engine holds for true of all facts,
    pub proven: Vec<(PredicateId, TermId)>,
    /// and of those that it has come to so far, the most certain ones first.
    pub guesses: Vec<(PredicateId, TermId)>,
    /// All these with their levels, if the engine has levels and can go on from there.
    pub frames: Vec<Leveled>,
}

/// A lemma about a predicate that holds of facts with derivations of at most this height, or, at the
/// greatest level, of all facts.
#[derive(Clone, Copy, Debug)]
pub struct Leveled {
    pub predicate: PredicateId,
    pub formula: TermId,
    pub level: u32,
}

/// Finds the conjuncts that are inductive together.
pub struct Checker<'a> {
    _limit: QueryLimit,
    system: &'a System,
    terms: Rc<TermStore>,
    smt: Rc<Smt>,
    clauses: Clauses,
    /// What is inductive.
    proven: Facts,
}

impl<'a> Checker<'a> {
    /// Nothing is proven yet.
    pub fn new(system: &'a System, cx: &Context) -> Self {
        let smt = Smt::within(&cx.budget);
        Checker {
            _limit: smt.limit_queries(Some(QUERY)),
            system,
            terms: system.terms.clone(),
            clauses: Clauses::new(system, Solvers::PerClause, &smt),
            smt,
            proven: Facts::default(),
        }
    }

    /// The same with another limit of each query, as work.
    pub fn patient(mut self, query: Duration) -> Self {
        self._limit = self.smt.limit_queries(Some(query));
        self
    }

    /// Adds those conjuncts that are inductive together with what is proven; false, and none, when
    /// the budget is spent before that.
    pub fn prove(&mut self, candidates: Facts, cx: &Context) -> bool {
        let given = self.proven_premises();
        let candidates = in_order(&candidates);
        let lemmas = self.lemmas(&candidates);
        let given = |group: usize, _: Option<usize>| given[group].clone();
        let question = Question::Clause;
        let kept = inductive_lemmas(&mut self.clauses, &lemmas, question, given, &cx.budget);
        let Ok(kept) = kept else { return false };
        for at in kept {
            let (predicate, conjunct) = candidates[at];
            self.proven.entry(predicate).or_default().push(conjunct);
        }
        true
    }

    /// Adds facts that whoever found them knows to be inductive together, without asking.
    pub fn accept(&mut self, facts: Facts) {
        for (predicate, conjuncts) in facts {
            self.proven.entry(predicate).or_default().extend(conjuncts);
        }
    }

    fn lemmas(&mut self, facts: &[(PredicateId, TermId)]) -> Vec<Lemma> {
        let lemma = |&(p, conjunct)| self.clauses.lemma(Some(p), conjunct, TermId::TRUE);
        facts.iter().map(lemma).collect()
    }

    /// By group of clauses: what is proven of its body atoms.
    fn proven_premises(&mut self) -> Vec<Vec<TermId>> {
        let proven = in_order(&self.proven);
        let lemmas = self.lemmas(&proven);
        let of = |group: usize| {
            let sources = self.clauses.sources(group);
            let of_body = |&p: &PredicateId| sources.binary_search(&p).is_ok();
            let here = lemmas
                .iter()
                .filter(|l| l.about.as_ref().is_some_and(of_body));
            here.map(|l| l.premise).collect()
        };
        self.clauses.groups().map(of).collect()
    }

    /// What is proven so far.
    pub fn facts(&self) -> &Facts {
        &self.proven
    }

    /// What was proven.
    pub fn into_facts(self) -> Facts {
        self.proven
    }

    /// Of what is proven, what excludes all queries and is inductive; `None` when it does not
    /// exclude them, or the budget is spent before that is known.
    pub fn needed(&mut self, cx: &Context) -> Option<Facts> {
        let query = self.clauses.lemma(None, TermId::FALSE, TermId::TRUE);
        let given = self.proven_premises();
        let given = |group: usize, _: Option<usize>| given[group].clone();
        let (clauses, question) = (&mut self.clauses, Question::Clause);
        let excluded = inductive_lemmas(clauses, &[query], question, given, &cx.budget);
        if excluded.ok()?.is_empty() {
            return None;
        }
        let proven = in_order(&self.proven);
        let mut lemmas = self.lemmas(&proven);
        lemmas.push(query);
        let none = |_| Given::default();
        let needed = needed_in_clauses(&mut self.clauses, &lemmas, none, usize::MAX, &cx.budget);
        // Cores are sought by solvers that are kept, which may not see what one that starts anew
        // sees, in particular of words.
        let Some(needed) = needed else {
            return cx.stop().is_none().then(|| self.proven.clone());
        };
        let mut facts = Facts::default();
        for at in needed.lemmas {
            if let Some(&(predicate, fact)) = proven.get(at) {
                facts.entry(predicate).or_default().push(fact);
            }
        }
        Some(facts)
    }

    /// What is proven of a clause's body, over its variables.
    fn of_body(&self, clause: &Clause) -> Vec<TermId> {
        let mut all = Vec::new();
        for atom in &clause.body {
            let facts = self.proven.get(&atom.predicate).into_iter().flatten();
            all.extend(facts.map(|&fact| self.system.instantiate(fact, atom)));
        }
        all
    }

    /// Drops conjuncts about several variables that those before them imply.
    pub fn shorten(&mut self, cx: &Context) {
        let terms = &self.terms;
        for facts in self.proven.values_mut() {
            // Simple ones first: they stay.
            facts.sort_by_key(|f| terms.free_vars(&[*f]).len().min(2));
            let mut solver = self.smt.solver();
            facts.retain(|&fact| {
                let simple = terms.free_vars(&[fact]).len() < 2;
                let stays = simple
                    || cx.stop().is_some()
                    || solver.check(&[terms.not(fact)]) != SatResult::Unsat;
                if stays {
                    solver.assert(fact);
                }
                stays
            });
        }
    }

    /// Conjoins the facts to the clauses where they say something new, and drops clauses that
    /// cannot be applied; true if a clause changed.
    pub fn conjoin(&self, system: &mut System, cx: &Context) -> bool {
        let mut changed = false;
        system.clauses.retain_mut(|clause| {
            let mut facts = self.of_body(clause);
            let known = self.terms.conjuncts(clause.constraint).into_iter();
            let known: FxHashSet<TermId> = known.collect();
            facts.retain(|f| !known.contains(f));
            if facts.is_empty() || cx.stop().is_some() {
                return true;
            }
            let mut solver = self.smt.solver();
            solver.assert(clause.constraint);
            if solver.check(&[self.terms.and(&facts)]) == SatResult::Unsat {
                changed = true;
                return false;
            }
            let mut news = self.news(&mut solver, facts);
            if !news.is_empty() {
                changed = true;
                news.push(clause.constraint);
                clause.constraint = self.terms.and(&news);
            }
            true
        });
        changed
    }

    /// Those of the facts that some model of the solver's formulas denies. Together they imply the
    /// others, unless a query has no answer.
    fn news(&self, solver: &mut Solver, mut facts: Vec<TermId>) -> Vec<TermId> {
        let mut news = Vec::new();
        while !facts.is_empty() {
            let negated = self.terms.not(self.terms.and(&facts));
            if solver.check(&[negated]) != SatResult::Sat {
                break;
            }
            let Some(model) = solver.model() else { break };
            let (rest, denied): (Vec<TermId>, Vec<TermId>) =
                facts.into_iter().partition(|f| model.satisfies(*f));
            facts = rest;
            if denied.is_empty() {
                break;
            }
            news.extend(denied);
        }
        news
    }
}

/// The facts of one predicate after the other.
fn in_order(facts: &Facts) -> Vec<(PredicateId, TermId)> {
    let mut all: Vec<(PredicateId, TermId)> = facts
        .iter()
        .flat_map(|(&p, conjuncts)| conjuncts.iter().map(move |&c| (p, c)))
        .collect();
    all.sort_by_key(|f| f.0);
    all
}
