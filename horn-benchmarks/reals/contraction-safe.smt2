; x = 0; while (nd()) x = x / 2 + 1; assert x < 2
; Safe: x < 2 is kept (2 is the fixed point, never reached).
(set-logic HORN)

(declare-fun X (Real) Bool)

(assert (forall ((x Real))
  (=> (= x 0.0) (X x))))
(assert (forall ((x Real) (x1 Real))
  (=> (and (X x) (= x1 (+ (/ x 2.0) 1.0))) (X x1))))
(assert (forall ((x Real))
  (=> (and (X x) (>= x 2.0)) false)))

(check-sat)
