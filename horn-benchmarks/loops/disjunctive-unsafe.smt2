; x starts outside of -5..5 and is doubled for ever; assert x is outside of -5..5 and below 100.
; Unsafe: 6, 12, 24, 48, 96, 192.
(set-logic HORN)

(declare-fun Out (Int) Bool)

(assert (forall ((x Int))
  (=> (or (< x (- 5)) (= x 6)) (Out x))))
(assert (forall ((x Int))
  (=> (Out x) (Out (* 2 x)))))
(assert (forall ((x Int))
  (=> (and (Out x) (>= x 100)) false)))

(check-sat)
