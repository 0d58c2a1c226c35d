//! Unrolling of linear systems, forward by level.
//!
//! Level `k` holds, for each predicate that a derivation of exactly `k + 1` steps can end in by the
//! dependencies alone, one copy of its arguments and a literal "the derivation is here". A literal
//! implies one of the clauses that lead there, and a clause implies its constraint and the literal
//! of the level before. Levels are only ever added. Invariant: once the queries of a level are
//! refuted, the solver holds for good that the derivation goes on beyond it; so in a deterministic
//! stretch everything is fixed at the solver's base level and a deep query costs little, and a core
//! without assumptions says that there are no deeper derivations at all.

use std::time::Duration;

use rustc_hash::FxHashMap;

use super::instance::{ClauseVars, Instance, derived, failed, holds, literal};
use super::{Answer, Oracle, Outcome};
use crate::chc::{PredicateId, Reachability, System};
use crate::engine::EngineError;
use crate::run::Context;
use crate::run::Reason;
use crate::smt::SmtModel;
use crate::term::TermId;
use crate::witness::{Refutation, RefutationStep};

/// From this level on, several levels share a query, one for every so many below.
const LEVELS_PER_WINDOW: usize = 16;

/// So many queries in a row may end without an answer.
const PATIENCE: usize = 8;

/// Of the time left, a query may take this part, but [`LEAST_SLICE`] at least. Without a time limit
/// each may take for ever. What is hard to refute at one level may be easy to reach at a later one.
const SLICES: u32 = 8;
const LEAST_SLICE: Duration = Duration::from_secs(1);

/// A predicate at a level.
struct Place {
    /// True when the derivation is here.
    literal: TermId,
    args: Vec<TermId>,
    /// The clauses that lead here from the level before.
    incoming: Vec<Instance>,
}

/// One level, by predicate.
type Level = FxHashMap<PredicateId, Place>;

struct Unrolling<'a> {
    system: &'a System,
    reachability: &'a Reachability,
    vars: ClauseVars,
    /// By predicate: the relevant clauses with it in the body that are no queries.
    outgoing: Vec<Vec<usize>>,
    /// By predicate: queries with it in the body.
    queries: Vec<Vec<usize>>,
    levels: Vec<Level>,
}

/// Searches for a derivation of `false` of at most `max_depth` steps in a linear system.
pub(super) fn search(
    system: &System,
    reachability: &Reachability,
    oracle: &mut Oracle,
    max_depth: usize,
    cx: &mut Context,
) -> Result<Outcome, EngineError> {
    let mut unrolling = Unrolling::new(system, reachability);
    // A query without body atoms needs no unrolling: one step.
    for &query in reachability.index().queries() {
        if !system.clauses[query].body.is_empty() || max_depth == 0 {
            continue;
        }
        match unrolling.query_without_body(query, oracle, cx)? {
            None => {}
            Some(outcome) => return Ok(outcome),
        }
    }
    let mut gave_up: Option<String> = None;
    let mut patience = PATIENCE;
    // A derivation that ends with a query at level k has k + 2 steps.
    while unrolling.levels.len() + 2 <= max_depth {
        let first = unrolling.levels.len();
        // After a query without an answer, more levels are taken together, so as to get away.
        let wide = 1 << (PATIENCE - patience);
        let window = (first / LEVELS_PER_WINDOW)
            .max(wide)
            .min(max_depth - first - 1);
        let mut exits: Vec<(usize, PredicateId, Instance)> = Vec::new();
        for level in first..first + window {
            if let Some(reason) = cx.stop() {
                return Ok(Outcome::Stopped(reason));
            }
            unrolling.add_level(oracle);
            unrolling.add_queries(level, &mut exits, oracle);
        }
        let last = unrolling.levels.len() - 1;
        cx.stats.set("bmc.depth", last as u64 + 2);
        if !exits.is_empty() {
            let window_literal = literal(&system.terms, "window");
            let literals: Vec<TermId> = exits.iter().map(|e| e.2.literal).collect();
            let terms = &system.terms;
            oracle
                .solver
                .assert(terms.implies(window_literal, terms.or(&literals)));
            let slice = cx.remaining().map(|r| (r / SLICES).max(LEAST_SLICE));
            match oracle.check_within(slice, &[window_literal], cx) {
                Answer::Sat => {
                    let model = oracle.solver.model();
                    let model = model.ok_or_else(|| failed(&"no model"))?;
                    return unrolling.derivation(&exits, &model).map(Outcome::Refuted);
                }
                Answer::Unsat => {
                    patience = PATIENCE;
                    if oracle.solver.core().is_empty() && gave_up.is_none() {
                        return Ok(Outcome::Exhausted(first));
                    }
                    for literal in literals {
                        oracle.solver.assert(terms.not(literal));
                    }
                }
                Answer::GaveUp(why) => {
                    patience -= 1;
                    if patience == 0 {
                        return Ok(Outcome::Stopped(Reason::Incomplete(why)));
                    }
                    gave_up.get_or_insert(why);
                    oracle.solver.assert(terms.not(window_literal));
                }
                Answer::Stopped(reason) => return Ok(Outcome::Stopped(reason)),
            }
        }
        if unrolling.levels[last].is_empty() {
            return Ok(match gave_up {
                None => Outcome::Exhausted(last + 1),
                Some(why) => Outcome::Stopped(Reason::Incomplete(why)),
            });
        }
        unrolling.go_on(oracle);
    }
    Ok(match gave_up {
        None => Outcome::Bound(max_depth),
        Some(why) => Outcome::Stopped(Reason::Incomplete(why)),
    })
}

