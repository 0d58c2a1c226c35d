//! Finds constant and equal arguments by a fixpoint over the clauses, and removes them.
//!
//! The abstract value of a predicate says for each argument that it always has a certain value,
//! that it always equals a certain earlier argument, or neither. The fixpoint starts with no facts;
//! joins only lose information. After some changes a predicate gives up its equalities, later its
//! values, so the fixpoint is reached soon. A determined argument is removed from its predicate,
//! and clauses that use the predicate get the equation instead. Usual forms of this pass keep the
//! arguments; then slicing cannot know that the equation reads nothing.
//!
//! Invariant: the equations found hold of every derivable fact, so they may be conjoined to any
//! model.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::equalities::{Equalities, sides};
use super::replacement::{Origin, Replacement, marked};
use super::{Step, Transformation, isolate};
use alphorn_chc::{Atom, Clause, ClauseIndex, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{TermId, TermStore};

/// The limits of the pass.
struct Limits {
    /// Changes of a predicate's abstract value after which its equalities are given up; after twice
    /// as many its values are, too.
    max_changes: usize,
}

const LIMITS: Limits = Limits { max_changes: 16 };

/// The pass.
pub struct Propagate;

/// The abstract value of one argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Argument {
    Value(TermId),
    /// Equal to the argument at this position, which is at most its own; its own position if
    /// nothing is known.
    Same(usize),
}

type Facts = FxHashMap<PredicateId, Vec<Argument>>;

impl Transformation for Propagate {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let terms = &old.terms;
        let facts = fixpoint(old, cx)?;
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        let mut kept: FxHashMap<PredicateId, Vec<bool>> = FxHashMap::default();
        for predicate in old.used_predicates() {
            let Some(arguments) = facts.get(&predicate) else {
                continue;
            };
            let free = |(i, a): (usize, &Argument)| *a == Argument::Same(i);
            let marks: Vec<bool> = arguments.iter().enumerate().map(free).collect();
            if marks.contains(&false) {
                replacement.keep_arguments(&mut system, predicate, &marks);
                let params = &old.predicate(predicate).params;
                replacement.strengthen(predicate, equations(terms, arguments, params));
                kept.insert(predicate, marks);
            }
        }
        if replacement.is_empty() {
            return None;
        }
        for clause in &mut system.clauses {
            let mut conjuncts = vec![clause.constraint];
            for atom in &clause.body {
                if let Some(arguments) = facts.get(&atom.predicate) {
                    conjuncts.push(equations(terms, arguments, &atom.args));
                }
            }
            clause.constraint = terms.and(&conjuncts);
            let keep = |atom: &Atom| marked(&atom.args, &kept[&atom.predicate]).collect();
            if replacement.replace_atoms(clause, keep) {
                replacement.note(clause.id, Origin::new(clause.id, Vec::new()));
            }
        }
        // The equations found depend on predicates that have no facts being false.
        for predicate in old.used_predicates() {
            if !facts.contains_key(&predicate) {
                replacement.refute(predicate);
            }
        }
        Some(replacement.step(system))
    }
}

/// `args[i] = …` for each argument that is determined.
fn equations(terms: &TermStore, arguments: &[Argument], args: &[TermId]) -> TermId {
    let equation = |(i, argument): (usize, &Argument)| match argument {
        Argument::Value(value) => terms.eq(args[i], *value),
        Argument::Same(j) => terms.eq(args[i], args[*j]),
    };
    let all: Vec<TermId> = arguments.iter().enumerate().map(equation).collect();
    terms.and(&all)
}

/// The equations of a clause, collected once.
struct Equations {
    /// Pairs of equal variables, or of a variable and its value.
    pairs: Vec<(TermId, TermId)>,
    /// Other equations, which may determine a value when other values are known, with the head
    /// arguments that they define.
    open: Vec<(TermId, Vec<TermId>)>,
}

/// The abstract values of all predicates that have facts; `None` if the budget ends before the
/// fixpoint.
fn fixpoint(system: &System, cx: &Context) -> Option<Facts> {
    let terms = &system.terms;
    let clauses: Vec<Equations> = system
        .clauses
        .iter()
        .map(|c| pick_equations(terms, c))
        .collect();
    let index = ClauseIndex::new(system);
    let mut facts = Facts::default();
    let mut changes: FxHashMap<PredicateId, usize> = FxHashMap::default();
    let mut queue: VecDeque<usize> = index.entries().iter().copied().collect();
    let mut queued: FxHashSet<usize> = queue.iter().copied().collect();
    let mut count = 0usize;
    while let Some(at) = queue.pop_front() {
        queued.remove(&at);
        count += 1;
        if count.is_multiple_of(64) && cx.stop().is_some() {
            return None;
        }
        let clause = &system.clauses[at];
        let Some(head) = &clause.head else {
            continue;
        };
        let old = facts.get(&head.predicate);
        // The abstract value is the weakest one already.
        if old.is_some_and(|o| o.iter().enumerate().all(|(i, a)| *a == Argument::Same(i))) {
            continue;
        }
        let Some(new) = post(terms, clause, &clauses[at], &facts) else {
            continue;
        };
        let mut joined = match old {
            Some(old) => join(old, &new),
            None => new,
        };
        if old == Some(&joined) {
            continue;
        }
        let times = changes.entry(head.predicate).or_default();
        *times += 1;
        if *times > LIMITS.max_changes {
            for (i, argument) in joined.iter_mut().enumerate() {
                if *times > 2 * LIMITS.max_changes || matches!(argument, Argument::Same(_)) {
                    *argument = Argument::Same(i);
                }
            }
        }
        facts.insert(head.predicate, joined);
        for &user in index.using(head.predicate) {
            if system.clauses[user].head.is_some() && queued.insert(user) {
                queue.push_back(user);
            }
        }
    }
    Some(facts)
}

