; Syntax: a forall nested in the head of an implication.
; Safe: R (x, y) needs x < y.
; Z3 5.4.0 answers unknown; it confirms the verdict when the inner quantifiers are moved outside.
(set-logic HORN)
(declare-fun P (Int) Bool)
(declare-fun Q (Int) Bool)
(declare-fun R (Int Int) Bool)
(assert (forall ((x Int)) (=> (>= x 1) (P x))))
(assert (forall ((x Int)) (=> (<= x 9) (Q x))))
(assert (forall ((x Int)) (=> (P x) (forall ((y Int)) (=> (and (Q y) (< x y)) (R x y))))))
(assert (forall ((x Int)) (forall ((y Int)) (=> (R x y) (=> (>= x y) false)))))
(check-sat)
