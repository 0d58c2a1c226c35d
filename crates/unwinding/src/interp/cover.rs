//! Covering (McMillan, CAV 2006): a node whose label implies that of an older one is not explored.
//!
//! Invariant: what covers a node is live, older, at the same location, and its label follows from
//! the node's. A node that is covered has a subtree aside; what that subtree covered is uncovered,
//! so coverings form no cycle.

use super::guards::Guard;
use super::node::{NodeId, State};
use super::search::{Kind, Search};
use alphorn_proof::Stop;
use alphorn_term::TermId;

/// Nodes that may cover one are tried from the newest on, so many at most.
const CANDIDATES: usize = 64;

/// Nodes for which forced covering is tried.
const FORCED: usize = 4;

impl Search<'_> {
    /// Covers the node if its label allows.
    pub(super) fn cover(&mut self, node: NodeId) -> Result<bool, Stop> {
        for other in self.candidates(node, CANDIDATES) {
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

    /// Covers the node by one of the last nodes of its location, if labels along its path can be
    /// strengthened so that its label allows.
    pub(super) fn force_cover(&mut self, node: NodeId) -> Result<bool, Stop> {
        if std::mem::replace(&mut self.nodes[node].forced, true) {
            return Ok(false);
        }
        for other in self.candidates(node, FORCED) {
            if !self.nodes[other].is_live() {
                // An earlier attempt has changed labels.
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

    /// Strengthens the labels along the node's path so that its own implies these formulas; false
    /// where a run leads elsewhere, or there are no interpolants in time.
    fn confine_to(&mut self, node: NodeId, formulas: &[TermId]) -> Result<bool, Stop> {
        let outside = self.terms.not(self.over(node, self.terms.and(formulas)));
        self.go_to(node);
        Ok(!self.ask_path(&[outside])? && self.confine(node, outside)?)
    }

    /// The newest of the older nodes of the location that may cover others.
    fn candidates(&self, node: NodeId, limit: usize) -> Vec<NodeId> {
        let may = |&n: &NodeId| {
            let other = &self.nodes[n];
            let pruned = other.state == State::Pruned && !other.aside;
            let unguarded = pruned && !self.guards.on(Guard::LabelWithinRegion);
            n < node && (other.is_live() || unguarded)
        };
        let all = self.at[self.nodes[node].location].iter().rev().copied();
        all.filter(may).take(limit).collect()
    }

    fn set_covered(&mut self, node: NodeId, by: NodeId) -> Result<(), Stop> {
        self.nodes[node].state = State::Covered(by);
        self.nodes[by].covers.push(node);
        self.put_aside(node)?;
        self.quieten(node)
    }

    /// Puts what is below the node aside, and uncovers what it covers.
    pub(super) fn put_aside(&mut self, node: NodeId) -> Result<(), Stop> {
        let mut uncovered = std::mem::take(&mut self.nodes[node].covers);
        let mut open = self.nodes[node].children.clone();
        while let Some(below) = open.pop() {
            if std::mem::replace(&mut self.nodes[below].aside, true) {
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

    /// Takes back that the node is covered.
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
        while let Some(node) = at.filter(|&n| self.nodes[n].quiet) {
            self.nodes[node].quiet = false;
            at = self.nodes[node].parent;
        }
        if self.nodes[node].aside {
            return;
        }
        self.push(node);
        let mut open = self.nodes[node].children.clone();
        while let Some(below) = open.pop() {
            self.nodes[below].aside = false;
            self.push(below);
            if matches!(self.nodes[below].state, State::Open | State::Expanded) {
                open.extend(&self.nodes[below].children);
            }
        }
    }

    /// Strengthens the node's label, and uncovers what it covers no longer. Tells whether the label
    /// is another one.
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
        self.facts.note(own.location, &fresh);
        for other in self.nodes[node].covers.clone() {
            if !self.entails(other, &fresh)? {
                self.uncover(other);
            }
        }
        Ok(true)
    }

    /// Tries to cover these nodes of a path, from the root on, whose labels have changed.
    pub(super) fn close(&mut self, changed: &[NodeId]) -> Result<(), Stop> {
        for &node in changed {
            let own = &self.nodes[node];
            if own.aside || own.state != State::Expanded {
                return Ok(());
            }
            if self.cover(node)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether nothing is open at the node and below.
    fn is_quiet(&self, node: NodeId) -> bool {
        let own = &self.nodes[node];
        match own.state {
            State::Open => false,
            State::Expanded => {
                own.todo.is_empty() && own.children.iter().all(|&c| self.nodes[c].quiet)
            }
            _ => true,
        }
    }

    /// Notes that there is nothing open at the node, and above as far as that holds; labels that
    /// are closed among themselves become regions.
    pub(super) fn quieten(&mut self, node: NodeId) -> Result<(), Stop> {
        let mut at = Some(node);
        while let Some(node) = at.filter(|&n| !self.nodes[n].aside && self.is_quiet(n)) {
            self.nodes[node].quiet = true;
            if self.options.safety() && self.affords(Kind::S) {
                self.close_region(node)?;
            }
            at = self.nodes[node].parent;
        }
        Ok(())
    }
}
