//! What the arguments of predicates mean: indexes of cells, addresses, fields, other values.
//!
//! Invariant: roles depend on the clauses only and are guesses; a wrong one costs candidates.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::classes::{Classes, bases};
use alphorn_chc::{Atom, Clause, PredicateId, System};
use alphorn_term::{BigInt, Op, Rational, SortId, TermId, TermStore};

/// The meaning of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The index of a cell, which no clause changes.
    Index,
    /// An address, or a number that is compared with addresses.
    Address,
    /// A number that is not; with the numerals that the clauses compare it with, and its class:
    /// numbers of different classes are never compared.
    Value { class: usize, numerals: Vec<i64> },
    /// A Boolean.
    Flag,
    /// Anything else.
    Other,
}

/// Whether an argument belongs to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the same for all cells.
    Shared,
    /// It differs between cells.
    Cell,
    /// No clause has two cells of the predicate.
    Unknown,
}

/// An argument.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub role: Role,
    pub place: Place,
}

/// The arguments of all predicates in use.
pub(super) struct Roles {
    pub arguments: FxHashMap<PredicateId, Vec<Argument>>,
}

/// Numerals that are kept for an argument.
const MAX_NUMERALS: usize = 5;

impl Roles {
    /// The roles in a system.
    pub fn new(system: &System) -> Roles {
        let terms = &*system.terms;
        let mut classes = Classes::default();
        classes.union_arguments(system);
        let mut numerals: FxHashMap<TermId, Vec<i64>> = FxHashMap::default();
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        for clause in &system.clauses {
            terms.post_order(&[clause.constraint], |t| {
                if seen.insert(t) {
                    compare(terms, t, &mut classes, &mut numerals);
                }
            });
        }
        let equal: Vec<Offsets> = system.clauses.iter().map(|c| offsets(terms, c)).collect();
        let places = places(system, &equal);
        let mut rigid = rigid(system, &equal);
        let by_place = indexes_by_place(system, &equal, &rigid, &places);
        // What is compared only with what never changes is the content of a cell, no index.
        let params = system.used_predicates().into_iter();
        let params = params.flat_map(|p| system.predicate(p).params.iter().copied());
        let moving: FxHashSet<TermId> = params
            .filter(|param| !rigid.contains(param))
            .map(|param| classes.find(param))
            .collect();
        rigid.extend(by_place);
        rigid.retain(|&param| moving.contains(&classes.find(param)));
        let addresses: FxHashSet<TermId> = rigid.iter().map(|&p| classes.find(p)).collect();
        let mut of_class: FxHashMap<TermId, Vec<i64>> = FxHashMap::default();
        for (var, found) in numerals {
            of_class.entry(classes.find(var)).or_default().extend(found);
        }
        for found in of_class.values_mut() {
            found.sort_unstable();
            found.dedup();
            found.truncate(MAX_NUMERALS);
        }
        let mut numbers: FxHashMap<TermId, usize> = FxHashMap::default();
        let mut arguments = FxHashMap::default();
        for predicate in system.used_predicates() {
            let params = system.predicate(predicate).params.iter();
            let own = params.map(|&param| {
                let class = classes.find(param);
                let count = numbers.len();
                let role = match terms.sort_of(param) {
                    SortId::BOOL => Role::Flag,
                    SortId::INT if rigid.contains(&param) => Role::Index,
                    SortId::INT if addresses.contains(&class) => Role::Address,
                    SortId::INT => Role::Value {
                        class: *numbers.entry(class).or_insert(count),
                        numerals: of_class.get(&class).cloned().unwrap_or_default(),
                    },
                    _ => Role::Other,
                };
                let place = places.get(&param).copied().unwrap_or(Place::Unknown);
                Argument { role, place }
            });
            let own: Vec<Argument> = own.collect();
            log::trace!("links: {}: {own:?}", system.predicate(predicate).name);
            arguments.insert(predicate, own);
        }
        Roles { arguments }
    }

    /// Whether some predicate has a cell.
    pub fn has_cells(&self) -> bool {
        let mut all = self.arguments.values().flatten();
        all.any(|argument| argument.role == Role::Index)
    }
}

