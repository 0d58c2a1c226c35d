//! Proofs by induction on derivations, and changes that break them.
//!
//! # Invariant
//! Only data without names of the library, since a test with other solvers includes this file, too.

/// Clauses with a correct proof, and what breaks it.
pub struct Proof {
    pub name: &'static str,
    pub clauses: &'static str,
    pub witness: &'static str,
    /// A part of the clauses, and what in its place makes them unsatisfiable.
    pub twin: (&'static str, &'static str),
    /// A name, a part of the witness, what replaces it, and a part of the message.
    pub breaks: &'static [(&'static str, &'static str, &'static str, &'static str)],
}

/// Fibonacci's function is monotone.
pub const FIB: Proof = Proof {
    name: "fib",
    clauses: "(set-logic HORN)
(declare-fun fib (Int Int) Bool)
(assert (forall ((x Int)) (=> (< x 2) (fib x 1))))
(assert (forall ((x Int) (y Int) (z Int))
  (=> (and (>= x 2) (fib (- x 1) y) (fib (- x 2) z)) (fib x (+ y z)))))
(assert (forall ((m Int) (a Int) (n Int) (b Int))
  (=> (and (fib m a) (fib n b) (< m n) (> a b)) false)))",
    witness: "; relational L0 ((fib a b)) (>= b 1) :group 0 :proof (:split 0 (:use) (:use (L0 1) (L0 2)))
; relational L1 ((fib a b) (fib c d)) (=> (< a c) (<= b d)) :group 1 :proof (:split 0 (:use (L0 1)) (:split 1 (:use) (:use (L1 2 4) (L1 3 5))))
; query 0 :use (L1 0 1)",
    twin: ("(> a b)", "(>= a b)"),
    breaks: &[
        ("a missing case", "(:split 0 (:use) (:use (L0 1)", "(:split 0 (:use (L0 1)", "1 cases for 2 clauses"),
        ("a case too many", "(:split 0 (:use)", "(:split 0 (:use) (:use)", "3 cases for 2 clauses"),
        ("a missing inner case", "(:split 1 (:use) ", "(:split 1 ", "1 cases for 2 clauses"),
        ("no induction", "(:split 0 (:use) (:use (L0 1) (L0 2)))", "(:use (L0 0))", "L0 that is not smaller"),
        ("no induction for a pair", "(:split 0 (:use (L0 1)) (:split 1 (:use) (:use (L1 2 4) (L1 3 5))))", "(:use (L1 0 1))", "L1 that is not smaller"),
        ("swapped slots", "(:split 0 (:use (L0 1)) (:split 1 (:use) (:use (L1 2 4) (L1 3 5))))", "(:use (L1 1 0))", "L1 that is not smaller"),
        ("both premises of one slot beside it", "(L1 2 4) (L1 3 5)", "(L1 2 0) (L1 3 5)", "L1 that is not smaller"),
        ("a slot twice", "(L1 2 4) (L1 3 5)", "(L1 1 1)", "L1 that is not smaller"),
        ("a premise below a slot that is there", "(L1 2 4) (L1 3 5)", "(L1 1 4)", "L1 that is not smaller"),
        ("an atom that is not there", "(L1 2 4)", "(L1 2 6)", "at atom 6, which is not there"),
        ("an atom of another case", "(:use (L0 1)) (:split 1", "(:use (L0 2)) (:split 1", "at atom 2, which is not there"),
        ("too few atoms", "(L1 2 4)", "(L1 2)", "another number of atoms"),
        ("too many atoms", "(L0 2)", "(L0 2 1)", "another number of atoms"),
        ("a later group", ":group 0", ":group 2", "L0 that is not smaller"),
        ("an unneeded instance of a later group", "(:use (L0 1) (L0 2))", "(:use (L0 1) (L0 2) (L1 1 2))", "L1 that is not smaller"),
        ("a leaf without its lemma", "(:use (L0 1)) (:split 1", "(:use) (:split 1", "lemma L1, case 0 of atom 0 does not hold"),
        ("a leaf without an instance", "(L1 2 4) (L1 3 5)", "(L1 2 4)", "lemma L1, case 1 of atom 0, case 1 of atom 1 does not hold"),
        ("a leaf with another instance", "(L1 2 4) (L1 3 5)", "(L1 2 5) (L1 3 4)", "does not hold"),
        ("a stronger lemma", "(>= b 1)", "(>= b 2)", "lemma L0, case 0 of atom 0 does not hold"),
        ("a weaker lemma", "(>= b 1)", "(>= b 0)", "lemma L1, case 0 of atom 0 does not hold"),
        ("a false lemma", "(<= b d)", "(< b d)", "does not hold"),
        ("a true lemma without induction", "(<= b d)", "(<= b (+ d 1))", "does not hold"),
        ("a split of an atom that is not there", "(:split 1 (:use)", "(:split 4 (:use)", "a split of atom 4"),
        ("a split that is there twice", "(:split 1 (:use)", "(:split 0 (:use)", "atom 0 is split twice"),
        ("a query without its lemma", "; query 0 :use (L1 0 1)", "; query 0 :use", "query 0 does not hold"),
        ("a query with swapped atoms", "; query 0 :use (L1 0 1)", "; query 0 :use (L1 1 0)", "query 0 does not hold"),
        ("a query with a missing atom", "; query 0 :use (L1 0 1)", "; query 0 :use (L1 0 2)", "at atom 2, which is not there"),
        ("no query", "\n; query 0 :use (L1 0 1)", "", "0 queries, where the clauses have 1"),
        ("two queries", "; query 0 :use (L1 0 1)", "; query 0 :use (L1 0 1)\n; query 1 :use", "2 queries, where the clauses have 1"),
        ("a query with another number", "; query 0", "; query 1", "queries are numbered in order"),
        ("an unknown lemma", "(L1 0 1)", "(L2 0 1)", "there is no lemma L2"),
        ("two lemmas of a name", "relational L0", "relational L1", "two lemmas of this name"),
        ("an unknown predicate", "((fib a b)) (>=", "((fab a b)) (>=", "there is no predicate fab"),
        ("a predicate with fewer arguments", "((fib a b)) (>= b 1)", "((fib b)) (>= b 1)", "another number of arguments"),
        ("a free variable", "(>= b 1)", "(>= e 1)", "Z3 rejects the proof"),
        ("a term as statement", "(>= b 1)", "(+ b 1)", "Z3 rejects the proof"),
        ("a number as argument", "((fib a b)) (>= b 1)", "((fib 1 b)) (>= b 1)", "Z3 rejects the proof"),
        ("a compound argument", "((fib a b)) (>= b 1)", "((fib (+ a 1) b)) (>= b 1)", "arguments are names"),
        ("a group that is no number", ":group 0", ":group x", "a number is needed"),
        ("an unknown keyword", ":group 0", ":groups 0", ":groups has no place in a lemma"),
        ("a measured slot that is not there", ":group 0", ":measured (1)", "distinct positions"),
        ("a measured slot twice", ":group 0", ":measured (0 0)", "distinct positions"),
        ("a slot that is not measured", ":group 1", ":group 1 :measured (0)", ""),
        ("a lemma that measures nothing", ":group 0", ":measured ()", "L0 that is not smaller"),
        ("a lemma without proof", " :proof (:split 0 (:use) (:use (L0 1) (L0 2)))", "", "has no proof"),
        ("an unknown node", "(:use (L0 1) (L0 2))", "(:by (L0 1) (L0 2))", "neither `:use`"),
        ("a node without its atom", "(:split 1 (:use)", "(:split (:use)", "a number is needed"),
        ("a line that does not end", "(L0 2)))\n", "(L0 2))\n", "does not end on its line"),
        ("a command behind the statement", "(>= b 1)", "(>= b 1))(assert false", "does not end on its line"),
        ("tokens that solvers split", "(>= b 1)", "(>= b 1)0x", "solvers may read this differently"),
    ],
};

