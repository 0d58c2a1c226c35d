//! Interpolants of places between facts and what must not be reached.
//!
//! Invariant: the formula of a place follows, with its label, along each edge from those before it,
//! and what no edge to the end has a solution from contradicts it.

use std::rc::Rc;
use std::time::{Duration, Instant};

use alphorn_chc::{Atom, PredicateId, System};
use alphorn_proof::{Formulas, Stop, solve_acyclic};
use alphorn_smt::Smt;
use alphorn_term::TermId;
use alphorn_term::run::Context;

/// A predicate between the ends of an interpolation problem.
pub(super) struct Place {
    pub predicate: PredicateId,
    pub args: Vec<TermId>,
    /// What is known here, over the arguments.
    pub label: TermId,
}

/// From one place to another; `None` is either end. Variables that are not a place's own are
/// the edge's own.
pub(super) struct Edge {
    pub from: Option<usize>,
    pub to: Option<usize>,
    pub formula: TermId,
}

/// Places and edges that do not lead from end to end.
#[derive(Default)]
pub(super) struct Problem {
    pub places: Vec<Place>,
    pub edges: Vec<Edge>,
}

/// See the module.
pub(super) struct Interpolants<'a> {
    system: &'a System,
    smt: &'a Rc<Smt>,
    pub time: Duration,
    pub count: u64,
}

impl<'a> Interpolants<'a> {
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
