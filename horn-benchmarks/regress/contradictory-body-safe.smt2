; All clauses that lead to the query have contradictory bodies.
; Safe.
(set-logic HORN)
(declare-fun P (Int) Bool)
(declare-fun Q () Bool)
(assert (P 0))
(assert (forall ((x Int)) (=> (and (P x) (> x 0) (< x 0)) (P (+ x 1)))))
(assert (forall ((x Int)) (=> (and (P x) (not (= x x))) Q)))
(assert (=> Q false))
(check-sat)
