//! Datatypes in an order in which they can be declared.
//!
//! Invariant: each group is one strongly connected component, so only mutually recursive datatypes
//! share a declaration. Z3 needs this: it rejects an array that is indexed by a datatype of the same
//! declaration ("not co-variant"), recursive or not.

use petgraph::graph::DiGraph;
use rustc_hash::FxHashMap;

use super::{DatatypeId, Sort, SortId, TermStore};

impl TermStore {
    /// `roots` and all datatypes that their fields need, in groups of mutually recursive ones, each
    /// group after those that it needs.
    pub fn datatype_groups(&self, roots: &[DatatypeId]) -> Vec<Vec<DatatypeId>> {
        let mut graph: DiGraph<DatatypeId, ()> = DiGraph::new();
        let mut nodes = FxHashMap::default();
        let mut found = Vec::new();
        for &id in roots {
            nodes.entry(id).or_insert_with(|| {
                found.push(id);
                graph.add_node(id)
            });
        }
        let mut next = 0;
        while let Some(&id) = found.get(next) {
            next += 1;
            let fields = self
                .datatype(id)
                .constructors
                .iter()
                .flat_map(|c| &c.fields);
            let mut sorts: Vec<SortId> = fields.map(|f| f.sort).collect();
            while let Some(sort) = sorts.pop() {
                match self.sort(sort) {
                    Sort::Array(index, element) => sorts.extend([index, element]),
                    Sort::Datatype(inner) => {
                        let target = *nodes.entry(inner).or_insert_with(|| {
                            found.push(inner);
                            graph.add_node(inner)
                        });
                        graph.update_edge(nodes[&id], target, ());
                    }
                    Sort::Bool | Sort::Int | Sort::Real | Sort::BitVec(_) => {}
                }
            }
        }
        // Kosaraju's algorithm is iterative in petgraph and gives the targets of edges first.
        let components = petgraph::algo::kosaraju_scc(&graph);
        let groups = components.into_iter().map(|component| {
            let mut group: Vec<DatatypeId> = component.into_iter().map(|n| graph[n]).collect();
            group.sort_unstable();
            group
        });
        groups.collect()
    }
}
