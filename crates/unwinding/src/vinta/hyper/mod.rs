//! VINTA for nonlinear clauses: every premise contributes its label, and tree interpolants refine.
//!
//! The paper is about programs, that is, linear clauses; this is its algorithm over hyperedges.
//!
//! - The abstract reachability graph is a hypergraph. A location's nodes form a chain, and each
//!   label contains those before it in the chain. A node has one hyperedge for each clause of its
//!   location; the premises of the hyperedge are the nodes that were last in their chains when the
//!   node was made. So hyperedges need not be stored: a node's number is its time. What is derived
//!   later from earlier premises is also derived from them, so an interpolant of a node may
//!   restrict the nodes before it.
//! - EXPANDARG (`expand`) follows the recursive iteration strategy over the weak topological order
//!   of the graph with an edge from each body atom to the head. A location whose clauses derive
//!   more than its last label contains gets a new node, and all clauses that use it are checked
//!   again.
//! - If no query follows from the last labels, these are a model. Otherwise derivation trees are
//!   unfolded from the queries (`unfold`) where labels do not refute them. One tree with
//!   alternatives stands for all derivations. A model of the tree in which every leaf is unfolded
//!   is a refutation.
//! - If there is none, VINTAREF (`refine`) uses a tree interpolant: for each tree node a formula
//!   that follows from the labels and the clauses below it. A node's new label is its old one with
//!   the interpolants of its copies in the tree and of the later nodes in its chain. Nodes that are
//!   then covered leave their chains.
//!
//! A label is an element of the domain and some lemmas, conjuncts of interpolants. A new node keeps
//! those lemmas of the node before it that its clauses preserve, as in UFO's predicate abstraction;
//! the paper's labels are elements only. In UFO's refinement (unrestricted) labels take no part in
//! the tree, and the new labels are the interpolants alone.
//!
//! Invariant: for every node and every clause of its location, the node's label contains what the
//! clause derives from the labels of the node's premises.

mod expand;
mod project;
mod refine;
mod unfold;

use rustc_hash::FxHashMap;

use self::unfold::Tree;
use super::picture::Picture;
use super::search::{Unrolled, Unwinding, Vinta};
use alphorn_chc::cutpoints::{Cutpoints, ERROR, Location};
use alphorn_chc::{ClauseIndex, PredicateId, System};
use alphorn_domain::Domain;
use alphorn_interpolation::{InterpolationError, Interpolator};
use alphorn_proof::Stop;
use alphorn_proof::posts::{Premise, Source};
use alphorn_term::{TermId, TermStore};
use alphorn_witness::Refutation;

/// The number of a node, which is also its time.
type NodeId = usize;

/// An unrolling of a location.
struct Node<E> {
    location: Location,
    /// Over the formal variables of the location's predicate: the element and the lemmas.
    label: TermId,
    /// An abstraction of the label.
    element: E,
    /// Conjuncts of interpolants.
    lemmas: Vec<TermId>,
}

/// A clause, the labels of its premises, and a label that may contain what the clause derives from
/// them.
type Step = (usize, Vec<TermId>, TermId);

/// The hypergraph.
pub(super) struct Hypergraph<E> {
    /// By location, including the error: its clauses.
    defining: Vec<Vec<usize>>,
    /// By clause: the locations of its body.
    bodies: Vec<Vec<Location>>,
    /// All nodes in the order of time, also those that have left their chains.
    nodes: Vec<Node<E>>,
    /// By location: its nodes, in the order of time.
    chains: Vec<Vec<NodeId>>,
    /// Known steps, each with whether its label contains what its clause derives.
    steps: FxHashMap<Step, bool>,
    /// By location: whether its clauses may derive more than its last label contains.
    pending: Vec<bool>,
    /// The queries that follow from the last labels.
    reached: Vec<usize>,
    /// The number of nodes of all trees.
    unfolded: usize,
}

impl<E> Hypergraph<E> {
    /// A graph without nodes.
    pub fn new(system: &System, cutpoints: &Cutpoints) -> Self {
        let locations = cutpoints.predicates.len();
        let mut at: FxHashMap<PredicateId, Location> = FxHashMap::default();
        for (location, predicate) in cutpoints.predicates.iter().enumerate() {
            at.extend(predicate.map(|p| (p, location)));
        }
        let index = ClauseIndex::new(system);
        let defining = (0..locations).map(|location| match cutpoints.predicates[location] {
            Some(predicate) => index.deriving(predicate).to_vec(),
            None if location == ERROR => index.queries().to_vec(),
            None => Vec::new(),
        });
        let bodies = system.clauses.iter();
        let bodies = bodies.map(|c| c.body.iter().map(|a| at[&a.predicate]).collect());
        Hypergraph {
            defining: defining.collect(),
            bodies: bodies.collect(),
            nodes: Vec::new(),
            chains: vec![Vec::new(); locations],
            steps: FxHashMap::default(),
            pending: vec![false; locations],
            reached: Vec::new(),
            unfolded: 0,
        }
    }

