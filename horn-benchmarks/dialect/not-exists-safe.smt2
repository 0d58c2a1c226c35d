; Syntax: the query as a negated existential.
; Safe: P holds of multiples of 4 only.
(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (forall ((x Int)) (=> (= x 0) (P x))))
(assert (forall ((x Int)) (=> (P x) (P (+ x 4)))))
(assert (not (exists ((x Int)) (and (P x) (= (mod x 4) 2)))))
(check-sat)
