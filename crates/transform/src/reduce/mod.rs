//! Simplifies one constraint without changing its meaning for the kept variables: equations for the
//! other variables (locals) are solved and substituted, redundant bounds are dropped.
//!
//! One round factors out what disjuncts share, merges equal kept variables, solves as many
//! equations as do not depend on each other cyclically and substitutes all of them at once in
//! dependency order, replaces literals that are conjuncts by `true` inside other conjuncts, merges
//! bounds on the same sum, decides literals by bounds, drops locals whose conjuncts can always be
//! satisfied, and eliminates other locals if nothing grows.
//!
//! Invariant: `∃ locals. constraint` is unchanged as a formula over the kept variables, and the
//! recorded definitions give, in order, values to the eliminated locals. Each round is nearly
//! linear in the constraint's size.

mod formulas;
mod known;
mod limits;
mod locals;
#[cfg(test)]
mod tests;

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use self::known::Known;
use self::limits::LIMITS;
use super::isolate::{self, Bound};
use alphorn_arith::Comparison;
use alphorn_term::{Op, Rational, SortId, TermId, TermStore};

/// A reduced constraint.
pub(super) struct Reduction {
    /// The constraint.
    pub constraint: TermId,
    /// `local := term` in the order of evaluation: each term is over variables of the reduced
    /// constraint, kept variables, locals defined before it, and locals that may have any value.
    pub definitions: Vec<(TermId, TermId)>,
}

/// Reduces `constraint`. Kept variables are those with a rank; of two equal ones, the one of lower
/// rank replaces the other.
pub(super) fn reduce(
    terms: &TermStore,
    constraint: TermId,
    rank: &FxHashMap<TermId, u32>,
) -> Reduction {
    let mut reducer = Reducer {
        terms,
        rank,
        conjuncts: terms.conjuncts(constraint),
        equal: FxHashMap::default(),
        refused: FxHashSet::default(),
        definitions: Vec::new(),
    };
    for _ in 0..LIMITS.max_rounds {
        let before = reducer.conjuncts.clone();
        let consistent = reducer.open_formulas()
            && reducer.merge_kept()
            && reducer.eliminate()
            && reducer.open_stores()
            && reducer.use_literals()
            && reducer.merge_bounds()
            && reducer.use_bounds()
            && reducer.drop_locals()
            && reducer.project_locals();
        if !consistent {
            return Reduction {
                constraint: TermId::FALSE,
                definitions: Vec::new(),
            };
        }
        if reducer.conjuncts == before {
            break;
        }
    }
    reducer.definitions.reverse();
    let mut conjuncts = std::mem::take(&mut reducer.conjuncts);
    let merged: Vec<TermId> = reducer.equal.keys().copied().collect();
    for var in merged {
        let leader = reducer.leader(var);
        conjuncts.push(terms.eq(var, leader));
    }
    Reduction {
        constraint: terms.and(&conjuncts),
        definitions: reducer.definitions,
    }
}

struct Reducer<'a> {
    terms: &'a TermStore,
    rank: &'a FxHashMap<TermId, u32>,
    conjuncts: Vec<TermId>,
    /// For each merged kept variable another one, or a value, that replaces it: a union-find
    /// forest. These equations are not among the conjuncts.
    equal: FxHashMap<TermId, TermId>,
    /// Locals whose definitions are too large to be substituted.
    refused: FxHashSet<TermId>,
    /// In the order of elimination, the reverse of the order of evaluation.
    definitions: Vec<(TermId, TermId)>,
}

