//! Clauses of interpolants at other nodes of the same location.
//!
//! A clause that one node needs to exclude the error is often needed at the nodes that later phases
//! add. So each other node of the location gets it, too, where all steps into the node satisfy it;
//! this makes the graph converge. UFO's refinement does not do this.
//!
//! Invariant: each clause of a node follows from each step into it together with the label and
//! clauses of the step's source.

use rustc_hash::FxHashSet;

use super::Arg;
use super::encode::Dag;
use crate::vinta::search::Vinta;
use alphorn_chc::cutpoints::Location;
use alphorn_domain::Domain;
use alphorn_proof::Stop;
use alphorn_proof::houdini::possible_violations;
use alphorn_smt::Solver;
use alphorn_term::{TermId, TermStore};

/// The interpolants so far.
pub(super) struct Clauses {
    /// By index in the DAG, over the node's variables.
    of: Vec<Vec<TermId>>,
    /// By index, made when first needed: a solver that asserts a step into the node, from a state
    /// that the labels and clauses of the source allow.
    steps_into: Vec<Option<Solver>>,
}

impl Clauses {
    /// For these clauses by index in the DAG.
    pub fn new(of: Vec<Vec<TermId>>) -> Self {
        let steps_into = of.iter().map(|_| None).collect();
        Clauses { of, steps_into }
    }

    /// An interpolant for each index; `false` at the error.
    pub fn interpolants(&self, terms: &TermStore) -> Vec<TermId> {
        let mut interpolants: Vec<TermId> = self.of.iter().map(|c| terms.and(c)).collect();
        if let Some(error) = interpolants.last_mut() {
            *error = TermId::FALSE;
        }
        interpolants
    }
}

impl<D: Domain> Vinta<'_, D, Arg<D::Element>> {
    /// The location of a node of the DAG.
    pub(super) fn location(&self, dag: &Dag, place: usize) -> Location {
        self.graph.nodes[dag.nodes[place]].location
    }

    /// The solver for the steps into a node; in these, terms without a value may have any value.
    pub(super) fn steps_into<'c>(
        &self,
        dag: &Dag,
        clauses: &'c mut Clauses,
        place: usize,
    ) -> &'c mut Solver {
        let Clauses { of, steps_into } = clauses;
        steps_into[place].get_or_insert_with(|| {
            let terms = &self.terms;
            let mut solver = self.smt.solver();
            let mut choices = Vec::new();
            for &edge in &dag.incoming[place] {
                let edge = &dag.edges[edge];
                let there = dag.literals[edge.from];
                solver.assert(terms.implies(there, dag.labels[edge.from]));
                for &clause in &of[edge.from] {
                    solver.assert(terms.implies(there, clause));
                }
                for step in &edge.steps {
                    solver.assert(terms.implies(step.literal, there));
                    solver.assert(terms.implies(step.literal, step.total));
                    choices.push(step.literal);
                }
            }
            solver.assert(terms.or(&choices));
            solver.assert(dag.labels[place]);
            solver
        })
    }

    /// Adds a clause to a node's interpolant.
    pub(super) fn add_clause(
        &self,
        dag: &Dag,
        clauses: &mut Clauses,
        place: usize,
        clause: TermId,
    ) {
        clauses.of[place].push(clause);
        let guarded = self.terms.implies(dag.literals[place], clause);
        for &edge in &dag.outgoing[place] {
            if let Some(solver) = &mut clauses.steps_into[dag.edges[edge].to] {
                solver.assert(guarded);
            }
        }
    }

    /// Adds the clauses of each node to the other nodes of its location where they hold, in the
    /// order of the DAG, with few queries for each node. (This is cheaper than asking for each
    /// clause when it is found.)
    pub(super) fn share_all(&self, dag: &Dag, clauses: &mut Clauses) -> Result<(), Stop> {
        let inner = 1..dag.nodes.len() - 1;
        let mut all: Vec<Vec<TermId>> = vec![Vec::new(); self.cutpoints.predicates.len()];
        let mut listed: FxHashSet<(Location, TermId)> = FxHashSet::default();
        for place in inner.clone() {
            let location = self.location(dag, place);
            for &clause in &clauses.of[place] {
                let clause = self.decoded(location, clause, &dag.vars[place]);
                if listed.insert((location, clause)) {
                    all[location].push(clause);
                }
            }
        }
        for place in inner {
            let location = self.location(dag, place);
            self.add_valid(dag, clauses, place, &all[location])?;
        }
        Ok(())
    }

    /// The interpolants, with those conjuncts of other nodes that hold at the node.
    pub(super) fn share_interpolants(
        &self,
        dag: &Dag,
        interpolants: Vec<TermId>,
    ) -> Result<Vec<TermId>, Stop> {
        if !self.options.lemmas {
            return Ok(interpolants);
        }
        let conjuncts = interpolants.iter().map(|&i| self.terms.conjuncts(i));
        let mut clauses = Clauses::new(conjuncts.collect());
        self.share_all(dag, &mut clauses)?;
        Ok(clauses.interpolants(&self.terms))
    }

    /// Adds those candidates, over formal variables, that all steps into the node satisfy.
    fn add_valid(
        &self,
        dag: &Dag,
        clauses: &mut Clauses,
        place: usize,
        candidates: &[TermId],
    ) -> Result<(), Stop> {
        let location = self.location(dag, place);
        let candidates = candidates.iter();
        let mut new: Vec<TermId> = candidates
            .map(|&c| self.over(location, c, &dag.vars[place]))
            .collect();
        new.retain(|c| !clauses.of[place].contains(c));
        if new.is_empty() {
            return Ok(());
        }
        let violations: Vec<TermId> = new.iter().map(|&c| self.terms.not(c)).collect();
        let solver = self.steps_into(dag, clauses, place);
        let lost = possible_violations(solver, &[], &violations, &self.cx.budget);
        let lost: FxHashSet<usize> = lost.map_err(Stop::Reason)?.into_iter().collect();
        for (at, clause) in new.into_iter().enumerate() {
            if !lost.contains(&at) {
                self.add_clause(dag, clauses, place, clause);
            }
        }
        Ok(())
    }
}
