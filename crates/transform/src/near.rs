//! Keeps the clauses near open queries, with facts in place of the clauses that are far from them.
//!
//! The facts hold of all derivable facts. A body atom of a far predicate gives way to them, so the new
//! clauses derive more than the old ones: a model of them, conjoined with the facts, is a model of the
//! old ones, but a refutation says nothing.
//!
//! Invariant: a near predicate keeps all clauses that may be applied.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::replacement::Replacement;
use super::{Step, Transformation};
use alphorn_chc::{Atom, System};
use alphorn_domain::sparse::Neighbourhood;
use alphorn_term::TermId;
use alphorn_term::run::Context;

/// The clauses that are near, and the facts.
pub(super) struct Near {
    pub neighbourhood: Neighbourhood,
}

impl Transformation for Near {
    fn apply(&mut self, old: &Rc<System>, _cx: &mut Context) -> Option<Step> {
        let found = &self.neighbourhood;
        let terms = &old.terms;
        let is_near = |atom: &Atom| found.near[atom.predicate.index()];
        let assumed = |atom: &Atom| -> Option<TermId> {
            let formulas = found.assumed.get(&atom.predicate)?;
            let params = old.predicate(atom.predicate).params.iter().copied();
            let map: FxHashMap<TermId, TermId> = params.zip(atom.args.iter().copied()).collect();
            Some(terms.substitute(terms.and(formulas), &map))
        };
        let mut system = (**old).clone();
        system.clauses = Vec::new();
        let clauses = old.clauses.iter().zip(&found.applicable);
        for (clause, _) in clauses.filter(|(_, applies)| **applies) {
            if !clause.head.as_ref().is_none_or(is_near) {
                continue;
            }
            let mut clause = clause.clone();
            let facts = clause.body.iter().filter_map(assumed);
            let parts: Vec<TermId> = facts.chain([clause.constraint]).collect();
            clause.constraint = terms.and(&parts);
            clause.body.retain(is_near);
            system.clauses.push(clause);
        }
        let mut replacement = Replacement::new(old);
        for (&predicate, facts) in &found.facts {
            replacement.strengthen(predicate, terms.and(facts));
        }
        Some(replacement.step(system))
    }
}
