//! The check of a refutation by evaluation, step by step.
//!
//! # Invariant
//! A step is accepted only if the constraint of its clause evaluates to `true` under the step's
//! values (or has no value and is valid) and its atoms evaluate to the facts of its premises and to
//! its own fact; of each disjunction in its body, an alternative holds with the premises as facts. The time is linear in the sizes of the steps' clauses.

use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use super::{Fact, Refutation};
use alphorn_chc::frontend::{Disjunction, Problem};
use alphorn_chc::{Atom, ClauseId, Predicate, PredicateId, System};
use alphorn_term::{Assignment, Evaluator, TermId, TermStore};

/// Why a refutation is rejected.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum StepError {
    /// The last step does not derive `false`, or there are no steps.
    #[error("the refutation does not end with `false`")]
    NoContradiction,
    /// A step is not an application of its clause.
    #[error("step {step}: {message}")]
    Step {
        /// The step's number, from 1.
        step: usize,
        /// The reason.
        message: String,
    },
}

/// A clause whose atoms may have any terms as arguments.
pub struct Rule<'a> {
    /// All variables; a step has a value for each.
    pub vars: Vec<TermId>,
    /// The body atoms.
    pub body: &'a [Atom],
    /// The constraint.
    pub constraint: TermId,
    /// Further conjuncts of the body, as positions in [`Rules::disjunctions`].
    pub disjunctions: &'a [usize],
    /// The head; `None` for `false`.
    pub head: Option<&'a Atom>,
}

/// The clauses that a refutation applies.
pub trait Rules {
    /// The store of their terms.
    fn terms(&self) -> &TermStore;
    /// A predicate; `None` for an unknown id.
    fn predicate(&self, id: PredicateId) -> Option<&Predicate>;
    /// A clause; `None` for an unknown id.
    fn rule(&self, id: ClauseId) -> Option<Rule<'_>>;
    /// The disjunctions in bodies, each after those in it.
    fn disjunctions(&self) -> &[Disjunction];
    /// The positions of the disjunctions in the body of a clause, at any depth, ascending.
    fn disjunctions_of(&self, id: ClauseId) -> Vec<usize>;
}

impl Rules for Problem {
    fn terms(&self) -> &TermStore {
        &self.terms
    }

    fn predicate(&self, id: PredicateId) -> Option<&Predicate> {
        self.predicates.get(id.index())
    }

    fn rule(&self, id: ClauseId) -> Option<Rule<'_>> {
        let clause = self.clauses.get(id.0 as usize)?;
        Some(Rule {
            vars: clause.vars.iter().map(|v| v.1).collect(),
            body: &clause.body,
            constraint: clause.constraint,
            disjunctions: &clause.disjunctions,
            head: clause.head.as_ref(),
        })
    }

    fn disjunctions(&self) -> &[Disjunction] {
        &self.disjunctions
    }

    fn disjunctions_of(&self, id: ClauseId) -> Vec<usize> {
        let clause = self.clauses.get(id.0 as usize);
        clause.map_or_else(Vec::new, |clause| Problem::disjunctions_of(self, clause))
    }
}

/// The clauses of a system, indexed by id.
pub struct SystemRules<'a> {
    system: &'a System,
    index: FxHashMap<ClauseId, usize>,
}

impl<'a> SystemRules<'a> {
    /// Indexes the clauses of a system.
    pub fn new(system: &'a System) -> Self {
        SystemRules {
            system,
            index: system.clause_index(),
        }
    }
}

impl Rules for SystemRules<'_> {
    fn terms(&self) -> &TermStore {
        &self.system.terms
    }

    fn predicate(&self, id: PredicateId) -> Option<&Predicate> {
        self.system.predicates.get(id.index())
    }

    fn rule(&self, id: ClauseId) -> Option<Rule<'_>> {
        let clause = &self.system.clauses[*self.index.get(&id)?];
        Some(Rule {
            vars: clause.vars(&self.system.terms),
            body: &clause.body,
            constraint: clause.constraint,
            disjunctions: &[],
            head: clause.head.as_ref(),
        })
    }

    fn disjunctions(&self) -> &[Disjunction] {
        &[]
    }

    fn disjunctions_of(&self, _id: ClauseId) -> Vec<usize> {
        Vec::new()
    }
}

/// Checks a refutation of a system; constraints without a value are rejected.
///
/// # Errors
/// Why the refutation is rejected.
pub fn check_refutation(system: &System, refutation: &Refutation) -> Result<(), StepError> {
    check_steps(&SystemRules::new(system), refutation, |_| false)
}

