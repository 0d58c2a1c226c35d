//! Hints: answers to similar clauses, used as far as they still hold.
//!
//! A refutation is one of this problem if all its clauses are in the problem. A model is one of this
//! problem if all clauses of the problem were in the other. Otherwise the model's conjuncts are
//! candidates for invariants, and those that are inductive together strengthen the clauses
//! (`transform::share_lemmas`). If no query is left then, the clauses are solved. A model of the same
//! clauses whose check had no answer is used in this way, too.
//!
//! Invariant: a hint is never trusted. An answer from it passes the check of all answers, and an
//! invariant is proven again.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_chc::frontend::{Problem, ProblemClause, parse};
use alphorn_chc::{Atom, ClauseId, PredicateId};
use alphorn_proof::facts::Lemmas;
use alphorn_term::run::Context;
use alphorn_term::{TermId, TermStore};
use alphorn_witness::{
    Claim, Fact, Model, Refutation, RefutationStep, UndecidedModel, Validated, Verdict, Witness,
    model_of_text, parse_witness, validate_candidate,
};

/// An answer to other clauses.
pub struct Hint {
    /// The other clauses, read into the same store of terms.
    pub problem: Problem,
    /// A witness for these clauses.
    pub claim: Claim,
    /// The text of the witness.
    pub witness: String,
}

impl Hint {
    /// Reads a problem and a witness for it from text; `None` if one of them cannot be read.
    pub fn read(text: &str, witness: &str, terms: &Rc<TermStore>) -> Option<Hint> {
        let problem = parse(text, terms.clone()).ok()?;
        let claim = parse_witness(&problem, witness).ok()?;
        Some(Hint {
            problem,
            claim,
            witness: witness.to_owned(),
        })
    }
}

/// The body, constraint and head of a clause, with canonical names of variables.
type Meaning = (Vec<Atom>, TermId, Option<Atom>);

/// Maps predicates and clauses of another problem to those of this one.
struct Dictionary<'a> {
    hint: &'a Problem,
    problem: &'a Problem,
    predicates: FxHashMap<PredicateId, PredicateId>,
    /// Clauses of this problem by their meaning.
    clauses: FxHashMap<Meaning, ClauseId>,
}

/// The answer that a hint gives, if there is one; otherwise the conjuncts of the hints' models.
pub(super) fn use_hints(
    problem: &Problem,
    hints: &[Hint],
    cx: &mut Context,
) -> (Option<Validated>, Lemmas) {
    let terms = &problem.terms;
    let mut lemmas = Lemmas::default();
    let mut seen: FxHashSet<(PredicateId, TermId)> = FxHashSet::default();
    let is_plain = |problem: &Problem| problem.complemented.is_empty();
    for hint in hints {
        if !is_plain(problem) || !is_plain(&hint.problem) {
            log::debug!("a hint about complemented predicates is not used");
            continue;
        }
        let dictionary = Dictionary::new(&hint.problem, problem);
        match &hint.claim.witness {
            Witness::Refutation(refutation) => {
                if let Some(refutation) = dictionary.refutation(refutation)
                    && let Some(found) = validate_candidate(problem, Verdict::Unsat(refutation), cx)
                {
                    cx.stats.add("hints.refutations", 1);
                    return (Some(found), lemmas);
                }
            }
            Witness::Derivations(_) => {
                log::debug!("a proof by induction on derivations is no hint");
            }
            Witness::Model(text) => {
                let model = match model_of_text(&hint.problem, text, &hint.witness) {
                    Ok(model) => dictionary.model(model),
                    Err(why) => {
                        log::debug!("a hint is of no use: {why}");
                        continue;
                    }
                };
                if dictionary.has_all_clauses()
                    && let Some(found) =
                        validate_candidate(problem, Verdict::Sat(model.clone()), cx)
                {
                    cx.stats.add("hints.models", 1);
                    return (Some(found), lemmas);
                }
                let new = plain_conjuncts(&model, terms).into_iter();
                lemmas
                    .candidates
                    .extend(new.filter(|&lemma| seen.insert(lemma)));
            }
        }
    }
    lemmas
        .candidates
        .sort_unstable_by_key(|&(predicate, lemma)| (predicate.0, lemma));
    (None, lemmas)
}

/// The conjuncts of a model whose check had no answer, as candidates for invariants, but for those
/// about the heads of the clauses that were not decided. With the others given, these clauses are
/// what is left for an engine to prove, in a way that may be easier to check.
pub(super) fn decided_conjuncts(problem: &Problem, undecided: &UndecidedModel) -> Lemmas {
    let clauses = problem.clauses.iter();
    let clauses = clauses.filter(|clause| clause.command == undecided.command);
    let heads = clauses.filter_map(|clause| clause.head.as_ref());
    let heads: FxHashSet<PredicateId> = heads.map(|head| head.predicate).collect();
    let mut candidates = plain_conjuncts(&undecided.model, &problem.terms);
    candidates.retain(|(predicate, _)| !heads.contains(predicate));
    candidates.sort_unstable_by_key(|&(predicate, lemma)| (predicate.0, lemma));
    Lemmas {
        candidates,
        ..Lemmas::default()
    }
}

