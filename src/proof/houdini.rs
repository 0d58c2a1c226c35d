//! Which of many conjuncts are inductive together (Flanagan and Leino, FME 2001: Houdini): from all of
//! them, those go that some clause does not preserve, until none does.
//!
//! Invariant: what is proven holds for every fact that can be derived, by the word of a solver.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::chc::{Clause, PredicateId, System};
use crate::run::Context;
use crate::smt::{SatResult, Smt, Solver};
use crate::term::{TermId, TermStore};

/// One query of the check at most.
const QUERY: Duration = Duration::from_millis(100);

/// What holds of predicates, as conjuncts over their formal variables.
pub(crate) type Facts = FxHashMap<PredicateId, Vec<TermId>>;

/// Finds the conjuncts that are inductive together.
pub(crate) struct Checker<'a> {
    system: &'a System,
    terms: Rc<TermStore>,
    smt: Rc<Smt>,
    /// What is inductive.
    proven: Facts,
    /// What is being looked at.
    open: Facts,
}

impl<'a> Checker<'a> {
    /// Nothing is proven yet.
    pub fn new(system: &'a System, cx: &Context) -> Self {
        let smt = Smt::within(&cx.budget);
        Checker {
            system,
            terms: system.terms.clone(),
            smt,
            proven: Facts::default(),
            open: Facts::default(),
        }
    }

    /// The conjuncts for a clause's body, over its variables.
    fn body(&self, clause: &Clause) -> Vec<TermId> {
        let mut all = Vec::new();
        for atom in &clause.body {
            let params = &self.system.predicate(atom.predicate).params;
            let map = params.iter().copied().zip(atom.args.iter().copied());
            let map = map.collect();
            let mut memo = FxHashMap::default();
            let proven = self.proven.get(&atom.predicate).into_iter().flatten();
            let open = self.open.get(&atom.predicate).into_iter().flatten();
            for &fact in proven.chain(open) {
                all.push(self.terms.substitute_with(fact, &map, &mut memo));
            }
        }
        all
    }

    /// Adds those conjuncts that are inductive together with what is proven; false, and none, when
    /// time runs out before that.
    pub fn prove(&mut self, candidates: Facts, cx: &Context) -> bool {
        self.open = candidates;
        let complete = self.keep_inductive(cx);
        let open = std::mem::take(&mut self.open);
        if complete {
            for (predicate, conjuncts) in open {
                self.proven.entry(predicate).or_default().extend(conjuncts);
            }
        }
        complete
    }

    /// What was proven.
    pub fn into_facts(self) -> Facts {
        self.proven
    }

    /// Drops open conjuncts until all are inductive; false when time runs out before that.
    fn keep_inductive(&mut self, cx: &Context) -> bool {
        let clauses = &self.system.clauses;
        let mut users: FxHashMap<PredicateId, Vec<usize>> = FxHashMap::default();
        for (index, clause) in clauses.iter().enumerate() {
            for atom in &clause.body {
                users.entry(atom.predicate).or_default().push(index);
            }
        }
        let mut queue: VecDeque<usize> = (0..clauses.len()).collect();
        let mut queued = vec![true; clauses.len()];
        while let Some(index) = queue.pop_front() {
            queued[index] = false;
            if cx.stop().is_some() {
                return false;
            }
            let clause = &clauses[index];
            let Some(head) = &clause.head else { continue };
            let Some(facts) = self.open.get(&head.predicate).filter(|f| !f.is_empty()) else {
                continue;
            };
            let kept = self.preserved(clause, facts, cx);
            if kept.len() == facts.len() {
                continue;
            }
            self.open.insert(head.predicate, kept);
            for &user in users.get(&head.predicate).into_iter().flatten() {
                if !queued[user] {
                    queued[user] = true;
                    queue.push_back(user);
                }
            }
        }
        self.open.retain(|_, facts| !facts.is_empty());
        true
    }