impl Reducer<'_> {
    fn is_local(&self, var: TermId) -> bool {
        !self.rank.contains_key(&var)
    }

    /// Sets the conjuncts, flattened and without duplicates. False if their conjunction is false.
    fn set_conjuncts(&mut self, conjuncts: &[TermId]) -> bool {
        let all = self.terms.and(conjuncts);
        self.conjuncts = self.terms.conjuncts(all);
        all != TermId::FALSE
    }

    /// Pushes negations inwards and factors out what all disjuncts share.
    fn open_formulas(&mut self) -> bool {
        let mut result = Vec::with_capacity(self.conjuncts.len());
        for &conjunct in &self.conjuncts {
            formulas::open(self.terms, conjunct, &mut result);
        }
        result == self.conjuncts || self.set_conjuncts(&result)
    }

    /// Decides comparisons by bounds, and simplifies reads of stores.
    fn use_bounds(&mut self) -> bool {
        let known = Known::new(self.terms, &self.conjuncts);
        if known.is_empty() {
            return true;
        }
        let mut memo = FxHashMap::default();
        let result: Vec<TermId> = self
            .conjuncts
            .iter()
            .map(|&c| known.apply(c, &mut memo))
            .collect();
        result == self.conjuncts || self.set_conjuncts(&result)
    }

    fn leader(&mut self, var: TermId) -> TermId {
        let mut root = var;
        while let Some(&next) = self.equal.get(&root) {
            root = next;
        }
        let mut current = var;
        while let Some(next) = self.equal.get_mut(&current) {
            let following = std::mem::replace(next, root);
            if following == root {
                break;
            }
            current = following;
        }
        root
    }

    /// Moves equations between kept variables, or with values, into `equal`, and substitutes one
    /// variable for all equal ones in the other conjuncts.
    fn merge_kept(&mut self) -> bool {
        let terms = self.terms;
        let mut merged = false;
        let mut rest = Vec::with_capacity(self.conjuncts.len());
        for conjunct in std::mem::take(&mut self.conjuncts) {
            let node = terms.node(conjunct);
            let pair = match node.op {
                Op::Var(_) => Some((conjunct, TermId::TRUE)),
                Op::Not => Some((node.args[0], TermId::FALSE)),
                Op::Eq => Some((node.args[0], node.args[1])),
                _ => None,
            };
            let kept = |t: &TermId| self.rank.contains_key(t) || terms.is_value(*t);
            match pair.filter(|(a, b)| kept(a) && kept(b)) {
                Some((a, b)) => {
                    let (a, b) = (self.leader(a), self.leader(b));
                    if a == b {
                        continue;
                    }
                    let (low, high) = match (self.rank.get(&a), self.rank.get(&b)) {
                        (None, None) => return false,
                        (None, Some(_)) => (a, b),
                        (Some(_), None) => (b, a),
                        (Some(i), Some(j)) if i < j => (a, b),
                        _ => (b, a),
                    };
                    self.equal.insert(high, low);
                    merged = true;
                }
                None => rest.push(conjunct),
            }
        }
        if !merged {
            self.conjuncts = rest;
            return true;
        }
        let vars: Vec<TermId> = self.equal.keys().copied().collect();
        let map: FxHashMap<TermId, TermId> =
            vars.into_iter().map(|v| (v, self.leader(v))).collect();
        let mut memo = FxHashMap::default();
        for conjunct in &mut rest {
            *conjunct = terms.substitute_with(*conjunct, &map, &mut memo);
        }
        self.set_conjuncts(&rest)
    }

    /// Solves equations for locals and substitutes them all at once.
    fn eliminate(&mut self) -> bool {
        self.split_constructors();
        let terms = self.terms;
        let mut candidates: Vec<(usize, Vec<TermId>)> = Vec::new();
        for (at, &conjunct) in self.conjuncts.iter().enumerate() {
            let mut vars = isolate::definable(terms, conjunct);
            vars.retain(|v| self.is_local(*v) && !self.refused.contains(v));
            if !vars.is_empty() {
                candidates.push((at, vars));
            }
        }
        if candidates.is_empty() {
            return true;
        }
        let mut occurrences: FxHashMap<TermId, usize> = FxHashMap::default();
        for &conjunct in &self.conjuncts {
            for var in terms.free_vars(&[conjunct]) {
                *occurrences.entry(var).or_default() += 1;
            }
        }
        // One variable for each equation, preferably one that occurs in few conjuncts.
        let mut chosen: FxHashMap<TermId, Candidate> = FxHashMap::default();
        for (at, vars) in candidates {
            let var = vars
                .into_iter()
                .filter(|v| !chosen.contains_key(v))
                .min_by_key(|v| (occurrences.get(v).copied().unwrap_or(0), *v));
            if let Some(var) = var
                && let Some(term) = isolate::definition(terms, self.conjuncts[at], var)
            {
                chosen.insert(var, Candidate { at, term });
            }
        }
        let order = acyclic_order(terms, &mut chosen);
        let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut memo: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut used: FxHashSet<usize> = FxHashSet::default();
        for var in order {
            let candidate = &chosen[&var];
            // All defined variables in the term are in the map already, so cached results stay
            // valid.
            let term = terms.substitute_with(candidate.term, &map, &mut memo);
            let places = occurrences.get(&var).copied().unwrap_or(0);
            if places > 2
                && *terms.op(term) == Op::Add
                && terms.args(term).len() > LIMITS.max_substituted_summands
            {
                self.refused.insert(var);
                continue;
            }
            used.insert(candidate.at);
            map.insert(var, term);
            memo.insert(var, term);
            self.definitions.push((var, term));
        }
        if map.is_empty() {
            return true;
        }
        let rest: Vec<TermId> = self
            .conjuncts
            .iter()
            .enumerate()
            .filter(|(at, _)| !used.contains(at))
            .map(|(_, &conjunct)| terms.substitute_with(conjunct, &map, &mut memo))
            .collect();
        self.set_conjuncts(&rest)
    }

    /// Replaces `C(…, v, …) = t` with a local v by `is-C(t) ∧ … ∧ v = sel(t) ∧ …`.
    fn split_constructors(&mut self) {
        let terms = self.terms;
        let mut split = false;
        let mut result = Vec::with_capacity(self.conjuncts.len());
        for &conjunct in &self.conjuncts {
            let node = terms.node(conjunct);
            let mut parts = None;
            if node.op == Op::Eq {
                let (a, b) = (node.args[0], node.args[1]);
                for (build, other) in [(a, b), (b, a)] {
                    let Op::Construct(datatype, constructor) = *terms.op(build) else {
                        continue;
                    };
                    // If the other side is a local, the equation is solved for it.
                    if terms.is_var(other) && self.is_local(other) {
                        continue;
                    }
                    let fields = terms.args(build);
                    if !fields.iter().any(|&f| terms.is_var(f) && self.is_local(f)) {
                        continue;
                    }
                    let mut all = vec![terms.is(datatype, constructor, other)];
                    all.extend(fields.iter().enumerate().map(|(i, &field)| {
                        terms.eq(field, terms.field(datatype, constructor, i as u32, other))
                    }));
                    parts = Some(all);
                    break;
                }
            }
            match parts {
                Some(parts) => {
                    split = true;
                    result.extend(parts.into_iter().filter(|&p| p != TermId::TRUE));
                }
                None => result.push(conjunct),
            }
        }
        if split {
            self.conjuncts = result;
        }
    }

    /// Replaces literals that are conjuncts by `true` inside the other conjuncts, and terms that
    /// equal a value by the value.
    fn use_literals(&mut self) -> bool {
        let terms = self.terms;
        let mut known: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut values = false;
        for &conjunct in &self.conjuncts {
            if is_theory_literal(terms, conjunct) {
                known.insert(conjunct, TermId::TRUE);
                known.insert(terms.not(conjunct), TermId::FALSE);
            }
            if let Some((term, value)) = valued(terms, conjunct) {
                values = true;
                if known.insert(term, value).is_some_and(|v| v != value) {
                    return false;
                }
            }
        }
        if known.is_empty() || !values && known.len() == 2 * self.conjuncts.len() && self.flat() {
            return true;
        }
        let mut memo = FxHashMap::default();
        let mut inside = |term: TermId| {
            // Only proper subterms are replaced.
            let node = terms.node(term);
            let args: Vec<TermId> = node
                .args
                .iter()
                .map(|&arg| terms.substitute_with(arg, &known, &mut memo))
                .collect();
            if args == *node.args {
                term
            } else {
                terms.rebuild(&node.op, &args, node.sort)
            }
        };
        let mut result = Vec::with_capacity(self.conjuncts.len());
        for &conjunct in &self.conjuncts {
            // A literal is never replaced by itself, nor a term with a value in the equation that
            // gives the value. Only proper subterms are replaced, which are smaller, so no two
            // conjuncts can justify each other.
            let new = if let Some((term, value)) = valued(terms, conjunct) {
                terms.eq(inside(term), value)
            } else if known.contains_key(&conjunct) {
                match terms.node(conjunct) {
                    node if node.op == Op::Not => terms.not(inside(node.args[0])),
                    _ => inside(conjunct),
                }
            } else {
                inside(conjunct)
            };
            result.push(new);
        }
        result == self.conjuncts || self.set_conjuncts(&result)
    }

    /// Whether no conjunct has a formula as a subterm of its atom.
    fn flat(&self) -> bool {
        let mut flat = true;
        let atoms: Vec<TermId> = self
            .conjuncts
            .iter()
            .map(|&c| match self.terms.node(c) {
                node if node.op == Op::Not => node.args[0],
                _ => c,
            })
            .flat_map(|atom| self.terms.args(atom).iter().copied())
            .collect();
        self.terms.post_order(&atoms, |t| {
            flat &= self.terms.sort_of(t) != SortId::BOOL;
        });
        flat
    }

    /// Keeps the strongest bounds on each sum; two equal ones become an equation.
    fn merge_bounds(&mut self) -> bool {
        let terms = self.terms;
        let mut table: FxHashMap<(TermId, TermId), Interval> = FxHashMap::default();
        let mut rest: Vec<TermId> = Vec::with_capacity(self.conjuncts.len());
        let mut order: Vec<(TermId, TermId)> = Vec::new();
        let mut merged = false;
        for &conjunct in &self.conjuncts {
            let Some((key, bound)) = read_bound(terms, conjunct) else {
                rest.push(conjunct);
                continue;
            };
            let interval = match table.entry(key) {
                Entry::Vacant(entry) => {
                    order.push(key);
                    entry.insert(Interval::default())
                }
                Entry::Occupied(entry) => {
                    merged = true;
                    entry.into_mut()
                }
            };
            interval.add(bound, conjunct);
        }
        if !merged {
            return true;
        }
        for key in order {
            let interval = &table[&key];
            match (&interval.lower, &interval.upper) {
                (Some((low, strict_low, a)), Some((high, strict_high, b))) => {
                    if low > high || low == high && (*strict_low || *strict_high) {
                        return false;
                    }
                    if low == high {
                        let sort = terms.sort_of(key.0);
                        let right = terms.add(&[key.1, terms.number(low, sort)]);
                        rest.push(terms.eq(key.0, right));
                    } else {
                        rest.extend([*a, *b]);
                    }
                }
                (low, high) => rest.extend(low.iter().chain(high).map(|(_, _, c)| *c)),
            }
        }
        self.set_conjuncts(&rest)
    }

    /// Drops locals with all their conjuncts if these can always be satisfied.
    fn drop_locals(&mut self) -> bool {
        let terms = self.terms;
        let mut places: FxHashMap<TermId, Vec<usize>> = FxHashMap::default();
        let mut vars_of: Vec<Vec<TermId>> = Vec::with_capacity(self.conjuncts.len());
        for (at, &conjunct) in self.conjuncts.iter().enumerate() {
            let mut vars = terms.free_vars(&[conjunct]);
            vars.retain(|v| self.is_local(*v));
            for &var in &vars {
                places.entry(var).or_default().push(at);
            }
            vars_of.push(vars);
        }
        let mut alive = vec![true; self.conjuncts.len()];
        let mut queue: Vec<TermId> = places.keys().copied().collect();
        queue.sort_unstable();
        let mut dropped = false;
        while let Some(var) = queue.pop() {
            let Some(at) = places.get_mut(&var) else {
                continue;
            };
            at.retain(|&i| alive[i]);
            if at.is_empty() || at.len() > LIMITS.max_occurrences {
                continue;
            }
            let literals: Vec<TermId> = at.iter().map(|&i| self.conjuncts[i]).collect();
            let Some(term) = satisfying_value(terms, &literals, var) else {
                continue;
            };
            dropped = true;
            self.definitions.push((var, term));
            for i in places.remove(&var).unwrap_or_default() {
                alive[i] = false;
                queue.extend(vars_of[i].iter().filter(|v| **v != var));
            }
        }
        if dropped {
            let mut index = 0;
            self.conjuncts.retain(|_| {
                index += 1;
                alive[index - 1]
            });
        }
        true
    }
}

