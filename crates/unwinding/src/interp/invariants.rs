//! Invariants of the unwinding, checked after refinements in debug builds: labels are inductive
//! along edges, closed regions are closed, covering nodes are older and live, and nodes below a
//! covered, pruned or dead node are detached.
//!
//! Invariant: a check changes nothing.

use super::guards::Guards;
use super::limits::LIMITS;
use super::node::State;
use super::search::Search;
use alphorn_smt::SatResult;
use alphorn_term::TermId;

impl Search<'_> {
    /// Panics if an invariant does not hold. Checks small unwindings, after refinements 1, 2, 4, 8
    /// and so on.
    pub(super) fn assert_invariants(&self) {
        #[cfg(test)]
        if self.guards.off.is_some() {
            return;
        }
        let due = self.counts.refinements.is_power_of_two();
        if !due || self.nodes.len() > LIMITS.checked_nodes || self.cx.stop().is_some() {
            return;
        }
        self.assert_tree();
        self.assert_labels();
        self.assert_regions();
    }

    fn assert_tree(&self) {
        for (id, node) in self.nodes.iter().enumerate() {
            if let State::Covered(by) = node.state {
                assert!(by < id, "a covering node is older");
                assert!(
                    node.detached || self.nodes[by].is_live(),
                    "a covering node is live"
                );
            }
            if let Some(parent) = node.parent {
                let above = &self.nodes[parent];
                let closed = !matches!(above.state, State::Open | State::Expanded);
                assert!(
                    !(closed || above.detached) || node.detached,
                    "no node below is live"
                );
            }
        }
    }

    /// Whether the formulas have no model; true also if that is unknown.
    fn is_refuted(&self, formulas: &[TermId]) -> bool {
        let mut solver = self.smt.solver();
        formulas.iter().for_each(|&f| solver.assert(f));
        solver.check(&[]) != SatResult::Sat
    }

    fn assert_labels(&self) {
        if !self.options.reachability() {
            return;
        }
        for (id, node) in self.nodes.iter().enumerate() {
            let (Some(parent), Some(edge)) = (node.parent, node.edge.as_ref()) else {
                continue;
            };
            let before = self.over(parent, self.terms.and(&self.nodes[parent].label));
            let after = self.over(id, self.terms.and(&node.label));
            let parts = [
                before,
                self.facts_at(parent),
                edge.formula,
                self.facts_at(id),
                self.terms.not(after),
            ];
            assert!(self.is_refuted(&parts), "labels are inductive");
        }
    }

    fn assert_regions(&self) {
        for (location, region) in self.regions.iter().enumerate() {
            if !region.is_closed() {
                continue;
            }
            let from = self.fresh_formals(location);
            let renamed = |location: usize, formula: TermId, vars: &[TermId]| {
                let formals = self.formals(location).iter().copied();
                let map = formals.zip(vars.iter().copied()).collect();
                self.terms.substitute(formula, &map)
            };
            let facts = self.terms.and(self.facts.of(location));
            let here = region.formula(&self.terms, Guards::default());
            let here = renamed(location, self.terms.and(&[here, facts]), &from);
            for &action in &self.leaving[location] {
                let target = self.actions[action].to;
                let to = self.fresh_formals(target);
                let there = self.region(target);
                let facts = renamed(target, self.terms.and(self.facts.of(target)), &to);
                let outside = self.terms.not(renamed(target, there, &to));
                let edge = self.edge(action, &from, &to);
                let parts = [here, edge.formula, facts, outside];
                assert!(self.is_refuted(&parts), "closed regions are closed");
            }
        }
    }
}
