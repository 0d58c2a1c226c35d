//! Elimination of unconstrained variables (Brummayer and Biere, JSAT 2009): a conjunct that some
//! value of a variable satisfies, whatever the values of its other variables are, can be dropped if
//! no other conjunct has the variable. Then further variables may be unconstrained.
//!
//! Invariant: every assignment that satisfies the remaining conjuncts extends to one that satisfies
//! all conjuncts, by the recorded values, from the last one to the first.

use rustc_hash::{FxHashMap, FxHashSet};

use super::isolate::witness;
use alphorn_term::{TermId, TermStore};

/// A conjunct that can be dropped.
pub(super) struct Unconstrained {
    /// The position of the conjunct.
    pub conjunct: usize,
    /// The unconstrained variable.
    pub var: TermId,
    /// A value of `var` that satisfies the conjunct, over its other variables.
    pub value: TermId,
}

/// The conjuncts that can be dropped, in the order of dropping. `vars` are the variables of each
/// conjunct; those for which `keep` holds stay constrained. The work is nearly linear in the size
/// of the conjuncts.
pub(super) fn unconstrained(
    terms: &TermStore,
    conjuncts: &[TermId],
    vars: &[Vec<TermId>],
    keep: impl Fn(TermId) -> bool,
) -> Vec<Unconstrained> {
    let mut places: FxHashMap<TermId, Vec<usize>> = FxHashMap::default();
    for (at, vars) in vars.iter().enumerate() {
        for &var in vars {
            places.entry(var).or_default().push(at);
        }
    }
    // The number of remaining conjuncts with the variable.
    let mut left: FxHashMap<TermId, usize> = places.iter().map(|(&v, at)| (v, at.len())).collect();
    let mut gone = vec![false; conjuncts.len()];
    let single = |(&var, &count): (&TermId, &usize)| (count == 1 && !keep(var)).then_some(var);
    let mut queue: Vec<TermId> = left.iter().filter_map(single).collect();
    queue.sort_unstable();
    let mut found = Vec::new();
    while let Some(var) = queue.pop() {
        let Some(at) = places[&var].iter().copied().find(|&at| !gone[at]) else {
            continue;
        };
        let Some(value) = witness(terms, conjuncts[at], var) else {
            continue;
        };
        gone[at] = true;
        found.push(Unconstrained {
            conjunct: at,
            var,
            value,
        });
        for &other in &vars[at] {
            if let Some(count) = left.get_mut(&other) {
                *count -= 1;
                if *count == 1 && !keep(other) {
                    queue.push(other);
                }
            }
        }
    }
    found
}

/// The part of a constraint that determines which values of the variables in `keep` satisfy it. For
/// a step that copies hundreds of arguments only a few conjuncts remain.
pub(super) fn constrained_part(
    terms: &TermStore,
    constraint: TermId,
    keep: &FxHashSet<TermId>,
) -> TermId {
    let mut conjuncts = terms.conjuncts(constraint);
    let vars: Vec<Vec<TermId>> = conjuncts.iter().map(|&c| terms.free_vars(&[c])).collect();
    for found in unconstrained(terms, &conjuncts, &vars, |v| keep.contains(&v)) {
        conjuncts[found.conjunct] = TermId::TRUE;
    }
    terms.and(&conjuncts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alphorn_term::SortId;

    #[test]
    fn definitions_are_dropped_with_what_only_they_read() {
        let t = TermStore::new();
        let [x, y, z, u, v] = ["x", "y", "z", "u", "v"].map(|n| t.var(n, SortId::INT));
        let b = t.var("b", SortId::BOOL);
        let next = |v| t.add(&[v, t.int(1)]);
        let bound = t.le(x, t.int(7));
        let part = |conjuncts: &[TermId], keep: &FxHashSet<TermId>| {
            constrained_part(&t, t.and(conjuncts), keep)
        };
        // z is kept; only u's definition reads y; v = v + 1 defines nothing.
        let all = [t.eq(u, next(y)), t.eq(y, next(x)), bound, t.not(b)];
        let keep = FxHashSet::from_iter([x, z]);
        assert_eq!(part(&all, &keep), bound);
        let needed = [
            t.eq(z, next(x)),
            t.eq(t.modulo(v, t.int(2)), t.int(3)),
            bound,
        ];
        let with: Vec<TermId> = needed.iter().chain(&all).copied().collect();
        assert_eq!(part(&with, &keep), t.and(&needed));
        // A variable in two conjuncts is defined by neither.
        let twice = [t.eq(u, t.int(1)), t.eq(u, t.int(2))];
        assert_eq!(part(&twice, &keep), t.and(&twice));
    }

    #[test]
    fn values_satisfy_the_dropped_conjuncts() {
        let t = TermStore::new();
        let [x, y, z] = ["x", "y", "z"].map(|n| t.var(n, SortId::INT));
        let conjuncts = [t.eq(z, t.add(&[y, y])), t.gt(y, x), t.le(x, t.int(7))];
        let vars: Vec<Vec<TermId>> = conjuncts.iter().map(|&c| t.free_vars(&[c])).collect();
        let found = unconstrained(&t, &conjuncts, &vars, |v| v == x);
        assert_eq!(found.len(), 2);
        let mut map: FxHashMap<TermId, TermId> = FxHashMap::from_iter([(x, t.int(3))]);
        for one in found.iter().rev() {
            let value = t.substitute(one.value, &map);
            map.insert(one.var, value);
        }
        for conjunct in conjuncts {
            assert_eq!(t.substitute(conjunct, &map), TermId::TRUE);
        }
    }
}
