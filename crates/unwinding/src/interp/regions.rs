//! Safety interpolants (S): for each location, states from which the error is not reached.
//!
//! On backtracking from the child of a node v along an action, a blocker separates the path to v
//! from the action into states that are not safe at the child. A location's region is the
//! conjunction over its leaving actions of the disjunction of their blockers; it is full, and
//! closed, when each action has one. A covered node does not backtrack. Instead, the labels of a
//! subtree become a region as soon as no node in it is open and all its coverings are by nodes of
//! closed sets.
//!
//! Invariant: from a closed region, given the facts, each action leads into closed regions, and
//! none to the error. Regions only grow.

use rustc_hash::{FxHashMap, FxHashSet};

use super::guards::{Guard, Guards};
use super::limits::LIMITS;
use super::node::{NodeId, State};
use super::search::{Kind, Search};
use alphorn_chc::cutpoints::{ERROR, Location};
use alphorn_proof::Stop;
use alphorn_term::{TermId, TermStore};

/// The region of a location.
pub(super) struct Region {
    /// By leaving action.
    blockers: Vec<Vec<TermId>>,
    /// Disjunctions of labels that are closed together.
    finished: Vec<TermId>,
    /// The paper's flag "full".
    full: bool,
}

impl Region {
    /// The empty region of a location with this number of leaving actions.
    pub fn new(actions: usize) -> Region {
        Region {
            blockers: vec![Vec::new(); actions],
            finished: Vec::new(),
            full: false,
        }
    }

    /// Whether the error is not reached from it, so that it may prune nodes.
    pub fn is_closed(&self) -> bool {
        self.full || !self.finished.is_empty()
    }

    /// Whether each leaving action has a blocker.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// The rule as printed: the last location that a path reaches is full. For tests of guards.
    pub fn force_full(&mut self) {
        self.full = true;
    }

    /// The formula over formal variables; `false` if the region is not closed.
    pub fn formula(&self, terms: &TermStore, guards: Guards) -> TermId {
        let mut parts = self.finished.clone();
        if self.full {
            let by_action = self.blockers.iter().map(|own| {
                if !guards.on(Guard::DisjunctionPerAction) || own.is_empty() {
                    // An action without blockers: only if a guard is off.
                    return terms.and(own);
                }
                terms.or(own)
            });
            parts.push(terms.and(&by_action.collect::<Vec<_>>()));
        }
        terms.or(&parts)
    }
}

