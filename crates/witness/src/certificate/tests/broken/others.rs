//! Changes that break other proofs: lemmas with several variables, several cases of one
//! constructor, several measured positions, integers, mutual recursion, sorts without order.

use super::Proof;

/// Appending is associative.
pub const APPEND: Proof = Proof {
    name: "append is associative",
    clauses: "(set-logic HORN)
(declare-datatypes ((List 0)) (((nil) (cons (first Int) (rest List)))))
(declare-fun append (List List List) Bool)
(declare-fun differ (List List) Bool)
(assert (forall ((y List)) (append nil y y)))
(assert (forall ((a Int) (x List) (y List) (z List))
  (=> (append x y z) (append (cons a x) y (cons a z)))))
(assert (forall ((a Int) (x List)) (differ nil (cons a x))))
(assert (forall ((a Int) (x List) (b Int) (y List))
  (=> (distinct a b) (differ (cons a x) (cons b y)))))
(assert (forall ((a Int) (x List) (b Int) (y List))
  (=> (differ x y) (differ (cons a x) (cons b y)))))
(assert (forall ((x List) (y List) (z List) (u List) (v List) (w List) (t List))
  (=> (and (append x y u) (append u z v) (append y z w) (append x w t) (differ v t)) false)))",
    witness: "((define-fun-rec app! ((x List) (y List)) List
  (ite ((_ is nil) x) y (cons (first x) (app! (rest x) y))))
(define-fun append ((x List) (y List) (z List)) Bool (= z (app! x y)))
(define-fun differ ((x List) (y List)) Bool (distinct x y)))
; measure app! (0)
; lemma assoc ((x List) (y List) (z List)) (= (app! (app! x y) z) (app! x (app! y z))) \
:measure (0) \
:case (((_ is nil) x) :unfold ((app! x y) (app! x (app! y z)))) \
:case (((_ is cons) x) :induction (((rest x) y z)) \
:unfold ((app! x y) (app! (app! x y) z) (app! x (app! y z))))",
    breaks: &[
        (
            "no unfolding of a call in the step",
            "(app! (app! x y) z) (app! x (app! y z))))",
            "(app! x (app! y z))))",
            "lemma assoc: case 2 does not hold",
        ),
        (
            "no unfolding of a call in the first case",
            ":unfold ((app! x y) (app! x (app! y z)))",
            ":unfold ((app! x y))",
            "lemma assoc: case 1 does not hold",
        ),
        (
            "the hypothesis for other values of the other variables",
            "((rest x) y z)",
            "((rest x) z y)",
            "lemma assoc: case 2 does not hold",
        ),
        (
            "the measure of a variable that stays",
            ":measure (0)",
            ":measure (1)",
            "an induction hypothesis that is not smaller",
        ),
        (
            "a lemma that is true and not enough",
            "(= (app! (app! x y) z) (app! x (app! y z)))",
            "(= (app! (app! x y) y) (app! (app! x y) y))",
            "the assert in line 13",
        ),
        (
            "a statement with exchanged arguments",
            "(app! x (app! y z))) :measure",
            "(app! x (app! z y))) :measure",
            "lemma assoc: case 1 does not hold",
        ),
        (
            "the tester of a variable that is not measured",
            "((_ is cons) x) :induction",
            "((_ is cons) y) :induction",
            "that its cases cover all values does not hold",
        ),
        (
            "no cases at all",
            ":measure (0) :case",
            ":measure (0)\n; :case",
            "that its cases cover all values does not hold",
        ),
        (
            "a measure that is a number",
            ":measure (0)",
            ":measure 0",
            "a list is needed",
        ),
        (
            "a position that is no number",
            ":measure (0)",
            ":measure (-1)",
            "a position is needed",
        ),
        (
            "a position beyond all numbers",
            "measure app! (0)",
            "measure app! (99999999999999999999999)",
            "a position is needed",
        ),
    ],
};

