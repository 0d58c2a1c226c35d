//! Proofs with facts as conclusions, and changes that break them.
//!
//! # Invariant
//! Each change breaks its proof, unless it has no message.

use super::data::Proof;

/// An order of natural numbers is transitive.
pub const ORDER: Proof = Proof {
    name: "order",
    clauses: "(set-logic HORN)
(declare-datatypes ((Nat 0)) (((Z) (S (p Nat)))))
(declare-fun le (Nat Nat) Bool)
(declare-fun gt (Nat Nat) Bool)
(assert (forall ((y Nat)) (le Z y)))
(assert (forall ((x Nat) (y Nat)) (=> (le x y) (le (S x) (S y)))))
(assert (forall ((x Nat)) (gt (S x) Z)))
(assert (forall ((x Nat) (y Nat)) (=> (gt x y) (gt (S x) (S y)))))
(assert (forall ((x Nat) (y Nat) (z Nat)) (=> (and (le x y) (le y z) (gt x z)) false)))",
    witness: "; relational T ((le a b) (le c d)) (= b c) :concludes (le a d) :proof (:split 0 (:apply (le 0) ((u 1 1)) (u) () (:goal (2))) (:split 1 (:use) (:add (T 2 3) () (:apply (le 1 4) ((u 4 0) (v 4 1)) (u v) () (:goal (5))))))
; relational K ((le a b) (gt c d)) (not (and (= a c) (= b d))) :measured (1) :proof (:split 1 (:split 0 (:use) (:use)) (:split 0 (:use) (:apply (le 1 3) ((u 3 0) (v 3 1)) (u v) () (:split 4 (:use) (:use (K 5 2))))))
; relational Q ((le a b) (le c d) (gt e f)) (not (and (= b c) (= a e) (= d f))) :group 1 :proof (:add (T 0 1) () (:use (K 3 2)))
; query 0 :use (Q 0 1 2)",
    twin: ("(gt x z)) false", "(gt z x)) false"),
    breaks: &[
        ("a fact for a clause that is missing", "(:apply (le 1 4)", "(:apply (le 1)", "not as many facts as body atoms"),
        ("a fact too many for a clause", "(:apply (le 0)", "(:apply (le 0 0)", "not as many facts as body atoms"),
        ("a fact of another predicate for a clause", "(:apply (le 1 3)", "(:apply (le 1 2)", "atom 2 is no such fact"),
        ("a fact that is not there for a clause", "(:apply (le 1 4)", "(:apply (le 1 5)", "atom 5 is no such fact"),
        ("another fact for a clause", "(:apply (le 1 4)", "(:apply (le 1 3)", "clause 1 for atom 5 does not hold"),
        ("a clause that is not there", "(:apply (le 1 4)", "(:apply (le 2 4)", "a clause that is not there"),
        ("a clause of another predicate", "(:apply (le 0)", "(:apply (gt 0)", "atom 2 is no such fact"),
        ("a value too few", "(u) () (:goal (2))", "() () (:goal (2))", "not as many values as variables"),
        ("a value too many", "(u) () (:goal (2))", "(u u) () (:goal (2))", "not as many values as variables"),
        ("another value", "(u) () (:goal (2))", "(Z) () (:goal (2))", "lemma T, case 0 of atom 0 does not hold"),
        ("a value of another sort", "(u) () (:goal (2))", "(true) () (:goal (2))", "Z3 rejects the proof"),
        ("a value of another variable", "(u) () (:goal (2))", "(v) () (:goal (2))", "Z3 rejects the proof"),
        ("swapped values", "((u 4 0) (v 4 1)) (u v)", "((u 4 0) (v 4 1)) (v u)", "clause 1 for atom 5 does not hold"),
        ("a name for an argument that is not there", "(v 4 1)", "(v 4 2)", "a value that is not given"),
        ("a name for an atom that is not there", "(v 4 1)", "(v 5 1)", "a value that is not given"),
        ("a name without argument", "(v 4 1)", "(v 4)", "a name and an argument are needed"),
        ("a name that is a term", "((u 1 1))", "(((u) 1 1))", "a name and an argument are needed"),
        ("a value with a name", "(u) () (:goal (2))", "((! u :named w)) () (:goal (2))", "without attributes"),
        ("another fact as conclusion", "(:goal (5))", "(:goal (4))", "lemma T, case 1 of atom 0, case 1 of atom 1 does not hold"),
        ("no fact as conclusion", "(:goal (5))", "(:goal ())", "lemma T, case 1 of atom 0, case 1 of atom 1 does not hold"),
        ("one of several facts as conclusion", "(:goal (5))", "(:goal (4 5))", ""),
        ("a fact that is not there as conclusion", "(:goal (5))", "(:goal (6))", "atom 6 is no such fact"),
        ("a leaf that does not reach the conclusion", "(:goal (2))", "(:use)", "lemma T, case 0 of atom 0 does not hold"),
        ("a conclusion with other arguments", ":concludes (le a d)", ":concludes (le d a)", "does not hold"),
        ("a conclusion with a larger argument", ":concludes (le a d)", ":concludes (le (S a) d)", "does not hold"),
        ("a conclusion of another predicate", ":concludes (le a d)", ":concludes (gt a d)", "atom 2 is no such fact"),
        ("a conclusion with an argument too few", ":concludes (le a d)", ":concludes (le a)", "another number of arguments"),
        ("a conclusion of an unknown predicate", ":concludes (le a d)", ":concludes (lt a d)", "there is no predicate lt"),
        ("a conclusion with a free variable", ":concludes (le a d)", ":concludes (le a e)", "Z3 rejects the proof"),
        ("a conclusion of another sort", ":concludes (le a d)", ":concludes (le a true)", "Z3 rejects the proof"),
        ("two conclusions", ":concludes (le a d)", ":concludes (le a d) :concludes (le a d)", "has no place in a lemma"),
        ("no conclusion", ":concludes (le a d) ", "", "concludes no fact"),
        ("a goal without conclusion", "(:use (K 3 2))", "(:goal (3))", "lemma Q concludes no fact"),
        ("a conclusion that is not used as one", "(:add (T 0 1) () (:use (K 3 2)))", "(:use (T 0 1))", "says nothing but that there is a fact"),
        ("a conclusion at a leaf", "(:add (T 0 1) () (:use (K 3 2)))", "(:add (T 0 1) () (:use (K 3 2) (T 0 1)))", "says nothing but that there is a fact"),
        ("a conclusion in a query", ":use (Q 0 1 2)", ":use (T 0 1)", "says nothing but that there is a fact"),
        ("a statement as a fact", "(:add (T 0 1) ()", "(:add (K 0 2) ()", "K concludes no fact"),
        ("an assumption that does not hold", "(:add (T 0 1) ()", "(:add (T 1 0) ()", "what T assumes does not hold"),
        ("an assumption that is missing", "(= b c) :concludes", "true :concludes", "does not hold"),
        ("an assumption without its lemma", "(:add (T 0 1) ()", "(:add (T 0 1) ((Q 0 1 2))", "Q that is not smaller"),
        ("the lemma itself for a fact", "(:add (T 2 3) ()", "(:add (T 0 1) ()", "T that is not smaller"),
        ("the lemma itself for its slots in part", "(:add (T 2 3) ()", "(:add (T 2 1) ()", "T, case 1 of atom 0, case 1 of atom 1, what T assumes does not hold"),
        ("an added fact at a measured slot", "(:apply (le 1 4) ((u 4 0)", "(:add (T 4 3) () (:apply (le 1 4) ((u 4 0)", "does not end on its line"),
        ("an added fact at a slot that is measured", "(:add (T 2 3) () (:apply (le 1 4)", "(:add (T 2 3) () (:add (T 4 3) () (:use)) (:apply (le 1 4)", "neither `:use`"),
        ("an added fact for the lemma itself", "(:apply (le 1 4) ((u 4 0) (v 4 1)) (u v) () (:goal (5)))", "(:add (T 4 3) () (:goal (5)))", "T that is not smaller"),
        ("premises of an added fact at a measured slot", ":measured (1)", ":measured (0 1)", "K that is not smaller"),
        ("premises of an added fact as the measured slot", ":measured (1)", ":measured (0)", "K that is not smaller"),
        ("a fact of a later group", ":concludes (le a d)", ":concludes (le a d) :group 2", "T that is not smaller"),
        ("a fact of the same group for the same slots", "(not (and (= b c) (= a e) (= d f))) :group 1", "(not (and (= b c) (= a e) (= d f)))", ""),
        ("a fact of the same group for slots that are not there", "(not (and (= b c) (= a e) (= d f))) :group 1", "(not (and (= b c) (= a e) (= d f))) :measured (0 2)", "T that is not smaller"),
        ("a lemma before it is proven", "(:goal (2))", "(:goal (2) (Q 0 1 2))", "another predicate"),
        ("a missing case for an added fact", "(:split 4 (:use) (:use (K 5 2)))", "(:split 4 (:use (K 5 2)))", "1 cases for 2 clauses"),
        ("an added fact that is split twice", "(:split 4 (:use) (:use (K 5 2)))", "(:split 4 (:use) (:split 4 (:use) (:use (K 5 2))))", "atom 4 is split twice"),
        ("an added fact without its node", "(:add (T 0 1) () (:use (K 3 2)))", "(:add (T 0 1) ())", "neither `:use`"),
        ("an added fact without its list", "(:add (T 0 1) () (:use (K 3 2)))", "(:add (T 0 1) (:use (K 3 2)))", "neither `:use`"),
        ("a fact that was not added", "(:add (T 0 1) () (:use (K 3 2)))", "(:use (K 3 2))", "at atom 3, which is not there"),
    ],
};

