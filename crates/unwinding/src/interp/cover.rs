//! Covering (McMillan, CAV 2006): a node whose label implies that of an older one is not explored.
//!
//! Invariant: a node that covers another is live, older and at the same location, and the other's
//! label implies its label. The subtree of a covered node is detached, and the nodes that it
//! covered are uncovered, so coverings form no cycle.

use super::guards::Guard;
use super::limits::LIMITS;
use super::node::{NodeId, State};
use super::search::{Kind, Search};
use alphorn_proof::Stop;
use alphorn_term::TermId;

impl Search<'_> {
    /// Covers the node by an older one if its label implies that one's.
    pub(super) fn cover(&mut self, node: NodeId) -> Result<bool, Stop> {
        for other in self.candidates(node, LIMITS.covering_candidates) {
            let version = self.nodes[node].version;
            if self.uncovering.get(&(node, other)) == Some(&version) {
                continue;
            }
            let label = self.nodes[other].label.clone();
            if self.entails(node, &label)? {
                self.counts.covered += 1;
                self.set_covered(node, other)?;
                return Ok(true);
            }
            self.uncovering.insert((node, other), version);
        }
        Ok(false)
    }

    /// Covers the node by one of the newest older nodes of its location, if labels along its path
    /// can be strengthened so that its label implies that one's.
    pub(super) fn force_cover(&mut self, node: NodeId) -> Result<bool, Stop> {
        if std::mem::replace(&mut self.nodes[node].forced, true) {
            return Ok(false);
        }
        for other in self.candidates(node, LIMITS.forced_candidates) {
            if !self.nodes[other].is_live() {
                // An earlier attempt has changed its label.
                continue;
            }
            let label = self.nodes[other].label.clone();
            let within = if self.options.obligations() {
                self.inherit(node, &label)?
            } else {
                self.confine_to(node, &label)?
            };
            if !within {
                continue;
            }
            let label = self.nodes[other].label.clone();
            if self.nodes[other].is_live() && self.entails(node, &label)? {
                self.counts.forced += 1;
                self.set_covered(node, other)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Strengthens the labels along the node's path so that its own implies these formulas. False
    /// if they do not follow from the path, or if interpolation fails.
    fn confine_to(&mut self, node: NodeId, formulas: &[TermId]) -> Result<bool, Stop> {
        let outside = self.terms.not(self.over(node, self.terms.and(formulas)));
        self.go_to(node);
        Ok(!self.ask_path(&[outside])? && self.confine(node, outside)?)
    }

    /// The newest of the older nodes of the location that may cover another node.
    fn candidates(&self, node: NodeId, limit: usize) -> Vec<NodeId> {
        let may = |&n: &NodeId| {
            let other = &self.nodes[n];
            let pruned = other.state == State::Pruned && !other.detached;
            let unguarded = pruned && !self.guards.on(Guard::LabelWithinRegion);
            n < node && (other.is_live() || unguarded)
        };
        let all = self.at[self.nodes[node].location].iter().rev().copied();
        all.filter(may).take(limit).collect()
    }

    fn set_covered(&mut self, node: NodeId, by: NodeId) -> Result<(), Stop> {
        self.nodes[node].state = State::Covered(by);
        self.nodes[by].covers.push(node);
        self.detach_below(node)?;
        self.mark_explored(node)
    }

    /// Detaches the nodes below the node, and uncovers the nodes that it and they cover.
    pub(super) fn detach_below(&mut self, node: NodeId) -> Result<(), Stop> {
        let mut uncovered = std::mem::take(&mut self.nodes[node].covers);
        let mut open = self.nodes[node].children.clone();
        while let Some(below) = open.pop() {
            if std::mem::replace(&mut self.nodes[below].detached, true) {
                continue;
            }
            uncovered.append(&mut self.nodes[below].covers);
            open.extend(&self.nodes[below].children);
        }
        for other in uncovered {
            self.uncover(other);
        }
        Ok(())
    }

    /// Uncovers the node: it and the nodes below it take part again.
    fn uncover(&mut self, node: NodeId) {
        let State::Covered(by) = self.nodes[node].state else {
            return;
        };
        self.counts.uncovered += 1;
        self.nodes[by].covers.retain(|&n| n != node);
        let expanded = self.nodes[node].expanded;
        self.nodes[node].state = if expanded {
            State::Expanded
        } else {
            State::Open
        };
        let mut at = Some(node);
        while let Some(node) = at.filter(|&n| self.nodes[n].explored) {
            self.nodes[node].explored = false;
            at = self.nodes[node].parent;
        }
        if self.nodes[node].detached {
            return;
        }
        self.push(node);
        let mut open = self.nodes[node].children.clone();
        while let Some(below) = open.pop() {
            self.nodes[below].detached = false;
            self.push(below);
            if matches!(self.nodes[below].state, State::Open | State::Expanded) {
                open.extend(&self.nodes[below].children);
            }
        }
    }

    /// Conjoins the lemma to the node's label, and uncovers nodes that the label no longer covers.
    /// Returns whether the label has changed.
    pub(super) fn strengthen(&mut self, node: NodeId, lemma: TermId) -> Result<bool, Stop> {
        let mut fresh = Vec::new();
        for conjunct in self.terms.conjuncts(lemma) {
            let location = self.nodes[node].location;
            let known = self.nodes[node].label.contains(&conjunct)
                || self.facts.of(location).contains(&conjunct)
                || conjunct == TermId::TRUE;
            if !known && !fresh.contains(&conjunct) {
                fresh.push(conjunct);
            }
        }
        if fresh.is_empty() {
            return Ok(false);
        }
        let own = &mut self.nodes[node];
        own.label.extend(&fresh);
        own.version += 1;
        self.facts.add_candidates(own.location, &fresh);
        for other in self.nodes[node].covers.clone() {
            if !self.entails(other, &fresh)? {
                self.uncover(other);
            }
        }
        Ok(true)
    }

    /// Tries to cover these nodes of a path, whose labels have changed, from the root on.
    pub(super) fn close(&mut self, changed: &[NodeId]) -> Result<(), Stop> {
        for &node in changed {
            let own = &self.nodes[node];
            if own.detached || own.state != State::Expanded {
                return Ok(());
            }
            if self.cover(node)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether no node of the subtree is open, given the marks of its children.
    fn is_explored(&self, node: NodeId) -> bool {
        let own = &self.nodes[node];
        match own.state {
            State::Open => false,
            State::Expanded => {
                own.todo.is_empty() && own.children.iter().all(|&c| self.nodes[c].explored)
            }
            _ => true,
        }
    }

    /// Marks the node, and the nodes above it, as explored where no node below is open; labels that
    /// are closed together become regions.
    pub(super) fn mark_explored(&mut self, node: NodeId) -> Result<(), Stop> {
        let mut at = Some(node);
        while let Some(node) = at.filter(|&n| !self.nodes[n].detached && self.is_explored(n)) {
            self.nodes[node].explored = true;
            if self.options.safety() && self.has_work_left(Kind::S) {
                self.close_region(node)?;
            }
            at = self.nodes[node].parent;
        }
        Ok(())
    }
}
