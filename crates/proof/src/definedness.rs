//! Constraints in which every term has a value: a term whose value SMT-LIB does not fix, as a
//! selector on another constructor or a division by zero, is replaced by a variable.
//!
//! Invariant: for some values of the new variables the constraint implies the result. So states
//! that are unreachable with the result are unreachable with the constraint; a derivation has to be
//! confirmed.

use rustc_hash::FxHashMap;

use alphorn_term::{Op, SortId, TermId, TermStore};

/// The constraint with a fresh variable in place of each partial application, where that has no
/// value.
pub fn make_total(terms: &TermStore, constraint: TermId) -> TermId {
    let mut memo = FxHashMap::default();
    terms.rewrite_bottom_up(constraint, &mut memo, |term| match defined(terms, term) {
        TermId::TRUE => term,
        defined => {
            let open = terms.fresh_var("open", terms.sort_of(term));
            terms.ite(defined, term, open)
        }
    })
}

/// The conjunction of a literal and the conditions under which its terms have values. It is
/// equivalent to the literal where these have values; elsewhere it is false, so its negation, a
/// lemma, is true.
pub fn where_defined(terms: &TermStore, literal: TermId) -> TermId {
    let mut parts = vec![literal];
    terms.post_order(&[literal], |term| {
        let defined = defined(terms, term);
        if defined != TermId::TRUE && defined != literal {
            parts.push(defined);
        }
    });
    terms.and(&parts)
}

/// The condition under which the operator of a term has a value on its arguments.
fn defined(terms: &TermStore, term: TermId) -> TermId {
    let node = terms.node(term);
    match &node.op {
        Op::Field(datatype, constructor, _) => terms.is(*datatype, *constructor, node.args[0]),
        Op::IDiv | Op::Mod | Op::Div => {
            let zero = match terms.sort_of(node.args[1]) {
                SortId::INT => terms.int(0),
                _ => terms.real(num_traits::Zero::zero()),
            };
            terms.not(terms.eq(node.args[1], zero))
        }
        _ => TermId::TRUE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alphorn_samples::integer_lists;
    use alphorn_term::{Assignment, evaluate};

    #[test]
    fn partial_terms_get_a_value() {
        let terms = TermStore::new();
        let (list, sort) = integer_lists(&terms);
        let [x, y] = ["x", "y"].map(|n| terms.var(n, SortId::INT));
        let l = terms.var("l", sort);
        let head = terms.field(list, 1, 0, l);
        let formula = terms.and(&[
            terms.eq(head, x),
            terms.ge(terms.idiv(x, y), terms.int(3)),
            terms.eq(terms.modulo(x, terms.int(5)), terms.int(2)),
        ]);
        let result = make_total(&terms, formula);
        let open: Vec<TermId> = terms
            .free_vars(&[result])
            .into_iter()
            .filter(|v| ![x, y, l].contains(v))
            .collect();
        assert_eq!(open.len(), 2);
        // Where all terms have values, both formulas agree for any values of the new variables.
        let full = terms.construct(list, 1, &[terms.int(7), terms.construct(list, 0, &[])]);
        let mut values: Assignment = [(x, terms.int(7)), (y, terms.int(2)), (l, full)]
            .into_iter()
            .collect();
        for &v in &open {
            values.insert(v, terms.int(-9));
        }
        assert_eq!(evaluate(&terms, formula, &values), Some(TermId::TRUE));
        assert_eq!(evaluate(&terms, result, &values), Some(TermId::TRUE));
        // Elsewhere the new variables decide.
        values.insert(y, terms.int(0));
        values.insert(l, terms.construct(list, 0, &[]));
        assert_eq!(evaluate(&terms, formula, &values), None);
        assert_eq!(evaluate(&terms, result, &values), Some(TermId::FALSE));
        for &v in &open {
            values.insert(v, terms.int(7));
        }
        assert_eq!(evaluate(&terms, result, &values), Some(TermId::TRUE));
    }
}
