//! Makes a system in normal form from the user's clauses: arguments become distinct variables, and
//! equations of the constraint say which terms they stand for. Each disjunction in bodies becomes a
//! predicate over its free variables, with a clause for each alternative. No other module knows these
//! auxiliary predicates: the back-translation joins a step with its premises that are facts of them.
//!
//! Invariant: predicates and clauses have their indexes in the problem as ids, and predicates keep
//! their formal variables; auxiliary ones come after them. So a model needs no back-translation but
//! to forget, and a refutation other values and longer steps.

use rustc_hash::FxHashSet;

use super::{BackTranslation, BackTranslationError};
use alphorn_chc::frontend::{Disjunction, Problem};
use alphorn_chc::{Atom, ClauseId, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, TermId, TermStore};
use alphorn_witness::{Model, Refutation, RefutationStep};

/// The problem as a system, with the back-translation.
pub fn normalize(problem: &Problem) -> (System, Normalization) {
    let terms = &problem.terms;
    let mut system = System::new(terms.clone());
    system.predicates.clone_from(&problem.predicates);
    let auxiliary = auxiliary_predicates(problem, &mut system);
    let mut vars = Vec::with_capacity(problem.clauses.len());
    for (index, clause) in problem.clauses.iter().enumerate() {
        let disjunctions = clause.disjunctions.iter();
        let disjunctions = disjunctions.map(|&at| &auxiliary[at]);
        let body: Vec<&Atom> = clause.body.iter().chain(disjunctions).collect();
        let id = add_clause(&mut system, &body, clause.constraint, clause.head.as_ref());
        debug_assert_eq!(id, ClauseId(index as u32));
        vars.push(clause.vars.iter().map(|v| v.1).collect());
    }
    let mut alternatives = Vec::new();
    for (disjunction, atom) in problem.disjunctions.iter().zip(&auxiliary) {
        for alternative in &disjunction.alternatives {
            let disjunctions = alternative.disjunctions.iter();
            let disjunctions = disjunctions.map(|&at| &auxiliary[at]);
            let body: Vec<&Atom> = alternative.body.iter().chain(disjunctions).collect();
            add_clause(&mut system, &body, alternative.constraint, Some(atom));
            alternatives.push(alternative.vars.iter().map(|v| v.1).collect());
        }
    }
    debug_assert_eq!(system.check(), Ok(()));
    let back = Normalization {
        terms: terms.clone(),
        predicates: problem.predicates.len(),
        vars,
        alternatives,
    };
    (system, back)
}

/// Adds a clause whose atoms may have any arguments.
fn add_clause(
    system: &mut System,
    body: &[&Atom],
    constraint: TermId,
    head: Option<&Atom>,
) -> ClauseId {
    let terms = system.terms.clone();
    let mut used: FxHashSet<TermId> = FxHashSet::default();
    let mut conjuncts = vec![constraint];
    let mut flatten = |atom: &Atom| {
        let params = &system.predicates[atom.predicate.index()].params;
        let args = atom
            .args
            .iter()
            .zip(params)
            .map(|(&arg, &param)| {
                if terms.is_var(arg) && used.insert(arg) {
                    return arg;
                }
                let var = terms.fresh_copy(param);
                conjuncts.push(terms.eq(var, arg));
                var
            })
            .collect();
        Atom {
            predicate: atom.predicate,
            args,
        }
    };
    let body: Vec<Atom> = body.iter().map(|atom| flatten(atom)).collect();
    let head = head.map(&mut flatten);
    system.add_clause(body, terms.and(&conjuncts), head)
}

/// Adds a predicate for each disjunction and returns the atoms that stand for them.
fn auxiliary_predicates(problem: &Problem, system: &mut System) -> Vec<Atom> {
    let terms = &problem.terms;
    let names: FxHashSet<&str> = problem.predicates.iter().map(|p| p.name.as_str()).collect();
    let mut atoms: Vec<Atom> = Vec::with_capacity(problem.disjunctions.len());
    for disjunction in &problem.disjunctions {
        let mut name = format!("or!{}", atoms.len());
        while names.contains(name.as_str()) {
            name.push('!');
        }
        let args = free_variables(terms, disjunction, &atoms);
        let sorts: Vec<_> = args.iter().map(|&arg| terms.sort_of(arg)).collect();
        let predicate = system.add_predicate(&name, &sorts);
        atoms.push(Atom { predicate, args });
    }
    atoms
}

