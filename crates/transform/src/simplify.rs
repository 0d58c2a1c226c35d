//! Simplifies clauses one by one: solves equations, eliminates local variables, drops trivial
//! clauses.
//!
//! A clause is trivial if its constraint is false, if its head is among its body atoms, or if it
//! equals another clause up to the names of variables. Predicates and arguments are unchanged, so a
//! model of the new system is a model of the old one.
//!
//! Invariant: a clause that is kept keeps its id, and its constraint is equivalent to the old one
//! with the local variables of both quantified existentially.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::equalities::{Equalities, sides};
use super::reduce::{Reduction, reduce};
use super::replacement::{Origin, Replacement};
use super::{Step, Transformation};
use alphorn_chc::{Clause, ClauseId, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{TermId, TermStore};

/// The pass. During a run it remembers the clauses that it cannot simplify.
#[derive(Default)]
pub struct Simplify {
    /// Id, constraint and number of arguments of clauses that are reduced already; the result
    /// depends on these only.
    settled: FxHashSet<Key>,
    /// By clause, what [`positional`] gives.
    renamed: FxHashMap<ClauseId, Renamed>,
}

/// A constraint with its variables renamed to their positions in the clause.
struct Renamed {
    /// The constraint and the clause's arguments before.
    constraint: TermId,
    arguments: Vec<TermId>,
    result: TermId,
}

/// Id, constraint and number of arguments of a clause.
type Key = (ClauseId, TermId, usize);

fn key(clause: &Clause) -> Key {
    let arguments = clause.atoms().map(|a| a.args.len()).sum();
    (clause.id, clause.constraint, arguments)
}

impl Transformation for Simplify {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let terms = old.terms.clone();
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        system.clauses.clear();
        for clause in &old.clauses {
            let known = self.settled.contains(&key(clause));
            if known || cx.stop().is_some() {
                system.clauses.push(clause.clone());
                continue;
            }
            let reduction = reduce_clause(&terms, clause);
            if reduction.constraint == TermId::FALSE || is_tautology(&terms, clause, &reduction) {
                continue;
            }
            if reduction.constraint != clause.constraint {
                let origin = Origin::new(clause.id, reduction.definitions);
                replacement.note(clause.id, origin);
            }
            let clause = Clause {
                constraint: reduction.constraint,
                ..clause.clone()
            };
            self.settled.insert(key(&clause));
            system.clauses.push(clause);
        }
        drop_duplicates(&terms, &mut system.clauses, &mut self.renamed);
        let fewer = system.clauses.len() < old.clauses.len();
        (fewer || !replacement.is_empty()).then(|| replacement.step(system))
    }
}

/// The reduced constraint of a clause. Its arguments are kept, those of the body with precedence
/// over those of the head.
pub(super) fn reduce_clause(terms: &TermStore, clause: &Clause) -> Reduction {
    let rank: FxHashMap<TermId, u32> = clause
        .atoms()
        .flat_map(|a| a.args.iter().copied())
        .zip(0..)
        .collect();
    reduce(terms, clause.constraint, &rank)
}

/// Whether the head equals a body atom, by the equations of the reduced constraint.
pub(super) fn is_tautology(terms: &TermStore, clause: &Clause, reduction: &Reduction) -> bool {
    let Some(head) = &clause.head else {
        return false;
    };
    let same: Vec<_> = clause
        .body
        .iter()
        .filter(|a| a.predicate == head.predicate)
        .collect();
    if same.is_empty() {
        return false;
    }
    let mut equal = Equalities::new(terms);
    for conjunct in terms.conjuncts(reduction.constraint) {
        if let Some((a, b)) = sides(terms, conjunct) {
            equal.union(a, b);
        }
    }
    same.iter().any(|atom| {
        let mut pairs = atom.args.iter().zip(&head.args);
        pairs.all(|(&a, &b)| equal.are_equal(a, b))
    })
}

/// Keeps the first of several clauses that are equal up to the names of their variables. `known` has
/// results of [`positional`].
fn drop_duplicates(
    terms: &TermStore,
    clauses: &mut Vec<Clause>,
    known: &mut FxHashMap<ClauseId, Renamed>,
) {
    type Signature = (Vec<PredicateId>, Option<PredicateId>, usize);
    let mut groups: FxHashMap<Signature, Vec<usize>> = FxHashMap::default();
    for (index, clause) in clauses.iter().enumerate() {
        let signature = (
            clause.body.iter().map(|a| a.predicate).collect(),
            clause.head.as_ref().map(|h| h.predicate),
            terms.conjuncts(clause.constraint).len(),
        );
        groups.entry(signature).or_default().push(index);
    }
    let mut duplicate = vec![false; clauses.len()];
    for group in groups.into_values().filter(|g| g.len() > 1) {
        let mut seen = FxHashSet::default();
        for index in group {
            let clause = &clauses[index];
            let arguments = || clause.atoms().flat_map(|a| a.args.iter().copied());
            let is_same = |old: &&Renamed| {
                old.constraint == clause.constraint && arguments().eq(old.arguments.iter().copied())
            };
            let result = match known.get(&clause.id).filter(is_same) {
                Some(renamed) => renamed.result,
                None => positional(terms, clause),
            };
            let renamed = Renamed {
                constraint: clause.constraint,
                arguments: arguments().collect(),
                result,
            };
            known.insert(clause.id, renamed);
            if !seen.insert(result) {
                duplicate[index] = true;
            }
        }
    }
    let mut index = 0;
    clauses.retain(|_| {
        index += 1;
        !duplicate[index - 1]
    });
}

/// The constraint with its variables renamed to their positions in the clause.
fn positional(terms: &TermStore, clause: &Clause) -> TermId {
    let map: FxHashMap<TermId, TermId> = clause
        .vars(terms)
        .into_iter()
        .enumerate()
        .map(|(i, v)| (v, terms.var(&format!("#{i}"), terms.sort_of(v))))
        .collect();
    terms.substitute(clause.constraint, &map)
}
