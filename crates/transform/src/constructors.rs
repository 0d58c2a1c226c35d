//! Replaces arguments that always have the same constructor by the fields of that constructor.
//!
//! A fixpoint over the clauses finds the possible constructors of each argument of a datatype with
//! several constructors: from terms in its clauses, from arguments that it is copied from, and from
//! testers. If there is only one, the argument is replaced by its fields. Examples are options that
//! are always present, results that are never errors, and lists that are never empty, which lose
//! one layer. (`records` replaces sorts with one constructor.)
//!
//! Invariant: the constructors found hold of every derivable fact and are inductive, so testers for
//! them may be conjoined to any model.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::replacement::{Origin, Replacement};
use super::{Step, Transformation, part_var};
use alphorn_chc::{Clause, ClauseIndex, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{DatatypeId, Op, Sort, SortId, TermId, TermStore};

/// The limits of the pass.
struct Limits {
    /// How often a recursive sort may lose a layer in a run; a list that is built with many
    /// elements would become as many arguments.
    max_layers: usize,
    /// Constructors of a sort, the bits of a [`Set`]; sorts with more are not considered.
    max_constructors: usize,
    /// Visits of a clause on average; at the limit the pass does nothing.
    visits_per_clause: usize,
}

const LIMITS: Limits = Limits {
    max_layers: 3,
    max_constructors: 64,
    visits_per_clause: 50,
};

/// The pass.
#[derive(Default)]
pub struct Constructors {
    layers: usize,
}

/// A set of constructors, one bit for each.
pub(super) type Set = u64;

/// For each predicate that has facts, the possible constructors of its arguments.
pub(super) type Facts = FxHashMap<PredicateId, Vec<Set>>;

/// For each argument of a predicate its constructor, if it is unique.
type Single = Vec<Option<(DatatypeId, u32)>>;

impl Transformation for Constructors {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        if !several(old) {
            return None;
        }
        let terms = old.terms.clone();
        let facts = facts_of_constructors(old, cx)?;
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        let mut singles: FxHashMap<PredicateId, Single> = FxHashMap::default();
        let mut recursive = false;
        let mut ordered: Vec<(&PredicateId, &Vec<Set>)> = facts.iter().collect();
        ordered.sort_unstable_by_key(|f| f.0);
        for (&predicate, sets) in ordered {
            let params = &old.predicate(predicate).params;
            let single = self.single(&terms, params, sets);
            if single.iter().all(Option::is_none) {
                continue;
            }
            let mut leaves: Vec<TermId> = Vec::new();
            for (&param, single) in params.iter().zip(&single) {
                match *single {
                    None => leaves.push(param),
                    Some((id, constructor)) => {
                        recursive |= is_recursive(&terms, id);
                        let count = fields(&terms, id, constructor).len() as u32;
                        leaves.extend((0..count).map(|i| terms.field(id, constructor, i, param)));
                    }
                }
            }
            replacement.replace_by_terms(&mut system, predicate, leaves);
            singles.insert(predicate, single);
        }
        if replacement.is_empty() {
            return None;
        }
        self.layers += usize::from(recursive);
        for clause in &mut system.clauses {
            let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
            let mut pairs = Vec::new();
            let touched = replacement.replace_atoms(clause, |atom| {
                let mut args = Vec::new();
                for (&arg, single) in atom.args.iter().zip(&singles[&atom.predicate]) {
                    let Some((id, constructor)) = *single else {
                        args.push(arg);
                        continue;
                    };
                    let own: Vec<TermId> = fields(&terms, id, constructor)
                        .iter()
                        .map(|(field, sort)| part_var(&terms, arg, field, *sort))
                        .collect();
                    let whole = terms.construct(id, constructor, &own);
                    map.insert(arg, whole);
                    pairs.push((arg, whole));
                    args.extend(&own);
                }
                args
            });
            if touched {
                clause.constraint = terms.substitute(clause.constraint, &map);
                replacement.note(clause.id, Origin::new(clause.id, pairs));
            }
        }
        // The constructors found for one argument depend on those of others, and on predicates
        // without facts being false.
        for predicate in old.used_predicates() {
            match facts.get(&predicate) {
                Some(sets) => {
                    let testers = testers(&terms, &old.predicate(predicate).params, sets);
                    replacement.strengthen(predicate, testers);
                }
                None => replacement.refute(predicate),
            }
        }
        Some(replacement.step(system))
    }
}

