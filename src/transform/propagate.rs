//! Constants and equalities of arguments, found by a fixpoint over the clauses, then removed.
//!
//! The abstract value of a predicate says for each argument: it is always this value, it is always
//! equal to that earlier argument, or neither. Starting from "no fact derived", clauses are
//! evaluated until nothing changes; joins only lose information, and after some joins equalities
//! are given up (values are lost at most once per argument), so the fixpoint is reached soon.
//! Arguments that are determined leave their predicate; where it is used, the clause gets the
//! equation instead. Deviation from the usual form of the pass, which keeps them: slicing could
//! not tell that the equation reads nothing.
//!
//! Invariant: the facts found hold for every derivable fact, hence they may be conjoined to any
//! model.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::arguments::{Kept, keep_arguments};
use super::replay::{OldStep, replay};
use super::solve;
use super::{BackError, BackTranslation, Step, TransformError, Transformation, complete_model};
use crate::chc::{Atom, Clause, ClauseId, PredicateId, System};
use crate::run::Context;
use crate::term::{Op, TermId, TermStore};
use crate::witness::{Model, Refutation};

/// After this many changes a predicate keeps no equalities, after twice as many no values.
const PATIENCE: usize = 16;

/// The pass.
pub struct Propagate;

/// What is known of one argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Argument {
    Value(TermId),
    /// Equal to the argument at this position, which is not later than its own; itself if free.
    Same(usize),
}

type Facts = FxHashMap<PredicateId, Vec<Argument>>;

impl Transformation for Propagate {
    fn name(&self) -> &'static str {
        "propagate"
    }

    fn apply(&self, system: System, cx: &mut Context) -> Result<Step, TransformError> {
        let facts = fixpoint(&system, cx).unwrap_or_default();
        let mut keep: Vec<(PredicateId, Vec<bool>)> = facts
            .iter()
            .map(|(p, arguments)| {
                let marks = arguments
                    .iter()
                    .enumerate()
                    .map(|(i, a)| *a == Argument::Same(i))
                    .collect::<Vec<bool>>();
                (*p, marks)
            })
            .filter(|(_, marks)| marks.contains(&false))
            .collect();
        keep.sort_unstable_by_key(|k| k.0);
        let old = Rc::new(system);
        let mut system = (*old).clone();
        let terms = &old.terms;
        let mut touched = FxHashSet::default();
        for clause in &mut system.clauses {
            let mut conjuncts = vec![clause.constraint];
            for atom in &clause.body {
                if let Some(arguments) = facts.get(&atom.predicate) {
                    equations(terms, arguments, &atom.args, &mut conjuncts);
                }
            }
            clause.constraint = terms.and(&conjuncts);
            let affected = |a: &Atom| keep.binary_search_by_key(&a.predicate, |k| k.0).is_ok();
            if clause.atoms().any(affected) {
                touched.insert(clause.id);
            }
        }
        let kept = keep_arguments(&mut system, &keep);
        let changed = !keep.is_empty();
        Ok(Step {
            system,
            back: Box::new(Back {
                old,
                facts,
                kept,
                touched,
            }),
            changed,
        })
    }
}

/// `args[i] = …` for each argument that is determined.
fn equations(terms: &TermStore, arguments: &[Argument], args: &[TermId], out: &mut Vec<TermId>) {
    for (i, argument) in arguments.iter().enumerate() {
        match argument {
            Argument::Value(value) => out.push(terms.eq(args[i], *value)),
            Argument::Same(j) if *j != i => out.push(terms.eq(args[i], args[*j])),
            Argument::Same(_) => {}
        }
    }
}

/// A clause's equations, picked out once.
struct Equations {
    /// Pairs of variables, or of a variable and a value, that are equal.
    pairs: Vec<(TermId, TermId)>,
    /// Other equations, which may give a value when other values are known, and the head's
    /// arguments that they define.
    open: Vec<(TermId, Vec<TermId>)>,
}