/// Insertion sort sorts.
pub const SORT: Proof = Proof {
    name: "insertion sort",
    clauses: "(set-logic HORN)
(declare-datatypes ((List 0)) (((nil) (cons (first Int) (rest List)))))
(declare-fun insert (Int List List) Bool)
(declare-fun sort (List List) Bool)
(declare-fun sorted (List Bool) Bool)
(assert (forall ((n Int)) (insert n nil (cons n nil))))
(assert (forall ((n Int) (a Int) (x List))
  (=> (<= n a) (insert n (cons a x) (cons n (cons a x))))))
(assert (forall ((n Int) (a Int) (x List) (y List))
  (=> (and (> n a) (insert n x y)) (insert n (cons a x) (cons a y)))))
(assert (sort nil nil))
(assert (forall ((a Int) (x List) (y List) (z List))
  (=> (and (sort x y) (insert a y z)) (sort (cons a x) z))))
(assert (sorted nil true))
(assert (forall ((a Int)) (sorted (cons a nil) true)))
(assert (forall ((a Int) (b Int) (x List)) (=> (> a b) (sorted (cons a (cons b x)) false))))
(assert (forall ((a Int) (b Int) (x List) (c Bool))
  (=> (and (<= a b) (sorted (cons b x) c)) (sorted (cons a (cons b x)) c))))
(assert (forall ((x List) (y List)) (=> (and (sort x y) (sorted y false)) false)))",
    witness: "((define-fun-rec sorted! ((x List)) Bool
  (or ((_ is nil) x) ((_ is nil) (rest x))
    (and (<= (first x) (first (rest x))) (sorted! (rest x)))))
(define-fun-rec insert! ((n Int) (x List)) List
  (ite ((_ is nil) x) (cons n nil)
    (ite (<= n (first x)) (cons n x) (cons (first x) (insert! n (rest x))))))
(define-fun-rec sort! ((x List)) List
  (ite ((_ is nil) x) nil (insert! (first x) (sort! (rest x)))))
