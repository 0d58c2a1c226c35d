; A nonlinear clause over the reals: from 0 and 1, averages of two derived values; assert they stay in [0, 1], 3/8 excepted.
; Unsafe: 3/8 = (1/4 + 1/2) / 2.
(set-logic HORN)

(declare-fun V (Real) Bool)

(assert (forall ((x Real))
  (=> (or (= x 0.0) (= x 1.0)) (V x))))
(assert (forall ((x Real) (y Real) (z Real))
  (=> (and (V x) (V y) (= (* 2.0 z) (+ x y))) (V z))))
(assert (forall ((x Real))
  (=> (and (V x) (= (* 8.0 x) 3.0)) false)))

(check-sat)
