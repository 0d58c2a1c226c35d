//! New labels by interpolants of the DAG.
//!
//! Invariant: new labels are safe, and a well-labelling of the part of the graph between entry and
//! error (and with restriction, stronger than those before).

use super::Arg;
use super::encode::Dag;
use crate::domain::Domain;
use crate::engine::vinta::search::Vinta;
use crate::proof::Stop;
use crate::term::TermId;

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
            self.relabel_node(node, label, lemma, restricted);
        }
        let error = &mut self.graph.nodes[self.graph.error];
        error.label = TermId::FALSE;
        error.marked = false;
        error.refined = true;
        Ok(())
    }
}