struct Candidate {
    at: usize,
    term: TermId,
}

/// The chosen variables in dependency order; a variable whose definition closes a cycle is removed
/// from `chosen`.
fn acyclic_order(terms: &TermStore, chosen: &mut FxHashMap<TermId, Candidate>) -> Vec<TermId> {
    #[derive(PartialEq)]
    enum Color {
        Open,
        Done,
    }
    let mut roots: Vec<(usize, TermId)> = chosen.iter().map(|(v, c)| (c.at, *v)).collect();
    roots.sort_unstable();
    let mut needs: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
    for &(_, var) in &roots {
        let vars = terms.free_vars(&[chosen[&var].term]);
        let inside = vars.into_iter().filter(|v| chosen.contains_key(v));
        needs.insert(var, inside.collect());
    }
    let mut colors: FxHashMap<TermId, Color> = FxHashMap::default();
    let mut order = Vec::with_capacity(roots.len());
    for (_, root) in roots {
        let mut stack = vec![(root, false)];
        while let Some((var, finished)) = stack.pop() {
            if finished {
                colors.insert(var, Color::Done);
                if chosen.contains_key(&var) {
                    order.push(var);
                }
                continue;
            }
            if colors.contains_key(&var) {
                continue;
            }
            if needs[&var]
                .iter()
                .any(|n| *n == var || colors.get(n) == Some(&Color::Open))
            {
                chosen.remove(&var);
                colors.insert(var, Color::Done);
                continue;
            }
            colors.insert(var, Color::Open);
            stack.push((var, true));
            for &need in &needs[&var] {
                if !colors.contains_key(&need) {
                    stack.push((need, false));
                }
            }
        }
    }
    order
}