impl Constructors {
    /// The arguments to be replaced: those with one constructor, of a sort that may lose a layer.
    fn single(&self, terms: &TermStore, params: &[TermId], sets: &[Set]) -> Single {
        let choose = |(&param, &set): (&TermId, &Set)| {
            let id = choices(terms, terms.sort_of(param))?;
            let open = self.layers < LIMITS.max_layers || !is_recursive(terms, id);
            (set.count_ones() == 1 && open).then(|| (id, set.trailing_zeros()))
        };
        params.iter().zip(sets).map(choose).collect()
    }
}

/// Each parameter has one of its constructors.
pub(super) fn testers(terms: &TermStore, params: &[TermId], sets: &[Set]) -> TermId {
    let mut conjuncts = Vec::new();
    for (&param, &set) in params.iter().zip(sets) {
        let sort = terms.sort_of(param);
        if let Some(id) = choices(terms, sort)
            && set != all(terms, sort)
        {
            let count = terms.datatype(id).constructors.len() as u32;
            let own = (0..count).filter(|c| set & (1 << c) != 0);
            let own: Vec<TermId> = own.map(|c| terms.is(id, c, param)).collect();
            conjuncts.push(terms.or(&own));
        }
    }
    terms.and(&conjuncts)
}

/// The datatype of a sort with more than one constructor.
pub(super) fn choices(terms: &TermStore, sort: SortId) -> Option<DatatypeId> {
    let Sort::Datatype(id) = terms.sort(sort) else {
        return None;
    };
    let count = terms.datatype(id).constructors.len();
    (2..=LIMITS.max_constructors).contains(&count).then_some(id)
}

/// Whether some predicate has an argument of such a sort.
fn several(system: &System) -> bool {
    system.used_predicates().into_iter().any(|p| {
        let mut params = system.predicate(p).params.iter();
        params.any(|&v| choices(&system.terms, system.terms.sort_of(v)).is_some())
    })
}

fn fields(terms: &TermStore, id: DatatypeId, constructor: u32) -> Vec<(String, SortId)> {
    terms.datatype(id).constructors[constructor as usize]
        .fields
        .iter()
        .map(|f| (f.selector.clone(), f.sort))
        .collect()
}

/// Whether values of the datatype may contain values of the same datatype.
pub(super) fn is_recursive(terms: &TermStore, id: DatatypeId) -> bool {
    let mut seen: FxHashSet<SortId> = FxHashSet::default();
    let mut stack = vec![terms.datatype_sort(id)];
    while let Some(sort) = stack.pop() {
        match terms.sort(sort) {
            Sort::Array(index, element) => stack.extend([index, element]),
            Sort::Datatype(other) => {
                for field in terms
                    .datatype(other)
                    .constructors
                    .iter()
                    .flat_map(|c| &c.fields)
                {
                    if field.sort == terms.datatype_sort(id) {
                        return true;
                    }
                    if seen.insert(field.sort) {
                        stack.push(field.sort);
                    }
                }
            }
            _ => {}
        }
    }
    false
}

/// All constructors of a sort; all bits for sorts that are not considered.
fn all(terms: &TermStore, sort: SortId) -> Set {
    match choices(terms, sort) {
        Some(id) => Set::MAX >> (LIMITS.max_constructors - terms.datatype(id).constructors.len()),
        None => Set::MAX,
    }
}

/// The constraints of a clause on the constructors of its variables.
struct Reading {
    /// The constructors that testers allow.
    tested: FxHashMap<TermId, Set>,
    /// The sides of equations of datatype sorts.
    equations: Vec<(TermId, TermId)>,
}