/// A sum with an accumulator is a sum.
pub const SUM: Proof = Proof {
    name: "sum",
    clauses: "(set-logic HORN)
(declare-fun sum (Int Int) Bool)
(declare-fun acc (Int Int Int) Bool)
(assert (forall ((x Int)) (=> (<= x 0) (sum x 0))))
(assert (forall ((x Int) (y Int)) (=> (and (> x 0) (sum (- x 1) y)) (sum x (+ x y)))))
(assert (forall ((x Int) (y Int)) (=> (<= x 0) (acc x y y))))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (> x 0) (acc (- x 1) (+ y x) z)) (acc x y z))))
(assert (not (exists ((a Int) (b Int) (c Int)) (and (sum a b) (acc a 0 c) (distinct b c)))))",
    witness: "; relational L0 ((sum a b) (acc a2 d c)) (=> (= a a2) (= c (+ b d))) :proof (:split 0 (:split 1 (:use) (:use)) (:split 1 (:use) (:use (L0 2 3))))
; query 0 :use (L0 0 1)",
    twin: ("(acc a 0 c)", "(acc a 1 c)"),
    breaks: &[
        ("an atom of another predicate", "(L0 2 3)", "(L0 3 2)", "an atom of another predicate"),
        ("a slot of another predicate", "((sum a b) (acc", "((acc a b e) (acc", "another predicate"),
        ("one slot and a premise of it", "(L0 2 3)", "(L0 0 3)", "does not hold"),
        ("the slots themselves", "(L0 2 3)", "(L0 0 1)", "L0 that is not smaller"),
        ("a measure that does not fall", "(L0 2 3)", "(L0 2 1)", "does not hold"),
        ("a lemma without the accumulator", "(+ b d)", "b", "does not hold"),
        ("a missing premise", "(=> (= a a2) (= c (+ b d)))", "(= c (+ b d))", "does not hold"),
        ("a premise that is always false", "(= a a2)", "(< a a)", "query 0 does not hold"),
        ("a shorter split", "(:split 1 (:use) (:use)) (:split 1", "(:use) (:split 1", "does not hold"),
    ],
};

