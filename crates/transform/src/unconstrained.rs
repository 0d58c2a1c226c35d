//! Elimination of unconstrained variables (Brummayer and Biere, JSAT 2009): a conjunct that some
//! value of a variable satisfies, whatever its other variables are, says nothing if no other
//! conjunct has the variable. Without it, further variables may have become unconstrained.
//!
//! Invariant: every assignment that satisfies the conjuncts left extends to one that satisfies all,
//! by the values found, from the last one found to the first.

use rustc_hash::{FxHashMap, FxHashSet};

use super::isolate::witness;
use alphorn_term::{TermId, TermStore};

/// A conjunct that says nothing.
pub(super) struct Unconstrained {
    /// Its position.
    pub conjunct: usize,
    pub var: TermId,
    /// A value of the variable that satisfies the conjunct, over its other variables.
    pub value: TermId,
}

/// The conjuncts that say nothing, in the order in which they go. `vars` are the variables of each
/// conjunct; those in `keep` stay constrained. Near-linear in the size of the conjuncts.
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
    // How many conjuncts with the variable are left.
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

/// What of a constraint decides which values of the variables in `keep` satisfy it. Of a step that
/// copies hundreds of arguments, a few conjuncts are left for a solver.
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
    fn definitions_go_and_what_they_alone_read() {
        let t = TermStore::new();
        let [x, y, z, u, v] = ["x", "y", "z", "u", "v"].map(|n| t.var(n, SortId::INT));
        let b = t.var("b", SortId::BOOL);
        let next = |v| t.add(&[v, t.int(1)]);
        let bound = t.le(x, t.int(7));
        let part = |conjuncts: &[TermId], keep: &FxHashSet<TermId>| {
            constrained_part(&t, t.and(conjuncts), keep)
        };
        // z is kept; y is what only u's definition reads; v = v + 1 defines nothing.
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
        // A variable of two conjuncts is defined by neither.
        let twice = [t.eq(u, t.int(1)), t.eq(u, t.int(2))];
        assert_eq!(part(&twice, &keep), t.and(&twice));
    }

    #[test]
    fn values_satisfy_what_went() {
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
