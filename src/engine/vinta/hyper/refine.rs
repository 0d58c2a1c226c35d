//! VINTAREF and UFOREF over trees: new labels that exclude the queries.
//!
//! Invariant: the new labels are a well-labelling as the old ones were, and refute every derivation
//! along the hyperedges. For what is unfolded in a copy, the interpolants of its children and a clause
//! imply its own; what is not has an interpolant that its label implies; and of a later node of the
//! same chain premises are as late, so its label may restrict the earlier one's.

use rustc_hash::{FxHashMap, FxHashSet};

use super::unfold::Tree;
use super::{Hyper, NodeId, source};
use crate::domain::Domain;
use crate::engine::vinta::refine::{interpolator, pause};
use crate::engine::vinta::widen::CUBES;
use crate::engine::vinta::{Interpolants, Stop, failed};
use crate::term::TermId;

impl<D: Domain> Hyper<'_, D> {
    /// REFINE, for a tree that no derivation goes along.
    pub(super) fn refine(&mut self, tree: &Tree) -> Result<(), Stop> {
        let interpolants = self.interpolants(tree)?;
        let mut own: FxHashMap<NodeId, Vec<TermId>> = FxHashMap::default();
        for (copy, interpolant) in tree.copies.iter().zip(interpolants) {
            let Some(node) = copy.node else {
                continue;
            };
            let Some(predicate) = self.cutpoints.predicates[self.nodes[node].location] else {
                continue;
            };
            let params = &self.system.predicate(predicate).params;
            let vars = copy.vars.iter().copied().zip(params.iter().copied());
            let map = vars.chain([(copy.used, TermId::TRUE)]).collect();
            let interpolant = self.terms.substitute(interpolant, &map);
            let params: FxHashSet<TermId> = params.iter().copied().collect();
            let free = self.terms.free_vars(&[interpolant]);
            if !free.iter().all(|v| params.contains(v)) {
                return Err(failed("an interpolant has variables of other nodes"));
            }
            let parts = self.terms.conjuncts(interpolant);
            own.entry(node).or_default().extend(parts);
        }
        for location in 0..self.chains.len() {
            let mut later: Vec<TermId> = Vec::new();
            let mut listed: FxHashSet<TermId> = FxHashSet::default();
            for at in (0..self.chains[location].len()).rev() {
                let node = self.chains[location][at];
                let parts = own.remove(&node).unwrap_or_default();
                later.extend(parts.into_iter().filter(|&p| listed.insert(p)));
                self.relabel(node, &later);
            }
        }
        self.prune()
    }

    /// Strengthens a node's label by these lemmas; or replaces it by them, if unrestricted.
    fn relabel(&mut self, node: NodeId, lemmas: &[TermId]) {
        let restricted = self.options.restricted();
        if restricted && lemmas.is_empty() {
            return;
        }
        let mut all = match restricted {
            true => self.nodes[node].lemmas.clone(),
            false => Vec::new(),
        };
        let listed: FxHashSet<TermId> = all.iter().copied().collect();
        let fresh = lemmas.iter().copied().filter(|l| !listed.contains(l));
        let fresh: Vec<TermId> = fresh.collect();
        all.extend(&fresh);
        let known = match restricted {
            true => self.nodes[node].element.clone(),
            false => self.domain.top(),
        };
        let news = self.terms.and(&fresh);
        let (element, _) = self.domain.abstracted(&self.terms, &known, news, CUBES);
        // An element that is not known to be within the old one might say less.
        let within = !restricted || self.domain.entails(&element, &known);
        let element = if within { element } else { known };
        let label = self.label_of(&element, &all);
        let node = &mut self.nodes[node];
        node.label = label;
        node.element = element;
        node.lemmas = all;
    }

    /// Removes nodes that are covered: what their clauses derive is in the label before. What was
    /// derived from their labels is derived from that one then.
    fn prune(&mut self) -> Result<(), Stop> {
        let mut nodes: Vec<NodeId> = self.chains.iter().flatten().copied().collect();
        nodes.sort_unstable();
        for node in nodes {
            if self.is_covered(node)? {
                let location = self.nodes[node].location;
                self.chains[location].retain(|&n| n != node);
            }
        }
        Ok(())
    }

    /// Whether the label before the node's in its chain has all that its clauses derive.
    fn is_covered(&mut self, node: NodeId) -> Result<bool, Stop> {
        let location = self.nodes[node].location;
        let before = self.last(location, node);
        let label = before.map_or(TermId::FALSE, |n| self.nodes[n].label);
        for at in 0..self.defining[location].len() {
            let clause = self.defining[location][at];
            let Some(premises) = self.premises(clause, node) else {
                continue;
            };
            let step = self.step(clause, &premises, label);
            let holds = match self.steps.get(&step) {
                Some(&holds) => holds,
                None => {
                    let source = source(&self.terms, &self.nodes, &premises, TermId::FALSE);
                    let kept = self.posts.kept(clause, &source, vec![label], self.cx)?;
                    self.steps.insert(step, !kept.is_empty());
                    !kept.is_empty()
                }
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Tree interpolants, one for each copy.
    fn interpolants(&mut self, tree: &Tree) -> Result<Vec<TermId>, Stop> {
        if self.options.interpolants == Interpolants::Projection {
            return self.by_projection(tree);
        }
        if self.waiting > 0 {
            self.waiting -= 1;
            return self.by_projection(tree);
        }
        let mut interpolator = interpolator(&self.smt, self.options, self.started, self.cx);
        let parents: Vec<Option<usize>> = tree.copies.iter().map(|c| c.parent).collect();
        let found = interpolator.tree(&tree.formulas, &parents);
        match (found, self.cx.stop()) {
            (Ok(interpolants), _) => Ok(interpolants),
            (Err(_), Some(reason)) => Err(Stop::Reason(reason)),
            (Err(error), None) => {
                log::debug!("vinta: {error}; by projection");
                self.projections += 1;
                self.waiting = pause(self.projections);
                self.by_projection(tree)
            }
        }
    }
}
