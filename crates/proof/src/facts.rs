//! Facts about predicates that passes use: proven inductive, shortened, and conjoined to the
//! clauses.
//!
//! Invariant: proven formulas hold for every derivable fact, as far as the solver, or the caller of
//! `Checker::accept`, is right; a verdict is checked against the text in any case.

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

/// Work of one query, unless [`Checker::patient`] sets it; a query without an answer proves
/// nothing.
const QUERY_WORK: Duration = Duration::from_millis(100);

/// Scopes of one solver, after which there is a new one.
const MAX_SCOPES: usize = 500;

/// Formulas that hold of predicates, as conjuncts over the formal variables.
pub type Facts = FxHashMap<PredicateId, Vec<TermId>>;

/// Formulas about predicates, over the formal variables, that an engine found in a turn without an
/// answer. They have to be proven before they are used.
#[derive(Clone, Debug, Default)]
pub struct Lemmas {
    /// Formulas that the engine takes to hold of all facts.
    pub proven: Vec<(PredicateId, TermId)>,
    /// Formulas that hold of the facts reached so far, the most reliable ones first.
    pub candidates: Vec<(PredicateId, TermId)>,
    /// All of these with their levels, if the engine has levels and can continue from them.
    pub frames: Vec<Leveled>,
}

/// A lemma that holds of the predicate's facts with a derivation of at most this height; at the
/// greatest level, of all its facts.
#[derive(Clone, Copy, Debug)]
pub struct Leveled {
    /// The predicate.
    pub predicate: PredicateId,
    /// The formula over the predicate's formal variables.
    pub formula: TermId,
    /// The height, counted in steps.
    pub level: u32,
}

/// Finds conjuncts that are inductive together.
pub struct Checker<'a> {
    _limit: QueryLimit,
    system: &'a System,
    terms: Rc<TermStore>,
    smt: Rc<Smt>,
    clauses: Clauses,
    /// Conjuncts that are inductive together.
    proven: Facts,
}

impl<'a> Checker<'a> {
    /// A checker with nothing proven.
    pub fn new(system: &'a System, cx: &Context) -> Self {
        let smt = Smt::within(&cx.budget);
        Checker {
            _limit: smt.limit_queries(Some(QUERY_WORK)),
            system,
            terms: system.terms.clone(),
            clauses: Clauses::new(system, Solvers::PerClause, &smt),
            smt,
            proven: Facts::default(),
        }
    }

    /// Sets the work that one query may take, at most.
    pub fn with_query_work(mut self, query: Duration) -> Self {
        self._limit = self.smt.limit_queries(Some(query));
        self
    }

    /// Adds the candidates that are inductive together with the proven conjuncts. Returns false,
    /// and adds none, if the budget is spent before.
    pub fn prove(&mut self, candidates: Facts, cx: &Context) -> bool {
        let inductive = self.inductive(&candidates, cx);
        inductive.map(|facts| self.accept(facts)).is_some()
    }

    /// The candidates that are inductive together with the proven conjuncts, in their order; `None`
    /// if the budget is spent before.
    pub fn inductive(&mut self, candidates: &Facts, cx: &Context) -> Option<Facts> {
        let given = self.proven_premises();
        let candidates = in_order(candidates);
        let lemmas = self.lemmas(&candidates);
        let given = |group: usize, _: Option<usize>| given[group].clone();
        let question = Question::Clause;
        let kept = inductive_lemmas(&mut self.clauses, &lemmas, question, given, &cx.budget);
        let mut facts = Facts::default();
        for at in kept.ok()? {
            let (predicate, conjunct) = candidates[at];
            facts.entry(predicate).or_default().push(conjunct);
        }
        Some(facts)
    }

    /// Adds conjuncts that are inductive together, without a query.
    pub fn accept(&mut self, facts: Facts) {
        for (predicate, conjuncts) in facts {
            self.proven.entry(predicate).or_default().extend(conjuncts);
        }
    }

    fn lemmas(&mut self, facts: &[(PredicateId, TermId)]) -> Vec<Lemma> {
        let lemma = |&(p, conjunct)| self.clauses.lemma(Some(p), conjunct, TermId::TRUE);
        facts.iter().map(lemma).collect()
    }

