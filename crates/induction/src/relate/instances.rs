//! Instances of lemmas at the atoms of a context that a model asks for.
//!
//! Invariant: an instance of a lemma of the group is smaller.

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::literal::{Column, Lemma};
use super::prove::{Search, Usable};
use alphorn_chc::PredicateId;
use alphorn_smt::SmtModel;
use alphorn_term::TermStore;
use alphorn_witness::Instance;

/// Instances that the values violate, and that may be used.
pub(super) fn violated(
    search: &Search<'_>,
    places: &FxHashMap<PredicateId, Vec<usize>>,
    values: &[Vec<Option<i64>>],
    done: &FxHashSet<Instance>,
) -> Vec<Instance> {
    let Usable {
        lemmas,
        known,
        group,
        ..
    } = search.usable;
    let all = known.iter().map(|&number| (number, None));
    let all = all.chain(group.iter().enumerate().map(|(at, &n)| (n, Some(at))));
    let mut new = Vec::new();
    for (number, position) in all {
        let lemma = &lemmas[number];
        if lemma.head.is_some() {
            continue;
        }
        let lists: Option<Vec<&Vec<usize>>> = lemma.slots.iter().map(|p| places.get(p)).collect();
        let Some(lists) = lists else { continue };
        let mut add = |atoms: Vec<usize>| {
            if position.is_some_and(|other| !search.is_smaller(other, &atoms)) {
                return;
            }
            let used = Instance {
                lemma: number,
                atoms,
            };
            if !done.contains(&used) {
                new.push(used);
            }
        };
        let ways: usize = lists.iter().map(|list| list.len()).product();
        if ways > LIMITS.matchings {
            if search.facts || lists.len() <= LIMITS.matched_slots {
                matched(lemma, &lists, values).into_iter().for_each(add);
            }
            continue;
        }
        for way in 0..ways {
            let mut rest = way;
            let mut atoms = Vec::with_capacity(lists.len());
            for list in &lists {
                atoms.push(list[rest % list.len()]);
                rest /= list.len();
            }
            let distinct = (1..atoms.len()).all(|at| !atoms[..at].contains(&atoms[at]));
            let value = |c: Column| values[atoms[usize::from(c.slot)]][usize::from(c.arg)];
            if distinct && lemma.may_be_false(&value) {
                add(atoms);
            }
        }
        if new.len() > LIMITS.instances_per_model {
            break;
        }
    }
    new
}

/// The atoms for which values may falsify a lemma of many slots, slot by slot.
fn matched(lemma: &Lemma, lists: &[&Vec<usize>], values: &[Vec<Option<i64>>]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = vec![Vec::new()];
    for (slot, list) in lists.iter().enumerate() {
        let mut longer = Vec::new();
        for atoms in &found {
            for &at in list.iter().filter(|at| !atoms.contains(at)) {
                let mut atoms = atoms.clone();
                atoms.push(at);
                let value = |c: Column| {
                    let place = usize::from(c.slot);
                    (place <= slot).then(|| values[atoms[place]][usize::from(c.arg)])?
                };
                if lemma.may_be_false(&value) {
                    longer.push(atoms);
                }
            }
        }
        longer.truncate(LIMITS.matchings);
        found = longer;
    }
    found
}

/// Instances of lemmas that conclude facts, whose premises hold in a model, and that may be used.
pub(super) fn plausible(
    search: &Search<'_>,
    heads: &[(usize, Option<usize>)],
    terms: &TermStore,
    model: &SmtModel,
) -> Vec<Instance> {
    let values = search.values(terms, model);
    let mut found = Vec::new();
    for &(number, position) in heads {
        let lemma = &search.usable.lemmas[number];
        let places = |predicate: &PredicateId| {
            let all = search.atoms.iter().enumerate();
            let own = all.filter(|(_, atom)| atom.predicate == *predicate);
            own.map(|(at, _)| at).collect::<Vec<usize>>()
        };
        let lists: Vec<Vec<usize>> = lemma.slots.iter().map(places).collect();
        let ways: usize = lists.iter().map(Vec::len).product();
        for way in 0..ways.min(LIMITS.matchings) {
            let mut rest = way;
            let mut atoms = Vec::with_capacity(lists.len());
            for list in &lists {
                atoms.push(list[rest % list.len()]);
                rest /= list.len();
            }
            let distinct = (1..atoms.len()).all(|at| !atoms[..at].contains(&atoms[at]));
            let value = |c: Column| values[atoms[usize::from(c.slot)]][usize::from(c.arg)];
            if distinct
                && lemma.may_be_false(&value)
                && position.is_none_or(|other| search.is_smaller(other, &atoms))
            {
                found.push(Instance {
                    lemma: number,
                    atoms,
                });
            }
        }
    }
    found
}