/// Notes what a subterm compares: variables that are compared with each other are of one class.
fn compare(
    terms: &TermStore,
    term: TermId,
    classes: &mut Classes,
    numerals: &mut FxHashMap<TermId, Vec<i64>>,
) {
    let Some(sides) = classes.compare(terms, term) else {
        return;
    };
    let args = terms.args(term);
    for (side, other) in [(0, 1), (1, 0)] {
        let numeral = terms
            .as_int(args[other])
            .and_then(|n| i64::try_from(n).ok());
        if let (Some(numeral), &[var]) = (numeral, &sides[side][..]) {
            numerals.entry(var).or_default().push(numeral);
        }
    }
}

/// Variables whose differences a clause fixes.
#[derive(Default)]
struct Offsets {
    /// By variable, another one and the difference to it.
    parent: FxHashMap<TermId, (TermId, BigInt)>,
    /// The variables that are related to others.
    related: FxHashSet<TermId>,
}

impl Offsets {
    /// A variable that stands for the class, and the difference to it.
    fn find(&self, var: TermId) -> (TermId, BigInt) {
        let (mut root, mut offset) = (var, BigInt::from(0));
        while let Some((parent, step)) = self.parent.get(&root) {
            root = *parent;
            offset += step;
        }
        (root, offset)
    }

    /// Notes that `a = b + offset`.
    fn union(&mut self, a: TermId, b: TermId, offset: &BigInt) {
        self.related.extend([a, b]);
        let ((a, to_a), (b, to_b)) = (self.find(a), self.find(b));
        if a != b {
            self.parent.insert(a, (b, to_b + offset - to_a));
        }
    }
}

/// The differences that the conjuncts of a clause fix, by equations or by two bounds. A number that
/// is fixed itself is related to `true`.
fn offsets(terms: &TermStore, clause: &Clause) -> Offsets {
    let mut offsets = Offsets::default();
    let mut bounds: FxHashSet<(TermId, TermId, BigInt)> = FxHashSet::default();
    for conjunct in terms.conjuncts(clause.constraint) {
        let args = terms.args(conjunct);
        let op = terms.op(conjunct);
        if !matches!(op, Op::Eq | Op::Le | Op::Ge) || terms.sort_of(args[0]) != SortId::INT {
            if *op == Op::Eq && args.iter().all(|&a| terms.is_var(a)) {
                offsets.union(args[0], args[1], &BigInt::from(0));
            }
            continue;
        }
        let Some((a, b, offset)) = difference(terms, args[0], args[1]) else {
            continue;
        };
        // a - b = offset, a - b <= offset, or b - a <= - offset.
        match op {
            Op::Eq => offsets.union(a, b, &offset),
            Op::Le | Op::Ge => {
                let (low, high, most) = match *op == Op::Le {
                    true => (a, b, offset),
                    false => (b, a, -offset),
                };
                if bounds.contains(&(high, low, -&most)) {
                    offsets.union(low, high, &most);
                }
                bounds.insert((low, high, most));
            }
            _ => {}
        }
    }
    offsets
}

/// For `left op right` with two variables at most: `(a, b, c)` such that it means `a - b op c`.
fn difference(terms: &TermStore, left: TermId, right: TermId) -> Option<(TermId, TermId, BigInt)> {
    let linear = terms.difference(left, right);
    let zero = TermId::TRUE;
    let sign = |c: &Rational| match c.is_integer() {
        true => i64::try_from(c.to_integer()).ok(),
        false => None,
    };
    let (a, b) = match &linear.monomials[..] {
        [(a, c)] if sign(c) == Some(1) => (*a, zero),
        [(b, c)] if sign(c) == Some(-1) => (zero, *b),
        [(a, c), (b, d)] if sign(c) == Some(1) && sign(d) == Some(-1) => (*a, *b),
        [(b, d), (a, c)] if sign(c) == Some(1) && sign(d) == Some(-1) => (*a, *b),
        _ => return None,
    };
    let is_plain = |t: TermId| t == zero || terms.is_var(t);
    let constant = &linear.constant;
    (is_plain(a) && is_plain(b) && constant.is_integer()).then(|| (a, b, -constant.to_integer()))
}

