//! Statements that need lemmas that conclude facts, statements like them that are false, and proofs
//! of random candidates.

use std::rc::Rc;
use std::time::Duration;

use super::super::facts::{is_trivial, templates};
use super::super::library::Library;
use super::super::literal::{Head, Lemma, Value, column};
use super::super::prove::{Effort, Prover};
use super::super::space::Space;
use alphorn_chc::frontend::parse;
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Random, TermStore};
use alphorn_transform::normalize;

const LISTS: &str = "(set-logic HORN)
(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))";

const DROP: &str = "(declare-fun drop (Int L L) Bool)
(assert (forall ((l L)) (drop 0 l l)))
(assert (forall ((n Int)) (=> (> n 0) (drop n nil nil))))
(assert (forall ((n Int) (x Int) (l L) (m L))
  (=> (and (> n 0) (drop (- n 1) l m)) (drop n (cons x l) m))))";

const ROTATE: &str = "(declare-fun snoc (L Int L) Bool)
(declare-fun rot (Int L L) Bool)
(assert (forall ((x Int)) (snoc nil x (cons x nil))))
(assert (forall ((x Int) (y Int) (l L) (m L)) (=> (snoc l x m) (snoc (cons y l) x (cons y m)))))
(assert (forall ((l L)) (rot 0 l l)))
(assert (forall ((n Int)) (=> (> n 0) (rot n nil nil))))
(assert (forall ((n Int) (x Int) (l L) (m L) (k L))
  (=> (and (> n 0) (snoc l x m) (rot (- n 1) m k)) (rot n (cons x l) k))))";

const SORT: &str = "(declare-fun ins (Int L L) Bool)
(declare-fun sort (L L) Bool)
(declare-fun cnt (Int L Int) Bool)
(assert (forall ((x Int)) (ins x nil (cons x nil))))
(assert (forall ((x Int) (y Int) (l L)) (=> (<= x y) (ins x (cons y l) (cons x (cons y l))))))
(assert (forall ((x Int) (y Int) (l L) (m L))
  (=> (and (> x y) (ins x l m)) (ins x (cons y l) (cons y m)))))
(assert (sort nil nil))
(assert (forall ((x Int) (l L) (m L) (k L)) (=> (and (sort l m) (ins x m k)) (sort (cons x l) k))))
(assert (forall ((x Int)) (cnt x nil 0)))
(assert (forall ((x Int) (l L) (n Int)) (=> (cnt x l n) (cnt x (cons x l) (+ n 1)))))
(assert (forall ((x Int) (y Int) (l L) (n Int))
  (=> (and (cnt x l n) (distinct x y)) (cnt x (cons y l) n))))";

const REVERSE: &str = "(declare-fun app (L L L) Bool)
(declare-fun rev (L L) Bool)
(declare-fun but (L L) Bool)
(assert (forall ((l L)) (app nil l l)))
(assert (forall ((x Int) (k L) (l L) (m L)) (=> (app k l m) (app (cons x k) l (cons x m)))))
(assert (rev nil nil))
(assert (forall ((x Int) (k L) (l L) (m L))
  (=> (and (rev k l) (app l (cons x nil) m)) (rev (cons x k) m))))
(assert (but nil nil))
(assert (forall ((x Int)) (but (cons x nil) nil)))
(assert (forall ((x Int) (y Int) (k L) (l L))
  (=> (but (cons y k) l) (but (cons x (cons y k)) (cons x l)))))";

/// The engine's verdict on clauses with a query.
fn answer(clauses: &str, query: &str) -> &'static str {
    let query = format!(
        "(assert (forall ((a L) (b L) (c L) (d L) (e L) (m Int) (n Int) (x Int)) (=> {query} false)))"
    );
    let text = format!("{LISTS}\n{clauses}\n{query}\n(check-sat)");
    alphorn::internal::answer("relate", &text, Duration::from_secs(30))
}

