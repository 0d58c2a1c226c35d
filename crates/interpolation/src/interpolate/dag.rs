//! DAG interpolants, with or without restricting labels.
//!
//! The formula before a node is that the interpolant of a predecessor holds before one of its
//! incoming edges; the formula after it is that some path leads to the exit. Both are nested
//! formulas that share their parts, so they are linear in the size of the DAG.
//!
//! Invariant: for each completed node, its interpolant, its label and the paths to the exit are
//! unsatisfiable together.

use rustc_hash::FxHashSet;

use super::interpolator::{InterpolationError, InterpolationOrder, Interpolator, Result};
use alphorn_term::{TermId, TermStore};

/// An edge of an [`InterpolationDag`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InterpolationEdge {
    /// The source.
    pub from: usize,
    /// The target.
    pub to: usize,
    /// The formula between the variables of both nodes.
    pub formula: TermId,
}

/// A DAG whose nodes have labels and whose edges have formulas. The variables of a node are the
/// same on all paths to it; two nodes share variables only if edges between them do.
#[derive(Clone, Debug)]
pub struct InterpolationDag {
    /// The formula that restricts each node; `true` for no restriction.
    pub labels: Vec<TermId>,
    /// The edges.
    pub edges: Vec<InterpolationEdge>,
    /// The node where paths begin.
    pub entry: usize,
    /// The node where paths end.
    pub exit: usize,
}

/// A DAG in topological order.
pub(super) struct Ordered {
    pub order: Vec<usize>,
    /// Edges by target, and by source.
    pub incoming: Vec<Vec<usize>>,
    pub outgoing: Vec<Vec<usize>>,
}

impl InterpolationDag {
    pub(super) fn ordered(&self) -> Result<Ordered> {
        let count = self.labels.len();
        let broken = |text: &str| Err(InterpolationError::Input(text.to_owned()));
        let inside = |e: &InterpolationEdge| e.from < count && e.to < count;
        if self.entry >= count || self.exit >= count || !self.edges.iter().all(inside) {
            return broken("a node is not in the DAG");
        }
        if self.entry == self.exit {
            return broken("entry and exit are the same node");
        }
        let mut incoming = vec![Vec::new(); count];
        let mut outgoing = vec![Vec::new(); count];
        for (number, edge) in self.edges.iter().enumerate() {
            incoming[edge.to].push(number);
            outgoing[edge.from].push(number);
        }
        if !incoming[self.entry].is_empty() || !outgoing[self.exit].is_empty() {
            return broken("an edge leads to the entry or from the exit");
        }
        let mut open: Vec<usize> = incoming.iter().map(Vec::len).collect();
        let mut ready: Vec<usize> = (0..count).rev().filter(|&n| open[n] == 0).collect();
        let mut order = Vec::with_capacity(count);
        while let Some(node) = ready.pop() {
            order.push(node);
            for &edge in &outgoing[node] {
                let to = self.edges[edge].to;
                open[to] -= 1;
                if open[to] == 0 {
                    ready.push(to);
                }
            }
        }
        if order.len() != count {
            return broken("the DAG has a cycle");
        }
        Ok(Ordered {
            order,
            incoming,
            outgoing,
        })
    }

    /// For each node: its label, and a path from it to the exit. `parts` are the labels, followed
    /// by the formulas of the edges.
    fn suffixes(&self, ordered: &Ordered, terms: &TermStore, parts: &[TermId]) -> Vec<TermId> {
        let count = self.labels.len();
        let mut result = vec![TermId::FALSE; count];
        for &node in ordered.order.iter().rev() {
            if node == self.exit {
                result[node] = parts[node];
                continue;
            }
            let ways: Vec<TermId> = ordered.outgoing[node]
                .iter()
                .map(|&e| terms.and(&[parts[count + e], result[self.edges[e].to]]))
                .collect();
            result[node] = terms.and(&[parts[node], terms.or(&ways)]);
        }
        result
    }

    /// For each node: its label, and a path from the entry to it.
    fn prefixes(&self, ordered: &Ordered, terms: &TermStore, parts: &[TermId]) -> Vec<TermId> {
        let count = self.labels.len();
        let mut result = vec![TermId::FALSE; count];
        for &node in &ordered.order {
            if node == self.entry {
                result[node] = parts[node];
                continue;
            }
            let ways: Vec<TermId> = ordered.incoming[node]
                .iter()
                .map(|&e| terms.and(&[parts[count + e], result[self.edges[e].from]]))
                .collect();
            result[node] = terms.and(&[parts[node], terms.or(&ways)]);
        }
        result
    }
}

