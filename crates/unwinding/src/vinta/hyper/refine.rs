//! VINTAREF and UFOREF over trees: new labels that exclude the queries.
//!
//! Invariant: the new labels are a well-labelling as the old ones were, and refute every derivation
//! along the hyperedges. For a copy that is unfolded, the interpolants of its children and a clause
//! imply its own; for another copy, its label implies its interpolant; and the premises of a later
//! node of a chain are as late or later, so the later label may restrict an earlier one.

use rustc_hash::{FxHashMap, FxHashSet};

use super::unfold::Tree;
use super::{Hypergraph, NodeId};
use crate::vinta::limits::LIMITS;
use crate::vinta::search::Vinta;
use alphorn_domain::Domain;
use alphorn_proof::Stop;
use alphorn_term::TermId;

impl<D: Domain> Vinta<'_, D, Hypergraph<D::Element>> {
    /// Conjoins to the labels of nodes the interpolants of their copies in the tree and of later
    /// nodes; without restriction it replaces the labels by them.
    pub(super) fn relabel_chains(
        &mut self,
        tree: &Tree,
        interpolants: Vec<TermId>,
    ) -> Result<(), Stop> {
        let mut own: FxHashMap<NodeId, Vec<TermId>> = FxHashMap::default();
        for (copy, interpolant) in tree.copies.iter().zip(interpolants) {
            let Some(node) = copy.node else {
                continue;
            };
            let used = FxHashMap::from_iter([(copy.used, TermId::TRUE)]);
            let interpolant = self.terms.substitute(interpolant, &used);
            let location = self.graph.nodes[node].location;
            let lemma = self.lemma(location, interpolant, &copy.vars)?;
            let parts = self.terms.conjuncts(lemma);
            own.entry(node).or_default().extend(parts);
        }
        for location in 0..self.graph.chains.len() {
            let mut later: Vec<TermId> = Vec::new();
            let mut listed: FxHashSet<TermId> = FxHashSet::default();
            for at in (0..self.graph.chains[location].len()).rev() {
                let node = self.graph.chains[location][at];
                let parts = own.remove(&node).unwrap_or_default();
                later.extend(parts.into_iter().filter(|&p| listed.insert(p)));
                self.relabel_node(node, &later);
            }
        }
        self.prune()
    }

    /// Conjoins these lemmas to a node's label; without restriction it replaces the label by them.
    fn relabel_node(&mut self, node: NodeId, lemmas: &[TermId]) {
        let restricted = self.options.restricted();
        if restricted && lemmas.is_empty() {
            return;
        }
        let mut all = match restricted {
            true => self.graph.nodes[node].lemmas.clone(),
            false => Vec::new(),
        };
        let listed: FxHashSet<TermId> = all.iter().copied().collect();
        let fresh = lemmas.iter().copied().filter(|l| !listed.contains(l));
        let fresh: Vec<TermId> = fresh.collect();
        all.extend(&fresh);
        let known = match restricted {
            true => self.graph.nodes[node].element.clone(),
            false => self.domain.top(),
        };
        let fresh = self.terms.and(&fresh);
        let (element, _) = self
            .domain
            .abstracted(&self.terms, &known, fresh, LIMITS.label_cubes);
        // An element that is not provably within the old one might be weaker.
        let within = !restricted || self.domain.entails(&element, &known);
        let element = if within { element } else { known };
        let label = self.label_of(&element, &all);
        let node = &mut self.graph.nodes[node];
        node.label = label;
        node.element = element;
        node.lemmas = all;
    }

    /// Removes covered nodes: the label before such a node contains what the node's clauses derive,
    /// and replaces it as a premise.
    fn prune(&mut self) -> Result<(), Stop> {
        let mut nodes: Vec<NodeId> = self.graph.chains.iter().flatten().copied().collect();
        nodes.sort_unstable();
        for node in nodes {
            if self.is_covered(node)? {
                let location = self.graph.nodes[node].location;
                self.graph.chains[location].retain(|&n| n != node);
            }
        }
        Ok(())
    }

    /// Whether the label before the node's in its chain contains what the node's clauses derive.
    fn is_covered(&mut self, node: NodeId) -> Result<bool, Stop> {
        let location = self.graph.nodes[node].location;
        let before = self.graph.last(location, node);
        let label = before.map_or(TermId::FALSE, |n| self.graph.nodes[n].label);
        for at in 0..self.graph.defining[location].len() {
            let clause = self.graph.defining[location][at];
            let Some(premises) = self.graph.premises(clause, node) else {
                continue;
            };
            let step = self.graph.step(clause, &premises, label);
            let holds = match self.graph.steps.get(&step) {
                Some(&holds) => holds,
                None => {
                    let source = self.graph.source(&self.terms, &premises, TermId::FALSE);
                    let kept = self.posts.kept(clause, &source, vec![label], self.cx)?;
                    self.graph.steps.insert(step, !kept.is_empty());
                    !kept.is_empty()
                }
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
