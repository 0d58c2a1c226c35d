//! Interpolants of an acyclic graph of places between two ends.
//!
//! Invariant: along each edge, the formula and label of its source imply the formula of its target,
//! and along each edge to the end they are unsatisfiable.

use std::rc::Rc;
use std::time::{Duration, Instant};

use alphorn_chc::{Atom, PredicateId, System};
use alphorn_proof::{Formulas, Stop, solve_acyclic};
use alphorn_smt::Smt;
use alphorn_term::TermId;
use alphorn_term::run::Context;

/// A node of an interpolation problem.
pub(super) struct Place {
    /// The predicate of its states.
    pub predicate: PredicateId,
    /// The variables of its states.
    pub args: Vec<TermId>,
    /// A formula that holds here, over these variables.
    pub label: TermId,
}

/// An edge between places. Its other variables are local.
pub(super) struct Edge {
    /// The source; `None` for the start.
    pub from: Option<usize>,
    /// The target; `None` for the end.
    pub to: Option<usize>,
    /// The relation between the variables of both.
    pub formula: TermId,
}

/// An interpolation problem: no path from start to end is satisfiable.
#[derive(Default)]
pub(super) struct Problem {
    /// The nodes, in topological order.
    pub places: Vec<Place>,
    /// The edges.
    pub edges: Vec<Edge>,
}

/// Solves interpolation problems.
pub(super) struct Interpolants<'a> {
    system: &'a System,
    smt: &'a Rc<Smt>,
    /// The time used.
    pub time: Duration,
    /// The number of interpolants.
    pub count: u64,
}

impl<'a> Interpolants<'a> {
    /// For problems about a system.
    pub fn new(system: &'a System, smt: &'a Rc<Smt>) -> Self {
        Interpolants {
            system,
            smt,
            time: Duration::ZERO,
            count: 0,
        }
    }

    /// A formula for each place, over its predicate's formal variables.
    pub fn solve(&mut self, problem: &Problem, cx: &Context) -> Result<Vec<TermId>, Stop> {
        let start = Instant::now();
        let found = problem.by_obligations(self.system, self.smt, cx);
        self.time += start.elapsed();
        self.count += problem.places.len() as u64;
        found
    }
}

impl Problem {
    /// Solves the problem as an acyclic system of clauses.
    fn by_obligations(
        &self,
        system: &System,
        smt: &Rc<Smt>,
        cx: &Context,
    ) -> Result<Vec<TermId>, Stop> {
        let terms = &system.terms;
        let mut unrolled = System::new(terms.clone());
        let atoms: Vec<Atom> = self
            .places
            .iter()
            .map(|place| {
                let name = &system.predicate(place.predicate).name;
                let sorts: Vec<_> = place.args.iter().map(|&a| terms.sort_of(a)).collect();
                Atom {
                    predicate: unrolled.add_predicate(name, &sorts),
                    args: place.args.clone(),
                }
            })
            .collect();
        for edge in &self.edges {
            let body = edge.from.map(|place| atoms[place].clone());
            let label = edge
                .from
                .map_or(TermId::TRUE, |place| self.places[place].label);
            let constraint = terms.and(&[label, edge.formula]);
            let head = edge.to.map(|place| atoms[place].clone());
            unrolled.add_clause(body.into_iter().collect(), constraint, head);
        }
        let model = solve_acyclic(&unrolled, &Formulas::default(), smt, cx)?;
        let formula = |(place, atom): (&Place, &Atom)| {
            let formals = Atom {
                predicate: atom.predicate,
                args: system.predicate(place.predicate).params.clone(),
            };
            let found = model.definitions.get(&atom.predicate);
            found.map_or(TermId::TRUE, |&f| unrolled.instantiate(f, &formals))
        };
        Ok(self.places.iter().zip(&atoms).map(formula).collect())
    }
}