/// The formal variables of arguments that no clause changes: the greatest set such that a head's
/// argument is equal to such an argument of the body, or the clause does not define it.
fn rigid(system: &System, equal: &[Offsets]) -> FxHashSet<TermId> {
    let terms = &*system.terms;
    let used = system.used_predicates();
    let params = used.iter().flat_map(|&p| &system.predicate(p).params);
    let mut rigid: FxHashSet<TermId> = params
        .copied()
        .filter(|&p| terms.sort_of(p) == SortId::INT)
        .collect();
    // By clause with a head: the head's arguments, and for each the body's arguments equal to it;
    // `None` if there are none and nothing defines it.
    let mut arguments: Vec<(TermId, Option<Vec<TermId>>)> = Vec::new();
    for (clause, equal) in system.clauses.iter().zip(equal) {
        let Some(head) = &clause.head else { continue };
        let mut of_body: FxHashMap<(TermId, BigInt), Vec<TermId>> = FxHashMap::default();
        for atom in &clause.body {
            let params = &system.predicate(atom.predicate).params;
            for (&param, &arg) in params.iter().zip(&atom.args) {
                of_body.entry(equal.find(arg)).or_default().push(param);
            }
        }
        let defined = defined(terms, clause);
        let params = &system.predicate(head.predicate).params;
        for (&param, &arg) in params.iter().zip(&head.args) {
            if !rigid.contains(&param) {
                continue;
            }
            let sources = of_body.get(&equal.find(arg)).cloned();
            let is_free = !defined.contains(&arg) && !equal.related.contains(&arg);
            arguments.push((param, sources.or((!is_free).then(Vec::new))));
        }
    }
    remove_moving(&mut rigid, &arguments);
    rigid
}

/// Removes parameters from a set until each one that is left has, for each of its entries in
/// `arguments`, a source in the set or no need of one. Each entry is looked at once for each source.
fn remove_moving(rigid: &mut FxHashSet<TermId>, arguments: &[(TermId, Option<Vec<TermId>>)]) {
    // By source, the entries; by entry, how many of its sources are in the set.
    let mut users: FxHashMap<TermId, Vec<usize>> = FxHashMap::default();
    let mut counts = vec![0_usize; arguments.len()];
    let mut moving: Vec<TermId> = Vec::new();
    for (entry, (param, sources)) in arguments.iter().enumerate() {
        let Some(sources) = sources else { continue };
        for &source in sources.iter().filter(|s| rigid.contains(s)) {
            users.entry(source).or_default().push(entry);
            counts[entry] += 1;
        }
        if counts[entry] == 0 {
            moving.push(*param);
        }
    }
    while let Some(param) = moving.pop() {
        if !rigid.remove(&param) {
            continue;
        }
        for &entry in users.get(&param).into_iter().flatten() {
            counts[entry] -= 1;
            if counts[entry] == 0 {
                moving.push(arguments[entry].0);
            }
        }
    }
}

