//! ENCODEBMC: the graph as formulas; and DECODEBMC: derivations from their models.
//!
//! Each node has its own variables for the arguments of its location's predicate, and each edge has
//! copies of its clauses between the variables of its ends. No variables for merging are needed, as
//! all edges into a node write the same ones.
//!
//! Invariant: only nodes and edges on a path from the entry to the error are encoded.

use rustc_hash::FxHashMap;

use super::{Arg, NodeId};
use crate::vinta::failed;
use crate::vinta::search::Vinta;
use alphorn_domain::Domain;
use alphorn_interpolation::{InterpolationDag, InterpolationEdge};
use alphorn_proof::{ClauseCopy, Stop, gave_up, undefined};
use alphorn_smt::{SatResult, SmtModel};
use alphorn_term::{SortId, TermId, TermStore};
use alphorn_witness::Refutation;

/// An edge of the DAG.
pub(in crate::vinta) struct DagEdge {
    /// The index of the source in [`Dag::nodes`].
    pub from: usize,
    /// The index of the target.
    pub to: usize,
    /// Its clauses between the variables of both nodes.
    pub steps: Vec<ClauseCopy>,
}

/// The part of the graph between entry and error.
pub(in crate::vinta) struct Dag {
    /// In topological order; the entry first, the error last.
    pub nodes: Vec<NodeId>,
    /// By node: the variables for its location's formal variables.
    pub vars: Vec<Vec<TermId>>,
    /// By node: its label over these variables, `true` without restriction.
    pub labels: Vec<TermId>,
    /// By node: the literal that a derivation visits it.
    pub literals: Vec<TermId>,
    /// The edges between these nodes.
    pub edges: Vec<DagEdge>,
    /// By node: the edges into it.
    pub incoming: Vec<Vec<usize>>,
    /// By node: the edges out of it.
    pub outgoing: Vec<Vec<usize>>,
}

impl Dag {
    /// The input of DAGITP: the edges, each with the label of its source (`true` without
    /// restriction).
    pub fn problem(&self, terms: &TermStore) -> InterpolationDag {
        let edges = self.edges.iter().map(|edge| {
            let steps: Vec<TermId> = edge.steps.iter().map(|s| s.formula).collect();
            InterpolationEdge {
                from: edge.from,
                to: edge.to,
                formula: terms.or(&steps),
            }
        });
        InterpolationDag {
            labels: self.labels.clone(),
            edges: edges.collect(),
            entry: 0,
            exit: self.nodes.len() - 1,
        }
    }

    /// The step into the node that the model takes, and the index of the step's source.
    pub fn taken(&self, place: usize, model: &SmtModel) -> Result<(usize, &ClauseCopy), Stop> {
        let edges = self.incoming[place].iter().map(|&e| &self.edges[e]);
        edges
            .flat_map(|e| e.steps.iter().map(move |s| (e.from, s)))
            .find(|(_, s)| model.satisfies(s.literal))
            .ok_or_else(|| failed("no step leads to a node"))
    }
}

