//! DAG interpolants by obligations: what a node must not be, generalised by cores.
//!
//! What leads to the error is sought backwards, as in property directed reachability, but in a DAG:
//! a step into what must not be reached, from what its source's interpolant allows yet, is
//! projected onto the source's variables, which must not be reached either. Where no step leads,
//! the part of the cube that says so, negated, is a clause of the node's interpolant. So there are
//! no clauses but those that the error's absence needs; in the end other nodes of a location get
//! its clauses, too, where they hold (`share`). Where a step comes from the entry, the obligations are a
//! derivation of `false`.
//!
//! Labels of nodes further on do not restrict what must not be reached: cubes are larger without
//! them, and what steps reach has the labels anyway.
//!
//! Invariant: each clause of an interpolant follows from each step into its node, from its source's
//! label and interpolant; from the states of an obligation the error is reached.

use super::Arg;
use super::encode::Dag;
use super::share::Clauses;
use crate::vinta::failed;
use crate::vinta::search::{Unrolled, Vinta};
use alphorn_domain::Domain;
use alphorn_interpolation::project_onto;
use alphorn_proof::{ClauseCopy, Stop, bounds, undefined};
use alphorn_smt::SmtModel;
use alphorn_term::TermId;

/// What must not be reached.
struct Obligation<'d> {
    /// Of the node in the DAG.
    place: usize,
    /// Over its variables.
    cube: Vec<TermId>,
    /// The step from here into the obligation that this one is for; none from the error.
    next: Option<&'d ClauseCopy>,
}

impl<D: Domain> Vinta<'_, D, Arg<D::Element>> {
    /// An interpolant for each node of the DAG, or a derivation along it.
    pub(super) fn project(&mut self, dag: &Dag) -> Result<Unrolled<Vec<TermId>>, Stop> {
        let terms = self.terms.clone();
        let count = dag.nodes.len();
        let mut clauses = Clauses::new(vec![Vec::new(); count]);
        let mut obligations = vec![Obligation {
            place: count - 1,
            cube: Vec::new(),
            next: None,
        }];
        while let Some(&Obligation {
            place, ref cube, ..
        }) = obligations.last()
        {
            self.pauses.take(self.cx)?;
            let solver = self.steps_into(dag, &mut clauses, place);
            if self.check(solver, cube)? {
                let model = solver.model().ok_or_else(|| failed("no model of a step"))?;
                let (from, step) = dag.taken(place, &model)?;
                if from == 0 {
                    let others = obligations.iter().rev().filter_map(|o| o.next);
                    let chain: Vec<&ClauseCopy> = [step].into_iter().chain(others).collect();
                    return self.decode_chain(&chain).map(Unrolled::Feasible);
                }
                let cube = self.before(dag, from, step, cube, &model)?;
                obligations.push(Obligation {
                    place: from,
                    cube,
                    next: Some(step),
                });
                continue;
            }
            if place + 1 < count {
                let core = solver.minimal_core(&[], cube);
                let core = core.unwrap_or_else(|| cube.clone());
                let negated: Vec<TermId> = core.iter().map(|&l| terms.not(l)).collect();
                let clause = terms.or(&negated);
                self.add_clause(dag, &mut clauses, place, clause);
            }
            obligations.pop();
        }
        if self.options.restricted() {
            self.share_all(dag, &mut clauses)?;
        }
        Ok(Unrolled::Infeasible(clauses.interpolants(&terms)))
    }

    /// A cube over the variables of the node at `from`, from which the model's step leads into the
    /// cube.
    fn before(
        &self,
        dag: &Dag,
        from: usize,
        step: &ClauseCopy,
        cube: &[TermId],
        model: &SmtModel,
    ) -> Result<Vec<TermId>, Stop> {
        let terms = &self.terms;
        let mut parts = cube.to_vec();
        parts.push(step.formula);
        let step = terms.and(&parts);
        let projected = project_onto(terms, step, &dag.vars[from], model).ok_or_else(undefined)?;
        Ok(bounds(terms, &projected))
    }
}