/// Insertion adds one to the number of times that an element occurs.
pub const INSERTED: Proof = Proof {
    name: "inserted",
    clauses: "(set-logic HORN)
(declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))
(declare-fun ins (Int List List) Bool)
(declare-fun cnt (Int List Int) Bool)
(assert (forall ((x Int)) (ins x nil (cons x nil))))
(assert (forall ((x Int) (y Int) (t List)) (=> (<= x y) (ins x (cons y t) (cons x (cons y t))))))
(assert (forall ((x Int) (y Int) (t List) (u List))
  (=> (and (ins x t u) (> x y)) (ins x (cons y t) (cons y u)))))
(assert (forall ((x Int)) (cnt x nil 0)))
(assert (forall ((x Int) (t List) (n Int)) (=> (cnt x t n) (cnt x (cons x t) (+ n 1)))))
(assert (forall ((x Int) (y Int) (t List) (n Int))
  (=> (and (cnt x t n) (distinct x y)) (cnt x (cons y t) n))))
(assert (forall ((x Int) (a List) (b List) (n Int) (m Int))
  (=> (and (ins x a b) (cnt x a n) (cnt x b m) (distinct m (+ n 1))) false)))",
    witness: "; relational F ((cnt x a n) (cnt y b m)) (=> (and (= x y) (= a b)) (= n m)) :proof (:split 0 (:split 1 (:use) (:use) (:use)) (:split 1 (:use) (:use (F 2 3)) (:use)) (:split 1 (:use) (:use) (:use (F 2 3))))
