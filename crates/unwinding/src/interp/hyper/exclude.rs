//! Labels from elements and lemmas of nodes, where these suffice; then no tree is unfolded.
//!
//! The conjuncts of the premises' elements and lemmas (`elements`) that are needed to exclude given
//! states become their labels; then the same is done for their own premises, the newest node first,
//! so that each node is visited once.
//!
//! Invariant: labels change together or not at all.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::elements::NodeOrigin;
use super::{HyperSearch, NodeId};
use crate::interp::limits::LIMITS;
use alphorn_proof::Stop;
use alphorn_term::TermId;

impl HyperSearch<'_> {
    /// Strengthens labels so that the clause derives no state that satisfies `states`, over the
    /// head's formal variables, from the premises. Returns whether elements and lemmas suffice.
    pub(super) fn exclude(
        &mut self,
        clause: usize,
        premises: &[NodeId],
        states: TermId,
    ) -> Result<bool, Stop> {
        let (start, work) = (self.cx.budget.now(), self.terms.work());
        let all = work.saturating_sub(self.work_at_start);
        if self.elements.is_none() || self.spent > LIMITS.min_work.max(all / LIMITS.parts) {
            return Ok(false);
        }
        self.describe(premises)?;
        let found = self.demands(clause, premises, states)?;
        // Most of the domain's work is done without the solver and not counted, so time counts.
        self.spent += self.cx.budget.passed(start);
        let Some(lemmas) = found else {
            return Ok(false);
        };
        self.counts.domain += lemmas.len() as u64;
        self.strengthen(lemmas)?;
        Ok(true)
    }

    /// All nodes from which these are derived, and these, in the order of their numbers.
    pub(super) fn below(&self, nodes: &[NodeId]) -> Vec<NodeId> {
        let mut found: Vec<NodeId> = nodes.to_vec();
        let mut seen: FxHashSet<NodeId> = nodes.iter().copied().collect();
        let mut at = 0;
        while at < found.len() {
            for &premise in &self.nodes[found[at]].premises {
                if seen.insert(premise) {
                    found.push(premise);
                }
            }
            at += 1;
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Computes the elements of these nodes and of all nodes from which they are derived.
    fn describe(&mut self, nodes: &[NodeId]) -> Result<(), Stop> {
        for node in self.below(nodes) {
            let own = &self.nodes[node];
            let premises = own.premises.iter();
            let premises = premises.map(|&p| (p, self.label_with_facts(p)));
            let origin = NodeOrigin {
                clause: own.clause,
                premises: premises.collect(),
                before: own.before.filter(|_| own.round > LIMITS.widening_delay),
                vocabulary: self.facts.vocabulary(own.location),
            };
            if let Some(elements) = &mut self.elements {
                elements.describe(node, &origin, self.cx)?;
            }
        }
        Ok(())
    }

    /// The node's label and the facts of its location.
    fn label_with_facts(&self, node: NodeId) -> TermId {
        let facts = self.terms.and(self.facts.of(self.nodes[node].location));
        self.terms.and(&[self.label(node), facts])
    }

    /// The lemmas that labels of nodes need to exclude the states; `None` if elements and lemmas do
    /// not suffice.
    fn demands(
        &mut self,
        clause: usize,
        premises: &[NodeId],
        states: TermId,
    ) -> Result<Option<Vec<(NodeId, TermId)>>, Stop> {
        // By node that is still to be visited: its new conjuncts.
        let mut open: BTreeMap<NodeId, Vec<TermId>> = BTreeMap::new();
        if !self.demand(clause, premises, states, &mut open)? {
            return Ok(None);
        }
        let mut lemmas = Vec::new();
        while let Some((node, mut new)) = open.pop_last() {
            new.sort_unstable();
            new.dedup();
            let lemma = self.terms.and(&new);
            lemmas.push((node, lemma));
            let (clause, premises) = (self.nodes[node].clause, self.nodes[node].premises.clone());
            let outside = self.terms.not(lemma);
            if !self.demand(clause, &premises, outside, &mut open)? {
                return Ok(None);
            }
        }
        Ok(Some(lemmas))
    }

    /// Adds the conjuncts that the premises' labels lack to exclude the states. False if elements
    /// and lemmas do not suffice, or if that is unknown.
    fn demand(
        &mut self,
        clause: usize,
        premises: &[NodeId],
        states: TermId,
        open: &mut BTreeMap<NodeId, Vec<TermId>>,
    ) -> Result<bool, Stop> {
        self.check_budget()?;
        let own = &self.system.clauses[clause];
        let mut hard: Vec<TermId> = Vec::new();
        hard.extend(own.head.iter().map(|h| self.system.instantiate(states, h)));
        let mut soft: Vec<(usize, TermId, TermId)> = Vec::new();
        for (place, (atom, &premise)) in own.body.iter().zip(premises).enumerate() {
            hard.push(
                self.system
                    .instantiate(self.label_with_facts(premise), atom),
            );
            let known = self.elements.as_ref();
            let known = known
                .map(|e| e.of(premise, &self.terms))
                .unwrap_or_default();
            let over = known.into_iter();
            soft.extend(over.map(|f| (place, f, self.system.instantiate(f, atom))));
        }
        let candidates: Vec<TermId> = soft.iter().map(|s| s.2).collect();
        let mut solver = self.take_solver(clause);
        let core = solver.minimal_core(&hard, &candidates);
        self.solvers[clause] = Some(solver);
        let Some(core) = core else {
            return Ok(false);
        };
        for (place, lemma, instance) in soft {
            if core.contains(&instance) {
                open.entry(premises[place]).or_default().push(lemma);
            }
        }
        Ok(true)
    }
}
