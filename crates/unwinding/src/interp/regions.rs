//! Safety interpolants (S): by location, states from which no error is reached.
//!
//! On the way back from a node v whose child along an action e is done, a blocker separates the
//! path to v from the action into states that are not safe at the child. A location's region is the
//! conjunction over its leaving actions of the disjunction of their blockers; it is full, and
//! closed, when each action has one. Where covering ends a loop there is no way back. There the
//! labels of a subtree become a region as soon as nothing in it is open and all of its coverings
//! are by nodes of closed sets.
//!
//! Invariant: from a closed region, given the proven facts, each action leads into closed regions,
//! and none to the error. Regions only grow.

use rustc_hash::{FxHashMap, FxHashSet};

use super::guards::{Guard, Guards};
use super::node::{NodeId, State};
use super::search::{Kind, Search};
use alphorn_chc::cutpoints::{ERROR, Location};
use alphorn_proof::Stop;
use alphorn_term::{TermId, TermStore};

/// Blockers of one action, at most: with more, a region is slow.
const MOST: usize = 40;

/// See the module.
pub(super) struct Region {
    /// By leaving action.
    blockers: Vec<Vec<TermId>>,
    /// Labels that are closed among themselves.
    finished: Vec<TermId>,
    full: bool,
}

impl Region {
    /// The empty region of a location with so many leaving actions.
    pub fn new(actions: usize) -> Region {
        Region {
            blockers: vec![Vec::new(); actions],
            finished: Vec::new(),
            full: false,
        }
    }

    /// Whether no error is reached from it.
    pub fn is_closed(&self) -> bool {
        self.full || !self.finished.is_empty()
    }

    /// The paper's flag "full".
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// The printed rule for the last location that is reached.
    pub fn force_full(&mut self) {
        self.full = true;
    }

    /// The states, over formal variables; `false` if it is not closed.
    pub fn formula(&self, terms: &TermStore, guards: Guards) -> TermId {
        let mut parts = self.finished.clone();
        if self.full {
            let by_action = self.blockers.iter().map(|own| {
                if !guards.on(Guard::DisjunctionPerAction) || own.is_empty() {
                    // Only a region that is full without a guard has an action without blockers.
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
    /// The location's region over its formal variables. From one that no action leaves no error is
    /// reached.
    pub(super) fn region(&self, location: Location) -> TermId {
        if self.leaving[location].is_empty() {
            return self.terms.bool(location != ERROR);
        }
        self.regions[location].formula(&self.terms, self.guards)
    }

    /// Prunes the node if its label is within its location's region, or can be made to be.
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
        // The printed rules update regions on spurious paths only.
        if self.guards.on(Guard::BlockerPerAction) {
            self.settle(node)?;
        }
        self.quieten(node)?;
        Ok(true)
    }

    /// Notes the blocker of the action that leads to the node from its parent.
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
            if known.len() == MOST {
                // Without it the parent is never done, as if something below it were open.
                return;
            }
            known.push(blocker);
        }
        self.counts.safety += 1;
        let conjuncts = self.terms.conjuncts(blocker);
        self.facts.note(location, &conjuncts);
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

    /// Goes back from a node that is done: blockers for the actions that lead to it, and to those
    /// before it that are done by that.
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
                    // A path back may be long, and each of its nodes takes an interpolation.
                    if !self.affords(Kind::S) {
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

    /// What excludes the goal, over the node's variables, in the shortest window of its path.
    fn blocker(&mut self, node: NodeId, goal: TermId) -> Result<Option<TermId>, Stop> {
        let chain = self.chain(node);
        let Some(start) = self.window(&chain, goal)? else {
            return Ok(None);
        };
        let before = self.premise(&chain, start);
        self.separate(&before, goal, node).map(Some)
    }

    /// The same from a node whose blocker is known.
    pub(super) fn settle_parent(&mut self, node: NodeId) -> Result<(), Stop> {
        let parent = self.nodes[node].parent.filter(|_| self.options.safety());
        match parent {
            Some(parent) if self.finish(parent) => self.settle(parent),
            _ => Ok(()),
        }
    }

    /// Notes what is safe at the node if all of its actions have blockers; tells whether they have.
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

    /// Adds the labels of the node's subtree, in which nothing is open, to the regions, if they are
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