/// Each needs a lemma that concludes a fact; the second query is false.
#[test]
fn facts_are_concluded() {
    for (clauses, holds, fails) in [
        (
            DROP,
            "(and (drop m a b) (drop n b c) (drop n a d) (drop m d e) (distinct c e))",
            "(and (drop m a b) (drop n b c) (drop n a d) (drop m d e) (distinct b d))",
        ),
        (
            ROTATE,
            "(and (rot m a b) (rot n b c) (rot n a d) (rot m d e) (distinct c e))",
            "(and (rot m a b) (rot n b c) (rot n a d) (rot m d e) (distinct b d))",
        ),
        (
            SORT,
            "(and (sort a b) (cnt x a m) (cnt x b n) (distinct m n))",
            "(and (sort a b) (cnt x a m) (cnt x b n) (distinct (+ m x) n))",
        ),
        (
            REVERSE,
            "(and (rev a b) (rev b c) (distinct a c))",
            "(and (rev a b) (rev b c) (distinct b c))",
        ),
        // The last element is a part of an argument.
        (
            REVERSE,
            "(and (app a (cons x nil) b) (but b c) (distinct a c))",
            "(and (app a (cons x (cons x nil)) b) (but b c) (distinct a c))",
        ),
    ] {
        assert_eq!(answer(clauses, holds), "sat", "{holds}");
        assert_ne!(answer(clauses, fails), "sat", "{fails}");
    }
}

