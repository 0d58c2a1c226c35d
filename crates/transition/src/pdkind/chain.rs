//! Cubes from which steps lead to a query, and the runs along them.
//!
//! Invariant: from each state of a link's cube there is a step into the next link's cube, or a
//! query applies to it; projection ensures this.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use alphorn_chc::{PredicateId, System};
use alphorn_proof::steps::Steps;
use alphorn_proof::trace::Trace;
use alphorn_proof::{Stop, ask, unreadable, values};
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Assignment, TermId};

/// What follows from the states of a cube.
pub(super) enum Onward {
    /// A query, given by the index of its step.
    Query(usize),
    /// A step, and the cube to which it leads.
    Step(usize, Rc<Link>),
    /// Unknown: the cube is not part of a counterexample.
    Nowhere,
}

/// A cube of states of a predicate.
pub(super) struct Link {
    /// The predicate.
    pub predicate: PredicateId,
    /// Literals over the formal variables.
    pub cube: Vec<TermId>,
    /// What follows.
    pub onward: Onward,
}

/// The run by an entry clause into the first link's cube and along the chain to a query, computed
/// with one solver query for each step.
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
        let model =
            model.ok_or_else(|| unreadable("a step along a counterexample has no solution"))?;
        for (var, value) in values(&model, &instance.vars)? {
            run.values.entry(var).or_insert(value);
        }
        run.steps.push(instance);
        next = match target.as_deref().map(|link| &link.onward) {
            None => return Ok(run),
            Some(Onward::Query(query)) => (*query, None),
            Some(Onward::Step(step, link)) => (*step, Some(link.clone())),
            Some(Onward::Nowhere) => {
                return Err(unreadable("a counterexample does not lead to a query").into());
            }
        };
    }
}
