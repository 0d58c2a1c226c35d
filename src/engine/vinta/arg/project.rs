//! DAG interpolants by obligations: what a node must not be, generalised by cores.
//!
//! What leads to the error is sought backwards, as in property directed reachability, but in a DAG:
//! a step into what must not be reached, from what its source's interpolant allows yet, is
//! projected onto the source's variables, which must not be reached either. Where no step leads,
//! the part of the cube that says so, negated, is a clause of the node's interpolant. So there are
//! no clauses but those that the error's absence needs. Other nodes of the location get the clause,
//! too, if all steps into them satisfy it, which lets the graph converge; not in UFO's refinement,
//! which does not look at other nodes.
//!
//! Labels of nodes further on do not restrict what must not be reached: cubes are larger without
//! them, and what steps reach has the labels anyway.
//!
//! Invariant: each clause of an interpolant follows from each step into its node, from its source's
//! label and interpolant; from the states of an obligation the error is reached.

use rustc_hash::FxHashSet;

use super::Arg;
use super::encode::Dag;
use crate::chc::cutpoints::Location;
use crate::domain::Domain;
use crate::engine::vinta::failed;
use crate::engine::vinta::search::Vinta;
use crate::proof::{Stop, bounds, undefined};
use crate::smt::{SmtModel, Solver, project_formula};
use crate::term::TermId;

/// The interpolants so far.
struct Clauses {
    /// By place in the DAG, over its node's variables.
    of: Vec<Vec<TermId>>,
    /// By place, when first needed: that a step was made into it, from where labels and clauses
    /// allow.
    steps_into: Vec<Option<Solver>>,
}

