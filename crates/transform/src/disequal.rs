//! Replaces relations that define equality by recursion with literals: `x = y`, its negation, or
//! its value as a third argument.
//!
//! Clauses over datatypes often define disequality by recursion over both terms. A relation is
//! replaced, together with other such relations that it depends on, if all its clauses hold for the
//! literal as its definition, and if it derives all samples for which the literal is true.
//!
//! Invariant: the literals satisfy the clauses of their relations, so they are definitions in a
//! model. In a refutation the facts of the relations are derived; if that fails, the refutation is
//! lost.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::replacement::Replacement;
use super::replay::{OldStep, Premise, instance, replay};
use super::{BackTranslation, BackTranslationError, Step, Transformation};
use alphorn_chc::{ClauseIndex, PredicateId, System};
use alphorn_proof::functions::{equality_relations, random_value};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, Random, Sort, SortId, TermId, TermStore};
use alphorn_witness::{Fact, Model, Refutation};

/// The limits of the pass and its back-translation.
struct Limits {
    /// Work of the search for relations; at its end the pass does nothing.
    search_work: Duration,
    /// Samples on which a relation is tested.
    samples: u32,
    /// Samples for which the literal must be true; with fewer the relation is kept.
    min_true_samples: usize,
    /// Clauses that are tried to derive one fact.
    max_attempts: usize,
    /// Height of the derivation of a fact.
    max_height: usize,
}

const LIMITS: Limits = Limits {
    search_work: Duration::from_millis(200),
    samples: 32,
    min_true_samples: 4,
    max_attempts: 2000,
    max_height: 300,
};

/// The pass.
pub struct Disequal;

impl Transformation for Disequal {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let terms = &old.terms;
        let recursive = |&p: &TermId| terms.sized(terms.sort_of(p)).is_some();
        let has_terms = |p: &PredicateId| old.predicate(*p).params.iter().any(recursive);
        if !old.used_predicates().iter().any(has_terms) {
            return None;
        }
        let smt = Smt::new(terms.clone());
        let part = cx.budget.about(LIMITS.search_work);
        let (all, literals) = cx.within(part, |cx| {
            let all = equality_relations(old, &smt, cx);
            let mut literals = all.clone();
            literals.retain(|&p, &mut literal| {
                has_terms(&p) && is_derivable(old, &smt, p, literal, &all)
            });
            // A relation that depends on one that derives less probably derives less, too.
            let clauses = ClauseIndex::new(old);
            loop {
                let kept = literals.clone();
                let complete = |p: PredicateId| !all.contains_key(&p) || kept.contains_key(&p);
                literals.retain(|&p, _| {
                    let mut bodies = clauses.deriving(p).iter().map(|&c| &old.clauses[c].body);
                    bodies.all(|body| body.iter().all(|atom| complete(atom.predicate)))
                });
                if literals.len() == kept.len() {
                    break;
                }
            }
            if cx.stop().is_some() {
                literals.clear();
            }
            (all, literals)
        });
        if literals.is_empty() {
            return None;
        }
        let mut system = (**old).clone();
        let is_literal = |p: &PredicateId| literals.contains_key(p);
        system
            .clauses
            .retain(|c| !c.head.as_ref().is_some_and(|h| is_literal(&h.predicate)));
        for clause in &mut system.clauses {
            let mut conjuncts = vec![clause.constraint];
            clause.body.retain(|atom| {
                let literal = literals.get(&atom.predicate);
                conjuncts.extend(literal.map(|&l| old.instantiate(l, atom)));
                literal.is_none()
            });
            clause.constraint = terms.and(&conjuncts);
        }
        // Relations that are kept may depend on others.
        let mut definitions = Replacement::new(old);
        for (&predicate, &literal) in &all {
            definitions.strengthen(predicate, literal);
        }
        let back = Back {
            old: old.clone(),
            literals,
            definitions,
        };
        Some(Step {
            system,
            back: Box::new(back),
        })
    }
}

struct Back {
    old: Rc<System>,
    /// Over the formal variables.
    literals: FxHashMap<PredicateId, TermId>,
    definitions: Replacement,
}

