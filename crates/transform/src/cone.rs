//! The cone of influence: keeps only the predicates that have a derivation and from which a query
//! can be reached.
//!
//! In a model, a predicate without a derivation is `false`, and one that no query depends on is
//! `true`.
//!
//! Invariant: clauses are dropped, never changed, so a refutation of the new system is one of the
//! old system.

use std::rc::Rc;

use super::replacement::Replacement;
use super::{Step, Transformation};
use alphorn_chc::{Reachability, System};
use alphorn_term::run::Context;

/// The pass.
pub struct Cone;

impl Transformation for Cone {
    fn apply(&mut self, old: &Rc<System>, _cx: &mut Context) -> Option<Step> {
        let reachability = Reachability::new(old);
        let kept = reachability.clauses();
        if kept.len() == old.clauses.len() {
            return None;
        }
        let mut system = (**old).clone();
        system.clauses = kept.iter().map(|&at| old.clauses[at].clone()).collect();
        let mut replacement = Replacement::new(old);
        for predicate in old.used_predicates() {
            if !reachability.is_derivable(predicate) {
                replacement.refute(predicate);
            }
        }
        Some(replacement.step(system))
    }
}
