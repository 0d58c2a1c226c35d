//! Finds arguments that have few values, by a fixpoint over the clauses.
//!
//! The abstract value of an argument is a set of constants of bounded size, or "any". The values of
//! a head argument are those that the clause's constraint equates it with: constants, and the
//! values of the variables there. One conjunct of a conjunction suffices; of a disjunction all
//! disjuncts count. Other parts of the constraint are ignored. Only the requested arguments and
//! those that they are copied from are considered.
//!
//! Invariant: in every derivable fact, the argument has one of the values found.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Place, body_places};
use alphorn_chc::{Clause, ClauseIndex, System};
use alphorn_term::run::Context;
use alphorn_term::{Op, TermId, TermStore};

/// The limits of the analysis.
struct Limits {
    /// Visits of subterms; arguments that are reached later may have any value.
    max_subterm_visits: usize,
    /// Local variables that are followed one through another; then the value may be any.
    max_depth: usize,
}

const LIMITS: Limits = Limits {
    max_subterm_visits: 4_000_000,
    max_depth: 8,
};

/// The values of those of the `wanted` arguments that have at most `limit` values, ascending. Empty
/// if the budget ends first.
pub(super) fn finite_values(
    system: &System,
    wanted: &[Place],
    limit: usize,
    cx: &Context,
) -> FxHashMap<Place, Vec<TermId>> {
    let terms = &*system.terms;
    let index = ClauseIndex::new(system);
    let mut readers: FxHashMap<usize, Reader> = FxHashMap::default();
    let mut fuel = LIMITS.max_subterm_visits;
    // `None` for any value.
    let mut sets: FxHashMap<Place, Option<FxHashSet<TermId>>> = FxHashMap::default();
    let mut copies: FxHashMap<Place, Vec<Place>> = FxHashMap::default();
    let mut open: Vec<Place> = wanted.to_vec();
    let mut seen: FxHashSet<Place> = open.iter().copied().collect();
    while let Some(place) = open.pop() {
        if cx.stop().is_some() {
            return FxHashMap::default();
        }
        let mut own = Some(FxHashSet::default());
        for &at in index.deriving(place.0) {
            let clause = &system.clauses[at];
            let Some(&arg) = clause.head.as_ref().and_then(|h| h.args.get(place.1)) else {
                continue;
            };
            let reader = readers
                .entry(at)
                .or_insert_with(|| Reader::new(terms, clause, limit));
            let Some(sources) = reader.sources(arg, 0, &mut fuel) else {
                own = None;
                break;
            };
            for source in sources {
                match reader.places.get(&source) {
                    Some(&from) => {
                        copies.entry(from).or_default().push(place);
                        if seen.insert(from) {
                            open.push(from);
                        }
                    }
                    None => {
                        if let Some(own) = &mut own {
                            own.insert(source);
                        }
                    }
                }
            }
        }
        sets.insert(place, own.filter(|s| s.len() <= limit));
    }
    spread(&mut sets, &copies, limit);
    wanted
        .iter()
        .filter_map(|place| {
            let mut values: Vec<TermId> = sets.get(place)?.as_ref()?.iter().copied().collect();
            values.sort_unstable();
            Some((*place, values))
        })
        .collect()
}

/// Propagates sets along copies until nothing changes.
fn spread(
    sets: &mut FxHashMap<Place, Option<FxHashSet<TermId>>>,
    copies: &FxHashMap<Place, Vec<Place>>,
    limit: usize,
) {
    let mut queue: VecDeque<Place> = sets.keys().copied().collect();
    let mut queued: FxHashSet<Place> = queue.iter().copied().collect();
    while let Some(place) = queue.pop_front() {
        queued.remove(&place);
        let from = sets.get(&place).cloned().flatten();
        for &to in copies.get(&place).into_iter().flatten() {
            let Some(slot @ Some(_)) = sets.get_mut(&to) else {
                continue;
            };
            let grown = match (&from, slot.as_mut()) {
                (Some(from), Some(own)) => {
                    let before = own.len();
                    own.extend(from.iter().copied());
                    if own.len() > limit {
                        *slot = None;
                        true
                    } else {
                        own.len() > before
                    }
                }
                _ => {
                    *slot = None;
                    true
                }
            };
            if grown && queued.insert(to) {
                queue.push_back(to);
            }
        }
    }
}

/// One clause with the equations of its variables.
struct Reader<'a> {
    terms: &'a TermStore,
    limit: usize,
    /// The positions of the body's variables.
    places: FxHashMap<TermId, Place>,
    /// The terms that conjuncts `x = t` equate a variable with.
    equal: FxHashMap<TermId, Vec<TermId>>,
    /// The conjuncts that are disjunctions or conditionals.
    branching: Vec<TermId>,
    /// The sources found for local variables and head arguments; `None` for any value, also while
    /// the search for them is running, so that cycles give any value.
    known: FxHashMap<TermId, Option<Vec<TermId>>>,
}

