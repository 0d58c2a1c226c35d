//! A run of a linear system in a model, and its refutation.
//!
//! Invariant: each step begins with the fact that the step before it ends with; the refutation
//! still has to be confirmed.

use super::steps::{Instance, Origin, Steps, literal};
use super::stop::{Failure, Stop, ask, incomplete, unreadable, values};
use alphorn_chc::System;
use alphorn_smt::Solver;
use alphorn_term::Assignment;
use alphorn_term::run::Context;
use alphorn_witness::{Fact, Refutation, RefutationStep};

/// Steps of a refutation; longer ones are not written out.
pub const MAX_STEPS: usize = 1_000_000;

/// The reason for stopping at a refutation that is too long.
pub fn too_many_steps() -> Stop {
    incomplete(format!("a refutation of more than {MAX_STEPS} steps"))
}

/// A chain of steps with the values of all their variables.
pub struct Trace {
    /// The steps, in order.
    pub steps: Vec<Instance>,
    /// The values of the steps' variables.
    pub values: Assignment,
}

impl Trace {
    /// The refutation of a run from an entry to a query. Learned steps are left out.
    pub fn refutation(&self, system: &System, steps: &Steps) -> Result<Refutation, Failure> {
        let mut found = Vec::with_capacity(self.steps.len());
        self.append_to(&mut found, system, steps)?;
        Ok(Refutation { steps: found })
    }

    /// Appends the steps of the run to a refutation that ends where the run begins.
    pub fn append_to(
        &self,
        found: &mut Vec<RefutationStep>,
        system: &System,
        steps: &Steps,
    ) -> Result<(), Failure> {
        for instance in &self.steps {
            if let Origin::Clause(clause) = steps.all[instance.step].origin {
                let step = clause_step(system, steps, clause, instance, &self.values, found.len())?;
                found.push(step);
            }
        }
        Ok(())
    }
}

/// An instance of a clause as the next step of a refutation that has `found` steps.
pub fn clause_step(
    system: &System,
    steps: &Steps,
    clause: usize,
    instance: &Instance,
    values: &Assignment,
    found: usize,
) -> Result<RefutationStep, Failure> {
    let clause = &system.clauses[clause];
    let own = steps.all[instance.step].vars.iter().zip(&instance.vars);
    let values = own
        .map(|(var, own)| Some((*var, *values.get(own)?)))
        .collect::<Option<Assignment>>()
        .ok_or_else(|| unreadable("a variable without value"))?;
    let fact = clause.head.as_ref().map(|head| Fact {
        predicate: head.predicate,
        values: head.args.iter().map(|v| values[v]).collect(),
    });
    let premises = match (clause.body.len(), found.checked_sub(1)) {
        (0, _) => Vec::new(),
        (_, Some(last)) => vec![last],
        (_, None) => return Err(unreadable("a step without premise")),
    };
    Ok(RefutationStep {
        clause: clause.id,
        values,
        premises,
        fact,
    })
}

/// The run by a query without body atoms, if the constraint of one is satisfiable.
pub fn constraint_query(
    system: &System,
    steps: &Steps,
    solver: &mut Solver,
    cx: &Context,
) -> Result<Option<Trace>, Stop> {
    let terms = &system.terms;
    for &step in &steps.constraints {
        let on = literal(terms, "query");
        let instance = steps.instantiate(terms, step, on, std::iter::empty());
        solver.assert(terms.implies(on, instance.formula));
        if let Some(model) = ask(solver, &[on], cx)? {
            let values = values(&model, &instance.vars)?;
            let steps = vec![instance];
            return Ok(Some(Trace { steps, values }));
        }
        solver.assert(terms.not(on));
    }
    Ok(None)
}