fn pick_equations(terms: &TermStore, clause: &Clause) -> Equations {
    let mut result = Equations {
        pairs: Vec::new(),
        open: Vec::new(),
    };
    let head: FxHashSet<TermId> = clause.head.iter().flat_map(|h| &h.args).copied().collect();
    for conjunct in terms.conjuncts(clause.constraint) {
        if let Some(pair) = simple_pair(terms, conjunct) {
            result.pairs.push(pair);
            continue;
        }
        let mut vars = isolate::definable(terms, conjunct);
        if !vars.is_empty() {
            vars.retain(|v| head.contains(v));
            result.open.push((conjunct, vars));
        }
    }
    result
}

/// A conjunct `v`, `¬v`, `v = w` or `v = value`, as a pair.
fn simple_pair(terms: &TermStore, conjunct: TermId) -> Option<(TermId, TermId)> {
    let simple = |t| terms.is_var(t) || terms.is_value(t);
    sides(terms, conjunct).filter(|&(a, b)| simple(a) && simple(b))
}

/// The abstract value of the head that the clause derives from those of its body; `None` if it
/// derives nothing yet.
fn post(
    terms: &TermStore,
    clause: &Clause,
    equations: &Equations,
    facts: &Facts,
) -> Option<Vec<Argument>> {
    if clause.constraint == TermId::FALSE {
        return None;
    }
    let head = clause.head.as_ref()?;
    let mut classes = Equalities::new(terms);
    for atom in &clause.body {
        for (i, argument) in facts.get(&atom.predicate)?.iter().enumerate() {
            let consistent = match argument {
                Argument::Value(value) => classes.union(atom.args[i], *value),
                Argument::Same(j) => classes.union(atom.args[i], atom.args[*j]),
            };
            if !consistent {
                return None;
            }
        }
    }
    for &(a, b) in &equations.pairs {
        if !classes.union(a, b) {
            return None;
        }
    }
    // Two rounds suffice for most chains `x' = x + 1`, `y' = x'`.
    for _ in 0..2 {
        if equations.open.is_empty() {
            break;
        }
        let map = classes.leaders();
        let mut memo = FxHashMap::default();
        let mut progress = false;
        // Arguments with the same definition are equal.
        let mut by_definition: FxHashMap<TermId, TermId> = FxHashMap::default();
        for (equation, defined) in &equations.open {
            let instance = terms.substitute_with(*equation, &map, &mut memo);
            if instance == TermId::FALSE {
                return None;
            }
            if let Some((a, b)) = simple_pair(terms, instance)
                && classes.find(a) != classes.find(b)
            {
                progress = true;
                if !classes.union(a, b) {
                    return None;
                }
            }
            for &var in defined {
                if classes.find(var) == var
                    && let Some(term) = isolate::definition(terms, instance, var)
                    && let Some(other) = by_definition.insert(term, var)
                    && classes.find(other) != var
                {
                    progress = true;
                    classes.union(other, var);
                }
            }
        }
        if !progress {
            break;
        }
    }
    let mut first: FxHashMap<TermId, usize> = FxHashMap::default();
    let arguments = head
        .args
        .iter()
        .enumerate()
        .map(|(i, &arg)| match classes.find(arg) {
            leader if terms.is_value(leader) => Argument::Value(leader),
            leader => Argument::Same(*first.entry(leader).or_insert(i)),
        })
        .collect();
    Some(arguments)
}

/// The join of two abstract values.
fn join(a: &[Argument], b: &[Argument]) -> Vec<Argument> {
    let mut first: FxHashMap<(Argument, Argument), usize> = FxHashMap::default();
    a.iter()
        .zip(b)
        .enumerate()
        .map(|(i, (&x, &y))| match (x, y) {
            (Argument::Value(v), Argument::Value(w)) if v == w => x,
            pair => Argument::Same(*first.entry(pair).or_insert(i)),
        })
        .collect()
}
