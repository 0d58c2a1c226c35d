//! Groups of few arguments that depend on each other only, for example parameters, clocks and
//! counters: constraints over a group determine its next values.
//!
//! A precise domain is feasible for a small group, but not for all arguments. A group is a small
//! cone of influence (Clarke, Grumberg, Peled, "Model Checking", 1999, section 13.1); here all
//! small cones are taken.
//!
//! Invariant: the clauses of a closed part are weaker than the system's, over fewer arguments. So
//! an inductive invariant of the closed part holds of the system's facts, too.

use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_chc::{Atom, Clause, Predicate, PredicateId, System};
use alphorn_term::run::Budget;
use alphorn_term::{SortId, TermId};

/// Arguments of a group; larger groups are left out.
const MAX_GROUP: usize = 6;

/// An argument, by its predicate and position.
type Argument = (PredicateId, usize);

/// A clause's conjuncts with their variables.
type Conjuncts = Vec<(TermId, Vec<TermId>)>;

/// The system restricted to those numeric arguments that depend on few others, with the conjuncts
/// over them. `None` if no two of them are related, if there are no other arguments, or if the
/// budget is spent before. It has the same predicates, with some of the system's formal variables.
pub fn closed_part(system: &System, budget: &Budget) -> Option<System> {
    let terms = &system.terms;
    let conjuncts = |clause: &Clause| -> Option<Conjuncts> {
        let conjuncts = terms.conjuncts(clause.constraint).into_iter();
        let conjuncts = conjuncts.map(|c| (!budget.is_spent()).then(|| (c, terms.free_vars(&[c]))));
        conjuncts.collect()
    };
    let conjuncts: Option<Vec<Conjuncts>> = system.clauses.iter().map(conjuncts).collect();
    let conjuncts = conjuncts?;
    let mut closed = closed(system, &conjuncts);
    keep_small(system, &conjuncts, &mut closed);
    let kept = |p: PredicateId| closed.iter().filter(move |(argument, _)| argument.0 == p);
    let used = system.used_predicates();
    if closed.is_empty()
        || used
            .iter()
            .all(|&p| kept(p).count() == system.predicate(p).arity())
    {
        return None;
    }
    let mut part = system.clone();
    let stays = |p: PredicateId, at: usize| closed.contains_key(&(p, at));
    part.predicates = (0..)
        .map(PredicateId)
        .zip(&system.predicates)
        .map(|(p, predicate)| Predicate {
            name: predicate.name.clone(),
            params: only(&predicate.params, |at| stays(p, at)),
        })
        .collect();
    for (clause, conjuncts) in part.clauses.iter_mut().zip(&conjuncts) {
        for atom in clause.body.iter_mut().chain(&mut clause.head) {
            atom.args = only(&atom.args, |at| stays(atom.predicate, at));
        }
        let args: FxHashSet<TermId> = clause.atoms().flat_map(|a| a.args.clone()).collect();
        let about_them = |vars: &[TermId]| vars.iter().all(|v| args.contains(v));
        let conjuncts = conjuncts.iter().filter(|(_, vars)| about_them(vars));
        clause.constraint = terms.and(&conjuncts.map(|c| c.0).collect::<Vec<_>>());
    }
    Some(part)
}

fn only(of: &[TermId], stays: impl Fn(usize) -> bool) -> Vec<TermId> {
    let places = of.iter().enumerate().filter(|&(at, _)| stays(at));
    places.map(|(_, &term)| term).collect()
}

/// The arguments of a clause's atoms by variable.
fn places(clause: &Clause) -> FxHashMap<TermId, Argument> {
    let of = |atom: &Atom| {
        let predicate = atom.predicate;
        let args = atom.args.clone().into_iter().enumerate();
        args.map(move |(at, arg)| (arg, (predicate, at)))
    };
    clause.atoms().flat_map(of).collect()
}

