//! The predicate dependency graph: strongly connected components, weak topological order.
//!
//! An edge leads from a body predicate to the head predicate, from [`DependencyGraph::ENTRY`] to
//! heads of clauses without body predicates, and to [`DependencyGraph::QUERY`] for heads `false`.
//! Invariant: node numbers are dense; predicates not in use have no node.

use std::fmt::Write;

use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

use super::{PredicateId, System};

/// The dependency graph of a system.
pub struct DependencyGraph {
    /// Nodes: entry, query, then predicates. Edges carry the clause's index in the system.
    graph: DiGraph<Option<PredicateId>, usize>,
    nodes: FxHashMap<PredicateId, NodeIndex>,
}

/// An element of a weak topological order (Bourdoncle, FMPA 1993).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WtoElement {
    Vertex(PredicateId),
    /// A head, where widening happens, and the rest of its component.
    Component(PredicateId, Vec<WtoElement>),
}

/// A hierarchical ordering of the predicates in which every cycle contains a component's head.
pub type WeakTopologicalOrder = Vec<WtoElement>;

impl DependencyGraph {
    /// Builds the graph; a clause with several body predicates gives one edge for each.
    pub fn new(system: &System) -> Self {
        let mut graph = DiGraph::new();
        let entry = graph.add_node(None);
        let query = graph.add_node(None);
        let mut nodes = FxHashMap::default();
        for predicate in system.used_predicates() {
            nodes.insert(predicate, graph.add_node(Some(predicate)));
        }
        for (index, clause) in system.clauses.iter().enumerate() {
            let target = clause.head.as_ref().map_or(query, |h| nodes[&h.predicate]);
            if clause.body.is_empty() {
                graph.add_edge(entry, target, index);
            }
            for atom in &clause.body {
                graph.add_edge(nodes[&atom.predicate], target, index);
            }
        }
        DependencyGraph { graph, nodes }
    }

    /// Strongly connected components of predicates, premises before what uses them.
    pub fn components(&self) -> Vec<Vec<PredicateId>> {
        // Tarjan's algorithm in petgraph is recursive; Kosaraju's is not.
        let mut components: Vec<Vec<PredicateId>> = petgraph::algo::kosaraju_scc(&self.graph)
            .into_iter()
            .map(|c| {
                c.into_iter()
                    .filter_map(|n| self.graph[n])
                    .collect::<Vec<_>>()
            })
            .filter(|c| !c.is_empty())
            .collect();
        components.reverse();
        components
    }

    /// Whether the predicate depends on itself, directly or through others.
    pub fn recursive(&self) -> rustc_hash::FxHashSet<PredicateId> {
        let mut result = rustc_hash::FxHashSet::default();
        for component in self.components() {
            let on_cycle = component.len() > 1 || {
                let node = self.nodes[&component[0]];
                self.graph.contains_edge(node, node)
            };
            if on_cycle {
                result.extend(component);
            }
        }
        result
    }

    /// A weak topological order: components decomposed recursively by removing a head each time.
    /// The head is the component's member that is reached first from outside. Deviation from
    /// Bourdoncle: components come from Kosaraju's algorithm per level, on an explicit work list,
    /// so that the depth of nesting costs no stack.
    pub fn weak_topological_order(&self) -> WeakTopologicalOrder {
        // Elements are built bottom-up in an arena: each task decomposes one set of nodes.
        struct Task {
            members: Vec<NodeIndex>,
            head: Option<PredicateId>,
            parent: usize,
        }
        let mut order: Vec<Task> = vec![Task {
            members: self.nodes.values().copied().collect(),
            head: None,
            parent: usize::MAX,
        }];
        order[0].members.sort_unstable();
        // children[t] lists, in order, vertices or the tasks of nested components.
        let mut children: Vec<Vec<Result<PredicateId, usize>>> = vec![Vec::new()];
        let mut next = 0;
        while next < order.len() {
            let members = order[next].members.clone();
            let inside: rustc_hash::FxHashSet<NodeIndex> = members.iter().copied().collect();
            let sub = self.graph.filter_map(
                |n, w| inside.contains(&n).then_some((n, *w)),
                |_, e| Some(*e),
            );
            let mut components = petgraph::algo::kosaraju_scc(&sub);
            components.reverse();
            for component in components {
                let first = component[0];
                if component.len() == 1 && !sub.contains_edge(first, first) {
                    let predicate = sub[first].1.expect("only predicates are ordered");
                    children[next].push(Ok(predicate));
                    continue;
                }
                let mut originals: Vec<NodeIndex> = component.iter().map(|&n| sub[n].0).collect();
                originals.sort_unstable();
                let set: rustc_hash::FxHashSet<NodeIndex> = originals.iter().copied().collect();
                let entered = |n: &&NodeIndex| {
                    self.graph
                        .neighbors_directed(**n, petgraph::Direction::Incoming)
                        .any(|m| !set.contains(&m))
                };
                let head = originals
                    .iter()
                    .find(entered)
                    .or(originals.first())
                    .copied();
                let head = head.expect("a component has a member");
                let rest = originals.into_iter().filter(|&n| n != head).collect();
                children[next].push(Err(order.len()));
                order.push(Task {
                    members: rest,
                    head: self.graph[head],
                    parent: next,
                });
                children.push(Vec::new());
            }
            next += 1;
        }
        // Tasks come after their parents, so assemble from the back.
        let mut built: Vec<Option<Vec<WtoElement>>> = vec![None; order.len()];
        for task in (0..order.len()).rev() {
            let elements = std::mem::take(&mut children[task])
                .into_iter()
                .map(|child| match child {
                    Ok(predicate) => WtoElement::Vertex(predicate),
                    Err(inner) => WtoElement::Component(
                        order[inner].head.expect("a component has a head"),
                        built[inner].take().expect("children are built first"),
                    ),
                })
                .collect();
            debug_assert!(task == 0 || order[task].parent < task);
            built[task] = Some(elements);
        }
        built[0].take().unwrap_or_default()
    }

    /// The graph in Graphviz's language, predicates by name, edges labelled with the number of the
    /// clause in the system.
    pub fn to_graphviz(&self, system: &System) -> String {
        let mut out = String::from("digraph dependencies {\n  rankdir=TB;\n");
        for node in self.graph.node_indices() {
            let (label, shape) = match self.graph[node] {
                Some(p) => (system.predicate(p).name.clone(), "box"),
                None if node.index() == 0 => ("entry".to_owned(), "circle"),
                None => ("false".to_owned(), "doublecircle"),
            };
            let label = label.replace('\\', "\\\\").replace('"', "\\\"");
            writeln!(
                out,
                "  n{} [label=\"{label}\", shape={shape}];",
                node.index()
            )
            .expect("string");
        }
        for edge in self.graph.edge_indices() {
            let (from, to) = self
                .graph
                .edge_endpoints(edge)
                .expect("an edge of this graph");
            writeln!(
                out,
                "  n{} -> n{} [label=\"{}\"];",
                from.index(),
                to.index(),
                self.graph[edge] + 1
            )
            .expect("string");
        }
        out.push_str("}\n");
        out
    }
}
