//! Mutants of theorems about random functions are refuted, theorems are not; and programs with
//! choices, arithmetic or late values.

use std::time::Duration;

use alphorn::internal::answer;
use alphorn_samples::planted::FAMILIES;
use alphorn_term::Random;

const TIME_LIMIT: Duration = Duration::from_secs(20);
/// Theorems of each planted family.
const ROUNDS: usize = 10;

#[test]
fn mutants_are_refuted_and_theorems_are_not() {
    let mut random = Random::new(3);
    for (name, family) in FAMILIES {
        for round in 0..ROUNDS {
            let (theorem, mutant) = family(&mut random);
            assert_eq!(
                answer("enum", &mutant, TIME_LIMIT),
                "unsat",
                "{name}, {round}:\n{mutant}"
            );
            if round == 0 {
                assert_eq!(
                    answer("enum", &theorem, TIME_LIMIT / 50),
                    "unknown",
                    "{name}:\n{theorem}"
                );
            }
        }
    }
}

const SORTS: &str = "(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))
(declare-datatypes ((Kind 0)) (((red) (green) (blue))))
(declare-datatypes ((Kinds 0)) (((none) (more (first Kind) (others Kinds)))))\n";

fn verdict(text: &str) -> &'static str {
    answer("enum", &format!("{SORTS}{text}"), TIME_LIMIT / 10)
}

/// The numeral of a natural number.
fn peano(number: usize) -> String {
    format!("{}zero{}", "(succ ".repeat(number), ")".repeat(number))
}

#[test]
fn numbers_are_halved() {
    let half = |number: usize| {
        format!(
            "(declare-fun plus (Nat Nat Nat) Bool)
(assert (forall ((q Nat)) (plus zero q q)))
(assert (forall ((p Nat) (q Nat) (r Nat)) (=> (plus p q r) (plus (succ p) q (succ r)))))
(assert (forall ((p Nat)) (=> (plus p p {}) false)))",
            peano(number)
        )
    };
    assert_eq!(verdict(&half(40)), "unsat");
    // Every choice fails at the end.
    assert_eq!(verdict(&half(7)), "unknown");
}

/// Elements whose squares have a given sum: products wait for values, which a solver finds.
#[test]
fn squares_wait_for_values() {
    let squares = |sum: i64| {
        format!(
            "(declare-fun squares (Lst Int) Bool)
(assert (squares nil 0))
(assert (forall ((h Int) (t Lst) (n Int))
    (=> (and (squares t n) (> h 1)) (squares (cons h t) (+ n (* h h))))))
(assert (forall ((h Int) (t Lst)) (=> (squares (cons h t) {sum}) false)))"
        )
    };
    assert_eq!(verdict(&squares(29)), "unsat");
    assert_ne!(verdict(&squares(3)), "unsat");
}

/// Disjunctions, `ite` and selectors in constraints; equations of Booleans.
#[test]
fn constraints_become_cases() {
    let count = |query: &str| {
        format!(
            "(declare-fun count (Lst Int Bool) Bool)
(assert (count nil 0 true))
(assert (forall ((x Lst) (n Int) (b Bool) (c Bool))
    (=> (and (count (tail x) n b) ((_ is cons) x) (= c (= b (> (head x) 0))))
        (count x (ite (or (< (head x) 3) (> (head x) 7)) n (+ n 1)) c))))
(assert (forall ((x Lst) (n Int)) (=> (and (count x n false) {query}) false)))"
        )
    };
    assert_eq!(verdict(&count("(= n 2)")), "unsat");
    assert_ne!(verdict(&count("(< n 0)")), "unsat");
}

/// A list without equal neighbours in which all three letters occur; and with two letters only.
#[test]
fn terms_that_differ() {
    let word = |last: &str| {
        format!(
            "(declare-fun differ (Kinds) Bool)
(assert (forall ((k Kind)) (differ (more k none))))
(assert (forall ((k Kind) (l Kind) (x Kinds))
    (=> (and (differ (more l x)) (distinct k l)) (differ (more k (more l x))))))
(assert (forall ((k Kind) (l Kind) (x Kinds) (y Kinds))
    (=> (and (differ x) (= x (more red (more k (more l y)))) (distinct k green) {last}) false)))"
        )
    };
    assert_eq!(verdict(&word("(distinct l blue red)")), "unsat");
    assert_ne!(verdict(&word("(= l blue)")), "unsat");
}

/// Bounds decide which rule is applicable; the lists are long, and there is one for each number.
#[test]
fn bounds_decide() {
    let upto = |query: &str| {
        format!(
            "(declare-fun upto (Int Int Lst) Bool)
(declare-fun length (Lst Int) Bool)
(assert (forall ((m Int) (n Int)) (=> (> m n) (upto m n nil))))
(assert (forall ((m Int) (n Int) (x Lst))
    (=> (and (upto (+ m 1) n x) (<= m n)) (upto m n (cons m x)))))
(assert (length nil 0))
(assert (forall ((h Int) (x Lst) (n Int)) (=> (length x n) (length (cons h x) (+ n 1)))))
(assert (forall ((x Lst) (n Int)) (=> (and (upto 1 100 x) (length x n) {query}) false)))"
        )
    };
    assert_eq!(verdict(&upto("(= n 100)")), "unsat");
    assert_eq!(verdict(&upto("(distinct n 100)")), "unknown");
}

/// Thirty choices between two rules that are both right: too many to try them in order.
#[test]
fn many_choices_are_made_at_random() {
    let text = format!(
        "(declare-fun warm (Kind) Bool)
(declare-fun many (Kinds Nat) Bool)
(assert (warm red))
(assert (warm green))
(assert (many none zero))
(assert (forall ((k Kind) (x Kinds) (n Nat))
    (=> (and (warm k) (many x n)) (many (more k x) (succ n)))))
(assert (forall ((x Kinds)) (=> (many x {}) false)))",
        peano(30)
    );
    assert_eq!(verdict(&text), "unsat");
    assert_eq!(
        verdict(&text.replace("(warm k)", "(warm k) (= k blue)")),
        "unknown"
    );
}
