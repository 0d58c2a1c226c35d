//! Linear arithmetic: the common part of its two sorts, and the order of elimination.
//!
//! First every `div`, `mod`, `to_int` and `is_int` over remaining variables is replaced by a fresh
//! integer with its defining bounds. Then reals are eliminated, mixed literals are converted to
//! integers, and integers are eliminated. Variables in nonlinear terms get their values.
//!
//! Invariant: except for these values, every step is an equivalence; the choice of bounds, which
//! depends on the model, is in `real` and `integer`.

use num_traits::Signed;
use rustc_hash::{FxHashMap, FxHashSet};

use super::purify::{integerise, purify};
use super::rows::Rows;
use super::state::State;
use super::{equality, integer, real};
use alphorn_arith::{Constraint, Relation};
use alphorn_term::{Assignment, Op, SortId, TermId};

/// Eliminates all remaining variables of sorts Int and Real.
pub(super) fn eliminate(state: &mut State) {
    purify(state);
    equality::solve(state);
    settle(state, SortId::REAL);
    eliminate_sort(state, SortId::REAL);
    integerise(state);
    equality::solve(state);
    settle(state, SortId::INT);
    eliminate_sort(state, SortId::INT);
}

/// Replaces variables with nonlinear occurrences, so that the others occur linearly. Before that,
/// unbounded variables are dropped, since their literals may be the only nonlinear ones.
fn settle(state: &mut State, sort: SortId) {
    let vars = state.remaining(|s| s == sort);
    let (pure, opaque): (Vec<TermId>, Vec<TermId>) =
        vars.into_iter().partition(|&v| state.occurs_linearly(v));
    if opaque.is_empty() {
        return;
    }
    for var in pure {
        drop_unbounded(state, var);
    }
    replace_hidden(state, &opaque);
    for var in opaque {
        if state.is_remaining(var) && !state.occurs_linearly(var) {
            state.replace_by_values(&[var]);
            // A value in a product makes the rest of it linear, and equations may appear.
            equality::solve(state);
        }
    }
    // Equations may have moved a variable to a nonlinear place.
    let vars = state.remaining(|s| s == sort);
    for var in vars {
        if !state.occurs_linearly(var) {
            state.replace_by_values(&[var]);
        }
    }
}

/// Replaces those of the variables that occur under operators that are not arithmetic, all in one
/// step: an index by a kept index term with the same value, if there is one, other variables by
/// their values.
fn replace_hidden(state: &mut State, vars: &[TermId]) {
    let terms = state.terms;
    let mut literals: Vec<TermId> = Vec::new();
    for &var in vars {
        literals.extend(state.literals_of(var));
    }
    let mut hidden: FxHashSet<TermId> = FxHashSet::default();
    let mut indexes: FxHashSet<TermId> = FxHashSet::default();
    // Each term once outside and once inside of such an operator.
    let mut seen: FxHashSet<(TermId, bool)> = FxHashSet::default();
    let mut stack: Vec<(TermId, bool)> = literals.into_iter().map(|l| (l, false)).collect();
    while let Some((term, inside)) = stack.pop() {
        let node = terms.node(term);
        if node.is_ground || !seen.insert((term, inside)) {
            continue;
        }
        let arithmetic = match node.op {
            Op::Var(_) if inside => {
                hidden.insert(term);
                continue;
            }
            Op::Select | Op::Store => {
                indexes.insert(node.args[1]);
                false
            }
            Op::Not | Op::Le | Op::Ge | Op::Add | Op::Mul | Op::IDiv | Op::Mod | Op::Div => true,
            Op::ToReal | Op::ToInt | Op::IsInt => true,
            Op::Eq => terms.sort_of(node.args[0]).is_number(),
            _ => false,
        };
        stack.extend(node.args.iter().map(|&a| (a, !arithmetic)));
    }
    let mut kept: FxHashMap<(SortId, TermId), TermId> = FxHashMap::default();
    let mut ordered: Vec<TermId> = indexes.iter().copied().collect();
    ordered.sort_unstable();
    for index in ordered {
        if !terms.is_value(index)
            && !state.has_remaining(index)
            && let Some(value) = state.value(index)
        {
            kept.entry((terms.sort_of(index), value)).or_insert(index);
        }
    }
    let mut map = Assignment::default();
    let mut valued = Vec::new();
    for &var in vars {
        if !hidden.contains(&var) {
            continue;
        }
        let other = match state.value(var) {
            Some(value) if indexes.contains(&var) => {
                kept.get(&(terms.sort_of(var), value)).copied()
            }
            _ => None,
        };
        match other {
            Some(index) => {
                map.insert(var, index);
            }
            None => valued.push(var),
        }
    }
    state.substitute(&map);
    state.replace_by_values(&valued);
    equality::solve(state);
}

/// Drops the literals of a variable without lower bounds or without upper bounds.
fn drop_unbounded(state: &mut State, var: TermId) {
    let (mut below, mut above) = (true, true);
    for literal in state.literals_of(var) {
        let Some(constraint) = Constraint::comparison(state.terms, literal) else {
            return;
        };
        let coefficient = constraint.linear.coefficient(var);
        match constraint.relation {
            Relation::AtMost | Relation::Below if coefficient.is_positive() => above = false,
            Relation::AtMost | Relation::Below if coefficient.is_negative() => below = false,
            Relation::Differs => {}
            // Equations, and divisibilities, which contain the variable under an operator.
            _ => return,
        }
    }
    if below || above {
        state.drop_literals(var);
    }
}

fn eliminate_sort(state: &mut State, sort: SortId) {
    let vars = state.remaining(|s| s == sort);
    if vars.is_empty() || state.failed {
        return;
    }
    let Some(mut rows) = Rows::load(state, sort, &vars) else {
        state.failed = true;
        return;
    };
    state.valued += if sort == SortId::REAL {
        rows.run(real::discard, real::eliminate)
    } else {
        rows.run(integer::discard, integer::eliminate)
    };
    rows.unload(state);
}