(define-fun insert ((n Int) (x List) (y List)) Bool (= y (insert! n x)))
(define-fun sort ((x List) (y List)) Bool (= y (sort! x)))
(define-fun sorted ((x List) (b Bool)) Bool (= b (sorted! x))))
; measure sorted! (0)
; measure insert! (1)
; measure sort! (0)
; lemma keeps ((n Int) (x List)) (= (sorted! x) (sorted! (insert! n x))) :measure (1) \
:case (((_ is nil) x) :unfold ((sorted! x) (insert! n x) (sorted! (cons n nil)))) \
:case ((and ((_ is cons) x) ((_ is nil) (rest x))) :unfold ((sorted! x) (insert! n x) \
(insert! n (rest x)) (sorted! (cons n x)) (sorted! (cons (first x) (cons n (rest x)))) \
(sorted! (cons n (rest x))))) \
:case ((and ((_ is cons) x) ((_ is cons) (rest x))) :induction ((n (rest x))) \
:unfold ((sorted! x) (insert! n x) (insert! n (rest x)) (sorted! (cons n x)) \
(sorted! (cons (first x) (insert! n (rest x))))))
; lemma sorts ((x List)) (sorted! (sort! x)) :measure (0) \
:case (((_ is nil) x) :unfold ((sort! x) (sorted! nil))) \
:case (((_ is cons) x) :induction (((rest x))) :use ((keeps (first x) (sort! (rest x)))) \
:unfold ((sort! x)))",
    breaks: &[
        (
            "no case of a single element",
            ":case ((and ((_ is cons) x) ((_ is nil) (rest x)))",
            ":case ((and ((_ is nil) x) ((_ is nil) (rest x)))",
            "lemma keeps: that its cases cover all values does not hold",
        ),
        (
            "no hypothesis for a longer list",
            ":induction ((n (rest x))) ",
            "",
            "lemma keeps: case 3 does not hold",
        ),
        (
            "a guard that leaves out the second element",
            "((_ is cons) x) ((_ is cons) (rest x))",
            "((_ is cons) x) ((_ is cons) x)",
            "lemma keeps: case 3 does not hold",
        ),
        (
            "the hypothesis for another number",
            "((n (rest x)))",
            "(((+ n 1) (rest x)))",
            "lemma keeps: case 3 does not hold",
        ),
        (
            "a number in the measure that does not fall",
            "n x))) :measure (1)",
            "n x))) :measure (0)",
            "that an induction hypothesis of case 3 is smaller does not hold",
        ),
        (
            "no unfolding of a call in a call",
            " (sorted! (cons (first x) (insert! n (rest x))))",
            "",
            "lemma keeps: case 3 does not hold",
        ),
        (
            "an instance for the whole list",
            "(keeps (first x) (sort! (rest x)))",
            "(keeps (first x) (sort! x))",
            "lemma sorts: case 2 does not hold",
        ),
        (
            "an instance of a lemma that follows",
            ":case (((_ is nil) x) :unfold ((sorted! x)",
            ":case (((_ is nil) x) :use ((sorts x)) :unfold ((sorted! x)",
            "lemma sorts is not proven before, and its instance is not smaller",
        ),
        (
            "a part whose list may be empty",
            "(or ((_ is nil) x) ((_ is nil) (rest x))",
            "(or ((_ is nil) (rest x))",
            "function sorted!: that a call of sorted! has smaller arguments does not hold",
        ),
        (
            "a connective that decides too late",
            "(or ((_ is nil) x) ((_ is nil) (rest x))
    (and (<= (first x) (first (rest x))) (sorted! (rest x))))",
            "(=> (sorted! (rest x)) ((_ is nil) x))",
            "function sorted!: that a call of sorted! has smaller arguments does not hold",
        ),
        (
            "recursion in the larger list",
            "(insert! n (rest x))))))\n",
            "(insert! n (insert! n (rest x)))))))\n",
            "function insert!: a call of insert! whose arguments do not become smaller",
        ),
        (
            "a function that does not sort",
            "(ite (<= n (first x)) (cons n x) (cons",
            "(ite (<= (first x) n) (cons n x) (cons",
            "lemma keeps: case 2 does not hold",
        ),
    ],
};

