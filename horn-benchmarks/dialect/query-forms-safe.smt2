; Syntax: queries as (forall … (not …)), as a disjunction of negative literals, and as an implication to false.
; Safe: 0 <= x <= y.
(set-logic HORN)
(declare-fun P (Int Int) Bool)
(assert (P 0 0))
(assert (forall ((x Int) (y Int)) (=> (P x y) (P x (+ y 1)))))
(assert (forall ((x Int) (y Int)) (=> (and (P x y) (< x y)) (P (+ x 1) y))))
(assert (forall ((x Int) (y Int)) (not (and (P x y) (< x 0)))))
(assert (forall ((x Int) (y Int)) (or (not (P x y)) (<= x y))))
(assert (forall ((x Int) (y Int)) (=> (P x y) (<= x (+ y 1)))))
(check-sat)