/// Two versions of a parity, mutually recursive, as rules.
pub const PARITY: Proof = Proof {
    name: "parity",
    clauses: "(declare-rel even (Int Bool))
(declare-rel odd (Int Bool))
(declare-var x Int)
(declare-var v Bool)
(declare-var w Bool)
(rule (even 0 true))
(rule (odd 0 false))
(rule (=> (and (> x 0) (odd (- x 1) v)) (even x v)))
(rule (=> (and (> x 0) (even (- x 1) v)) (odd x v)))
(declare-rel same ())
(rule (=> (and (even x v) (odd x w) (= v w)) same))
(query same)",
    witness: "; relational P ((even x v) (odd y w)) (=> (= x y) (distinct v w)) :proof (:split 0 (:split 1 (:use) (:use)) (:split 1 (:use) (:use (P 3 2))))
; relational Q ((same)) false :group 1 :proof (:split 0 (:use (P 1 2)))
; query 0 :use (Q 0)",
    twin: ("(= v w)", "(distinct v w)"),
    breaks: &[
        ("a circle of groups", ":proof (:split 0 (:split 1", ":group 2 :proof (:split 0 (:split 1", "P that is not smaller"),
        ("the other way round", "(P 3 2)", "(P 2 3)", "an atom of another predicate"),
        ("a circle of positions", "false :group 1 :proof (:split 0 (:use (P 1 2)))", "false :proof (:use (Q 0))", "Q that is not smaller"),
        ("no split", "(:split 0 (:use (P 1 2)))", "(:use)", "lemma Q does not hold"),
    ],
};

/// Products commute: the fact for the other factor less one is a ghost.
pub const PRODUCT: Proof = Proof {
    name: "product",
    clauses: "(set-logic HORN)
(declare-fun mult (Int Int Int) Bool)
(assert (forall ((y Int)) (mult 0 y 0)))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (> x 0) (mult (- x 1) y z)) (mult x y (+ z y)))))
(assert (forall ((a Int) (b Int) (c Int) (d Int))
  (=> (and (mult a b c) (mult b a d) (>= b 0) (distinct c d)) false)))",
    witness: "; total T0 (mult x y z) (>= x 0) :outputs (2) :group 0 :measure (0 (1 0 0)) :cases ((0) (1 (T0 ((-1 (1 0 0)) (0 (1 0 1))))))