/// The double of an integer by recursion.
pub const DOUBLE: Proof = Proof {
    name: "doubled",
    clauses: "(set-logic HORN) (declare-fun P (Int Int) Bool)
(assert (forall ((n Int)) (=> (<= n 0) (P n 0))))
(assert (forall ((n Int) (r Int)) (=> (and (P (- n 1) r) (> n 0)) (P n (+ r 2)))))
(assert (forall ((n Int) (r Int)) (=> (and (P n r) (> n 3) (< r n)) false)))",
    witness: "((define-fun-rec f! ((n Int)) Int (ite (<= n 0) 0 (+ 2 (f! (- n 1)))))
(define-fun P ((n Int) (r Int)) Bool (= r (f! n))))
; measure f! (0)
; lemma l ((n Int)) (=> (> n 0) (= (f! n) (* 2 n))) :measure (0) \
:case ((> n 1) :induction (((- n 1))) :unfold ((f! n))) \
:case ((= n 1) :unfold ((f! n) (f! (- n 1))))",
    breaks: &[
        (
            "a function of itself",
            "(ite (<= n 0) 0 (+ 2 (f! (- n 1))))",
            "(+ 1 (f! n))",
            "function f!: that a call of f! has smaller arguments does not hold",
        ),
        (
            "an integer that falls without a bound",
            "(ite (<= n 0)",
            "(ite (= n 0)",
            "function f!: that a call of f! has smaller arguments does not hold",
        ),
        (
            "an integer that grows",
            "(+ 2 (f! (- n 1)))",
            "(+ 2 (f! (+ n 1)))",
            "function f!: that a call of f! has smaller arguments does not hold",
        ),
        (
            "a guard that bounds the other side",
            "(ite (<= n 0)",
            "(ite (>= n 0)",
            "function f!: that a call of f! has smaller arguments does not hold",
        ),
        (
            "a bound that is one too low",
            "(ite (<= n 0)",
            "(ite (< n 0)",
            "lemma l: case 2 does not hold",
        ),
        (
            "a step that is larger than the bound",
            "(+ 2 (f! (- n 1)))",
            "(+ 2 (f! (- n 2)))",
            "lemma l: case 1 does not hold",
        ),
        (
            "the function inside of its measured argument",
            "(+ 2 (f! (- n 1)))",
            "(+ 2 (f! (- (f! n) 1)))",
            "function f!: that a call of f! has smaller arguments does not hold",
        ),
        (
            "a hypothesis for zero, of which the statement says nothing",
            "((> n 1) :ind",
            "((> n 0) :ind",
            "lemma l: case 1 does not hold",
        ),
        (
            "cases that leave a number out",
            "((> n 1) :ind",
            "((> n 2) :ind",
            "lemma l: that its cases cover all values does not hold",
        ),
        (
            "a hypothesis for the next number",
            "(((- n 1)))",
            "(((+ n 1)))",
            "that an induction hypothesis of case 1 is smaller does not hold",
        ),
        (
            "a hypothesis for a negative number",
            "(((- n 1)))",
            "(((- 1)))",
            "lemma l: case 1 does not hold",
        ),
        (
            "a hypothesis for another number",
            "(((- n 1)))",
            "((0))",
            "lemma l: case 1 does not hold",
        ),
        (
            "an unfolding of another number",
            "((> n 1) :induction (((- n 1))) :unfold ((f! n)))",
            "((> n 1) :induction (((- n 1))) :unfold ((f! (+ n 1))))",
            "lemma l: case 1 does not hold",
        ),
        (
            "a predicate of reals",
            "(define-fun P ((n Int) (r Int)) Bool (= r (f! n)))",
            "(define-fun P ((n Int) (r Real)) Bool (= r (to_real (f! n))))",
            "P is declared with other sorts",
        ),
        (
            "a definition that differs from the clauses",
            "(+ 2 (f! (- n 1)))",
            "(+ 3 (f! (- n 1)))",
            "lemma l: case 1 does not hold",
        ),
    ],
};

/// No number is even and odd.
pub const PARITY: Proof = Proof {
    name: "even and odd",
    clauses: "(set-logic HORN)
(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-fun even (Nat Bool) Bool) (declare-fun odd (Nat Bool) Bool)
(assert (even zero true)) (assert (odd zero false))
(assert (forall ((n Nat) (b Bool)) (=> (even n b) (odd (succ n) b))))
(assert (forall ((n Nat) (b Bool)) (=> (odd n b) (even (succ n) b))))
(assert (forall ((n Nat)) (=> (and (even n true) (odd n true)) false)))",
    witness: "((define-funs-rec ((even! ((n Nat)) Bool) (odd! ((m Nat)) Bool))
  ((or ((_ is zero) n) (odd! (pred n))) (and ((_ is succ) m) (even! (pred m)))))
