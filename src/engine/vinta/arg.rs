//! The abstract reachability graph, and its picture.
//!
//! Invariant: edges lead from nodes to nodes that are visited later in the same phase; a node that
//! the last phase did not visit is no part of the graph until a phase comes back to it.

use std::fmt::Write;

use super::cutpoints::{Cutpoints, ERROR, Location};
use crate::chc::System;
use crate::term::{Printer, TermId, TermStore};

/// A node, by number.
pub(super) type NodeId = usize;

/// An unrolling of a location.
pub(super) struct Node<E> {
    pub location: Location,
    /// Over the formal variables of the location's predicate.
    pub label: TermId,
    /// What the domain knows of the label: all of it, and nothing else if `exact`.
    pub element: E,
    pub exact: bool,
    /// What of the element no node before it has explored.
    pub frontier: E,
    /// The label is to be computed from those of the predecessors.
    pub marked: bool,
    /// The label is from the last refinement.
    pub refined: bool,
    pub covered: bool,
    /// The phase of the last visit and its place in it.
    pub phase: usize,
    pub turn: usize,
    pub outgoing: Vec<usize>,
    pub incoming: Vec<usize>,
    /// What the location's formal variables are called here when the graph is encoded.
    pub vars: Option<Vec<TermId>>,
}

/// An edge, by an action.
pub(super) struct Edge {
    pub from: NodeId,
    pub to: NodeId,
    pub action: usize,
    /// Nothing that the source's label describes takes it.
    pub dead: bool,
}

/// The graph.
pub(super) struct Arg<E> {
    pub nodes: Vec<Node<E>>,
    pub edges: Vec<Edge>,
    /// The number of the last phase.
    pub phase: usize,
}

/// Labels longer than this are cut off in a picture.
const LONGEST: usize = 400;

impl<E: Clone> Arg<E> {
    /// A graph without nodes.
    pub fn new() -> Self {
        Arg {
            nodes: Vec::new(),
            edges: Vec::new(),
            phase: 0,
        }
    }

    /// A node that is yet to be labelled.
    pub fn add_node(&mut self, location: Location, label: TermId, element: E) -> NodeId {
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

    /// Lets the action lead from the node to another, instead of wherever it led before.
    pub fn connect(&mut self, from: NodeId, to: NodeId, action: usize) {
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
    pub fn disconnect(&mut self, edge: usize) {
        let Edge { from, to, .. } = self.edges[edge];
        self.nodes[from].outgoing.retain(|&e| e != edge);
        self.nodes[to].incoming.retain(|&e| e != edge);
    }

    /// Removes the edge by which the action leaves the node.
    pub fn cut(&mut self, from: NodeId, action: usize) {
        if let Some(edge) = self.edge_by(from, action) {
            self.disconnect(edge);
        }
    }

    /// The edge by which the action leaves the node.
    fn edge_by(&self, from: NodeId, action: usize) -> Option<usize> {
        let outgoing = self.nodes[from].outgoing.iter().copied();
        let mut of_action = outgoing.filter(|&e| self.edges[e].action == action);
        of_action.next()
    }

    /// Where the action leads from the node, if it was taken there before.
    pub fn child(&self, from: NodeId, action: usize) -> Option<NodeId> {
        self.edge_by(from, action).map(|e| self.edges[e].to)
    }

    /// Whether the last phase visited the node.
    pub fn is_visited(&self, node: NodeId) -> bool {
        self.nodes[node].phase == self.phase
    }

    /// The edges between nodes of the last phase.
    pub fn edges_visited(&self) -> Vec<usize> {
        let visited = (0..self.nodes.len()).filter(|&n| self.is_visited(n));
        let edges = visited.flat_map(|n| self.nodes[n].outgoing.iter().copied());
        let inside = |e: &usize| self.is_visited(self.edges[*e].to);
        edges.filter(inside).collect()
    }

    /// The edges into a node from nodes that the last phase visited, in the order of its visits.
    pub fn edges_into(&self, node: NodeId) -> Vec<usize> {
        let all = self.nodes[node].incoming.iter().copied();
        let mut edges: Vec<usize> = all
            .filter(|&e| self.is_visited(self.edges[e].from))
            .collect();
        edges.sort_unstable_by_key(|&e| self.nodes[self.edges[e].from].turn);
        edges
    }

    /// The nodes of the last phase in the order of their visits.
    pub fn visited(&self) -> Vec<NodeId> {
        let all = 0..self.nodes.len();
        let mut nodes: Vec<NodeId> = all.filter(|&n| self.is_visited(n)).collect();
        nodes.sort_unstable_by_key(|&n| self.nodes[n].turn);
        nodes
    }

    /// The graph of the last phase in Graphviz's language: covered nodes are dashed, edges that
    /// nothing takes dotted.
    pub fn to_graphviz(&self, system: &System, cutpoints: &Cutpoints) -> String {
        let mut out = String::from("digraph arg {\n  rankdir=TB;\n  node [shape=box];\n");
        let mut line = |text: String| writeln!(out, "  {text}").expect("a string takes all");
        for node in self.visited() {
            let Node {
                location,
                label,
                covered,
                ..
            } = self.nodes[node];
            let name = match cutpoints.predicates[location] {
                Some(predicate) => system.predicate(predicate).name.clone(),
                None if location == ERROR => "false".to_owned(),
                None => "entry".to_owned(),
            };
            let label = printed(&system.terms, label);
            let text = quoted(&format!("{node}: {name}\n{label}"));
            let style = if covered { "dashed" } else { "solid" };
            line(format!("n{node} [label=\"{text}\", style={style}];"));
        }
        for edge in self.edges_visited() {
            let edge = &self.edges[edge];
            let clauses = &cutpoints.actions[edge.action].clauses;
            let ids: Vec<String> = clauses
                .iter()
                .map(|&c| system.clauses[c].id.0.to_string())
                .collect();
            let style = if edge.dead { "dotted" } else { "solid" };
            line(format!(
                "n{} -> n{} [label=\"{}\", style={style}];",
                edge.from,
                edge.to,
                ids.join(" ")
            ));
        }
        out.push_str("}\n");
        out
    }
}

/// A formula, cut off where it gets long.
pub(super) fn printed(terms: &TermStore, formula: TermId) -> String {
    let mut text = Printer::new(terms).term(formula);
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// For a label in Graphviz's language.
pub(super) fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    escaped.replace('\n', "\\n")
}
