//! The back-translation of refutations that all passes share: each step of the new refutation is
//! replayed by one or more clauses of the old system.
//!
//! A pass gives the old clauses of a step and the values of their variables that it knows. Steps
//! are replayed bottom-up: the values of body arguments come from the facts derived before, other
//! values from the new step, then from the definitions that the pass recorded. Only if these do not
//! satisfy the constraint does a solver look for the rest.
//!
//! Invariant: every step that is returned satisfies its clause's constraint, by evaluation or by a
//! model of the solver. Without queries, the work is linear in the size of the derivation.

use std::borrow::Cow;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::BackTranslationError;
use alphorn_chc::{Atom, Clause, ClauseId, System};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, Evaluator, TermId, TermStore};
use alphorn_witness::{Fact, Refutation, RefutationStep};

/// The derivation of a body atom of an old clause.
#[derive(Clone, Copy, Debug)]
pub(super) enum Premise {
    /// The last old step that replays this step of the new refutation.
    Step(usize),
    /// The old step at this position of the same expansion.
    Inner(usize),
}

/// One of the old steps that replay a new step.
pub(super) struct OldStep<'a> {
    pub clause: ClauseId,
    pub premises: Vec<Premise>,
    /// Values of some of the old clause's variables.
    pub known: Cow<'a, Assignment>,
    /// `variable := term`, each term over variables that are known or defined earlier in the list.
    pub definitions: &'a [(TermId, TermId)],
}

/// A refutation of `system` from a refutation of a later system. `expand` returns the old steps of
/// a new step; the last of them derives the fact of the new step. An empty expansion means that the
/// clause, its values and the facts of its premises are unchanged.
///
/// # Errors
/// The errors of `expand`, the end of the budget, or a step without values.
pub(super) fn replay<'a>(
    system: &System,
    refutation: &'a Refutation,
    cx: &mut Context,
    mut expand: impl FnMut(&'a RefutationStep) -> Result<Vec<OldStep<'a>>, BackTranslationError>,
) -> Result<Refutation, BackTranslationError> {
    let mut replayer = Replayer {
        system,
        index: system.clause_index(),
        vars: FxHashMap::default(),
        smt: None,
        steps: Vec::with_capacity(refutation.steps.len()),
    };
    let mut last_of: Vec<usize> = Vec::with_capacity(refutation.steps.len());
    for (number, step) in refutation.steps.iter().enumerate() {
        if number % 256 == 0
            && let Some(reason) = cx.stop()
        {
            return Err(error(reason.to_string()));
        }
        let expansion = expand(step)?;
        if expansion.is_empty() {
            let mut copy = step.clone();
            for premise in &mut copy.premises {
                *premise = *last_of
                    .get(*premise)
                    .ok_or_else(|| error("a premise does not precede its step"))?;
            }
            replayer.steps.push(copy);
        }
        let base = replayer.steps.len();
        for old in &expansion {
            let premises = old
                .premises
                .iter()
                .map(|premise| match premise {
                    Premise::Step(at) => last_of.get(*at).copied(),
                    Premise::Inner(at) => Some(base + at),
                })
                .collect::<Option<Vec<usize>>>()
                .filter(|p| p.iter().all(|&p| p < replayer.steps.len()));
            let Some(premises) = premises else {
                return Err(error("a premise does not precede its step"));
            };
            replayer.step(old, premises)?;
        }
        last_of.push(replayer.steps.len() - 1);
    }
    Ok(Refutation {
        steps: replayer.steps,
    })
}

fn error(message: impl Into<String>) -> BackTranslationError {
    BackTranslationError(message.into())
}

struct Replayer<'a> {
    system: &'a System,
    index: FxHashMap<ClauseId, usize>,
    vars: FxHashMap<ClauseId, Rc<[TermId]>>,
    smt: Option<Rc<Smt>>,
    steps: Vec<RefutationStep>,
}

