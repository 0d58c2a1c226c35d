; Syntax: several queries; none of them fails.
; Safe: x is between 0 and 8 and even.
(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (forall ((x Int)) (=> (= x 8) (P x))))
(assert (forall ((x Int)) (=> (and (P x) (< x 0)) false)))
(assert (forall ((x Int)) (=> (and (P x) (> x 8)) false)))
(assert (forall ((x Int)) (=> (and (P x) (> x 0)) (P (- x 2)))))
(assert (forall ((x Int)) (=> (and (P x) (= (mod x 2) 1)) false)))
(check-sat)