    /// The conjuncts about the head that the clause preserves.
    fn preserved(&self, clause: &Clause, facts: &[TermId], cx: &Context) -> Vec<TermId> {
        let Some(head) = &clause.head else {
            return facts.to_vec();
        };
        let mut solver = self.smt.solver();
        solver.assert(clause.constraint);
        for fact in self.body(clause) {
            solver.assert(fact);
        }
        let instance = |fact: TermId| self.system.instantiate(fact, head);
        let mut kept: Vec<(TermId, TermId)> = facts.iter().map(|&f| (f, instance(f))).collect();
        while !kept.is_empty() {
            let instances: Vec<TermId> = kept.iter().map(|k| k.1).collect();
            let negated = self.terms.not(self.terms.and(&instances));
            match self.query(&mut solver, negated) {
                SatResult::Unsat => break,
                SatResult::Sat => {
                    let Some(model) = solver.model() else {
                        return Vec::new();
                    };
                    let before = kept.len();
                    kept.retain(|k| model.satisfies(k.1));
                    if kept.len() == before {
                        // The model cannot be read.
                        return Vec::new();
                    }
                }
                SatResult::Unknown(_) if kept.len() > 1 && cx.stop().is_none() => {
                    // One by one, as far as that goes.
                    kept.retain(|k| {
                        let negated = self.terms.not(k.1);
                        self.query(&mut solver, negated) == SatResult::Unsat
                    });
                    break;
                }
                SatResult::Unknown(_) => return Vec::new(),
            }
        }
        kept.into_iter().map(|k| k.0).collect()
    }

    fn query(&self, solver: &mut Solver, assumption: TermId) -> SatResult {
        self.smt.set_query_limit(Some(QUERY));
        solver.check(&[assumption])
    }

    /// Drops conjuncts about several variables that those before them imply.
    pub fn shorten(&mut self, cx: &Context) {
        let terms = self.terms.clone();
        let mut proven = std::mem::take(&mut self.proven);
        for facts in proven.values_mut() {
            // Simple ones first: they stay.
            facts.sort_by_key(|f| terms.free_vars(&[*f]).len().min(2));
            let mut solver = self.smt.solver();
            facts.retain(|&fact| {
                let simple = terms.free_vars(&[fact]).len() < 2;
                let stays = simple
                    || cx.stop().is_some()
                    || self.query(&mut solver, terms.not(fact)) != SatResult::Unsat;
                if stays {
                    solver.assert(fact);
                }
                stays
            });
        }
        self.proven = proven;
    }

    /// Conjoins the facts to the clauses where they say something new, and drops clauses that
    /// cannot be applied; true if a clause changed.
    pub fn conjoin(&self, system: &mut System, cx: &Context) -> bool {
        let mut changed = false;
        system.clauses.retain_mut(|clause| {
            let mut facts = self.body(clause);
            let known: FxHashSet<TermId> = self
                .terms
                .conjuncts(clause.constraint)
                .into_iter()
                .collect();
            facts.retain(|f| !known.contains(f));
            if facts.is_empty() || cx.stop().is_some() {
                return true;
            }
            let mut solver = self.smt.solver();
            solver.assert(clause.constraint);
            let all = self.terms.and(&facts);
            if self.query(&mut solver, all) == SatResult::Unsat {
                changed = true;
                return false;
            }
            // What some model of the constraint denies is new; the rest follows once none does.
            let mut news = Vec::new();
            while !facts.is_empty() {
                let negated = self.terms.not(self.terms.and(&facts));
                match self.query(&mut solver, negated) {
                    SatResult::Unsat => break,
                    SatResult::Sat => {
                        let before = facts.len();
                        let Some(model) = solver.model() else { break };
                        facts.retain(|f| {
                            let holds = model.satisfies(*f);
                            if !holds {
                                news.push(*f);
                            }
                            holds
                        });
                        if facts.len() == before {
                            break;
                        }
                    }
                    SatResult::Unknown(_) => break,
                }
            }
            if !news.is_empty() {
                changed = true;
                news.push(clause.constraint);
                clause.constraint = self.terms.and(&news);
            }
            true
        });
        changed
    }
}
