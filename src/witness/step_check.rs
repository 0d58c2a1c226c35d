//! The check of a refutation, step by step and by evaluation only.
//!
//! Invariant: no search and no solver. A step counts only if its clause's constraint evaluates to
//! `true` under the step's own values, so what has no known value (division by zero, a selector
//! on another constructor, a quantifier) never helps a refutation through.

use rustc_hash::FxHashMap;
use thiserror::Error;

use super::{Fact, Refutation};
use crate::chc::{Atom, ClauseId, System};
use crate::term::{Assignment, Evaluator, TermId, TermStore};

/// What is wrong with a refutation.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum StepError {
    #[error("the refutation has no steps")]
    Empty,
    #[error("the last step does not derive false")]
    NotFalse,
    #[error("step {step}: there is no clause {clause}")]
    NoClause { step: usize, clause: u32 },
    #[error("step {step}: {message}")]
    Step { step: usize, message: String },
}

/// Whether every step of `refutation` is an instance of its clause in `system`, premises included,
/// and the last one derives `false`. Time is linear in the sum of the sizes of the clauses used.
pub fn check_refutation(system: &System, refutation: &Refutation) -> Result<(), StepError> {
    let terms = &*system.terms;
    let clauses: FxHashMap<ClauseId, usize> = system.clause_index();
    for (number, step) in refutation.steps.iter().enumerate() {
        let fail = |message: String| {
            Err(StepError::Step {
                step: number,
                message,
            })
        };
        let Some(&at) = clauses.get(&step.clause) else {
            return Err(StepError::NoClause {
                step: number,
                clause: step.clause.0,
            });
        };
        let clause = &system.clauses[at];
        for var in clause.vars(terms) {
            let Some(&value) = step.values.get(&var) else {
                return fail(format!("{} has no value", terms.var_name(var)));
            };
            if !terms.is_value(value) || terms.sort_of(value) != terms.sort_of(var) {
                return fail(format!("{} has no proper value", terms.var_name(var)));
            }
        }
        if step.premises.len() != clause.body.len() {
            return fail("the number of premises is not the body's length".to_owned());
        }
        for (&premise, atom) in step.premises.iter().zip(&clause.body) {
            if premise >= number {
                return fail(format!("premise {premise} does not come before"));
            }
            if refutation.steps[premise].fact != ground(atom, &step.values) {
                return fail(format!("premise {premise} is no instance of its body atom"));
            }
        }
        if step.fact != clause.head.as_ref().and_then(|h| ground(h, &step.values)) {
            return fail("what is derived is not the clause's head".to_owned());
        }
        if !holds(terms, clause.constraint, &step.values) {
            return fail("the constraint does not evaluate to true".to_owned());
        }
    }
    match refutation.steps.last() {
        None => Err(StepError::Empty),
        Some(last) if last.fact.is_some() => Err(StepError::NotFalse),
        Some(_) => Ok(()),
    }
}

/// The atom's instance; `None` when an argument is no variable with a value.
fn ground(atom: &Atom, values: &Assignment) -> Option<Fact> {
    Some(Fact {
        predicate: atom.predicate,
        values: atom
            .args
            .iter()
            .map(|a| values.get(a).copied())
            .collect::<Option<_>>()?,
    })
}

fn holds(terms: &TermStore, constraint: TermId, values: &Assignment) -> bool {
    Evaluator::new(terms, values).value(constraint) == Some(TermId::TRUE)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::term::SortId;
    use crate::witness::RefutationStep;

    /// `x = 0 ⇒ P(x)`, `P(x) ∧ y = x + 1 ⇒ P(y)`, `P(x) ∧ x ≥ 1 ⇒ false`, with its refutation.
    fn counter() -> (System, Refutation) {
        let terms = Rc::new(TermStore::new());
        let mut system = System::new(terms.clone());
        let p = system.add_predicate("P", &[SortId::INT]);
        let (x, y) = (terms.var("x", SortId::INT), terms.var("y", SortId::INT));
        let (zero, one) = (terms.int(0), terms.int(1));
        let atom = |v| Atom {
            predicate: p,
            args: vec![v],
        };
        let init = system.add_clause(vec![], terms.eq(x, zero), Some(atom(x)));
        let next = terms.eq(y, terms.add(&[x, one]));
        let step = system.add_clause(vec![atom(x)], next, Some(atom(y)));
        let query = system.add_clause(vec![atom(x)], terms.ge(x, one), None);
        let fact = |value| {
            Some(Fact {
                predicate: p,
                values: vec![value],
            })
        };
        let make = |clause, values: &[(TermId, TermId)], premises: &[usize], fact| RefutationStep {
            clause,
            values: values.iter().copied().collect(),
            premises: premises.to_vec(),
            fact,
        };
        let refutation = Refutation {
            steps: vec![
                make(init, &[(x, zero)], &[], fact(zero)),
                make(step, &[(x, zero), (y, one)], &[0], fact(one)),
                make(query, &[(x, one)], &[1], None),
            ],
        };
        (system, refutation)
    }

    #[test]
    fn accepts_a_derivation() {
        let (system, refutation) = counter();
        assert_eq!(check_refutation(&system, &refutation), Ok(()));
    }

    #[test]
    fn rejects_what_is_no_derivation() {
        let (system, good) = counter();
        let reject = |change: &dyn Fn(&mut Refutation)| {
            let mut bad = good.clone();
            change(&mut bad);
            assert!(check_refutation(&system, &bad).is_err(), "{bad:?}");
        };
        let two = system.terms.int(2);
        let y = system.terms.var("y", SortId::INT);
        reject(&|r| r.steps.clear());
        reject(&|r| drop(r.steps.pop()));
        reject(&|r| r.steps[2].premises = vec![0]);
        reject(&|r| r.steps[1].premises = vec![1]);
        reject(&|r| r.steps[1].premises = vec![]);
        reject(&|r| r.steps[2].clause = ClauseId(7));
        reject(&|r| {
            r.steps[1].values.remove(&y);
        });
        reject(&|r| {
            r.steps[1].values.insert(y, TermId::TRUE);
        });
        reject(&|r| {
            r.steps[1].values.insert(y, two);
            r.steps[1].fact.as_mut().unwrap().values[0] = two;
        });
        reject(&|r| r.steps[1].fact = None);
    }
}
