; R grows for ever but no query needs it.
; Unsafe: the query asks for P 1.

(set-logic HORN)
(declare-fun P (Int) Bool)
(declare-fun R (Int Int) Bool)
(assert (P 1))
(assert (forall ((x Int)) (=> (P x) (R x x))))
(assert (forall ((x Int) (y Int)) (=> (R x y) (R y (+ x y)))))
(assert (forall ((x Int)) (=> (and (P x) (= x 1)) false)))
(check-sat)
