//! Queries asked case by case: one disjunct of a formula after the other, in one solver.
//!
//! The negation of a property with many conjuncts is a disjunction. If the property holds, a query
//! for each disjunct is often faster than one for all: each is smaller, and the solver keeps what it
//! learns from one to the next.
//!
//! Invariant: the cases of some formulas together have all models of these formulas.

use super::stop::{Stop, ask};
use alphorn_smt::{SmtModel, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Op, TermId, TermStore};

/// The number of cases up to which a disjunction is taken apart. Longer ones are chains of choices
/// rather than properties with many conjuncts.
const MAX_CASES: usize = 64;

/// The disjuncts of the widest disjunction among the conjuncts of some formulas; `true` alone if
/// there is none.
pub fn cases(terms: &TermStore, formulas: &[TermId]) -> Vec<TermId> {
    let conjuncts = formulas.iter().flat_map(|&f| terms.conjuncts(f));
    let choices = conjuncts.map(|conjunct| disjuncts(terms, conjunct));
    let choices = choices.filter(|d| d.len() > 1 && d.len() <= MAX_CASES);
    let widest = choices.max_by_key(Vec::len);
    widest.unwrap_or_else(|| vec![TermId::TRUE])
}

/// The disjuncts of a formula, also of a negated conjunction.
fn disjuncts(terms: &TermStore, formula: TermId) -> Vec<TermId> {
    match (terms.op(formula), terms.args(formula)) {
        (Op::Not, &[inner]) if matches!(terms.op(inner), Op::And) => {
            let conjuncts = terms.conjuncts(inner).into_iter();
            conjuncts.map(|conjunct| terms.not(conjunct)).collect()
        }
        _ => terms.disjuncts(formula),
    }
}

/// A model of the solver's formulas under the assumptions in the first of the cases that has one;
/// `None` if none has. Cases without a model are removed.
///
/// # Errors
/// A query has no answer, or the model cannot be read.
pub fn ask_cases(
    solver: &mut Solver,
    assumptions: &[TermId],
    cases: &mut Vec<TermId>,
    cx: &Context,
) -> Result<Option<SmtModel>, Stop> {
    let mut all = assumptions.to_vec();
    while let Some(&case) = cases.last() {
        all.push(case);
        if let Some(model) = ask(solver, &all, cx)? {
            return Ok(Some(model));
        }
        all.pop();
        cases.pop();
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use alphorn_smt::Smt;
    use alphorn_term::{Random, SortId};

    fn variables(terms: &TermStore, names: &[&str]) -> Vec<TermId> {
        let bools = names.iter().map(|name| terms.var(name, SortId::BOOL));
        bools.collect()
    }

    #[test]
    fn the_widest_disjunction_is_taken_apart() {
        let terms = TermStore::new();
        let v = variables(&terms, &["a", "b", "c", "d", "e"]);
        let (two, three) = (terms.or(&v[..2]), terms.or(&v[2..]));
        assert_eq!(cases(&terms, &[terms.and(&[two, three]), v[0]]), v[2..]);
        let negated = terms.not(terms.and(&v[..4]));
        let expected: Vec<TermId> = v[..4].iter().map(|&v| terms.not(v)).collect();
        assert_eq!(cases(&terms, &[three, negated]), expected);
        assert_eq!(cases(&terms, &[terms.and(&v)]), [TermId::TRUE]);
        assert_eq!(cases(&terms, &[]), [TermId::TRUE]);
        let many: Vec<TermId> = (0..=MAX_CASES)
            .map(|n| terms.var(&format!("v{n}"), SortId::BOOL))
            .collect();
        assert_eq!(cases(&terms, &[terms.or(&many)]), [TermId::TRUE]);
        assert_eq!(cases(&terms, &[terms.or(&many[1..])]).len(), MAX_CASES);
    }

    /// A query by cases has an answer as one for all, and its model is one of the whole.
    #[test]
    fn cases_answer_as_the_whole() {
        let mut random = Random::new(5);
        let terms = Rc::new(TermStore::new());
        let vars = variables(&terms, &["p", "q", "r", "s"]);
        let mut with_model = 0;
        for _ in 0..200 {
            let mut clause = |length: usize| {
                let literals: Vec<TermId> = (0..length)
                    .map(|_| {
                        let var = vars[random.below(4) as usize];
                        if random.below(2) == 0 {
                            var
                        } else {
                            terms.not(var)
                        }
                    })
                    .collect();
                terms.or(&literals)
            };
            let known: Vec<TermId> = (0..6).map(|_| clause(2)).collect();
            let wanted = terms.and(&[clause(3), clause(2)]);
            let cx = Context::new(terms.clone());
            let smt = Smt::new(terms.clone());
            let mut solver = smt.solver();
            solver.assert(terms.and(&known));
            let whole = ask(&mut solver, &[wanted], &cx).expect("decided");
            let mut open = cases(&terms, &[wanted]);
            let all = open.clone();
            let found = ask_cases(&mut solver, &[wanted], &mut open, &cx).expect("decided");
            assert_eq!(whole.is_some(), found.is_some());
            assert_eq!(open.is_empty(), found.is_none());
            let Some(model) = found else { continue };
            with_model += 1;
            assert!(model.satisfies(wanted));
            for &case in &all[open.len()..] {
                assert!(
                    ask(&mut solver, &[wanted, case], &cx)
                        .expect("decided")
                        .is_none()
                );
            }
        }
        assert!(with_model > 20 && with_model < 180, "{with_model}");
    }
}
