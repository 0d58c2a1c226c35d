; Syntax: clauses written as disjunctions with one positive predicate.
; Unsafe: x = 4.

(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (forall ((x Int)) (or (not (= x 0)) (P x))))
(assert (forall ((x Int) (y Int)) (or (P y) (not (P x)) (not (= y (+ x 2))))))
(assert (forall ((x Int)) (or (not (P x)) (not (= x 4)))))
(check-sat)
