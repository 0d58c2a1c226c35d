//! The abstract reachability graph of a linear system, as in the paper.
//!
//! A node is an unrolling of a location, an edge an unrolling of an action. Labels come from the
//! abstract domain (`expand`, `widen`); the graph between entry and error is encoded as one formula
//! (`encode`), and DAG interpolants strengthen its labels (`refine`, `project`, `share`).
//!
//! Invariant: the target of an edge is visited after its source in the same phase; a node that the
//! last phase did not visit is no part of the graph until a later phase visits it.

mod encode;
mod expand;
mod project;
mod refine;
mod share;
#[cfg(test)]
mod tests;
mod widen;

use self::encode::Dag;
use super::picture::Picture;
use super::search::{Unrolled, Unwinding, Vinta};
use alphorn_chc::cutpoints::{Cutpoints, ENTRY, ERROR, Location};
use alphorn_domain::Domain;
use alphorn_interpolation::{InterpolationError, Interpolator};
use alphorn_proof::Stop;
use alphorn_proof::posts::Source;
use alphorn_smt::Solver;
use alphorn_term::TermId;
use alphorn_witness::Refutation;

/// The number of a node.
type NodeId = usize;

/// An unrolling of a location.
struct Node<E> {
    location: Location,
    /// Over the formal variables of the location's predicate.
    label: TermId,
    /// An abstraction of the label.
    element: E,
    /// Whether the element describes exactly the label.
    exact: bool,
    /// The part of the element that no earlier node has explored.
    frontier: E,
    /// Whether the label has to be computed from those of the predecessors.
    marked: bool,
    /// Whether the label is from the last refinement.
    refined: bool,
    covered: bool,
    /// The phase of the last visit.
    phase: usize,
    /// The number of the last visit in its phase.
    turn: usize,
    outgoing: Vec<usize>,
    incoming: Vec<usize>,
    /// The variables for the location's formal variables in the encoding.
    vars: Option<Vec<TermId>>,
}

impl<E> Node<E> {
    /// The explored part of the node as the source of a post; `seen` is already known of the
    /// target.
    fn source(&self, seen: TermId) -> Source<'_, E> {
        let formula = if self.exact { TermId::TRUE } else { self.label };
        Source::linear(&self.frontier, formula, seen)
    }
}

/// An edge, labelled with an action.
#[derive(Clone, Copy)]
struct Edge {
    from: NodeId,
    to: NodeId,
    action: usize,
    /// Whether no state of the source's label takes the action.
    dead: bool,
}

/// The state of a location in a phase.
struct Visited {
    /// Nodes that are not covered, in the order of their visits.
    nodes: Vec<NodeId>,
    /// Number of visits.
    visits: usize,
    /// The last node whose element was widened.
    widened: Option<NodeId>,
    /// A solver with the negations of their labels.
    cover: Option<Solver>,
}

/// The abstract reachability graph.
pub(super) struct Arg<E> {
    nodes: Vec<Node<E>>,
    edges: Vec<Edge>,
    entry: NodeId,
    error: NodeId,
    /// The number of the last phase.
    phase: usize,
    /// The number of its last visit.
    turn: usize,
    /// By location, in this phase.
    visited: Vec<Visited>,
    /// By location: the pending node (the paper's FN).
    future: Vec<Option<NodeId>>,
    /// By action: whether some explored node takes it.
    alive: Vec<bool>,
    /// By location: conjuncts of all interpolants, over formal variables.
    lemmas: Vec<Vec<TermId>>,
}

impl<E: Clone> Arg<E> {
    /// A graph with an entry and an error; `top` is the domain's element for all assignments.
    pub fn new(top: E) -> Self {
        let mut arg = Arg {
            nodes: Vec::new(),
            edges: Vec::new(),
            entry: 0,
            error: 0,
            phase: 0,
            turn: 0,
            visited: Vec::new(),
            future: Vec::new(),
            alive: Vec::new(),
            lemmas: Vec::new(),
        };
        arg.entry = arg.add_node(ENTRY, TermId::TRUE, top.clone());
        arg.nodes[arg.entry].marked = false;
        arg.nodes[arg.entry].refined = true;
        arg.error = arg.add_node(ERROR, TermId::FALSE, top);
        arg
    }

