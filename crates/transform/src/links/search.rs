//! Houdini over the templates: drops candidates until each clause preserves the rest.
//!
//! A query asks for a step of a clause that violates a candidate at the head. Candidates at the body
//! become premises only when a model violates them, and only the strongest ones are asked about, so
//! that queries stay small although there are many candidates.
//!
//! Invariant: when the search ends, no clause whose body predicates have a state violates a
//! candidate that is left, up to the implications between templates, which are guesses.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::forms::{Candidate, Candidates, State};
use super::roles::{Argument, Role, Roles};
use alphorn_chc::{Atom, ClauseIndex, PredicateId, System};
use alphorn_proof::facts::Facts;
use alphorn_smt::{SatResult, Smt, SmtModel, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Printer, TermId, TermStore};

/// The limits of the search.
struct Limits {
    /// Work of one query.
    query_work: Duration,
    /// Premises that one model adds for a body atom, at most.
    premises: usize,
    /// Candidates of all predicates: where there are more, those with simple guards are tried, since
    /// a search that is cut short proves nothing.
    candidates: usize,
}

const LIMITS: Limits = Limits {
    query_work: Duration::from_millis(100),
    premises: 8,
    candidates: 600_000,
};

/// The strongest candidates that are inductive together; `None` if the budget is spent before.
pub(super) fn inductive(system: &System, roles: &Roles, cx: &mut Context) -> Option<Facts> {
    let smt = Smt::within(&cx.budget);
    let _limit = smt.limit_queries(Some(LIMITS.query_work));
    let mut search = Search::new(system, roles, &smt);
    let count = |search: &Search| {
        search
            .candidates
            .values()
            .map(Candidates::count)
            .sum::<usize>()
    };
    cx.stats.add("links.candidates", count(&search) as u64);
    let ended = search.run(cx);
    cx.stats.add("links.queries", search.queries);
    log::debug!(
        "links: {} predicates, {} queries, {} candidates left, {}",
        search.candidates.len(),
        search.queries,
        count(&search),
        if ended.is_some() { "done" } else { "cut short" }
    );
    ended?;
    let facts = search.facts(cx);
    cx.stats.add(
        "links.facts",
        facts.values().map(Vec::len).sum::<usize>() as u64,
    );
    Some(facts)
}

/// A clause in a solver.
struct Rule {
    solver: Solver,
    /// The candidates at body atoms that were premises.
    premises: Vec<(usize, Candidate)>,
}

struct Search<'a> {
    system: &'a System,
    terms: Rc<TermStore>,
    roles: &'a Roles,
    smt: Rc<Smt>,
    candidates: FxHashMap<PredicateId, Candidates>,
    rules: FxHashMap<usize, Rule>,
    queries: u64,
}

impl<'a> Search<'a> {
    fn new(system: &'a System, roles: &'a Roles, smt: &Rc<Smt>) -> Self {
        let candidates = roles.arguments.iter();
        let most = LIMITS.candidates / roles.arguments.len().max(1);
        Search {
            system,
            terms: system.terms.clone(),
            roles,
            smt: smt.clone(),
            candidates: candidates
                .map(|(&p, a)| (p, Candidates::new(a, most)))
                .collect(),
            rules: FxHashMap::default(),
            queries: 0,
        }
    }

    /// Visits clauses until nothing changes; `None` if the budget is spent.
    fn run(&mut self, cx: &Context) -> Option<()> {
        let index = ClauseIndex::new(self.system);
        let mut queue: VecDeque<usize> = index.entries().iter().copied().collect();
        let mut waiting: FxHashSet<usize> = queue.iter().copied().collect();
        while let Some(at) = queue.pop_front() {
            waiting.remove(&at);
            let Some(head) = &self.system.clauses[at].head else {
                continue;
            };
            if !self.visit(at, cx)? {
                continue;
            }
            for &user in index.using(head.predicate) {
                if waiting.insert(user) {
                    queue.push_back(user);
                }
            }
        }
        Some(())
    }

    /// Drops the candidates at the head that the clause violates; true if some were.
    fn visit(&mut self, at: usize, cx: &Context) -> Option<bool> {
        let clause = &self.system.clauses[at];
        if !clause
            .body
            .iter()
            .all(|a| self.candidates[&a.predicate].reached)
        {
            return Some(false);
        }
        let mut rule = self.rules.remove(&at).unwrap_or_else(|| {
            let mut solver = self.smt.solver();
            solver.assert(clause.constraint);
            Rule {
                solver,
                premises: Vec::new(),
            }
        });
        let mut changed = false;
        loop {
            let body = clause.body.iter();
            let strongest: Vec<Vec<Candidate>> = body
                .map(|atom| self.candidates[&atom.predicate].strongest())
                .collect();
            rule.solver.push();
            let step = self.step(at, &mut rule, &strongest, cx);
            rule.solver.pop();
            let step = step?;
            changed |= step.dropped;
            if step.finished {
                break;
            }
        }
        self.rules.insert(at, rule);
        Some(changed)
    }

