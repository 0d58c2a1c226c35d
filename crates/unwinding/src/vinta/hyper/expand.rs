//! EXPANDARG, COMPUTEPOST and WIDENWITH over hyperedges.
//!
//! Invariant: at the end of a phase every clause is inductive: the last label of its head contains
//! what the clause derives from the last labels of its body, unless the head is `false`.

use super::{Hypergraph, Node};
use crate::vinta::search::Vinta;
use alphorn_chc::cutpoints::{ENTRY, ERROR, Location};
use alphorn_domain::Domain;
use alphorn_proof::Stop;
use alphorn_term::TermId;

impl<D: Domain> Vinta<'_, D, Hypergraph<D::Element>> {
    /// Visits the location. If its label grows, the locations of all clauses that use it get
    /// pending.
    pub(super) fn visit_location(&mut self, location: Location) -> Result<(), Stop> {
        self.graph.pending[location] = false;
        match location {
            ENTRY => {}
            ERROR => self.graph.reached = self.queries_reached()?,
            _ if self.grows(location)? => {
                for &action in &self.cutpoints.leaving[location] {
                    self.graph.pending[self.cutpoints.actions[action].to] = true;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The queries that follow from the last labels.
    fn queries_reached(&mut self) -> Result<Vec<usize>, Stop> {
        let mut reached = Vec::new();
        for at in 0..self.graph.defining[ERROR].len() {
            self.check_budget()?;
            let query = self.graph.defining[ERROR][at];
            let Some(premises) = self.graph.premises(query, self.graph.nodes.len()) else {
                continue;
            };
            let source = self.graph.source(&self.terms, &premises, TermId::FALSE);
            if self.posts.is_possible(query, &source, self.cx)? {
                reached.push(query);
            }
        }
        Ok(reached)
    }

    /// Gives the location a new node if its clauses derive more than its last label contains.
    /// Returns whether they do.
    fn grows(&mut self, location: Location) -> Result<bool, Stop> {
        let time = self.graph.nodes.len();
        let before = self.graph.chains[location].last().copied();
        let seen = before.map_or(TermId::FALSE, |n| self.graph.nodes[n].label);
        // COMPUTEPOST
        let mut post = self.domain.bottom();
        let mut growing = Vec::new();
        for at in 0..self.graph.defining[location].len() {
            let clause = self.graph.defining[location][at];
            let Some(premises) = self.graph.premises(clause, time) else {
                continue;
            };
            let step = self.graph.step(clause, &premises, seen);
            if self.graph.steps.get(&step) == Some(&true) {
                continue;
            }
            let source = self.graph.source(&self.terms, &premises, seen);
            let image = self.posts.image(clause, &source, self.cx)?;
            if self.domain.is_bottom(&image) {
                self.graph.steps.insert(step, true);
                continue;
            }
            post = self.domain.join(&post, &image);
            growing.push((clause, premises, step));
        }
        if growing.is_empty() {
            return Ok(false);
        }
        // WIDENWITH
        let visits = self.graph.chains[location].len() + 1;
        let widen = self.widens(location, visits);
        let element = match before {
            Some(x) => {
                let x = &self.graph.nodes[x].element;
                let both = self.domain.join(x, &post);
                match widen {
                    true => self.domain.widen(x, &both),
                    false => both,
                }
            }
            None => post,
        };
        let mut lemmas = before.map_or_else(Vec::new, |n| self.graph.nodes[n].lemmas.clone());
        for (clause, premises, _) in &growing {
            let source = self.graph.source(&self.terms, premises, TermId::FALSE);
            lemmas = self.posts.kept(*clause, &source, lemmas, self.cx)?;
        }
        let label = self.label_of(&element, &lemmas);
        if let Some(x) = before {
            let x = &self.graph.nodes[x];
            let same = lemmas.len() == x.lemmas.len() && self.domain.entails(&element, &x.element);
            if same || label == x.label {
                let known = growing.into_iter().map(|(_, _, step)| (step, true));
                self.graph.steps.extend(known);
                return Ok(false);
            }
        }
        self.graph.nodes.push(Node {
            location,
            label,
            element,
            lemmas,
        });
        self.graph.chains[location].push(time);
        Ok(true)
    }

    /// The label of an element with lemmas.
    pub(super) fn label_of(&self, element: &D::Element, lemmas: &[TermId]) -> TermId {
        let mut parts = self.domain.formula(element);
        parts.extend(lemmas);
        self.terms.and(&parts)
    }
}