impl Replayer<'_> {
    fn step(&mut self, old: &OldStep, premises: Vec<usize>) -> Result<(), BackTranslationError> {
        let system = self.system;
        let clause = match self.index.get(&old.clause) {
            Some(&at) => &system.clauses[at],
            None => {
                return Err(error(format!(
                    "clause {} is not in the old system",
                    old.clause.0
                )));
            }
        };
        let vars = self
            .vars
            .entry(old.clause)
            .or_insert_with(|| clause.vars(&system.terms).into())
            .clone();
        let mut fixed = Assignment::default();
        if premises.len() != clause.body.len() {
            return Err(error("the number of premises is not the body's length"));
        }
        for (&premise, atom) in premises.iter().zip(&clause.body) {
            match &self.steps[premise].fact {
                Some(fact) if fact.predicate == atom.predicate => {
                    fixed.extend(atom.args.iter().copied().zip(fact.values.iter().copied()));
                }
                _ => return Err(error("a premise derives another predicate")),
            }
        }
        let values = match complete(&system.terms, clause, &vars, &fixed, old) {
            Ok(values) => values,
            Err(known) => self.search(clause, &vars, &fixed, &known)?,
        };
        let fact = clause.head.as_ref().map(|head| instance(head, &values));
        self.steps.push(RefutationStep {
            clause: old.clause,
            values,
            premises,
            fact,
        });
        Ok(())
    }

    /// Asks a solver for the missing values: first with all known values, then with those of the
    /// body's and the head's arguments only.
    fn search(
        &mut self,
        clause: &Clause,
        vars: &[TermId],
        fixed: &Assignment,
        known: &Assignment,
    ) -> Result<Assignment, BackTranslationError> {
        let terms = &self.system.terms;
        let smt = self
            .smt
            .get_or_insert_with(|| Smt::new(terms.clone()))
            .clone();
        let head: FxHashSet<TermId> = clause.head.iter().flat_map(|h| &h.args).copied().collect();
        let everything: Assignment = vars
            .iter()
            .filter_map(|v| Some((*v, *fixed.get(v).or_else(|| known.get(v))?)))
            .collect();
        let arguments: Assignment = everything
            .iter()
            .filter(|(v, _)| fixed.contains_key(v) || head.contains(v))
            .map(|(v, t)| (*v, *t))
            .collect();
        let mut reason = String::new();
        for given in [everything, arguments] {
            let mut solver = smt.solver();
            solver.assert(terms.substitute(clause.constraint, &given));
            match solver.check(&[]) {
                SatResult::Sat => {}
                other => {
                    let id = clause.id.0;
                    reason = format!("no values for the variables of clause {id}: {other:?}");
                    continue;
                }
            }
            let open: Vec<TermId> = vars
                .iter()
                .copied()
                .filter(|v| !given.contains_key(v))
                .collect();
            match solver.model().map(|m| m.assignment(&open)) {
                Some(Ok(model)) => {
                    let mut values = given;
                    values.extend(model);
                    return Ok(values);
                }
                Some(Err(error)) => reason = error.to_string(),
                None => reason = "the solver has no model".to_owned(),
            }
        }
        Err(error(reason))
    }
}

/// Values of all variables from those that are known and defined, if they satisfy the constraint.
/// The error is the known and defined values.
fn complete(
    terms: &TermStore,
    clause: &Clause,
    vars: &[TermId],
    fixed: &Assignment,
    old: &OldStep,
) -> Result<Assignment, Assignment> {
    let mut base = old.known.clone().into_owned();
    base.extend(fixed.iter().map(|(v, t)| (*v, *t)));
    let defined: FxHashSet<TermId> = old.definitions.iter().map(|d| d.0).collect();
    let mut free: Vec<TermId> = Vec::new();
    for &var in vars {
        // It occurs in no clause of the new system, so it may have any value.
        if !defined.contains(&var)
            && !base.contains_key(&var)
            && let Some(value) = terms.default_value(terms.sort_of(var))
        {
            base.insert(var, value);
            free.push(var);
        }
    }
    define(terms, &mut base, old.definitions);
    let satisfied = Evaluator::new(terms, &base).value(clause.constraint) == Some(TermId::TRUE);
    let complete = vars.iter().all(|v| base.contains_key(v));
    if !(satisfied && complete) {
        for var in free {
            base.remove(&var);
        }
    }
    let values = vars
        .iter()
        .filter_map(|v| Some((*v, *base.get(v)?)))
        .collect();
    if satisfied && complete {
        Ok(values)
    } else {
        Err(values)
    }
}

/// Adds the values of the defined variables that have none, in order. A variable whose definition
/// has no value stays without one.
pub(super) fn define(terms: &TermStore, values: &mut Assignment, definitions: &[(TermId, TermId)]) {
    let mut bound: Vec<(TermId, TermId)> = Vec::new();
    let mut evaluator = Evaluator::new(terms, values);
    for &(var, term) in definitions {
        if !values.contains_key(&var)
            && let Some(value) = evaluator.value(term)
        {
            evaluator.bind(var, value);
            bound.push((var, value));
        }
    }
    values.extend(bound);
}

/// The ground instance of an atom whose variables all have values.
pub(super) fn instance(atom: &Atom, values: &Assignment) -> Fact {
    Fact {
        predicate: atom.predicate,
        values: atom
            .args
            .iter()
            .map(|a| values.get(a).copied().unwrap_or(*a))
            .collect(),
    }
}
