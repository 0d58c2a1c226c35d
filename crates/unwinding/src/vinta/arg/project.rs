//! DAG interpolants by proof obligations, generalized by cores.
//!
//! Predecessors of the error are sought backwards, as in property directed reachability, but along
//! a DAG: a step into a cube that must not be reached, from a state that the interpolant of the
//! step's source still allows, is projected onto the source's variables, and the result is the next
//! obligation. If there is no such step, the negation of a core of the cube is a clause of the
//! node's interpolant. So only clauses are found that the absence of the error needs; at the end,
//! other nodes of the location get them too where they hold (`share`). If a step starts at the
//! entry, the obligations are a derivation of `false`.
//!
//! Labels of targets do not restrict obligations: cubes are larger without them, and images of
//! steps satisfy them anyway.
//!
//! Invariant: each clause of a node's interpolant follows from each step into the node together
//! with the label and interpolant of the step's source; every state of an obligation leads to the
//! error if terms without a value, as a selector of another constructor, may have any value.

use super::Arg;
use super::encode::Dag;
use super::share::Clauses;
use crate::vinta::failed;
use crate::vinta::search::{Unrolled, Vinta};
use alphorn_domain::Domain;
use alphorn_interpolation::project_onto;
use alphorn_proof::{ClauseCopy, Stop, bounds, undefined, where_defined};
use alphorn_smt::SmtModel;
use alphorn_term::TermId;

/// A cube that must not be reached at a node.
struct Obligation<'d> {
    /// The index of the node in the DAG.
    place: usize,
    /// Over its variables.
    cube: Vec<TermId>,
    /// The step from this obligation into the one before it; `None` at the error.
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
                let cube = self.predecessor(dag, from, step, cube, &model)?;
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
        if self.options.lemmas {
            self.share_all(dag, &mut clauses)?;
        }
        Ok(Unrolled::Infeasible(clauses.interpolants(&terms)))
    }

    /// A cube over the variables of the node at `from`, from all of whose states the step leads
    /// into the cube.
    fn predecessor(
        &self,
        dag: &Dag,
        from: usize,
        step: &ClauseCopy,
        cube: &[TermId],
        model: &SmtModel,
    ) -> Result<Vec<TermId>, Stop> {
        let terms = &self.terms;
        let mut parts = cube.to_vec();
        parts.push(step.total);
        let step = terms.and(&parts);
        let projected = project_onto(terms, step, &dag.vars[from], model).ok_or_else(undefined)?;
        let literals = bounds(terms, &projected).into_iter();
        Ok(literals.map(|l| where_defined(terms, l)).collect())
    }
}