impl<'a> Unrolling<'a> {
    fn new(system: &'a System, reachability: &'a Reachability) -> Self {
        let mut outgoing = vec![Vec::new(); system.predicates.len()];
        let mut queries = vec![Vec::new(); system.predicates.len()];
        for &index in reachability.clauses() {
            let clause = &system.clauses[index];
            if let Some(atom) = clause.body.first() {
                let table = if clause.head.is_some() {
                    &mut outgoing
                } else {
                    &mut queries
                };
                table[atom.predicate.index()].push(index);
            }
        }
        Unrolling {
            system,
            reachability,
            vars: ClauseVars::new(system),
            outgoing,
            queries,
            levels: Vec::new(),
        }
    }

    fn query_without_body(
        &mut self,
        query: usize,
        oracle: &mut Oracle,
        cx: &Context,
    ) -> Result<Option<Outcome>, EngineError> {
        let terms = &self.system.terms;
        let literal = literal(terms, "query");
        let none = std::iter::empty();
        let (instance, constraint) = self.vars.instantiate(self.system, query, literal, none);
        oracle.solver.assert(terms.implies(literal, constraint));
        match oracle.check(&[literal], cx) {
            Answer::Sat => {
                let model = oracle.solver.model();
                let model = model.ok_or_else(|| failed(&"no model"))?;
                let step = RefutationStep {
                    clause: self.system.clauses[query].id,
                    values: self.vars.values(self.system, &instance, &model)?,
                    premises: Vec::new(),
                    fact: None,
                };
                Ok(Some(Outcome::Refuted(Refutation { steps: vec![step] })))
            }
            Answer::Unsat => {
                oracle.solver.assert(terms.not(literal));
                Ok(None)
            }
            // Without an answer here the whole search has none but a refutation; rare enough.
            Answer::GaveUp(why) => Ok(Some(Outcome::Stopped(Reason::Incomplete(why)))),
            Answer::Stopped(reason) => Ok(Some(Outcome::Stopped(reason))),
        }
    }

