//! What the arguments of predicates mean: indexes of cells, addresses, fields, other values.
//!
//! Invariant: roles depend on the clauses only and are guesses; a wrong one costs candidates.

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_chc::{Clause, PredicateId, System};
use alphorn_term::{Op, SortId, TermId, TermStore};

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
        let mut numerals: FxHashMap<TermId, Vec<i64>> = FxHashMap::default();
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        for clause in &system.clauses {
            for atom in clause.atoms() {
                let params = &system.predicate(atom.predicate).params;
                for (&param, &arg) in params.iter().zip(&atom.args) {
                    classes.union(param, arg);
                }
            }
            terms.post_order(&[clause.constraint], |t| {
                if seen.insert(t) {
                    compare(terms, t, &mut classes, &mut numerals);
                }
            });
        }
        let equal: Vec<Classes> = system
            .clauses
            .iter()
            .map(|c| equalities(terms, c))
            .collect();
        let rigid = rigid(system, &equal);
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
        let places = places(system, &equal);
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

/// Sets of terms.
#[derive(Default)]
struct Classes {
    parent: FxHashMap<TermId, TermId>,
}

impl Classes {
    fn find(&mut self, term: TermId) -> TermId {
        let mut root = term;
        while let Some(&parent) = self.parent.get(&root) {
            root = parent;
        }
        let mut at = term;
        while let Some(&parent) = self.parent.get(&at) {
            if parent != root {
                self.parent.insert(at, root);
            }
            at = parent;
        }
        root
    }

    fn get(&self, term: TermId) -> TermId {
        let mut root = term;
        while let Some(&parent) = self.parent.get(&root) {
            root = parent;
        }
        root
    }

    fn union(&mut self, a: TermId, b: TermId) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            self.parent.insert(a, b);
        }
    }
}

/// Notes what a subterm compares: variables that are compared with each other are of one class.
fn compare(
    terms: &TermStore,
    term: TermId,
    classes: &mut Classes,
    numerals: &mut FxHashMap<TermId, Vec<i64>>,
) {
    let args = terms.args(term);
    if !matches!(terms.op(term), Op::Eq | Op::Le | Op::Ge) || terms.sort_of(args[0]) != SortId::INT
    {
        return;
    }
    let sides = [bases(terms, args[0]), bases(terms, args[1])];
    let mut all = sides.iter().flatten();
    if let Some(&first) = all.next() {
        for &other in all {
            classes.union(first, other);
        }
    }
    for (side, other) in [(0, 1), (1, 0)] {
        let numeral = terms
            .as_int(args[other])
            .and_then(|n| i64::try_from(n).ok());
        if let (Some(numeral), &[var]) = (numeral, &sides[side][..]) {
            numerals.entry(var).or_default().push(numeral);
        }
    }
}

/// The variables of sums and cases that a number is made of.
fn bases(terms: &TermStore, term: TermId) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut stack = vec![term];
    while let Some(t) = stack.pop() {
        match terms.op(t) {
            Op::Var(_) => found.push(t),
            Op::Add | Op::Mul => stack.extend(terms.args(t)),
            Op::Ite => stack.extend(&terms.args(t)[1..]),
            _ => {}
        }
    }
    found
}

/// The variables that a clause equates: by equations, or by two bounds.
fn equalities(terms: &TermStore, clause: &Clause) -> Classes {
    let mut classes = Classes::default();
    let mut bounds: FxHashSet<(TermId, TermId)> = FxHashSet::default();
    for conjunct in terms.conjuncts(clause.constraint) {
        let args = terms.args(conjunct);
        if args.len() != 2 || !args.iter().all(|&a| terms.is_var(a)) {
            continue;
        }
        let (low, high) = match terms.op(conjunct) {
            Op::Eq => {
                classes.union(args[0], args[1]);
                continue;
            }
            Op::Le => (args[0], args[1]),
            Op::Ge => (args[1], args[0]),
            _ => continue,
        };
        if bounds.contains(&(high, low)) {
            classes.union(low, high);
        }
        bounds.insert((low, high));
    }
    classes
}

/// The formal variables of arguments that no clause changes: the greatest set such that a head's
/// argument is equal to such an argument of the body, or the clause does not define it.
fn rigid(system: &System, equal: &[Classes]) -> FxHashSet<TermId> {
    let terms = &*system.terms;
    let used = system.used_predicates();
    let params = used.iter().flat_map(|&p| &system.predicate(p).params);
    let mut rigid: FxHashSet<TermId> = params
        .copied()
        .filter(|&p| terms.sort_of(p) == SortId::INT)
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (clause, equal) in system.clauses.iter().zip(equal) {
            let Some(head) = &clause.head else { continue };
            let params = &system.predicate(head.predicate).params;
            let mut of_body: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
            for atom in &clause.body {
                let params = &system.predicate(atom.predicate).params;
                for (&param, &arg) in params.iter().zip(&atom.args) {
                    of_body.entry(equal.get(arg)).or_default().push(param);
                }
            }
            let mut defined: Option<FxHashSet<TermId>> = None;
            for (param, &arg) in params.iter().zip(&head.args) {
                if !rigid.contains(param) {
                    continue;
                }
                let class = equal.get(arg);
                let stays = match of_body.get(&class) {
                    Some(sources) => sources.iter().any(|s| rigid.contains(s)),
                    None => {
                        let defined =
                            defined.get_or_insert_with(|| defined_classes(terms, clause, equal));
                        !defined.contains(&class)
                    }
                };
                if !stays {
                    rigid.remove(param);
                    changed = true;
                }
            }
        }
    }
    rigid
}

/// The classes of variables that an equation defines by something else than a variable.
fn defined_classes(terms: &TermStore, clause: &Clause, equal: &Classes) -> FxHashSet<TermId> {
    let conjuncts = terms.conjuncts(clause.constraint).into_iter();
    let equations = conjuncts.filter(|&c| *terms.op(c) == Op::Eq);
    let sides = equations.flat_map(|c| {
        let args = terms.args(c);
        let single = args.iter().all(|&a| terms.is_var(a));
        let bases: Vec<TermId> = match single {
            true => Vec::new(),
            false => args.iter().flat_map(|&a| bases(terms, a)).collect(),
        };
        bases
    });
    sides.map(|var| equal.get(var)).collect()
}

/// Which arguments two cells of a predicate in one clause have in common.
fn places(system: &System, equal: &[Classes]) -> FxHashMap<TermId, Place> {
    let mut places: FxHashMap<TermId, Place> = FxHashMap::default();
    for (clause, equal) in system.clauses.iter().zip(equal) {
        for (at, atom) in clause.body.iter().enumerate() {
            let same = |other: &&alphorn_chc::Atom| other.predicate == atom.predicate;
            for other in clause.body[at + 1..].iter().filter(same) {
                let params = &system.predicate(atom.predicate).params;
                for ((&param, &a), &b) in params.iter().zip(&atom.args).zip(&other.args) {
                    let shared = equal.get(a) == equal.get(b);
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