    /// Starts a phase.
    fn begin_phase(&mut self, cutpoints: &Cutpoints) {
        self.phase += 1;
        self.turn = 0;
        let locations = cutpoints.predicates.len();
        let visited = |_| Visited {
            nodes: Vec::new(),
            visits: 0,
            widened: None,
            cover: None,
        };
        self.lemmas.resize(locations, Vec::new());
        self.visited = (0..locations).map(visited).collect();
        self.future = vec![None; locations];
        self.future[ENTRY] = Some(self.entry);
        self.future[ERROR] = Some(self.error);
        self.alive = vec![false; cutpoints.actions.len()];
    }

    /// Adds a node that is still to be labelled.
    fn add_node(&mut self, location: Location, label: TermId, element: E) -> NodeId {
        self.nodes.push(Node {
            location,
            label,
            frontier: element.clone(),
            element,
            exact: true,
            marked: true,
            refined: false,
            covered: false,
            phase: 0,
            turn: 0,
            outgoing: Vec::new(),
            incoming: Vec::new(),
            vars: None,
        });
        self.nodes.len() - 1
    }

    /// Makes the action lead from one node to the other, instead of its old target.
    fn connect(&mut self, from: NodeId, to: NodeId, action: usize) {
        match self.edge_by(from, action) {
            Some(edge) if self.edges[edge].to == to => return,
            Some(edge) => {
                let before = self.edges[edge].to;
                self.nodes[before].incoming.retain(|&e| e != edge);
                self.edges[edge].to = to;
                self.edges[edge].dead = false;
                self.nodes[to].incoming.push(edge);
            }
            None => {
                self.edges.push(Edge {
                    from,
                    to,
                    action,
                    dead: false,
                });
                let edge = self.edges.len() - 1;
                self.nodes[from].outgoing.push(edge);
                self.nodes[to].incoming.push(edge);
            }
        }
        self.nodes[to].marked = true;
    }

    /// Removes an edge.
    fn disconnect(&mut self, edge: usize) {
        let Edge { from, to, .. } = self.edges[edge];
        self.nodes[from].outgoing.retain(|&e| e != edge);
        self.nodes[to].incoming.retain(|&e| e != edge);
    }

    /// Removes the edge of the action out of the node.
    fn cut(&mut self, from: NodeId, action: usize) {
        if let Some(edge) = self.edge_by(from, action) {
            self.disconnect(edge);
        }
    }

    /// The edge of the action out of the node.
    fn edge_by(&self, from: NodeId, action: usize) -> Option<usize> {
        let outgoing = self.nodes[from].outgoing.iter().copied();
        let mut of_action = outgoing.filter(|&e| self.edges[e].action == action);
        of_action.next()
    }

    /// The target of the action out of the node, if it has one.
    fn child(&self, from: NodeId, action: usize) -> Option<NodeId> {
        self.edge_by(from, action).map(|e| self.edges[e].to)
    }

    /// Whether the last phase visited the node.
    fn is_visited(&self, node: NodeId) -> bool {
        self.nodes[node].phase == self.phase
    }

    /// The edges between nodes of the last phase.
    fn edges_visited(&self) -> Vec<usize> {
        let visited = (0..self.nodes.len()).filter(|&n| self.is_visited(n));
        let edges = visited.flat_map(|n| self.nodes[n].outgoing.iter().copied());
        let inside = |e: &usize| self.is_visited(self.edges[*e].to);
        edges.filter(inside).collect()
    }

    /// The edges into a node from nodes that the last phase visited, in the order of its visits.
    fn edges_into(&self, node: NodeId) -> Vec<usize> {
        let all = self.nodes[node].incoming.iter().copied();
        let mut edges: Vec<usize> = all
            .filter(|&e| self.is_visited(self.edges[e].from))
            .collect();
        edges.sort_unstable_by_key(|&e| self.nodes[self.edges[e].from].turn);
        edges
    }