(define-fun even ((n Nat) (b Bool)) Bool (= b (even! n)))
(define-fun odd ((n Nat) (b Bool)) Bool (= b (odd! n))))
; measure even! (0)
; measure odd! (0)
; lemma one ((n Nat)) (not (and (even! n) (odd! n))) :measure (0) \
:case (((_ is zero) n) :unfold ((odd! n))) \
:case (((_ is succ) n) :induction (((pred n))) :unfold ((even! n) (odd! n)))",
    breaks: &[
        (
            "one of two calls keeps its argument",
            "(even! (pred m))",
            "(even! m)",
            "function odd!: a call of even! whose arguments do not become smaller",
        ),
        (
            "both calls keep their arguments",
            "((or ((_ is zero) n) (odd! (pred n))) (and ((_ is succ) m) (even! (pred m))))",
            "((odd! n) (not (even! m)))",
            "function even!: a call of odd! whose arguments do not become smaller",
        ),
        (
            "one of two functions without a measure",
            "; measure odd! (0)",
            ";",
            "function even!: its measure does not suit that of odd!",
        ),
        (
            "two definitions where one calls the other before it",
            "(define-funs-rec ((even! ((n Nat)) Bool) (odd! ((m Nat)) Bool))
  ((or ((_ is zero) n) (odd! (pred n))) (and ((_ is succ) m) (even! (pred m)))))",
            "(define-fun-rec even! ((n Nat)) Bool (or ((_ is zero) n) (odd! (pred n))))
            (define-fun-rec odd! ((m Nat)) Bool (and ((_ is succ) m) (even! (pred m))))",
            "function even!: it calls odd!, which is defined after it",
        ),
        (
            "as many functions as bodies",
            " (and ((_ is succ) m) (even! (pred m)))",
            "",
            "the numbers of functions and bodies differ",
        ),
        (
            "the variable of the other function",
            "(odd! (pred n))) (and",
            "(odd! (pred m))) (and",
            "function even!: a call of odd! whose arguments do not become smaller",
        ),
        (
            "the tester of the other constructor",
            "(or ((_ is zero) n) (odd!",
            "(or ((_ is succ) n) (odd!",
            "function even!: that a call of odd! has smaller arguments does not hold",
        ),
        (
            "an unfolding of one function alone",
            ":unfold ((even! n) (odd! n))",
            ":unfold ((even! n))",
            "lemma one: case 2 does not hold",
        ),
        (
            "both functions the same",
            "(and ((_ is succ) m) (even! (pred m)))",
            "(or ((_ is zero) m) (even! (pred m)))",
            "lemma one: case 1 does not hold",
        ),
    ],
};

/// A function of two numbers, of which the first decreases, or stays equal while the second
/// decreases. (W. Ackermann, "Zum Hilbertschen Aufbau der reellen Zahlen", Math. Ann. 1928, in R.
/// Peter's form.)
pub const TWO: Proof = Proof {
    name: "two measured positions",
    clauses: "(set-logic HORN) (declare-fun A (Int Int Int) Bool)
(assert (forall ((n Int)) (A 0 n (+ n 1))))
(assert (forall ((m Int) (r Int)) (=> (and (>= m 0) (A m 1 r)) (A (+ m 1) 0 r))))
(assert (forall ((m Int) (n Int) (r Int) (s Int))
  (=> (and (>= m 0) (>= n 0) (A (+ m 1) n r) (A m r s)) (A (+ m 1) (+ n 1) s))))
(assert (forall ((m Int) (n Int) (r Int))
  (=> (and (A m n r) (>= m 0) (>= n 0) (< r 0)) false)))",
    witness: "((define-fun-rec a! ((m Int) (n Int)) Int
  (ite (<= m 0) (+ n 1) (ite (<= n 0) (a! (- m 1) 1) (a! (- m 1) (a! m (- n 1))))))
(define-fun A ((m Int) (n Int) (r Int)) Bool
  (=> (and (>= m 0) (>= n 0)) (and (>= r 0) (= r (a! m n))))))
