//! Statements: universally quantified implications.
//!
//! Invariant: `vars` are the free variables of the hypotheses and the conclusion.

use rustc_hash::FxHashSet;

use super::limits::LIMITS;
use alphorn_chc::System;
use alphorn_proof::functions::{Definitions, solve_equations};
use alphorn_term::{Assignment, Op, TermId, TermStore};

/// The hypotheses imply the conclusion.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Statement {
    /// The universally quantified variables.
    pub vars: Vec<TermId>,
    /// The premises.
    pub hypotheses: Vec<TermId>,
    /// The conclusion.
    pub conclusion: TermId,
}

impl Statement {
    /// The statement about the variables that occur.
    pub fn new(terms: &TermStore, hypotheses: Vec<TermId>, conclusion: TermId) -> Self {
        let mut roots = hypotheses.clone();
        roots.push(conclusion);
        Statement {
            vars: terms.free_vars(&roots),
            hypotheses,
            conclusion,
        }
    }

    /// The statement of a clause without a head under the definitions of the predicates; `None` if
    /// it holds trivially.
    pub fn of_query(system: &System, definitions: &Definitions, clause: usize) -> Option<Self> {
        let terms = &system.terms;
        let rule = definitions.rule(system, clause)?;
        let mut conjuncts = rule.guards.clone();
        for atom in &rule.body {
            conjuncts.extend(definitions.meaning(atom));
        }
        let (_, mut left) = solve_equations(terms, conjuncts)?;
        // The conclusion is the negation of one literal: a disequation if there is one, else a
        // call.
        let rank = |t: &TermId| match terms.op(*t) {
            Op::Not => match terms.op(terms.args(*t)[0]) {
                Op::Eq => 4,
                Op::Call(_) => 3,
                _ => 1,
            },
            Op::Call(_) => 2,
            Op::Le | Op::Ge => 1,
            _ => 0,
        };
        let best = (0..left.len()).max_by_key(|&i| (rank(&left[i]), i));
        let conclusion = match best {
            Some(best) if rank(&left[best]) > 0 => terms.not(left.remove(best)),
            _ => TermId::FALSE,
        };
        Some(Statement::new(terms, left, conclusion))
    }

    /// The implication.
    pub fn formula(&self, terms: &TermStore) -> TermId {
        terms.implies(terms.and(&self.hypotheses), self.conclusion)
    }

    /// The hypotheses and the conclusion.
    pub fn roots(&self) -> Vec<TermId> {
        let mut roots = self.hypotheses.clone();
        roots.push(self.conclusion);
        roots
    }

    /// Triggers for instances: tuples of calls that together contain all variables. Each side of an
    /// equation that contains them is one, otherwise a tuple of as few calls as greedily found.
    pub fn triggers(&self, terms: &TermStore) -> Vec<Vec<TermId>> {
        let mut triggers = Vec::new();
        if let Op::Eq = terms.op(self.conclusion) {
            for &side in terms.args(self.conclusion) {
                let call = matches!(terms.op(side), Op::Call(_));
                if call && terms.free_vars(&[side]).len() == self.vars.len() {
                    triggers.push(vec![side]);
                }
            }
        }
        if triggers.is_empty() {
            let mut open: FxHashSet<TermId> = self.vars.iter().copied().collect();
            let mut chosen = Vec::new();
            let mut calls = calls(terms, &self.roots());
            calls.reverse();
            calls.truncate(LIMITS.trigger_calls);
            while !open.is_empty() {
                let gain = |c: &TermId| {
                    terms
                        .free_vars(&[*c])
                        .iter()
                        .filter(|v| open.contains(v))
                        .count()
                };
                let Some(best) = calls.iter().copied().max_by_key(gain) else {
                    return triggers;
                };
                if gain(&best) == 0 {
                    return triggers;
                }
                for var in terms.free_vars(&[best]) {
                    open.remove(&var);
                }
                chosen.push(best);
            }
            if !chosen.is_empty() {
                triggers.push(chosen);
            }
        }
        triggers
    }
}

/// All calls in the terms; arguments come before the calls that contain them.
pub(super) fn calls(terms: &TermStore, roots: &[TermId]) -> Vec<TermId> {
    let mut calls = Vec::new();
    terms.post_order(roots, |t| {
        if let Op::Call(_) = terms.op(t) {
            calls.push(t);
        }
    });
    calls
}

/// Matches the pattern against the term: extends the values of `vars`. False if they do not match.
pub(super) fn matches(
    terms: &TermStore,
    pattern: TermId,
    term: TermId,
    vars: &[TermId],
    found: &mut Assignment,
) -> bool {
    let mut open = vec![(pattern, term)];
    while let Some((pattern, term)) = open.pop() {
        if vars.contains(&pattern) {
            if terms.sort_of(pattern) != terms.sort_of(term) {
                return false;
            }
            if *found.entry(pattern).or_insert(term) != term {
                return false;
            }
            continue;
        }
        let (left, right) = (terms.node(pattern), terms.node(term));
        if pattern == term && left.is_ground {
            continue;
        }
        if left.op != right.op || left.args.len() != right.args.len() || left.args.is_empty() {
            return false;
        }
        open.extend(left.args.iter().copied().zip(right.args.iter().copied()));
    }
    true
}
