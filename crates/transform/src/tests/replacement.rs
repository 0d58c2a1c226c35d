//! The back-translation that passes share, on systems of two clauses and handwritten witnesses.

use std::rc::Rc;

use super::decide::atom;
use crate::replacement::{Meaning, Origin, Replacement};
use crate::shifted::{Shifted, express_shifted};
use crate::{BackTranslation, BackTranslationError};
use alphorn_chc::{Atom, ClauseId, PredicateId, System};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, Op, SortId, TermId, TermStore};
use alphorn_witness::{Fact, Model, Refutation, RefutationStep, check_refutation};

const INT: SortId = SortId::INT;

/// `x = 3 ⇒ P(x)`, and `P(x) ∧ P(y) ∧ x > 2 ⇒ false`.
struct Old {
    t: Rc<TermStore>,
    system: Rc<System>,
    p: PredicateId,
    fact: ClauseId,
    query: ClauseId,
    x: TermId,
}

fn old() -> Old {
    let t = Rc::new(TermStore::new());
    let mut system = System::new(t.clone());
    let p = system.add_predicate("P", &[INT]);
    let [x, a, b] = ["x", "a", "b"].map(|n| t.var(n, INT));
    let fact = system.add_clause(vec![], t.eq(x, t.int(3)), Some(atom(p, &[x])));
    let body = vec![atom(p, &[a]), atom(p, &[b])];
    let query = system.add_clause(body, t.gt(a, t.int(2)), None);
    Old {
        t,
        system: Rc::new(system),
        p,
        fact,
        query,
        x,
    }
}

#[test]
fn models_are_translated_back_by_cases() {
    let Old { t, system, p, .. } = old();
    let x = system.predicate(p).params[0];
    let mut new = (*system).clone();
    let mut back = Replacement::new(&system);
    let mut case = |sort: &[SortId], meaning: &[TermId], guard| {
        let part = new.add_predicate("P", sort);
        let params = new.predicate(part).params.iter().copied();
        let meanings = params.zip(meaning.iter().map(|&m| Meaning::Term(m)));
        back.add_case(p, part, meanings.collect(), guard);
        (part, new.predicate(part).params.clone())
    };
    let (double, params) = case(&[INT], &[t.mul(&[t.int(2), x])], t.ge(x, t.int(0)));
    // The model has no definition of this predicate, so it holds wherever the guard does.
    case(&[], &[], t.lt(x, t.int(-5)));
    back.strengthen(p, t.not(t.eq(x, t.int(1))));
    let mut model = Model::default();
    model.definitions.insert(double, t.le(params[0], t.int(8)));
    let model = back.model(model, &mut Context::new(t.clone())).unwrap();
    assert!(!model.definitions.contains_key(&double));
    for value in -9..9 {
        let map = std::iter::once((x, t.int(value))).collect();
        let holds = t.substitute(model.definitions[&p], &map);
        let expected = value < -5 || (0..=4).contains(&value) && value != 1;
        assert_eq!(holds, t.bool(expected), "{value}");
    }
    let mut back = Replacement::new(&system);
    back.refute(p);
    let model = back.model(model, &mut Context::new(t.clone())).unwrap();
    assert_eq!(model.definitions[&p], TermId::FALSE);
    // Predicates that are not mentioned hold everywhere.
    let model = Replacement::new(&system).model(Model::default(), &mut Context::new(t));
    assert_eq!(model.unwrap().definitions[&p], TermId::TRUE);
}

/// Translates back a refutation by a clause that derives `Q(y)` with `y = 2`, and a query with one
/// premise, where `P(x)` is `Q(x - 1)`.
fn refute(origin: impl FnOnce(&Old, TermId) -> Origin) -> Result<(), BackTranslationError> {
    let old = old();
    let t = old.t.clone();
    let mut new = (*old.system).clone();
    let mut back = Replacement::new(&old.system);
    let x = old.system.predicate(old.p).params[0];
    let q = back.replace_by_terms(&mut new, old.p, [t.sub(x, t.int(1))]);
    let y = t.fresh_var("y", INT);
    back.note(old.fact, origin(&old, y));
    let mut query = Origin::new(old.query, Vec::new());
    query.premises = Some(vec![0, 0]);
    back.note(old.query, query);
    let derived = Fact {
        predicate: q,
        values: vec![t.int(2)],
    };
    let steps = vec![
        RefutationStep {
            clause: old.fact,
            values: std::iter::once((y, t.int(2))).collect(),
            premises: vec![],
            fact: Some(derived),
        },
        RefutationStep {
            clause: old.query,
            values: Assignment::default(),
            premises: vec![0],
            fact: None,
        },
    ];
    let refutation = back.refutation(Refutation { steps }, &mut Context::new(t))?;
    check_refutation(&old.system, &refutation).unwrap();
    Ok(())
}

