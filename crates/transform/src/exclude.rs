//! Drops clauses that facts exclude, which were found by an analysis of the system.
//!
//! Invariant: the facts are inductive and exclude the clauses, as far as the caller is right; a model
//! of the rest conjoined with them is a model of all clauses, which is checked in any case. Clauses
//! are dropped only, so a refutation of the rest is one of all.

use std::rc::Rc;

use super::replacement::Replacement;
use super::{Step, Transformation};
use alphorn_chc::System;
use alphorn_proof::facts::Facts;
use alphorn_term::run::Context;

/// The clauses that stay, by position, and the facts that exclude the others.
pub(super) struct Exclude {
    pub applicable: Vec<bool>,
    pub facts: Facts,
}

impl Transformation for Exclude {
    fn apply(&mut self, old: &Rc<System>, _cx: &mut Context) -> Option<Step> {
        if self.applicable.len() != old.clauses.len() || self.applicable.iter().all(|&a| a) {
            return None;
        }
        let mut system = (**old).clone();
        let mut stays = self.applicable.iter();
        system
            .clauses
            .retain(|_| stays.next().is_some_and(|&stays| stays));
        let mut replacement = Replacement::new(old);
        for (predicate, facts) in std::mem::take(&mut self.facts) {
            replacement.strengthen(predicate, old.terms.and(&facts));
        }
        Some(replacement.step(system))
    }
}