    /// Searches for violations, in an open scope of the rule's solver; for one only, if candidates of
    /// the head's predicate are premises, which it may drop.
    fn step(
        &mut self,
        at: usize,
        rule: &mut Rule,
        strongest: &[Vec<Candidate>],
        cx: &Context,
    ) -> Option<Step> {
        let clause = &self.system.clauses[at];
        let head = clause.head.as_ref()?;
        let recursive = clause.body.iter().any(|a| a.predicate == head.predicate);
        let body = |atom: usize| &clause.body[atom];
        rule.premises
            .retain(|&(atom, c)| self.candidates[&body(atom).predicate].is_alive(c));
        for &(atom, candidate) in &rule.premises {
            let premise = self.instance(body(atom), candidate);
            rule.solver.assert(premise);
        }
        let mut dropped = false;
        loop {
            let asked = self.candidates[&head.predicate].strongest();
            if asked.is_empty() {
                return Some(Step::finished(dropped));
            }
            let violations = asked.iter();
            let violations: Vec<TermId> = violations
                .map(|&c| self.terms.not(self.instance(head, c)))
                .collect();
            rule.solver.assert(self.terms.or(&violations));
            // Until a model satisfies the candidates at the body.
            loop {
                if cx.stop().is_some() {
                    return None;
                }
                self.queries += 1;
                let model = match rule.solver.check(&[]) {
                    SatResult::Unsat => return Some(Step::finished(dropped)),
                    SatResult::Sat => rule.solver.model(),
                    SatResult::Unknown(_) => None,
                };
                let states =
                    model.and_then(|model| self.states(clause.body.iter().chain([head]), &model));
                let Some(mut states) = states else {
                    let lost = self.candidates.get_mut(&head.predicate)?;
                    lost.drop_all(&asked);
                    return Some(Step::UNFINISHED);
                };
                let state = states.pop()?;
                let mut added = false;
                for (atom, state) in states.iter().enumerate() {
                    let own = &self.candidates[&body(atom).predicate];
                    let mut violated = own.violated(&strongest[atom], state);
                    violated.retain(|&c| own.is_alive(c));
                    for candidate in violated.into_iter().take(LIMITS.premises) {
                        added = true;
                        rule.premises.push((atom, candidate));
                        let premise = self.instance(body(atom), candidate);
                        rule.solver.assert(premise);
                    }
                }
                if added {
                    continue;
                }
                let own = self.candidates.get_mut(&head.predicate)?;
                if !own.drop_by(&state) {
                    // Evaluation and the solver disagree.
                    own.drop_all(&asked);
                }
                dropped = true;
                break;
            }
            if recursive {
                return Some(Step::UNFINISHED);
            }
        }
    }

    /// A candidate at an atom.
    fn instance(&self, atom: &Atom, candidate: Candidate) -> TermId {
        self.candidates[&atom.predicate].formula(&self.terms, candidate, &atom.args)
    }

    /// The values of atoms in a model; `None` if some value is no small number.
    fn states<'b>(
        &self,
        atoms: impl Iterator<Item = &'b Atom>,
        model: &SmtModel,
    ) -> Option<Vec<State>> {
        let value = |(argument, &arg): (&Argument, &TermId)| match argument.role {
            Role::Other => Some(0),
            _ => {
                let value = model.value(arg).ok()?;
                match self.terms.as_bool(value) {
                    Some(flag) => Some(i64::from(flag)),
                    None => i64::try_from(self.terms.as_int(value)?).ok(),
                }
            }
        };
        atoms
            .map(|atom| {
                let arguments = &self.roles.arguments[&atom.predicate];
                arguments.iter().zip(&atom.args).map(value).collect()
            })
            .collect()
    }

    /// The strongest candidates that are left, over the formal variables, without those that simpler
    /// ones imply.
    fn facts(&self, cx: &Context) -> Facts {
        let mut facts = Facts::default();
        for (&predicate, candidates) in &self.candidates {
            let params = &self.system.predicate(predicate).params;
            let strongest = candidates.strongest().into_iter();
            let mut formulas: Vec<TermId> = strongest
                .map(|c| candidates.formula(&self.terms, c, params))
                .filter(|&f| f != TermId::TRUE)
                .collect();
            formulas.sort_by_cached_key(|&f| self.terms.dag_size(&[f]));
            let mut solver = self.smt.solver();
            formulas.retain(|&formula| {
                let negated = self.terms.not(formula);
                let is_new = cx.stop().is_some() || solver.check(&[negated]) != SatResult::Unsat;
                if is_new {
                    solver.assert(formula);
                    let name = &self.system.predicate(predicate).name;
                    log::trace!("links: {name}: {}", Printer::new(&self.terms).term(formula));
                }
                is_new
            });
            facts.insert(predicate, formulas);
        }
        facts
    }
}

/// The result of a search for violations.
struct Step {
    /// Whether candidates were dropped.
    dropped: bool,
    /// Whether there are no further violations.
    finished: bool,
}

impl Step {
    const UNFINISHED: Step = Step {
        dropped: true,
        finished: false,
    };

    fn finished(dropped: bool) -> Step {
        Step {
            dropped,
            finished: true,
        }
    }
}