impl BackTranslation for Back {
    fn model(&self, model: Model, cx: &mut Context) -> Result<Model, BackTranslationError> {
        self.definitions.model(model, cx)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackTranslationError> {
        let system = &*self.old;
        let terms = &system.terms;
        let index = system.clause_index();
        let smt = Smt::new(terms.clone());
        let clauses = ClauseIndex::new(system);
        let mut deriver = Deriver::new(system, &clauses, &smt, &self.literals);
        replay(system, &refutation, cx, |step| {
            let missing = || {
                BackTranslationError(format!("clause {} is not in the old system", step.clause.0))
            };
            let clause = &system.clauses[*index.get(&step.clause).ok_or_else(missing)?];
            let is_literal = |p: PredicateId| self.literals.contains_key(&p);
            if !clause.body.iter().any(|a| is_literal(a.predicate)) {
                return Ok(Vec::new());
            }
            // A variable that occurs only in literals that no value changes may have any value.
            let mut known = step.values.clone();
            for var in clause.vars(terms) {
                if let Some(value) = terms.default_value(terms.sort_of(var)) {
                    known.entry(var).or_insert(value);
                }
            }
            let mut steps = Vec::new();
            let mut derived = FxHashMap::default();
            let mut premises = Vec::new();
            let mut kept = step.premises.iter();
            for atom in &clause.body {
                premises.push(if is_literal(atom.predicate) {
                    let fact = instance(atom, &known);
                    deriver.left = LIMITS.max_attempts;
                    let at = deriver.derive(&fact, LIMITS.max_height, &mut derived, &mut steps);
                    let name = &system.predicate(atom.predicate).name;
                    let lost = || BackTranslationError(format!("a fact of {name} was not derived"));
                    Premise::Inner(at.ok_or_else(lost)?)
                } else {
                    let lost = || BackTranslationError("a premise is missing".to_owned());
                    Premise::Step(*kept.next().ok_or_else(lost)?)
                });
            }
            steps.push(OldStep {
                clause: clause.id,
                premises,
                known: Cow::Owned(known),
                definitions: &[],
            });
            Ok(steps)
        })
    }
}

/// Whether a relation derives what its literal says, for some small values.
fn is_derivable(
    system: &System,
    smt: &Rc<Smt>,
    predicate: PredicateId,
    literal: TermId,
    literals: &FxHashMap<PredicateId, TermId>,
) -> bool {
    let terms = &system.terms;
    let params = &system.predicate(predicate).params;
    let clauses = ClauseIndex::new(system);
    let mut deriver = Deriver::new(system, &clauses, smt, literals);
    let mut random = Random::new(11);
    let mut hits = 0;
    for round in 0..LIMITS.samples {
        let sorts = params.iter().map(|&p| terms.sort_of(p));
        let sample = |s: SortId| random_value(terms, &mut random, s, round % 5);
        let Some(mut values) = sorts.map(sample).collect::<Option<Vec<TermId>>>() else {
            return false;
        };
        // Two random terms are rarely equal.
        if round % 2 == 0 {
            let mut of_terms = params
                .iter()
                .enumerate()
                .filter(|(_, p)| !is_bool(terms, **p));
            if let (Some((a, _)), Some((b, _))) = (of_terms.next(), of_terms.next()) {
                values[b] = values[a];
            }
        }
        let fact = Fact { predicate, values };
        let map = params.iter().copied().zip(fact.values.iter().copied());
        if terms.substitute(literal, &map.collect()) != TermId::TRUE {
            continue;
        }
        hits += 1;
        deriver.left = LIMITS.max_attempts;
        let derived = deriver.derive(
            &fact,
            LIMITS.max_height,
            &mut FxHashMap::default(),
            &mut Vec::new(),
        );
        if derived.is_none() {
            return false;
        }
    }
    hits >= LIMITS.min_true_samples
}

fn is_bool(terms: &TermStore, term: TermId) -> bool {
    matches!(terms.sort(terms.sort_of(term)), Sort::Bool)
}

/// Derives facts of relations that are replaced by literals.
struct Deriver<'a> {
    system: &'a System,
    clauses: &'a ClauseIndex,
    smt: &'a Rc<Smt>,
    literals: &'a FxHashMap<PredicateId, TermId>,
    failed: FxHashSet<Fact>,
    /// Clauses that may still be tried.
    left: usize,
}

impl<'a> Deriver<'a> {
    fn new(
        system: &'a System,
        clauses: &'a ClauseIndex,
        smt: &'a Rc<Smt>,
        literals: &'a FxHashMap<PredicateId, TermId>,
    ) -> Self {
        Deriver {
            system,
            clauses,
            smt,
            literals,
            failed: FxHashSet::default(),
            left: LIMITS.max_attempts,
        }
    }

    /// Adds a derivation of the fact, of at most this height, to the steps, and returns the
    /// position of the step that derives it. `derived` has the facts of the steps so far.
    fn derive(
        &mut self,
        fact: &Fact,
        height: usize,
        derived: &mut FxHashMap<Fact, usize>,
        steps: &mut Vec<OldStep<'static>>,
    ) -> Option<usize> {
        if let Some(&at) = derived.get(fact) {
            return Some(at);
        }
        if height == 0 || self.failed.contains(fact) {
            return None;
        }
        let (system, clauses) = (self.system, self.clauses);
        for &at in clauses.deriving(fact.predicate) {
            let clause = &system.clauses[at];
            self.left = self.left.checked_sub(1)?;
            let Some(values) = self.values(at, fact) else {
                continue;
            };
            let mut premises = Vec::new();
            for atom in &clause.body {
                let premise = instance(atom, &values);
                match self.derive(&premise, height - 1, derived, steps) {
                    Some(at) => premises.push(Premise::Inner(at)),
                    None => break,
                }
            }
            if premises.len() == clause.body.len() {
                steps.push(OldStep {
                    clause: clause.id,
                    premises,
                    known: Cow::Owned(values),
                    definitions: &[],
                });
                derived.insert(fact.clone(), steps.len() - 1);
                return Some(steps.len() - 1);
            }
        }
        self.failed.insert(fact.clone());
        None
    }

    /// Values of a clause's variables with which it derives the fact from its premises. Premises
    /// that are replaced by literals are true.
    fn values(&mut self, at: usize, fact: &Fact) -> Option<Assignment> {
        let terms = &self.system.terms;
        let clause = &self.system.clauses[at];
        let head = clause.head.as_ref()?;
        let mut conjuncts = vec![clause.constraint];
        for atom in &clause.body {
            let literal = self.literals.get(&atom.predicate);
            conjuncts.extend(literal.map(|&l| self.system.instantiate(l, atom)));
        }
        let known: Assignment = head
            .args
            .iter()
            .copied()
            .zip(fact.values.iter().copied())
            .collect();
        let formula = terms.substitute(terms.and(&conjuncts), &known);
        let vars = clause.vars(terms);
        let open: Vec<TermId> = vars
            .into_iter()
            .filter(|v| !known.contains_key(v))
            .collect();
        let mut values = known;
        if formula == TermId::FALSE {
            return None;
        }
        let mut solver = self.smt.solver();
        solver.assert(formula);
        if solver.check(&[]) != SatResult::Sat {
            return None;
        }
        values.extend(solver.model()?.assignment(&open).ok()?);
        Some(values)
    }
}
