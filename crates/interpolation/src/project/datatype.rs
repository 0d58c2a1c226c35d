//! Datatypes: a variable is replaced by its constructor in the model, applied to fresh fields.
//!
//! Invariant: each step descends by one constructor in the variable's value, so it ends.

use super::state::State;
use alphorn_term::{Assignment, Op, TermId};

/// Replaces each variable by its constructor over fresh fields; testers, selectors and equalities
/// are simplified, and the fields are eliminated by the rules of their sorts.
pub(super) fn expand(state: &mut State, vars: &[TermId]) {
    let terms = state.terms;
    let mut map = Assignment::default();
    for &var in vars {
        if state.degree(var) == 0 {
            state.retire(var);
            continue;
        }
        let Some(value) = state.value(var) else {
            state.failed = true;
            return;
        };
        let Op::Construct(id, constructor) = *terms.op(value) else {
            state.replace_by_values(&[var]);
            continue;
        };
        // Not through `remaining`: the fields replace the variable in one step.
        let fields: Vec<TermId> = terms
            .args(value)
            .iter()
            .map(|&field| state.fresh(terms.sort_of(field), field))
            .collect();
        map.insert(var, terms.construct(id, constructor, &fields));
    }
    state.substitute(&map);
}