/// The indexes of cells of predicates without a rigid argument: clauses that are about one cell only,
/// for instance the one that is allocated, define it. Then it is the first number that two cells of
/// the predicate do not share; translations and passes keep the order of arguments, and the index
/// precedes the fields. If no clause has two cells of the predicate, it is the argument that is equal
/// to the index of a neighbour.
fn indexes_by_place(
    system: &System,
    equal: &[Offsets],
    rigid: &FxHashSet<TermId>,
    places: &FxHashMap<TermId, Place>,
) -> Vec<TermId> {
    let is_number = |param: &TermId| system.terms.sort_of(*param) == SortId::INT;
    let mut found: Vec<TermId> = Vec::new();
    let mut indexes: FxHashMap<PredicateId, TermId> = FxHashMap::default();
    for predicate in system.used_predicates() {
        let params = system.predicate(predicate).params.iter();
        let mut params = params.filter(|param| is_number(param));
        if let Some(&known) = params.clone().find(|param| rigid.contains(param)) {
            indexes.insert(predicate, known);
        } else if let Some(&first) = params.find(|p| places.get(p) == Some(&Place::Cell)) {
            indexes.insert(predicate, first);
            found.push(first);
        }
    }
    // By predicate, the positions of its clauses.
    let mut clauses: FxHashMap<PredicateId, Vec<usize>> = FxHashMap::default();
    for (position, clause) in system.clauses.iter().enumerate() {
        for atom in clause.atoms() {
            let own = clauses.entry(atom.predicate).or_default();
            if own.last() != Some(&position) {
                own.push(position);
            }
        }
    }
    let known = system.used_predicates().into_iter();
    let mut waiting: VecDeque<PredicateId> = known.filter(|p| indexes.contains_key(p)).collect();
    while let Some(predicate) = waiting.pop_front() {
        let index = indexes[&predicate];
        let params = &system.predicate(predicate).params;
        let Some(at) = params.iter().position(|&p| p == index) else {
            continue;
        };
        for &position in clauses.get(&predicate).into_iter().flatten() {
            let equal = &equal[position];
            let atoms: Vec<&Atom> = system.clauses[position].atoms().collect();
            for from in atoms.iter().filter(|a| a.predicate == predicate) {
                let class = equal.find(from.args[at]);
                for to in &atoms {
                    if indexes.contains_key(&to.predicate) {
                        continue;
                    }
                    let params = system.predicate(to.predicate).params.iter().zip(&to.args);
                    let same = params.filter(|(p, arg)| is_number(p) && equal.find(**arg) == class);
                    if let [(&param, _)] = same.collect::<Vec<_>>()[..] {
                        indexes.insert(to.predicate, param);
                        found.push(param);
                        waiting.push_back(to.predicate);
                    }
                }
            }
        }
    }
    found
}

/// The variables that an equation relates to something else than a variable.
fn defined(terms: &TermStore, clause: &Clause) -> FxHashSet<TermId> {
    let conjuncts = terms.conjuncts(clause.constraint).into_iter();
    let equations = conjuncts.filter(|&c| *terms.op(c) == Op::Eq);
    let sides = equations.flat_map(|c| terms.args(c).to_vec());
    sides.flat_map(|side| bases(terms, side)).collect()
}

/// Which arguments two cells of a predicate in one clause have in common.
fn places(system: &System, equal: &[Offsets]) -> FxHashMap<TermId, Place> {
    let mut places: FxHashMap<TermId, Place> = FxHashMap::default();
    for (clause, equal) in system.clauses.iter().zip(equal) {
        for (at, atom) in clause.body.iter().enumerate() {
            let same = |other: &&Atom| other.predicate == atom.predicate;
            for other in clause.body[at + 1..].iter().filter(same) {
                let params = &system.predicate(atom.predicate).params;
                for ((&param, &a), &b) in params.iter().zip(&atom.args).zip(&other.args) {
                    let shared = equal.find(a) == equal.find(b);
                    let place = if shared { Place::Shared } else { Place::Cell };
                    let known = places.entry(param).or_insert(place);
                    if place == Place::Cell {
                        *known = place;
                    }
                }
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain that ends in an argument that moves: all of it moves, whatever the order of entries.
    #[test]
    fn what_copies_a_moving_argument_moves() {
        let terms = TermStore::new();
        let vars: Vec<TermId> = (0..2000)
            .map(|i| terms.var(&format!("v{i}"), SortId::INT))
            .collect();
        for backwards in [false, true] {
            let links = (1..1000).map(|i| (vars[i], Some(vec![vars[i - 1]])));
            let mut arguments: Vec<(TermId, Option<Vec<TermId>>)> = links.collect();
            arguments.push((vars[0], Some(vec![vars[1999]])));
            arguments.push((vars[1001], Some(vec![vars[1001], vars[999]])));
            arguments.push((vars[1002], None));
            if backwards {
                arguments.reverse();
            }
            let mut rigid: FxHashSet<TermId> = vars[..1500].iter().copied().collect();
            remove_moving(&mut rigid, &arguments);
            let left = vars.iter().filter(|var| rigid.contains(var));
            assert!(left.eq(&vars[1000..1500]), "{backwards}");
        }
    }
}