impl Reading {
    fn of(terms: &TermStore, clause: &Clause) -> Reading {
        let mut tested: FxHashMap<TermId, Set> = FxHashMap::default();
        let mut equations = Vec::new();
        for conjunct in terms.conjuncts(clause.constraint) {
            let (atom, negated) = match terms.node(conjunct) {
                node if node.op == Op::Not => (node.args[0], true),
                _ => (conjunct, false),
            };
            let node = terms.node(atom);
            match node.op {
                Op::Is(_, constructor) if (constructor as usize) < LIMITS.max_constructors => {
                    let own = 1 << constructor;
                    let set = if negated { !own } else { own };
                    *tested.entry(node.args[0]).or_insert(Set::MAX) &= set;
                }
                Op::Eq if !negated && choices(terms, terms.sort_of(node.args[0])).is_some() => {
                    equations.push((node.args[0], node.args[1]));
                }
                _ => {}
            }
        }
        Reading { tested, equations }
    }

    /// The possible constructors of a term.
    fn value(&self, terms: &TermStore, term: TermId, vars: &FxHashMap<TermId, Set>) -> Set {
        let mut result = 0;
        let mut seen = FxHashSet::default();
        let mut stack = vec![term];
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            let node = terms.node(t);
            let tested = self.tested.get(&t).copied().unwrap_or(Set::MAX);
            match node.op {
                Op::Construct(_, constructor) => result |= 1 << constructor,
                Op::Ite => stack.extend_from_slice(&node.args[1..]),
                _ => {
                    let own = vars.get(&t).copied();
                    result |= own.unwrap_or_else(|| all(terms, node.sort)) & tested;
                }
            }
        }
        result & self.tested.get(&term).copied().unwrap_or(Set::MAX)
    }

    /// The possible constructors of the head's arguments, given those of the body's; `None` if the
    /// clause derives nothing yet.
    fn post(&self, terms: &TermStore, clause: &Clause, facts: &Facts) -> Option<Vec<Set>> {
        let head = clause.head.as_ref()?;
        let mut vars: FxHashMap<TermId, Set> = FxHashMap::default();
        for atom in &clause.body {
            let sets = facts.get(&atom.predicate)?;
            vars.extend(atom.args.iter().copied().zip(sets.iter().copied()));
        }
        // Two rounds suffice for most chains of copies.
        for _ in 0..2 {
            for &(a, b) in &self.equations {
                let set = self.value(terms, a, &vars) & self.value(terms, b, &vars);
                if set == 0 {
                    return None;
                }
                for side in [a, b] {
                    if terms.is_var(side) {
                        let full = all(terms, terms.sort_of(side));
                        *vars.entry(side).or_insert(full) &= set;
                    }
                }
            }
        }
        let sets: Vec<Set> = head
            .args
            .iter()
            .map(|&arg| match choices(terms, terms.sort_of(arg)) {
                Some(_) => self.value(terms, arg, &vars),
                None => Set::MAX,
            })
            .collect();
        (!sets.contains(&0)).then_some(sets)
    }
}

/// The possible constructors of the arguments of all predicates that have facts; `None` if a limit
/// is reached.
pub(super) fn facts_of_constructors(system: &System, cx: &Context) -> Option<Facts> {
    let terms = &*system.terms;
    let readings: Vec<Reading> = system
        .clauses
        .iter()
        .map(|c| Reading::of(terms, c))
        .collect();
    let index = ClauseIndex::new(system);
    let mut facts = Facts::default();
    let mut queue: VecDeque<usize> = index.entries().iter().copied().collect();
    let mut queued: FxHashSet<usize> = queue.iter().copied().collect();
    let mut visits = LIMITS.visits_per_clause * (system.clauses.len() + 10);
    while let Some(at) = queue.pop_front() {
        queued.remove(&at);
        if visits == 0 || visits.is_multiple_of(64) && cx.stop().is_some() {
            return None;
        }
        visits -= 1;
        let clause = &system.clauses[at];
        let Some(head) = &clause.head else {
            continue;
        };
        let Some(new) = readings[at].post(terms, clause, &facts) else {
            continue;
        };
        let changed = match facts.get_mut(&head.predicate) {
            None => {
                facts.insert(head.predicate, new);
                true
            }
            Some(sets) => {
                let mut changed = false;
                for (set, new) in sets.iter_mut().zip(new) {
                    changed |= new & !*set != 0;
                    *set |= new;
                }
                changed
            }
        };
        if changed {
            for &user in index.using(head.predicate) {
                if queued.insert(user) {
                    queue.push_back(user);
                }
            }
        }
    }
    Some(facts)
}