    /// The nodes of the last phase in the order of their visits.
    fn in_order(&self) -> Vec<NodeId> {
        let all = 0..self.nodes.len();
        let mut nodes: Vec<NodeId> = all.filter(|&n| self.is_visited(n)).collect();
        nodes.sort_unstable_by_key(|&n| self.nodes[n].turn);
        nodes
    }
}

impl<D: Domain> Unwinding for Vinta<'_, D, Arg<D::Element>> {
    type Encoding = Dag;

    fn begin_phase(&mut self) {
        self.graph.begin_phase(&self.cutpoints);
    }

    fn is_pending(&self, location: Location) -> bool {
        self.graph.future[location].is_some()
    }

    fn visit(&mut self, location: Location) -> Result<(), Stop> {
        self.visit_node(location)
    }

    fn is_safe(&self) -> bool {
        self.graph.nodes[self.graph.error].label == TermId::FALSE
    }

    /// The disjunction of the location's labels in this phase.
    fn reached(&self, location: Location) -> TermId {
        let mut parts: Vec<TermId> = Vec::new();
        let visited = self.graph.visited.get(location);
        for &node in visited.iter().flat_map(|v| &v.nodes) {
            let node = &self.graph.nodes[node];
            // A cumulative label contains all labels before it.
            if self.domain.is_disjunctive() && node.exact && !node.refined {
                parts.clear();
            }
            parts.push(node.label);
        }
        self.terms.or(&parts)
    }

    fn encode(&mut self) -> Result<Unrolled<Dag>, Stop> {
        self.encode_bmc().map(Unrolled::Infeasible)
    }

    fn decode(&self, dag: &Dag) -> Result<Option<Refutation>, Stop> {
        self.decode_bmc(dag)
    }

    /// VINTARDI: DAGITP on the edges and labels, by the interpolation service.
    fn by_certificates(
        &self,
        dag: &Dag,
        interpolator: &mut Interpolator,
    ) -> Result<Vec<TermId>, InterpolationError> {
        interpolator.dag(&dag.problem(&self.terms))
    }

    fn shared(&mut self, dag: &Dag, interpolants: Vec<TermId>) -> Result<Vec<TermId>, Stop> {
        self.share_interpolants(dag, interpolants)
    }

    fn by_projection(&mut self, dag: &Dag) -> Result<Unrolled<Vec<TermId>>, Stop> {
        self.project(dag)
    }

    fn relabel(&mut self, dag: &Dag, interpolants: Vec<TermId>) -> Result<(), Stop> {
        self.relabel_dag(dag, &interpolants)
    }

    fn sizes(&self) -> Vec<(&'static str, usize)> {
        let covered = self.graph.in_order();
        let covered = covered.iter().filter(|&&n| self.graph.nodes[n].covered);
        vec![
            ("nodes", self.graph.nodes.len()),
            ("covered", covered.count()),
        ]
    }

    /// The graph of the last phase: covered nodes are dashed, dead edges are dotted.
    fn picture(&self) -> String {
        let mut picture = Picture::new(&self.terms);
        for node in self.graph.in_order() {
            let Node {
                location,
                label,
                covered,
                ..
            } = self.graph.nodes[node];
            let name = self.cutpoints.name(self.system, location);
            let style = if covered { "dashed" } else { "solid" };
            picture.node(node, name, label, style);
        }
        for edge in self.graph.edges_visited() {
            let edge = &self.graph.edges[edge];
            let clauses = self.cutpoints.actions[edge.action].clauses.iter();
            let ids: Vec<u32> = clauses.map(|&c| self.system.clauses[c].id.0).collect();
            let style = if edge.dead { "dotted" } else { "solid" };
            picture.edge(edge.from, edge.to, &ids, style);
        }
        picture.finished()
    }
}