/// Checks that `refutation` derives `false` with `rules`. For a ground constraint without a value
/// (it has a quantifier, or depends on a division by zero), `valid` decides whether it holds in
/// every interpretation.
///
/// # Errors
/// Why the refutation is rejected.
pub fn check_steps(
    rules: &impl Rules,
    refutation: &Refutation,
    mut valid: impl FnMut(TermId) -> bool,
) -> Result<(), StepError> {
    let mut last_is_false = false;
    let mut vars: FxHashMap<ClauseId, Vec<TermId>> = FxHashMap::default();
    for (index, step) in refutation.steps.iter().enumerate() {
        let fail = |message: String| {
            Err(StepError::Step {
                step: index + 1,
                message,
            })
        };
        let terms = rules.terms();
        let Some(mut rule) = rules.rule(step.clause) else {
            return fail(format!("there is no clause with id {}", step.clause.0));
        };
        let rule_vars = vars
            .entry(step.clause)
            .or_insert_with(|| std::mem::take(&mut rule.vars));
        for &var in rule_vars.iter() {
            let name = terms.var_name(var);
            match step.values.get(&var) {
                None => return fail(format!("variable {name} has no value")),
                Some(&value) if !terms.is_value(value) => {
                    return fail(format!("the term for variable {name} is not a value"));
                }
                Some(&value) if terms.sort_of(value) != terms.sort_of(var) => {
                    return fail(format!("the value of variable {name} has another sort"));
                }
                Some(_) => {}
            }
        }
        let mut evaluator = Evaluator::new(terms, &step.values);
        match evaluator.value(rule.constraint) {
            Some(TermId::TRUE) => {}
            Some(_) => return fail("the constraint is false".to_owned()),
            None => {
                let ground = ground(terms, rule.constraint, rule_vars, &step.values);
                if ground != TermId::TRUE && !valid(ground) {
                    return fail("the constraint is not known to be true".to_owned());
                }
            }
        }
        let has_disjunctions = !rule.disjunctions.is_empty();
        let (own, further) = step
            .premises
            .split_at(rule.body.len().min(step.premises.len()));
        if own.len() < rule.body.len() || !(has_disjunctions || further.is_empty()) {
            return fail(format!(
                "{} premises for {} body atoms",
                step.premises.len(),
                rule.body.len()
            ));
        }
        let mut facts = Vec::with_capacity(step.premises.len());
        for &premise in &step.premises {
            if premise >= index {
                let premise = premise.saturating_add(1);
                return fail(format!("premise {premise} does not come before it"));
            }
            let Some(fact) = &refutation.steps[premise].fact else {
                return fail(format!("premise {} is `false`", premise + 1));
            };
            facts.push(fact);
        }
        for (position, (&premise, atom)) in own.iter().zip(rule.body).enumerate() {
            let fact = facts[position];
            if let Err(what) = agrees(&mut evaluator, atom, fact) {
                return fail(format!(
                    "body atom {}: {what} of premise {}",
                    position + 1,
                    premise + 1
                ));
            }
        }
        if has_disjunctions {
            let mut holds = |constraint: TermId, evaluator: &mut Evaluator| {
                evaluator.value(constraint).map_or_else(
                    || valid(ground(terms, constraint, rule_vars, &step.values)),
                    |value| value == TermId::TRUE,
                )
            };
            let facts: FxHashSet<&Fact> = facts.into_iter().collect();
            let nested = rules.disjunctions_of(step.clause);
            let mut true_ones: FxHashSet<usize> = FxHashSet::default();
            for at in nested {
                let alternatives = &rules.disjunctions()[at].alternatives;
                let found = alternatives.iter().any(|alternative| {
                    alternative
                        .disjunctions
                        .iter()
                        .all(|d| true_ones.contains(d))
                        && alternative
                            .body
                            .iter()
                            .all(|a| fact_of(&mut evaluator, a).is_some_and(|f| facts.contains(&f)))
                        && holds(alternative.constraint, &mut evaluator)
                });
                if found {
                    true_ones.insert(at);
                }
            }
            if !rule.disjunctions.iter().all(|d| true_ones.contains(d)) {
                return fail("no alternative of a disjunction holds".to_owned());
            }
        }
        match (rule.head, &step.fact) {
            (None, None) => {}
            (Some(atom), Some(fact)) => {
                if let Err(what) = agrees(&mut evaluator, atom, fact) {
                    return fail(format!("head: {what} of the fact"));
                }
                // The atom's predicate may be unknown.
                let arity = rules.predicate(fact.predicate).map(Predicate::arity);
                if arity != Some(fact.values.len()) {
                    return fail("the fact has a wrong number of arguments".to_owned());
                }
            }
            (Some(_), None) => return fail("the clause does not derive `false`".to_owned()),
            (None, Some(_)) => return fail("the clause derives `false`, not a fact".to_owned()),
        }
        last_is_false = step.fact.is_none();
    }
    if last_is_false {
        Ok(())
    } else {
        Err(StepError::NoContradiction)
    }
}

/// Checks that an atom evaluates to a fact; an error is the beginning of a message.
fn agrees(evaluator: &mut Evaluator, atom: &Atom, fact: &Fact) -> Result<(), String> {
    if atom.predicate != fact.predicate || atom.args.len() != fact.values.len() {
        return Err("the predicate differs from that".to_owned());
    }
    for (position, (&arg, &value)) in atom.args.iter().zip(&fact.values).enumerate() {
        if evaluator.value(arg) != Some(value) {
            return Err(format!("argument {} differs from that", position + 1));
        }
    }
    Ok(())
}

/// The fact that an atom evaluates to.
fn fact_of(evaluator: &mut Evaluator, atom: &Atom) -> Option<Fact> {
    let values = atom.args.iter().map(|&arg| evaluator.value(arg));
    Some(Fact {
        predicate: atom.predicate,
        values: values.collect::<Option<_>>()?,
    })
}

/// The formula with values in place of its variables.
fn ground(terms: &TermStore, formula: TermId, vars: &[TermId], values: &Assignment) -> TermId {
    let map = vars.iter().map(|v| (*v, values[v])).collect();
    terms.substitute(formula, &map)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::RefutationStep;
    use alphorn_term::SortId;

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
    fn rejects_other_steps() {
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
