//! The dependency graph of predicates: strongly connected components, weak topological order.
//!
//! There is an edge from each body predicate of a clause to its head predicate, from an entry node
//! to the heads of clauses without body atoms, and to a query node in place of heads `false`.
//!
//! Invariant: the predicates with a node are those that occur in clauses.

use std::fmt::Write;

use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

use super::{PredicateId, System};

/// The dependency graph of a system.
pub struct DependencyGraph {
    /// Nodes: entry, query, then predicates. Edges are labelled with the position of the clause.
    graph: DiGraph<Option<PredicateId>, usize>,
    nodes: FxHashMap<PredicateId, NodeIndex>,
}

/// An element of a weak topological order (Bourdoncle, FMPA 1993).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WtoElement {
    /// A predicate that is not the head of a component.
    Vertex(PredicateId),
    /// A component: its head, where engines widen, and the elements that follow up to `end`.
    Component {
        /// The head.
        head: PredicateId,
        /// The position after the last element of the component.
        end: usize,
    },
}

/// A hierarchical order of the predicates in which each cycle contains the head of a component. It is
/// a flat list, since components may be nested as deep as there are predicates.
pub type WeakTopologicalOrder = Vec<WtoElement>;

impl DependencyGraph {
    /// The dependency graph of a system.
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