    /// The premises of the clause's hyperedge at this time; `None` if one of the locations has no
    /// node yet.
    fn premises(&self, clause: usize, time: NodeId) -> Option<Vec<NodeId>> {
        let body = self.bodies[clause].iter();
        body.map(|&location| self.last(location, time)).collect()
    }

    /// The last node of the location before this time.
    fn last(&self, location: Location, time: NodeId) -> Option<NodeId> {
        let chain = &self.chains[location];
        let before = chain.partition_point(|&n| n < time);
        before.checked_sub(1).map(|at| chain[at])
    }

    /// The clause's step from the premises into the label.
    fn step(&self, clause: usize, premises: &[NodeId], label: TermId) -> Step {
        let labels = premises.iter().map(|&n| self.nodes[n].label);
        (clause, labels.collect(), label)
    }

    /// The premises of a post; `seen` is already known of the head.
    fn source(&self, terms: &TermStore, premises: &[NodeId], seen: TermId) -> Source<'_, E> {
        let premise = |&n: &NodeId| Premise {
            element: &self.nodes[n].element,
            formula: terms.and(&self.nodes[n].lemmas),
        };
        Source {
            premises: premises.iter().map(premise).collect(),
            seen,
        }
    }
}

impl<D: Domain> Unwinding for Vinta<'_, D, Hypergraph<D::Element>> {
    type Encoding = Tree;

    fn begin_phase(&mut self) {
        self.graph.pending.fill(true);
    }

    fn is_pending(&self, location: Location) -> bool {
        self.graph.pending[location]
    }

    fn visit(&mut self, location: Location) -> Result<(), Stop> {
        self.visit_location(location)
    }

    fn is_safe(&self) -> bool {
        self.graph.reached.is_empty()
    }

    /// The location's last label, which contains those before it.
    fn reached(&self, location: Location) -> TermId {
        let last = self.graph.chains[location].last();
        last.map_or(TermId::FALSE, |&n| self.graph.nodes[n].label)
    }

    fn encode(&mut self) -> Result<Unrolled<Tree>, Stop> {
        self.unfold()
    }

    /// `None`: unfolding finds each derivation that the tree has.
    fn decode(&self, _: &Tree) -> Result<Option<Refutation>, Stop> {
        Ok(None)
    }

    fn by_certificates(
        &self,
        tree: &Tree,
        interpolator: &mut Interpolator,
    ) -> Result<Vec<TermId>, InterpolationError> {
        let parents: Vec<Option<usize>> = tree.copies.iter().map(|c| c.parent).collect();
        interpolator.tree(&tree.formulas, &parents)
    }

    /// Unchanged: `relabel` adds the lemmas of later nodes of a chain to earlier ones.
    fn shared(&mut self, _: &Tree, interpolants: Vec<TermId>) -> Result<Vec<TermId>, Stop> {
        Ok(interpolants)
    }

    fn by_projection(&mut self, tree: &Tree) -> Result<Unrolled<Vec<TermId>>, Stop> {
        self.project(tree).map(Unrolled::Infeasible)
    }

    fn relabel(&mut self, tree: &Tree, interpolants: Vec<TermId>) -> Result<(), Stop> {
        self.relabel_chains(tree, interpolants)
    }

    fn sizes(&self) -> Vec<(&'static str, usize)> {
        vec![
            ("nodes", self.graph.nodes.len()),
            ("unfolded", self.graph.unfolded),
        ]
    }

    /// A hyperedge is drawn as an edge from each premise, labelled with the clause. An entry clause
    /// has no edge.
    fn picture(&self) -> String {
        let graph = &self.graph;
        let mut nodes: Vec<NodeId> = graph.chains.iter().flatten().copied().collect();
        nodes.sort_unstable();
        let all = nodes.iter().map(|&n| {
            let node = &graph.nodes[n];
            (n, node.location, node.label)
        });
        let error = (graph.nodes.len(), ERROR, TermId::FALSE);
        let mut picture = Picture::new(&self.terms);
        for (node, location, label) in all.chain([error]) {
            let name = self.cutpoints.name(self.system, location);
            picture.node(node, name, label, "solid");
            for &clause in &graph.defining[location] {
                let id = self.system.clauses[clause].id.0;
                for premise in graph.premises(clause, node).into_iter().flatten() {
                    picture.edge(premise, node, &[id], "solid");
                }
            }
        }
        picture.finished()
    }
}