/// The numeric arguments whose values each clause determines from arguments of the same kind, with
/// these; few ones if there is a choice. Clauses without body atoms do not matter.
fn closed(system: &System, conjuncts: &[Conjuncts]) -> FxHashMap<Argument, Vec<Argument>> {
    let is_number = |v: TermId| [SortId::INT, SortId::REAL].contains(&system.terms.sort_of(v));
    let mut sources: FxHashMap<Argument, Vec<Argument>> = FxHashMap::default();
    for p in system.used_predicates() {
        let params = system.predicate(p).params.iter().enumerate();
        let numbers = params.filter(|&(_, &v)| is_number(v));
        sources.extend(numbers.map(|(at, _)| ((p, at), Vec::new())));
    }
    for (clause, conjuncts) in system.clauses.iter().zip(conjuncts) {
        let Some(head) = clause.head.as_ref().filter(|_| !clause.body.is_empty()) else {
            continue;
        };
        let places = places(clause);
        let of_head: FxHashSet<TermId> = head.args.iter().copied().collect();
        let mut said: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
        for (_, vars) in conjuncts {
            let mut of_head = vars.iter().filter(|v| of_head.contains(v));
            let (Some(&own), None) = (of_head.next(), of_head.next()) else {
                continue;
            };
            let others: Vec<TermId> = vars.iter().copied().filter(|&v| v != own).collect();
            let known = said.get(&own).is_some_and(|s| s.len() <= others.len());
            if !known
                && others
                    .iter()
                    .all(|&v| places.contains_key(&v) && is_number(v))
            {
                said.insert(own, others);
            }
        }
        for (at, arg) in head.args.iter().enumerate() {
            match (sources.get_mut(&(head.predicate, at)), said.get(arg)) {
                (Some(known), Some(said)) => known.extend(said.iter().map(|v| places[v])),
                (Some(_), None) => drop(sources.remove(&(head.predicate, at))),
                (None, _) => {}
            }
        }
    }
    // An argument that depends on an argument of another kind is of another kind, too.
    let mut users: FxHashMap<Argument, Vec<Argument>> = FxHashMap::default();
    let mut open = Vec::new();
    for (&argument, of) in &sources {
        for source in of {
            match sources.contains_key(source) {
                true => users.entry(*source).or_default().push(argument),
                false => open.push(argument),
            }
        }
    }
    while let Some(argument) = open.pop() {
        if sources.remove(&argument).is_some() {
            open.extend(users.get(&argument).into_iter().flatten());
        }
    }
    sources
}

