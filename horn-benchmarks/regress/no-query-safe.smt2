; Clauses but no query.
; Safe: true is a model.
(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (P 0))
(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
(check-sat)
