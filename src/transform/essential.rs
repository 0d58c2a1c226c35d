//! What of a constraint decides whether it can be satisfied, given some variables.
//!
//! A conjunct that only defines or bounds a variable can be left out, and then so can those that define what
//! only it read: of a step that copies hundreds of arguments, a few conjuncts are left for a solver.
//!
//! Invariant: each assignment to the variables kept that satisfies the conjuncts kept extends to one that
//! satisfies all.

use rustc_hash::{FxHashMap, FxHashSet};

use super::solve::witness;
use crate::term::{TermId, TermStore};

/// The constraint without conjuncts that some value of a variable makes true, not among `keep`, that no other conjunct
/// has. Near-linear in the constraint's size.
pub fn essential(terms: &TermStore, constraint: TermId, keep: &FxHashSet<TermId>) -> TermId {
    let conjuncts = terms.conjuncts(constraint);
    let vars: Vec<Vec<TermId>> = conjuncts.iter().map(|&c| terms.free_vars(&[c])).collect();
    let mut uses: FxHashMap<TermId, Vec<usize>> = FxHashMap::default();
    for (at, vars) in vars.iter().enumerate() {
        for &var in vars {
            uses.entry(var).or_default().push(at);
        }
    }
    // How many of its uses are left.
    let mut left: FxHashMap<TermId, usize> = uses.iter().map(|(&v, u)| (v, u.len())).collect();
    let mut gone = vec![false; conjuncts.len()];
    let mut open: Vec<usize> = (0..conjuncts.len()).collect();
    while let Some(at) = open.pop() {
        let conjunct = conjuncts[at];
        let follows = |var: TermId| {
            let free = left.get(&var) == Some(&1) && !keep.contains(&var);
            free && witness(terms, conjunct, var).is_some()
        };
        if gone[at] || !vars[at].iter().any(|&var| follows(var)) {
            continue;
        }
        gone[at] = true;
        for var in &vars[at] {
            let count = left.entry(*var).or_default();
            *count -= 1;
            if *count == 1 {
                open.extend(uses[var].iter().copied().filter(|&u| !gone[u]));
            }
        }
    }
    let kept = conjuncts.iter().zip(&gone).filter(|(_, gone)| !**gone);
    terms.and(&kept.map(|(&c, _)| c).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::SortId;

    #[test]
    fn definitions_go_and_what_they_alone_read() {
        let t = TermStore::new();
        let [x, y, z, u, v] = ["x", "y", "z", "u", "v"].map(|n| t.var(n, SortId::INT));
        let b = t.var("b", SortId::BOOL);
        let next = |v| t.add(&[v, t.int(1)]);
        let bound = t.le(x, t.int(7));
        // z is kept; y is what only u's definition reads; v = v + 1 defines nothing.
        let all = [t.eq(u, next(y)), t.eq(y, next(x)), bound, t.not(b)];
        let keep = FxHashSet::from_iter([x, z]);
        assert_eq!(essential(&t, t.and(&all), &keep), bound);
        let needed = [
            t.eq(z, next(x)),
            t.eq(t.modulo(v, t.int(2)), t.int(3)),
            bound,
        ];
        let with: Vec<TermId> = needed.iter().chain(&all).copied().collect();
        assert_eq!(essential(&t, t.and(&with), &keep), t.and(&needed));
        // A variable of two conjuncts is defined by neither.
        let twice = [t.eq(u, t.int(1)), t.eq(u, t.int(2))];
        assert_eq!(essential(&t, t.and(&twice), &keep), t.and(&twice));
    }
}
