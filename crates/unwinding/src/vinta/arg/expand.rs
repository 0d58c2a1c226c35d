//! EXPANDARG: unrolls the cutpoint graph until every new node is covered.
//!
//! How we read the paper's listing: line 46 tests validity; a covered node gets no children, but
//! edges to nodes that are pending anyway, so that refinement takes it into account; where nodes of
//! an earlier phase no longer fit together, an edge is redirected to the pending node, whose label
//! is then computed anew.
//!
//! In a domain with exact differences, the label of a node contains everything that its location
//! has reached so far, and its frontier is the new part; only the frontier is explored. (The
//! paper's label is the frontier. Those labels are no well-labelling, which refinement needs: the
//! post of a node is spread over the label of its child and those before it.)
//!
//! Invariant: at the end of a phase, for each node that is not covered and each action that leaves
//! it, the labels of the action's target location contain the action's image of the node's label.
//! And along each edge that is not dead, the target's label contains the image of the source's.

use super::{Arg, Edge, NodeId};
use crate::vinta::search::{Unwinding, Vinta};
use alphorn_chc::cutpoints::{ENTRY, ERROR, Location};
use alphorn_domain::Domain;
use alphorn_proof::posts::Source;
use alphorn_proof::{Stop, gave_up};
use alphorn_smt::SatResult;
use alphorn_term::TermId;

