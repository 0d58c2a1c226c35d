//! Merges body atoms that call the same function with equal arguments: their results are equal, so
//! one atom suffices.
//!
//! If the clauses of a predicate define a function (`alphorn_proof::functions`), two of its facts
//! with equal inputs have equal outputs. An engine that finds a coarse model of the predicate does
//! not know that, and a query such as `f(x, a), f(x, b), a != b` depends on it.
//!
//! Invariant: the functions satisfy the clauses of their predicates and of all predicates that
//! these depend on, so they may be conjoined to a model. A refutation uses one premise twice.

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::replacement::{Origin, Replacement};
use super::{Step, Transformation};
use alphorn_chc::{Clause, ClauseIndex, PredicateId, System};
use alphorn_proof::functions::{Definitions, Rule, define};
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Op, TermId, TermStore};

/// The limits of the pass.
struct Limits {
    /// Work of the search for functions; at its end only the functions found so far are used.
    search_work: Duration,
    /// Body atoms of a clause; clauses with more are not considered.
    max_body_atoms: usize,
}

const LIMITS: Limits = Limits {
    search_work: Duration::from_millis(300),
    max_body_atoms: 40,
};

/// The pass.
pub struct Merge;

/// Two atoms of a body that agree on all arguments but one.
struct Pair {
    kept: usize,
    dropped: usize,
    output: usize,
}

impl Transformation for Merge {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let terms = &old.terms;
        let recursive = |&p: &TermId| terms.sized(terms.sort_of(p)).is_some();
        let candidates: Vec<usize> = (0..old.clauses.len())
            .filter(|&at| {
                let mut atoms = old.clauses[at].body.iter().flat_map(|a| &a.args);
                atoms.any(recursive) && !pairs(terms, &old.clauses[at]).is_empty()
            })
            .collect();
        if candidates.is_empty() {
            return None;
        }
        let smt = Smt::new(terms.clone());
        let part = cx.budget.about(LIMITS.search_work);
        let definitions = cx.within(part, |cx| define(old, true, &smt, cx));
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        let mut merged: FxHashSet<PredicateId> = FxHashSet::default();
        for at in candidates {
            let clause = &mut system.clauses[at];
            let premises = merge(old, clause, &definitions, &mut merged);
            if clause.body.len() < old.clauses[at].body.len() {
                let mut origin = Origin::new(clause.id, Vec::new());
                origin.premises = Some(premises);
                replacement.note(clause.id, origin);
            }
        }
        if replacement.is_empty() {
            return None;
        }
        for predicate in below(old, merged) {
            let formula = expanded(terms, definitions.formula(old, predicate));
            if formula != TermId::TRUE {
                replacement.strengthen(predicate, formula);
            }
        }
        Some(replacement.step(system))
    }
}

/// Merges atoms of a clause as long as possible. Returns for each old atom the position of the atom
/// that replaces it.
fn merge(
    old: &System,
    clause: &mut Clause,
    definitions: &Definitions,
    merged: &mut FxHashSet<PredicateId>,
) -> Vec<usize> {
    let terms = &old.terms;
    let mut premises: Vec<usize> = (0..clause.body.len()).collect();
    loop {
        let found = pairs(terms, clause).into_iter().find(|pair| {
            let predicate = clause.body[pair.kept].predicate;
            definitions.output(predicate) == Some(pair.output)
                && !rests_on_nothing(old, definitions, predicate)
        });
        let Some(pair) = found else {
            return premises;
        };
        let dropped = clause.body.remove(pair.dropped);
        let kept = &clause.body[pair.kept];
        merged.insert(kept.predicate);
        let equal = terms.eq(kept.args[pair.output], dropped.args[pair.output]);
        clause.constraint = terms.and(&[clause.constraint, equal]);
        for premise in &mut premises {
            if *premise == pair.dropped {
                *premise = pair.kept;
            } else if *premise > pair.dropped {
                *premise -= 1;
            }
        }
    }
}

/// Atoms of one predicate that agree on all arguments but one; the later one is to be dropped.
fn pairs(terms: &TermStore, clause: &Clause) -> Vec<Pair> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let repeated = clause.body.iter().any(|a| !seen.insert(a.predicate));
    if !repeated || clause.body.len() > LIMITS.max_body_atoms {
        return found;
    }
    let Some(rule) = Rule::new(terms, clause, &[]) else {
        return found;
    };
    for (dropped, second) in rule.body.iter().enumerate() {
        for (kept, first) in rule.body[..dropped].iter().enumerate() {
            if first.predicate != second.predicate {
                continue;
            }
            let arity = first.args.len();
            let differ: Vec<usize> = (0..arity)
                .filter(|&i| first.args[i] != second.args[i])
                .collect();
            if let [output] = *differ {
                found.push(Pair {
                    kept,
                    dropped,
                    output,
                });
            }
        }
    }
    found
}

/// The predicates and all predicates that their clauses depend on, ascending.
fn below(system: &System, predicates: FxHashSet<PredicateId>) -> Vec<PredicateId> {
    let index = ClauseIndex::new(system);
    let mut seen = predicates;
    let mut open: Vec<PredicateId> = seen.iter().copied().collect();
    while let Some(predicate) = open.pop() {
        for &clause in index.deriving(predicate) {
            for atom in &system.clauses[clause].body {
                if seen.insert(atom.predicate) {
                    open.push(atom.predicate);
                }
            }
        }
    }
    let mut all: Vec<PredicateId> = seen.into_iter().collect();
    all.sort_unstable();
    all
}

/// The formula with calls of non-recursive functions unfolded.
fn expanded(terms: &TermStore, mut formula: TermId) -> TermId {
    loop {
        let mut plain = FxHashMap::default();
        terms.post_order(&[formula], |t| {
            if let Op::Call(id) = *terms.op(t) {
                let body = terms.function(id).body;
                let group = terms.function_group(id);
                let whole = terms.unfold(t);
                let recursive = terms.called(&[body]).iter().any(|f| group.contains(f));
                if whole != t && !recursive {
                    plain.insert(t, whole);
                }
            }
        });
        if plain.is_empty() {
            return formula;
        }
        formula = terms.substitute(formula, &plain);
    }
}

/// Whether the function's definition depends on a predicate being false that is false only if the
/// queries hold.
fn rests_on_nothing(system: &System, definitions: &Definitions, predicate: PredicateId) -> bool {
    below(system, FxHashSet::from_iter([predicate]))
        .into_iter()
        .any(|p| definitions.formula(system, p) == TermId::FALSE)
}
