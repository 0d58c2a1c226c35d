//! Elimination of locals that no equation defines: by combining bounds, by cases, and by cells.
//!
//! - An arithmetic local with lower and upper bounds is eliminated if there are no more
//!   combinations than bounds (Fourier-Motzkin; over Int only if the coefficients on one side are
//!   one, so that the elimination is exact).
//! - A Boolean local is eliminated by its two cases if these are no larger than what they replace.
//! - An array local that is only read is replaced by a scalar for each index, with equal scalars at
//!   equal indexes (Ackermann). One inside stores, as in `t = store(… a …, i, v)`, is `t` with
//!   other cells: `a = store(t, i, s) ∧ t[i] = v` with a new scalar `s`, where `v` may read `a`.
//!
//! Invariant: each step keeps `∃ locals. constraint`, and the recorded definition gives the local a
//! value that satisfies the dropped conjuncts.

use num_traits::One;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::isolate::{self, LinearBound};
use super::Reducer;
use super::limits::LIMITS;
use alphorn_term::{Linear, Op, Rational, Sort, SortId, TermId, TermStore};

/// The replacement of the conjuncts with a local.
struct Elimination {
    conjuncts: Vec<TermId>,
    definition: TermId,
}

impl Reducer<'_> {
    /// Eliminates locals that share no conjunct, as far as nothing becomes larger.
    pub(super) fn project_locals(&mut self) -> bool {
        let terms = self.terms;
        let mut places: FxHashMap<TermId, Vec<usize>> = FxHashMap::default();
        for (at, &conjunct) in self.conjuncts.iter().enumerate() {
            for var in terms.free_vars(&[conjunct]) {
                if self.is_local(var) {
                    places.entry(var).or_default().push(at);
                }
            }
        }
        let mut order: Vec<(usize, TermId)> = places.iter().map(|(v, at)| (at.len(), *v)).collect();
        order.sort_unstable();
        let mut gone: FxHashSet<usize> = FxHashSet::default();
        let mut added = Vec::new();
        for (count, var) in order {
            let at = &places[&var];
            if count > LIMITS.max_occurrences || at.iter().any(|i| gone.contains(i)) {
                continue;
            }
            let literals: Vec<TermId> = at.iter().map(|&i| self.conjuncts[i]).collect();
            let sort = terms.sort_of(var);
            let found = match terms.sort(sort) {
                Sort::Int | Sort::Real => combine(terms, &literals, var),
                Sort::Bool => cases(terms, &literals, var),
                Sort::Array(..) => cells(terms, &literals, var),
                _ => None,
            };
            if let Some(elimination) = found {
                gone.extend(at);
                added.extend(elimination.conjuncts);
                self.definitions.push((var, elimination.definition));
            }
        }
        if gone.is_empty() {
            return true;
        }
        let mut rest: Vec<TermId> = (0..self.conjuncts.len())
            .filter(|i| !gone.contains(i))
            .map(|i| self.conjuncts[i])
            .collect();
        rest.extend(added);
        self.set_conjuncts(&rest)
    }

    /// Replaces `t = store(u, i, v)`, where a local array is at the bottom of `u`, by `u = store(t,
    /// i, s)` and `t[i] = v`.
    pub(super) fn open_stores(&mut self) -> bool {
        let terms = self.terms;
        let mut changed = false;
        let mut result = Vec::with_capacity(self.conjuncts.len());
        for &conjunct in &self.conjuncts {
            match self.open_store(conjunct) {
                Some(parts) => {
                    changed = true;
                    result.extend(parts);
                }
                None => result.push(conjunct),
            }
        }
        debug_assert!(result.iter().all(|&c| terms.sort_of(c) == SortId::BOOL));
        !changed || self.set_conjuncts(&result)
    }

    fn open_store(&self, conjunct: TermId) -> Option<Vec<TermId>> {
        let terms = self.terms;
        let node = terms.node(conjunct);
        if node.op != Op::Eq {
            return None;
        }
        let local = |t: TermId| terms.is_var(t) && self.is_local(t);
        let sides = [(node.args[0], node.args[1]), (node.args[1], node.args[0])];
        let (stored, target) = sides.into_iter().find(|&(stored, target)| {
            let mut bottom = stored;
            while *terms.op(bottom) == Op::Store {
                bottom = terms.args(bottom)[0];
            }
            // If the other side is a local, the equation is solved for it.
            bottom != stored && local(bottom) && !local(target) && {
                let mut others = vec![target];
                let mut current = stored;
                // Values may read the local: its definition is substituted there.
                while let [array, index, _] = *terms.args(current)
                    && *terms.op(current) == Op::Store
                {
                    others.push(index);
                    current = array;
                }
                !terms.free_vars(&others).contains(&bottom)
            }
        })?;
        let mut parts = Vec::new();
        let mut current = stored;
        let mut whole = target;
        while let [array, index, value] = *terms.args(current)
            && *terms.op(current) == Op::Store
        {
            parts.push(terms.eq(terms.select(whole, index), value));
            let cell = terms.fresh_var("cell", terms.sort_of(value));
            whole = terms.store(whole, index, cell);
            current = array;
        }
        parts.push(terms.eq(current, whole));
        Some(parts)
    }
}