/// The free variables of a disjunction, in the order of their occurrence. `atoms` stand for those
/// before it.
fn free_variables(terms: &TermStore, disjunction: &Disjunction, atoms: &[Atom]) -> Vec<TermId> {
    let mut free = Vec::new();
    let mut seen: FxHashSet<TermId> = FxHashSet::default();
    for alternative in &disjunction.alternatives {
        seen.extend(alternative.vars.iter().map(|v| v.1));
        let disjunctions = alternative.disjunctions.iter().map(|&at| &atoms[at]);
        let all = alternative.body.iter().chain(disjunctions);
        let mut roots: Vec<TermId> = all.flat_map(|atom| atom.args.iter().copied()).collect();
        roots.push(alternative.constraint);
        let variables = terms.free_vars(&roots).into_iter();
        free.extend(variables.filter(|variable| seen.insert(*variable)));
    }
    free
}

/// The back-translation from the normal form to the problem.
pub struct Normalization {
    terms: std::rc::Rc<TermStore>,
    /// The number of the problem's predicates.
    predicates: usize,
    /// The problem's variables, by clause.
    vars: Vec<Vec<TermId>>,
    /// The variables of the alternatives of disjunctions, by clause after those of the problem.
    alternatives: Vec<Vec<TermId>>,
}

impl Normalization {
    /// Adds the values of the alternatives that a step applies, and their premises, to a step of
    /// the problem. `step` is one of `steps`.
    fn join(
        &self,
        steps: &[RefutationStep],
        step: &RefutationStep,
        values: &mut Assignment,
        premises: &mut Vec<usize>,
    ) {
        let is_auxiliary = |premise: usize| {
            let fact = steps[premise].fact.as_ref();
            fact.is_some_and(|fact| fact.predicate.index() >= self.predicates)
        };
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let mut stack: Vec<usize> = step.premises.iter().rev().copied().collect();
        while let Some(premise) = stack.pop() {
            if !is_auxiliary(premise) {
                premises.push(premise);
                continue;
            }
            if !seen.insert(premise) {
                continue;
            }
            let alternative = &steps[premise];
            let at = alternative.clause.0 as usize - self.vars.len();
            for var in self.alternatives.get(at).into_iter().flatten() {
                if let Some(&value) = alternative.values.get(var) {
                    values.entry(*var).or_insert(value);
                }
            }
            stack.extend(alternative.premises.iter().rev());
        }
    }
}

impl BackTranslation for Normalization {
    fn model(&self, mut model: Model, _cx: &mut Context) -> Result<Model, BackTranslationError> {
        let is_own = |id: &PredicateId| id.index() < self.predicates;
        model.definitions.retain(|id, _| is_own(id));
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        _cx: &mut Context,
    ) -> Result<Refutation, BackTranslationError> {
        let all = self.vars.len() + self.alternatives.len();
        let steps = refutation.steps;
        if let Some(step) = steps.iter().find(|step| step.clause.0 as usize >= all) {
            return Err(BackTranslationError(format!(
                "clause {} is not in the problem",
                step.clause.0
            )));
        }
        let mut result = Refutation::default();
        // The positions of the steps in the result; those of auxiliary facts have none.
        let mut positions: Vec<Option<usize>> = Vec::with_capacity(steps.len());
        for step in &steps {
            let Some(vars) = self.vars.get(step.clause.0 as usize) else {
                positions.push(None);
                continue;
            };
            let mut joined = Assignment::default();
            let mut premises = Vec::with_capacity(step.premises.len());
            self.join(&steps, step, &mut joined, &mut premises);
            let mut values = Assignment::default();
            for &var in vars {
                // A variable that the clause does not mention may have any value.
                let value = step.values.get(&var).or_else(|| joined.get(&var)).copied();
                let value = value.or_else(|| self.terms.default_value(self.terms.sort_of(var)));
                let Some(value) = value else {
                    let name = self.terms.var_name(var);
                    return Err(BackTranslationError(format!(
                        "there is no value for {name}"
                    )));
                };
                values.insert(var, value);
            }
            let premises = premises.into_iter().map(|premise| positions[premise]);
            let premises: Option<Vec<usize>> = premises.collect();
            positions.push(Some(result.steps.len()));
            result.steps.push(RefutationStep {
                clause: step.clause,
                values,
                premises: premises
                    .ok_or_else(|| BackTranslationError("a premise without a step".to_owned()))?,
                fact: step.fact.clone(),
            });
        }
        Ok(result)
    }
}
