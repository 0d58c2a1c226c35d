//! ENCODEBMC: the graph as formulas, and derivations from their models.
//!
//! Each node has variables of its own for what its location's predicate is about, each edge has
//! copies of its clauses between the variables of its ends. No variables for merging are needed, as
//! all edges into a node write the same ones.
//!
//! Invariant: only nodes and edges on a way from the entry to the error are encoded.

use rustc_hash::FxHashMap;

use super::arg::NodeId;
use super::{Stop, Vinta, failed, gave_up};
use crate::domain::Domain;
use crate::smt::{SatResult, SmtModel};
use crate::term::{SortId, TermId};
use crate::witness::{Fact, Refutation, RefutationStep};

/// A clause between the variables of two nodes.
#[derive(Clone)]
pub(super) struct Step {
    /// Index in the system.
    pub clause: usize,
    /// Stands for the step.
    pub literal: TermId,
    /// The clause's variables here, in its order.
    pub vars: Vec<TermId>,
    pub formula: TermId,
}

/// An edge of the DAG.
pub(super) struct DagEdge {
    /// Places in [`Dag::nodes`].
    pub from: usize,
    pub to: usize,
    pub steps: Vec<Step>,
}

/// The part of the graph between entry and error.
pub(super) struct Dag {
    /// In topological order; the entry first, the error last.
    pub nodes: Vec<NodeId>,
    /// By node: what its location's formal variables are here.
    pub vars: Vec<Vec<TermId>>,
    /// By node: its label over these variables, `true` without restriction.
    pub labels: Vec<TermId>,
    /// By node: stands for being there.
    pub literals: Vec<TermId>,
    pub edges: Vec<DagEdge>,
    /// By node.
    pub incoming: Vec<Vec<usize>>,
    pub outgoing: Vec<Vec<usize>>,
}

impl<D: Domain> Vinta<'_, D> {
    /// The DAG of the last phase, with labels and without dead edges if `restricted`.
    pub(super) fn encode(&mut self, restricted: bool) -> Dag {
        let visited = self.arg.visited();
        let mut live = self.arg.edges_visited();
        live.retain(|&e| !(restricted && self.arg.edges[e].dead));
        let mut after = vec![false; self.arg.nodes.len()];
        let mut before = vec![false; self.arg.nodes.len()];
        let mut into: Vec<Vec<NodeId>> = vec![Vec::new(); self.arg.nodes.len()];
        let mut out: Vec<Vec<NodeId>> = vec![Vec::new(); self.arg.nodes.len()];
        for &edge in &live {
            let edge = &self.arg.edges[edge];
            into[edge.to].push(edge.from);
            out[edge.from].push(edge.to);
        }
        // Visits are in topological order.
        after[self.entry] = true;
        before[self.error] = true;
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
            let label = match restricted && node != self.error {
                true => self.over(node, self.arg.nodes[node].label, vars),
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
            let edge = &self.arg.edges[edge];
            let (Some(&from), Some(&to)) = (place.get(&edge.from), place.get(&edge.to)) else {
                continue;
            };
            let mut steps = Vec::new();
            for &clause in &self.cutpoints.actions[edge.action].clauses {
                let arguments = dag.vars[from].iter().chain(&dag.vars[to]).copied();
                let mut map: FxHashMap<TermId, TermId> = self.system.clauses[clause]
                    .atoms()
                    .flat_map(|a| a.args.iter().copied())
                    .zip(arguments)
                    .collect();
                let own = self.system.clauses[clause].vars(&terms);
                let vars = own.iter().map(|&v| {
                    *map.entry(v)
                        .or_insert_with(|| terms.fresh_var(terms.var_name(v), terms.sort_of(v)))
                });
                let vars = vars.collect();
                steps.push(Step {
                    clause,
                    literal: literal("step"),
                    vars,
                    formula: terms.substitute(self.system.clauses[clause].constraint, &map),
                });
            }
            dag.incoming[to].push(dag.edges.len());
            dag.outgoing[from].push(dag.edges.len());
            dag.edges.push(DagEdge { from, to, steps });
        }
        dag
    }

    /// What the formal variables of the node's location are called at the node.
    fn vars_of(&mut self, node: NodeId) -> Vec<TermId> {
        if let Some(vars) = &self.arg.nodes[node].vars {
            return vars.clone();
        }
        let predicate = self.cutpoints.predicates[self.arg.nodes[node].location];
        let vars = predicate.map_or_else(Vec::new, |p| self.system.fresh_atom(p).args);
        self.arg.nodes[node].vars = Some(vars.clone());
        vars
    }

    /// A formula over the formal variables of the node's location, over these variables.
    pub(super) fn over(&self, node: NodeId, formula: TermId, vars: &[TermId]) -> TermId {
        let Some(predicate) = self.cutpoints.predicates[self.arg.nodes[node].location] else {
            return formula;
        };
        let params = &self.system.predicate(predicate).params;
        let map = params.iter().copied().zip(vars.iter().copied()).collect();
        self.terms.substitute(formula, &map)
    }

    /// DECODEBMC: the way back from [`Vinta::over`].
    pub(super) fn decoded(&self, node: NodeId, formula: TermId, vars: &[TermId]) -> TermId {
        let Some(predicate) = self.cutpoints.predicates[self.arg.nodes[node].location] else {
            return formula;
        };
        let params = &self.system.predicate(predicate).params;
        let map = vars.iter().copied().zip(params.iter().copied()).collect();
        self.terms.substitute(formula, &map)
    }

    /// A derivation of `false` along the DAG, if there is one.
    pub(super) fn counterexample(&mut self, dag: &Dag) -> Result<Option<Refutation>, Stop> {
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

    /// Reads a derivation off a model of the DAG.
    fn derivation(&self, dag: &Dag, model: &SmtModel) -> Result<Refutation, Stop> {
        let mut place = dag.nodes.len() - 1;
        let mut chain: Vec<&Step> = Vec::new();
        while place > 0 {
            let edges = dag.incoming[place].iter().map(|&e| &dag.edges[e]);
            let taken = edges
                .flat_map(|e| e.steps.iter().map(move |s| (e.from, s)))
                .find(|(_, s)| model.satisfies(s.literal));
            let (from, step) = taken.ok_or_else(|| failed("no step leads to a node"))?;
            chain.push(step);
            place = from;
        }
        let mut steps: Vec<RefutationStep> = Vec::with_capacity(chain.len());
        for step in chain.into_iter().rev() {
            let clause = &self.system.clauses[step.clause];
            let here = model.assignment(&step.vars).map_err(|e| failed(&e.0))?;
            let own = clause.vars(&self.terms);
            let values = own.iter().zip(&step.vars);
            let values: crate::term::Assignment = values.map(|(&v, s)| (v, here[s])).collect();
            let fact = clause.head.as_ref().map(|head| Fact {
                predicate: head.predicate,
                values: head.args.iter().map(|a| values[a]).collect(),
            });
            steps.push(RefutationStep {
                clause: clause.id,
                premises: clause.body.iter().map(|_| steps.len() - 1).collect(),
                values,
                fact,
            });
        }
        Ok(Refutation { steps })
    }
}
