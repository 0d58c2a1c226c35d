//! Makes a system in normal form from the user's clauses: arguments become distinct variables, and
//! equations of the constraint say which terms they stand for.
//!
//! Invariant: predicates and clauses have their indexes in the problem as ids, and predicates keep
//! their formal variables. So a model needs no back-translation, and a refutation only other
//! values.

use rustc_hash::FxHashSet;

use super::{BackTranslation, BackTranslationError};
use alphorn_chc::frontend::Problem;
use alphorn_chc::{Atom, ClauseId, System};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, TermId, TermStore};
use alphorn_witness::{Model, Refutation};

/// The problem as a system, with the back-translation.
pub fn normalize(problem: &Problem) -> (System, Normalization) {
    let terms = &problem.terms;
    let mut system = System::new(terms.clone());
    system.predicates.clone_from(&problem.predicates);
    let mut vars = Vec::with_capacity(problem.clauses.len());
    for (index, clause) in problem.clauses.iter().enumerate() {
        let mut used: FxHashSet<TermId> = FxHashSet::default();
        let mut conjuncts = vec![clause.constraint];
        let mut flatten = |atom: &Atom| {
            let params = &problem.predicates[atom.predicate.index()].params;
            let args = atom
                .args
                .iter()
                .zip(params)
                .map(|(&arg, &param)| {
                    if terms.is_var(arg) && used.insert(arg) {
                        return arg;
                    }
                    let var = terms.fresh_var(terms.var_name(param), terms.sort_of(param));
                    conjuncts.push(terms.eq(var, arg));
                    var
                })
                .collect();
            Atom {
                predicate: atom.predicate,
                args,
            }
        };
        let body: Vec<Atom> = clause.body.iter().map(&mut flatten).collect();
        let head = clause.head.as_ref().map(&mut flatten);
        let id = system.add_clause(body, terms.and(&conjuncts), head);
        debug_assert_eq!(id, ClauseId(index as u32));
        vars.push(clause.vars.iter().map(|v| v.1).collect());
    }
    debug_assert_eq!(system.check(), Ok(()));
    let back = Normalization {
        terms: terms.clone(),
        vars,
    };
    (system, back)
}

/// The back-translation from the normal form to the problem.
pub struct Normalization {
    terms: std::rc::Rc<TermStore>,
    /// The problem's variables, by clause.
    vars: Vec<Vec<TermId>>,
}

impl BackTranslation for Normalization {
    fn model(&self, model: Model, _cx: &mut Context) -> Result<Model, BackTranslationError> {
        Ok(model)
    }

    fn refutation(
        &self,
        mut refutation: Refutation,
        _cx: &mut Context,
    ) -> Result<Refutation, BackTranslationError> {
        for step in &mut refutation.steps {
            let Some(vars) = self.vars.get(step.clause.0 as usize) else {
                return Err(BackTranslationError(format!(
                    "clause {} is not in the problem",
                    step.clause.0
                )));
            };
            let mut values = Assignment::default();
            for &var in vars {
                // A variable that the clause does not mention may have any value.
                let value = step.values.get(&var).copied();
                let value = value.or_else(|| self.terms.default_value(self.terms.sort_of(var)));
                let Some(value) = value else {
                    let name = self.terms.var_name(var);
                    return Err(BackTranslationError(format!(
                        "there is no value for {name}"
                    )));
                };
                values.insert(var, value);
            }
            step.values = values;
        }
        Ok(refutation)
    }
}