; relational C ((ins x a b) (cnt z c n)) (and (= x z) (= a c)) :concludes (cnt x b (+ n 1)) :proof (:split 0 (:apply (cnt 1 1) ((x 1 0) (c 1 1) (n 1 2)) (x c n) () (:goal (2))) (:apply (cnt 1 1) ((x 1 0) (c 1 1) (n 1 2)) (x c n) () (:goal (2))) (:split 1 (:use) (:use) (:add (C 2 3) () (:apply (cnt 2 4) ((x 0 0) (b 0 2) (u 2 2) (n 1 2)) (x (head b) u (+ n 1)) () (:goal (5))))))
; relational Q ((ins x a b) (cnt y c n) (cnt z d m)) (=> (and (= x y) (= x z) (= a c) (= b d)) (= m (+ n 1))) :group 1 :proof (:add (C 0 1) () (:use (F 3 2)))
; query 0 :use (Q 0 1 2)",
    twin: ("(distinct m (+ n 1))", "(= m (+ n 1))"),
    breaks: &[
        ("a clause whose constraint does not hold", "(:apply (cnt 2 4) ((x 0 0) (b 0 2) (u 2 2) (n 1 2)) (x (head b) u (+ n 1))", "(:apply (cnt 2 4) ((x 0 0) (b 0 2) (u 2 2) (n 1 2)) (x x u (+ n 1))", "clause 5 for atom 5 does not hold"),
        ("a clause for the other case", "(:apply (cnt 2 4) ((x 0 0) (b 0 2) (u 2 2) (n 1 2)) (x (head b) u (+ n 1))", "(:apply (cnt 1 4) ((x 0 0) (b 0 2) (u 2 2) (n 1 2)) (x u (+ n 1))", "case 2 of atom 1 does not hold"),
        ("a value of the clause that is not the fact's", "u (+ n 1)) () (:goal (5))", "u n) () (:goal (5))", "clause 5 for atom 5 does not hold"),
        ("the number of the other list", "(cnt x b (+ n 1))", "(cnt x b n)", "does not hold"),
        ("a conclusion about all elements", "(and (= x z) (= a c)) :concludes", "(= a c) :concludes", "does not hold"),
        ("a conclusion about all lists", "(and (= x z) (= a c)) :concludes", "(= x z) :concludes", "does not hold"),
        ("functions without their lemma", "(:add (C 0 1) () (:use (F 3 2)))", "(:add (C 0 1) () (:use))", "lemma Q does not hold"),
        ("facts as conclusions without their query", "(:use (F 3 2)))\n; query 0 :use (Q 0 1 2)", "(:use (F 3 2)))\n; query 0 :use (F 1 2)", "query 0 does not hold"),
    ],
};

