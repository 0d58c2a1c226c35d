//! Relations that recursion makes of equality become literals: `x = y`, its negation, or its truth
//! value as a third argument.
//!
//! Clauses over datatypes bring their own disequality, by recursion over both terms. A relation
//! whose clauses all hold if it is such a literal is replaced, together with others of that kind
//! that it rests on, if it also derives what the literal says, as far as some values show.
//!
//! Invariant: the literals satisfy the clauses of their relations, so they are definitions in a
//! model. A refutation derives the facts that it needs; where that fails it is lost, never wrong.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::replacement::Replacement;
use super::replay::{OldStep, Premise, instance, replay};
use super::{BackError, BackTranslation, Step, Transformation};
use alphorn_chc::{ClauseIndex, PredicateId, System};
use alphorn_proof::functions::{equality_relations, random_value};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, Random, Sort, SortId, TermId, TermStore};
use alphorn_witness::{Fact, Model, Refutation};

/// What the search for relations may take, as work.
const SEARCH: Duration = Duration::from_millis(200);
/// Values on which a relation is tried, and how many of them must be in it.
const TRIES: u32 = 32;
const HITS: usize = 4;
/// Clauses that are tried for one fact, and the height of its derivation, at most.
const ATTEMPTS: usize = 2000;
const HEIGHT: usize = 300;

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
        let part = cx.budget.about(SEARCH);
        let (all, literals) = cx.within(part, |cx| {
            let all = equality_relations(old, &smt, cx);
            let mut literals = all.clone();
            literals.retain(|&p, &mut literal| {
                has_terms(&p) && is_derivable(old, &smt, p, literal, &all)
            });
            // What rests on one that derives less is likely to derive less.
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
        // Those that stay may be what others rest on.
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
    fn model(&self, model: Model, cx: &mut Context) -> Result<Model, BackError> {
        self.definitions.model(model, cx)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackError> {
        let system = &*self.old;
        let terms = &system.terms;
        let index = system.clause_index();
        let smt = Smt::new(terms.clone());
        let clauses = ClauseIndex::new(system);
        let mut deriver = Deriver::new(system, &clauses, &smt, &self.literals);
        replay(system, &refutation, cx, |step| {
            let missing = || BackError(format!("there was no clause {}", step.clause.0));
            let clause = &system.clauses[*index.get(&step.clause).ok_or_else(missing)?];
            let is_literal = |p: PredicateId| self.literals.contains_key(&p);
            if !clause.body.iter().any(|a| is_literal(a.predicate)) {
                return Ok(Vec::new());
            }
            // A variable of literals alone that say the same of all values may have any.
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
                    deriver.left = ATTEMPTS;
                    let at = deriver.derive(&fact, HEIGHT, &mut derived, &mut steps);
                    let name = &system.predicate(atom.predicate).name;
                    let lost = || BackError(format!("a fact of {name} was not derived"));
                    Premise::Inner(at.ok_or_else(lost)?)
                } else {
                    let lost = || BackError("a premise is missing".to_owned());
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
    for round in 0..TRIES {
        let sorts = params.iter().map(|&p| terms.sort_of(p));
        let sample = |s: SortId| random_value(terms, &mut random, s, round % 5);
        let Some(mut values) = sorts.map(sample).collect::<Option<Vec<TermId>>>() else {
            return false;
        };
        // Two terms chosen at random are hardly ever equal.
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
        deriver.left = ATTEMPTS;
        let derived = deriver.derive(&fact, HEIGHT, &mut FxHashMap::default(), &mut Vec::new());
        if derived.is_none() {
            return false;
        }
    }
    hits >= HITS
}

fn is_bool(terms: &TermStore, term: TermId) -> bool {
    matches!(terms.sort(terms.sort_of(term)), Sort::Bool)
}

/// Derives facts of relations that are literals.
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
            left: ATTEMPTS,
        }
    }

    /// Adds a derivation of the fact, of this height at most, to the steps, and tells which of them
    /// derives it. `derived` knows what the steps before derive.
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

    /// Values of a clause's variables with which it derives the fact, if its premises hold; they
    /// have to be true where these are literals.
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
