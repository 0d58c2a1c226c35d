//! Calls of one function with equal arguments have one result: of two such atoms in a body one is
//! left.
//!
//! Where the clauses of a predicate define a function (`proof/functions`), two of its facts that
//! agree on the inputs agree on the output. An engine that finds a coarse model of the predicate
//! would not see that; a query such as `f(x, a), f(x, b), a != b` is decided by it alone.
//!
//! Invariant: the functions satisfy the clauses of their predicates, and of all that these rest on,
//! so they may be conjoined to a model. A refutation uses one premise twice.

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

/// What the search for functions may take, as work.
const SEARCH: Duration = Duration::from_millis(300);
/// Atoms of a body, at most.
const BODY: usize = 40;

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
        let part = cx.budget.about(SEARCH);
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

/// Merges atoms of a clause as long as there are some that may be, and tells which of those left
/// derives each of the old ones.
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
    if !repeated || clause.body.len() > BODY {
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

/// The predicates and all that their clauses use.
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

/// The formula with calls of functions that are not recursive replaced by what they are.
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

/// Whether the definition counts on a predicate that is false only if the queries hold.
fn rests_on_nothing(system: &System, definitions: &Definitions, predicate: PredicateId) -> bool {
    below(system, FxHashSet::from_iter([predicate]))
        .into_iter()
        .any(|p| definitions.formula(system, p) == TermId::FALSE)
}