/// Statements that are false only for lists of five elements or more, or for large numbers.
#[test]
fn what_small_facts_do_not_falsify_is_not_proven() {
    let late = "(declare-fun len (L Int) Bool)
(assert (len nil 0))
(assert (forall ((x Int) (l L) (n Int)) (=> (len l n) (len (cons x l) (+ n 1)))))";
    for (clauses, from, to, query) in [
        (
            DROP,
            "(> n 0) (drop (- n 1) l m)",
            "(> n 0) (distinct n 7) (drop (- n 1) l m)) (drop n (cons x l) m))))
(assert (forall ((n Int) (x Int) (l L) (m L)) (=> (and (= n 7) (drop 5 l m)",
            "(and (drop m a b) (drop n b c) (drop (+ m n) a d) (distinct c d))",
        ),
        (
            SORT,
            "(=> (cnt x l n) (cnt x (cons x l) (+ n 1)))",
            "(=> (and (cnt x l n) (< n 6)) (cnt x (cons x l) (+ n 1)))",
            "(and (sort a b) (cnt x a m) (len b n) (> m 5) (> n m))",
        ),
        (
            SORT,
            "(> x y) (ins x l m)",
            "(> x y) (< x 99) (ins x l m)) (ins x (cons y l) (cons y m)))))
(assert (forall ((x Int) (y Int) (l L) (m L)) (=> (and (>= x 99) (ins (- x 1) l m)",
            "(and (sort a b) (cnt x a m) (cnt x b n) (distinct m n))",
        ),
    ] {
        assert!(clauses.contains(from));
        let clauses = format!("{}\n{late}", clauses.replace(from, to));
        assert_ne!(answer(&clauses, query), "sat", "{query}");
    }
}

fn effort() -> Effort {
    Effort {
        depth: 1,
        nodes: 60,
        facts: true,
    }
}

/// An order of natural numbers as terms is transitive.
#[test]
fn transitivity_is_a_template() {
    let text = "(set-logic HORN)
        (declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
        (declare-fun le (Nat Nat) Bool)
        (declare-fun next (Nat Nat) Bool)
        (assert (forall ((y Nat)) (le Z y)))
        (assert (forall ((x Nat) (y Nat)) (=> (le x y) (le (S x) (S y)))))
        (assert (next Z (S Z)))
        (assert (forall ((x Nat) (y Nat)) (=> (next x y) (next (S x) (S y)))))
        (assert (forall ((x Nat) (y Nat)) (=> (and (le x y) (next y x) (next y y)) false)))
        (check-sat)";
    let problem = parse(text, Rc::new(TermStore::new())).expect("clauses");
    let (system, _) = normalize(&problem);
    let cx = Context::new(system.terms.clone());
    let space = Space::new(&system, &cx);
    let mut found = templates(&space, &system.used_predicates(), &cx);
    found.retain(|lemma| !is_trivial(lemma));
    let mut prover = Prover::new(&space, &Smt::within(&cx.budget));
    let mut library = Library::default();
    let all = found.clone();
    library.houdini(found, &mut prover, effort(), &mut Vec::new(), &cx);
    let shown: Vec<String> = library.proven().map(|lemma| space.show(lemma)).collect();
    for wanted in [
        "le, le: a1 == b0 => le(a0, b1)",
        // From below an order: x ≤ y and y + 1 = z.
        "le, next: a1 == b0 => le(a0, b1)",
    ] {
        assert!(shown.iter().any(|lemma| lemma == wanted), "{shown:?}");
    }
    // A number is not below its predecessor.
    let wrong = "le, next: a1 == b1 => le(a0, b0)";
    assert!(
        all.iter().all(|lemma| space.show(lemma) != wrong),
        "{all:?}"
    );
}

/// Random clauses of a relation over lists of small numbers.
fn relation(random: &mut Random) -> String {
    let step = *random.pick(&["(cons x l)", "l", "(cons y l)"]);
    let other = *random.pick(&["(cons x m)", "m", "(cons 0 m)"]);
    let number = *random.pick(&["(+ n 1)", "n", "(+ n x)", "(- n 1)"]);
    let guard = *random.pick(&["true", "(> x 0)", "(= x y)", "(> n 0)"]);
    format!(
        "{LISTS}
         (declare-fun p (L Int L) Bool)
         (assert (forall ((l L)) (p l 0 l)))
         (assert (forall ((x Int) (y Int) (n Int) (l L) (m L))
            (=> (and {guard} (p l n m)) (p {step} {number} {other}))))
         (assert (forall ((l L) (m L) (n Int)) (=> (and (p l n m) (p m n l) (distinct l m)) false)))
         (check-sat)"
    )
}

/// Whatever is proven, also of candidates that were not tested, holds of all facts that were derived.
#[test]
fn proven_facts_are_there() {
    let mut random = Random::new(7);
    let (mut proven, mut refused) = (0, 0);
    for round in 0..30 {
        let text = relation(&mut random);
        let problem = parse(&text, Rc::new(TermStore::new())).expect("clauses");
        let (system, _) = normalize(&problem);
        let mut cx = Context::new(system.terms.clone());
        cx.budget = cx.budget.work(Duration::from_secs(5));
        let space = Space::new(&system, &cx);
        let p = system.used_predicates()[0];
        let mut candidate = || {
            let list = |random: &mut Random| {
                let slot = random.below(2usize);
                Value::Column(column(slot, 2 * random.below(2usize)))
            };
            let number = *random.pick(&[0i64, 0, 1, -1]);
            let sum = match random.below(3usize) {
                0 => Value::Sum(vec![(column(0, 1), 1), (column(1, 1), 1)], number),
                _ => Value::plus(column(random.below(2usize), 1), number),
            };
            let args = vec![list(&mut random), sum, list(&mut random)];
            let sort = space.sorts(p)[0];
            let (from, to) = (2 * random.below(2usize), 2 * random.below(2usize));
            let link = super::Literal::equal(column(0, from), column(1, to), sort);
            Lemma::concluding(vec![p, p], vec![link], Head { predicate: p, args })
        };
        let candidates: Vec<Lemma> = (0..24).map(|_| candidate()).collect();
        let mut prover = Prover::new(&space, &Smt::within(&cx.budget));
        let mut library = Library::default();
        library.houdini(
            candidates.clone(),
            &mut prover,
            effort(),
            &mut Vec::new(),
            &cx,
        );
        for candidate in candidates {
            let number = library.number(candidate.clone());
            let is_false = space.is_falsified(&candidate);
            match library.is_known(number) {
                true => {
                    let shown = space.show(&candidate);
                    assert!(!is_false, "{round}: {shown}\n{text}");
                    proven += 1;
                }
                false => refused += usize::from(is_false),
            }
        }
    }
    assert!(proven > 20 && refused > 60, "{proven} {refused}");
}