; relational Z ((mult x y z)) (=> (= y 0) (= z 0)) :proof (:split 0 (:use) (:use (Z 1)))
; relational S ((mult x y z) (mult u v w)) (=> (and (= x u) (= y (+ v 1))) (= z (+ w x))) :proof (:split 0 (:split 1 (:use) (:use)) (:split 1 (:use) (:use (S 2 3))))
; relational C ((mult x y z) (mult u v w)) (=> (and (= x v) (= y u) (>= u 0)) (= z w)) :group 1 :measured (0) :proof (:split 0 (:use (Z 1)) (:ghost (T0 ((0 (1 1 0)) (-1 (1 1 1)))) (:use (C 2 3) (S 1 3))))
; query 0 :use (C 0 1)",
    twin: ("(distinct c d)", "(= c d)"),
    breaks: &[
        ("a ghost outside the domain", "(= y u) (>= u 0)", "(= y u) (>= u (- 1))", "the domain of a ghost does not hold"),
        ("a ghost as the measured slot", ":measured (0)", ":measured (1)", "C that is not smaller"),
        ("a ghost where all slots are measured", ":group 1 :measured (0)", ":group 1", "C that is not smaller"),
        ("a ghost with other inputs", "(-1 (1 1 1))", "(-2 (1 1 1))", "lemma C, case 1 of atom 0 does not hold"),
        ("a ghost of values that are not there", "(T0 ((0 (1 1 0))", "(T0 ((0 (1 3 0))", "a value that is not given"),
        ("a ghost of an argument that is not there", "(T0 ((0 (1 1 0))", "(T0 ((0 (1 1 3))", "a value that is not given"),
        ("a ghost of an unknown statement", "(:ghost (T0", "(:ghost (T1", "there is no statement T1"),
        ("a ghost with an input too few", "((0 (1 1 0)) (-1 (1 1 1)))", "((0 (1 1 0)))", "a statement about another predicate"),
        ("a ghost without its statement", "(:ghost (T0 ((0 (1 1 0)) (-1 (1 1 1)))) (:use", "(:ghost (:use", "neither `:use`"),
        ("no ghost", "(:ghost (T0 ((0 (1 1 0)) (-1 (1 1 1)))) (:use (C 2 3) (S 1 3)))", "(:use (C 2 3) (S 1 3))", "at atom 3, which is not there"),
        ("a ghost that is split", "(:use (C 2 3) (S 1 3))", "(:split 3 (:use (C 2 3) (S 1 3)) (:use (C 4 3)))", "C that is not smaller"),
        ("a statement for all inputs", "(>= x 0) :outputs", "true :outputs", "the statement T0 does not hold"),
        ("a measure of another input", ":measure (0 (1 0 0))", ":measure (0 (1 0 1))", "the statement T0 does not hold"),
        ("a constant measure", ":measure (0 (1 0 0))", ":measure (1)", "the statement T0 does not hold"),
        ("a negative measure", ":measure (0 (1 0 0))", ":measure (-1 (1 0 0) (-2 0 0))", "the statement T0 does not hold"),
        ("a measure of an output", ":measure (0 (1 0 0))", ":measure (0 (1 0 2))", "a value that is not given"),
        ("a measure of another atom", ":measure (0 (1 0 0))", ":measure (0 (1 1 0))", "a value that is not given"),
        ("a statement without a case", ":cases ((0) (1", ":cases ((1", "the statement T0 does not hold"),
        ("a statement without cases", "((0) (1 (T0 ((-1 (1 0 0)) (0 (1 0 1))))))", "()", "the statement T0 does not hold"),
        ("a case without its fact", "(1 (T0 ((-1 (1 0 0)) (0 (1 0 1)))))", "(1)", "not as many facts as body atoms"),
        ("a case of a clause that is not there", "((0) (1 (T0", "((0) (2 (T0", "a clause that is not there"),
        ("a fact for the same inputs", "(-1 (1 0 0)) (0 (1 0 1))", "(0 (1 0 0)) (0 (1 0 1))", "the statement T0 does not hold"),
        ("a fact for other inputs", "(-1 (1 0 0)) (0 (1 0 1))", "(-1 (1 0 0)) (1 (1 0 1))", "the statement T0 does not hold"),
        ("a fact for its own output", "(-1 (1 0 0)) (0 (1 0 1))", "(-1 (1 0 0)) (0 (1 1 2))", "a value that is not given"),
        ("a statement of a later group", ":outputs (2) :group 0", ":outputs (2) :group 2", "a statement of a larger group"),
        ("a lemma of a statement's group", "(0 (1 0 1)))", "(0 (1 0 1))) (Z 1)", "a lemma of no smaller group"),
        ("a lemma about the head", ":outputs (2) :group 0 :measure (0 (1 0 0)) :cases ((0) (1 (T0 ((-1 (1 0 0)) (0 (1 0 1)))", ":outputs (2) :group 1 :measure (0 (1 0 0)) :cases ((0) (1 (T0 ((-1 (1 0 0)) (0 (1 0 1))) (Z 0)", "at other atoms"),
        ("an input that is no output", ":outputs (2)", ":outputs (1)", "a value that is not given"),
        ("outputs out of order", ":outputs (2)", ":outputs (2 1)", "ascending positions"),
        ("an output that is not there", ":outputs (2)", ":outputs (3)", "ascending positions"),
        ("a domain that speaks of the output", "(>= x 0) :outputs", "(>= z 0) :outputs", "Z3 rejects the proof"),
        ("a statement with an unknown keyword", ":outputs (2)", ":output (2)", "has no place in a statement"),
        ("two statements of a name", "; relational Z", "; total T0 (mult x y z) false\n; relational Z", "two lemmas of this name"),
        ("a sum without constant", "(-1 (1 1 1))", "()", "a constant is needed"),
        ("a factor without argument", "(-1 (1 1 1))", "(-1 (1 1))", "a factor and an argument"),
    ],
};

