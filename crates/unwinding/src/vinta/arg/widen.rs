//! WIDENWITH: an element widened with those that its location has already, and labels as elements.
//!
//! Invariant: what comes in is in the new label, or in labels of the location's nodes before it;
//! and where differences are exact, in the new label in any case, with all of theirs. From some
//! visit on, widened elements of a location are a chain of widenings, which ends.

use super::{Arg, Node, NodeId};
use crate::vinta::search::{LABEL_CUBES, Vinta};
use alphorn_chc::cutpoints::Location;
use alphorn_domain::Domain;
use alphorn_term::TermId;

/// Widenings of a location in a phase after which those that follow are a chain.
const PATIENCE: usize = 8;

impl<D: Domain> Vinta<'_, D, Arg<D::Element>> {
    /// Labels the node with what is derived, extrapolated if it is time.
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
            // x ∇ (x ⊔ y), with the node before as x: or, since these nodes are no chain and may
            // grow in turns for ever, the node that was widened before it.
            Some(before) => {
                let late = visits > PATIENCE * self.widen_every + self.options.widen_delay;
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

    /// With X for all that was reached before: `(⋁X ∇ (⋁X ∨ y)) \\ ⋁X` is explored.
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
        // What inexact labels do not have of the elements that stand for them is new.
        let news = self.without(location, &widened, false);
        let left = self.without(location, &post, true);
        let frontier = self.domain.join(&news, &left);
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

    /// The element without those of the location's nodes; only of those whose elements are their
    /// labels, if `exact`.
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

    /// What of a label that is there already is to be explored.
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

    /// Gives the node a label from refinement: α of the paper, within what was known before if the
    /// new label is `within` it.
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
                .abstracted(&self.terms, &known, interpolant, LABEL_CUBES);
        let node = &mut self.graph.nodes[node];
        node.label = label;
        node.element = element;
        node.exact = exact && was_exact;
        node.marked = false;
        node.refined = true;
    }
}