#[test]
fn refutations_are_translated_back_with_defined_and_computed_values() {
    let defined = |old: &Old, y| {
        let whole = old.t.add(&[y, old.t.int(1)]);
        Origin::new(old.fact, vec![(old.x, whole)])
    };
    refute(defined).unwrap();
    let computed = |value: Option<i64>| {
        move |old: &Old, _| {
            let mut origin = Origin::new(old.fact, Vec::new());
            let value = value.map(|value| old.t.int(value));
            origin.computed.push((old.x, Box::new(move |_| value)));
            origin
        }
    };
    refute(computed(Some(3))).unwrap();
    assert!(refute(computed(None)).is_err());
    let nowhere = |_: &Old, _| Origin::new(ClauseId(77), Vec::new());
    assert!(refute(nowhere).is_err());
}

#[test]
fn atoms_get_the_arguments_of_the_new_predicates() {
    let Old { t, system, p, .. } = old();
    let mut new = (*system).clone();
    let mut back = Replacement::new(&system);
    let x = system.predicate(p).params[0];
    let q = back.replace_by_terms(&mut new, p, [x, t.add(&[x, t.int(1)])]);
    assert_eq!(back.image(p), Some(q));
    let mut clauses = new.clauses.clone();
    for clause in &mut clauses {
        let twice = |atom: &Atom| vec![atom.args[0], t.fresh_var("next", INT)];
        assert!(back.replace_atoms(clause, twice));
        assert!(!back.replace_atoms(clause, twice), "it is replaced already");
    }
    new.clauses = clauses;
    new.check().unwrap();
}

#[test]
fn shifted_arrays_are_expressed_by_their_array() {
    let t = Rc::new(TermStore::new());
    let numbers = t.array_sort(INT, INT);
    let [array, from] = ["a", "from"].map(|n| t.var(n, numbers));
    let base = t.var("b", INT);
    let shifted = std::iter::once((from, Shifted { array, base })).collect();
    // The array with 5 at 3 and 0 elsewhere, from 2 on.
    let zeros = t.const_array(numbers, t.int(0));
    let value = t.store(zeros, t.int(3), t.int(5));
    let map = [(array, value), (base, t.int(2))].into_iter().collect();
    let five = t.store(zeros, t.int(1), t.int(5));
    let smt = Smt::new(t.clone());
    for (formula, expected) in [
        (t.eq(t.select(from, t.int(1)), t.int(5)), true),
        (t.eq(t.select(from, t.int(2)), t.int(5)), false),
        (
            t.eq(
                t.select(t.store(from, t.int(2), t.int(7)), t.int(2)),
                t.int(7),
            ),
            true,
        ),
        (t.eq(from, five), true),
        (t.eq(t.store(from, t.int(1), t.int(0)), five), false),
    ] {
        let formula = express_shifted(&t, formula, &shifted);
        assert!(!t.free_vars(&[formula]).contains(&from));
        let mut solver = smt.solver();
        solver.assert(t.substitute(formula, &map));
        let found = solver.check(&[]);
        assert_eq!(found == SatResult::Sat, expected);
        assert_eq!(found == SatResult::Unsat, !expected);
    }
}

/// Indexes become bare at variables of their own quantifier, and variables bound by inner
/// quantifiers do not escape.
#[test]
fn arrays_from_a_base_are_read_at_bare_indexes() {
    let t = Rc::new(TermStore::new());
    let numbers = t.array_sort(INT, INT);
    let [array, from] = ["a", "from"].map(|n| t.var(n, numbers));
    let [base, i, j] = ["b", "i", "j"].map(|n| t.var(n, INT));
    let shifted = std::iter::once((from, Shifted { array, base })).collect();
    let read = |index: &[TermId]| t.eq(t.select(from, t.add(index)), t.int(5));
    for (formula, bare) in [
        (t.forall(&[i], read(&[i])), true),
        (t.forall(&[i], t.exists(&[j], read(&[i, j]))), false),
    ] {
        let formula = express_shifted(&t, formula, &shifted);
        let mut free = t.free_vars(&[formula]);
        free.sort_unstable();
        let mut expected = vec![array];
        expected.extend((!bare).then_some(base));
        expected.sort_unstable();
        assert_eq!(free, expected);
        let mut indexes = Vec::new();
        t.post_order(&[formula], |part| {
            if *t.op(part) == Op::Select {
                indexes.push(t.args(part)[1]);
            }
        });
        assert!(indexes.iter().all(|&index| t.is_var(index) == bare));
    }
}
