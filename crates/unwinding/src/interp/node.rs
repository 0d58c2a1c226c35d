//! The unwinding: a tree of nodes, each at a location, with covering between them.
//!
//! Invariant: a node's parent is older than the node, and what covers a node is older, too; what is
//! below a covered, pruned or dead node is aside: it is neither explored nor covers anything.

use std::rc::Rc;

use alphorn_chc::cutpoints::Location;
use alphorn_proof::ClauseCopy;
use alphorn_term::{Assignment, TermId};

/// A node, by number, in the order in which nodes are made.
pub(super) type NodeId = usize;

/// The root, at the entry.
pub(super) const ROOT: NodeId = 0;

/// What is known of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Nothing yet.
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

/// A way from a node to its child: an instance of the clauses of an action.
pub(super) struct Edge {
    /// Index among the actions.
    pub action: usize,
    /// By clause.
    pub copies: Vec<ClauseCopy>,
    /// Some clause leads from the node's variables to the child's.
    pub formula: TermId,
    /// So many terms the formula has.
    pub size: usize,
}

/// See the module.
pub(super) struct Node {
    pub location: Location,
    pub parent: Option<NodeId>,
    /// From the parent; the root has none.
    pub edge: Option<Rc<Edge>>,
    /// What the location's formal variables are called here.
    pub vars: Vec<TermId>,
    /// Conjuncts over formal variables.
    pub label: Vec<TermId>,
    /// Grows with the label.
    pub version: usize,
    /// Some states that the label allows, or did, over formal variables.
    pub states: Vec<Assignment>,
    /// Actions that are not taken yet.
    pub todo: Vec<usize>,
    pub children: Vec<NodeId>,
    pub state: State,
    /// Whether it was expanded at some time.
    pub expanded: bool,
    /// Whether it is below a node that is covered, pruned or dead.
    pub aside: bool,
    /// The nodes that it covers.
    pub covers: Vec<NodeId>,
    pub depth: usize,
    /// How often the path to here comes to one location, at most.
    pub round: usize,
    /// Whether its path is known to be feasible.
    pub feasible: bool,
    /// A set of states, over formal variables, from which no error is reached through this node;
    /// `None` as long as something below it is open.
    pub safe: Option<TermId>,
    /// The blockers of its actions so far, and the actions that have one.
    pub blockers: Vec<TermId>,
    pub blocked: Vec<usize>,
    /// Whether nothing is open in its subtree, by the last look.
    pub quiet: bool,
    /// Whether it is in a closed set of labels that is part of its location's region.
    pub closed: bool,
    /// Whether forced covering was tried.
    pub forced: bool,
    /// So much of its location's vocabulary was tried as its label.
    pub heard: usize,
}

impl Node {
    /// A node without children, label `true`.
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
            aside: false,
            covers: Vec::new(),
            depth: 0,
            round: 1,
            feasible: false,
            safe: None,
            blockers: Vec::new(),
            blocked: Vec::new(),
            quiet: false,
            closed: false,
            forced: false,
            heard: 0,
        }
    }

    /// Whether it is part of the unwinding as it stands.
    pub fn is_live(&self) -> bool {
        self.state == State::Expanded && !self.aside
    }
}
