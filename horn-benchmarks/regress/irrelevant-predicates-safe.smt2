; R grows for ever but no query needs it.
; Safe: P 1 only.
(set-logic HORN)
(declare-fun P (Int) Bool)
(declare-fun R (Int Int) Bool)
(assert (P 1))
(assert (forall ((x Int)) (=> (P x) (R x x))))
(assert (forall ((x Int) (y Int)) (=> (R x y) (R y (+ x y)))))
(assert (forall ((x Int)) (=> (and (P x) (= x 0)) false)))
(check-sat)
