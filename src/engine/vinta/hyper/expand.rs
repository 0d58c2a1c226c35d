//! EXPANDARG, COMPUTEPOST and WIDENWITH over hyperedges.
//!
//! Invariant: at the end every clause is inductive: what it derives from the last labels of its body is
//! in the last label of its head.

use super::{Hyper, Node, source};
use crate::domain::Domain;
use crate::engine::vinta::Stop;
use crate::engine::vinta::cutpoints::{ENTRY, ERROR, Location};
use crate::term::TermId;

impl<D: Domain> Hyper<'_, D> {
    /// One phase: new nodes until no clause derives more than the last labels have.
    pub(super) fn expand_arg(&mut self) -> Result<(), Stop> {
        let mut pending = vec![true; self.cutpoints.predicates.len()];
        let mut at = ENTRY;
        loop {
            if let Some(reason) = self.cx.stop() {
                return Err(Stop::Reason(reason));
            }
            self.pauses.take(self.cx)?;
            at = self.cutpoints.next(at, |l| pending[l]);
            if at == ERROR {
                return Ok(());
            }
            pending[at] = false;
            if self.visit(at)? {
                for &action in &self.cutpoints.leaving[at] {
                    pending[self.cutpoints.actions[action].to] = true;
                }
            }
            let (phase, refinements) = (self.phases + 1, self.refinements);
            let nodes = self.nodes.len();
            self.cx
                .progress
                .tick(|| format!("vinta: phase {phase}, node {nodes}, {refinements} refinements"));
        }
    }

    /// Gives the location a new node if its clauses derive more than its last label has; tells
    /// whether they do.
    fn visit(&mut self, location: Location) -> Result<bool, Stop> {
        let time = self.nodes.len();
        let before = self.chains[location].last().copied();
        let seen = before.map_or(TermId::FALSE, |n| self.nodes[n].label);
        // COMPUTEPOST
        let mut post = self.domain.bottom();
        let mut growing = Vec::new();
        for at in 0..self.defining[location].len() {
            let clause = self.defining[location][at];
            let Some(premises) = self.premises(clause, time) else {
                continue;
            };
            let step = self.step(clause, &premises, seen);
            if self.steps.get(&step) == Some(&true) {
                continue;
            }
            let source = source(&self.terms, &self.nodes, &premises, seen);
            let image = self.posts.image(clause, &source, self.cx)?;
            if self.domain.is_bottom(&image) {
                self.steps.insert(step, true);
                continue;
            }
            post = self.domain.join(&post, &image);
            growing.push((clause, premises, step));
        }
        if growing.is_empty() {
            return Ok(false);
        }
        // WIDENWITH
        let visits = self.chains[location].len() + 1;
        let widen = self.cutpoints.is_head[location] && self.options.widens(visits);
        let element = match before {
            Some(x) => {
                let x = &self.nodes[x].element;
                let both = self.domain.join(x, &post);
                match widen {
                    true => self.domain.widen(x, &both),
                    false => both,
                }
            }
            None => post,
        };
        let mut lemmas = before.map_or_else(Vec::new, |n| self.nodes[n].lemmas.clone());
        for (clause, premises, _) in &growing {
            let source = source(&self.terms, &self.nodes, premises, TermId::FALSE);
            lemmas = self.posts.kept(*clause, &source, lemmas, self.cx)?;
        }
        let label = self.label_of(&element, &lemmas);
        if let Some(x) = before {
            let x = &self.nodes[x];
            let same = lemmas.len() == x.lemmas.len() && self.domain.entails(&element, &x.element);
            if same || label == x.label {
                let known = growing.into_iter().map(|(_, _, step)| (step, true));
                self.steps.extend(known);
                return Ok(false);
            }
        }
        self.nodes.push(Node {
            location,
            label,
            element,
            lemmas,
        });
        self.chains[location].push(time);
        Ok(true)
    }

    /// The formula of an element with lemmas.
    pub(super) fn label_of(&self, element: &D::Element, lemmas: &[TermId]) -> TermId {
        let mut parts = self.domain.formula(element);
        parts.extend(lemmas);
        self.terms.and(&parts)
    }
}
