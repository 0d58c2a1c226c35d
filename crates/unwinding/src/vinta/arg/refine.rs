//! New labels from interpolants of the DAG, whose conjuncts are lemmas for later nodes.
//!
//! A new node keeps the lemmas of its location that the edges into it preserve, as in UFO's
//! predicate abstraction and in hypergraphs. Otherwise each new node would have to be refined again
//! for what the domain cannot express.
//!
//! Invariant: new labels are safe, and a well-labelling of the part of the graph between entry and
//! error; with restriction, they imply the old ones.

use super::encode::Dag;
use super::{Arg, Edge, NodeId};
use crate::vinta::limits::LIMITS;
use crate::vinta::search::Vinta;
use alphorn_chc::cutpoints::Location;
use alphorn_domain::Domain;
use alphorn_proof::Stop;
use alphorn_term::TermId;

impl<D: Domain> Vinta<'_, D, Arg<D::Element>> {
    /// Conjoins these formulas, over the variables of the DAG's nodes, to the nodes' labels;
    /// without restriction it replaces the labels by them.
    pub(super) fn relabel_dag(&mut self, dag: &Dag, interpolants: &[TermId]) -> Result<(), Stop> {
        let restricted = self.options.restricted();
        for node in &mut self.graph.nodes {
            node.refined = false;
        }
        if !restricted {
            for edge in &mut self.graph.edges {
                edge.dead = false;
            }
        }
        let last = dag.nodes.len() - 1;
        for (place, &interpolant) in interpolants.iter().enumerate().take(last).skip(1) {
            let node = dag.nodes[place];
            let location = self.graph.nodes[node].location;
            let lemma = self.lemma(location, interpolant, &dag.vars[place])?;
            let label = match restricted {
                true => self.terms.and(&[self.graph.nodes[node].label, lemma]),
                false => lemma,
            };
            if self.options.lemmas {
                self.remember_lemmas(location, lemma);
            }
            self.relabel_node(node, label, lemma, restricted);
        }
        let error = &mut self.graph.nodes[self.graph.error];
        error.label = TermId::FALSE;
        error.marked = false;
        error.refined = true;
        Ok(())
    }

    /// Remembers the conjuncts for new nodes of the location.
    fn remember_lemmas(&mut self, location: Location, lemma: TermId) {
        let lemmas = &mut self.graph.lemmas[location];
        for conjunct in self.terms.conjuncts(lemma) {
            let known = conjunct == TermId::TRUE || lemmas.contains(&conjunct);
            if !known && lemmas.len() < LIMITS.lemmas_per_location {
                lemmas.push(conjunct);
            }
        }
    }

    /// Conjoins to the computed label of the node the lemmas of its location that hold of the
    /// images of all its edges. The element stays the same, so that widening terminates.
    pub(super) fn keep_lemmas(&mut self, node: NodeId, edges: &[usize]) -> Result<(), Stop> {
        let location = self.graph.nodes[node].location;
        let mut kept = self.graph.lemmas[location].clone();
        if self.graph.nodes[node].label == TermId::FALSE {
            return Ok(());
        }
        for &edge in edges {
            let Edge {
                from, action, dead, ..
            } = self.graph.edges[edge];
            if dead || kept.is_empty() {
                continue;
            }
            for &clause in &self.cutpoints.actions[action].clauses {
                let source = self.graph.nodes[from].source(TermId::FALSE);
                kept = self.posts.kept(clause, &source, kept, self.cx)?;
            }
        }
        if kept.is_empty() {
            return Ok(());
        }
        let label = if self.domain.is_disjunctive() {
            // Of the new part; the labels before contain the rest.
            kept.extend(self.domain.formula(&self.graph.nodes[node].frontier));
            let before = self.graph.visited[location].nodes.iter();
            let mut labels: Vec<TermId> = before.map(|&x| self.graph.nodes[x].label).collect();
            labels.push(self.terms.and(&kept));
            self.terms.or(&labels)
        } else {
            kept.push(self.graph.nodes[node].label);
            self.terms.and(&kept)
        };
        let node = &mut self.graph.nodes[node];
        node.label = label;
        node.exact = false;
        Ok(())
    }
}