/// All proofs without facts as conclusions.
pub const PROOFS: [&Proof; 4] = [&FIB, &SUM, &PARITY, &PRODUCT];

/// Two lemmas that are the same and use each other, about clauses that have no model.
pub const CIRCLES: &[(&str, &str)] = &[
    (
        "of positions",
        "; relational A ((fib a b) (fib c d)) (=> (< a c) (< b d)) :proof (:use (B 0 1))
; relational B ((fib a b) (fib c d)) (=> (< a c) (< b d)) :proof (:use (A 0 1))
; query 0 :use (A 0 1)",
    ),
    (
        "of groups",
        "; relational A ((fib a b) (fib c d)) (=> (< a c) (< b d)) :group 1 :proof (:use (B 0 1))
; relational B ((fib a b) (fib c d)) (=> (< a c) (< b d)) :group 2 :proof (:use (A 0 1))
; query 0 :use (A 0 1)",
    ),
    (
        "of measures",
        "; relational A ((fib a b) (fib c d)) (=> (< a c) (< b d)) :measured (0) :proof (:use (B 0 1))
; relational B ((fib a b) (fib c d)) (=> (< a c) (< b d)) :measured (1) :proof (:use (A 0 1))
; query 0 :use (A 0 1)",
    ),
    (
        "of slots that are not measured",
        "; relational A ((fib a b) (fib c d)) (=> (< a c) (< b d)) :measured (0) :proof (:split 1 (:use) (:use (A 0 3)))
; query 0 :use (A 0 1)",
    ),
    (
        "of nothing measured",
        "; relational A ((fib a b) (fib c d)) (=> (< a c) (< b d)) :measured () :proof (:use (A 0 1))
; query 0 :use (A 0 1)",
    ),
];