impl<D: Domain> Vinta<'_, D, Arg<D::Element>> {
    /// Labels the pending node of the location, and gives it its children unless it is covered.
    pub(super) fn visit_node(&mut self, location: Location) -> Result<(), Stop> {
        let node = self.graph.future[location].take();
        let node = node.unwrap_or(self.graph.error);
        let location = self.graph.nodes[node].location;
        self.graph.turn += 1;
        let computed = self.label(node)?;
        self.graph.nodes[node].phase = self.graph.phase;
        self.graph.nodes[node].turn = self.graph.turn;
        if location == ERROR {
            return Ok(());
        }
        let covered = self.is_covered(node)?;
        self.graph.nodes[node].covered = covered;
        self.mark_children(node, computed, covered);
        self.expand_node(node, covered);
        self.graph.visited[location].visits += 1;
        if !covered {
            self.graph.visited[location].nodes.push(node);
        }
        Ok(())
    }

    /// Gives the node its label: computed if it is marked, otherwise that of the last refinement.
    /// Returns whether it was computed.
    fn label(&mut self, node: NodeId) -> Result<bool, Stop> {
        let (location, marked) = {
            let node = &self.graph.nodes[node];
            (node.location, node.marked)
        };
        let edges = self.graph.edges_into(node);
        if marked {
            self.graph.nodes[node].marked = false;
            self.graph.nodes[node].refined = false;
            if location == ERROR {
                self.compute_error(node, &edges)?;
            } else {
                let post = self.compute_post(location, &edges)?;
                self.widen_with(node, post);
                if self.options.lemmas {
                    self.keep_lemmas(node, &edges)?;
                }
            }
            return Ok(true);
        }
        if location != ENTRY && edges.iter().all(|&e| self.graph.edges[e].dead) {
            // Nothing leads here any more, so the refined label is obsolete.
            let node = &mut self.graph.nodes[node];
            node.label = TermId::FALSE;
            node.element = self.domain.bottom();
            node.frontier = self.domain.bottom();
            node.exact = true;
            node.refined = false;
            return Ok(true);
        }
        for edge in edges {
            let edge = &self.graph.edges[edge];
            self.graph.alive[edge.action] |= !edge.dead;
        }
        if location != ERROR && location != ENTRY {
            self.set_frontier(node);
        }
        Ok(false)
    }

    /// Marks the children whose labels may not contain the image of the node's label. A covered
    /// node does not change the labels of others: if its label was computed, it keeps only edges to
    /// nodes that are labelled anew anyway.
    fn mark_children(&mut self, node: NodeId, computed: bool, covered: bool) {
        let outgoing = self.graph.nodes[node].outgoing.clone();
        for edge in outgoing {
            let child = self.graph.edges[edge].to;
            let child = &mut self.graph.nodes[child];
            if !covered {
                child.marked |= computed || !child.refined;
            } else if computed && !child.marked {
                self.graph.disconnect(edge);
            }
        }
    }

    /// COMPUTEPOST: the join of the edges' images of their sources. In a domain with exact
    /// differences, the result may lack what the location has already reached.
    fn compute_post(&mut self, location: Location, edges: &[usize]) -> Result<D::Element, Stop> {
        let seen = match self.domain.is_disjunctive() {
            true => self.reached(location),
            false => TermId::FALSE,
        };
        let mut all = self.domain.bottom();
        for &edge in edges {
            let (from, action) = (self.graph.edges[edge].from, self.graph.edges[edge].action);
            let mut own = self.domain.bottom();
            for &clause in &self.cutpoints.actions[action].clauses {
                let source = self.graph.nodes[from].source(seen);
                let image = self.posts.image(clause, &source, self.cx)?;
                own = self.domain.join(&own, &image);
            }
            let mut empty = self.domain.is_bottom(&own);
            if empty && seen != TermId::FALSE && !self.graph.alive[action] {
                empty = !self.is_possible(edge)?;
            }
            self.note_post(edge, empty);
            all = self.domain.join(&all, &own);
        }
        Ok(all)
    }

    /// Whether the edge's clauses derive anything from the explored part of its source's label.
    fn is_possible(&mut self, edge: usize) -> Result<bool, Stop> {
        let Edge { from, action, .. } = self.graph.edges[edge];
        for &clause in &self.cutpoints.actions[action].clauses {
            let source = &self.graph.nodes[from];
            let source = Source::linear(&source.frontier, source.label, TermId::FALSE);
            if self.posts.is_possible(clause, &source, self.cx)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The label of the error: `false` if no query can be derived.
    fn compute_error(&mut self, node: NodeId, edges: &[usize]) -> Result<(), Stop> {
        let mut reached = false;
        for &edge in edges {
            let possible = self.is_possible(edge)?;
            self.note_post(edge, !possible);
            reached |= possible;
        }
        self.graph.nodes[node].label = self.terms.bool(reached);
        Ok(())
    }

    /// Marks the edge dead if its post is empty and no other explored node takes its action.
    fn note_post(&mut self, edge: usize, empty: bool) {
        let action = self.graph.edges[edge].action;
        if !self.domain.is_disjunctive() {
            self.graph.edges[edge].dead = empty;
            return;
        }
        self.graph.alive[action] |= !empty;
        self.graph.edges[edge].dead = !self.graph.alive[action];
    }

    /// Whether the labels of the location's earlier nodes contain the node's label. If not, the
    /// label is added to them.
    fn is_covered(&mut self, node: NodeId) -> Result<bool, Stop> {
        let (location, label) = (
            self.graph.nodes[node].location,
            self.graph.nodes[node].label,
        );
        if self.domain.is_bottom(&self.graph.nodes[node].frontier) || label == TermId::FALSE {
            return Ok(true);
        }
        let smt = &self.smt;
        let cover = self.graph.visited[location]
            .cover
            .get_or_insert_with(|| smt.solver());
        cover.push();
        cover.assert(label);
        let answer = cover.check(&[]);
        cover.pop();
        match answer {
            SatResult::Unsat => return Ok(true),
            SatResult::Sat => {}
            SatResult::Unknown(why) => return Err(gave_up(&why, self.cx)),
        }
        cover.assert(self.terms.not(label));
        Ok(false)
    }

    /// EXPANDNODE: gives the node its children and makes them pending. A covered node gets only
    /// those that are pending already and still to be labelled.
    fn expand_node(&mut self, node: NodeId, covered: bool) {
        let location = self.graph.nodes[node].location;
        for index in 0..self.cutpoints.leaving[location].len() {
            let action = self.cutpoints.leaving[location][index];
            let target = self.cutpoints.actions[action].to;
            let old = self.graph.child(node, action);
            let pending = self.graph.future[target];
            if covered {
                match pending {
                    Some(pending) if self.graph.nodes[pending].marked => {
                        self.graph.connect(node, pending, action);
                    }
                    Some(pending) if old.is_some_and(|old| old != pending) => {
                        self.graph.cut(node, action);
                    }
                    _ => {}
                }
                continue;
            }
            match old.filter(|&c| pending.is_none() && !self.graph.is_visited(c)) {
                Some(child) => self.graph.future[target] = Some(child),
                None => {
                    let child = self.future_node(target);
                    self.graph.connect(node, child, action);
                }
            }
        }
    }

    /// GETFUTURENODE: the pending node of the location, a new one if there is none.
    fn future_node(&mut self, location: Location) -> NodeId {
        if let Some(pending) = self.graph.future[location] {
            return pending;
        }
        let top = self.domain.top();
        let node = self.graph.add_node(location, TermId::TRUE, top);
        self.graph.future[location] = Some(node);
        node
    }
}
