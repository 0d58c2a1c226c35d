; x = 0; while (nd()) x = x / 2 + 1; assert x < 7/4
; Unsafe: 0, 1, 3/2, 7/4.
(set-logic HORN)

(declare-fun X (Real) Bool)

(assert (forall ((x Real))
  (=> (= x 0.0) (X x))))
(assert (forall ((x Real) (x1 Real))
  (=> (and (X x) (= x1 (+ (/ x 2.0) 1.0))) (X x1))))
(assert (forall ((x Real))
  (=> (and (X x) (>= x (/ 7.0 4.0))) false)))

(check-sat)
