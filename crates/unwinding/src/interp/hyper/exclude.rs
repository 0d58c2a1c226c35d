//! Labels from what is known of nodes already, where these suffice: no tree is unfolded then.
//!
//! Of what the elements of premises (`elements`) say, what is needed to exclude what is not wanted
//! becomes their labels; then the same of their own premises, the newest node first, so that a node
//! is looked at once.
//!
//! Invariant: labels change together or not at all.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::elements::{DELAY, Making};
use super::{HyperSearch, NodeId};
use crate::interp::search::{LEAST, PART};
use alphorn_proof::Stop;
use alphorn_term::TermId;

impl HyperSearch<'_> {
    /// Strengthens labels so that the clause derives none of these states, over the head's formal
    /// variables, from the premises, if what is known suffices.
    pub(super) fn exclude(
        &mut self,
        clause: usize,
        premises: &[NodeId],
        states: TermId,
    ) -> Result<bool, Stop> {
        let (start, work) = (self.cx.budget.now(), self.terms.work());
        let all = work.saturating_sub(self.begun_at);
        if self.elements.is_none() || self.spent > LEAST.max(all / PART) {
            return Ok(false);
        }
        self.describe(premises)?;
        let found = self.demands(clause, premises, states)?;
        // Domains do most of theirs without the solver, and that is not counted as work.
        self.spent += self.cx.budget.passed(start);
        let Some(lemmas) = found else {
            return Ok(false);
        };
        self.counts.domain += lemmas.len() as u64;
        self.strengthen(lemmas)?;
        Ok(true)
    }

    /// All nodes that these are derived from, with themselves, in their order.
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

    fn describe(&mut self, nodes: &[NodeId]) -> Result<(), Stop> {
        for node in self.below(nodes) {
            let own = &self.nodes[node];
            let premises = own.premises.iter();
            let premises = premises.map(|&p| (p, self.all_of(p)));
            let making = Making {
                clause: own.clause,
                premises: premises.collect(),
                before: own.before.filter(|_| own.round > DELAY),
                vocabulary: self.facts.vocabulary(own.location),
            };
            if let Some(elements) = &mut self.elements {
                elements.describe(node, &making, self.cx)?;
            }
        }
        Ok(())
    }

    /// The node's label and what is proven.
    fn all_of(&self, node: NodeId) -> TermId {
        let facts = self.terms.and(self.facts.of(self.nodes[node].location));
        self.terms.and(&[self.label(node), facts])
    }

    /// By node, what its label has to say.
    fn demands(
        &mut self,
        clause: usize,
        premises: &[NodeId],
        states: TermId,
    ) -> Result<Option<Vec<(NodeId, TermId)>>, Stop> {
        // By node that is still to be looked at: its new lemmas.
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

    /// Adds what the premises' labels lack to exclude the states; false if that is not known.
    fn demand(
        &mut self,
        clause: usize,
        premises: &[NodeId],
        states: TermId,
        open: &mut BTreeMap<NodeId, Vec<TermId>>,
    ) -> Result<bool, Stop> {
        self.go_on()?;
        let own = &self.system.clauses[clause];
        let mut hard: Vec<TermId> = Vec::new();
        hard.extend(own.head.iter().map(|h| self.system.instantiate(states, h)));
        let mut soft: Vec<(usize, TermId, TermId)> = Vec::new();
        for (place, (atom, &premise)) in own.body.iter().zip(premises).enumerate() {
            hard.push(self.system.instantiate(self.all_of(premise), atom));
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