impl Search<'_> {
    /// The location's region over its formal variables; all states if no action leaves the
    /// location.
    pub(super) fn region(&self, location: Location) -> TermId {
        if self.leaving[location].is_empty() {
            return self.terms.bool(location != ERROR);
        }
        self.regions[location].formula(&self.terms, self.guards)
    }

    /// Prunes the node if its label implies its location's region, or can be strengthened to.
    pub(super) fn prune(&mut self, node: NodeId) -> Result<bool, Stop> {
        let location = self.nodes[node].location;
        if !self.regions[location].is_closed() {
            return Ok(false);
        }
        let region = self.region(location);
        if self.options.obligations() {
            if !self.entails(node, &[region])? {
                if !self.is_excluded(node, self.terms.not(region))? {
                    return Ok(false);
                }
                self.strengthen(node, region)?;
            }
        } else if !self.entails(node, &[region])? {
            let outside = self.terms.not(self.over(node, region));
            self.go_to(node);
            if self.ask_path(&[outside])? {
                return Ok(false);
            }
            let labels = self.options.reachability();
            let guarded = labels && self.guards.on(Guard::LabelWithinRegion);
            if guarded && !(self.confine(node, outside)? && self.entails(node, &[region])?) {
                return Ok(false);
            }
        }
        self.counts.pruned += 1;
        let own = &mut self.nodes[node];
        own.state = State::Pruned;
        own.safe = Some(region);
        // The rules as printed update regions on spurious paths only.
        if self.guards.on(Guard::BlockerPerAction) {
            self.settle(node)?;
        }
        self.mark_explored(node)?;
        Ok(true)
    }

    /// Adds the blocker of the action that leads to the node from its parent.
    pub(super) fn block(&mut self, node: NodeId, blocker: TermId) {
        let own = &self.nodes[node];
        let (Some(parent), Some(edge)) = (own.parent, own.edge.as_ref()) else {
            return;
        };
        let action = edge.action;
        if self.nodes[parent].blocked.contains(&action) {
            return;
        }
        let location = self.nodes[parent].location;
        let leaving = &self.leaving[location];
        let Some(place) = leaving.iter().position(|&a| a == action) else {
            return;
        };
        let known = &mut self.regions[location].blockers[place];
        if !known.contains(&blocker) {
            if known.len() == LIMITS.blockers_per_action {
                // The parent's action stays without a blocker, as if a node below were open.
                return;
            }
            known.push(blocker);
        }
        match self.options.obligations() {
            true => self.counts.blockers += 1,
            false => self.counts.safety += 1,
        }
        let conjuncts = self.terms.conjuncts(blocker);
        self.facts.add_candidates(location, &conjuncts);
        self.nodes[parent].blocked.push(action);
        self.nodes[parent].blockers.push(blocker);
        let full = if self.guards.on(Guard::BlockerPerAction) {
            self.regions[location]
                .blockers
                .iter()
                .all(|b| !b.is_empty())
        } else {
            let targets = leaving.iter().map(|&a| self.actions[a].to);
            targets
                .into_iter()
                .all(|l| l == ERROR || self.regions[l].is_closed())
        };
        if full && !self.regions[location].full {
            self.regions[location].full = true;
            self.counts.full += 1;
            self.weigh_full(location);
        }
    }

    /// Backtracks from a node with known safe states: adds the blocker of the action that leads to
    /// it, and continues with its parent if that now has all blockers.
    pub(super) fn settle(&mut self, node: NodeId) -> Result<(), Stop> {
        if !self.options.safety() {
            return Ok(());
        }
        let mut at = node;
        while let (Some(parent), Some(safe)) = (self.nodes[at].parent, self.nodes[at].safe) {
            let edge = self.nodes[at].edge.clone();
            let edge = edge.filter(|e| !self.nodes[parent].blocked.contains(&e.action));
            if let Some(edge) = edge {
                let blocker = if safe == TermId::TRUE {
                    TermId::TRUE
                } else if self.options.obligations() {
                    match self.needed(at, self.terms.not(safe))? {
                        Some(blocker) => blocker,
                        None => return Ok(()),
                    }
                } else {
                    // A path may be long, and each of its nodes takes an interpolation.
                    if !self.has_work_left(Kind::S) {
                        return Ok(());
                    }
                    let unsafe_there = self.terms.not(self.over(at, safe));
                    let goal = self.terms.and(&[edge.formula, unsafe_there]);
                    match self.timed(Kind::S, |s| s.blocker(parent, goal))? {
                        Some(blocker) => blocker,
                        None => return Ok(()),
                    }
                };
                self.block(at, blocker);
            }
            if !self.finish(parent) {
                return Ok(());
            }
            at = parent;
        }
        Ok(())
    }

    /// An interpolant that excludes the goal at the node, from the shortest window of its path;
    /// `None` if the path does not exclude the goal.
    fn blocker(&mut self, node: NodeId, goal: TermId) -> Result<Option<TermId>, Stop> {
        let chain = self.chain(node);
        let Some(start) = self.window(&chain, goal)? else {
            return Ok(None);
        };
        let before = self.premise(&chain, start);
        self.separate(&before, goal, node).map(Some)
    }

    /// Backtracks from the parent of a node whose blocker is known.
    pub(super) fn settle_parent(&mut self, node: NodeId) -> Result<(), Stop> {
        let parent = self.nodes[node].parent.filter(|_| self.options.safety());
        match parent {
            Some(parent) if self.finish(parent) => self.settle(parent),
            _ => Ok(()),
        }
    }

    /// Sets the safe states of the node if all its actions have blockers. Returns whether it did.
    fn finish(&mut self, node: NodeId) -> bool {
        let own = &self.nodes[node];
        let actions = self.leaving[own.location].len();
        if own.safe.is_some() || own.blocked.len() < actions || own.state != State::Expanded {
            return false;
        }
        let safe = self.terms.and(&own.blockers);
        self.nodes[node].safe = Some(safe);
        true
    }

    /// Adds the labels of the node's subtree, in which no node is open, to the regions if they are
    /// closed.
    pub(super) fn close_region(&mut self, node: NodeId) -> Result<(), Stop> {
        let own = &self.nodes[node];
        let known = own.safe.is_some() || own.closed || own.state != State::Expanded;
        if known || !self.graph.is_head[own.location] || !self.options.reachability() {
            return Ok(());
        }
        let mut inside: FxHashSet<NodeId> = FxHashSet::default();
        let mut covering: Vec<NodeId> = Vec::new();
        let mut open = vec![node];
        while let Some(below) = open.pop() {
            let own = &self.nodes[below];
            match own.state {
                State::Expanded => {
                    inside.insert(below);
                    open.extend(&own.children);
                }
                State::Covered(by) => covering.push(by),
                State::Pruned | State::Dead => {}
                State::Open => return Ok(()),
            }
        }
        let closed = |n: &NodeId| inside.contains(n) || self.nodes[*n].closed;
        if !covering.iter().all(closed) {
            return Ok(());
        }
        self.counts.closed += 1;
        let mut labels: FxHashMap<Location, Vec<TermId>> = FxHashMap::default();
        let mut inside: Vec<NodeId> = inside.into_iter().collect();
        inside.sort_unstable();
        for below in inside {
            let own = &mut self.nodes[below];
            own.closed = true;
            let label = self.terms.and(&own.label);
            labels.entry(own.location).or_default().push(label);
        }
        for (location, labels) in labels {
            let region = &mut self.regions[location];
            region.finished.push(self.terms.or(&labels));
        }
        let region = self.region(self.nodes[node].location);
        self.nodes[node].safe = Some(region);
        self.settle(node)
    }
}