impl<D: Domain> Vinta<'_, D, Arg<D::Element>> {
    /// An interpolant for each node of the DAG.
    pub(super) fn project(&mut self, dag: &Dag) -> Result<Vec<TermId>, Stop> {
        let terms = self.terms.clone();
        let count = dag.nodes.len();
        let mut clauses = Clauses {
            of: vec![Vec::new(); count],
            steps_into: (0..count).map(|_| None).collect(),
        };
        let mut obligations: Vec<(usize, Vec<TermId>)> = vec![(count - 1, Vec::new())];
        while let Some((place, cube)) = obligations.last() {
            let place = *place;
            self.pauses.take(self.cx)?;
            self.prepare(dag, &mut clauses, place);
            let solver = clauses.steps_into[place]
                .as_mut()
                .ok_or_else(|| failed("no solver of a node"))?;
            if self.check(solver, cube)? {
                let model = solver.model().ok_or_else(|| failed("no model of a step"))?;
                let before = self.before(dag, place, cube, &model)?;
                obligations.push(before);
                continue;
            }
            if place + 1 < count {
                let core = solver.minimal_core(&[], cube);
                let core = core.unwrap_or_else(|| cube.clone());
                let negated: Vec<TermId> = core.iter().map(|&l| terms.not(l)).collect();
                let clause = terms.or(&negated);
                self.add_clause(dag, &mut clauses, place, clause);
                if self.options.restricted() {
                    let location = self.location(dag, place);
                    let clause = self.decoded(location, clause, &dag.vars[place]);
                    self.share(dag, &mut clauses, clause, place)?;
                }
            }
            obligations.pop();
        }
        if self.options.restricted() {
            self.share_all(dag, &mut clauses)?;
        }
        let mut interpolants: Vec<TermId> = clauses.of.iter().map(|c| terms.and(c)).collect();
        interpolants[count - 1] = TermId::FALSE;
        Ok(interpolants)
    }

    fn location(&self, dag: &Dag, place: usize) -> Location {
        self.graph.nodes[dag.nodes[place]].location
    }

    /// Makes the solver for the steps into a node.
    fn prepare(&self, dag: &Dag, clauses: &mut Clauses, place: usize) {
        if clauses.steps_into[place].is_some() {
            return;
        }
        let terms = &self.terms;
        let mut solver = self.smt.solver();
        let mut choices = Vec::new();
        for &edge in &dag.incoming[place] {
            let edge = &dag.edges[edge];
            let there = dag.literals[edge.from];
            solver.assert(terms.implies(there, dag.labels[edge.from]));
            for &clause in &clauses.of[edge.from] {
                solver.assert(terms.implies(there, clause));
            }
            for step in &edge.steps {
                solver.assert(terms.implies(step.literal, there));
                solver.assert(terms.implies(step.literal, step.formula));
                choices.push(step.literal);
            }
        }
        solver.assert(terms.or(&choices));
        solver.assert(dag.labels[place]);
        clauses.steps_into[place] = Some(solver);
    }

    /// Adds a clause to a node's interpolant.
    fn add_clause(&self, dag: &Dag, clauses: &mut Clauses, place: usize, clause: TermId) {
        clauses.of[place].push(clause);
        let guarded = self.terms.implies(dag.literals[place], clause);
        for &edge in &dag.outgoing[place] {
            if let Some(solver) = &mut clauses.steps_into[dag.edges[edge].to] {
                solver.assert(guarded);
            }
        }
    }

    /// Adds a clause, over formal variables, to the interpolants of those nodes of the location of
    /// the one at `place` that it holds at.
    fn share(
        &self,
        dag: &Dag,
        clauses: &mut Clauses,
        clause: TermId,
        place: usize,
    ) -> Result<(), Stop> {
        let location = self.location(dag, place);
        for other in 1..dag.nodes.len() - 1 {
            if other != place && self.location(dag, other) == location {
                self.add_if_it_holds(dag, clauses, other, clause)?;
            }
        }
        Ok(())
    }

    /// The same for all clauses, in the order of the DAG.
    fn share_all(&self, dag: &Dag, clauses: &mut Clauses) -> Result<(), Stop> {
        let inner = 1..dag.nodes.len() - 1;
        let mut all: Vec<(usize, TermId)> = Vec::new();
        let mut listed: FxHashSet<(usize, TermId)> = FxHashSet::default();
        for place in inner.clone() {
            let location = self.location(dag, place);
            for &clause in &clauses.of[place] {
                let clause = self.decoded(location, clause, &dag.vars[place]);
                if listed.insert((location, clause)) {
                    all.push((location, clause));
                }
            }
        }
        for place in inner {
            let location = self.location(dag, place);
            for &(_, clause) in all.iter().filter(|(l, _)| *l == location) {
                self.add_if_it_holds(dag, clauses, place, clause)?;
            }
        }
        Ok(())
    }

    fn add_if_it_holds(
        &self,
        dag: &Dag,
        clauses: &mut Clauses,
        place: usize,
        clause: TermId,
    ) -> Result<(), Stop> {
        let clause = self.over(self.location(dag, place), clause, &dag.vars[place]);
        if clauses.of[place].contains(&clause) {
            return Ok(());
        }
        self.prepare(dag, clauses, place);
        if let Some(solver) = &mut clauses.steps_into[place]
            && !self.check(solver, &[self.terms.not(clause)])?
        {
            self.add_clause(dag, clauses, place, clause);
        }
        Ok(())
    }

    /// A place, and a cube over its node's variables from which the model's step leads into the
    /// cube.
    fn before(
        &self,
        dag: &Dag,
        place: usize,
        cube: &[TermId],
        model: &SmtModel,
    ) -> Result<(usize, Vec<TermId>), Stop> {
        let terms = &self.terms;
        let (from, step) = dag.taken(place, model)?;
        if from == 0 {
            return Err(failed("the entry leads to the error"));
        }
        let mut parts = cube.to_vec();
        parts.push(step.formula);
        let step = terms.and(&parts);
        let kept: FxHashSet<TermId> = dag.vars[from].iter().copied().collect();
        let mut all = terms.free_vars(&[step]);
        let values = model.assignment(&all).map_err(|e| failed(&e.0))?;
        all.retain(|v| !kept.contains(v));
        let projected = project_formula(terms, step, &all, &values).ok_or_else(undefined)?;
        Ok((from, bounds(terms, &projected)))
    }
}