    /// By group of clauses: the premises for proven conjuncts about its body atoms.
    fn proven_premises(&mut self) -> Vec<Vec<TermId>> {
        let mut premises: FxHashMap<PredicateId, Vec<TermId>> = FxHashMap::default();
        for (&predicate, conjuncts) in &self.proven {
            let lemmas = conjuncts.iter().map(|&conjunct| {
                let about = Some(predicate);
                self.clauses.lemma(about, conjunct, TermId::TRUE).premise
            });
            premises.insert(predicate, lemmas.collect());
        }
        let of = |group: usize| {
            let sources = self.clauses.sources(group).iter();
            let known = sources.filter_map(|source| premises.get(source));
            known.flatten().copied().collect()
        };
        self.clauses.groups().map(of).collect()
    }

    /// The proven conjuncts.
    pub fn facts(&self) -> &Facts {
        &self.proven
    }

    /// The proven conjuncts, consuming the checker.
    pub fn into_facts(self) -> Facts {
        self.proven
    }

    /// Inductive conjuncts that exclude all queries, from the proven ones; `None` if these do not
    /// exclude the queries, or if the budget is spent before that is known.
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
        // Cores are computed by incremental solvers, which may fail, in particular on bit-vectors,
        // where a new solver succeeds.
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

    /// The proven conjuncts at a clause's body atoms.
    fn of_body(&self, clause: &Clause) -> Vec<TermId> {
        let mut all = Vec::new();
        for atom in &clause.body {
            let facts = self.proven.get(&atom.predicate).into_iter().flatten();
            all.extend(facts.map(|&fact| self.system.instantiate(fact, atom)));
        }
        all
    }

    /// Drops conjuncts about several variables that earlier ones imply.
    pub fn shorten(&mut self, cx: &Context) {
        let terms = &self.terms;
        let mut solvers = Scopes::new(&self.smt);
        for facts in self.proven.values_mut() {
            // Conjuncts about fewer variables come first and are kept.
            facts.sort_by_key(|f| terms.free_vars(&[*f]).len().min(2));
            let solver = solvers.next();
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

    /// Conjoins the proven conjuncts to the clauses that do not imply them, and drops clauses that
    /// become unsatisfiable; true if a clause changed.
    pub fn conjoin(&self, system: &mut System, cx: &Context) -> bool {
        let mut changed = false;
        let mut solvers = Scopes::new(&self.smt);
        system.clauses.retain_mut(|clause| {
            let mut facts = self.of_body(clause);
            let known = self.terms.conjuncts(clause.constraint).into_iter();
            let known: FxHashSet<TermId> = known.collect();
            facts.retain(|f| !known.contains(f));
            if facts.is_empty() || cx.stop().is_some() {
                return true;
            }
            let solver = solvers.next();
            solver.assert(clause.constraint);
            if solver.check(&[self.terms.and(&facts)]) == SatResult::Unsat {
                changed = true;
                return false;
            }
            let mut violated = self.violated(solver, facts);
            if !violated.is_empty() {
                changed = true;
                violated.push(clause.constraint);
                clause.constraint = self.terms.and(&violated);
            }
            true
        });
        changed
    }

    /// Facts that some model of the solver's formulas violates. Together with the formulas they
    /// imply the others, unless a query has no answer.
    fn violated(&self, solver: &mut Solver, mut facts: Vec<TermId>) -> Vec<TermId> {
        let mut violated = Vec::new();
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
            violated.extend(denied);
        }
        violated
    }
}

/// Solvers for many small questions, which have scopes of the same solver: Z3 takes longer to make a
/// solver than to answer most of them.
struct Scopes<'a> {
    smt: &'a Rc<Smt>,
    solver: Option<Solver>,
    /// How many scopes the solver had.
    used: usize,
}

impl<'a> Scopes<'a> {
    fn new(smt: &'a Rc<Smt>) -> Self {
        Scopes {
            smt,
            solver: None,
            used: 0,
        }
    }

    /// A solver without assertions.
    fn next(&mut self) -> &mut Solver {
        if self.used == MAX_SCOPES {
            self.solver = None;
            self.used = 0;
        }
        self.used += 1;
        let solver = self.solver.get_or_insert_with(|| self.smt.solver());
        if solver.depth() > 0 {
            solver.pop();
        }
        solver.push();
        solver
    }
}

/// The conjuncts ordered by predicate.
fn in_order(facts: &Facts) -> Vec<(PredicateId, TermId)> {
    let mut all: Vec<(PredicateId, TermId)> = facts
        .iter()
        .flat_map(|(&p, conjuncts)| conjuncts.iter().map(move |&c| (p, c)))
        .collect();
    all.sort_by_key(|f| f.0);
    all
}