impl Interpolator {
    /// A restricted DAG interpolant (VINTA, definition 4): one formula `I` per node such that along
    /// each edge, `I(u)`, the label of `u` and the edge's formula imply `I(v)`; `I` is `true` at
    /// the entry and `false` at the exit. The variables of `I(v)` occur both in formulas or labels
    /// before `v` and in those after it. If all labels are `true`, this is a DAG interpolant.
    ///
    /// `I` is `false` at nodes that the entry does not reach and `true` at nodes that do not reach
    /// the exit. Labels have to follow along each edge: the label of `u` and the formula imply the
    /// label of `v` (checked with the option `check`).
    ///
    /// # Errors
    /// See [`InterpolationError`](crate::InterpolationError).
    pub fn dag(&mut self, dag: &InterpolationDag) -> Result<Vec<TermId>> {
        self.within_limits(|i| {
            let edges = dag.edges.iter().map(|e| &e.formula);
            i.refuse_quantifiers(dag.labels.iter().chain(edges))?;
            i.dag_interpolants(dag)
        })
    }

    fn dag_interpolants(&mut self, dag: &InterpolationDag) -> Result<Vec<TermId>> {
        let terms = self.terms.clone();
        let ordered = dag.ordered()?;
        let count = dag.labels.len();
        let mut parts = dag.labels.clone();
        parts.extend(dag.edges.iter().map(|e| e.formula));
        let parts = self.minimise(&parts, |terms, parts| {
            dag.suffixes(&ordered, terms, parts)[dag.entry]
        })?;
        let result = match self.options.order {
            InterpolationOrder::Forward => {
                let suffixes = dag.suffixes(&ordered, &terms, &parts);
                let mut result = vec![TermId::TRUE; count];
                for &node in &ordered.order {
                    if node == dag.entry {
                        continue;
                    }
                    let ways: Vec<TermId> = ordered.incoming[node]
                        .iter()
                        .map(|&e| {
                            let from = dag.edges[e].from;
                            terms.and(&[result[from], parts[from], parts[count + e]])
                        })
                        .collect();
                    result[node] = match node == dag.exit {
                        true => TermId::FALSE,
                        false => self.interpolate(terms.or(&ways), suffixes[node])?,
                    };
                }
                result
            }
            InterpolationOrder::Backward => {
                let prefixes = dag.prefixes(&ordered, &terms, &parts);
                let mut result = vec![TermId::FALSE; count];
                for &node in ordered.order.iter().rev() {
                    if node == dag.exit {
                        continue;
                    }
                    if node == dag.entry {
                        result[node] = TermId::TRUE;
                        continue;
                    }
                    let ways: Vec<TermId> = ordered.outgoing[node]
                        .iter()
                        .map(|&e| {
                            let to = dag.edges[e].to;
                            let next = terms.not(result[to]);
                            terms.and(&[parts[node], parts[count + e], parts[to], next])
                        })
                        .collect();
                    result[node] = self.interpolate(prefixes[node], terms.or(&ways))?;
                }
                result
            }
        };
        self.check_dag(dag, &ordered, &result)?;
        Ok(result)
    }
}

/// For each node, the variables of formulas and labels before it, and of those after it; its own
/// label is in both.
pub(super) fn scopes(
    dag: &InterpolationDag,
    ordered: &Ordered,
    terms: &TermStore,
) -> Vec<[FxHashSet<TermId>; 2]> {
    let count = dag.labels.len();
    let mut scopes: Vec<[FxHashSet<TermId>; 2]> = vec![Default::default(); count];
    let enter = |into: &mut FxHashSet<TermId>, formula: TermId| {
        into.extend(terms.free_vars(&[formula]));
    };
    for side in 0..2 {
        let mut order = ordered.order.clone();
        if side == 1 {
            order.reverse();
        }
        for node in order {
            let edges = [&ordered.incoming, &ordered.outgoing][side][node].clone();
            let mut scope = FxHashSet::default();
            enter(&mut scope, dag.labels[node]);
            for edge in edges {
                let edge = &dag.edges[edge];
                enter(&mut scope, edge.formula);
                let other = [edge.from, edge.to][side];
                scope.extend(&scopes[other][side]);
            }
            scopes[node][side] = scope;
        }
    }
    scopes
}