/// The facts of all derivable predicates; `None` when there is no time to find them.
fn fixpoint(system: &System, cx: &Context) -> Option<Facts> {
    let terms = &system.terms;
    let clauses: Vec<Equations> = system
        .clauses
        .iter()
        .map(|c| pick_equations(terms, c))
        .collect();
    let mut users: FxHashMap<PredicateId, Vec<usize>> = FxHashMap::default();
    for (index, clause) in system.clauses.iter().enumerate() {
        for atom in &clause.body {
            let list = users.entry(atom.predicate).or_default();
            if list.last() != Some(&index) {
                list.push(index);
            }
        }
    }
    let mut facts = Facts::default();
    let mut changes: FxHashMap<PredicateId, usize> = FxHashMap::default();
    let heads = |c: &Clause| c.head.is_some();
    let mut queue: VecDeque<usize> = (0..clauses.len())
        .filter(|&i| heads(&system.clauses[i]) && system.clauses[i].body.is_empty())
        .collect();
    let mut queued: FxHashSet<usize> = queue.iter().copied().collect();
    let mut count = 0usize;
    while let Some(index) = queue.pop_front() {
        queued.remove(&index);
        count += 1;
        if count.is_multiple_of(64) && cx.stop().is_some() {
            return None;
        }
        let clause = &system.clauses[index];
        let Some(head) = &clause.head else {
            continue;
        };
        let old = facts.get(&head.predicate);
        // Nothing is left to lose.
        if old.is_some_and(|o| o.iter().enumerate().all(|(i, a)| *a == Argument::Same(i))) {
            continue;
        }
        let Some(new) = post(terms, clause, &clauses[index], &facts) else {
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
        if *times > PATIENCE {
            for (i, argument) in joined.iter_mut().enumerate() {
                if *times > 2 * PATIENCE || matches!(argument, Argument::Same(_)) {
                    *argument = Argument::Same(i);
                }
            }
        }
        facts.insert(head.predicate, joined);
        for &user in users.get(&head.predicate).into_iter().flatten() {
            if heads(&system.clauses[user]) && queued.insert(user) {
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
        let mut vars = solve::definable(terms, conjunct);
        if !vars.is_empty() {
            vars.retain(|v| head.contains(v));
            result.open.push((conjunct, vars));
        }
    }
    result
}

/// A conjunct `v`, `¬v`, `v = w` or `v = value`.
fn simple_pair(terms: &TermStore, conjunct: TermId) -> Option<(TermId, TermId)> {
    let node = terms.node(conjunct);
    let (a, b) = match node.op {
        Op::Var(_) => (conjunct, TermId::TRUE),
        Op::Not => (node.args[0], TermId::FALSE),
        Op::Eq => (node.args[0], node.args[1]),
        _ => return None,
    };
    let simple = |t| terms.is_var(t) || terms.is_value(t);
    (simple(a) && simple(b)).then_some((a, b))
}

/// Union-find over variables in which a value leads its class.
struct Classes<'a> {
    terms: &'a TermStore,
    parent: FxHashMap<TermId, TermId>,
}

impl Classes<'_> {
    fn find(&mut self, term: TermId) -> TermId {
        let mut root = term;
        while let Some(&next) = self.parent.get(&root) {
            root = next;
        }
        let mut current = term;
        while let Some(next) = self.parent.get_mut(&current) {
            current = std::mem::replace(next, root);
            if current == root {
                break;
            }
        }
        root
    }

    /// False when two different values would be equal.
    fn union(&mut self, a: TermId, b: TermId) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            if self.terms.is_value(a) {
                if self.terms.is_value(b) {
                    return false;
                }
                self.parent.insert(b, a);
            } else {
                self.parent.insert(a, b);
            }
        }
        true
    }
}

/// What the clause says of its head's arguments, given facts about the body's; `None` when it
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
    let mut classes = Classes {
        terms,
        parent: FxHashMap::default(),
    };
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
    // Two rounds see through most chains `x' = x + 1`, `y' = x'`.
    for _ in 0..2 {
        if equations.open.is_empty() {
            break;
        }
        let vars: Vec<TermId> = classes.parent.keys().copied().collect();
        let map: FxHashMap<TermId, TermId> =
            vars.into_iter().map(|v| (v, classes.find(v))).collect();
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
                    && let Some(term) = solve::definition(terms, instance, var)
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

/// What holds in both cases.
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

struct Back {
    old: Rc<System>,
    facts: Facts,
    kept: Kept,
    /// Clauses that are not as they were.
    touched: FxHashSet<ClauseId>,
}

impl BackTranslation for Back {
    fn model(&self, mut model: Model, _cx: &mut Context) -> Result<Model, BackError> {
        let terms = &self.old.terms;
        self.kept.restore(&self.old, &mut model, |p| {
            let mut conjuncts = Vec::new();
            equations(
                terms,
                &self.facts[&p],
                &self.old.predicate(p).params,
                &mut conjuncts,
            );
            terms.and(&conjuncts)
        });
        complete_model(&self.old, &mut model);
        // The facts rest on predicates that derive nothing.
        for predicate in self.old.used_predicates() {
            if !self.facts.contains_key(&predicate) {
                model.definitions.insert(predicate, TermId::FALSE);
            }
        }
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackError> {
        replay("propagate", &self.old, &refutation, cx, |step| {
            Ok(if self.touched.contains(&step.clause) {
                vec![OldStep::same(step, &[])]
            } else {
                Vec::new()
            })
        })
    }
}
