//! DAG interpolants from the error's side: what a node must not be, generalised by cores.
//!
//! From the entry on, for each node: a model of a way from it to the error that its interpolant
//! allows yet is projected onto the node's variables. No step into the node, from what its
//! predecessors' interpolants allow, leads there; the part of the projection that says so, negated,
//! is a clause of the interpolant. Clauses of other nodes of the same location come first, if
//! all steps into the node satisfy them; not in UFO's refinement, which does not look at other nodes.
//! (Clauses as in property directed reachability, but for a DAG.)
//!
//! Invariant: each interpolant follows from the steps into its node and contradicts all ways on.

use rustc_hash::{FxHashMap, FxHashSet};

use super::encode::{Dag, Step};
use super::{Stop, Vinta, failed, gave_up};
use crate::domain::Domain;
use crate::smt::{SatResult, SmtModel, Solver, project_formula};
use crate::term::{Op, SortId, TermId, TermStore};

impl<D: Domain> Vinta<'_, D> {
    /// An interpolant for each node of the DAG.
    pub(super) fn by_projection(&mut self, dag: &Dag) -> Result<Vec<TermId>, Stop> {
        let terms = self.terms.clone();
        let count = dag.nodes.len();
        let mut interpolants = vec![TermId::TRUE; count];
        interpolants[count - 1] = TermId::FALSE;
        // Clauses by location, over formal variables.
        let mut known: FxHashMap<usize, Vec<TermId>> = FxHashMap::default();
        let mut onward = self.onward(dag);
        for place in 1..count - 1 {
            let node = dag.nodes[place];
            let location = self.arg.nodes[node].location;
            let here = dag.literals[place];
            let mut steps_in = self.steps_into(dag, place, &interpolants);
            let mut clauses: Vec<TermId> = Vec::new();
            let before = known.get(&location).filter(|_| self.options.restricted());
            for &clause in before.into_iter().flatten() {
                let own = self.over_node(dag, place, clause);
                if self.ask(&mut steps_in, &[terms.not(own)])? == SatResult::Unsat {
                    onward.assert(terms.implies(here, own));
                    clauses.push(own);
                }
            }
            while self.ask(&mut onward, &[here])? == SatResult::Sat {
                let model = onward
                    .model()
                    .ok_or_else(|| failed("no model of a way on"))?;
                let cube = self.bad_cube(dag, place, &model)?;
                let cube = split(&terms, &cube);
                if self.ask(&mut steps_in, &cube)? != SatResult::Unsat {
                    return Err(failed("a step leads to what leads to the error"));
                }
                let core = steps_in.minimal_core(&[], &cube);
                let negated: Vec<TermId> = core.iter().map(|&l| terms.not(l)).collect();
                let clause = terms.or(&negated);
                onward.assert(terms.implies(here, clause));
                clauses.push(clause);
            }
            interpolants[place] = terms.and(&clauses);
            let decoded = clauses
                .iter()
                .map(|&c| self.decoded(node, c, &dag.vars[place]));
            let fresh: Vec<TermId> = decoded.collect();
            let all = known.entry(location).or_default();
            let listed: FxHashSet<TermId> = all.iter().copied().collect();
            all.extend(fresh.into_iter().filter(|c| !listed.contains(c)));
        }
        Ok(interpolants)
    }

    fn over_node(&self, dag: &Dag, place: usize, formula: TermId) -> TermId {
        self.over(dag.nodes[place], formula, &dag.vars[place])
    }

    fn ask(&self, solver: &mut Solver, assumptions: &[TermId]) -> Result<SatResult, Stop> {
        if let Some(reason) = self.cx.stop() {
            return Err(Stop::Reason(reason));
        }
        match solver.check(assumptions) {
            SatResult::Unknown(why) => Err(gave_up(&why, self.cx)),
            answer => Ok(answer),
        }
    }

    /// Under a node's literal: some way leads from it to the error.
    fn onward(&self, dag: &Dag) -> Solver {
        let terms = &self.terms;
        let mut solver = self.smt.solver();
        for (place, &here) in dag.literals.iter().enumerate() {
            solver.assert(terms.implies(here, dag.labels[place]));
            let mut choices = Vec::new();
            for &edge in &dag.outgoing[place] {
                let edge = &dag.edges[edge];
                for step in &edge.steps {
                    solver.assert(terms.implies(step.literal, dag.literals[edge.to]));
                    solver.assert(terms.implies(step.literal, step.formula));
                    choices.push(step.literal);
                }
            }
            if place + 1 < dag.nodes.len() {
                solver.assert(terms.implies(here, terms.or(&choices)));
            }
        }
        solver
    }

    /// Holds that one of the steps into the node was made from where interpolants and labels allow.
    fn steps_into(&self, dag: &Dag, place: usize, interpolants: &[TermId]) -> Solver {
        let terms = &self.terms;
        let mut solver = self.smt.solver();
        let mut choices = Vec::new();
        for &edge in &dag.incoming[place] {
            let edge = &dag.edges[edge];
            let before = [dag.labels[edge.from], interpolants[edge.from]];
            for step in &edge.steps {
                let all = terms.and(&[before[0], before[1], step.formula]);
                solver.assert(terms.implies(step.literal, all));
                choices.push(step.literal);
            }
        }
        solver.assert(terms.or(&choices));
        solver.assert(dag.labels[place]);
        solver
    }

    /// A cube over the node's variables from which the way of the model leads to the error.
    fn bad_cube(&self, dag: &Dag, place: usize, model: &SmtModel) -> Result<Vec<TermId>, Stop> {
        let terms = &self.terms;
        let mut parts = vec![dag.labels[place]];
        let mut at = place;
        while at + 1 < dag.nodes.len() {
            let edges = dag.outgoing[at].iter().map(|&e| &dag.edges[e]);
            let taken: Option<(usize, &Step)> = edges
                .flat_map(|e| e.steps.iter().map(move |s| (e.to, s)))
                .find(|(_, s)| model.satisfies(s.literal));
            let (to, step) = taken.ok_or_else(|| failed("no step leads on"))?;
            parts.push(step.formula);
            parts.push(dag.labels[to]);
            at = to;
        }
        let way = terms.and(&parts);
        let kept: FxHashSet<TermId> = dag.vars[place].iter().copied().collect();
        let mut all = terms.free_vars(&[way]);
        let values = model.assignment(&all).map_err(|e| failed(&e.0))?;
        all.retain(|v| !kept.contains(v));
        project_formula(terms, way, &all, &values)
            .ok_or_else(|| failed("a way to the error cannot be projected"))
    }
}

/// Literals with equations of numbers as two bounds, so that a core may keep one.
pub(super) fn split(terms: &TermStore, cube: &[TermId]) -> Vec<TermId> {
    let mut literals = Vec::with_capacity(cube.len());
    for &literal in cube {
        let args = terms.args(literal);
        let numbers = |t: TermId| matches!(terms.sort_of(t), SortId::INT | SortId::REAL);
        if *terms.op(literal) == Op::Eq && numbers(args[0]) {
            literals.push(terms.le(args[0], args[1]));
            literals.push(terms.ge(args[0], args[1]));
        } else {
            literals.push(literal);
        }
    }
    literals
}