    /// The strongly connected components of predicates, in topological order: body predicates before
    /// head predicates.
    pub fn components(&self) -> Vec<Vec<PredicateId>> {
        // In petgraph, Tarjan's algorithm is recursive and Kosaraju's is not.
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

    /// The predicates that depend on themselves, directly or through others.
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

    /// A weak topological order: components are decomposed repeatedly by removing their heads. The
    /// head is the component's first member with an edge from outside. Deviation from Bourdoncle: an
    /// explicit stack, since components may be nested deeply. It takes time linear in the edges for
    /// each level of nesting.
    pub fn weak_topological_order(&self) -> WeakTopologicalOrder {
        enum Work {
            Order(Vec<NodeIndex>),
            Element(Vec<NodeIndex>),
            Close(usize),
        }
        let mut members: Vec<NodeIndex> = self.nodes.values().copied().collect();
        members.sort_unstable();
        let mut search = ComponentSearch::new(self.graph.node_count());
        let mut order = WeakTopologicalOrder::new();
        let mut work = vec![Work::Order(members)];
        while let Some(item) = work.pop() {
            match item {
                Work::Order(members) => {
                    // The last components come first, which is the order for a stack.
                    let components = search.run(&self.graph, &members);
                    work.extend(components.into_iter().map(Work::Element));
                }
                Work::Element(mut component) => {
                    component.sort_unstable();
                    let first = component[0];
                    let predicate =
                        |n: NodeIndex| self.graph[n].expect("only predicates are ordered");
                    if component.len() == 1 && !self.graph.contains_edge(first, first) {
                        order.push(WtoElement::Vertex(predicate(first)));
                        continue;
                    }
                    let entered = |n: &NodeIndex| {
                        let mut from = self.graph.neighbors_directed(*n, Direction::Incoming);
                        from.any(|m| component.binary_search(&m).is_err())
                    };
                    let head = component.iter().copied().find(entered).unwrap_or(first);
                    work.push(Work::Close(order.len()));
                    order.push(WtoElement::Component {
                        head: predicate(head),
                        end: 0,
                    });
                    component.retain(|&n| n != head);
                    work.push(Work::Order(component));
                }
                Work::Close(at) => {
                    let past = order.len();
                    if let WtoElement::Component { end, .. } = &mut order[at] {
                        *end = past;
                    }
                }
            }
        }
        order
    }

    /// The predicates in the weak topological order.
    pub fn order(&self) -> Vec<PredicateId> {
        let elements = self.weak_topological_order().into_iter();
        let predicate = |element| match element {
            WtoElement::Vertex(predicate) => predicate,
            WtoElement::Component { head, .. } => head,
        };
        elements.map(predicate).collect()
    }

    /// The graph in Graphviz's language: predicates by name, edges with the number of the clause in
    /// the system, from 1.
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

/// Strongly connected components of subgraphs (Tarjan, SICOMP 1972), iterative. A run takes time
/// linear in its subgraph.
struct ComponentSearch {
    /// By node, the last run that it took part in; zero for none, or if its component was found.
    run: Vec<u32>,
    /// By node, its number in the order of discovery; zero for none.
    reached: Vec<u32>,
    low: Vec<u32>,
    runs: u32,
}

impl ComponentSearch {
    fn new(nodes: usize) -> Self {
        ComponentSearch {
            run: vec![0; nodes],
            reached: vec![0; nodes],
            low: vec![0; nodes],
            runs: 0,
        }
    }

    /// The components of the subgraph of `members`, targets of edges before their sources.
    fn run(
        &mut self,
        graph: &DiGraph<Option<PredicateId>, usize>,
        members: &[NodeIndex],
    ) -> Vec<Vec<NodeIndex>> {
        self.runs += 1;
        for &node in members {
            self.run[node.index()] = self.runs;
            self.reached[node.index()] = 0;
        }
        let mut components = Vec::new();
        let mut open: Vec<NodeIndex> = Vec::new();
        let mut time = 0;
        // From the back, so that independent members keep their order.
        for &root in members.iter().rev() {
            if self.reached[root.index()] != 0 {
                continue;
            }
            let mut path = Vec::new();
            let mut entering = Some(root);
            loop {
                if let Some(node) = entering.take() {
                    time += 1;
                    self.reached[node.index()] = time;
                    self.low[node.index()] = time;
                    open.push(node);
                    path.push((node, graph.neighbors(node)));
                }
                let Some((node, targets)) = path.last_mut() else {
                    break;
                };
                let node = *node;
                if let Some(target) = targets.next() {
                    // Nodes whose component was found do not belong to the run any more.
                    if self.run[target.index()] != self.runs {
                        continue;
                    }
                    match self.reached[target.index()] {
                        0 => entering = Some(target),
                        reached => {
                            let low = &mut self.low[node.index()];
                            *low = (*low).min(reached);
                        }
                    }
                    continue;
                }
                path.pop();
                let low = self.low[node.index()];
                if let Some((parent, _)) = path.last() {
                    let above = &mut self.low[parent.index()];
                    *above = (*above).min(low);
                }
                if low == self.reached[node.index()] {
                    let start = open.iter().rposition(|&n| n == node).unwrap_or(0);
                    let component = open.split_off(start);
                    for member in &component {
                        self.run[member.index()] = 0;
                    }
                    components.push(component);
                }
            }
        }
        components
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::Atom;
    use alphorn_term::{Random, TermId, TermStore};

    /// Nullary predicates and a clause for each edge; zero is the entry.
    fn system(count: usize, edges: &[(usize, usize)]) -> System {
        let mut system = System::new(Rc::new(TermStore::new()));
        for n in 1..=count {
            system.add_predicate(&format!("p{n}"), &[]);
        }
        let atom = |n: usize| Atom {
            predicate: PredicateId(n as u32 - 1),
            args: Vec::new(),
        };
        for &(from, to) in edges {
            let body = (from > 0).then(|| atom(from)).into_iter().collect();
            system.add_clause(body, TermId::TRUE, Some(atom(to)));
        }
        system
    }

    fn show(order: &[WtoElement]) -> String {
        let mut ends = Vec::new();
        let mut out = String::new();
        for (at, element) in order.iter().enumerate() {
            while ends.last() == Some(&at) {
                ends.pop();
                out.push(')');
            }
            match *element {
                WtoElement::Vertex(p) => write!(out, " {}", p.0 + 1).unwrap(),
                WtoElement::Component { head, end } => {
                    write!(out, " ({}", head.0 + 1).unwrap();
                    ends.push(end);
                }
            }
        }
        out + &")".repeat(ends.len())
    }

    /// The condition of a weak topological order: an edge backwards leads to the head of a component
    /// that contains its source.
    fn check(order: &[WtoElement], edges: &[(usize, usize)]) {
        let mut at = FxHashMap::default();
        for (position, element) in order.iter().enumerate() {
            let (WtoElement::Vertex(p) | WtoElement::Component { head: p, .. }) = *element;
            assert!(at.insert(p.index() + 1, position).is_none());
        }
        for &(from, to) in edges.iter().filter(|e| e.0 > 0) {
            let back = at[&to] <= at[&from];
            let inside = match order[at[&to]] {
                WtoElement::Component { end, .. } => at[&from] < end,
                WtoElement::Vertex(_) => false,
            };
            assert!(!back || inside, "{from} to {to} in {}", show(order));
        }
    }

    #[test]
    fn the_order_of_the_paper() {
        let edges = [
            (0, 1),
            (1, 2),
            (2, 3),
            (2, 8),
            (3, 4),
            (4, 5),
            (4, 7),
            (5, 6),
            (6, 5),
            (6, 7),
            (7, 3),
            (7, 8),
        ];
        let graph = DependencyGraph::new(&system(8, &edges));
        let order = graph.weak_topological_order();
        assert_eq!(show(&order), " 1 2 (3 4 (5 6) 7) 8");
        check(&order, &edges);
        let mut components = graph.components();
        let at = |p: u32| {
            components
                .iter()
                .position(|c| c.contains(&PredicateId(p - 1)))
        };
        assert!(at(1) < at(2) && at(2) < at(3) && at(3) < at(8));
        components.sort_by_key(Vec::len);
        let sizes: Vec<usize> = components.iter().map(Vec::len).collect();
        assert_eq!(sizes, [1, 1, 1, 5]);
        assert_eq!(graph.recursive().len(), 5);
        let single = DependencyGraph::new(&system(1, &[(0, 1), (1, 1)]));
        assert_eq!(show(&single.weak_topological_order()), " (1)");
        assert_eq!(single.recursive().len(), 1);
    }

    #[test]
    fn random_graphs_have_an_order() {
        let mut random = Random::new(1);
        let mut next = |bound: usize| random.below(bound);
        for round in 0..300 {
            let count = 1 + next(12);
            let mut edges: Vec<(usize, usize)> = (1..=count).map(|n| (0, n)).collect();
            edges.truncate(count - next(count));
            edges.extend((0..next(3 * count)).map(|_| (1 + next(count), 1 + next(count))));
            let order = DependencyGraph::new(&system(count, &edges)).weak_topological_order();
            check(&order, &edges);
            assert!(order.len() <= count, "round {round}");
        }
    }

    #[test]
    fn long_chains_and_deep_nesting() {
        let long: Vec<(usize, usize)> = (0..100_000).map(|n| (n, n + 1)).collect();
        let loops: Vec<(usize, usize)> = (1..=100_000).map(|n| (n, n)).collect();
        let edges: Vec<(usize, usize)> = long.into_iter().chain(loops).collect();
        let graph = DependencyGraph::new(&system(100_000, &edges));
        let order = graph.weak_topological_order();
        assert_eq!(order.len(), 100_000);
        assert_eq!(graph.components().len(), 100_000);
        // Each component is the previous one without its head.
        let mut edges = vec![(0, 1)];
        for n in 1..2000 {
            edges.extend([(n, n + 1), (n + 1, n)]);
        }
        let order = DependencyGraph::new(&system(2000, &edges)).weak_topological_order();
        check(&order, &edges);
        assert!(matches!(order[0], WtoElement::Component { end: 2000, .. }));
    }
}
