//! Arguments that may be split on, ranked by the reduction of the constraints.
//!
//! Invariant: in every derivable fact a candidate has one of the values found, and the clauses are
//! smaller under each of them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::finite_values::finite_values;
use super::super::{Place, body_places};
use super::limits::LIMITS;
use alphorn_chc::{DependencyGraph, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{Op, Sort, SortId, TermId, TermStore};

/// The size of a constraint. Variables, values and equations between them do not count, since every
/// step copies most arguments.
pub(super) fn size(terms: &TermStore, constraint: TermId) -> usize {
    let leaf = |t: TermId| terms.is_var(t) || terms.is_value(t);
    let mut count = 2;
    terms.post_order(&[constraint], |term| {
        let args = terms.args(term);
        let plain = match terms.op(term) {
            Op::Eq => leaf(args[0]) && leaf(args[1]),
            Op::Not => leaf(args[0]),
            _ => leaf(term),
        };
        count += usize::from(!plain);
    });
    count
}

/// The values that conjuncts of a constraint give to variables.
pub(super) fn plain_values(terms: &TermStore, constraint: TermId) -> FxHashMap<TermId, TermId> {
    let plain = |conjunct: TermId| {
        let args = terms.args(conjunct);
        match terms.op(conjunct) {
            Op::Var(_) => Some((conjunct, TermId::TRUE)),
            Op::Not => Some((args[0], TermId::FALSE)),
            Op::Eq if terms.is_value(args[1]) => Some((args[0], args[1])),
            Op::Eq if terms.is_value(args[0]) => Some((args[1], args[0])),
            _ => None,
        }
    };
    let conjuncts = terms.conjuncts(constraint);
    conjuncts.into_iter().filter_map(plain).collect()
}

/// The values of arguments that every clause equates with a value wherever they occur. Each clause
/// belongs to one value, so the clauses do not grow, however many values there are.
fn plain_counters(
    system: &System,
    wanted: &FxHashSet<PredicateId>,
) -> FxHashMap<Place, Vec<TermId>> {
    let mut values: FxHashMap<Place, Option<FxHashSet<TermId>>> = FxHashMap::default();
    for clause in &system.clauses {
        let mut plain = None;
        for (number, atom) in clause.atoms().enumerate() {
            if !wanted.contains(&atom.predicate) {
                continue;
            }
            let plain = plain.get_or_insert_with(|| plain_values(&system.terms, clause.constraint));
            for (position, arg) in atom.args.iter().enumerate() {
                let place = (atom.predicate, position);
                let known = values
                    .entry(place)
                    .or_insert_with(|| Some(FxHashSet::default()));
                match plain.get(arg) {
                    // A value that no head has is never reached.
                    Some(&value) if number == clause.body.len() => {
                        known.iter_mut().for_each(|k| _ = k.insert(value));
                    }
                    Some(_) => {}
                    None => *known = None,
                }
            }
        }
    }
    let few = values.into_iter().filter_map(|(place, values)| {
        let mut values: Vec<TermId> = values?.into_iter().collect();
        values.sort_unstable();
        (values.len() <= LIMITS.max_valuations).then_some((place, values))
    });
    few.collect()
}

/// The positions of candidates of predicates on cycles that are `wanted`, those with the least waste
/// first.
pub(super) fn candidates(
    system: &System,
    wanted: &FxHashSet<PredicateId>,
    fuel: &mut usize,
    cx: &Context,
) -> FxHashMap<PredicateId, Vec<usize>> {
    let terms = &*system.terms;
    let mut recursive = DependencyGraph::new(system).recursive();
    recursive.retain(|predicate| wanted.contains(predicate));
    if recursive.is_empty() {
        return FxHashMap::default();
    }
    let mut values: FxHashMap<Place, Vec<TermId>> = FxHashMap::default();
    let mut plain = plain_counters(system, &recursive);
    plain.retain(|_, values| values.len() > LIMITS.max_values);
    let counted: FxHashSet<PredicateId> = plain.keys().map(|place| place.0).collect();
    let tested = tested(system);
    let mut open = Vec::new();
    // Predicates with such counters have no other candidates; their clauses will be smaller after
    // the split.
    for &predicate in recursive.iter().filter(|p| !counted.contains(p)) {
        for (position, &param) in system.predicate(predicate).params.iter().enumerate() {
            let place = (predicate, position);
            if !tested.contains(&place) {
                continue;
            }
            let sort = terms.sort_of(param);
            match terms.all_values(sort, LIMITS.max_enumerated_values) {
                Some(all) => {
                    values.insert(place, all);
                }
                None if matches!(terms.sort(sort), Sort::Array(..)) => {}
                None => open.push(place),
            }
        }
    }
    open.sort_unstable();
    values.extend(finite_values(system, &open, LIMITS.max_values, cx));
    // With their waste, see `max_waste`.
    let mut found: FxHashMap<PredicateId, Vec<(f64, usize)>> = FxHashMap::default();
    for (predicate, position) in plain.into_keys() {
        found.entry(predicate).or_default().push((0.0, position));
    }
    let mut places: Vec<Place> = values.keys().copied().collect();
    places.sort_unstable();
    let mut occurrences: FxHashMap<PredicateId, Vec<(usize, usize)>> = FxHashMap::default();
    for (index, clause) in system.clauses.iter().enumerate() {
        for (number, atom) in clause.atoms().enumerate() {
            let list = occurrences.entry(atom.predicate).or_default();
            list.push((index, number));
        }
    }
    let dag: Vec<usize> = system
        .clauses
        .iter()
        .map(|c| terms.dag_size(&[c.constraint]))
        .collect();
    let sizes: Vec<usize> = system
        .clauses
        .iter()
        .map(|c| size(terms, c.constraint))
        .collect();
    let free: Vec<FxHashSet<TermId>> = system
        .clauses
        .iter()
        .map(|c| terms.free_vars(&[c.constraint]).into_iter().collect())
        .collect();
    // The rest of the fuel is for exploring the graph.
    let reserve = *fuel / 2;
    'places: for place in places {
        // A program counter is set in every clause.
        let set = |&(index, number): &(usize, usize)| {
            let clause = &system.clauses[index];
            let head = clause.head.as_ref().filter(|_| number == clause.body.len());
            head.is_none_or(|h| free[index].contains(&h.args[place.1]))
        };
        if !occurrences[&place.0].iter().all(set) {
            continue;
        }
        let own = &values[&place];
        let clauses = occurrences[&place.0].iter();
        let before: usize = clauses.map(|&(index, _)| sizes[index]).sum();
        let repeated = before * own.len().saturating_sub(1);
        // The size up to which the clauses may grow.
        let most = before as f64 + LIMITS.max_waste * repeated as f64;
        let mut after = 0usize;
        'clauses: for &(index, number) in &occurrences[&place.0] {
            let clause = &system.clauses[index];
            let Some(atom) = clause.atoms().nth(number) else {
                continue;
            };
            if cx.stop().is_some() {
                return FxHashMap::default();
            }
            let cost = dag[index] * own.len();
            if *fuel < reserve + cost {
                break 'places;
            }
            *fuel -= cost;
            for &value in own {
                if after as f64 > most {
                    break 'clauses;
                }
                let map = FxHashMap::from_iter([(atom.args[place.1], value)]);
                let part = terms.substitute(clause.constraint, &map);
                if part != TermId::FALSE {
                    after += size(terms, part);
                }
            }
        }
        let waste = match repeated {
            0 => 0.0,
            _ => after.saturating_sub(before) as f64 / repeated as f64,
        };
        log::debug!(
            "argument {} of {}: {} values, waste {waste:.2}",
            place.1,
            system.predicate(place.0).name,
            own.len()
        );
        if waste <= LIMITS.max_waste {
            found.entry(place.0).or_default().push((waste, place.1));
        }
    }
    let ranked = found.into_iter().map(|(predicate, mut list)| {
        list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        list.truncate(LIMITS.max_candidates);
        (predicate, list.into_iter().map(|c| c.1).collect())
    });
    ranked.collect()
}

/// Arguments of body atoms that the constraint compares with a value, and Booleans that occur in
/// it.
fn tested(system: &System) -> FxHashSet<Place> {
    let terms = &*system.terms;
    let mut result = FxHashSet::default();
    for clause in &system.clauses {
        let places = body_places(clause);
        if places.is_empty() {
            continue;
        }
        terms.post_order(&[clause.constraint], |term| {
            let args = terms.args(term);
            let var = match terms.op(term) {
                Op::Var(_) if terms.sort_of(term) == SortId::BOOL => term,
                Op::Is(..) => args[0],
                Op::Eq | Op::Le | Op::Ge | Op::BvUle | Op::BvSle => {
                    if terms.is_value(args[0]) {
                        args[1]
                    } else if terms.is_value(args[1]) {
                        args[0]
                    } else {
                        return;
                    }
                }
                _ => return,
            };
            if let Some(&place) = places.get(&var) {
                result.insert(place);
            }
        });
    }
    result
}
