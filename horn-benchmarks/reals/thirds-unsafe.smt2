; Steps of 1/3 from 0 until 1 is passed: assert x != 1
; Unsafe: three steps (no rounding).
(set-logic HORN)

(declare-fun T (Real) Bool)

(assert (forall ((x Real))
  (=> (= x 0.0) (T x))))
(assert (forall ((x Real) (x1 Real))
  (=> (and (T x) (<= x 1.0) (= (* 3.0 x1) (+ (* 3.0 x) 1.0))) (T x1))))
(assert (forall ((x Real))
  (=> (and (T x) (= x 1.0)) false)))

(check-sat)