/// Combines lower bounds with upper bounds.
fn combine(terms: &TermStore, literals: &[TermId], var: TermId) -> Option<Elimination> {
    let sort = terms.sort_of(var);
    let mut lower: Vec<LinearBound> = Vec::new();
    let mut upper: Vec<LinearBound> = Vec::new();
    for &literal in literals {
        let bound = isolate::linear_bound(terms, literal, var)?;
        if bound.upper {
            upper.push(bound);
        } else {
            lower.push(bound);
        }
    }
    if lower.is_empty() || upper.is_empty() || lower.len() * upper.len() > literals.len() {
        return None;
    }
    let unit = |bounds: &[LinearBound]| bounds.iter().all(|b| b.size.is_one());
    let strict = |bounds: &[LinearBound]| bounds.iter().any(|b| b.strict);
    if sort == SortId::INT && !unit(&lower) && !unit(&upper) {
        return None;
    }
    let mut conjuncts = Vec::with_capacity(lower.len() * upper.len());
    for low in &lower {
        for high in &upper {
            // low.size * v ≥ low.side and high.size * v ≤ high.side
            let difference: Linear = low
                .side
                .scaled(&high.size)
                .add_scaled(&high.side, &-low.size.clone());
            if difference.monomials.len() > LIMITS.max_combined_summands {
                return None;
            }
            conjuncts.push(if low.strict || high.strict {
                terms.not(terms.linear_atom(Op::Ge, &difference, sort))
            } else {
                terms.linear_atom(Op::Le, &difference, sort)
            });
        }
    }
    let end = |bounds: &[LinearBound], greatest: bool| {
        let ends: Vec<TermId> = bounds
            .iter()
            .map(|b| terms.from_linear(&b.side.scaled(&b.size.recip()), sort))
            .collect();
        isolate::extremum(terms, &ends, greatest)
    };
    let definition = if sort == SortId::INT {
        if unit(&lower) {
            end(&lower, true)
        } else {
            end(&upper, false)
        }
    } else if !strict(&lower) {
        end(&lower, true)
    } else if !strict(&upper) {
        end(&upper, false)
    } else {
        let sum = terms.add(&[end(&lower, true), end(&upper, false)]);
        let half = Rational::new(1.into(), 2.into());
        terms.scale(&half, sum)
    };
    Some(Elimination {
        conjuncts,
        definition,
    })
}

/// The two cases of a Boolean.
fn cases(terms: &TermStore, literals: &[TermId], var: TermId) -> Option<Elimination> {
    let before = terms.dag_size(literals);
    if before > LIMITS.max_nodes_for_cases {
        return None;
    }
    let both = terms.and(literals);
    let case = |value: TermId| {
        let map = std::iter::once((var, value)).collect();
        terms.substitute(both, &map)
    };
    let (on, off) = (case(TermId::TRUE), case(TermId::FALSE));
    let either = terms.or(&[on, off]);
    (terms.dag_size(&[either]) <= before).then(|| Elimination {
        conjuncts: vec![either],
        definition: on,
    })
}

/// A scalar for each index at which an array is read, if it occurs nowhere else.
fn cells(terms: &TermStore, literals: &[TermId], var: TermId) -> Option<Elimination> {
    let mut indexes: Vec<TermId> = Vec::new();
    let mut only_read = true;
    terms.post_order(literals, |t| {
        let node = terms.node(t);
        if node.op == Op::Select && node.args[0] == var {
            indexes.push(node.args[1]);
        } else if node.args.contains(&var) || matches!(node.op, Op::Forall(_) | Op::Exists(_)) {
            only_read = false;
        }
    });
    if !only_read || indexes.is_empty() || indexes.len() > LIMITS.max_cells {
        return None;
    }
    if terms.free_vars(&indexes).contains(&var) {
        return None;
    }
    let Sort::Array(_, element) = terms.sort(terms.sort_of(var)) else {
        return None;
    };
    let scalars: Vec<TermId> = indexes
        .iter()
        .map(|_| terms.fresh_var("cell", element))
        .collect();
    let map: FxHashMap<TermId, TermId> = indexes
        .iter()
        .zip(&scalars)
        .map(|(&index, &scalar)| (terms.select(var, index), scalar))
        .collect();
    let mut memo = FxHashMap::default();
    let mut conjuncts: Vec<TermId> = literals
        .iter()
        .map(|&l| terms.substitute_with(l, &map, &mut memo))
        .collect();
    for (i, &a) in indexes.iter().enumerate() {
        for (j, &b) in indexes.iter().enumerate().skip(i + 1) {
            let same = terms.eq(a, b);
            conjuncts.push(terms.implies(same, terms.eq(scalars[i], scalars[j])));
        }
    }
    let mut definition = terms.const_array(terms.sort_of(var), scalars[0]);
    for (&index, &scalar) in indexes.iter().zip(&scalars).skip(1) {
        definition = terms.store(definition, index, scalar);
    }
    Some(Elimination {
        conjuncts,
        definition,
    })
}
