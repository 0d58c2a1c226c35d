; The clause P x => P x says nothing.
; Unsafe: the fact P 4.

(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (forall ((x Int)) (=> (P x) (P x))))
(assert (P 4))

(assert (forall ((x Int)) (=> (P x) false)))
(check-sat)