impl<'a> Reader<'a> {
    fn new(terms: &'a TermStore, clause: &Clause, limit: usize) -> Reader<'a> {
        let mut equal: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
        let mut branching = Vec::new();
        for conjunct in terms.conjuncts(clause.constraint) {
            let args = terms.args(conjunct);
            match terms.op(conjunct) {
                Op::Eq => {
                    for (var, other) in [(args[0], args[1]), (args[1], args[0])] {
                        if terms.is_var(var) {
                            equal.entry(var).or_default().push(other);
                        }
                    }
                }
                Op::Var(_) => equal.entry(conjunct).or_default().push(TermId::TRUE),
                Op::Not if terms.is_var(args[0]) => {
                    equal.entry(args[0]).or_default().push(TermId::FALSE);
                }
                Op::Or | Op::Ite => branching.push(conjunct),
                _ => {}
            }
        }
        Reader {
            terms,
            limit,
            places: body_places(clause),
            equal,
            branching,
            known: FxHashMap::default(),
        }
    }

    /// Values and body arguments, one of which `var` is equal to; `None` if they are not known. The
    /// recursion depth is bounded.
    fn sources(&mut self, var: TermId, depth: usize, fuel: &mut usize) -> Option<Vec<TermId>> {
        if self.places.contains_key(&var) {
            return Some(vec![var]);
        }
        if let Some(known) = self.known.get(&var) {
            return known.clone();
        }
        if depth > LIMITS.max_depth {
            return None;
        }
        self.known.insert(var, None);
        let plain = self.equal.get(&var).cloned().unwrap_or_default();
        let mut best: Option<Vec<TermId>> = None;
        for term in plain {
            let found = self.choices(term, fuel);
            let found = found.and_then(|f| self.resolve(f, depth, fuel));
            best = better(self.terms, best, found);
        }
        if best.is_none() {
            let mut memo = FxHashMap::default();
            for conjunct in self.branching.clone() {
                let found = self.implied(conjunct, var, &mut memo, fuel);
                let found = found.and_then(|f| self.resolve(f, depth, fuel));
                best = better(self.terms, best, found);
            }
        }
        self.known.insert(var, best.clone());
        best
    }

    /// Replaces local variables among the terms by their sources.
    fn resolve(
        &mut self,
        found: Vec<TermId>,
        depth: usize,
        fuel: &mut usize,
    ) -> Option<Vec<TermId>> {
        let mut result = Vec::with_capacity(found.len());
        for term in found {
            if self.terms.is_value(term) {
                result.push(term);
            } else {
                result.extend(self.sources(term, depth + 1, fuel)?);
            }
        }
        result.sort_unstable();
        result.dedup();
        (result.len() <= self.limit).then_some(result)
    }

    /// The values and variables at the leaves of nested `ite`s.
    fn choices(&self, term: TermId, fuel: &mut usize) -> Option<Vec<TermId>> {
        let terms = self.terms;
        let mut leaves = Vec::new();
        let mut seen = FxHashSet::default();
        let mut open = vec![term];
        while let Some(term) = open.pop() {
            *fuel = fuel.checked_sub(1)?;
            if !seen.insert(term) {
                continue;
            }
            match terms.op(term) {
                Op::Ite => open.extend_from_slice(&terms.args(term)[1..]),
                _ if terms.is_value(term) || terms.is_var(term) => {
                    leaves.push(term);
                    if leaves.len() > self.limit {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        Some(leaves)
    }

    /// Values and variables such that the formula implies that `var` equals one of them.
    fn implied(
        &self,
        formula: TermId,
        var: TermId,
        memo: &mut FxHashMap<TermId, Option<Vec<TermId>>>,
        fuel: &mut usize,
    ) -> Option<Vec<TermId>> {
        let terms = self.terms;
        let inner = |t: TermId| -> &[TermId] {
            match terms.op(t) {
                Op::And | Op::Or => terms.args(t),
                Op::Ite => &terms.args(t)[1..],
                _ => &[],
            }
        };
        let mut stack = vec![(formula, false)];
        while let Some((term, ready)) = stack.pop() {
            if memo.contains_key(&term) {
                continue;
            }
            if !ready {
                *fuel = fuel.checked_sub(1 + inner(term).len())?;
                stack.push((term, true));
                let fresh = inner(term).iter().filter(|t| !memo.contains_key(t));
                stack.extend(fresh.map(|&t| (t, false)));
                continue;
            }
            let args = terms.args(term);
            let result = match terms.op(term) {
                Op::False => Some(Vec::new()),
                Op::And => args
                    .iter()
                    .fold(None, |best, a| better(terms, best, memo[a].clone())),
                Op::Or | Op::Ite => {
                    let mut union: Option<Vec<TermId>> = Some(Vec::new());
                    for part in inner(term) {
                        union = match (union, &memo[part]) {
                            (Some(mut union), Some(part)) => {
                                union.extend_from_slice(part);
                                union.sort_unstable();
                                union.dedup();
                                (union.len() <= self.limit).then_some(union)
                            }
                            _ => None,
                        };
                    }
                    union
                }
                Op::Eq if args[0] == var => self.choices(args[1], fuel),
                Op::Eq if args[1] == var => self.choices(args[0], fuel),
                Op::Var(_) if term == var => Some(vec![TermId::TRUE]),
                Op::Not if args[0] == var => Some(vec![TermId::FALSE]),
                _ => None,
            };
            memo.insert(term, result);
        }
        memo[&formula].clone()
    }
}

/// The more informative one of two correct answers: fewer variables, then fewer terms.
fn better(
    terms: &TermStore,
    a: Option<Vec<TermId>>,
    b: Option<Vec<TermId>>,
) -> Option<Vec<TermId>> {
    let rank = |items: &Vec<TermId>| {
        let open = items.iter().filter(|&&t| !terms.is_value(t)).count();
        (open, items.len())
    };
    match (a, b) {
        (Some(a), Some(b)) => Some(if rank(&b) < rank(&a) { b } else { a }),
        (a, None) => a,
        (None, b) => b,
    }
}
