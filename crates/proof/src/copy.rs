//! Clauses over fresh variables, in formulas that stand for derivations.
//!
//! Invariant: a copy shares with other copies only the arguments that it was given.

use super::definedness::make_total;
use super::steps::{fresh_copy, literal};
use super::stop::{Failure, values};
use alphorn_chc::System;
use alphorn_smt::SmtModel;
use alphorn_term::{Assignment, TermId};
use alphorn_witness::{Fact, Refutation, RefutationStep};

/// A clause's constraint over variables of its own.
#[derive(Clone)]
pub struct ClauseCopy {
    /// Index in the system.
    pub clause: usize,
    /// A Boolean variable that stands for the copy.
    pub literal: TermId,
    /// The clause's variables in the copy, in the order of the clause.
    pub vars: Vec<TermId>,
    /// The constraint over these variables.
    pub formula: TermId,
    /// The same, where terms without a value may have any value.
    pub total: TermId,
}

impl ClauseCopy {
    /// A copy of a clause whose atoms have the given arguments, in order; all other variables are
    /// fresh. `name` is the hint for the literal's name.
    pub fn new(
        system: &System,
        clause: usize,
        arguments: impl Iterator<Item = TermId>,
        name: &str,
    ) -> ClauseCopy {
        let own = &system.clauses[clause];
        let vars = own.vars(&system.terms);
        let (vars, formula) = fresh_copy(&system.terms, &vars, own.constraint, arguments);
        ClauseCopy {
            clause,
            literal: literal(&system.terms, name),
            vars,
            formula,
            total: make_total(&system.terms, formula),
        }
    }

    /// The values of the clause's variables in a model of the copy, and the fact that it derives.
    ///
    /// # Errors
    /// The model cannot be read.
    pub fn ground(
        &self,
        system: &System,
        model: &SmtModel,
    ) -> Result<(Assignment, Option<Fact>), Failure> {
        let clause = &system.clauses[self.clause];
        let here = values(model, &self.vars)?;
        let own = clause.vars(&system.terms).into_iter();
        let values: Assignment = own.zip(self.vars.iter().map(|v| here[v])).collect();
        let fact = clause.head.as_ref().map(|head| Fact {
            predicate: head.predicate,
            values: head.args.iter().map(|a| values[a]).collect(),
        });
        Ok((values, fact))
    }

    /// The derivation by copies of linear clauses in a model, in which each step uses the fact of
    /// the step before it.
    ///
    /// # Errors
    /// The model cannot be read.
    pub fn derivation<'c>(
        chain: impl IntoIterator<Item = &'c ClauseCopy>,
        system: &System,
        model: &SmtModel,
    ) -> Result<Refutation, Failure> {
        let mut steps: Vec<RefutationStep> = Vec::new();
        for copy in chain {
            let clause = &system.clauses[copy.clause];
            let (values, fact) = copy.ground(system, model)?;
            steps.push(RefutationStep {
                clause: clause.id,
                premises: clause.body.iter().map(|_| steps.len() - 1).collect(),
                values,
                fact,
            });
        }
        Ok(Refutation { steps })
    }
}
