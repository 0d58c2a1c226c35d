; The clause P x => P x says nothing.
; Safe: no fact.
(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (forall ((x Int)) (=> (P x) (P x))))
; no fact
(assert (forall ((x Int)) (=> (P x) false)))
(check-sat)
