//! New labels by interpolants of the DAG, and their conjuncts as lemmas for later nodes.
//!
//! What the domain does not say of a new node, refinement would have to say again for each of them.
//! So such a node keeps those lemmas of its location that the edges into it
//! preserve, as in UFO's predicate abstraction, and as nodes of hypergraphs do.
//!
//! Invariant: new labels are safe, and a well-labelling of the part of the graph between entry and
//! error (and with restriction, stronger than those before).

use super::encode::Dag;
use super::{Arg, Edge, NodeId};
use crate::vinta::search::Vinta;
use alphorn_chc::cutpoints::Location;
use alphorn_domain::Domain;
use alphorn_proof::Stop;
use alphorn_term::TermId;

/// Lemmas of a location, at most.
const MOST_LEMMAS: usize = 300;

impl<D: Domain> Vinta<'_, D, Arg<D::Element>> {
    /// Strengthens the labels of the DAG's nodes by these formulas over their variables; or
    /// replaces them, if unrestricted.
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
            if restricted {
                self.note_lemmas(location, lemma);
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
    fn note_lemmas(&mut self, location: Location, lemma: TermId) {
        let lemmas = &mut self.graph.lemmas[location];
        for conjunct in self.terms.conjuncts(lemma) {
            let known = conjunct == TermId::TRUE || lemmas.contains(&conjunct);
            if !known && lemmas.len() < MOST_LEMMAS {
                lemmas.push(conjunct);
            }
        }
    }

    /// Conjoins to the label that was computed for the node those lemmas of its location that hold
    /// of all that the edges derive. The element stays as it is, so that widening ends.
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
            // What is new: the labels before have the rest.
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