/// Keeps small groups of several arguments that depend on each other, or are related by conjuncts
/// over them.
fn keep_small(
    system: &System,
    conjuncts: &[Conjuncts],
    closed: &mut FxHashMap<Argument, Vec<Argument>>,
) {
    let mut all: Vec<Argument> = closed.keys().copied().collect();
    all.sort_unstable();
    let at: FxHashMap<Argument, usize> = all.iter().copied().zip(0..).collect();
    let mut groups: UnionFind<usize> = UnionFind::new(all.len());
    for (argument, sources) in closed.iter() {
        for source in sources {
            groups.union(at[argument], at[source]);
        }
    }
    for (clause, conjuncts) in system.clauses.iter().zip(conjuncts) {
        let places = places(clause);
        for (_, vars) in conjuncts {
            let related: Option<Vec<usize>> = vars
                .iter()
                .map(|v| at.get(places.get(v)?).copied())
                .collect();
            for pair in related.iter().flat_map(|related| related.windows(2)) {
                groups.union(pair[0], pair[1]);
            }
        }
    }
    let mut sizes: FxHashMap<(usize, PredicateId), usize> = FxHashMap::default();
    for (number, argument) in all.iter().enumerate() {
        *sizes.entry((groups.find(number), argument.0)).or_default() += 1;
    }
    let mut largest: FxHashMap<usize, usize> = FxHashMap::default();
    for ((group, _), size) in sizes {
        let largest = largest.entry(group).or_default();
        *largest = size.max(*largest);
    }
    closed.retain(|argument, _| (2..=MAX_GROUP).contains(&largest[&groups.find(at[argument])]));
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use alphorn_samples::random_system;
    use alphorn_term::run::Context;
    use alphorn_term::{Random, TermStore};

    const REAL: SortId = SortId::REAL;

    /// `P(x, y, a, b)` with `x' = x + y`, `y' = y`, and the constraint `next` on `a'` and `b'`.
    fn system(next: impl Fn(&TermStore, [TermId; 4], [TermId; 2]) -> TermId) -> System {
        let t = Rc::new(TermStore::new());
        let mut system = System::new(t.clone());
        let predicate = system.add_predicate("P", &[REAL; 4]);
        let old = ["x", "y", "a", "b"].map(|n| t.var(n, REAL));
        let new = ["x1", "y1", "a1", "b1"].map(|n| t.var(n, REAL));
        let atom = |args: &[TermId]| Atom {
            predicate,
            args: args.to_vec(),
        };
        system.add_clause(vec![], t.lt(old[0], old[1]), Some(atom(&old)));
        let step = [
            t.eq(new[0], t.add(&[old[0], old[1]])),
            t.eq(new[1], old[1]),
            next(&t, old, [new[2], new[3]]),
        ];
        system.add_clause(vec![atom(&old)], t.and(&step), Some(atom(&new)));
        system.add_clause(vec![atom(&old)], t.lt(old[2], old[0]), None);
        system
    }

    /// The positions of `P`'s arguments in the closed part.
    fn kept(system: &System) -> Option<Vec<usize>> {
        let part = closed_part(system, &Context::new(system.terms.clone()).budget)?;
        assert_eq!(part.check(), Ok(()));
        let params = &system.predicates[0].params;
        let position = |v: &TermId| {
            params
                .iter()
                .position(|p| p == v)
                .expect("the same variables")
        };
        Some(part.predicates[0].params.iter().map(position).collect())
    }

    #[test]
    fn arguments_that_depend_on_others_are_left_out() {
        // No conjunct determines a' alone.
        let open = system(|t, [.., b], [a1, b1]| t.and(&[t.lt(a1, b1), t.eq(b1, b)]));
        assert_eq!(kept(&open), Some(vec![0, 1]));
        // A local variable determines it.
        let open = system(|t, _, [a1, b1]| {
            let local = t.var("l", REAL);
            t.and(&[t.eq(a1, local), t.eq(b1, local)])
        });
        assert_eq!(kept(&open), Some(vec![0, 1]));
        // b determines b', but nothing relates it to others.
        let alone = system(|t, [.., b], [a1, b1]| t.and(&[t.eq(b1, t.add(&[b, b])), t.lt(a1, b1)]));
        assert_eq!(kept(&alone), Some(vec![0, 1]));
        // x determines a', and a' determines b'.
        let chain = system(|t, [x, ..], [a1, b1]| t.and(&[t.eq(a1, x), t.lt(b1, a1)]));
        assert_eq!(kept(&chain), Some(vec![0, 1, 2]));
        // If all arguments are closed, there is no smaller system.
        let all = system(|t, [x, y, ..], [a1, b1]| t.and(&[t.eq(a1, x), t.eq(b1, y)]));
        assert_eq!(kept(&all), None);
    }

    #[test]
    fn clauses_of_a_part_are_weaker() {
        let mut parts = 0;
        for seed in 1..200 {
            let whole = random_system(&mut Random::new(seed));
            let cx = Context::new(whole.terms.clone());
            let Some(part) = closed_part(&whole, &cx.budget) else {
                continue;
            };
            parts += 1;
            assert_eq!(part.check(), Ok(()), "seed {seed}");
            for (clause, weaker) in whole.clauses.iter().zip(&part.clauses) {
                let all = whole.terms.conjuncts(clause.constraint);
                let some = whole.terms.conjuncts(weaker.constraint);
                assert!(some.iter().all(|c| *c == TermId::TRUE || all.contains(c)));
                let args: Vec<TermId> = clause.atoms().flat_map(|a| a.args.clone()).collect();
                let kept: Vec<TermId> = weaker.atoms().flat_map(|a| a.args.clone()).collect();
                assert!(kept.iter().all(|v| args.contains(v)));
                let free = whole.terms.free_vars(&[weaker.constraint]);
                assert!(free.iter().all(|v| kept.contains(v)), "seed {seed}");
            }
        }
        assert!(parts > 0);
    }
}
