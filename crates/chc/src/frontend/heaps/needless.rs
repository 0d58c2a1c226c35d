//! Guards that a clause does not need.
//!
//! Invariant: a guard is left out only if the values of its variable are values of the sort in each
//! step of a derivation: a fact's arguments are, by induction, and so are operations of values.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Atom;
use alphorn_term::{Op, SortId, TermId, TermStore};

/// Whether an integer term is made of addresses such that it is at least 0 if they are.
fn is_address(terms: &TermStore, guards: &FxHashMap<TermId, Vec<TermId>>, term: TermId) -> bool {
    let mut stack = vec![term];
    let mut seen = FxHashSet::default();
    while let Some(term) = stack.pop() {
        if !seen.insert(term) {
            continue;
        }
        match terms.op(term) {
            Op::Int(value) if value.sign() != num_bigint::Sign::Minus => {}
            Op::Var(_) if guards.contains_key(&term) => {}
            Op::Field { .. } | Op::Select => {}
            Op::Ite => stack.extend(&terms.args(term)[1..]),
            Op::Add => stack.extend(terms.args(term)),
            _ => return false,
        }
    }
    true
}

/// The variables that are a term, or fields of a term that is made of constructors: of a value they are
/// values.
fn fields(terms: &TermStore, term: TermId) -> Vec<TermId> {
    let (mut found, mut stack) = (Vec::new(), vec![term]);
    while let Some(term) = stack.pop() {
        match terms.op(term) {
            Op::Var(_) => found.push(term),
            Op::Construct(..) => stack.extend(terms.args(term)),
            _ => {}
        }
    }
    found
}

/// The constraint of a clause without guards that it does not need: of variables that are arguments
/// of body atoms, whose values are values of the sort by induction, and of those that an equation
/// determines by such, alone or as fields of a value.
pub fn without_needless_guards(
    terms: &TermStore,
    guards: &FxHashMap<TermId, Vec<TermId>>,
    body: &[Atom],
    constraint: TermId,
) -> TermId {
    if guards.is_empty() {
        return constraint;
    }
    let parts = match terms.op(constraint) {
        Op::And => terms.args(constraint).to_vec(),
        _ => vec![constraint],
    };
    let arguments = body.iter().flat_map(|atom| &atom.args);
    let mut known: FxHashSet<TermId> = arguments.copied().filter(|&a| terms.is_var(a)).collect();
    // For each equation of a guarded variable, the variables that it waits for.
    let mut equations: Vec<(TermId, FxHashSet<TermId>)> = Vec::new();
    let mut waiting: FxHashMap<TermId, Vec<usize>> = FxHashMap::default();
    let open = |var: &TermId, known: &FxHashSet<TermId>| {
        guards.get(var).is_some_and(|guard| !guard.is_empty()) && !known.contains(var)
    };
    for &part in &parts {
        let (&Op::Eq, &[left, right]) = (terms.op(part), terms.args(part)) else {
            continue;
        };
        for (variable, term) in [(left, right), (right, left)] {
            let is_value =
                terms.sort_of(variable) != SortId::INT || is_address(terms, guards, term);
            if !is_value {
                continue;
            }
            for variable in fields(terms, variable) {
                if !open(&variable, &known) {
                    continue;
                }
                let needs = terms.free_vars(&[term]).into_iter();
                let needs: FxHashSet<TermId> = needs.filter(|v| open(v, &known)).collect();
                for &need in &needs {
                    waiting.entry(need).or_default().push(equations.len());
                }
                equations.push((variable, needs));
            }
        }
    }
    let mut kept: FxHashSet<TermId> = FxHashSet::default();
    let mut ready: Vec<TermId> = Vec::new();
    let determined = |equations: &[(TermId, FxHashSet<TermId>)], at: usize| {
        let (variable, needs) = &equations[at];
        needs.is_empty().then_some(*variable)
    };
    ready.extend((0..equations.len()).filter_map(|at| determined(&equations, at)));
    let mut variables: Vec<TermId> = guards.keys().copied().filter(|v| open(v, &known)).collect();
    variables.sort_unstable();
    // Variables without an equation first: they keep their guards, and others may follow from them.
    let with_equation: FxHashSet<TermId> = equations.iter().map(|(v, _)| *v).collect();
    variables.sort_by_key(|v| with_equation.contains(v));
    let mut next = variables.into_iter();
    loop {
        let variable = match ready.pop() {
            Some(variable) => variable,
            None => match next.next() {
                Some(variable) => {
                    if known.contains(&variable) {
                        continue;
                    }
                    kept.insert(variable);
                    variable
                }
                None => break,
            },
        };
        if !known.insert(variable) {
            continue;
        }
        for at in waiting.remove(&variable).unwrap_or_default() {
            equations[at].1.remove(&variable);
            ready.extend(determined(&equations, at));
        }
    }
    let needless: FxHashSet<TermId> = guards
        .iter()
        .filter(|(variable, _)| !kept.contains(variable))
        .flat_map(|(_, guard)| guard.iter().copied())
        .collect();
    let needed: FxHashSet<TermId> = kept
        .iter()
        .flat_map(|variable| guards[variable].iter().copied())
        .collect();
    let parts = parts.into_iter();
    let parts: Vec<TermId> = parts
        .filter(|part| !needless.contains(part) || needed.contains(part))
        .collect();
    terms.and(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PredicateId;
    use alphorn_term::{Constructor, Field};

    /// Fields of a value need no guard, and others do.
    #[test]
    fn fields_of_values_need_no_guard() {
        let terms = TermStore::new();
        let (id, pair) = terms.declare_datatype("Pair", &[]);
        let fields = ["left", "right"].map(|selector| Field {
            selector: selector.to_owned(),
            sort: SortId::INT,
        });
        let constructor = Constructor {
            name: "pair".to_owned(),
            fields: fields.to_vec(),
        };
        terms.define_datatype(id, vec![constructor]);
        let z = terms.var("z", pair);
        let [x, y, other] = ["x", "y", "other"].map(|name| terms.var(name, SortId::INT));
        let guard = |var: TermId| terms.ge(var, terms.int(0));
        let guards = [x, y, other].map(|var| (var, vec![guard(var)]));
        let guards: FxHashMap<TermId, Vec<TermId>> = guards.into_iter().collect();
        let equation = terms.eq(terms.construct(id, 0, &[x, y]), z);
        let constraint = terms.and(&[equation, guard(x), guard(y), guard(other)]);
        let body = [Atom {
            predicate: PredicateId(0),
            args: vec![z],
        }];
        let left = without_needless_guards(&terms, &guards, &body, constraint);
        assert_eq!(left, terms.and(&[equation, guard(other)]));
    }
}
