//! A derivation without values: which clause each step applies to which earlier steps. One query
//! finds values for all variables.
//!
//! Invariant: a refutation that is made from a model has the clauses and premises of the
//! derivation. Whether its values are correct is left to evaluation
//! ([`confirm()`](crate::confirm())).

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::{Stop, values};
use alphorn_chc::System;
use alphorn_smt::{Smt, SmtModel, Solver};
use alphorn_term::{Assignment, TermId};
use alphorn_witness::{Fact, Refutation, RefutationStep};

/// A step of a derivation.
pub struct DerivationStep {
    /// The position of the clause that it applies.
    pub clause: usize,
    /// Earlier steps, in the order of the clause's body.
    pub premises: Vec<usize>,
}

/// A derivation in a solver, in which each step has variables of its own.
pub struct Derivation<'a> {
    system: &'a System,
    /// The solver, for further assertions and the query.
    pub solver: Solver,
    steps: Vec<DerivationStep>,
    /// By step: from the clause's variables to those of the step.
    renamings: Vec<FxHashMap<TermId, TermId>>,
}

impl<'a> Derivation<'a> {
    /// Asserts that the arguments of each body atom equal those of the fact that the premise
    /// derives. For the number of a step and its renaming, `constraint` gives the formula to assert
    /// in addition.
    pub fn new(
        system: &'a System,
        steps: Vec<DerivationStep>,
        smt: &Rc<Smt>,
        mut constraint: impl FnMut(usize, &FxHashMap<TermId, TermId>) -> Vec<TermId>,
    ) -> Self {
        let terms = &system.terms;
        let mut solver = smt.solver();
        let mut renamings: Vec<FxHashMap<TermId, TermId>> = Vec::with_capacity(steps.len());
        for (number, step) in steps.iter().enumerate() {
            let clause = &system.clauses[step.clause];
            let map = terms.renaming(&clause.vars(terms));
            for part in constraint(number, &map) {
                solver.assert(part);
            }
            for (atom, &premise) in clause.body.iter().zip(&step.premises) {
                let head = system.clauses[steps[premise].clause].head.as_ref();
                for (arg, derived) in atom.args.iter().zip(head.iter().flat_map(|h| &h.args)) {
                    solver.assert(terms.eq(map[arg], renamings[premise][derived]));
                }
            }
            renamings.push(map);
        }
        Derivation {
            system,
            solver,
            steps,
            renamings,
        }
    }

    /// The position of the clause that a step applies.
    pub fn clause(&self, step: usize) -> usize {
        self.steps[step].clause
    }

    /// The refutation with the values of a model.
    ///
    /// # Errors
    /// The model cannot be read.
    pub fn refutation(&self, model: &SmtModel) -> Result<Refutation, Stop> {
        let mut found = Refutation { steps: Vec::new() };
        for (step, renaming) in self.steps.iter().zip(&self.renamings) {
            let clause = &self.system.clauses[step.clause];
            let renamed: Vec<TermId> = renaming.values().copied().collect();
            let assignment = values(model, &renamed)?;
            let own = renaming.iter();
            let own = own.filter_map(|(v, new)| Some((*v, *assignment.get(new)?)));
            let values: Assignment = own.collect();
            let fact = clause.head.as_ref().map(|head| Fact {
                predicate: head.predicate,
                values: head
                    .args
                    .iter()
                    .map(|a| values.get(a).copied().unwrap_or(*a))
                    .collect(),
            });
            found.steps.push(RefutationStep {
                clause: clause.id,
                values,
                premises: step.premises.clone(),
                fact,
            });
        }
        Ok(found)
    }
}