    /// Adds the next level: the predicates that relevant clauses lead to from the last one.
    fn add_level(&mut self, oracle: &mut Oracle) {
        let (system, terms) = (self.system, &*self.system.terms);
        let k = self.levels.len();
        let before = k.checked_sub(1).map(|k| &self.levels[k]);
        let mut clauses: Vec<usize> = match before {
            None => self.reachability.index().entries().to_vec(),
            Some(level) => level
                .keys()
                .flat_map(|p| self.outgoing[p.index()].iter().copied())
                .collect(),
        };
        // In the clauses' order, whatever the order of the table.
        clauses.sort_unstable();
        let mut by_head: Vec<(PredicateId, Vec<usize>)> = Vec::new();
        let mut position: FxHashMap<PredicateId, usize> = FxHashMap::default();
        for clause in clauses {
            let head = system.clauses[clause].head.as_ref().expect("no query");
            let at = *position.entry(head.predicate).or_insert_with(|| {
                by_head.push((head.predicate, Vec::new()));
                by_head.len() - 1
            });
            by_head[at].1.push(clause);
        }
        let mut level = Level::default();
        for (predicate, clauses) in by_head {
            let here = literal(terms, &system.predicate(predicate).name);
            let args = system.fresh_atom(predicate).args;
            let mut incoming = Vec::with_capacity(clauses.len());
            let only = clauses.len() == 1;
            for clause in clauses {
                let chosen = if only { here } else { literal(terms, "clause") };
                let from = match (system.clauses[clause].body.first(), before) {
                    (Some(atom), Some(level)) => Some(&level[&atom.predicate]),
                    _ => None,
                };
                let arguments = from.iter().flat_map(|p| &p.args).chain(&args).copied();
                let (instance, constraint) =
                    self.vars.instantiate(system, clause, chosen, arguments);
                if let Some(from) = from {
                    oracle.solver.assert(terms.implies(chosen, from.literal));
                }
                oracle.solver.assert(terms.implies(chosen, constraint));
                incoming.push(instance);
            }
            if !only {
                let choices: Vec<TermId> = incoming.iter().map(|i| i.literal).collect();
                oracle
                    .solver
                    .assert(terms.implies(here, terms.or(&choices)));
            }
            let place = Place {
                literal: here,
                args,
                incoming,
            };
            level.insert(predicate, place);
        }
        self.levels.push(level);
    }

    /// Adds the queries over a level's predicates to `exits`.
    fn add_queries(
        &mut self,
        level: usize,
        exits: &mut Vec<(usize, PredicateId, Instance)>,
        oracle: &mut Oracle,
    ) {
        let terms = &self.system.terms;
        let mut predicates: Vec<PredicateId> = self.levels[level].keys().copied().collect();
        predicates.sort_unstable();
        for predicate in predicates {
            let place = &self.levels[level][&predicate];
            for &query in &self.queries[predicate.index()] {
                let exit = literal(terms, "query");
                let args = place.args.iter().copied();
                let (instance, constraint) = self.vars.instantiate(self.system, query, exit, args);
                oracle.solver.assert(terms.implies(exit, place.literal));
                oracle.solver.assert(terms.implies(exit, constraint));
                exits.push((level, predicate, instance));
            }
        }
    }

    /// Holds that the derivation passes through the last level.
    fn go_on(&self, oracle: &mut Oracle) {
        let mut literals: Vec<TermId> = self.levels.last().map_or_else(Vec::new, |level| {
            level.values().map(|p| p.literal).collect()
        });
        literals.sort_unstable();
        oracle.solver.assert(self.system.terms.or(&literals));
    }

    /// Reads the derivation off a model in which one of the `exits` is taken.
    fn derivation(
        &mut self,
        exits: &[(usize, PredicateId, Instance)],
        model: &SmtModel,
    ) -> Result<Refutation, EngineError> {
        let mut taken = None;
        for exit in exits {
            if holds(model, exit.2.literal)? {
                taken = Some(exit);
                break;
            }
        }
        let &(last, mut predicate, ref query) =
            taken.ok_or_else(|| failed(&"no query is taken"))?;
        let mut chain: Vec<&Instance> = vec![query];
        for level in (0..=last).rev() {
            let mut chosen = None;
            for instance in &self.levels[level][&predicate].incoming {
                if holds(model, instance.literal)? {
                    chosen = Some(instance);
                    break;
                }
            }
            let instance = chosen.ok_or_else(|| failed(&"no clause is chosen"))?;
            chain.push(instance);
            if let Some(atom) = self.system.clauses[instance.clause].body.first() {
                predicate = atom.predicate;
            }
        }
        let mut steps = Vec::with_capacity(chain.len());
        for instance in chain.into_iter().rev() {
            let clause = &self.system.clauses[instance.clause];
            let values = self.vars.values(self.system, instance, model)?;
            steps.push(RefutationStep {
                clause: clause.id,
                premises: clause.body.iter().map(|_| steps.len() - 1).collect(),
                fact: derived(clause, &values),
                values,
            });
        }
        Ok(Refutation { steps })
    }
}