/// The conjuncts of a model without functions, which would need the model's lemmas about them.
fn plain_conjuncts(model: &Model, terms: &TermStore) -> Vec<(PredicateId, TermId)> {
    let is_plain = |&conjunct: &TermId| {
        terms.called(&[conjunct]).is_empty() && terms.size_definitions(&[conjunct]).is_empty()
    };
    let mut found = Vec::new();
    for (&predicate, &formula) in &model.definitions {
        let conjuncts = terms.conjuncts(formula).into_iter().filter(is_plain);
        found.extend(conjuncts.map(|conjunct| (predicate, conjunct)));
    }
    found
}

impl<'a> Dictionary<'a> {
    fn new(hint: &'a Problem, problem: &'a Problem) -> Self {
        let terms = &problem.terms;
        let sorts =
            |params: &[TermId]| -> Vec<_> { params.iter().map(|&v| terms.sort_of(v)).collect() };
        let mut named = FxHashMap::default();
        for (index, predicate) in (0..).zip(&problem.predicates) {
            named.insert(
                (predicate.name.as_str(), sorts(&predicate.params)),
                PredicateId(index),
            );
        }
        let mut predicates = FxHashMap::default();
        for (index, predicate) in (0..).zip(&hint.predicates) {
            let key = (predicate.name.as_str(), sorts(&predicate.params));
            if let Some(&known) = named.get(&key) {
                predicates.insert(PredicateId(index), known);
            }
        }
        let own: FxHashMap<PredicateId, PredicateId> = named.values().map(|&id| (id, id)).collect();
        let mut clauses = FxHashMap::default();
        for (index, clause) in (0..).zip(&problem.clauses) {
            if let Some(meaning) = meaning(problem, clause, &own) {
                clauses.entry(meaning).or_insert(ClauseId(index));
            }
        }
        Dictionary {
            hint,
            problem,
            predicates,
            clauses,
        }
    }

    fn clause(&self, clause: &ProblemClause) -> Option<ClauseId> {
        let meaning = meaning(self.hint, clause, &self.predicates)?;
        self.clauses.get(&meaning).copied()
    }

    /// Whether all clauses of this problem are clauses of the hint's.
    fn has_all_clauses(&self) -> bool {
        let known = self.hint.clauses.iter().filter_map(|clause| {
            let meaning = meaning(self.hint, clause, &self.predicates)?;
            self.clauses.contains_key(&meaning).then_some(meaning)
        });
        let known: FxHashSet<Meaning> = known.collect();
        known.len() == self.clauses.len()
    }

    /// The model with the predicates of this problem.
    fn model(&self, model: Model) -> Model {
        let terms = &self.problem.terms;
        let mut definitions = FxHashMap::default();
        for (old, formula) in model.definitions {
            let Some(&new) = self.predicates.get(&old) else {
                continue;
            };
            let from = &self.hint.predicates[old.index()].params;
            let to = &self.problem.predicates[new.index()].params;
            let map = from.iter().copied().zip(to.iter().copied()).collect();
            definitions.insert(new, terms.substitute(formula, &map));
        }
        Model {
            definitions,
            lemmas: model.lemmas,
        }
    }

    /// The refutation with the clauses of this problem, if it has all of them.
    fn refutation(&self, refutation: &Refutation) -> Option<Refutation> {
        let mut clauses: FxHashMap<ClauseId, ClauseId> = FxHashMap::default();
        let mut steps = Vec::with_capacity(refutation.steps.len());
        for step in &refutation.steps {
            let old = &self.hint.clauses[step.clause.0 as usize];
            let clause = match clauses.get(&step.clause) {
                Some(&known) => known,
                None => *clauses.entry(step.clause).or_insert(self.clause(old)?),
            };
            let new = &self.problem.clauses[clause.0 as usize];
            let values = old.vars.iter().zip(&new.vars);
            let values = values.map(|((_, old), (_, new))| Some((*new, *step.values.get(old)?)));
            let fact = match &step.fact {
                Some(fact) => Some(Fact {
                    predicate: *self.predicates.get(&fact.predicate)?,
                    values: fact.values.clone(),
                }),
                None => None,
            };
            steps.push(RefutationStep {
                clause,
                values: values.collect::<Option<_>>()?,
                premises: step.premises.clone(),
                fact,
            });
        }
        Some(Refutation { steps })
    }
}

/// The meaning of a clause, with variables numbered in the order of its quantifiers; `None` if it has
/// a predicate that is not in `predicates`, or disjunctions over predicates.
fn meaning(
    problem: &Problem,
    clause: &ProblemClause,
    predicates: &FxHashMap<PredicateId, PredicateId>,
) -> Option<Meaning> {
    if !clause.disjunctions.is_empty() {
        return None;
    }
    let terms = &problem.terms;
    let vars = clause.vars.iter().enumerate();
    let map: FxHashMap<TermId, TermId> = vars
        .map(|(position, (_, var))| {
            let name = format!("{position}!");
            (*var, terms.var(&name, terms.sort_of(*var)))
        })
        .collect();
    let atom = |atom: &Atom| {
        let args = atom.args.iter().map(|&arg| terms.substitute(arg, &map));
        Some(Atom {
            predicate: *predicates.get(&atom.predicate)?,
            args: args.collect(),
        })
    };
    let body = clause.body.iter().map(atom).collect::<Option<_>>()?;
    let head = match &clause.head {
        Some(head) => Some(atom(head)?),
        None => None,
    };
    Some((body, terms.substitute(clause.constraint, &map), head))
}