impl<D: Domain> Vinta<'_, D, Arg<D::Element>> {
    /// ENCODEBMC: the DAG of the last phase; with restriction, it has labels and no dead edges.
    pub(super) fn encode_bmc(&mut self) -> Result<Dag, Stop> {
        let restricted = self.options.restricted();
        let visited = self.graph.in_order();
        let mut live = self.graph.edges_visited();
        live.retain(|&e| !(restricted && self.graph.edges[e].dead));
        let mut after = vec![false; self.graph.nodes.len()];
        let mut before = vec![false; self.graph.nodes.len()];
        let mut into: Vec<Vec<NodeId>> = vec![Vec::new(); self.graph.nodes.len()];
        let mut out: Vec<Vec<NodeId>> = vec![Vec::new(); self.graph.nodes.len()];
        for &edge in &live {
            let edge = &self.graph.edges[edge];
            into[edge.to].push(edge.from);
            out[edge.from].push(edge.to);
        }
        // Visits are in topological order.
        after[self.graph.entry] = true;
        before[self.graph.error] = true;
        for &node in &visited {
            after[node] |= into[node].iter().any(|&n| after[n]);
        }
        for &node in visited.iter().rev() {
            before[node] |= out[node].iter().any(|&n| before[n]);
        }
        let nodes: Vec<NodeId> = visited
            .into_iter()
            .filter(|&n| after[n] && before[n])
            .collect();
        let place: FxHashMap<NodeId, usize> =
            nodes.iter().enumerate().map(|(i, &n)| (n, i)).collect();
        let vars: Vec<Vec<TermId>> = nodes.iter().map(|&n| self.vars_of(n)).collect();
        let terms = self.terms.clone();
        let literal = |name: &str| terms.fresh_var(name, SortId::BOOL);
        let mut labels = Vec::with_capacity(nodes.len());
        for (&node, vars) in nodes.iter().zip(&vars) {
            let label = match restricted && node != self.graph.error {
                true => {
                    let node = &self.graph.nodes[node];
                    self.over(node.location, node.label, vars)
                }
                false => TermId::TRUE,
            };
            labels.push(label);
        }
        let mut dag = Dag {
            literals: nodes.iter().map(|_| literal("node")).collect(),
            edges: Vec::new(),
            incoming: vec![Vec::new(); nodes.len()],
            outgoing: vec![Vec::new(); nodes.len()],
            vars,
            labels,
            nodes,
        };
        for edge in live {
            let edge = &self.graph.edges[edge];
            let (Some(&from), Some(&to)) = (place.get(&edge.from), place.get(&edge.to)) else {
                continue;
            };
            let clauses = self.cutpoints.actions[edge.action].clauses.iter();
            let steps = clauses.map(|&clause| {
                let arguments = dag.vars[from].iter().chain(&dag.vars[to]).copied();
                ClauseCopy::new(self.system, clause, arguments, "step")
            });
            let steps = steps.collect();
            dag.incoming[to].push(dag.edges.len());
            dag.outgoing[from].push(dag.edges.len());
            dag.edges.push(DagEdge { from, to, steps });
        }
        if dag.nodes.first() != Some(&self.graph.entry)
            || dag.nodes.last() != Some(&self.graph.error)
        {
            return Err(failed("no path leads to the error although it is reached"));
        }
        Ok(dag)
    }

    /// The variables of the node, made at the first call.
    fn vars_of(&mut self, node: NodeId) -> Vec<TermId> {
        if let Some(vars) = &self.graph.nodes[node].vars {
            return vars.clone();
        }
        let vars = self.fresh_formals(self.graph.nodes[node].location);
        self.graph.nodes[node].vars = Some(vars.clone());
        vars
    }

    /// DECODEBMC: a derivation of `false` along the DAG, if there is one.
    pub(super) fn decode_bmc(&self, dag: &Dag) -> Result<Option<Refutation>, Stop> {
        let terms = self.terms.clone();
        let mut solver = self.smt.solver();
        for (place, &here) in dag.literals.iter().enumerate() {
            solver.assert(terms.implies(here, dag.labels[place]));
            let mut choices = Vec::new();
            for &edge in &dag.incoming[place] {
                let edge = &dag.edges[edge];
                for step in &edge.steps {
                    let there = dag.literals[edge.from];
                    solver.assert(terms.implies(step.literal, there));
                    solver.assert(terms.implies(step.literal, step.formula));
                    choices.push(step.literal);
                }
            }
            if place > 0 {
                solver.assert(terms.implies(here, terms.or(&choices)));
            }
        }
        solver.assert(dag.literals[dag.nodes.len() - 1]);
        match solver.check(&[]) {
            SatResult::Unsat => Ok(None),
            SatResult::Unknown(why) => Err(gave_up(&why, self.cx)),
            SatResult::Sat => {
                let model = solver.model();
                let model = model.ok_or_else(|| failed("no model of a derivation"))?;
                self.derivation(dag, &model).map(Some)
            }
        }
    }

    /// The derivation that a chain of steps from the entry to the error has.
    pub(super) fn decode_chain(&self, chain: &[&ClauseCopy]) -> Result<Refutation, Stop> {
        let mut solver = self.smt.solver();
        chain.iter().for_each(|step| solver.assert(step.formula));
        match solver.check(&[]) {
            SatResult::Unsat => match chain.iter().all(|step| step.total == step.formula) {
                true => Err(failed("a path to the error is infeasible")),
                false => Err(undefined()),
            },
            SatResult::Unknown(why) => Err(gave_up(&why, self.cx)),
            SatResult::Sat => {
                let model = solver.model();
                let model = model.ok_or_else(|| failed("no model of a derivation"))?;
                let chain = chain.iter().copied();
                Ok(ClauseCopy::derivation(chain, self.system, &model)?)
            }
        }
    }

    /// Reads a derivation off a model of the DAG.
    fn derivation(&self, dag: &Dag, model: &SmtModel) -> Result<Refutation, Stop> {
        let mut place = dag.nodes.len() - 1;
        let mut chain: Vec<&ClauseCopy> = Vec::new();
        while place > 0 {
            let (from, step) = dag.taken(place, model)?;
            chain.push(step);
            place = from;
        }
        let chain = chain.into_iter().rev();
        Ok(ClauseCopy::derivation(chain, self.system, model)?)
    }
}
