; Every clause is given twice.
; Safe: x >= 0.
(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (P 0))
(assert (P 0))
(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
(assert (forall ((x Int)) (=> (and (P x) (= x (- 2))) false)))
(assert (forall ((x Int)) (=> (and (P x) (= x (- 2))) false)))
(check-sat)
