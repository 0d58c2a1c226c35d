//! Clauses with products, evaluated on all small values; and the choice of products.

use std::rc::Rc;

use super::{Forms, Products};
use alphorn_chc::frontend::parse_bytes;
use alphorn_chc::{Clause, PredicateId, System};
use alphorn_term::{Assignment, Evaluator, Random, TermId, TermStore};
use alphorn_transform::normalize;

fn system(text: &str) -> System {
    let terms = Rc::new(TermStore::new());
    let text = format!("{text} (check-sat)");
    let problem = parse_bytes(text.as_bytes(), terms).expect("it can be read");
    normalize(&problem).0
}

/// Two loops: one adds a counter; the other adds a constant argument and counts down by two.
const LOOPS: &str = "(set-logic HORN)
    (declare-fun A (Int Int Int) Bool) (declare-fun B (Int Int Int Bool) Bool)
    (assert (forall ((i Int) (n Int)) (=> (and (= i 1) (>= n 2)) (A i n 0))))
    (assert (forall ((i Int) (n Int) (x Int))
      (=> (and (A i n x) (< i n)) (A (+ i 1) n (- x (* 2 i))))))
    (assert (forall ((i Int) (n Int) (x Int)) (=> (and (A i n x) (>= i n)) (B n n x true))))
    (assert (forall ((k Int) (n Int) (x Int) (b Bool))
      (=> (and (B k n x b) (>= k 1)) (B (- k 2) n (+ x n) (not b)))))
    (assert (forall ((k Int) (n Int) (x Int) (b Bool))
      (=> (and (B k n x b) (<= k 0) (< x 0)) false)))";

/// Whether the parts of the clause with products hold for these values, if the clause itself holds.
fn holds(products: &Products, old: &System, clause: &Clause, values: &Assignment) -> bool {
    let terms = &old.terms;
    let constraint = clause.constraint;
    if Evaluator::new(terms, values).value(constraint) != Some(TermId::TRUE) {
        return true;
    }
    let forms = Forms::new(terms, clause);
    let (new, factors) = products.clause(old, clause, &forms);
    let mut all = values.clone();
    let product = |x: TermId, y: TermId| {
        let product = terms.mul(&[x, y]);
        Evaluator::new(terms, values)
            .value(product)
            .expect("numbers")
    };
    for ((x, y), var) in factors {
        all.insert(var, product(x, y));
    }
    for (atom, before) in new.atoms().zip(clause.atoms()) {
        let Some((_, pairs)) = products.of.get(&before.predicate) else {
            continue;
        };
        let arity = before.args.len();
        for (at, &(i, j)) in pairs.iter().enumerate() {
            all.insert(
                atom.args[arity + at],
                product(before.args[i], before.args[j]),
            );
        }
    }
    let parts = terms.conjuncts(new.constraint);
    let mut evaluator = Evaluator::new(terms, &all);
    parts
        .into_iter()
        .all(|part| evaluator.value(part) == Some(TermId::TRUE))
}

#[test]
fn clauses_with_products_follow_when_products_are_put_in() {
    let old = system(LOOPS);
    let products = Products::new(&old).expect("there are products");
    products.system.check().expect("a system");
    let terms = &old.terms;
    for clause in &old.clauses {
        let vars = clause.vars(terms);
        let mut tried = 0;
        // Few random values satisfy the equations, so solved variables are computed.
        for seed in 0..60_000_u64 {
            let mut random = Random::new(seed);
            let mut values = Assignment::default();
            for &var in &vars {
                let value =
                    match terms.as_bool(terms.default_value(terms.sort_of(var)).expect("small")) {
                        Some(_) => terms.bool(random.one_in(2)),
                        None => terms.int(random.below(7_i64) - 3),
                    };
                values.insert(var, value);
            }
            solve_equations(terms, clause, &mut values);
            let satisfied = Evaluator::new(terms, &values).value(clause.constraint);
            tried += usize::from(satisfied == Some(TermId::TRUE));
            assert!(holds(&products, &old, clause, &values), "{:?}", clause.id);
            if tried == 200 {
                break;
            }
        }
        assert!(tried > 20, "{:?}: {tried}", clause.id);
    }
}

/// Sets solved variables to the values of their forms.
fn solve_equations(terms: &TermStore, clause: &Clause, values: &mut Assignment) {
    let forms = Forms::new(terms, clause);
    for var in clause.vars(terms) {
        let form = forms.of(var);
        let whole = form.monomials.iter().all(|m| m.1.is_integer());
        if terms.default_value(terms.sort_of(var)) == Some(terms.int(0)) && whole {
            let sum = terms.from_linear(&form, terms.sort_of(var));
            let value = Evaluator::new(terms, values).value(sum);
            values.extend(value.map(|value| (var, value)));
        }
    }
}

#[test]
fn products_are_those_of_counters_and_what_is_added() {
    let old = system(LOOPS);
    let products = Products::new(&old).expect("there are products");
    let of = |name: &str| {
        let id = (0..)
            .map(PredicateId)
            .find(|&p| old.predicate(p).name == name);
        products.of[&id.expect("it is there")].1.clone()
    };
    // The square of the counter, and the same at the head of the second loop.
    assert!(of("A").contains(&(0, 0)));
    // The addend times the counter.
    assert!(of("B").contains(&(0, 1)));
    // Sums are no factors.
    assert!(of("A").iter().chain(&of("B")).all(|&(i, j)| i < 2 && j < 2));
}

#[test]
fn nothing_to_multiply() {
    let counter = "(set-logic HORN) (declare-fun A (Int) Bool) (assert (A 0))
        (assert (forall ((i Int)) (=> (A i) (A (+ i 1)))))
        (assert (forall ((i Int)) (=> (and (A i) (< i 0)) false)))";
    assert!(Products::new(&system(counter)).is_none());
}