; measure a! (0 1)
; lemma positive ((m Int) (n Int)) (=> (and (>= m 0) (>= n 0)) (> (a! m n) 0)) :measure (0 1) \
:case ((<= m 0) :unfold ((a! m n))) \
:case ((and (> m 0) (<= n 0)) :induction (((- m 1) 1)) :unfold ((a! m n))) \
:case ((and (> m 0) (> n 0)) :induction ((m (- n 1)) ((- m 1) (a! m (- n 1)))) \
:unfold ((a! m n)))",
    breaks: &[
        (
            "the first position alone",
            "measure a! (0 1)",
            "measure a! (0)",
            "function a!: that a call of a! has smaller arguments does not hold",
        ),
        (
            "the second position alone",
            "measure a! (0 1)",
            "measure a! (1)",
            "function a!: that a call of a! has smaller arguments does not hold",
        ),
        (
            "both positions in the other order",
            "measure a! (0 1)",
            "measure a! (1 0)",
            "function a!: that a call of a! has smaller arguments does not hold",
        ),
        (
            "a lemma measured in the first position alone",
            ":measure (0 1)",
            ":measure (0)",
            "lemma positive: that an induction hypothesis of case 3 is smaller does not hold",
        ),
        (
            "one of two hypotheses",
            "(m (- n 1)) ((- m 1)",
            "((- m 1)",
            "lemma positive: case 3 does not hold",
        ),
        (
            "a hypothesis that grows in the first position",
            "(m (- n 1)) ((- m 1)",
            "((+ m 1) (- n 1)) ((- m 1)",
            "lemma positive: that an induction hypothesis of case 3 is smaller does not hold",
        ),
        (
            "a statement that is too strong",
            "(> (a! m n) 0))",
            "(> (a! m n) 1))",
            "lemma positive: case 1 does not hold",
        ),
        (
            "a case that is not split",
            ":case ((and (> m 0) (<= n 0)) :ind",
            ":case ((and (> m 0) (< n 0)) :ind",
            "lemma positive: that its cases cover all values does not hold",
        ),
    ],
};

/// A number that decreases, next to arguments of sorts without order.
pub const FLAGS: Proof = Proof {
    name: "sorts without order",
    clauses: "(set-logic HORN) (declare-fun P (Int Int) Bool)
(assert (forall ((n Int)) (=> (<= n 0) (P n 0))))
(assert (forall ((n Int) (r Int)) (=> (and (P (- n 1) r) (> n 0)) (P n (+ r 1)))))
(assert (forall ((n Int) (r Int)) (=> (and (P n r) (< r 0)) false)))",
    witness: "((define-fun-rec q! ((b Bool) (r Real) (a (Array Int Int)) (n Int)) Int
  (ite (<= n 0) 0 (+ 1 (q! b r a (- n 1)))))
(define-fun P ((n Int) (r Int)) Bool (= r (q! true 0.5 ((as const (Array Int Int)) 0) n))))
; measure q! (3)
; lemma positive ((b Bool) (r Real) (a (Array Int Int)) (n Int)) (>= (q! b r a n) 0) \
:measure (3) :case ((<= n 0) :unfold ((q! b r a n))) \
:case ((> n 0) :induction ((b r a (- n 1))) :unfold ((q! b r a n)))",
    breaks: &[
        (
            "a measured truth value",
            "measure q! (3)",
            "measure q! (0)",
            "do not become smaller, as Bool at position 0 has no order",
        ),
        (
            "a measured real",
            "measure q! (3)",
            "measure q! (1)",
            "do not become smaller, as Real at position 1 has no order",
        ),
        (
            "a measured array",
            "measure q! (3)",
            "measure q! (2)",
            "do not become smaller, as (Array Int Int) at position 2 has no order",
        ),
        (
            "a lemma with a measured truth value",
            ":measure (3)",
            ":measure (0)",
            "hypothesis that is not smaller, as Bool at position 0 has no order",
        ),
        (
            "a lemma with a measured real",
            ":measure (3)",
            ":measure (1)",
            "hypothesis that is not smaller, as Real at position 1 has no order",
        ),
        (
            "a lemma with a measured array",
            ":measure (3)",
            ":measure (2)",
            "hypothesis that is not smaller, as (Array Int Int) at position 2 has no order",
        ),
        (
            "a real that falls in the place of an integer",
            "(n Int)) Int\n",
            "(n Real)) Int\n",
            "do not become smaller, as Real at position 3 has no order",
        ),
        (
            "a hypothesis for all values of another variable",
            "((b r a (- n 1)))",
            "(((not b) r a (- n 1)))",
            "lemma positive: case 2 does not hold",
        ),
    ],
};
