; x starts outside of -5..5 and is doubled for ever; assert x is outside of -5..5.
; Safe: x > 5 or x < -5.
(set-logic HORN)

(declare-fun Out (Int) Bool)

(assert (forall ((x Int))
  (=> (or (< x (- 5)) (= x 6)) (Out x))))
(assert (forall ((x Int))
  (=> (Out x) (Out (* 2 x)))))
(assert (forall ((x Int))
  (=> (and (Out x) (>= x (- 5)) (<= x 5)) false)))

(check-sat)
