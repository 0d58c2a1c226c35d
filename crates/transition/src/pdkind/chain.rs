//! Cubes from which steps lead to a query, and the runs that they stand for.
//!
//! Invariant: from each state of a link's cube there is a step into the next link's cube, or a
//! query that it satisfies; projection made the cube so.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use alphorn_chc::{PredicateId, System};
use alphorn_proof::steps::Steps;
use alphorn_proof::trace::Trace;
use alphorn_proof::{Stop, ask, unreadable, values};
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Assignment, TermId};

/// What follows on a cube.
pub(super) enum Onward {
    /// A query, by its step.
    Query(usize),
    /// A step and the cube that it leads to.
    Step(usize, Rc<Link>),
    /// Nothing is known: the cube is no way to a query.
    Nowhere,
}

/// Some states of a predicate.
pub(super) struct Link {
    pub predicate: PredicateId,
    /// Literals over the formal variables.
    pub cube: Vec<TermId>,
    pub onward: Onward,
}

/// The run by an entry clause into the first link's cube and along the chain to a query: one query
/// for each step, from the state that was reached.
pub(super) fn run_along(
    system: &System,
    steps: &Steps,
    entry: usize,
    first: &Rc<Link>,
    smt: &Rc<Smt>,
    cx: &Context,
) -> Result<Trace, Stop> {
    let terms = &system.terms;
    let mut run = Trace {
        steps: Vec::new(),
        values: Assignment::default(),
    };
    let mut here: Vec<TermId> = Vec::new();
    let mut next = (entry, Some(first.clone()));
    loop {
        let (step, target) = next;
        let instance = steps.instantiate(terms, step, TermId::TRUE, here.iter().copied());
        let shape = &steps.all[step];
        let mut solver = smt.solver();
        solver.assert(instance.formula);
        for &arg in &here {
            solver.assert(terms.eq(arg, run.values[&arg]));
        }
        here = instance.vars[shape.first..shape.arguments].to_vec();
        if let Some(link) = &target {
            let params = &system.predicate(link.predicate).params;
            let map: FxHashMap<TermId, TermId> =
                params.iter().copied().zip(here.iter().copied()).collect();
            for &literal in &link.cube {
                solver.assert(terms.substitute(literal, &map));
            }
        }
        let model = ask(&mut solver, &[], cx)?;
        let model = model.ok_or_else(|| unreadable("a chain breaks"))?;
        for (var, value) in values(&model, &instance.vars)? {
            run.values.entry(var).or_insert(value);
        }
        run.steps.push(instance);
        next = match target.as_deref().map(|link| &link.onward) {
            None => return Ok(run),
            Some(Onward::Query(query)) => (*query, None),
            Some(Onward::Step(step, link)) => (*step, Some(link.clone())),
            Some(Onward::Nowhere) => return Err(unreadable("a chain to nowhere").into()),
        };
    }
}
