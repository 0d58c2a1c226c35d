//! WIDENWITH: widening with the elements of the location's earlier nodes; and α for labels.
//!
//! Invariant: the derived post is contained in the new label or in labels of the location's earlier
//! nodes; where differences are exact, the new label contains it and all of theirs. From some visit
//! on, the widened elements of a location are a chain of widenings, which is finite.

use super::{Arg, Node, NodeId};
use crate::vinta::limits::LIMITS;
use crate::vinta::search::Vinta;
use alphorn_chc::cutpoints::Location;
use alphorn_domain::Domain;
use alphorn_term::TermId;

impl<D: Domain> Vinta<'_, D, Arg<D::Element>> {
    /// Labels the node with the derived post, widened if the visit's number asks for it.
    pub(super) fn widen_with(&mut self, node: NodeId, post: D::Element) {
        let location = self.graph.nodes[node].location;
        let visits = self.graph.visited[location].visits + 1;
        let widen = self.widens(location, visits);
        if self.domain.is_disjunctive() {
            self.widen_disjunction(node, post, widen);
            return;
        }
        let before = self.graph.visited[location].nodes.last().copied();
        let element = match before.filter(|_| widen && !self.domain.is_bottom(&post)) {
            // x ∇ (x ⊔ y), where x is the node before. Late in a phase x is the last widened node,
            // since the nodes are no chain and could alternate for ever.
            Some(before) => {
                let late = visits
                    > LIMITS.widenings_before_chain * self.widen_every + self.options.widen_delay;
                let widened = self.graph.visited[location].widened.filter(|_| late);
                let x = &self.graph.nodes[widened.unwrap_or(before)].element;
                let both = self.domain.join(x, &post);
                self.graph.visited[location].widened = Some(node);
                self.domain.widen(x, &both)
            }
            None => post,
        };
        let label = self.terms.and(&self.domain.formula(&element));
        let node = &mut self.graph.nodes[node];
        node.label = label;
        node.frontier = element.clone();
        node.element = element;
        node.exact = true;
    }

    /// Explores `(⋁X ∇ (⋁X ∨ y)) \\ ⋁X`, where X are the elements that were reached before.
    fn widen_disjunction(&mut self, node: NodeId, post: D::Element, widen: bool) {
        let location = self.graph.nodes[node].location;
        let before = &self.graph.visited[location].nodes;
        let mut all = self.domain.bottom();
        for &x in before {
            all = self.domain.join(&all, &self.graph.nodes[x].element);
        }
        let both = self.domain.join(&all, &post);
        let widened = if widen {
            self.domain.widen(&all, &both)
        } else {
            both
        };
        // An inexact label may lack a part of its element, so that part counts as new.
        let new_part = self.without(location, &widened, false);
        let left = self.without(location, &post, true);
        let frontier = self.domain.join(&new_part, &left);
        let exact = before.iter().all(|&x| self.graph.nodes[x].exact);
        let (element, label) = if exact {
            let label = self.terms.and(&self.domain.formula(&widened));
            (widened, label)
        } else {
            let mut labels: Vec<TermId> =
                before.iter().map(|&x| self.graph.nodes[x].label).collect();
            labels.push(self.terms.and(&self.domain.formula(&frontier)));
            let element = self.domain.join(&widened, &frontier);
            (element, self.terms.or(&labels))
        };
        let node = &mut self.graph.nodes[node];
        node.label = label;
        node.element = element;
        node.frontier = frontier;
        node.exact = exact;
    }

    /// The element minus those of the location's nodes; with `exact`, only minus those elements
    /// that are exactly their labels.
    fn without(&self, location: Location, element: &D::Element, exact: bool) -> D::Element {
        let mut rest = element.clone();
        for &x in &self.graph.visited[location].nodes {
            let x = &self.graph.nodes[x];
            if x.exact || !exact {
                rest = self.domain.minus(&rest, &x.element);
            }
        }
        rest
    }

    /// Sets the part to explore of a node whose label is not computed anew.
    pub(super) fn set_frontier(&mut self, node: NodeId) {
        let Node {
            location, element, ..
        } = &self.graph.nodes[node];
        let frontier = if self.domain.is_disjunctive() {
            self.without(*location, element, true)
        } else {
            element.clone()
        };
        self.graph.nodes[node].frontier = frontier;
    }

    /// Gives the node a refined label and its abstraction (the paper's α); if the new label is
    /// `within` the old one, the abstraction is within the old element.
    pub(super) fn relabel_node(
        &mut self,
        node: NodeId,
        label: TermId,
        interpolant: TermId,
        within: bool,
    ) {
        let known = if within {
            self.graph.nodes[node].element.clone()
        } else {
            self.domain.top()
        };
        let was_exact = !within || self.graph.nodes[node].exact;
        let (element, exact) =
            self.domain
                .abstracted(&self.terms, &known, interpolant, LIMITS.label_cubes);
        let node = &mut self.graph.nodes[node];
        node.label = label;
        node.element = element;
        node.exact = exact && was_exact;
        node.marked = false;
        node.refined = true;
    }
}