/// Whether the conjunct is a literal without formulas as direct arguments.
fn is_theory_literal(terms: &TermStore, conjunct: TermId) -> bool {
    let atom = match terms.node(conjunct) {
        node if node.op == Op::Not => node.args[0],
        _ => conjunct,
    };
    let node = terms.node(atom);
    match node.op {
        Op::And | Op::Or | Op::Ite | Op::Not | Op::Forall(_) | Op::Exists(_) => false,
        _ => node.args.iter().all(|&a| terms.sort_of(a) != SortId::BOOL),
    }
}

/// The sides of an equation `t = value`, where `t` is neither a variable nor a sum.
fn valued(terms: &TermStore, conjunct: TermId) -> Option<(TermId, TermId)> {
    let node = terms.node(conjunct);
    if node.op != Op::Eq {
        return None;
    }
    let (term, value) = match (terms.is_value(node.args[0]), terms.is_value(node.args[1])) {
        (false, true) => (node.args[0], node.args[1]),
        (true, false) => (node.args[1], node.args[0]),
        _ => return None,
    };
    let plain = matches!(terms.op(term), Op::Var(_) | Op::Add | Op::Mul);
    (!plain && terms.sort_of(term) != SortId::BOOL).then_some((term, value))
}

struct OneBound {
    value: Rational,
    lower: bool,
    strict: bool,
}

