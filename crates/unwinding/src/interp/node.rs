//! The unwinding: a tree of nodes, each at a location, with covering between them.
//!
//! Invariant: a node's parent is older than the node, and so is a node that covers it; the nodes
//! below a covered, pruned or dead node are detached: they are not explored and cover no node.

use std::rc::Rc;

use alphorn_chc::cutpoints::Location;
use alphorn_proof::ClauseCopy;
use alphorn_term::{Assignment, TermId};

/// A node, by number in the order of creation.
pub(super) type NodeId = usize;

/// The root, at the entry.
pub(super) const ROOT: NodeId = 0;

/// The state of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Not visited yet.
    Open,
    /// Its actions are taken, or will be.
    Expanded,
    /// Its label implies that of this node.
    Covered(NodeId),
    /// Its label implies the region of its location.
    Pruned,
    /// Its label is `false`.
    Dead,
}

/// An edge from a node to its child: an instance of the clauses of an action.
pub(super) struct Edge {
    /// Index among the actions.
    pub action: usize,
    /// By clause.
    pub copies: Vec<ClauseCopy>,
    /// Says that some clause leads from the node's variables to the child's.
    pub formula: TermId,
    /// The number of terms in the formula.
    pub size: usize,
}

/// A node of the unwinding.
pub(super) struct Node {
    pub location: Location,
    pub parent: Option<NodeId>,
    /// The edge from the parent; `None` at the root.
    pub edge: Option<Rc<Edge>>,
    /// The variables for the location's formal variables.
    pub vars: Vec<TermId>,
    /// Conjuncts over formal variables.
    pub label: Vec<TermId>,
    /// Grows with the label.
    pub version: usize,
    /// Some states, over formal variables, that the label allows or allowed earlier.
    pub states: Vec<Assignment>,
    /// Actions that are not taken yet.
    pub todo: Vec<usize>,
    pub children: Vec<NodeId>,
    pub state: State,
    /// Whether it was ever expanded.
    pub expanded: bool,
    /// Whether it is below a node that is covered, pruned or dead.
    pub detached: bool,
    /// The nodes that it covers.
    pub covers: Vec<NodeId>,
    pub depth: usize,
    /// How often its path visits one loop head, at most.
    pub round: usize,
    /// Whether its path is known to be feasible.
    pub feasible: bool,
    /// States, over formal variables, from which the error is not reached through this node; `None`
    /// as long as a node below it is open.
    pub safe: Option<TermId>,
    /// The blockers of its actions.
    pub blockers: Vec<TermId>,
    /// The actions that have a blocker.
    pub blocked: Vec<usize>,
    /// Whether no node in its subtree is open, as far as is known.
    pub explored: bool,
    /// Whether it is in a closed set of labels that is part of its location's region.
    pub closed: bool,
    /// Whether forced covering was tried.
    pub forced: bool,
    /// How many formulas of its location's vocabulary were tried as its label.
    pub vocabulary_seen: usize,
}

impl Node {
    /// An open node without children and with the label `true`.
    pub fn new(location: Location, vars: Vec<TermId>) -> Node {
        Node {
            location,
            parent: None,
            edge: None,
            vars,
            label: Vec::new(),
            version: 0,
            states: Vec::new(),
            todo: Vec::new(),
            children: Vec::new(),
            state: State::Open,
            expanded: false,
            detached: false,
            covers: Vec::new(),
            depth: 0,
            round: 1,
            feasible: false,
            safe: None,
            blockers: Vec::new(),
            blocked: Vec::new(),
            explored: false,
            closed: false,
            forced: false,
            vocabulary_seen: 0,
        }
    }

    /// Whether it is part of the current unwinding and expanded.
    pub fn is_live(&self) -> bool {
        self.state == State::Expanded && !self.detached
    }
}