/// Lemmas that use themselves, about clauses that have no model (see `CIRCLES`).
pub const CIRCLES_OF_FACTS: &[(&str, &str)] = &[
    (
        "of conclusions",
        "; relational A ((fib a b)) true :concludes (fib a (+ b 1)) :proof (:add (B 0) () (:goal (1)))
; relational B ((fib a b)) true :concludes (fib a (+ b 1)) :proof (:add (A 0) () (:goal (1)))
; query 0 :use",
    ),
    (
        "of a conclusion with itself",
        "; relational A ((fib a b)) true :concludes (fib a (+ b 1)) :proof (:add (A 0) () (:goal (1)))
; query 0 :use",
    ),
    (
        "of groups of conclusions",
        "; relational A ((fib a b)) true :concludes (fib a (+ b 1)) :group 1 :proof (:add (B 0) () (:goal (1)))
; relational B ((fib a b)) true :concludes (fib a (+ b 1)) :proof (:add (A 0) () (:goal (1)))
; query 0 :use",
    ),
    (
        "of an added fact",
        "; relational I ((fib a b)) true :concludes (fib a b) :proof (:goal (0))
; relational A ((fib a b)) false :group 1 :proof (:add (I 0) () (:use (A 1)))
; query 0 :use (A 0)",
    ),
    (
        "of premises of an added fact",
        "; relational I ((fib a b)) true :concludes (fib a b) :proof (:goal (0))
; relational A ((fib a b)) (< a 2) :group 1 :proof (:add (I 0) () (:split 1 (:use) (:use (A 2))))
; query 0 :use (A 0)",
    ),
    (
        "of premises of the head of a clause",
        "; relational A ((fib a b)) (< a 2) :proof (:split 0 (:use) (:apply (fib 1 1 2) ((a 0 0) (b 1 1) (c 2 1)) (a b c) () (:split 3 (:use) (:use (A 4)))))
; query 0 :use (A 0)",
    ),
    (
        "of what an instance assumes",
        "; relational A ((fib a b)) (< a 2) :concludes (fib a (+ b 1)) :proof (:add (A 0) ((B 0)) (:goal (1)))
; relational B ((fib a b)) (< a 2) :proof (:use (B 0))
; query 0 :use (B 0)",
    ),
    (
        "of a ghost of a conclusion without measure",
        "; relational A ((fib a b)) true :concludes (fib a (+ b 1)) :measured () :proof (:split 0 (:add (A 0) () (:goal (1))) (:add (A 0) () (:goal (3))))
; query 0 :use",
    ),
];
