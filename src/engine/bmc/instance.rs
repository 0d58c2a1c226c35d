//! Instances of clauses over variables of their own, and their values in a model.
//!
//! Invariant: the atoms' variables are the caller's, all others are fresh, so two instances share
//! only what the caller lets them share.

use rustc_hash::FxHashMap;

use crate::chc::{Clause, System};
use crate::engine::EngineError;
use crate::smt::SmtModel;
use crate::term::{Assignment, TermId, TermStore};
use crate::witness::Fact;

/// All variables of each clause, found once.
pub(super) struct ClauseVars {
    vars: Vec<Option<Vec<TermId>>>,
}

/// A clause over variables of its own.
pub(super) struct Instance {
    /// Index in the system.
    pub clause: usize,
    /// The instance is in force when this is true.
    pub literal: TermId,
    /// The instance's variables, in the order of the clause's.
    vars: Vec<TermId>,
}

impl ClauseVars {
    pub fn new(system: &System) -> Self {
        ClauseVars {
            vars: vec![None; system.clauses.len()],
        }
    }

    /// The variables of a clause: arguments first, in the order of its atoms, then locals.
    pub fn of(&mut self, system: &System, clause: usize) -> &[TermId] {
        self.vars[clause].get_or_insert_with(|| system.clauses[clause].vars(&system.terms))
    }

    /// An instance with the given variables as arguments of the atoms, body first, and its
    /// constraint.
    pub fn instantiate(
        &mut self,
        system: &System,
        clause: usize,
        literal: TermId,
        arguments: impl Iterator<Item = TermId>,
    ) -> (Instance, TermId) {
        let terms = &system.terms;
        let mut map: FxHashMap<TermId, TermId> = system.clauses[clause]
            .atoms()
            .flat_map(|a| a.args.iter().copied())
            .zip(arguments)
            .collect();
        let vars = self
            .of(system, clause)
            .iter()
            .map(|&v| {
                *map.entry(v)
                    .or_insert_with(|| terms.fresh_var(terms.var_name(v), terms.sort_of(v)))
            })
            .collect();
        let constraint = terms.substitute(system.clauses[clause].constraint, &map);
        let instance = Instance {
            clause,
            literal,
            vars,
        };
        (instance, constraint)
    }

    /// Values of the clause's variables in a model of the instance.
    pub fn values(
        &mut self,
        system: &System,
        instance: &Instance,
        model: &SmtModel,
    ) -> Result<Assignment, EngineError> {
        let values = model.assignment(&instance.vars).map_err(|e| failed(&e))?;
        self.of(system, instance.clause)
            .iter()
            .zip(&instance.vars)
            .map(|(var, own)| match values.get(own) {
                Some(&value) => Ok((*var, value)),
                None => Err(failed(&"a variable without value")),
            })
            .collect()
    }
}

/// What a clause derives under an assignment of its variables.
pub(super) fn derived(clause: &Clause, values: &Assignment) -> Option<Fact> {
    clause.head.as_ref().map(|head| Fact {
        predicate: head.predicate,
        values: head.args.iter().map(|v| values[v]).collect(),
    })
}

/// Whether a literal is true in a model.
pub(super) fn holds(model: &SmtModel, literal: TermId) -> Result<bool, EngineError> {
    Ok(model.value(literal).map_err(|e| failed(&e))? == TermId::TRUE)
}

/// A fresh Boolean.
pub(super) fn literal(terms: &TermStore, name: &str) -> TermId {
    terms.fresh_var(name, crate::term::SortId::BOOL)
}

/// A defect, or an oracle whose model we cannot read.
pub(super) fn failed(message: &dyn std::fmt::Display) -> EngineError {
    EngineError::Failed {
        step: "reading a derivation off a model",
        message: message.to_string(),
    }
}