#[derive(Default)]
struct Interval {
    lower: Option<(Rational, bool, TermId)>,
    upper: Option<(Rational, bool, TermId)>,
}

impl Interval {
    fn add(&mut self, bound: OneBound, literal: TermId) {
        let slot = if bound.lower {
            &mut self.lower
        } else {
            &mut self.upper
        };
        let stronger = match slot {
            None => true,
            Some((value, strict, _)) if *value == bound.value => bound.strict && !*strict,
            Some((value, _, _)) if bound.lower => bound.value > *value,
            Some((value, _, _)) => bound.value < *value,
        };
        if stronger {
            *slot = Some((bound.value, bound.strict, literal));
        }
    }
}

/// A bound `l ⋈ r + value` as the pair (l, r) and the value.
fn read_bound(terms: &TermStore, conjunct: TermId) -> Option<((TermId, TermId), OneBound)> {
    let read = Comparison::of(terms, conjunct).filter(|c| c.lower != c.upper)?;
    let bound = OneBound {
        value: read.value,
        lower: read.lower,
        strict: read.strict,
    };
    Some((read.sides, bound))
}

/// A term without `var` such that all literals hold if `var` has its value. The literals are all
/// conjuncts that mention `var`.
fn satisfying_value(terms: &TermStore, literals: &[TermId], var: TermId) -> Option<TermId> {
    if let [single] = literals {
        return isolate::witness(terms, *single, var);
    }
    let mut lower = Vec::new();
    let mut upper = Vec::new();
    let mut outside = Vec::new();
    for &literal in literals {
        match isolate::bound(terms, literal, var)? {
            Bound::Lower(t) if upper.is_empty() => lower.push(t),
            Bound::Upper(t) if lower.is_empty() => upper.push(t),
            Bound::Outside(below, above) => outside.push((below, above)),
            _ => return None,
        }
    }
    if upper.is_empty() {
        lower.extend(outside.iter().map(|o| o.1));
        Some(isolate::extremum(terms, &lower, true))
    } else {
        upper.extend(outside.iter().map(|o| o.0));
        Some(isolate::extremum(terms, &upper, false))
    }
}
